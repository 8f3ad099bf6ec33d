"""Resolution independence: one request at two sizes, through T2ONet's recipe and through a GAN, measured."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import PIL.Image

from ...data.spreadsheet import to_csv
from ...image import open_image
from ...image.depth import to_uint8
from ..sheets import REQUESTS, Shot, drawn
from .once import Cost, done_once
from .wish import Files, Wish

SYSTEMS = {"T2ONet": "paper", "Pix2pixAug": "pix2pixaug"}
"""What is compared, by the runs whose weights are taken."""
SMALL, LARGE = 256, 24_000_000
"""A short side in pixels, and pixels in all."""
CELL = 300
_SHARE = 0.9
"""Of the machine's memory that one edit may take."""


@dataclass(frozen=True)
class Edited:
    """What came of a system at one size; nothing where memory was too small."""

    system: str
    size: str
    photo: np.ndarray
    made: np.ndarray | None
    cost: Cost | None

    @property
    def detail(self) -> str:
        if self.cost is None:
            return "does not fit into memory"
        return f"{self.cost.seconds:.2f} s, {self.cost.memory:.2f} GB"


def resolution(wish: Wish) -> Files:
    """A photo of one's own, or one of the dataset, at both sizes."""
    source = wish.photos[0] if wish.photos else wish.samples(1)[0].before
    pixels = to_uint8(open_image(source).to_srgb().pixels)
    weights = {name: wish.weights(run) for name, run in SYSTEMS.items()}
    photos = {
        f"{SMALL} px": _short(pixels, SMALL),
        f"{LARGE / 1e6:g} MP": _scaled(pixels, (LARGE / pixels[..., 0].size) ** 0.5),
    }
    request, limit = wish.request or REQUESTS[0], _memory() * _SHARE
    found = [
        Edited(name, size, photo, *_edited(path, photo, request, limit))
        for size, photo in photos.items()
        for name, path in weights.items()
    ]
    title = f'"{request}" at {" and at ".join(photos)}'
    grown = ", enlarged to that" if pixels[..., 0].size < LARGE else ""
    note = f"{source.name}{grown}; memory is that of the whole process, which was allowed {limit:.0f} GB"
    return {
        wish.sheet: drawn(title, note, list(_rows(found, list(photos))), CELL),
        "figures.csv": _figures(found, list(photos)).encode(),
    }


def _edited(
    weights: Path, photo: np.ndarray, request: str, limit: float
) -> tuple[np.ndarray | None, Cost | None]:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "photo.npy"), Path(folder, "made.npy")
        np.save(source, photo)
        cost = done_once(weights, source, request, out, limit)
        return None if cost is None else np.load(out), cost


def _rows(found: Sequence[Edited], sizes: Sequence[str]) -> list[tuple[str, list[Shot]]]:
    rows = []
    for size in sizes:
        here = [one for one in found if one.size == size]
        rows.append((size, [_shot(here[0].photo, "input", ""), *(_of(one, one.made) for one in here)]))
    large = [one for one in found if one.size == sizes[-1]]
    place = _busiest(large[0].photo)
    parts = [_of(one, None if one.made is None else one.made[place]) for one in large]
    whole = _shot(large[0].photo[place], "input", "")
    return [*rows, (f"{sizes[-1]}, the part with most detail, pixel by pixel", [whole, *parts])]


def _of(one: Edited, pixels: np.ndarray | None) -> Shot:
    blank = np.full((SMALL, SMALL, 3), 32, np.uint8)
    return _shot(blank if pixels is None else pixels, one.system, one.detail)


def _shot(pixels: np.ndarray, caption: str, detail: str) -> Shot:
    shown = pixels if max(pixels.shape) <= 4 * CELL else _short(pixels, 2 * CELL)
    return Shot(shown.transpose(2, 0, 1).astype(np.float32) / 255, caption, detail)


def _busiest(pixels: np.ndarray) -> tuple[slice, slice]:
    """Of all parts of the size of a cell, the one with most detail."""
    rough = np.abs(np.diff(pixels[..., 1].astype(np.int16), axis=1))
    tops, lefts = (range(0, max(1, side - CELL + 1), CELL) for side in pixels.shape[:2])
    corners = [(top, left) for top in tops for left in lefts]
    top, left = max(corners, key=lambda at: rough[at[0] : at[0] + CELL, at[1] : at[1] + CELL].mean())
    return slice(top, top + CELL), slice(left, left + CELL)


def _figures(found: Sequence[Edited], sizes: Sequence[str]) -> str:
    """`apart` is how far the large result, made small, is from the small one, in levels of 255."""
    lines = [("system", "size", "width", "height", "seconds", "memory (GB)", "apart")]
    for one in found:
        other = next(two for two in found if two.system == one.system and two.size == sizes[0])
        apart = "" if one.size == sizes[0] else _apart(one.made, other.made)
        cost = ("", "") if one.cost is None else (f"{one.cost.seconds:.3f}", f"{one.cost.memory:.3f}")
        height, width = one.photo.shape[:2]
        lines.append((one.system, one.size, str(width), str(height), *cost, apart))
    return to_csv(lines)


def _apart(large: np.ndarray | None, small: np.ndarray | None) -> str:
    if large is None or small is None:
        return ""
    shrunk = _to(large, small.shape[1], small.shape[0])
    return f"{np.abs(shrunk.astype(float) - small).mean():.3f}"


def _short(pixels: np.ndarray, side: int) -> np.ndarray:
    return _scaled(pixels, side / min(pixels.shape[:2]))


def _scaled(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Even sides, which generators need."""
    height, width = (max(2, 2 * round(side * factor / 2)) for side in pixels.shape[:2])
    return _to(pixels, width, height)


def _to(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    way = PIL.Image.Resampling.BOX if width < pixels.shape[1] else PIL.Image.Resampling.BICUBIC
    return np.asarray(PIL.Image.fromarray(pixels).resize((width, height), way))


def _memory() -> float:
    """Of the machine, in gigabytes; 16 where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError):
        return 16.0

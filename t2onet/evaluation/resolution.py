"""Resolution independence: one request at two sizes through a recipe and through a GAN, measured."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image

from ..data.spreadsheet import to_csv
from ..editor import make_thumbnail
from ..executor import apply
from ..image import open_image
from ..image.pixels import to_uint8
from .sheets import DEFAULT_REQUESTS, NamedFiles, PictureOptions, SheetCell, draw_sheet
from .systems import EVALUATION_SIDE, Question

# One edit in a process of its own, timed, its memory measured: a recipe's, or a generator's.

PixelEdit = Callable[[np.ndarray], np.ndarray]
"""(H, W, 3) uint8 -> (H, W, 3) uint8."""
_REPEAT_SECONDS = 5.0
"""Seconds up to which an edit is done twice: the first time loads what the second finds loaded."""
_WARM_UP_SIDE = 64
"""Side of the picture that is edited before the clock starts."""
_GIGABYTE = 1e9


class EditCost(NamedTuple):
    """Seconds for an edit, and the most memory of the process, in gigabytes; NaN where nobody counts it."""

    seconds: float
    memory: float


def edit_in_subprocess(weights: Path, photo: Path, request: str, out: Path, limit: float) -> EditCost | None:
    """Edit the photo of a .npy file into another; None where `limit` gigabytes were too few."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(_edit_and_measure, weights, photo, request, out, limit).result()
        except (MemoryError, BrokenProcessPool):
            return None


def _edit_and_measure(weights: Path, photo: Path, request: str, out: Path, limit: float) -> EditCost:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # what a photographer's computer would do
    _limit_memory(limit)
    pixels = np.load(photo)
    edit = open_pixel_edit(weights, request)
    edit(np.ascontiguousarray(pixels[:_WARM_UP_SIDE, :_WARM_UP_SIDE]))
    seconds = np.inf
    try:
        for _ in range(2):
            start = time.perf_counter()
            made = edit(pixels)
            seconds = min(seconds, time.perf_counter() - start)
            if seconds > _REPEAT_SECONDS:
                break
    except RuntimeError as error:
        if "memory" in str(error):
            raise MemoryError(str(error)) from None
        raise
    np.save(out, made)
    return EditCost(seconds, measure_peak_memory())


def open_pixel_edit(weights: Path, request: str) -> PixelEdit:
    """A recipe by a look at a small copy, or a picture by a look at all of it."""
    from .networks import NetworkSystem, open_network_system

    system = open_network_system("", weights)
    if isinstance(system, NetworkSystem) and system.paints:

        def paint(pixels: np.ndarray) -> np.ndarray:
            floats = np.ascontiguousarray(pixels.transpose(2, 0, 1), np.float32) / 255
            (made,) = system.answer([Question(floats, request, "expert")])
            return to_uint8(made.picture).transpose(1, 2, 0)

        return paint

    def follow(pixels: np.ndarray) -> np.ndarray:
        (made,) = system.answer(
            [Question(make_thumbnail(open_image(pixels), EVALUATION_SIDE), request, "expert")]
        )
        assert made.recipe is not None
        return np.asarray(apply(made.recipe, pixels))

    return follow


def _limit_memory(limit: float) -> None:
    """So that a picture that does not fit ends this process and no other."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit * _GIGABYTE), resource.RLIM_INFINITY))


def measure_peak_memory() -> float:
    """Of this process, in gigabytes."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _GIGABYTE


# Resolution independence: one request at two sizes, through T2ONet's recipe and through a GAN, measured.

COMPARED_RUNS = {"T2ONet": "paper", "Pix2pixAug": "pix2pixaug"}
"""What is compared, by the runs whose weights are taken."""
SMALL_SIDE, LARGE_PIXELS = 256, 24_000_000
"""A short side in pixels, and pixels in all."""
CELL_SIDE = 300
_MEMORY_SHARE = 0.9
"""Of the machine's memory that one edit may take."""


@dataclass(frozen=True)
class SizedEdit:
    """What came of a system at one size; nothing where memory was too small."""

    system: str
    size: str
    photo: np.ndarray
    made: np.ndarray | None
    cost: EditCost | None

    @property
    def detail(self) -> str:
        if self.cost is None:
            return "does not fit into memory"
        return f"{self.cost.seconds:.2f} s, {self.cost.memory:.2f} GB"


def draw_resolution(wish: PictureOptions) -> NamedFiles:
    """A photo of one's own, or one of the dataset, at both sizes."""
    source = wish.photos[0] if wish.photos else wish.samples(1)[0].before
    pixels = to_uint8(open_image(source).to_srgb().pixels)
    weights = {name: wish.weights(run) for name, run in COMPARED_RUNS.items()}
    photos = {
        f"{SMALL_SIDE} px": _resize_short_side(pixels, SMALL_SIDE),
        f"{LARGE_PIXELS / 1e6:g} MP": _resize_by_factor(pixels, (LARGE_PIXELS / pixels[..., 0].size) ** 0.5),
    }
    request, limit = wish.request or DEFAULT_REQUESTS[0], _measure_total_memory() * _MEMORY_SHARE
    found = [
        SizedEdit(name, size, photo, *_edit_measured(path, photo, request, limit))
        for size, photo in photos.items()
        for name, path in weights.items()
    ]
    title = f'"{request}" at {" and at ".join(photos)}'
    grown = ", enlarged to that" if pixels[..., 0].size < LARGE_PIXELS else ""
    note = f"{source.name}{grown}; memory is that of the whole process, which was allowed {limit:.0f} GB"
    return {
        wish.sheet: draw_sheet(title, note, list(_build_sheet_rows(found, list(photos))), CELL_SIDE),
        "figures.csv": _figures_to_csv(found, list(photos)).encode(),
    }


def _edit_measured(
    weights: Path, photo: np.ndarray, request: str, limit: float
) -> tuple[np.ndarray | None, EditCost | None]:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "photo.npy"), Path(folder, "made.npy")
        np.save(source, photo)
        cost = edit_in_subprocess(weights, source, request, out, limit)
        return None if cost is None else np.load(out), cost


def _build_sheet_rows(found: Sequence[SizedEdit], sizes: Sequence[str]) -> list[tuple[str, list[SheetCell]]]:
    rows = []
    for size in sizes:
        here = [one for one in found if one.size == size]
        rows.append(
            (
                size,
                [
                    _pixels_to_cell(here[0].photo, "input", ""),
                    *(_edit_to_cell(one, one.made) for one in here),
                ],
            )
        )
    large = [one for one in found if one.size == sizes[-1]]
    place = _find_busiest(large[0].photo)
    parts = [_edit_to_cell(one, None if one.made is None else one.made[place]) for one in large]
    whole = _pixels_to_cell(large[0].photo[place], "input", "")
    return [*rows, (f"{sizes[-1]}, the part with most detail, pixel by pixel", [whole, *parts])]


def _edit_to_cell(one: SizedEdit, pixels: np.ndarray | None) -> SheetCell:
    blank = np.full((SMALL_SIDE, SMALL_SIDE, 3), 32, np.uint8)
    return _pixels_to_cell(blank if pixels is None else pixels, one.system, one.detail)


def _pixels_to_cell(pixels: np.ndarray, caption: str, detail: str) -> SheetCell:
    shown = pixels if max(pixels.shape) <= 4 * CELL_SIDE else _resize_short_side(pixels, 2 * CELL_SIDE)
    return SheetCell(shown.transpose(2, 0, 1).astype(np.float32) / 255, caption, detail)


def _find_busiest(pixels: np.ndarray) -> tuple[slice, slice]:
    """Of all parts of the size of a cell, the one with most detail."""
    rough = np.abs(np.diff(pixels[..., 1].astype(np.int16), axis=1))
    tops, lefts = (range(0, max(1, side - CELL_SIDE + 1), CELL_SIDE) for side in pixels.shape[:2])
    corners = [(top, left) for top in tops for left in lefts]
    top, left = max(
        corners, key=lambda at: rough[at[0] : at[0] + CELL_SIDE, at[1] : at[1] + CELL_SIDE].mean()
    )
    return slice(top, top + CELL_SIDE), slice(left, left + CELL_SIDE)


def _figures_to_csv(found: Sequence[SizedEdit], sizes: Sequence[str]) -> str:
    """`apart` is how far the large result, made small, is from the small one, in levels of 255."""
    lines = [("system", "size", "width", "height", "seconds", "memory (GB)", "apart")]
    for one in found:
        other = next(two for two in found if two.system == one.system and two.size == sizes[0])
        apart = "" if one.size == sizes[0] else _mean_difference(one.made, other.made)
        cost = ("", "") if one.cost is None else (f"{one.cost.seconds:.3f}", f"{one.cost.memory:.3f}")
        height, width = one.photo.shape[:2]
        lines.append((one.system, one.size, str(width), str(height), *cost, apart))
    return to_csv(lines)


def _mean_difference(large: np.ndarray | None, small: np.ndarray | None) -> str:
    if large is None or small is None:
        return ""
    shrunk = _resize_to(large, small.shape[1], small.shape[0])
    return f"{np.abs(shrunk.astype(float) - small).mean():.3f}"


def _resize_short_side(pixels: np.ndarray, side: int) -> np.ndarray:
    return _resize_by_factor(pixels, side / min(pixels.shape[:2]))


def _resize_by_factor(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Even sides, which generators need."""
    height, width = (max(2, 2 * round(side * factor / 2)) for side in pixels.shape[:2])
    return _resize_to(pixels, width, height)


def _resize_to(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    way = PIL.Image.Resampling.BOX if width < pixels.shape[1] else PIL.Image.Resampling.BICUBIC
    return np.asarray(PIL.Image.fromarray(pixels).resize((width, height), way))


def _measure_total_memory() -> float:
    """Of the machine, in gigabytes; 16 where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError):
        return 16.0

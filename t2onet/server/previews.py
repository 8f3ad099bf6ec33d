"""Recipes on a screen-size copy of a photo, fast enough to follow a slider.

The pixels between the steps are kept, at 16 bits, so that only the steps from the changed one on are computed
again, by the same executor that makes the export. What was not used for longest makes room.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np
import PIL.Image

from ..executor import Pixels, render_stages
from ..image import Image
from ..image.pixels import to_depth, to_uint16
from ..recipe import Recipe, Step

JPEG_QUALITY = 90
_SCREEN_PIXELS = "shown"

PreviewKey = tuple[Hashable, ...]
"""A photo, a size, the steps that were done, and _SHOWN for pixels that are ready to be shown."""


@dataclass
class PreviewCache:
    """Arrays by key, up to so many bytes in all; the one not used for longest goes first."""

    limit: int
    held: int = 0
    _kept: OrderedDict[PreviewKey, Image | Pixels] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, *key: Hashable) -> Image | Pixels | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, *key: Hashable, value: Image | Pixels) -> None:
        with self._lock:
            self._drop(key)
            self._kept[key] = value
            self.held += _count_bytes(value)
            while self.held > self.limit and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def forget(self, *first: Hashable, unless: Callable[[PreviewKey], bool] = lambda key: False) -> None:
        """All keys that begin so."""
        with self._lock:
            for key in [key for key in self._kept if key[: len(first)] == first and not unless(key)]:
                self._drop(key)

    def _drop(self, key: PreviewKey) -> None:
        if (gone := self._kept.pop(key, None)) is not None:
            self.held -= _count_bytes(gone)


def _count_bytes(value: Image | Pixels) -> int:
    return value.pixels.nbytes if isinstance(value, Image) else value.nbytes


@dataclass(frozen=True)
class PreviewRenderer:
    """Pictures for the screen of all photos of a server, `side` pixels long at most."""

    pool: PreviewCache
    side: int
    threads: int

    def shown(self, photo: str, opening: Callable[[], Image], recipe: Recipe, side: int) -> Pixels:
        """(H, W, 3) uint8 in sRGB: a photo after a recipe, its long side `side` pixels or less."""
        steps = tuple(step for step in recipe.steps if not step.is_identity)
        if (found := self.pool.get(photo, side, steps, _SCREEN_PIXELS)) is not None:
            assert isinstance(found, np.ndarray)
            return found
        base = self._base(photo, opening, side)
        start, pixels = self._farthest(photo, side, steps, base)
        rest, begun = Recipe(steps=steps[start:]), base.with_pixels(pixels)
        made = render_stages(rest, begun, last=np.uint8, threads=self.threads, kernels=True)
        for number, stage in enumerate(made[:-1], start=start + 1):
            self.pool.keep(photo, side, steps[:number], value=stage)
        picture = to_screen_pixels(base.with_pixels(made[-1]) if made else base)
        self.pool.keep(photo, side, steps, _SCREEN_PIXELS, value=picture)
        self.pool.forget(photo, side, unless=lambda key: _is_useful_for(steps, key))
        return picture

    def _farthest(self, photo: str, side: int, steps: tuple[Step, ...], base: Image) -> tuple[int, Pixels]:
        """How many of the steps are done in pixels that were kept, and these."""
        for number in range(len(steps) - 1, 0, -1):
            if isinstance(found := self.pool.get(photo, side, steps[:number]), np.ndarray):
                return number, found
        return 0, base.pixels

    def _base(self, photo: str, opening: Callable[[], Image], side: int) -> Image:
        """The photo itself at that size, 16 bits."""
        if isinstance(found := self.pool.get(photo, side), Image):
            return found
        source = opening() if side >= self.side else self._base(photo, opening, self.side)
        base = fit_long_side(source, side)
        base = base.with_pixels(to_uint16(base.pixels))
        self.pool.keep(photo, side, value=base)
        return base

    def begin(self, photo: str, image: Image) -> None:
        """Make the preview of a photo that is open at the moment."""
        self._base(photo, lambda: image, self.side)


def _is_useful_for(steps: tuple[Step, ...], key: PreviewKey) -> bool:
    """Whether what is kept under a key is the photo itself, or of use for these steps."""
    done, *shown = key[2:] or ((),)
    assert isinstance(done, tuple)
    return done in ((), steps) if shown else done == steps[: len(done)]


def fit_long_side(image: Image, side: int) -> Image:
    """The photo with a long side of at most `side` pixels."""
    long, short = max(image.height, image.width), min(image.height, image.width)
    return image if long <= side else image.resized(max(1, short * side // long))


def to_screen_pixels(image: Image) -> Pixels:
    """(H, W, 3) uint8 in sRGB, transparent parts on white."""
    seen = image.to_srgb()
    if seen.alpha is None:
        return seen.pixels
    cover = to_depth(seen.alpha, np.float32)[..., None]
    return to_depth(to_depth(seen.pixels, np.float32) * cover + (1 - cover), np.uint8)


def encode_preview(picture: Pixels) -> bytes:
    """A picture (H, W, 3) uint8 as the browser gets it."""
    stream = io.BytesIO()
    PIL.Image.fromarray(picture).save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()

"""Bands of rows: a photo as tiles of floats, through functions and back, in threads.

A band is few enough rows to stay in the caches. Its tile has float32 samples (3, H, W) and as many rows
around the band as the functions read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np

from .errors import Cancelled
from .image.photo import to_picture
from .image.pixels import Scratch, allocate_padded, find_padded, find_words, to_depth, to_uint8
from .operations import Frame

Pixels = np.ndarray
"""(H, W, 3) of uint8, uint16 or floats in [0, 1]."""
TileFunction = Callable[[np.ndarray, Frame], np.ndarray]
"""(tile (3, H, W), its place in the photo) -> tile, which may be the same memory."""
Rows = tuple[int, int]
"""The first row of a band, and the one after its last."""

BAND_PIXELS = 256 * 1024
"""Pixels of a band: few enough to stay in the caches, and enough for threads to wait for Python seldom."""
MIN_BAND_REACHES = 16
"""Least height of a band in reaches of its steps, so that little is computed twice."""


class CancelToken(Protocol):
    """Requests cancellation; `threading.Event` is one."""

    def is_set(self) -> bool: ...


def split_rows(height: int, width: int, reach: int = 0, pixels: int | None = None) -> list[Rows]:
    """The bands of a photo, of about `pixels` each, for functions that read `reach` pixels away."""
    rows = max((pixels or BAND_PIXELS) // width, MIN_BAND_REACHES * reach, 1)
    return [(top, min(top + rows, height)) for top in range(0, height, rows)]


def allocate_pixels(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Pixels:
    """Pixels to fill; those of 8 bits have the memory of Pillow's pictures, which saves copies."""
    is_padded = dtype == np.uint8 and shape[2] == 3
    return allocate_padded(*shape[:2]) if is_padded else np.empty(shape, dtype)


def run_in_threads(
    work: Callable[[Rows], None], bands: Sequence[Rows], threads: int, cancel: CancelToken | None
) -> Iterator[None]:
    """Run `work` on all bands and yield after each; an exception cancels the bands not yet begun."""
    if threads == 1 or len(bands) == 1:
        for band in bands:
            raise_if_cancelled(cancel)
            work(band)
            yield
        return
    pool = ThreadPoolExecutor(threads)
    try:
        for future in as_completed([pool.submit(work, band) for band in bands]):
            raise_if_cancelled(cancel)
            future.result()
            yield
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def raise_if_cancelled(cancel: CancelToken | None) -> None:
    if cancel is not None and cancel.is_set():
        raise Cancelled("stopped on request; nothing was changed")


@dataclass(frozen=True)
class BandPass:
    """One pass over a photo: bands of `pixels` through `functions` into `result`.

    The functions together read `reach` pixels away. The pixels between them go into `inner`, unless that is
    empty. 8-bit pixels are read through the table `levels` (3, 256), if given.
    """

    frame: Frame
    functions: Sequence[TileFunction]
    reach: int
    pixels: Pixels
    result: Pixels
    inner: Sequence[Pixels]
    levels: np.ndarray | None
    compiled: bool
    """Whether kernels convert between pixels and tiles."""
    compiled_curves: bool
    """Whether a table alone is mapped by a kernel."""
    _tiles: Scratch = field(default_factory=Scratch, init=False, repr=False, compare=False)

    def process(self, rows: Rows) -> None:
        top, bottom = rows
        if self.levels is not None and not self.functions and self.result.dtype == np.uint8:
            self._map_levels(self.pixels[top:bottom], self.result[top:bottom])
            return
        first, last = max(0, top - self.reach), min(self.frame.height, bottom + self.reach)
        tile = load_tile(self.pixels[first:last], self._tiles, self.compiled, self.levels)
        for function, pixels in zip_longest(self.functions, self.inner):
            tile = function(tile, self.frame.at(first))
            if pixels is not None:
                self._store(tile, top - first, pixels[top:bottom])
        self._store(tile, top - first, self.result[top:bottom])

    def _map_levels(self, rows: Pixels, result: Pixels) -> None:
        """8-bit pixels mapped by the table; without kernels Pillow is the fastest way."""
        assert self.levels is not None
        table, words, mapped = to_uint8(self.levels), find_words(rows), find_words(result)
        if self.compiled_curves and words is not None and mapped is not None:
            from .kernels import map_words

            map_words(words, table, mapped)
            return
        picture, padded = to_picture(rows), find_padded(result)
        bands = np.resize(table, (len(picture.getbands()), 256))
        mapped_rows = np.asarray(picture.point(bands.ravel().tolist()))
        if padded is not None and mapped_rows.shape == padded.shape:
            padded[...] = mapped_rows  # in one piece, which is faster
        else:
            result[...] = mapped_rows[..., :3]

    def _store(self, tile: np.ndarray, offset: int, rows: Pixels) -> None:
        if self.compiled and rows.dtype.kind == "u":
            from .kernels import store_integers, store_words

            words = find_words(rows)
            if words is not None:
                store_words(tile, offset, words)
            else:
                store_integers(tile, offset, _full_scale(rows.dtype), rows)
        else:
            rows[...] = to_depth(tile[:, offset : offset + len(rows)], rows.dtype).transpose(1, 2, 0)


def load_tile(rows: Pixels, scratch: Scratch, compiled: bool, levels: np.ndarray | None = None) -> np.ndarray:
    """Rows of pixels as a tile, perhaps in memory of `scratch`; 8 bits are read through a table (3, 256)."""
    if compiled and rows.dtype.kind == "u":
        from .kernels import load_integers, load_levels, load_words, split_words

        tile: np.ndarray = scratch.take(3, *rows.shape[:2])
        words = find_words(rows)
        if words is not None and (levels is None or _is_plain(levels)):
            split_words(words, tile)
        elif words is not None:
            load_words(words, levels, tile)
        elif levels is not None:
            load_levels(rows, levels, tile)
        else:
            load_integers(rows, _full_scale(rows.dtype), tile)
        return tile
    if levels is not None:
        return np.stack([table[rows[..., channel]] for channel, table in enumerate(levels)])
    values = to_depth(rows, np.float32).transpose(2, 0, 1)
    return np.ascontiguousarray(np.clip(values, 0, 1))


def _is_plain(levels: np.ndarray) -> bool:
    """Whether a table leaves the levels as they are."""
    return bool((levels == np.arange(256, dtype=np.float32) / np.float32(255)).all())


def _full_scale(dtype: np.dtype[Any]) -> np.float32:
    return np.float32(np.iinfo(dtype).max)

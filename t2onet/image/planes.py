"""Deep TIFF files whose channels lie one after the other, which Pillow mixes up.

Every plane is opened as a gray file of its own: the same bytes behind a new directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ImageFile

from ..errors import ImageError
from . import ifd
from .sixteen import unpremultiplied

_BITS, _PHOTOMETRIC, _CHANNELS, _PLANAR, _EXTRA = 258, 262, 277, 284, 338
# Size, compression, bit order, rows of a strip, predictor and size of a tile are those of every plane.
_SHARED = (256, 257, 259, 266, 278, 317, 322, 323)
_POSITIONS = (273, 279, 324, 325)
_RGB, _UNUSED, _PREMULTIPLIED = 2, 0, 1
_MAX_CHANNELS = 6
"""As many as Pillow reads."""


def are_separate(file: ImageFile.ImageFile) -> bool:
    """Whether the file is a TIFF of several deep channels, one after the other."""
    tags: dict[int, Any] = getattr(file, "tag_v2", {})
    return tags.get(_PLANAR) == 2 and tags.get(_CHANNELS, 1) > 1 and max(tags.get(_BITS, (8,))) > 8


def decode(data: bytes, open_file: Callable[[bytes], ImageFile.ImageFile]) -> NDArray[np.uint16]:
    """The samples of such a file, (H, W, 3 or 4) uint16 with alpha last."""
    order = ifd.byte_order(data)
    entries = ifd.read_first(data).entries
    if ifd.integer(entries.get(_PHOTOMETRIC), order) != _RGB:
        raise ImageError("its deep channels lie one after the other and are not RGB; save it as RGB")
    samples = np.dstack([np.asarray(open_file(plane)) for plane in _files(data, entries, order)])
    extra = ifd.integer(entries.get(_EXTRA), order)
    samples = samples[..., : 3 if extra == _UNUSED else 4].astype(np.uint16)
    return unpremultiplied(samples) if extra == _PREMULTIPLIED else samples


def _files(data: bytes, entries: dict[int, ifd.Entry], order: str) -> Iterator[bytes]:
    """A gray TIFF file for every plane."""
    count = min(ifd.integer(entries.get(_CHANNELS), order) or 1, _MAX_CHANNELS)
    start = len(data) + len(data) % 2
    head = data[:4] + ifd.integers(0, ifd.LONG, [start], order).value + data[8:].ljust(start - 8, b"\0")
    gray = {_BITS: 16, _PHOTOMETRIC: 1, _CHANNELS: 1, _PLANAR: 1}
    for index in range(count):
        own = [entries[tag] for tag in _SHARED if tag in entries]
        own += [_share(entries[tag], index, count) for tag in _POSITIONS if tag in entries]
        own += [ifd.integers(tag, ifd.SHORT, [value], order) for tag, value in gray.items()]
        yield head + ifd.pack(own, start, order)


def _share(entry: ifd.Entry, index: int, count: int) -> ifd.Entry:
    size = len(entry.value) // count
    value = entry.value[index * size : (index + 1) * size]
    return entry._replace(length=entry.length // count, value=value)

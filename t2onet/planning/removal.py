"""Whether something is gone: evidence for a removal.

Operations move colours and keep structure; a removal replaces it, and takes the outline away too. Whoever
removed something may have filled the hole quite differently from how we would, so our fill need not resemble
theirs: the edges inside are no longer those of before, no operation comes close, and the outline is fainter.
Where it is stronger, something was added, which no step can say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .path import Picture
from .segments import Region

_CLOSE = 0.05
"""An operation that leaves less than this share of the difference explains it."""
_INVISIBLE = 0.004
"""So does one that leaves less than this mean absolute difference."""
_ALIKE = 0.5
"""Correlation of edges below which structure is lost."""
_SIDE = 240
"""Short side of a picture, in pixels, at which structure is judged; grain and compression are finer."""


def coarse(arrays: Sequence[np.ndarray], short_side: int) -> list[np.ndarray]:
    """Parts (..., H, W) of pictures of that short side, averaged down to where structure is judged.

    Masks are true where most of a pixel is. If one of them would vanish, all arrays stay as they are.
    """
    stride = max(1, short_side // _SIDE)
    if stride == 1:
        return list(arrays)
    small = [_averaged(array, stride) for array in arrays]
    return small if all(array.any() for array in small if array.dtype == bool) else list(arrays)


def _averaged(array: np.ndarray, stride: int) -> np.ndarray:
    """Means of squares of pixels; what is left over at the far edges is cut off."""
    height, width = (side - side % stride for side in array.shape[-2:])
    parts = [array[..., i:height:stride, j:width:stride] for i, j in np.ndindex(stride, stride)]
    mean = np.asarray(np.sum(parts, axis=0, dtype=np.float32)) / np.float32(stride**2)
    return mean > 0.5 if array.dtype == bool else mean


def structure_lost(before: Picture, best: Picture, target: Picture, inside: Region) -> bool:
    """Whether in `target` the structure of `before` is gone; `best` is what operations make of it.

    Pictures (3, H, W); only the pixels `inside` (H, W) are looked at.
    """
    left, was = (float(np.abs(p - target)[:, inside].mean()) for p in (best, before))
    if left < max(_CLOSE * was, _INVISIBLE):
        return False
    return max(alike(before, target, inside), alike(best, target, inside)) < _ALIKE


def removed(before: Picture, target: Picture, inside: Region) -> bool:
    """Whether lost structure means that something was taken away: the outline of the mask is fainter."""
    return outline(target, inside) < outline(before, inside)


def outline(picture: Picture, inside: Region) -> float:
    """Mean absolute difference between neighbours on either side of the edge of a mask."""
    steps = [np.abs(np.diff(picture, axis=axis))[:, crossed] for axis, crossed in _crossings(inside)]
    across = np.concatenate(steps, axis=1)
    return float(across.mean()) if across.size else 0.0


def _crossings(inside: Region) -> list[tuple[int, Region]]:
    return [(axis + 1, np.diff(inside, axis=axis)) for axis in (0, 1)]


def alike(one: Picture, other: Picture, inside: Region) -> float:
    """Correlation, -1 to 1, of the edges of two pictures inside a mask; 0 where one has none."""
    first, second = _edges(one)[:, inside], _edges(other)[:, inside]
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size > 0 else 0.0


def grown(region: Region) -> Region:
    """One pixel larger all around, so that a soft edge leaves no outline of what is removed."""
    padded = np.pad(region, 1)
    down = padded[:-2] | padded[1:-1] | padded[2:]
    around: Region = down[:, :-2] | down[:, 1:-1] | down[:, 2:]
    return around


def _edges(picture: Picture) -> np.ndarray:
    """(2, H, W): differences of grey to the right and below."""
    grey = picture.mean(axis=0)
    right, below = np.diff(grey, axis=1, append=grey[:, -1:]), np.diff(grey, axis=0, append=grey[-1:])
    return np.stack([right, below])

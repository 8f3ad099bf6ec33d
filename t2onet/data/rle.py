"""Masks as COCO writes them: run lengths down the columns, beginning with a run outside the mask.

The runs are a list of numbers, or a string that packs their differences into characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..image.limits import TooLargeError, check_size

_ZERO = 48
"""The character that stands for nought; 64 of them are used."""
_LONGEST = 35
"""Bits after which a number ends: more pixels than any photo has."""


def decode_mask(mask: object) -> NDArray[np.bool_]:
    """{"size": [H, W], "counts": runs} -> (H, W) booleans."""
    if not isinstance(mask, Mapping):
        raise DataError(f'a mask is {{"size": [height, width], "counts": runs}}, and {mask!r:.60} was given.')
    height, width = _size(mask.get("size"))
    runs = _runs(mask.get("counts"))
    if min(runs, default=0) < 0 or sum(runs) != height * width:
        raise DataError(f"a mask of {height} x {width} has runs for {sum(runs)} pixels, or negative ones.")
    inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(inside, runs).reshape(width, height).T


def _size(size: object) -> tuple[int, int]:
    match size:
        case [int(height), int(width)] if height > 0 and width > 0:
            _check_extent(height, width)
            return height, width
    raise DataError(f"a mask's size is [height, width] in pixels, and {size!r:.60} was given.")


def _check_extent(height: int, width: int) -> None:
    try:
        check_size(width, height)
    except TooLargeError as error:
        raise DataError(f"a mask claims to be {error}, more than a photo may have.") from error


def _runs(counts: object) -> Sequence[int]:
    if isinstance(counts, str):
        return _unpacked(counts)
    if isinstance(counts, list) and all(type(run) is int for run in counts):
        return counts
    raise DataError(f"a mask's counts are a text or a list of whole numbers, and {counts!r:.60} was given.")


def _unpacked(text: str) -> list[int]:
    """From the fourth on, each number is what to add to the run two places before."""
    runs: list[int] = []
    for number in _numbers(text):
        runs.append(number + runs[-2] if len(runs) > 2 else number)
    return runs


def _numbers(text: str) -> list[int]:
    """Five bits a character, low ones first; a sixth says that more follow, the last fifth is the sign."""
    numbers, value, shift = [], 0, 0
    for character in text:
        bits = ord(character) - _ZERO
        if not 0 <= bits < 64 or shift > _LONGEST:
            raise DataError(f"a mask's counts hold {character!r} where that stands for no number.")
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            numbers.append(value - (1 << shift) if bits & 16 else value)
            value, shift = 0, 0
    if shift:
        raise DataError("a mask's counts end in the middle of a number; the file was cut off.")
    return numbers

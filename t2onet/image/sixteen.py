"""Sixteen bits out of Pillow, which decodes deep RGB to eight.

Its raw modes "...;16B" and "...;16L" each keep one byte of every sample. Decoding twice, once with the byte
order the file has and once with the opposite, gives the high and the low bytes. Knows nothing of metadata.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ImageFile

_DEEP = {"RGB;16", "RGBA;16", "RGBa;16", "RGBX;16"}
_OTHER_ORDER = {"B": "L", "L": "B", "N": "B" if sys.byteorder == "little" else "L"}


def is_deep(file: ImageFile.ImageFile) -> bool:
    """Whether the file has more than eight bits a colour sample, which Pillow would cut off."""
    return any(";16" in _rawmode(tile) for tile in file.tile) and not file.mode.startswith("I")


def decode(
    file: ImageFile.ImageFile, open_again: Callable[[], ImageFile.ImageFile]
) -> NDArray[np.uint16] | None:
    """The file's samples, (H, W, 2, 3 or 4) uint16 with alpha last; None where the trick does not apply."""
    modes = {_rawmode(tile) for tile in file.tile}
    if modes == {"LA;16B"}:
        # Two big-endian samples are four bytes, just what Pillow calls RGBA.
        return _loaded(file, lambda _: "RGBA").view(">u2").astype(np.uint16)
    if not all(mode[:-1] in _DEEP for mode in modes):
        return None
    high = _loaded(file, _straight)
    low = _loaded(open_again(), lambda mode: _straight(mode[:-1] + _OTHER_ORDER[mode[-1]]))
    deep = high.astype(np.uint16) << np.uint16(8) | low
    return unpremultiplied(deep) if modes.pop().startswith("RGBa") else deep


def _loaded(file: ImageFile.ImageFile, rename: Callable[[str], str]) -> NDArray[np.uint8]:
    file.tile = [_renamed(tile, rename(_rawmode(tile))) for tile in file.tile]
    return np.ascontiguousarray(np.asarray(file))


def _rawmode(tile: Any) -> str:
    args = tile.args[0] if isinstance(tile.args, tuple) and tile.args else tile.args
    return args if isinstance(args, str) else ""


def _renamed(tile: Any, mode: str) -> Any:
    return tile._replace(args=(mode, *tile.args[1:]) if isinstance(tile.args, tuple) else mode)


def _straight(mode: str) -> str:
    return mode.replace("RGBa", "RGBA")


def unpremultiplied(deep: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """(H, W, 4) whose colours were multiplied by alpha -> the colours themselves, and alpha."""
    alpha = np.maximum(deep[..., 3:].astype(np.uint32), 1)
    colour = np.minimum((deep[..., :3].astype(np.uint64) * 65535 + alpha // 2) // alpha, 65535)
    return np.concatenate([colour.astype(np.uint16), deep[..., 3:]], axis=-1)

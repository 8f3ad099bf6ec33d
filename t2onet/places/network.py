"""The place network: one run over a small picture finds all places that it knows, and whether they are there.

Its last answers are remembered, so that several places, or several steps at one, take one run.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..image.photo import resize_array
from ..inference import CHANNELS, STRIDE, WEIGHTS_FOLDER, open_session

NETWORK_SIDE = 256
"""Long side of the picture it sees, in pixels."""
PLACES_FILE = "places.onnx"
LEAST_SHARE = 0.004
"""A place covers at least this share of a photo to be there."""
LEAST_CHANCE = dict.fromkeys(CHANNELS, 0.5)
"""How sure the network must be that a place is there."""
_REMEMBERED = 32
"""Pictures whose places are kept."""


@dataclass(frozen=True)
class FoundPlaces:
    """What the network says of one picture."""

    masks: np.ndarray
    """(CHANNELS, h, w) from 0 to 1."""
    chances: np.ndarray
    """(CHANNELS,) from 0 to 1: whether each is there."""

    def get_mask(self, name: str) -> np.ndarray:
        """The soft mask (h, w) of a place."""
        mask: np.ndarray = self.masks[CHANNELS.index(name)]
        return mask

    def is_there(self, name: str) -> bool:
        """Whether a place is in the picture."""
        chance = self.chances[CHANNELS.index(name)]
        share = (self.get_mask(name) > 0.5).mean()
        return bool(chance >= LEAST_CHANCE[name] and share >= LEAST_SHARE)


class PlaceFinderNetwork:
    """A network in a file, ready to run."""

    def __init__(self, path: Path) -> None:
        self._session: Any = open_session(path)

    def find(self, picture: np.ndarray) -> FoundPlaces:
        """All places of a picture (3, H, W) in sRGB from 0 to 1."""
        height, width = choose_size(*picture.shape[1:])
        levels = np.rint(255 * np.clip(picture, 0, 1)).astype(np.uint8).transpose(1, 2, 0)
        small = resize_array(np.ascontiguousarray(levels), (width, height))
        values = np.ascontiguousarray(small.transpose(2, 0, 1)[None], np.float32) / np.float32(255)
        masks, chances = self._session.run(None, {"picture": values})
        return FoundPlaces(masks[0], chances[0])


def choose_size(height: int, width: int) -> tuple[int, int]:
    """Height and width that the network sees a picture in: multiples of STRIDE, about in proportion."""
    scale = NETWORK_SIDE / max(height, width)
    tall, wide = (max(round(side * scale / STRIDE), 2) * STRIDE for side in (height, width))
    return tall, wide


@cache
def load_network() -> PlaceFinderNetwork:
    """The network in the package, opened once."""
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER / PLACES_FILE) as path:
        return PlaceFinderNetwork(path)


_answers: OrderedDict[bytes, FoundPlaces] = OrderedDict()
_answers_lock = Lock()


def find_all(picture: np.ndarray) -> FoundPlaces:
    """All places of a picture (3, H, W) in sRGB from 0 to 1, remembered for the last few pictures."""
    values = np.ascontiguousarray(picture, np.float32)
    key = _digest(values)
    with _answers_lock:
        if key in _answers:
            _answers.move_to_end(key)
            return _answers[key]
    found = load_network().find(values)
    _remember(key, found)
    return found


def share_answer(picture: np.ndarray, copy: np.ndarray) -> None:
    """Take the places of a picture for those of a smaller copy, on which they would be found less well."""
    _remember(_digest(np.ascontiguousarray(copy, np.float32)), find_all(picture))


def _digest(values: np.ndarray) -> bytes:
    return blake2b(values.data, salt=repr(values.shape).encode()[:16]).digest()


def _remember(key: bytes, found: FoundPlaces) -> None:
    with _answers_lock:
        _answers[key] = found
        while len(_answers) > _REMEMBERED:
            _answers.popitem(last=False)

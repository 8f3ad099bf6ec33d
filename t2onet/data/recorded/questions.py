"""Everything that measuring asks of a system without manners: pictures and requests, each pair once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .archive import Levels, damaged, decoded, encoded, levels, unzipped, zipped

FORM = "questions"
_DIGITS = 16


class Asked(NamedTuple):
    """A picture and what is asked of it."""

    picture: Levels
    request: str

    @property
    def key(self) -> str:
        """What its answer is found by: 16 hexadecimal digits of a SHA-256."""
        told = hashlib.sha256(repr(self.picture.shape).encode())
        told.update(np.ascontiguousarray(self.picture).tobytes())
        told.update(self.request.encode())
        return told.hexdigest()[:_DIGITS]


def key_of(picture: np.ndarray, request: str) -> str:
    """Of a picture (3, H, W) in [0, 1], which is taken at 8 bits."""
    return Asked(levels(picture), request).key


@dataclass(frozen=True)
class Questions:
    """Questions in order, by their keys, and the fingerprints of the data that they are about."""

    asked: dict[str, Asked]
    data: tuple[str, ...] = ()

    @classmethod
    def of(cls, asked: Iterable[tuple[np.ndarray, str]], data: Iterable[str] = ()) -> Questions:
        """Of pictures (3, H, W) in [0, 1] and requests, each pair once."""
        found = (Asked(levels(picture), request) for picture, request in asked)
        return cls({one.key: one for one in found}, tuple(dict.fromkeys(data)))

    @property
    def fingerprint(self) -> str:
        """Of what is asked, in whichever order."""
        return hashlib.sha256(" ".join(sorted(self.asked)).encode()).hexdigest()[:12]

    def zipped(self) -> bytes:
        """Each picture once, however much is asked of it."""
        places: dict[bytes, int] = {}
        pictures: list[Levels] = []
        asked: list[tuple[int, str]] = []
        for one in self.asked.values():
            at = places.setdefault(one.picture.tobytes(), len(pictures))
            if at == len(pictures):
                pictures.append(one.picture)
            asked.append((at, one.request))
        facts = {"data": self.data, "fingerprint": self.fingerprint, "pictures": len(pictures)}
        return zipped(FORM, {**facts, "asked": asked}, encoded(pictures))


def read_questions(path: Path) -> Questions:
    """What `Questions.zipped` wrote."""
    facts, files = unzipped(path, FORM, "`t2o evaluate --ask` or `t2o reproduce --ask`")
    try:
        pictures = decoded(files, facts["pictures"])
        asked = [Asked(pictures[at], request) for at, request in facts["asked"]]
        found = Questions({one.key: one for one in asked}, tuple(facts["data"]))
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise damaged(path, FORM, error) from None
    if found.fingerprint != facts.get("fingerprint"):
        raise damaged(path, FORM, ValueError("they are not what was written"))
    return found

"""What a network answered: recipes of one that decides on steps, pictures of one that paints."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .archive import Levels, damaged, decoded, encoded, unzipped, zipped

FORM = "answers"
_STEPS = "steps.npz"
Steps = Sequence[tuple[str, Sequence[float]]]
"""Operations with their parameters."""


@dataclass(frozen=True)
class Recipes:
    """Steps to each question."""

    steps: Sequence[Steps]

    def facts(self) -> dict[str, Any]:
        return {"operations": self._names()}

    def files(self) -> dict[str, bytes]:
        """How many steps there are, which, and all their parameters one after the other."""
        names = self._names()
        flat = [step for steps in self.steps for step in steps]
        data = io.BytesIO()
        np.savez_compressed(
            data,
            counts=np.array([len(steps) for steps in self.steps], np.uint8),
            operations=np.array([names.index(name) for name, _ in flat], np.uint8),
            sizes=np.array([len(values) for _, values in flat], np.uint8),
            values=np.array([value for _, values in flat for value in values], np.float32),
        )
        return {_STEPS: data.getvalue()}

    def _names(self) -> list[str]:
        return sorted({name for steps in self.steps for name, _ in steps})

    @classmethod
    def read(cls, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> Recipes:
        with np.load(io.BytesIO(files[_STEPS]), allow_pickle=False) as arrays:
            values = np.split(arrays["values"], np.cumsum(arrays["sizes"])[:-1])
            names = [facts["operations"][at] for at in arrays["operations"]]
            flat = iter(zip(names, (part.tolist() for part in values), strict=False))
            return cls([_taken(flat, int(count)) for count in arrays["counts"]])


def _taken(flat: Iterator[tuple[str, list[float]]], count: int) -> Steps:
    return [next(flat) for _ in range(count)]


@dataclass(frozen=True)
class Painted:
    """A picture to each question."""

    pictures: Sequence[Levels]

    def facts(self) -> dict[str, Any]:
        return {"pictures": len(self.pictures)}

    def files(self) -> dict[str, bytes]:
        return encoded(self.pictures)

    @classmethod
    def read(cls, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> Painted:
        return cls(decoded(files, facts["pictures"]))


@dataclass(frozen=True)
class Answers:
    """Answers by the keys of questions; `about` says which network gave them."""

    keys: Sequence[str]
    given: Recipes | Painted
    about: Mapping[str, Any]

    def zipped(self) -> bytes:
        facts = {"about": self.about, "keys": self.keys, **self.given.facts()}
        return zipped(FORM, facts, self.given.files())


def read_answers(path: Path) -> Answers:
    """What `Answers.zipped` wrote."""
    facts, files = _unzipped(path)
    try:
        given: Recipes | Painted = (Recipes if _STEPS in files else Painted).read(facts, files)
        count = len(given.steps if isinstance(given, Recipes) else given.pictures)
        if count != len(facts["keys"]):
            raise ValueError(f"{count} answers to {len(facts['keys'])} questions")
        return Answers(facts["keys"], given, facts["about"])
    except (OSError, LookupError, TypeError, ValueError, StopIteration, zipfile.BadZipFile) as error:
        raise damaged(path, FORM, error) from None


def about_answers(path: Path) -> dict[str, Any]:
    """Which network gave the answers of a file."""
    about = _unzipped(path)[0].get("about")
    if not isinstance(about, dict):
        raise damaged(path, FORM, ValueError("it does not say whose they are"))
    return about


def _unzipped(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    return unzipped(path, FORM, "`python -m t2onet.training.answering`")

"""Contact sheets: the same photos and the same requests through all systems, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image

from ..editor import small
from ..image import open_image
from ..image.depth import to_uint8
from ..metrics.pictures import distance
from ..planning.report.drawing import BODY, HEAD, SMALL, as_png, beside, canvas, framed, stacked, words
from ..planning.report.palette import FAINT
from .cases import Case
from .systems import Question, System

CELL, GAP = 152, 8
MARGIN = 24
PAIRS, PHOTOS = "pairs.png", "photos.png"
"""Sheets of photos of a dataset, which may not be anyone's to show to others, and of photos of one's own."""
REQUESTS = ("make it brighter", "more contrast", "less saturation", "make it warmer", "darken it a little")
"""What is asked of photos that come without a request."""


class Shot(NamedTuple):
    """A picture (3, H, W) and what stands below it."""

    picture: np.ndarray
    caption: str
    detail: str = ""


class Asked(NamedTuple):
    """A photo (3, S, S), what is asked of it and, where somebody made it, the target."""

    photo: np.ndarray
    request: str
    target: np.ndarray | None = None


def of_cases(cases: Sequence[Case], count: int) -> list[Asked]:
    """Some of them, evenly."""
    every = max(1, len(cases) // count)
    return [Asked(case.before, case.request, case.after) for case in cases[::every][:count]]


def of_photos(paths: Sequence[Path], side: int) -> list[Asked]:
    """Each with one of the requests in turn."""
    return [
        Asked(small(open_image(path), side), REQUESTS[at % len(REQUESTS)]) for at, path in enumerate(paths)
    ]


def questions_of(asked: Sequence[Asked]) -> list[Question]:
    """Where there is a target, the expert's, what an expert would have done is asked for."""
    return [Question(one.photo, one.request, "literal" if one.target is None else "expert") for one in asked]


def systems_sheet(title: str, systems: Sequence[System], asked: Sequence[Asked], note: str = "") -> bytes:
    """A row for each photo: as it came, the target, and what each system makes of it; as a PNG."""
    questions = questions_of(asked)
    answers = [system.answer(questions) for system in systems]
    rows = []
    for number, one in enumerate(asked):
        shots = [Shot(one.photo, "input", _off(one.photo, one.target))]
        if one.target is not None:
            shots.append(Shot(one.target, "target"))
        for system, made in zip(systems, answers, strict=True):
            picture = made[number].picture
            shots.append(Shot(picture, system.name, _off(picture, one.target)))
        rows.append((f'"{one.request}"', shots))
    return drawn(title, note, rows)


def _off(picture: np.ndarray, target: np.ndarray | None) -> str:
    return "" if target is None else f"L1 {distance(picture, target):.4f}"


def drawn(title: str, subtitle: str, rows: Sequence[tuple[str, Sequence[Shot]]], cell: int = CELL) -> bytes:
    """Rows of pictures, each below its heading; as a PNG."""
    width = max(len(shots) for _, shots in rows) * (cell + GAP) - GAP
    width = max(width, 4 * cell)
    parts = [words(title, HEAD, width), *([words(subtitle, BODY, width, FAINT)] if subtitle else [])]
    for heading, shots in rows:
        parts += [*([words(heading, BODY, width)] if heading else []), beside(list(_cells(shots, cell)), GAP)]
    return as_png(framed(stacked(parts, 2 * GAP), width + 2 * MARGIN, MARGIN))


def _cells(shots: Sequence[Shot], cell: int) -> Iterator[PIL.Image.Image]:
    for shot in shots:
        said = [words(shot.caption, SMALL, cell)]
        if shot.detail:
            said.append(words(shot.detail, SMALL, cell, FAINT))
        yield stacked([_fitted(shot.picture, cell), *said], 4)


def _fitted(picture: np.ndarray, cell: int) -> PIL.Image.Image:
    """As large as a square of that side allows, at its left."""
    image = PIL.Image.fromarray(to_uint8(np.ascontiguousarray(picture.transpose(1, 2, 0))))
    scale = cell / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    way = PIL.Image.Resampling.BICUBIC if scale > 1 else PIL.Image.Resampling.BOX
    whole = canvas(cell, size[1])
    whole.paste(image.resize(size, way), (0, 0))
    return whole

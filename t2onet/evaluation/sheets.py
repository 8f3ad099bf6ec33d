"""Contact sheets: the same photos and requests through all systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image

from ..data import Dataset, Sample
from ..data.overview import choose_samples
from ..editor import make_thumbnail
from ..errors import DataError
from ..image import open_image
from ..image.drawing import (
    BODY_SIZE,
    HEADING_SIZE,
    MUTED_COLOUR,
    SMALL_SIZE,
    add_margin,
    draw_text,
    new_canvas,
    stack_horizontally,
    stack_vertically,
    to_png_bytes,
)
from ..image.pixels import to_uint8
from ..metrics.distances import l1_distance
from .cases import Case, read_cases
from .runs import find_weights
from .systems import EVALUATION_SIDE, Question, System

# Contact sheets: the same photos and the same requests through all systems, side by side.

CELL_SIDE, GAP = 152, 8
MARGIN = 24
PAIRS_SHEET, PHOTOS_SHEET = "pairs.png", "photos.png"
"""Sheets of photos of a dataset, which may not be anyone's to show to others, and of photos of one's own."""
DEFAULT_REQUESTS = (
    "make it brighter",
    "more contrast",
    "less saturation",
    "make it warmer",
    "darken it a little",
)
"""What is asked of photos that come without a request."""


class SheetCell(NamedTuple):
    """A picture (3, H, W) and what stands below it."""

    picture: np.ndarray
    caption: str
    detail: str = ""


class SheetPhoto(NamedTuple):
    """A photo (3, S, S), what is asked of it and, where somebody made it, the target."""

    photo: np.ndarray
    request: str
    target: np.ndarray | None = None


def photos_from_cases(cases: Sequence[Case], count: int) -> list[SheetPhoto]:
    """Some of them, evenly."""
    every = max(1, len(cases) // count)
    return [SheetPhoto(case.before, case.request, case.after) for case in cases[::every][:count]]


def photos_from_files(paths: Sequence[Path], side: int) -> list[SheetPhoto]:
    """Each with one of the requests in turn."""
    return [
        SheetPhoto(make_thumbnail(open_image(path), side), DEFAULT_REQUESTS[at % len(DEFAULT_REQUESTS)])
        for at, path in enumerate(paths)
    ]


def to_questions(asked: Sequence[SheetPhoto]) -> list[Question]:
    """Where there is a target, the expert's, what an expert would have done is asked for."""
    return [Question(one.photo, one.request, "literal" if one.target is None else "expert") for one in asked]


def draw_systems_sheet(
    title: str, systems: Sequence[System], asked: Sequence[SheetPhoto], note: str = ""
) -> bytes:
    """A row for each photo: as it came, the target, and what each system makes of it; as a PNG."""
    questions = to_questions(asked)
    answers = [system.answer(questions) for system in systems]
    rows = []
    for number, one in enumerate(asked):
        shots = [SheetCell(one.photo, "input", _describe_distance(one.photo, one.target))]
        if one.target is not None:
            shots.append(SheetCell(one.target, "target"))
        for system, made in zip(systems, answers, strict=True):
            picture = made[number].picture
            shots.append(SheetCell(picture, system.name, _describe_distance(picture, one.target)))
        rows.append((f'"{one.request}"', shots))
    return draw_sheet(title, note, rows)


def _describe_distance(picture: np.ndarray, target: np.ndarray | None) -> str:
    return "" if target is None else f"L1 {l1_distance(picture, target):.4f}"


def draw_sheet(
    title: str, subtitle: str, rows: Sequence[tuple[str, Sequence[SheetCell]]], cell: int = CELL_SIDE
) -> bytes:
    """Rows of pictures, each below its heading; as a PNG."""
    width = max(len(shots) for _, shots in rows) * (cell + GAP) - GAP
    width = max(width, 4 * cell)
    parts = [
        draw_text(title, HEADING_SIZE, width),
        *([draw_text(subtitle, BODY_SIZE, width, MUTED_COLOUR)] if subtitle else []),
    ]
    for heading, shots in rows:
        parts += [
            *([draw_text(heading, BODY_SIZE, width)] if heading else []),
            stack_horizontally(list(_draw_cells(shots, cell)), GAP),
        ]
    return to_png_bytes(add_margin(stack_vertically(parts, 2 * GAP), width + 2 * MARGIN, MARGIN))


def _draw_cells(shots: Sequence[SheetCell], cell: int) -> Iterator[PIL.Image.Image]:
    for shot in shots:
        said = [draw_text(shot.caption, SMALL_SIZE, cell)]
        if shot.detail:
            said.append(draw_text(shot.detail, SMALL_SIZE, cell, MUTED_COLOUR))
        yield stack_vertically([_fit_cell(shot.picture, cell), *said], 4)


def _fit_cell(picture: np.ndarray, cell: int) -> PIL.Image.Image:
    """As large as a square of that side allows, at its left."""
    image = PIL.Image.fromarray(to_uint8(np.ascontiguousarray(picture.transpose(1, 2, 0))))
    scale = cell / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    way = PIL.Image.Resampling.BICUBIC if scale > 1 else PIL.Image.Resampling.BOX
    whole = new_canvas(cell, size[1])
    whole.paste(image.resize(size, way), (0, 0))
    return whole


# What a picture is drawn from, and what comes of it.

NamedFiles = Mapping[str, bytes]
"""Contents by names."""


@dataclass(frozen=True)
class PictureOptions:
    """Photos of a dataset, or `photos` of one's own; runs, and results of tables."""

    dataset: Dataset
    runs: Path
    results: Path
    photos: Sequence[Path] = ()
    request: str = ""
    split: str = "val"
    count: int = 4
    seed: int = 0
    narrow: bool = False

    def samples(self, count: int) -> list[Sample]:
        """By chance, of the split or, where it has none, of all."""
        return choose_samples(self.dataset.split(self.split) or self.dataset.samples, count, self.seed)

    @cached_property
    def cases(self) -> list[Case]:
        return read_cases(self.dataset, self.split, EVALUATION_SIDE, self.count, seed=self.seed)

    @property
    def asked(self) -> list[SheetPhoto]:
        """The photos to show, each with a request: the one that was given, or its own."""
        own = self.photos[: self.count]
        found = photos_from_files(own, EVALUATION_SIDE) if own else photos_from_cases(self.cases, self.count)
        return [one._replace(request=self.request, target=None) for one in found] if self.request else found

    @property
    def sheet(self) -> str:
        """What a picture of these photos is called."""
        return PHOTOS_SHEET if self.photos else PAIRS_SHEET

    def weights(self, run: str) -> Path:
        """Of a run that the picture cannot do without."""
        if (path := find_weights(self.runs / run)) is None:
            raise DataError(f"there are no weights in {self.runs / run}; train that run, or give --runs DIR")
        return path

"""Contact sheets: photos, requests and outputs side by side, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image

from ..editor import make_thumbnail
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
from .cases import Case
from .systems import Question, System

CELL_SIDE, GAP = 152, 8
MARGIN = 24
PAIRS_SHEET, PHOTOS_SHEET = "pairs.png", "photos.png"
"""Sheets of a dataset's photos, which its licence may forbid to publish, and of the user's own photos."""
DEFAULT_REQUESTS = (
    "make it brighter",
    "more contrast",
    "less saturation",
    "make it warmer",
    "darken it a little",
)
"""Requests for photos without one, in turn."""


class SheetCell(NamedTuple):
    """A picture (3, H, W) and the two lines below it."""

    picture: np.ndarray
    caption: str
    detail: str = ""


class SheetPhoto(NamedTuple):
    """A photo (3, side, side), a request and, if there is one, the target."""

    photo: np.ndarray
    request: str
    target: np.ndarray | None = None


def photos_from_cases(cases: Sequence[Case], count: int) -> list[SheetPhoto]:
    """`count` cases, evenly spaced."""
    stride = max(1, len(cases) // count)
    return [SheetPhoto(case.before, case.request, case.after) for case in cases[::stride][:count]]


def photos_from_files(paths: Sequence[Path], side: int) -> list[SheetPhoto]:
    """Photos of files, each with one of `DEFAULT_REQUESTS`."""
    return [
        SheetPhoto(make_thumbnail(open_image(path), side), DEFAULT_REQUESTS[index % len(DEFAULT_REQUESTS)])
        for index, path in enumerate(paths)
    ]


def to_questions(photos: Sequence[SheetPhoto]) -> list[Question]:
    """Photos with a target, which is an expert's, are edited in expert mode; others literally."""
    return [
        Question(photo.photo, photo.request, "literal" if photo.target is None else "expert")
        for photo in photos
    ]


def draw_systems_sheet(
    title: str, systems: Sequence[System], photos: Sequence[SheetPhoto], note: str = ""
) -> bytes:
    """A row for each photo: the input, the target, and the output of each system."""
    questions = to_questions(photos)
    answers = [system.answer(questions) for system in systems]
    rows = []
    for index, (photo, request, target) in enumerate(photos):
        cells = [SheetCell(photo, "input", _describe_distance(photo, target))]
        if target is not None:
            cells.append(SheetCell(target, "target"))
        for system, system_answers in zip(systems, answers, strict=True):
            picture = system_answers[index].picture
            cells.append(SheetCell(picture, system.name, _describe_distance(picture, target)))
        rows.append((f'"{request}"', cells))
    return draw_sheet(title, note, rows)


def _describe_distance(picture: np.ndarray, target: np.ndarray | None) -> str:
    return "" if target is None else f"L1 {l1_distance(picture, target):.4f}"


def draw_sheet(
    title: str, subtitle: str, rows: Sequence[tuple[str, Sequence[SheetCell]]], side: int = CELL_SIDE
) -> bytes:
    """Rows of cells, each below its heading."""
    width = max(len(cells) for _, cells in rows) * (side + GAP) - GAP
    width = max(width, 4 * side)
    parts = [draw_text(title, HEADING_SIZE, width)]
    if subtitle:
        parts.append(draw_text(subtitle, BODY_SIZE, width, MUTED_COLOUR))
    for heading, cells in rows:
        if heading:
            parts.append(draw_text(heading, BODY_SIZE, width))
        parts.append(stack_horizontally([_draw_cell(cell, side) for cell in cells], GAP))
    return to_png_bytes(add_margin(stack_vertically(parts, 2 * GAP), width + 2 * MARGIN, MARGIN))


def _draw_cell(cell: SheetCell, side: int) -> PIL.Image.Image:
    lines = [draw_text(cell.caption, SMALL_SIZE, side)]
    if cell.detail:
        lines.append(draw_text(cell.detail, SMALL_SIZE, side, MUTED_COLOUR))
    return stack_vertically([_fit_cell(cell.picture, side), *lines], 4)


def _fit_cell(picture: np.ndarray, side: int) -> PIL.Image.Image:
    """Resize a picture to fit a square of that side, aligned left."""
    image = PIL.Image.fromarray(to_uint8(np.ascontiguousarray(picture.transpose(1, 2, 0))))
    scale = side / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    resampling = PIL.Image.Resampling.BICUBIC if scale > 1 else PIL.Image.Resampling.BOX
    canvas = new_canvas(side, size[1])
    canvas.paste(image.resize(size, resampling), (0, 0))
    return canvas

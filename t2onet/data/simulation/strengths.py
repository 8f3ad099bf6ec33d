"""How strong a person means it: amounts of changes as physical strengths, and many edits in one go.

An amount of 1 is what a photographer expects of the plain request; the units below were judged by eye.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, log2, radians, sin

import numpy as np

from ...image.pixels import Array, to_array_like
from . import edits
from .wish import COLOURS, ChangeKind, PhotoChange

UNITS: dict[ChangeKind, tuple[float, float]] = {
    ChangeKind.EXPOSURE: (0.95, 0.95),
    ChangeKind.SHADOWS: (0.8, 0.8),
    ChangeKind.HIGHLIGHTS: (0.4, 0.6),
    ChangeKind.CONTRAST: (0.4, 0.65),
    ChangeKind.TEMPERATURE: (32.0, 32.0),
    ChangeKind.TINT: (7.0, 7.0),
    ChangeKind.COLOUR: (10.0, 10.0),
    ChangeKind.CHROMA: (0.55, 0.65),
    ChangeKind.SHARPNESS: (0.6, 0.8),
}
"""What an amount of 1 means downwards and upwards: stops; doublings of slope and of chroma; mired; a* and
chroma of white; blurs and strength of the unsharp mask."""

STAGES: tuple[tuple[Callable[..., Array], tuple[str, ...]], ...] = (
    (edits.exposure, ("exposure",)),
    (edits.shadows, ("shadows",)),
    (edits.highlights, ("highlights",)),
    (edits.contrast, ("contrast",)),
    (edits.temperature, ("temperature",)),
    (edits.cast, ("red", "yellow")),
    (edits.chroma, ("chroma",)),
    (edits.monochrome, ("monochrome",)),
    (edits.sharpness, ("sharpness",)),
)
"""In the order of a darkroom: light, tones, colour, detail; each with the names of its strengths."""
COLUMNS = tuple(name for _, names in STAGES for name in names)


def strengths(changes: Sequence[PhotoChange]) -> np.ndarray:
    """All changes of one photo together, as one strength for each of COLUMNS."""
    found = dict.fromkeys(COLUMNS, 0.0)
    for change in changes:
        for name, value in _parts(change):
            found[name] += value
    return np.array([found[name] for name in COLUMNS])


def _parts(change: PhotoChange) -> list[tuple[str, float]]:
    if change.kind is ChangeKind.MONOCHROME:
        return [("monochrome", 1.0)]
    strength = change.sign * change.amount * _unit(change.kind, change.sign)
    if change.kind is ChangeKind.TINT:
        return [("red", strength)]
    if change.kind is ChangeKind.COLOUR:
        angle = radians(COLOURS[change.colour])
        return [("red", strength * cos(angle)), ("yellow", strength * sin(angle))]
    return [(change.kind.value, strength)]


def _unit(kind: ChangeKind, sign: int) -> float:
    return UNITS[kind][sign > 0]


def amount_of(kind: ChangeKind, sign: int, figure: float, unit: str) -> float:
    """The amount that a spoken figure stands for.

    Stops are stops. Percent are, of exposure, shadows and highlights, of the displayed value; of contrast, of
    the slope; of chroma, of itself; of sharpness, of its full mask or blur; of a cast, of one twice as strong
    as the plain request.
    """
    if unit == "stops":
        return figure / _unit(kind, sign)
    share = figure / 100
    if kind in {ChangeKind.TEMPERATURE, ChangeKind.TINT, ChangeKind.COLOUR}:
        return 2 * share
    if kind is ChangeKind.SHARPNESS:
        return share / _unit(kind, sign)
    doublings = abs(log2(1 + sign * share))
    displayed = kind in {ChangeKind.EXPOSURE, ChangeKind.SHADOWS, ChangeKind.HIGHLIGHTS}
    return (2.2 if displayed else 1.0) * doublings / _unit(kind, sign)


def edited(photos: Array, wanted: np.ndarray) -> Array:
    """Photos (N, 3, H, W) with strengths (N, COLUMNS); each stage runs once, on those that use it."""
    result = photos + 0.0  # a copy in either library
    for edit, names in STAGES:
        columns = [COLUMNS.index(name) for name in names]
        rows = np.flatnonzero(wanted[:, columns].any(axis=1)).tolist()
        if rows:
            values = [to_array_like(wanted[rows, column], photos) for column in columns]
            result[rows] = edit(result[rows], *values)
    return result

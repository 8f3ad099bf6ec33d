"""From rows to figures: which columns a figure is the mean of, and what counts as one sample of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..metrics.intervals import Statistic, mean_of_classes
from ..metrics.lpips import TITLE as LPIPS
from .following import (
    CLASSES,
    COMPOUND,
    FLAGGED,
    IN_ORDER,
    MISSPELT,
    NEARER,
    UNREQUESTED,
    VAGUE,
    WRONGLY,
)
from .rows import Combine, Row, statistic

MANNERS = ("literal", "expert")
ANY = "any"
"""The manner of systems that tell none apart: their rows count for both."""
SIGMA = "sigma x 100"
TEN = tuple(f"request {number}" for number in range(1, 11))
"""Columns of how far each of the paper's requests moved a photo the right way."""
_PAIRS = ("L1", "SSIM", "PSNR", "delta-E 2000", LPIPS, "steps")
_REQUESTS = (UNREQUESTED, COMPOUND, MISSPELT, VAGUE, NEARER, FLAGGED, WRONGLY)


def pair_figures(rows: Sequence[Row]) -> dict[str, Statistic]:
    """How near the expert's the pictures are; a sample is a pair."""
    return _present((f"expert: {column}", _of(rows, "pairs", "expert", [column])) for column in _PAIRS)


def request_figures(rows: Sequence[Row]) -> dict[str, Statistic]:
    """How labelled requests were answered in each manner; a sample is a sentence, with all its photos."""
    return _present(_requests(rows))


def _requests(rows: Sequence[Row]) -> Iterator[tuple[str, Statistic]]:
    classes = tuple(CLASSES.values())
    for manner in MANNERS:
        yield f"{manner}: following", _of(rows, "requests", manner, classes)
        yield f"{manner}: following, least class", _of(rows, "requests", manner, classes, _least)
        for column in _REQUESTS:
            yield f"{manner}: {column}", _of(rows, "requests", manner, [column])


def class_figures(rows: Sequence[Row]) -> dict[str, Statistic]:
    """Following, class by class."""
    return _present(
        (f"{manner}: {column}", _of(rows, "requests", manner, [column]))
        for manner in MANNERS
        for column in CLASSES.values()
    )


def photo_figures(rows: Sequence[Row]) -> dict[str, Statistic]:
    """Amounts, and the paper's ten requests; a sample is a photo, with all that was asked of it."""
    found = {
        IN_ORDER: _of(rows, "amounts", "literal", [IN_ORDER]),
        SIGMA: _of(rows, "ten requests", "literal", [SIGMA]),
        "of the paper's ten requests right": _of(rows, "ten requests", "literal", TEN, _risen),
    }
    return _present(found.items())


def _of(
    rows: Iterable[Row], part: str, manner: str, columns: Sequence[str], combine: Combine = mean_of_classes
) -> Statistic:
    chosen = (row for row in rows if row.part == part and row.manner in {manner, ANY})
    return statistic(chosen, columns, _sentence if part == "requests" else _photo, combine)


def _sentence(row: Row) -> str:
    return row.request


def _photo(row: Row) -> str:
    return row.photo


def _least(means: np.ndarray) -> np.ndarray:
    return np.asarray(np.fmin.reduce(means, axis=-1))


def _risen(means: np.ndarray) -> np.ndarray:
    """How many of them are above zero."""
    return np.asarray((means > 0).sum(-1, dtype=np.float64))


def _present(figures: Iterable[tuple[str, Statistic]]) -> dict[str, Statistic]:
    """Those with a sample."""
    return {name: figure for name, figure in figures if figure.names}

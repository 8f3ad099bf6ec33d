"""One table of everything measured: a row for each sample, a column for each figure, blank where none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.spreadsheet import to_csv
from ..metrics.intervals import Means, mean_of_classes

Part = Literal["pairs", "requests", "amounts", "ten requests"]
Combine = Callable[[NDArray[np.float64]], NDArray[np.float64]]
_KEYS = ("system", "part", "photo", "request", "manner")


@dataclass(frozen=True)
class Row:
    """What came of one photo and what was asked of it. `request` names a sentence and does not quote it."""

    part: Part
    photo: str
    request: str
    manner: str
    figures: Mapping[str, float]


def as_csv(systems: Mapping[str, Sequence[Row]]) -> str:
    """The rows of all systems, with their figures to six digits."""
    columns = list(dict.fromkeys(name for rows in systems.values() for row in rows for name in row.figures))
    lines = [[*_KEYS, *columns]]
    for system, rows in systems.items():
        for row in rows:
            figures = [f"{row.figures[name]:.6g}" if name in row.figures else "" for name in columns]
            lines.append([system, row.part, row.photo, row.request, row.manner, *figures])
    return to_csv(lines)


def statistic(
    rows: Iterable[Row],
    columns: Sequence[str],
    sample: Callable[[Row], str],
    combine: Combine = mean_of_classes,
) -> Means:
    """The means of some columns, combined; rows of one sample (a photo, a sentence) stay together.

    Samples without any of the columns are left out.
    """
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
    for row in rows:
        there = np.array([name in row.figures for name in columns], np.float64)
        if there.any():
            name = sample(row)
            values = np.array([row.figures.get(column, 0.0) for column in columns], np.float64)
            sums[name] = sums.get(name, 0.0) + values
            counts[name] = counts.get(name, 0.0) + there
    shape = (len(sums), len(columns))
    values, numbers = (np.array(list(part.values())).reshape(shape) for part in (sums, counts))
    return Means(tuple(sums), values, numbers, combine)

"""How far people agree: Krippendorff's alpha, for any number of raters and any gaps.

K. Krippendorff, "Content Analysis", chapter 11. 1 is agreement, 0 what chance would give, below it is worse.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]


def alpha(values: Iterable[tuple[Hashable, float]], level: Level = "ordinal") -> float | None:
    """Of (unit, value) pairs, one for each judgement; None where no two judgements can be compared or differ.

    `level` says what a difference means: any is one, in ranks passed over, or in the value itself.
    """
    counts, domain = _counted(values)
    judged = counts.sum(axis=1)
    counts, judged = counts[judged > 1], judged[judged > 1]
    totals = counts.sum(axis=0)
    everything = totals.sum()
    distance = _distance(domain, totals, level)
    pairs = np.einsum("uc,uk,u->ck", counts, counts, 1 / (judged - 1)) - np.diag(
        (counts / (judged - 1)[:, None]).sum(axis=0)
    )
    by_chance = (np.outer(totals, totals) - np.diag(totals)) / max(everything - 1, 1)
    expected = float((by_chance * distance).sum())
    return None if expected == 0 else 1 - float((pairs * distance).sum()) / expected


def _counted(values: Iterable[tuple[Hashable, float]]) -> tuple[Floats, Floats]:
    """How often each value (columns, ascending) was given to each unit (rows), and the values."""
    units: dict[Hashable, int] = {}
    cells = [(units.setdefault(unit, len(units)), float(value)) for unit, value in values]
    domain = sorted({value for _, value in cells})
    counts = np.zeros((len(units), len(domain)))
    for row, value in cells:
        counts[row, domain.index(value)] += 1
    return counts, np.array(domain)


def _distance(domain: Floats, totals: Floats, level: Level) -> Floats:
    """Squared differences between values (V, V)."""
    if level == "nominal":
        return 1.0 - np.eye(len(domain))
    # Ranks of equal values are shared, so the way from c to k is all between and half of either end.
    places = np.cumsum(totals) - totals / 2 if level == "ordinal" else domain
    return np.square(places[:, None] - places[None, :])

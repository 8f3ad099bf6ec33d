"""Whether rows differ as in the paper, by more than chance.

Two things are left to chance: which pairs are measured, which the interval of a difference tells, and the
training run. The same config, plans and seed give another network each time on a GPU, so a difference between
two single runs that every pair confirms may still be noise.
"""

from __future__ import annotations

import math

from ...metrics.features import LITE0
from ...metrics.intervals import Difference
from ..figures import SIGMA
from ..measured import Spread

SAME, OTHER, NOISE = "as in the paper", "the other way", "within noise"
SINGLE_RUN = {
    "expert: L1": 0.0024,
    "expert: SSIM": 0.0034,
    f"expert: {LITE0}": 0.83,
    "expert: FID": 0.89,
    SIGMA: 0.045,
}
"""Standard deviation of a single run, as T2ONet from three seeds has it in results/main/figures.csv."""
_ERRORS = 1.959964
"""Standard errors on either side that hold 95 % of a normal variable."""


def run_variance(figure: str, spread: Spread | None) -> float | None:
    """Variance of a row's figure between training runs; None where that is not known.

    From the row's own runs where there are several; otherwise that of a single run of T2ONet.
    """
    if spread is not None:
        return spread.spread**2 / spread.runs
    return SINGLE_RUN[figure] ** 2 if figure in SINGLE_RUN else None


def noise(here: Difference, *variances: float) -> float:
    """What a difference has to exceed: 1.96 standard errors of pairs and training runs together."""
    sampling = (here.high - here.low) / (2 * _ERRORS)
    return _ERRORS * math.sqrt(sampling**2 + sum(variances))


def verdict(here: Difference, there: float, *variances: float) -> str:
    """How a difference compares with the paper's, given the variances of both rows between training runs."""
    if not abs(here.value) > noise(here, *variances):
        return NOISE
    return SAME if (here.value > 0) == (there > 0) else OTHER


def explanation() -> str:
    """The note below a table of verdicts."""
    known = ", ".join(f"{name.removeprefix('expert: ')} {spread:g}" for name, spread in SINGLE_RUN.items())
    return (
        f"Paired, on the same samples. {NOISE.capitalize()}: not beyond 1.96 standard errors of pairs and "
        "training runs together. Standard deviation between runs: that of a row's own runs where it has "
        f"several, otherwise that of T2ONet from three seeds ({known}; results/main)."
    )

"""The Frechet distance between two sets of features: how far two crowds of pictures are apart as crowds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError

Rows = NDArray[np.float64]
"""(pictures, features)."""


def frechet_distance(one: Rows, other: Rows) -> float:
    """|m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)) of the means and covariances of two sets of features.

    The trace of the root is the sum of the singular values of A1 A2', where Sk = Ak' Ak. That is exact also
    for fewer pictures than features, where covariances are singular and the root of a matrix is not exact.
    """
    try:
        from scipy.linalg import qr, svdvals
    except ImportError:
        raise DataError("a Frechet distance needs SciPy: pip install 't2onet[train]'") from None
    if min(len(one), len(other)) < 2:
        return float("nan")
    roots = []
    for rows in (one, other):
        root = (rows - rows.mean(0)) / (len(rows) - 1) ** 0.5
        roots.append(qr(root, mode="r")[0][: root.shape[1]] if len(root) > root.shape[1] else root)
    apart = ((one.mean(0) - other.mean(0)) ** 2).sum()
    spread = sum((root**2).sum() for root in roots)
    return max(0.0, float(apart + spread - 2 * svdvals(roots[0] @ roots[1].T).sum()))

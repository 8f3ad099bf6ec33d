"""What a plan tries to make small.

A cost is any callable from a picture (3, H, W) to a number. Solvers that use gradients call it with torch
tensors and need a tensor back; the others call it with NumPy arrays.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..kernels.fitting import mean_absolute


class Cost(Protocol):
    """A picture (3, H, W) in [0, 1] -> how bad it is."""

    def __call__(self, picture: Any, /) -> Any: ...


class L1:
    """Mean absolute difference from a target picture."""

    def __init__(self, target: np.ndarray) -> None:
        self.target = np.ascontiguousarray(target, np.float32)

    def __call__(self, picture: Any, /) -> Any:
        if isinstance(picture, np.ndarray):
            return float(mean_absolute(picture.reshape(-1), self.target.reshape(-1)))
        return (picture - picture.new_tensor(self.target)).abs().mean()

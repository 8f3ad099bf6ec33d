"""The paper's solver, kept as the reference: the simplex method of Nelder and Mead, as SciPy has it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from ... import operations
from ..costs import Cost
from ..path import Action, Picture
from . import Solver


def solve(name: str, picture: Picture, cost: Cost) -> Action:
    """Any operation, any cost, no gradients; SciPy's own settings, as published."""
    operation = operations.get(name)

    def action(values: np.ndarray) -> Action:
        return Action(name, np.array(operation.clipped(values.tolist())))

    found = minimize(
        lambda values: float(cost(action(values).applied(picture))), operation.defaults, method="Nelder-Mead"
    )
    return action(found.x)


SOLVERS: dict[str, Solver] = {"nelder-mead": solve}

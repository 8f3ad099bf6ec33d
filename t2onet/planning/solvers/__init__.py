"""Solvers: the parameters of one operation that make a cost small.

Each is a function of an operation, a picture and a cost. `fast` uses what each operation is and needs the L1
cost; the others take any cost.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module

from ...errors import PlanError
from ..costs import Cost
from ..path import Action, Picture

Solver = Callable[[str, Picture, Cost], Action]

_HOMES = {
    "fast": "fast",
    "nelder-mead": "nelder_mead",
    "adam": "gradient",
    "l-bfgs": "gradient",
    "newton": "gradient",
}
"""Solver name -> the module that registers it; SciPy and torch load only with theirs."""

NAMES = tuple(_HOMES)


def check_solver(name: str, way: str) -> None:
    """Refuse a name that no solver has, and a solver for the joint way, which fits without one."""
    if name not in _HOMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMES)}."
        raise PlanError(f"there is no solver {name!r}; {hint}")
    if way == "joint" and name != "fast":
        raise PlanError(
            f"the solver {name!r} is for a forward search; choose the way beam, fixed or epsilon-greedy"
        )


def solver(name: str) -> Solver:
    """The solver called `name`."""
    check_solver(name, way="beam")
    try:
        module = import_module(f".{_HOMES[name]}", __name__)
    except ImportError as error:
        extra = "train" if _HOMES[name] == "gradient" else "local"
        raise PlanError(f"the solver {name!r} needs {error.name}: pip install 't2onet[{extra}]'") from None
    found: Solver = module.SOLVERS[name]
    return found

"""Solvers: parameters of one operation that minimize a cost.

A solver is a function of an operation, a picture and a cost. `fast` needs the L1 cost and looks at a sample
of the pixels: each parameter is bracketed on a grid and refined by golden section; a curve is a
piecewise-linear least-absolute fit, by least squares with weights 1 / |residual|, a tridiagonal system for
its seven free knots. The others take any cost; the last three differentiate the formulas with torch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from ..errors import PlanError, suggest
from ..kernels.fitting import add_curve_equations, mean_absolute_difference
from ..operations import Operation, Parameter, get_published_operation
from ..operations.paper import CURVE_PIECES, CURVES
from ..recipe import Step
from .pictures import CostFunction, L1Cost, Picture, apply_step, reads_neighbours

if TYPE_CHECKING:
    import torch

Solver = Callable[[str, Picture, CostFunction], Step]

_SOLVER_EXTRAS = {"fast": "", "nelder-mead": "local", "adam": "train", "l-bfgs": "train", "newton": "train"}
"""Solver name -> the extra with what it needs; SciPy and torch are imported only by solvers that use them."""

SOLVER_NAMES = tuple(_SOLVER_EXTRAS)

_SOLVER_SAMPLE = 4096
"""Pixels that `fast` looks at, about."""
_GRID_POINTS = 9
_GOLDEN = (5**0.5 - 1) / 2
_GOLDEN_SECTION_STEPS = 10
_COORDINATE_SWEEPS = 3
"""Times that each parameter of an operation with several is solved in turn."""
_REWEIGHTINGS = 6
_MIN_RISE = 0.0025
"""Least rise of a piece of a curve, as a share of the whole, so that no parameter leaves its range."""
_MIN_RESIDUAL = 0.004
"""Residuals below one 8-bit level weigh the same."""
_GRADIENT_ROUNDS = {"adam": 150, "l-bfgs": 12, "newton": 25}


def check_solver(name: str, way: str) -> None:
    """Raise PlanError for an unknown solver, and for one given to the joint method, which uses none."""
    if name not in _SOLVER_EXTRAS:
        raise PlanError(f"there is no solver {name!r}; {suggest(name, SOLVER_NAMES)}")
    if way == "joint" and name != "fast":
        raise PlanError(
            f"the solver {name!r} is for a forward search; choose the way beam, fixed or epsilon-greedy"
        )


def find_solver(name: str) -> Solver:
    """The solver called `name`."""
    check_solver(name, way="beam")
    try:
        return _import_solver(name)
    except ImportError as error:
        raise PlanError(
            f"the solver {name!r} needs {error.name}: pip install 't2onet[{_SOLVER_EXTRAS[name]}]'"
        ) from None


def _import_solver(name: str) -> Solver:
    if name == "fast":
        return solve_fast
    if name == "nelder-mead":
        import_module("scipy.optimize")
        return solve_nelder_mead
    import_module("torch")
    return partial(solve_by_gradient, name)


def solve_fast(name: str, picture: Picture, cost: CostFunction) -> Step:
    """The step of operation `name` that brings `picture` closest to the target of `cost`."""
    if not isinstance(cost, L1Cost):
        raise PlanError("the solver 'fast' works for the L1 cost only; choose 'nelder-mead' for other costs")
    operation = get_published_operation(name)
    solve = _solve_curves if name in CURVES else _solve_numerically
    return solve(operation, picture, cost)


def solve_inside_mask(name: str, picture: Picture, target: Picture, inside: np.ndarray) -> Step:
    """Like `solve_fast`, for the pixels `inside` a boolean mask (H, W); pixels around it are still read."""
    if not reads_neighbours(name):
        pixels, goals = (np.ascontiguousarray(p[:, inside])[:, None] for p in (picture, target))
        return solve_fast(name, pixels, L1Cost(goals))
    goal = target[:, inside].reshape(-1)

    def measure(step: Step) -> float:
        result = apply_step(step, picture)
        return float(mean_absolute_difference(result[:, inside].reshape(-1), goal))

    return _search_coordinates(get_published_operation(name), measure)


def _subsample(picture: Picture) -> Picture:
    stride = max(1, round((picture[0].size / _SOLVER_SAMPLE) ** 0.5))
    return np.ascontiguousarray(picture[:, ::stride, ::stride])


def _solve_numerically(operation: Operation, picture: Picture, cost: L1Cost) -> Step:
    """Any operation, by trying values."""
    goal = _subsample(cost.target).reshape(-1)
    needs_all = reads_neighbours(operation.name)
    start = picture if needs_all else _subsample(picture)

    def measure(step: Step) -> float:
        result = apply_step(step, start)
        compared = _subsample(result) if needs_all else result
        return float(mean_absolute_difference(compared.reshape(-1), goal))

    return _search_coordinates(operation, measure)


def _search_coordinates(operation: Operation, measure: Callable[[Step], float]) -> Step:
    """Minimize over each parameter in turn, the others fixed; several parameters a few times over."""
    values = list(operation.defaults)
    for _ in range(_COORDINATE_SWEEPS if operation.size > 1 else 1):
        for at, slot in enumerate(operation.slots):

            def measure_at(p: float, at: int = at) -> float:
                changed = (*values[:at], p, *values[at + 1 :])
                return measure(Step.from_trusted(operation.name, changed))

            values[at] = _minimize_scalar(measure_at, _make_grid(slot))
    return Step.from_trusted(operation.name, tuple(values))


def _make_grid(slot: Parameter) -> np.ndarray:
    """Even steps from the lowest to the default and from there to the highest value."""
    below = np.linspace(slot.low, slot.default, _GRID_POINTS // 2 + 1)
    above = np.linspace(slot.default, slot.high, _GRID_POINTS // 2 + 1)
    return np.unique(np.concatenate([below, above]))


def _minimize_scalar(measure: Callable[[float], float], grid: np.ndarray) -> float:
    """Golden section around the best point of the grid."""
    best = int(np.argmin([measure(p) for p in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = measure(left), measure(right)
    for _ in range(_GOLDEN_SECTION_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = measure(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = measure(right)
    return float(left if at_left < at_right else right)


def _solve_curves(operation: Operation, picture: Picture, cost: L1Cost) -> Step:
    """One curve for all channels, or one for each."""
    count = operation.size // CURVE_PIECES
    inputs, targets = (_subsample(p).reshape(count, -1) for p in (picture, cost.target))
    rises = np.concatenate([_solve_curve(x, t) for x, t in zip(inputs, targets, strict=True)])
    return Step.from_trusted(operation.name, operation.clip(rises.tolist()))


def _solve_curve(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The eight rises of the curve that takes `inputs` nearest to `targets`."""
    knots = np.linspace(0, 1, CURVE_PIECES + 1)
    # A faint pull towards the previous knots settles those that no pixel is near.
    pull = 1e-3 * inputs.size
    for _ in range(_REWEIGHTINGS):
        diagonal, upper, right = (
            np.zeros(CURVE_PIECES + 1),
            np.zeros(CURVE_PIECES),
            np.zeros(CURVE_PIECES + 1),
        )
        add_curve_equations(inputs, targets, knots, _MIN_RESIDUAL, diagonal, upper, right)
        system = np.diag(diagonal + pull) + np.diag(upper, 1) + np.diag(upper, -1)
        knots = _solve_rising_knots(system, right + pull * knots)
    return CURVE_PIECES * np.diff(knots)


def _solve_rising_knots(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The knots from 0 to 1 that solve the system and rise everywhere.

    Pieces that would fall are tied to the least rise, the worst first, and the rest is solved again.
    """
    tied: set[int] = set()
    while True:
        knots = _solve_tied_knots(system, right, tied)
        rises = np.diff(knots)
        rises[list(tied)] = np.inf
        worst = int(np.argmin(rises))
        if rises[worst] >= _MIN_RISE or len(tied) == CURVE_PIECES - 1:
            return knots
        tied.add(worst)


def _solve_tied_knots(system: np.ndarray, right: np.ndarray, tied: set[int]) -> np.ndarray:
    """Knots in groups that move as one: the group of the first knot is fixed, so is that of the last."""
    group = np.cumsum([0, *(piece not in tied for piece in range(CURVE_PIECES))])
    climbed = np.cumsum([0.0, *(_MIN_RISE if piece in tied else 0.0 for piece in range(CURVE_PIECES))])
    last = group[-1]
    start = np.array([climbed[group == g][0] for g in range(last + 1)])
    offset: np.ndarray = climbed - start[group]
    offset[group == last] += 1 - offset[-1]
    free = (group[:, None] == np.arange(1, last)).astype(float)
    if free.size:
        moved = np.linalg.solve(free.T @ system @ free, free.T @ (right - system @ offset))
        offset += free @ moved
    return offset


def solve_nelder_mead(name: str, picture: Picture, cost: CostFunction) -> Step:
    """The paper's solver: the simplex method of Nelder and Mead with SciPy's default settings; any cost."""
    from scipy.optimize import minimize

    operation = get_published_operation(name)

    def to_step(values: np.ndarray) -> Step:
        return Step.from_trusted(name, operation.clip(values.tolist()))

    result = minimize(
        lambda values: float(cost(apply_step(to_step(values), picture))),
        operation.defaults,
        method="Nelder-Mead",
    )
    return to_step(result.x)


def solve_by_gradient(method: str, name: str, picture: Picture, cost: CostFunction) -> Step:
    """The best parameters that `method` visits on its way from the defaults."""
    import torch

    operation = get_published_operation(name)
    image = torch.from_numpy(np.array(picture))
    values = torch.tensor(operation.defaults, dtype=torch.float32, requires_grad=True)
    lowest, best = float("inf"), values.detach().clone()

    def evaluate() -> torch.Tensor:
        nonlocal lowest, best
        now: torch.Tensor = cost(operation.run(image, _clip_to_ranges(operation, values)))
        if now.item() < lowest:
            lowest, best = now.item(), _clip_to_ranges(operation, values).detach().clone()
        return now

    step = _STEP_FACTORIES[method](values, evaluate)
    for _ in range(_GRADIENT_ROUNDS[method]):
        step()
    evaluate()
    return Step.from_trusted(name, operation.clip(best.double().tolist()))


def _clip_to_ranges(operation: Operation, values: torch.Tensor) -> torch.Tensor:
    """Values clipped to their ranges, with a gradient that leads back inside."""
    import torch

    low = values.new_tensor([slot.low for slot in operation.slots])
    high = values.new_tensor([slot.high for slot in operation.slots])
    return values + (torch.clamp(values, low, high) - values).detach()


def _make_adam_step(values: torch.Tensor, evaluate: Callable[[], torch.Tensor]) -> Callable[[], None]:
    import torch

    optimiser = torch.optim.Adam([values], lr=0.05)

    def step() -> None:
        optimiser.zero_grad()
        evaluate().backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return step


def _make_lbfgs_step(values: torch.Tensor, evaluate: Callable[[], torch.Tensor]) -> Callable[[], None]:
    import torch

    optimiser = torch.optim.LBFGS([values], line_search_fn="strong_wolfe", max_iter=10)

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        now = evaluate()
        now.backward()  # type: ignore[no-untyped-call]
        return now

    def step() -> None:
        optimiser.step(closure)  # type: ignore[no-untyped-call]

    return step


def _make_newton_step(values: torch.Tensor, evaluate: Callable[[], torch.Tensor]) -> Callable[[], None]:
    """Newton's method with the curvature of the gradient's own square, since L1 has none of its own."""
    import torch

    damping = 1e-2

    def step() -> None:
        nonlocal damping
        now = evaluate()
        (slope,) = torch.autograd.grad(now, values, create_graph=True)
        rows = [torch.autograd.grad(s, values, retain_graph=True, allow_unused=True)[0] for s in slope]
        zeros = torch.zeros_like(values)
        bend = torch.stack([zeros if row is None else row for row in rows])
        levels, directions = torch.linalg.eigh((bend + bend.T) / 2)
        along = directions.T @ slope.detach()
        before = values.detach().clone()
        for _ in range(6):
            move = directions @ (along / (levels.abs() + damping))
            with torch.no_grad():
                values.copy_(before - move)
            if evaluate().item() < now.item():
                damping = max(damping / 3, 1e-5)
                return
            damping *= 4
        with torch.no_grad():
            values.copy_(before)

    return step


_STEP_FACTORIES = {"adam": _make_adam_step, "l-bfgs": _make_lbfgs_step, "newton": _make_newton_step}

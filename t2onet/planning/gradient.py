"""Solvers that differentiate the formulas with torch: first order (Adam, L-BFGS) and second (Newton)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from ..operations import Operation, get_published_operation
from ..recipe import Step
from .pictures import CostFunction, Picture
from .solvers import Solver

_GRADIENT_ROUNDS = {"adam": 150, "l-bfgs": 12, "newton": 25}


def solve_by_gradient(method: str, name: str, picture: Picture, cost: CostFunction) -> Step:
    """The best parameters that `method` visits on its way from the defaults."""
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
    low = values.new_tensor([slot.low for slot in operation.slots])
    high = values.new_tensor([slot.high for slot in operation.slots])
    return values + (torch.clamp(values, low, high) - values).detach()


def _make_adam_step(values: torch.Tensor, evaluate: Callable[[], torch.Tensor]) -> Callable[[], None]:
    optimiser = torch.optim.Adam([values], lr=0.05)

    def step() -> None:
        optimiser.zero_grad()
        evaluate().backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return step


def _make_lbfgs_step(values: torch.Tensor, evaluate: Callable[[], torch.Tensor]) -> Callable[[], None]:
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
GRADIENT_SOLVERS: dict[str, Solver] = {
    method: partial(solve_by_gradient, method) for method in _STEP_FACTORIES
}

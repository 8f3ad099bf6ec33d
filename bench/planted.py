"""Planted recipes of one to four steps: how well planning explains them, and which operations it names."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bench.pairs import made, real
from t2onet.operations import PAPER, Operation, get_operation, sort_by_position
from t2onet.operations.colour import HUES, ZONE_NAMES
from t2onet.planning import plan_darkroom, plan_pictures
from t2onet.planning.pictures import Picture, StepSequence, apply_step, render_intermediates
from t2onet.recipe import Step

COUNT = int(os.environ.get("T2O_BENCH_PLANTED", "200"))
CLIPPED = 0.01
VISIBLE = 0.004
"""Least change of the result without a step of a darkroom recipe: one level of 255."""


def main() -> None:
    for label, pairs in (("MA5k-Req val photos", real("val", 50)), ("example photos", made(9))):
        if pairs:
            _explain(label, [before for before, _ in pairs])
            _name(label, [before for before, _ in pairs])


def _explain(label: str, photos: list[Picture]) -> None:
    """The paper's operations, inside half of their ranges, in any order."""
    rng = np.random.default_rng(5)
    costs, start = [], time.perf_counter()
    while len(costs) < COUNT:
        photo = photos[rng.integers(len(photos))]
        target = _planted(photo, rng)
        if target is not None:
            costs.append(plan_pictures(photo, target).cost)
    explained = np.mean(np.array(costs) < 0.004)
    print(f"  {label}, {COUNT} of the paper's: {explained:.1%} explained to L1 < .004 (bar: 95 %); ", end="")
    print(f"mean L1 {np.mean(costs):.5f}; {1000 * (time.perf_counter() - start) / COUNT:.0f} ms a case")


def _planted(picture: Picture, rng: np.random.Generator) -> Picture | None:
    """The picture after random operations; None where they clip more than a hundredth of the values."""
    for name in rng.permutation(PAPER)[: rng.integers(1, 5)]:
        operation = get_operation(name)
        values = operation.complete(_values(operation.as_published(), rng))
        changed = apply_step(Step.from_trusted(str(name), values), picture)
        if _clips(picture, changed):
            return None
        picture = changed
    return picture


def _clips(before: Picture, after: Picture) -> bool:
    newly = ((after <= 0) & (before > 0)) | ((after >= 1) & (before < 1))
    return bool(newly.mean() >= CLIPPED)


def _values(operation: Operation, rng: np.random.Generator) -> tuple[float, ...]:
    """Up to halfway from the defaults to either end; halfway in ratio for curves."""
    if operation.size > 1:
        (slot, *_) = operation.slots
        logs = rng.uniform(0.5 * np.log(slot.low), 0.5 * np.log(slot.high), operation.size)
        return tuple(np.exp(logs).tolist())
    slot = operation.slots[0]
    end = slot.high if rng.random() < 0.5 else slot.low
    return (slot.default + rng.uniform(0, 0.5) * (end - slot.default),)


def _name(label: str, photos: list[Picture]) -> None:
    """Operations of the darkroom, moderate amounts, in their usual order."""
    rng = np.random.default_rng(6)
    costs, named, seconds = [], [], 0.0
    while len(costs) < COUNT:
        photo = photos[rng.integers(len(photos))]
        steps = draw_darkroom_steps(photo, rng)
        if steps is None:
            continue
        target = render_intermediates(steps, photo)[-1]
        start = time.perf_counter()
        fit = plan_darkroom(photo, target)
        seconds += time.perf_counter() - start
        costs.append(fit.cost)
        named.append({step.operation for step in fit.steps} == {step.operation for step in steps})
    explained = np.mean(np.array(costs) < 0.004)
    print(f"  {label}, {COUNT} of the darkroom: {explained:.1%} explained to L1 < .004 (bar: 90 %), ", end="")
    print(f"operations named exactly in {np.mean(named):.1%} (bar: 75 %); ", end="")
    print(f"mean L1 {np.mean(costs):.5f}; {1000 * seconds / COUNT:.0f} ms a case")


def draw_darkroom_steps(picture: Picture, rng: np.random.Generator) -> StepSequence | None:
    """One to four steps; None where one of them clips the picture or would not be missed."""
    names = sort_by_position(rng.permutation(list(DARKROOM_AMOUNTS))[: rng.integers(1, 5)].tolist())
    steps = tuple(
        Step.from_trusted(name, get_operation(name).check(DARKROOM_AMOUNTS[name](rng))) for name in names
    )
    pictures = render_intermediates(steps, picture)
    if any(_clips(before, after) for before, after in pairwise(pictures)):
        return None
    for at in range(len(steps)):
        without = render_intermediates(steps[:at] + steps[at + 1 :], picture)[-1]
        if np.abs(without - pictures[-1]).mean() < VISIBLE:
            return None
    return steps


def _signed(rng: np.random.Generator, low: float, high: float) -> float:
    return float(rng.choice([-1, 1]) * rng.uniform(low, high))


def _draw_mixer(rng: np.random.Generator) -> dict[str, float]:
    hues = rng.permutation(list(HUES))[: rng.integers(1, 3)]
    return {f"{h} {p}": _signed(rng, 30, 70) for h in hues for p in _draw_some(rng, _MIXER_ROWS)}


def _draw_some(rng: np.random.Generator, names: tuple[str, ...]) -> list[str]:
    return [str(name) for name in rng.permutation(names)[: rng.integers(1, 3)]]


_MIXER_ROWS = ("hue", "saturation", "lightness")


def _draw_grading(rng: np.random.Generator) -> dict[str, float]:
    values = {}
    for zone in _draw_some(rng, ZONE_NAMES):
        values |= {f"{zone} hue": float(rng.uniform(0, 360)), f"{zone} strength": float(rng.uniform(20, 60))}
    return values


def _draw_black_and_white(rng: np.random.Generator) -> dict[str, float]:
    mixed = rng.permutation(list(HUES))[: rng.integers(0, 3)]
    return {"amount": 100.0} | {f"{hue} mix": _signed(rng, 30, 70) for hue in mixed}


DARKROOM_AMOUNTS: dict[str, Callable[[np.random.Generator], object]] = {
    "exposure": lambda rng: _signed(rng, 0.25, 1.0),
    "contrast": lambda rng: (_signed(rng, 0.15, 0.5), float(rng.uniform(0.35, 0.65))),
    **{
        zone: lambda rng: _signed(rng, 25, 75)
        for zone in ("highlights", "shadows", "whites", "blacks", "vibrance")
    },
    "white_balance": lambda rng: (_signed(rng, 8, 40), float(rng.choice([0, _signed(rng, 8, 40)]))),
    "saturation": lambda rng: _signed(rng, 0.15, 0.5),
    "mixer": _draw_mixer,
    "grading": _draw_grading,
    "black_and_white": _draw_black_and_white,
    "vignette": lambda rng: _signed(rng, 20, 60),
}
"""Operation -> a draw of moderate amounts."""

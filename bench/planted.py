"""Planted recipes, one to four operations inside half of their ranges: how well planning explains them."""

from __future__ import annotations

import os
import time

import numpy as np

from bench.pairs import made, real
from t2onet.operations import PAPER, Operation, get_operation
from t2onet.planning import plan_pictures
from t2onet.planning.pictures import Picture, apply_step
from t2onet.recipe import Step

COUNT = int(os.environ.get("T2O_BENCH_PLANTED", "200"))
CLIPPED = 0.01


def main() -> None:
    for label, pairs in (("MA5k-Req val photos", real("val", 50)), ("example photos", made(9))):
        if pairs:
            _explain(label, [before for before, _ in pairs])


def _explain(label: str, photos: list[Picture]) -> None:
    rng = np.random.default_rng(5)
    costs, start = [], time.perf_counter()
    while len(costs) < COUNT:
        photo = photos[rng.integers(len(photos))]
        target = _planted(photo, rng)
        if target is not None:
            costs.append(plan_pictures(photo, target).cost)
    explained = np.mean(np.array(costs) < 0.004)
    print(f"  {label}, {COUNT} cases: {explained:.1%} explained to L1 < .004 (bar: 95 %); ", end="")
    print(f"mean L1 {np.mean(costs):.5f}; {1000 * (time.perf_counter() - start) / COUNT:.0f} ms a case")


def _planted(picture: Picture, rng: np.random.Generator) -> Picture | None:
    """The picture after random operations; None where they clip more than a hundredth of the values."""
    for name in rng.permutation(PAPER)[: rng.integers(1, 5)]:
        changed = apply_step(Step.from_trusted(str(name), _values(get_operation(name), rng)), picture)
        newly = ((changed <= 0) & (picture > 0)) | ((changed >= 1) & (picture < 1))
        if newly.mean() >= CLIPPED:
            return None
        picture = changed
    return picture


def _values(operation: Operation, rng: np.random.Generator) -> tuple[float, ...]:
    """Up to halfway from the defaults to either end; halfway in ratio for curves."""
    if operation.size > 1:
        (slot, *_) = operation.slots
        logs = rng.uniform(0.5 * np.log(slot.low), 0.5 * np.log(slot.high), operation.size)
        return tuple(np.exp(logs).tolist())
    (slot,) = operation.slots
    end = slot.high if rng.random() < 0.5 else slot.low
    return (slot.default + rng.uniform(0, 0.5) * (end - slot.default),)

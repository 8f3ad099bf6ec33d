"""The paper's planning ablations on pairs at 128 x 128, beside the paper's figures (its train split)."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from bench.pairs import Pair, made, real
from t2onet.operations import operations
from t2onet.planning import L1, Search
from t2onet.planning.search import Order
from t2onet.planning.solvers import solver

COUNT = int(os.environ.get("T2O_BENCH_COMPARED", "100"))
ALL = tuple(operations())
SCALARS = ("brightness", "contrast", "saturation", "sharpness")

_SETS: dict[str, tuple[Sequence[str], Order, str]] = {
    "only brightness": (("brightness",), "free", "0.0521"),
    "four one-parameter operations": (SCALARS, "free", "0.0358"),
    "fixed order": (ALL, "fixed", "0.0198"),
    "epsilon-greedy": (ALL, "epsilon-greedy", "0.0197"),
    "full search": (ALL, "free", "0.0136"),
}
_SINGLE = dict(zip(("brightness", "contrast", "saturation", "sharpness", "tone", "color"), (
    "0.0521", "0.0859", "0.1037", "0.1163", "0.0277", "0.0260"), strict=True))  # fmt: skip
_STEPS = dict(zip(range(1, 7), ("0.0256", "0.0145", "0.0139", "0.0137", "0.0136", "0.0136"), strict=True))


def main() -> None:
    for label, pairs in (("MA5k-Req val", real("val", COUNT)), ("made from examples", made(20))):
        if pairs:
            print(f"  {label}, {len(pairs)} pairs: ours, and the paper's on its train split")
            _print_tables(pairs)


def _print_tables(pairs: list[Pair]) -> None:
    for name, (names, order, paper) in _SETS.items():
        print(f"    {name:<32} {_cost(pairs, names, order):.4f}   {paper}")
    for name, paper in _SINGLE.items():
        print(f"    single operation {name:<15} {_cost(pairs, (name,)):.4f}   {paper}")
    for steps, paper in _STEPS.items():
        print(f"    at most {steps} steps {'':<17} {_cost(pairs, ALL, steps=steps):.4f}   {paper}")


def _cost(pairs: list[Pair], names: Sequence[str], order: Order = "free", steps: int = 6) -> float:
    fast = solver("fast")
    searches = (
        Search(L1(after), fast, names, steps=steps, order=order).run(before) for before, after in pairs
    )
    return float(np.mean([node.cost for node in searches]))

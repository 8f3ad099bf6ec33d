"""Planning before/after pairs at 128 x 128: ours against the paper's Nelder-Mead search, in one run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import minimize

from bench.pairs import ROOT, Pair, edited, made, real
from bench.timing import seconds
from t2onet import open_image, operations, plan
from t2onet.operations.paper import CURVES
from t2onet.planning import ForwardSearch, L1Cost, plan_darkroom, plan_pictures
from t2onet.planning.darkroom import DARKROOM
from t2onet.planning.pictures import CostFunction, Picture
from t2onet.planning.solvers import find_solver
from t2onet.recipe import Step

OURS = 5
"""Times ours is run for each run of eager Nelder-Mead."""
TIMED = int(os.environ.get("T2O_BENCH_TIMED", "20"))
COMPARED = int(os.environ.get("T2O_BENCH_COMPARED", "100"))


def main() -> None:
    for label, pairs in (("MA5k-Req val", real("val", COMPARED)), ("made from examples", made(20))):
        if not pairs:
            print(f"  {label}: not here; see docs/planning.md for where it is looked for")
            continue
        plan_pictures(*pairs[0])  # loads the kernels
        _compare(label, pairs)
        _plan_in_darkroom(pairs)
    _sizes()


def _compare(label: str, pairs: list[Pair]) -> None:
    start = np.mean([L1Cost(after)(before) for before, after in pairs])
    ours, ours_time = _timed(lambda before, after: plan_pictures(before, after).cost, pairs)
    published, published_time = _timed(lambda b, a: _search("nelder-mead", b, a), pairs)
    beam, beam_time = _timed(lambda b, a: _search("fast", b, a), pairs)
    few = pairs[: min(TIMED, len(pairs))]
    eager_time, ours_again = _in_turns(few)
    print(f"  {label}, {len(pairs)} pairs; mean difference of the inputs {start:.4f}")
    print(f"    ours (joint)                  L1 {ours:.4f}   {1000 * ours_time:8.1f} ms a pair")
    print(f"    beam search, our solvers      L1 {beam:.4f}   {1000 * beam_time:8.1f} ms a pair")
    print(f"    Nelder-Mead through kernels   L1 {published:.4f}   {1000 * published_time:8.1f} ms a pair")
    print(f"    Nelder-Mead, eager torch      on {len(few)} pairs   {1000 * eager_time:8.1f} ms a pair")
    print(f"    L1 ours / Nelder-Mead = {ours / published:.3f} (bar: at most 0.78)")
    print(f"    eager Nelder-Mead / ours = {eager_time / ours_again:.0f} times as long (bar: at least 200)")


def _plan_in_darkroom(pairs: list[Pair]) -> None:
    for label, names in (
        ("darkroom", DARKROOM),
        ("without curves", [name for name in DARKROOM if name not in CURVES]),
    ):
        fits = [plan_darkroom(before, after, names=names) for before, after in pairs]
        used = [{step.operation for step in fit.steps} for fit in fits]
        curves = ", ".join(f"{curve} in {np.mean([curve in one for one in used]):.0%}" for curve in CURVES)
        print(f"    {label:29} L1 {np.mean([fit.cost for fit in fits]):.4f}   ", end="")
        print(f"{np.mean([len(fit.steps) for fit in fits]):.1f} steps, {curves}")


def _timed(work: Callable[[Picture, Picture], float], pairs: list[Pair]) -> tuple[float, float]:
    """Mean cost, and mean seconds."""
    start = time.perf_counter()
    costs = [work(before, after) for before, after in pairs]
    return float(np.mean(costs)), (time.perf_counter() - start) / len(pairs)


def _in_turns(pairs: list[Pair]) -> tuple[float, float]:
    """Mean seconds of eager Nelder-Mead and of ours, pair by pair, so that both meet the same machine."""
    eager = ours = 0.0
    for before, after in pairs:
        eager += seconds(lambda: _eager_search(before, after))  # noqa: B023
        ours += sum(seconds(lambda: plan_pictures(before, after)) for _ in range(OURS)) / OURS  # noqa: B023
    return eager / len(pairs), ours / len(pairs)


def _sizes() -> None:
    """Large photos: what the working size costs, and what it leaves on the photo itself."""
    photos = [open_image(path) for path in sorted((ROOT / "examples").glob("*.jpg"))[:3]]
    pairs = [(photo, edited(photo, seed)) for seed, photo in enumerate(photos)]
    print(f"  Working size, on {len(pairs)} photos of {photos[0].width} x {photos[0].height} and the like")
    for size in (64, 128, 256, 512, 1000):
        start = time.perf_counter()
        cost = np.mean([plan(*pair, size=size).cost for pair in pairs])
        taken = (time.perf_counter() - start) / len(pairs)
        print(f"    {size:5} px   L1 on the photos {cost:.4f}   {taken:6.2f} s a pair")


def _search(name: str, before: Picture, after: Picture) -> float:
    return ForwardSearch(L1Cost(after), find_solver(name), list(operations.PAPER)).run(before).cost


def _eager_search(before: Picture, after: Picture) -> float:
    return ForwardSearch(L1Cost(after), _eager, list(operations.PAPER)).run(before).cost


def _eager(name: str, picture: Picture, cost: CostFunction) -> Step:
    """SciPy's Nelder-Mead over the torch formulas run eagerly, as the published planner does it."""
    operation = operations.get_operation(name)
    assert isinstance(cost, L1Cost)
    image, target = torch.from_numpy(np.array(picture)), torch.from_numpy(cost.target)

    def off(values: np.ndarray) -> float:
        with torch.no_grad():
            inside = torch.tensor(operation.clip(values.tolist()), dtype=torch.float32)
            return (operation.run(image, inside) - target).abs().mean().item()

    found = minimize(off, operation.defaults, method="Nelder-Mead")
    return Step.from_trusted(name, operation.clip(found.x.tolist()))

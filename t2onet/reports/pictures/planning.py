"""Planning trajectories: a pair, and the picture after each step of its plan."""

from __future__ import annotations

from collections.abc import Iterator

from ...data import Sample
from ...data.spreadsheet import to_csv
from ...planning import Plan, plan
from ..sheets import PAIRS, Shot, drawn
from .wish import Files, Wish

SIZE = 256
"""Short side at which is planned."""


def trajectories(wish: Wish) -> Files:
    """By the paper's forward search."""
    plans = [(sample, _planned(sample)) for sample in wish.samples(wish.count)]
    rows = [(found.recipe.describe(), list(_shots(found))) for _, found in plans]
    lines: list[tuple[object, ...]] = [("pair", "step", "operation", "L1")]
    for sample, found in plans:
        names = ["", *(step.operation for step in found.recipe.steps)]
        for number, (name, cost) in enumerate(zip(names, found.costs, strict=True)):
            lines.append((sample.name, number, name, f"{cost:.6f}"))
    sheet = drawn(
        "Planning trajectories",
        "After each step that the forward search found, with the distance to the target",
        rows,
    )
    return {PAIRS: sheet, "figures.csv": to_csv(lines).encode()}


def _planned(sample: Sample) -> Plan:
    return plan(sample.before, sample.after, way="beam", refine=False, size=SIZE)


def _shots(found: Plan) -> Iterator[Shot]:
    captions = ["input", *(step.describe() for step in found.recipe.steps)]
    for picture, caption, cost in zip(found.pictures, captions, found.costs, strict=True):
        yield Shot(picture, caption, f"L1 {cost:.4f}")
    if found.target is not None:
        yield Shot(found.target, "target")

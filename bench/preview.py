"""How well a preview of short side 1000 predicts the full-size export, over the example photos."""

from __future__ import annotations

import numpy as np

from bench.scene import EXAMPLES
from t2onet import Recipe, apply, open_image, operations
from t2onet.operations.paper import CURVES

RECIPES = 6


def main() -> None:
    everything = []
    for number, path in enumerate(sorted(EXAMPLES.glob("*.jpg"))):
        photo = open_image(path)
        preview = photo.resize(1000)
        differences = []
        for seed in range(RECIPES):
            look = _moderate(np.random.default_rng(1000 * number + seed))
            shown = np.asarray(apply(look, preview)).astype(float)
            exported = np.asarray(apply(look, photo).resize(1000)).astype(float)
            differences.append(np.abs(shown - exported).mean())
        everything += differences
        print(f"  {path.name:<16} mean {np.mean(differences):.2f}, worst {max(differences):.2f} of 255")
    print(f"  all photos: mean difference {np.mean(everything):.2f} of 255 (bar: at most 1)")


def _moderate(rng: np.random.Generator) -> Recipe:
    """Two to four different operations, scalars within 0.3 (softening 0.2), curves within about 25 %."""
    names = rng.permutation(list(operations.PAPER))[: rng.integers(2, 5)]
    return Recipe.from_steps([(str(name), _values(operations.get_operation(name), rng)) for name in names])


def _values(operation: operations.Operation, rng: np.random.Generator) -> list[float]:
    if operation.name in CURVES:
        return [float(np.exp(rng.normal(0, 0.25))) for _ in operation.slots]
    return [slot.default + _draw_change(slot, rng) for slot in operation.slots]


def _draw_change(slot: operations.Parameter, rng: np.random.Generator) -> float:
    low, high = 0.8 * (slot.low - slot.default), 0.8 * (slot.high - slot.default)
    return float(rng.uniform(max(-0.3, low), min(0.3, high)))

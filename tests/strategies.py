"""Random images and random recipes, drawn from the declarations."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from t2onet import Recipe
from t2onet.operations import Operation, operations
from t2onet.operations.paper import CURVES


def parameters(operation: Operation) -> st.SearchStrategy[tuple[float, ...]]:
    """Any allowed parameters, the ends of their ranges included."""
    return st.tuples(*(st.floats(slot.low, slot.high) for slot in operation.slots))


def moderate(operation: Operation, rng: np.random.Generator) -> list[float]:
    """Parameters as a careful person sets them."""
    if operation.name in CURVES:
        return [float(np.exp(rng.normal(0, 0.25))) for _ in operation.slots]
    changes = [
        rng.uniform(0.02 if slot.low == slot.default else -0.1, 0.1) * (slot.high - slot.low)
        for slot in operation.slots
    ]
    return list(
        operation.clip([slot.default + by for slot, by in zip(operation.slots, changes, strict=True)])
    )


steps = st.sampled_from(sorted(operations())).flatmap(
    lambda name: st.tuples(st.just(name), parameters(operations()[name]))
)
recipes = st.lists(steps, max_size=4).map(Recipe.from_steps)


@st.composite
def images(draw: st.DrawFn, dtype: str = "float32", most: int = 24) -> np.ndarray:
    """(3, H, W) in [0, 1], with the corners of the colour cube, greys and blacks among them."""
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    image = rng.random((3, height, width))
    kind = rng.integers(0, 6, (height, width))
    image = np.where(kind == 0, np.round(image), image)
    image = np.where(kind == 1, image[:1], image)
    image = np.where(kind == 2, 0.0, image)
    return image.astype(dtype)


@st.composite
def pixels(draw: st.DrawFn, most: int = 40) -> np.ndarray:
    """(H, W, 3) as users have them: uint8, uint16, float32 or float64."""
    image = draw(images("float64", most)).transpose(1, 2, 0)
    dtype = np.dtype(draw(st.sampled_from(["uint8", "uint16", "float32", "float64"])))
    if dtype.kind == "u":
        image = np.round(image * np.iinfo(dtype).max)
    return np.ascontiguousarray(image.astype(dtype))

"""Random valid recipes, drawn from the declarations: a new operation takes part by being registered."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from t2onet.operations import Operation, operations
from t2onet.recipe import Mask, Recipe, Step


def parameters(operation: Operation) -> st.SearchStrategy[tuple[float, ...]]:
    """Any allowed numbers, the ends of the ranges included."""
    return st.tuples(*(st.floats(slot.low, slot.high) for slot in operation.slots))


@st.composite
def masks(draw: st.DrawFn) -> Mask:
    """Small grey pictures of noise, hard or feathered."""
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    array = rng.integers(0, 256, (height, width), dtype=np.uint8)
    return Mask.from_array(array, feather=draw(st.floats(0, 1000)))


@st.composite
def steps(draw: st.DrawFn, *, masked: bool = True) -> Step:
    operation = draw(st.sampled_from(list(operations().values())))
    mask = draw(st.none() | masks()) if masked else None
    return Step(operation=operation.name, parameters=draw(parameters(operation)), mask=mask)


def recipes(*, masked: bool = True) -> st.SearchStrategy[Recipe]:
    return st.builds(
        lambda chosen, name: Recipe.from_steps(chosen, name=name),
        st.lists(steps(masked=masked), max_size=4),
        st.text(max_size=20),
    )

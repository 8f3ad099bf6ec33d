"""Random valid recipes, drawn from the declarations: a new operation takes part by being registered."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from t2onet.operations import Operation, operations
from t2onet.recipe import Mask, Recipe, Step
from t2onet.recipe.where import JOINTS, Joined, Linear, Named, Radial, Refined, list_words


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


_shares = st.floats(-1, 2)
_points = st.tuples(_shares, _shares)
_simple = st.one_of(
    st.builds(Named, st.sampled_from(list_words())),
    st.builds(Linear, _points, _points).filter(lambda one: math.dist(one.start, one.end) > 0.01),
    st.builds(Radial, _points, st.floats(0.01, 3), st.floats(0, 1)),
)
areas = st.recursive(
    _simple,
    lambda inner: (
        st.builds(Joined, st.sampled_from(JOINTS), st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Refined, inner, st.floats(-100, 100), st.floats(0, 100), st.booleans())
    ),
    max_leaves=4,
)
"""Any part of a photo: words, gradients, and what is made of them."""


@st.composite
def steps(draw: st.DrawFn, *, masked: bool = True, placed: bool = True) -> Step:
    """On the whole photo, or perhaps with a mask or a `where`."""
    operation = draw(st.sampled_from(list(operations().values())))
    kind = draw(st.sampled_from(["whole", *["mask"] * masked, *["where"] * placed]))
    return Step(
        operation=operation.name,
        parameters=draw(parameters(operation)),
        mask=draw(masks()) if kind == "mask" else None,
        where=draw(areas) if kind == "where" else None,
    )


def recipes(*, masked: bool = True, placed: bool = True) -> st.SearchStrategy[Recipe]:
    return st.builds(
        lambda chosen, name: Recipe.from_steps(chosen, name=name),
        st.lists(steps(masked=masked, placed=placed), max_size=4),
        st.text(max_size=20),
    )

"""A recipe held to limits: what must stay as it is does, as far as it is seen on the small picture.

Steps that are about what must stay are left out. What the others move along is moved back at the end, by the
one operation that is made for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import operations
from ..language import Attribute
from ..language.limits import GENTLY, Limit, Limited
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from ..operations.paper import CURVE_PIECES
from ..recipe import Recipe, Step
from .pictures import apply_to_thumbnail
from .turns import MIN_EFFECT, measure_effects

Reasons = tuple[tuple[str, ...], ...]
"""The words that led to each step."""

_COMPENSATING_OPERATIONS = {
    Attribute.COLOURFULNESS: "saturation",
    Attribute.WARMTH: "color",
    Attribute.REDNESS: "color",
    Attribute.CONTRAST: "contrast",
    Attribute.LIGHTNESS: "brightness",
    Attribute.SHARPNESS: "sharpness",
}
"""By which operation an attribute is moved back, in the order in which that is done."""
_CAST_CHANNELS = {Attribute.WARMTH: (1.0, 0.2, -1.0), Attribute.REDNESS: (1.0, -1.0, 0.6)}
"""How red, green and blue move with a cast."""
_MAX_COMPENSATION = 0.6
"""How far a parameter is moved for it at most."""
_HALVINGS = 10
_VIOLATION_AMOUNT = 2 * MIN_EFFECT
"""Noticeable amounts from which on it is said that a limit was passed."""


class CheckedRecipe(NamedTuple):
    """A recipe, the words that led to each step, and the limits that it does not quite keep."""

    recipe: Recipe
    reasons: Reasons
    passed: frozenset[Limit] = frozenset()


def enforce_limits(recipe: Recipe, reasons: Reasons, said: Limited, picture: np.ndarray) -> CheckedRecipe:
    """A recipe within the limits that were said, for a picture (3, H, W)."""
    if said.gentle:
        recipe = recipe.blend(GENTLY)
    if not said.limits:
        return CheckedRecipe(recipe, reasons)
    about = measure_effects(recipe, picture)
    kept = [
        at
        for at, effect in enumerate(about)
        if not any(_acts_on_limit(effect, limit) for limit in said.limits)
    ]
    steps, told = [recipe.steps[at] for at in kept], [reasons[at] for at in kept]
    for limit in sorted(said.limits, key=lambda limit: list(_COMPENSATING_OPERATIONS).index(limit.attribute)):
        after = apply_to_thumbnail(Recipe(steps=tuple(steps)), picture)
        if (back := _compensate(picture, after, limit)) is not None:
            steps.append(back)
            told.append(said.said)
    found = recipe.model_copy(update={"steps": tuple(steps)})
    after = apply_to_thumbnail(found, picture)
    passed = frozenset(
        limit for limit in said.limits if _measure_excess(picture, after, limit) >= _VIOLATION_AMOUNT
    )
    return CheckedRecipe(found, tuple(told), passed)


def _compensate(before: np.ndarray, after: np.ndarray, limit: Limit) -> Step | None:
    """A step that brings back what passed a limit, unless it can do so by less than half."""
    moved = _measure_excess(before, after, limit)
    if moved < MIN_EFFECT:
        return None
    step = _solve_compensation(before, after, limit.attribute)
    left = _measure_excess(before, apply_to_thumbnail(Recipe(steps=(step,)), after), limit)
    return step if left < moved / 2 else None


def _acts_on_limit(effect: dict[Attribute, float], limit: Limit) -> bool:
    """Whether a step is mainly about what must stay."""
    if limit.attribute is not max(effect, key=lambda one: abs(effect[one]), default=None):
        return False
    return not limit.sign or limit.sign * effect[limit.attribute] > 0


def _measure_excess(before: np.ndarray, after: np.ndarray, limit: Limit) -> float:
    """By how many noticeable amounts a limit is passed."""
    at = ATTRIBUTE_INDEX[limit.attribute]
    moved = float((measure_attributes(after) - measure_attributes(before))[at]) / JUST_NOTICEABLE[at]
    return limit.sign * moved if limit.sign else abs(moved)


def _solve_compensation(before: np.ndarray, after: np.ndarray, attribute: Attribute) -> Step:
    """The step that brings an attribute of `after` nearest to what it is in `before`, by halving."""
    operation, wanted = (
        operations.get_operation(_COMPENSATING_OPERATIONS[attribute]),
        float(measure_attributes(before)[ATTRIBUTE_INDEX[attribute]]),
    )
    low, high = -_MAX_COMPENSATION, _MAX_COMPENSATION
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = operation.run(
            after, np.array(_make_compensation_parameters(attribute, middle), np.float32), 1.0
        )
        if measure_attributes(found)[ATTRIBUTE_INDEX[attribute]] > wanted:
            high = middle
        else:
            low = middle
    return Step(
        operation=operation.name, parameters=_make_compensation_parameters(attribute, (low + high) / 2)
    )


def _make_compensation_parameters(attribute: Attribute, by: float) -> tuple[float, ...]:
    """Of the operation that moves an attribute: more of it for a larger number, none for 0."""
    operation = operations.get_operation(_COMPENSATING_OPERATIONS[attribute])
    if attribute not in _CAST_CHANNELS:
        return operation.clip([round(by, 4)])
    knots = np.linspace(0, 1, CURVE_PIECES + 1)
    curves = [np.diff(knots ** (2.0 ** (-part * by))) * CURVE_PIECES for part in _CAST_CHANNELS[attribute]]
    return operation.clip(np.concatenate(curves).round(4).tolist())

"""Enforce the limits of a request ("keep the colours", "but not darker"), measured on the thumbnail.

Steps that mainly act on a limited attribute are dropped. Side effects of the others are compensated at the
end, each by the operation that moves the attribute.
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
from .policy import apply_to_thumbnail
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
"""The operation that compensates a change of an attribute, in the order in which that is done."""
_CAST_CHANNELS = {Attribute.WARMTH: (1.0, 0.2, -1.0), Attribute.REDNESS: (1.0, -1.0, 0.6)}
"""How red, green and blue move with a colour cast."""
_MAX_COMPENSATION = 0.6
"""The largest parameter of a compensating step."""
_HALVINGS = 10
_VIOLATION_AMOUNT = 2 * MIN_EFFECT
"""Just-noticeable differences from which on a limit counts as violated."""


class CheckedRecipe(NamedTuple):
    """A recipe, the words that led to each step, and the limits that it could not fully respect."""

    recipe: Recipe
    reasons: Reasons
    violated: frozenset[Limit] = frozenset()


def enforce_limits(recipe: Recipe, reasons: Reasons, request: Limited, picture: np.ndarray) -> CheckedRecipe:
    """Drop steps that act on a limited attribute, then compensate side effects on a picture (3, H, W)."""
    if request.gentle:
        recipe = recipe.blend(GENTLY)
    if not request.limits:
        return CheckedRecipe(recipe, reasons)
    effects = measure_effects(recipe, picture)
    kept = [
        position
        for position, effect in enumerate(effects)
        if not any(_acts_on_limit(effect, limit) for limit in request.limits)
    ]
    steps = [recipe.steps[position] for position in kept]
    step_reasons = [reasons[position] for position in kept]
    order = list(_COMPENSATING_OPERATIONS)
    for limit in sorted(request.limits, key=lambda limit: order.index(limit.attribute)):
        after = apply_to_thumbnail(Recipe(steps=tuple(steps)), picture)
        if (correction := _compensate(picture, after, limit)) is not None:
            steps.append(correction)
            step_reasons.append(request.said)
    checked = recipe.model_copy(update={"steps": tuple(steps)})
    after = apply_to_thumbnail(checked, picture)
    violated = frozenset(
        limit for limit in request.limits if _measure_excess(picture, after, limit) >= _VIOLATION_AMOUNT
    )
    return CheckedRecipe(checked, tuple(step_reasons), violated)


def _compensate(before: np.ndarray, after: np.ndarray, limit: Limit) -> Step | None:
    """A step that undoes a violation of a limit; None where there is none or it would remain by half."""
    excess = _measure_excess(before, after, limit)
    if excess < MIN_EFFECT:
        return None
    step = _solve_compensation(before, after, limit.attribute)
    remaining = _measure_excess(before, apply_to_thumbnail(Recipe(steps=(step,)), after), limit)
    return step if remaining < excess / 2 else None


def _acts_on_limit(effect: dict[Attribute, float], limit: Limit) -> bool:
    """Whether a step mainly moves the limited attribute, in the direction that is ruled out."""
    if limit.attribute is not max(effect, key=lambda one: abs(effect[one]), default=None):
        return False
    return not limit.sign or limit.sign * effect[limit.attribute] > 0


def _measure_excess(before: np.ndarray, after: np.ndarray, limit: Limit) -> float:
    """By how many just-noticeable differences a limit is violated."""
    index = ATTRIBUTE_INDEX[limit.attribute]
    change = float((measure_attributes(after) - measure_attributes(before))[index]) / JUST_NOTICEABLE[index]
    return limit.sign * change if limit.sign else abs(change)


def _solve_compensation(before: np.ndarray, after: np.ndarray, attribute: Attribute) -> Step:
    """The step that brings an attribute of `after` closest to its value in `before`, by bisection."""
    index = ATTRIBUTE_INDEX[attribute]
    operation = operations.get_published_operation(_COMPENSATING_OPERATIONS[attribute])
    target = float(measure_attributes(before)[index])
    low, high = -_MAX_COMPENSATION, _MAX_COMPENSATION
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        parameters = np.array(_make_compensation_parameters(attribute, middle), np.float32)
        if measure_attributes(operation.run(after, parameters))[index] > target:
            high = middle
        else:
            low = middle
    return Step(
        operation=operation.name, parameters=_make_compensation_parameters(attribute, (low + high) / 2)
    )


def _make_compensation_parameters(attribute: Attribute, amount: float) -> tuple[float, ...]:
    """Parameters that move an attribute up for a positive amount, down for a negative one."""
    operation = operations.get_published_operation(_COMPENSATING_OPERATIONS[attribute])
    if attribute not in _CAST_CHANNELS:
        return operation.clip([round(amount, 4)])
    knots = np.linspace(0, 1, CURVE_PIECES + 1)
    curves = [
        np.diff(knots ** (2.0 ** (-weight * amount))) * CURVE_PIECES for weight in _CAST_CHANNELS[attribute]
    ]
    return operation.clip(np.concatenate(curves).round(4).tolist())

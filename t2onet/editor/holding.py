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
from ..metrics.attributes import NOTICEABLE, ORDER, measure
from ..operations.curves import PIECES
from ..recipe import Recipe, Step
from .pictures import performed
from .turns import CARRIES, effects

Reasons = tuple[tuple[str, ...], ...]
"""The words that led to each step."""

_BACK = {
    Attribute.COLOURFULNESS: "saturation",
    Attribute.WARMTH: "color",
    Attribute.REDNESS: "color",
    Attribute.CONTRAST: "contrast",
    Attribute.LIGHTNESS: "brightness",
    Attribute.SHARPNESS: "sharpness",
}
"""By which operation an attribute is moved back, in the order in which that is done."""
_CHANNELS = {Attribute.WARMTH: (1.0, 0.2, -1.0), Attribute.REDNESS: (1.0, -1.0, 0.6)}
"""How red, green and blue move with a cast."""
_FARTHEST = 0.6
"""How far a parameter is moved for it at most."""
_HALVINGS = 10
_FAR = 2 * CARRIES
"""Noticeable amounts from which on it is said that a limit was passed."""


class Held(NamedTuple):
    """A recipe, the words that led to each step, and the limits that it does not quite keep."""

    recipe: Recipe
    reasons: Reasons
    passed: frozenset[Limit] = frozenset()


def held(recipe: Recipe, reasons: Reasons, said: Limited, picture: np.ndarray) -> Held:
    """A recipe within the limits that were said, for a picture (3, H, W)."""
    if said.gentle:
        recipe = recipe.blend(GENTLY)
    if not said.limits:
        return Held(recipe, reasons)
    about = effects(recipe, picture)
    kept = [at for at, effect in enumerate(about) if not any(_breaks(effect, limit) for limit in said.limits)]
    steps, told = [recipe.steps[at] for at in kept], [reasons[at] for at in kept]
    for limit in sorted(said.limits, key=lambda limit: list(_BACK).index(limit.attribute)):
        after = performed(Recipe(steps=tuple(steps)), picture)
        if (back := _back(picture, after, limit)) is not None:
            steps.append(back)
            told.append(said.said)
    found = recipe.model_copy(update={"steps": tuple(steps)})
    after = performed(found, picture)
    passed = frozenset(limit for limit in said.limits if _moved(picture, after, limit) >= _FAR)
    return Held(found, tuple(told), passed)


def _back(before: np.ndarray, after: np.ndarray, limit: Limit) -> Step | None:
    """A step that brings back what passed a limit, unless it can do so by less than half."""
    moved = _moved(before, after, limit)
    if moved < CARRIES:
        return None
    step = _moving_back(before, after, limit.attribute)
    left = _moved(before, performed(Recipe(steps=(step,)), after), limit)
    return step if left < moved / 2 else None


def _breaks(effect: dict[Attribute, float], limit: Limit) -> bool:
    """Whether a step is mainly about what must stay."""
    if limit.attribute is not max(effect, key=lambda one: abs(effect[one]), default=None):
        return False
    return not limit.sign or limit.sign * effect[limit.attribute] > 0


def _moved(before: np.ndarray, after: np.ndarray, limit: Limit) -> float:
    """By how many noticeable amounts a limit is passed."""
    at = ORDER[limit.attribute]
    moved = float((measure(after) - measure(before))[at]) / NOTICEABLE[at]
    return limit.sign * moved if limit.sign else abs(moved)


def _moving_back(before: np.ndarray, after: np.ndarray, attribute: Attribute) -> Step:
    """The step that brings an attribute of `after` nearest to what it is in `before`, by halving."""
    operation, wanted = operations.get(_BACK[attribute]), float(measure(before)[ORDER[attribute]])
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = operation.run(after, np.array(_parameters(attribute, middle), np.float32), 1.0)
        if measure(found)[ORDER[attribute]] > wanted:
            high = middle
        else:
            low = middle
    return Step(operation=operation.name, parameters=_parameters(attribute, (low + high) / 2))


def _parameters(attribute: Attribute, by: float) -> tuple[float, ...]:
    """Of the operation that moves an attribute: more of it for a larger number, none for 0."""
    operation = operations.get(_BACK[attribute])
    if attribute not in _CHANNELS:
        return operation.clipped([round(by, 4)])
    knots = np.linspace(0, 1, PIECES + 1)
    curves = [np.diff(knots ** (2.0 ** (-part * by))) * PIECES for part in _CHANNELS[attribute]]
    return operation.clipped(np.concatenate(curves).round(4).tolist())

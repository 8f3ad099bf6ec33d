"""One turn of a conversation: a recipe, a thumbnail and a follow-up in, the next recipe out.

What a step does is measured on the thumbnail, so this works for recipes of any origin. Knows neither policies
nor the history.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .. import operations
from ..executor import intermediates
from ..language import Attribute, Intent
from ..language.followup import FollowUp, factor
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from ..recipe import Recipe, Step
from ..recipe.recipe import match_steps

MIN_EFFECT = 2.0
"""Just-noticeable differences from which on a step counts as what makes a photo brighter, warmer, ..."""
OVERSHOOT_SHARE = 0.5
"""Share of a change that remains when the next follow-up says that it went too far."""
_MIN_AGREEMENT = 0.5
"""Cosine from which on a shift of colour goes in the direction of a request."""
_TINT_ATTRIBUTES = (Attribute.WARMTH, Attribute.REDNESS)


@dataclass(frozen=True)
class EditTurn:
    """How a recipe came about.

    `since` is the recipe before the change that "more" and "that" refer to, `last` the recipe of the previous
    turn. `ways` are the attributes (None: the whole last change) and signs that were scaled, if nothing else
    was done. `strength` is the strength of `last` that was set, 1 by default.
    """

    since: Recipe = field(default_factory=Recipe)
    last: Recipe = field(default_factory=Recipe)
    ways: frozenset[tuple[Attribute | None, int]] = frozenset()
    strength: float = 1.0


def scale_last_change(recipe: Recipe, turn: EditTurn, follow_up: FollowUp) -> tuple[Recipe, EditTurn]:
    """Scale the last change."""
    if follow_up.share is not None:
        return interpolate_recipes(turn.since, recipe, follow_up.share), EditTurn(turn.since, recipe)
    ways: frozenset[tuple[Attribute | None, int]] = frozenset({(None, follow_up.sign)})
    if turn.ways == _reverse_ways(ways):
        found = interpolate_recipes(turn.last, recipe, OVERSHOOT_SHARE**follow_up.amount)
    else:
        found = interpolate_recipes(turn.since, recipe, factor(follow_up.sign, follow_up.amount))
    return found, EditTurn(turn.since, recipe, ways)


def scale_attributes(
    recipe: Recipe, turn: EditTurn, follow_up: FollowUp, picture: np.ndarray
) -> tuple[Recipe, EditTurn, frozenset[Attribute]]:
    """Scale the steps that move the attributes of a follow-up; also return the attributes they move."""
    ways: frozenset[tuple[Attribute | None, int]] = frozenset(
        (intent.attribute, intent.sign) for intent in follow_up.intents
    )
    everything = frozenset(intent.attribute for intent in follow_up.intents)
    if follow_up.share is None and turn.ways == _reverse_ways(ways):
        amount = max(intent.amount for intent in follow_up.intents)
        return (
            interpolate_recipes(turn.last, recipe, OVERSHOOT_SHARE**amount),
            EditTurn(recipe, recipe, ways),
            everything,
        )
    factors, carried = _compute_factors(recipe, follow_up, picture)
    steps = [step.blend(by) for step, by in zip(recipe.steps, factors, strict=True) if by > 0]
    found = recipe.model_copy(update={"steps": tuple(steps)})
    return found, EditTurn(recipe, recipe, ways if carried == everything else frozenset()), carried


def _reverse_ways(
    ways: frozenset[tuple[Attribute | None, int]],
) -> frozenset[tuple[Attribute | None, int]]:
    return frozenset((attribute, -sign) for attribute, sign in ways)


def _compute_factors(
    recipe: Recipe, follow_up: FollowUp, picture: np.ndarray
) -> tuple[list[float], frozenset[Attribute]]:
    """The factor of each step, and the attributes that the scaled steps move."""
    factors, carried = [], set[Attribute]()
    for effect in measure_effects(recipe, picture):
        concerned = [intent for intent in follow_up.intents if intent.attribute in effect]
        way = _compute_agreement(effect, concerned)
        if abs(way) < _MIN_AGREEMENT:
            factors.append(1.0)
            continue
        carried |= {intent.attribute for intent in concerned}
        amount = max(intent.amount for intent in concerned)
        factors.append(factor(1 if way > 0 else -1, amount) if follow_up.share is None else follow_up.share)
    if carried & set(_TINT_ATTRIBUTES):  # a word for a colour is both of them at once
        carried |= {intent.attribute for intent in follow_up.intents if intent.attribute in _TINT_ATTRIBUTES}
    return factors, frozenset(carried)


def _compute_agreement(effect: dict[Attribute, float], intents: Sequence[Intent]) -> float:
    """Cosine between what a step does and what is asked for, in the attributes that it moves."""
    asked = [sum(intent.sign for intent in intents if intent.attribute is one) for one in effect]
    size = math.hypot(*asked) * math.hypot(*effect.values())
    return sum(a * b for a, b in zip(asked, effect.values(), strict=True)) / size if size else 0.0


def measure_effects(recipe: Recipe, picture: np.ndarray) -> list[dict[Attribute, float]]:
    """For each step the attribute it mainly moves, in just-noticeable differences on a picture (3, H, W).

    Empty for geometry and for a step that is hardly visible; warmth and redness together for a shift of
    colour.
    """
    series = [picture, *(np.asarray(one).transpose(2, 0, 1) for one in _render_stages(recipe, picture))]
    values = [measure_attributes(one) for one in series]
    changes = [_classify_change(after - before) for before, after in pairwise(values)]
    return [{} if step.is_geometry else change for step, change in zip(recipe.steps, changes, strict=True)]


def _render_stages(recipe: Recipe, picture: np.ndarray) -> Iterator[np.ndarray]:
    pixels = np.ascontiguousarray(picture.transpose(1, 2, 0))
    return (np.asarray(image) for image in intermediates(recipe, pixels, kernels=False, threads=1))


def _classify_change(change: np.ndarray) -> dict[Attribute, float]:
    """The main attribute of a change (6,): of light, colour or detail, whichever is most visible.

    Light is lightness or contrast, whichever changes more in L*. Colour is colourfulness if the mean chroma
    changes more than the mean colour, otherwise a shift of colour.
    """
    by = {one: float(change[at]) for one, at in ATTRIBUTE_INDEX.items()}
    seen = {one: value / JUST_NOTICEABLE[ATTRIBUTE_INDEX[one]] for one, value in by.items()}
    lighter = abs(by[Attribute.LIGHTNESS]) >= abs(by[Attribute.CONTRAST])
    richer = abs(by[Attribute.COLOURFULNESS]) >= math.hypot(*(by[one] for one in _TINT_ATTRIBUTES))
    groups: list[tuple[Attribute, ...]] = [
        (Attribute.LIGHTNESS if lighter else Attribute.CONTRAST,),
        (Attribute.COLOURFULNESS,) if richer else _TINT_ATTRIBUTES,
        (Attribute.SHARPNESS,),
    ]
    main = max(groups, key=lambda group: math.hypot(*(seen[one] for one in group)))
    effect = {one: seen[one] for one in main}
    return effect if math.hypot(*effect.values()) >= MIN_EFFECT else {}


def interpolate_recipes(old: Recipe, new: Recipe, share: float) -> Recipe:
    """Between `old` (share 0) and `new` (share 1), or beyond; steps without effect are left out."""
    steps: list[Step] = []
    for before, after in match_steps(old.steps, new.steps):
        if before is None and after is not None:
            if after.has_strength or share > 0:
                steps.append(after.blend(share))
        elif after is None and before is not None:
            if before.has_strength or share < 1:
                steps.append(before.blend(max(1 - share, 0.0)))
        elif before is not None and after is not None:
            steps.append(_interpolate_step(before, after, share))
    kept = tuple(step for step in steps if not step.is_identity)
    return new.model_copy(update={"steps": kept})


def _interpolate_step(before: Step, after: Step, share: float) -> Step:
    if before == after or not after.has_strength:
        return after
    operation = operations.get_operation(after.operation)
    pairs = zip(operation.canonical(before.parameters), operation.canonical(after.parameters), strict=True)
    values = operation.clip([round(a + share * (b - a), 12) for a, b in pairs])
    return after.model_copy(update={"parameters": values})

"""Find the amounts of changes on a small picture, so that every wish is seen and every limit holds.

Amounts that a person stated are never adjusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import operations
from ..image.colour import encode_srgb, lightness_to_luminance
from ..language.wishes import Direction, Wish
from ..recipe import Recipe
from .measures import Measure, SmallPicture
from .policy import apply_to_thumbnail
from .realize import Change, realize

NOTICEABLE = 1.0
"""Just-noticeable differences from which on a change is seen."""
_ROUNDS = 3
_SHARES = (1.0, 0.6, 0.35)
"""Shares of all targets that are tried, one after the other, until every wish is seen."""
_ENOUGH, _ENOUGH_EFFECT, _BETTER = 0.5, 4.0, 0.05
"""A change is enough at this share of its target or at this many just-noticeable differences."""
_TRIES = 7
_TOLERANCE = 0.04
"""Share of a target by which an amount may miss it."""
_DIGITS = {"ev": 2, "p": 2, "rises": 3}
"""Decimals of the amounts that are found; those of other parameters are whole numbers."""


@dataclass(frozen=True)
class Checked:
    """A recipe, the amount of each change, and what changes and limits came to.

    `effects` and `excesses` are in just-noticeable differences.
    """

    recipe: Recipe
    amounts: tuple[float, ...]
    effects: tuple[float | None, ...]
    excesses: tuple[float, ...]


class Checker:
    """Applies changes on top of a recipe to a small picture and measures what they do.

    Changes are measured from the picture as the recipe leaves it, or from `reference`.
    """

    def __init__(
        self, picture: np.ndarray, recipe: Recipe | None = None, reference: np.ndarray | None = None
    ) -> None:
        self.picture = picture
        self.recipe = recipe or Recipe()
        if reference is None:
            reference = apply_to_thumbnail(self.recipe, picture) if self.recipe.steps else picture
        self.before = SmallPicture(reference)

    def build(self, changes: Sequence[Change], amounts: Sequence[float]) -> Recipe:
        """The recipe with the changes; changes of one operation add up in one step."""
        found: dict[str, tuple[float, ...]] = {}
        for change, amount in zip(changes, amounts, strict=True):
            if amount:
                found[change.operation] = change.move(
                    found.get(change.operation) or self._get_start(change), amount
                )
        recipe = self.recipe
        for name, values in found.items():
            recipe = recipe.adjust(
                name, list(operations.get_operation(name).clip(round_parameters(name, values)))
            )
        return recipe

    def _get_start(self, change: Change) -> tuple[float, ...]:
        """The parameters of a change's operation in the recipe so far."""
        operation = operations.get_operation(change.operation)
        at = self.recipe.find_step(change.operation)
        return operation.defaults if at is None else operation.canonical(self.recipe.steps[at].parameters)

    def render(self, changes: Sequence[Change], amounts: Sequence[float]) -> SmallPicture:
        return SmallPicture(apply_to_thumbnail(self.build(changes, amounts), self.picture))

    @cached_property
    def pivot(self) -> float:
        """The grey value of the photo's mean lightness, which contrast turns around."""
        lightness = self.before.attributes[:1] / 100
        grey = float(encode_srgb(lightness_to_luminance(lightness))[0])
        return round(min(max(grey, 0.1), 0.9), 2)

    def solve(
        self, changes: Sequence[Change], limits: Sequence[Measure] = (), soft: Sequence[Measure] = ()
    ) -> Checked:
        """Amounts that reach every target, with side effects that break limits made up for.

        Where wishes stand in each other's way, all go less far. `soft` limits are held where that is easy.
        """
        best: Checked | None = None
        for share in _SHARES:
            weaker = [replace(change, target=share * change.target) for change in changes]
            checked = self._solve(weaker, limits, soft)
            if best is None or _rate(checked, changes) > _rate(best, changes) + _BETTER:
                best = checked
            if _rate(best, changes) >= 1:
                break
        assert best is not None
        return best

    def _solve(
        self, changes: Sequence[Change], limits: Sequence[Measure], soft: Sequence[Measure]
    ) -> Checked:
        compensated = [(limit, change) for limit in (*limits, *soft) for change in self._compensate(limit)]
        compensations = [change for _, change in compensated]
        everything = [*changes, *compensations]
        amounts = [change.stated if change.stated is not None else change.usual for change in changes]
        amounts += [0.0] * len(compensations)
        free = [number for number, change in enumerate(changes) if change.stated is None and change.measure]
        held = {len(changes) + number: limit for number, (limit, _) in enumerate(compensated)}
        for _ in range(_ROUNDS):
            for number in free:
                change = everything[number]
                assert change.measure is not None
                amounts[number] = self._reach(everything, amounts, number, change.measure, change.target)
            for number, limit in held.items():
                self._hold(everything, amounts, number, limit)
            if len(free) + len(held) < 2:
                break
        after = self.render(everything, amounts)
        effects = [
            self.before.measure_change(after, change.measure) if change.measure else None
            for change in changes
        ]
        excesses = [_measure_excess(self.before, after, limit) for limit in limits]
        return Checked(
            self.build(everything, amounts), tuple(amounts[: len(changes)]), tuple(effects), tuple(excesses)
        )

    def _compensate(self, limit: Measure) -> list[Change]:
        """Changes that move a limited quantity back, either way where it must not move at all."""
        found = []
        for direction, sign in ((Direction.UP, 1), (Direction.DOWN, -1)):
            if sign == limit.sign:
                continue
            wish = Wish(limit.what, direction, where=limit.where, hue=limit.hue)
            found += [change for change in realize(wish, pivot=self.pivot) if change.measure][:1]
        return found

    def _reach(
        self, changes: Sequence[Change], amounts: list[float], number: int, measure: Measure, target: float
    ) -> float:
        """The amount of one change that reaches its target, the others as they are."""

        def effect(amount: float) -> float:
            tried = [*amounts]
            tried[number] = amount
            return self.before.measure_change(self.render(changes, tried), measure)

        low, at_low = 0.0, effect(0.0)
        if at_low >= (1 - _TOLERANCE) * target:
            return 0.0
        amount = min(max(amounts[number], 0.12), 1.0)
        high, at_high = 1.0, None
        for _ in range(_TRIES):
            reached = effect(amount)
            if abs(reached - target) <= _TOLERANCE * target:
                break
            if reached < target:
                low, at_low = amount, reached
            else:
                high, at_high = amount, reached
            if at_high is None:
                if amount >= 1.0:
                    break
                amount = min(1.0, amount * 2.2)
            else:
                share = (target - at_low) / max(at_high - at_low, 1e-6)
                amount = low + (high - low) * min(max(share, 0.08), 0.92)
        return amount

    def _hold(self, changes: Sequence[Change], amounts: list[float], number: int, limit: Measure) -> None:
        """Set a compensating change so that its limit holds."""
        own = changes[number].measure
        assert own is not None
        tried = [*amounts]
        tried[number] = 0.0
        excess = self.before.measure_change(self.render(changes, tried), replace(limit, sign=-own.sign))
        if excess <= NOTICEABLE / 2:
            amounts[number] = 0.0
            return
        low, high = 0.0, 1.0
        for _ in range(_TRIES):
            tried[number] = (low + high) / 2
            left = self.before.measure_change(self.render(changes, tried), replace(limit, sign=-own.sign))
            low, high = (tried[number], high) if left > 0 else (low, tried[number])
        amounts[number] = high


def _rate(checked: Checked, changes: Sequence[Change]) -> float:
    """How well the changes are seen: the least of them as a share of what is enough."""
    seen = [
        effect / max(min(_ENOUGH * change.target, _ENOUGH_EFFECT), NOTICEABLE)
        for effect, change in zip(checked.effects, changes, strict=True)
        if effect is not None and change.stated is None
    ]
    return min([1.0, *seen])


def _measure_excess(before: SmallPicture, after: SmallPicture, limit: Measure) -> float:
    """By how many just-noticeable differences a limit is broken; a limit of sign 0 is broken either way."""
    if limit.sign:
        return max(before.measure_change(after, limit), 0.0)
    return abs(before.measure_change(after, replace(limit, sign=1)))


def round_parameters(name: str, values: Sequence[float]) -> list[float]:
    """Numbers as a person would set them."""
    declared = operations.get_operation(name)
    digits = [
        _DIGITS.get(parameter.name, 0 if parameter.high > 10 else 3)
        for parameter in declared.parameters
        for _ in range(parameter.count)
    ]
    return [round(float(value), digit) for value, digit in zip(values, digits, strict=True)]

"""Find the amounts of changes on a small picture, so that every wish is seen and every limit holds.

Amounts that a person stated are never adjusted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from .. import operations
from ..executor import PictureRenderer
from ..image.colour import encode_srgb, lightness_to_luminance
from ..language.wishes import WHOLE, Direction, Wish
from ..recipe import Recipe, Step
from ..recipe.where import parse_where
from .measures import BY_COLOUR, Measure, SmallPicture
from .policy import apply_to_thumbnail
from .realize import MOST_SHARES, Change, realize

StepPlace = tuple[str, str | None]
"""The operation of a step, and where it applies."""
NOTICEABLE = 1.0
"""Just-noticeable differences from which on a change is seen."""
_ROUNDS = 3
_COARSE = 2
"""Pixels in a row of the thumbnail for one of the smaller picture, where the search begins."""
_SHARES = (0.6, 0.35, 0.2)
"""Shares of all targets that are tried, one after the other, until every wish is seen."""
_ENOUGH, _ENOUGH_EFFECT, _BETTER = 0.5, 4.0, 0.05
"""A change is enough at this share of its target or at this many just-noticeable differences."""
_MISSED = 0.8
"""A share of its target below which a change is missed, whatever its amount."""
_OWN_SHARE = 0.4
"""Share of a target that a wish's own changes reach."""
_FIRST_AMOUNT, _TRIES = 0.12, 7
"""The amount that is tried first, and how many are."""
_SETTLED, _SAME = 0.01, 0.004
"""The search ends when no amount moves by more than this: in a round, in a try."""
_SOFT_MOST = 0.6
"""How far side effects are made up for that nobody spoke of."""
_LITTLE_HELP = 0.3
"""Share of what is made up for where even the most of it makes up for less than half."""
_SOFT_TOLERANCE = 1.0
"""Just-noticeable differences from which on they are made up for."""
_KEPT = 1.5
"""Just-noticeable differences up to which they count as kept."""
_TOLERANCE = 0.04
"""Share of a target by which an amount may miss it."""
_LOWEST_PIVOT = 0.2
_DIGITS = {"ev": 2, "p": 2, "rises": 3}
"""Decimals of the amounts that are found; those of other parameters are whole numbers."""


@dataclass(frozen=True)
class Checked:
    """A recipe, and what its changes and limits came to.

    `effects` and `excesses` are in just-noticeable differences.
    """

    recipe: Recipe
    effects: tuple[float | None, ...]
    excesses: tuple[float, ...]
    helpers: tuple[str, ...] = ()
    """Operations that only make up for side effects."""
    kept: tuple[str, ...] = ()
    """What nobody spoke of and moved by no more than can hardly be seen, thanks to them."""


@dataclass(frozen=True)
class Hold:
    """A limit, the numbers of the changes that raise (1) or lower (-1) what it is about, and their most.

    `excused` are the numbers of changes that may move it: it is measured without them.
    """

    limit: Measure
    movers: Mapping[int, int]
    most: float
    tolerance: float = NOTICEABLE / 2
    excused: frozenset[int] = frozenset()


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
            self._own_share = _OWN_SHARE
        else:
            self._own_share = 0.0  # what the recipe does already counts
            if self.recipe.geometry.steps:
                reference = apply_to_thumbnail(self.recipe.geometry, reference)
        self.before = SmallPicture(reference, picture, self.recipe.geometry)
        self.held_from = self.before
        """The picture that limits are measured from; a look may come between it and the changes."""
        self.lighter = 0.0
        """By how much L* the photo will be lighter."""
        self._renderer = PictureRenderer(picture)
        self._rendered: dict[tuple[float, ...], SmallPicture] = {}
        self._built: dict[tuple[StepPlace, ...], Recipe] = {}

    def shrink(self) -> Checker:
        """The same on a smaller picture."""
        smaller = Checker(shrink_picture(self.picture), self.recipe, shrink_picture(self.picture))
        before = shrink_picture(self.before.view.picture)
        smaller.before = SmallPicture(before, smaller.picture, self.recipe.geometry)
        smaller.held_from = smaller.before
        smaller._own_share = self._own_share
        if self.held_from is not self.before:
            smaller.held_from = SmallPicture(shrink_picture(self.held_from.view.picture))
        return smaller

    def build(self, changes: Sequence[Change], amounts: Sequence[float]) -> Recipe:
        """The recipe with the changes; changes of one operation add up in one step."""
        found: dict[StepPlace, tuple[float, ...]] = {}
        for change, amount in zip(changes, amounts, strict=True):
            if amount or change.absolute:
                key = (change.operation, change.where)
                found[key] = change.move(found.get(key) or self._get_start(change), amount)
        rounded = {
            (name, where): operations.get_operation(name).clip(round_parameters(name, values))
            for (name, where), values in found.items()
        }
        places = tuple(rounded)
        if places not in self._built:  # the search moves the same steps again and again
            recipe = self.recipe
            for (name, where), values in rounded.items():
                recipe = recipe.adjust(name, list(values), where)
            self._built[places] = recipe
        recipe = self._built[places]
        steps = list(recipe.steps)
        for (name, where), values in rounded.items():
            place = None if where is None else parse_where(where)
            at = recipe.find_step(name, place)
            assert at is not None
            steps[at] = Step.from_trusted(name, tuple(values), place)
        return recipe.model_copy(update={"steps": tuple(steps)})

    def _get_start(self, change: Change) -> tuple[float, ...]:
        """The parameters of a change's operation in the recipe so far."""
        operation = operations.get_operation(change.operation)
        place = None if change.where is None else parse_where(change.where)
        at = self.recipe.find_step(change.operation, place)
        if at is None:
            return operation.defaults
        values = operation.canonical(self.recipe.steps[at].parameters)
        moved = {operation.slot_labels.index(name) for name in change.unit} if change.absolute else set()
        pairs = zip(values, operation.defaults, strict=True)
        return tuple(start if slot in moved else value for slot, (value, start) in enumerate(pairs))

    def render(self, changes: Sequence[Change], amounts: Sequence[float]) -> SmallPicture:
        """The small picture with changes; the same amounts are rendered once in a search."""
        key = tuple(amounts)
        if key not in self._rendered:
            recipe = self.build(changes, amounts)
            can_render = self._renderer.can_render(recipe)
            after = self._renderer.render(recipe) if can_render else apply_to_thumbnail(recipe, self.picture)
            self._rendered[key] = SmallPicture(after)
        return self._rendered[key]

    def _render_without(
        self, changes: Sequence[Change], amounts: Sequence[float], left_out: Collection[int]
    ) -> SmallPicture:
        """The small picture without some of the changes."""
        return self.render(
            changes, [0.0 if number in left_out else amount for number, amount in enumerate(amounts)]
        )

    @cached_property
    def pivot(self) -> float:
        """The grey value of the lightness that the photo will have, which contrast turns around."""
        return _to_pivot(float(self.before.attributes[0]) + self.lighter)

    def find_pivot(self, where: str | None) -> float:
        """The same for a part of the photo: contrast makes it neither lighter nor darker."""
        lightness = None if where is None else self.before.measure_lightness(where)
        return self.pivot if lightness is None else _to_pivot(lightness)

    def solve(
        self,
        changes: Sequence[Change],
        limits: Sequence[Measure] = (),
        soft: Mapping[Measure, Collection[str]] = MappingProxyType({}),
    ) -> Checked:
        """Amounts that reach every target, with side effects that break limits made up for.

        Where wishes stand in each other's way, all go less far, and their operations as far as they can.
        `soft` limits are held where that is easy; each comes with what wishes are about that may move it.
        """
        best = self._solve(changes, limits, soft)
        for changes_tried in _list_compromises(changes):
            if _rate(best, changes) >= 1:
                break
            checked = self._solve(changes_tried, limits, soft)
            if _rate(checked, changes) > _rate(best, changes) + _BETTER:
                best = checked
        return best

    def _solve(
        self, changes: Sequence[Change], limits: Sequence[Measure], soft: Mapping[Measure, Collection[str]]
    ) -> Checked:
        self._rendered.clear()
        self._renderer.forget()
        everything = [*changes]
        holds = [self._make_hold(limit, everything, 1.0) for limit in limits]
        for limit, movers in soft.items():
            excused = frozenset(number for number, change in enumerate(changes) if change.wish.what in movers)
            hold = self._make_hold(limit, everything, _SOFT_MOST)
            holds.append(replace(hold, tolerance=_SOFT_TOLERANCE, excused=excused))
        amounts = [change.stated if change.stated is not None else change.usual for change in changes]
        amounts += [0.0] * (len(everything) - len(changes))
        free = [number for number, change in enumerate(changes) if change.stated is None and change.measure]
        if free or holds:
            wheres = {*(change.where for change in changes), *(step.where for step in self.recipe.steps)}
            wheres |= {limit.where for limit in limits if limit.where not in (WHOLE, *BY_COLOUR)}
            if wheres <= {None}:  # places are not found on so small a picture
                self.shrink()._settle(everything, amounts, free, holds)
            self._settle(everything, amounts, free, holds)
        after = self.render(everything, amounts)
        effects = [
            self.before.measure_change(after, change.measure) if change.measure else None
            for change in changes
        ]
        excesses = [_measure_excess(self.held_from, after, limit) for limit in limits]
        own = {change.operation for change, amount in zip(changes, amounts, strict=False) if amount}
        helpers = zip(everything[len(changes) :], amounts[len(changes) :], strict=True)
        used = dict.fromkeys(change.operation for change, amount in helpers if amount)
        return Checked(
            self.build(everything, amounts),
            tuple(effects),
            tuple(excesses),
            tuple(operation for operation in used if operation not in own),
            tuple(
                hold.limit.what
                for hold in holds[len(limits) :]
                if not hold.limit.sign and self._is_kept(everything, amounts, hold)
            ),
        )

    def _is_kept(self, changes: Sequence[Change], amounts: list[float], hold: Hold) -> bool:
        """Whether a quantity that changes move back is hardly different in the end."""
        if not any(amounts[number] for number in hold.movers.values()):
            return False
        after = self._render_without(changes, amounts, hold.excused)
        return _measure_excess(self.held_from, after, hold.limit) <= _KEPT

    def _settle(
        self, changes: Sequence[Change], amounts: list[float], free: Sequence[int], holds: Sequence[Hold]
    ) -> None:
        """Move the free amounts and those of holds until all are where they should be."""
        for _ in range(_ROUNDS):
            before = [*amounts]
            for number in free:
                amounts[number] = self._reach(changes, amounts, number)
            for hold in holds:
                self._hold(changes, amounts, hold)
            moved = max((abs(one - other) for one, other in zip(amounts, before, strict=True)), default=0.0)
            if len(free) + len(holds) < 2 or moved < _SETTLED:
                break

    def moves_back(self, recipe: Recipe, measures: Collection[Measure]) -> bool:
        """Whether a recipe moves something that was asked for the other way."""
        after = SmallPicture(apply_to_thumbnail(recipe, self.picture))
        return any(self.before.measure_change(after, measure) < -NOTICEABLE for measure in measures)

    def _make_hold(self, limit: Measure, changes: list[Change], most: float) -> Hold:
        """Add changes that move a limited quantity back, either way where it must not move at all."""
        movers = {}
        for direction, sign in ((Direction.UP, 1), (Direction.DOWN, -1)):
            wish = Wish(limit.what, direction, where=limit.where, hue=limit.hue)
            found = [change for change in realize(wish, pivot=self.pivot) if change.measure]
            if sign != limit.sign and found:
                movers[sign] = len(changes)
                changes.append(found[-1])
        return Hold(limit, movers, most)

    def _reach(self, changes: Sequence[Change], amounts: list[float], number: int) -> float:
        """The amount of one change that reaches its target, the others as they are.

        At least a share of the way is its own or its wish's: side effects of others do not meet a wish.
        """
        change = changes[number]
        measure = change.measure
        assert measure is not None
        own = [at for at, other in enumerate(changes) if other.wish is change.wish]
        others = self.before.measure_change(self._render_without(changes, amounts, own), measure)

        def effect(amount: float) -> float:
            tried = [*amounts]
            tried[number] = amount
            reached = self.before.measure_change(self.render(changes, tried), measure)
            return min(reached, (reached - others) / self._own_share) if self._own_share else reached

        begin = min(amounts[number] or _FIRST_AMOUNT, change.most)
        tolerance = _TOLERANCE * change.target
        if amounts[number] and abs(effect(begin) - change.target) <= tolerance:
            return begin
        amount = find_amount(effect, change.target, begin, change.most, tolerance)
        if 0 < amount < change.most and effect(amount) < _MISSED * change.target:  # no photo could show more
            return amount * MOST_SHARES[change.wish.amount]
        return amount

    def _hold(self, changes: Sequence[Change], amounts: list[float], hold: Hold) -> None:
        """Set the compensating changes of a limit so that it holds, as far as they may go."""
        measure = replace(hold.limit, sign=1)

        def miss(number: int, amount: float) -> float:
            tried = [*amounts]
            tried[number] = amount
            after = self._render_without(changes, tried, hold.excused)
            return self.held_from.measure_change(after, measure)

        begin = max((amounts[number] for number in hold.movers.values()), default=0.0)
        for number in hold.movers.values():
            amounts[number] = 0.0
        sign, number = max(hold.movers.items(), key=lambda one: -one[0] * miss(one[1], 0.0), default=(0, -1))
        excess = -sign * miss(number, 0.0) if sign else 0.0
        if excess <= hold.tolerance:
            return
        amount = find_amount(
            lambda amount: excess + sign * miss(number, amount),
            excess,
            min(begin or _FIRST_AMOUNT, hold.most),
            hold.most,
            NOTICEABLE / 4,
        )
        helps_little = amount >= hold.most < 1 and -sign * miss(number, amount) > excess / 2
        amounts[number] = amount * _LITTLE_HELP if helps_little else amount


def _to_pivot(lightness: float) -> float:
    """The grey value of an L*, not too near to black or white."""
    luminance = lightness_to_luminance(np.clip(np.array([lightness]), 0, 100) / 100)
    grey = float(encode_srgb(luminance)[0])
    return round(min(max(grey, _LOWEST_PIVOT), 1 - _LOWEST_PIVOT), 2)


def shrink_picture(picture: np.ndarray) -> np.ndarray:
    """A picture (3, H, W) averaged down, as far as its size allows."""
    _, height, width = picture.shape
    if height % _COARSE or width % _COARSE:
        return picture
    parts = picture.reshape(3, height // _COARSE, _COARSE, width // _COARSE, _COARSE)
    return np.ascontiguousarray(parts.mean((2, 4), dtype=np.float32))


def find_amount(
    effect: Callable[[float], float], target: float, begin: float, most: float, tolerance: float
) -> float:
    """The amount up to `most` at which an effect that grows comes nearest to its target.

    `begin` is tried first, and nothing is taken where nothing helps.
    """
    low, high, amount = 0.0, most, begin
    reached = {0.0: effect(0.0)}
    if reached[0.0] >= target - tolerance:
        return 0.0
    for _ in range(_TRIES):
        reached[amount] = effect(amount)
        if abs(reached[amount] - target) <= tolerance:
            break
        if reached[amount] < target:
            low = amount
        else:
            high = amount
        if high in reached:
            share = (target - reached[low]) / max(reached[high] - reached[low], 1e-6)
            amount = low + (high - low) * min(max(share, 0.08), 0.92)
        elif amount < most:
            share = (target - reached[0.0]) / max(reached[amount] - reached[0.0], 1e-6)
            amount = min(most, amount * min(max(share, 1.05), 2.2))
        else:
            break
        if any(abs(amount - tried) < _SAME for tried in reached):
            break
    return min(reached, key=lambda one: abs(reached[one] - target))


def _list_compromises(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """The same changes with smaller targets; for several wishes also by operations that go to their ends."""
    for capped in (True, False) if any(change.wish is not changes[0].wish for change in changes) else (True,):
        for share in _SHARES:
            yield [
                replace(
                    change,
                    target=share * change.target,
                    usual=share * change.usual,
                    capped=capped and change.capped,
                )
                for change in changes
            ]


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

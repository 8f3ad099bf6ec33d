"""Plan in the darkroom's operations: few steps, in their usual order, with readable numbers.

The positions of the operations give one order, so no orders are compared. A group of operations is fitted
jointly on a sketch, and steps that do not pay their price are dropped one by one. The next group, which can
explain more with more numbers, is tried where a visible difference remains: light and overall colour, then
single hues and grading (or black and white, where the target has no colours), then curves, which imitate
anything and therefore cost most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..operations import get_operation, sort_by_position
from ..operations.colour import HUES, blend_by_hue, measure_hue
from ..operations.paper import CURVES
from ..recipe import Step
from .fit import INITIAL_DELTA, FittedSteps, make_sketch
from .pictures import (
    L1Cost,
    Picture,
    StepSequence,
    apply_step,
    measure_radial_share,
    reads_neighbours,
    render_intermediates,
)
from .sketch import FreePlaces, SketchFitter, get_key
from .solvers import solve_fast

BASIC = (
    *("white_balance", "exposure", "highlights", "shadows", "whites", "blacks"),
    *("saturation", "vibrance", "contrast"),
)
"""Fitted to every pair."""
SELECTIVE = ("mixer", "grading")
"""Added where a difference remains."""
MONOCHROME = ("black_and_white", "grading")
"""Added instead where the target has no colours of its own."""
DARKROOM = (*BASIC, "mixer", "grading", "black_and_white", *CURVES, "vignette", "sharpness")
"""The operations that `plan` uses by default."""
DARKROOM_STEPS = 8
"""How many steps a plan has by default, at most."""

_SKETCH_PIXELS, _FINAL_PIXELS = 700, 2048
"""Pixels on which operations are chosen, and on which the chosen ones are fitted at last."""
_EXACT_COST = 4e-4
"""A fit this close needs no further operations."""
_NEAR_EXACT_COST = 0.0075
"""Below this cost the basic operations may be all there is."""
_CURVE_COST = 0.006
"""Above this cost curves are tried."""

_PRICES = {"mixer": 7e-4, "grading": 7e-4, "black_and_white": 7e-4, "tone": 3e-3, "color": 3.5e-3}
STEP_PRICE = 3e-4
"""By how much a step must lower the cost, at least; of operations with more numbers, more."""
_NUMBER_PRICE = 3e-5
"""The same for a single number of a step that has several."""
_FULL_PRICE_COST, _LEAST_PRICE = 0.004, 0.1
"""From this cost on prices are as stated; below, they fall with the cost to this share."""
_PATH_SLACK = 1e-3
"""Dropping goes on as long as the price of the whole is at most this much above the best."""
_IDLE_SHARE = 0.15
"""Steps that lower the cost by less than this share of their price are dropped together."""
_ROUNDING_COST = 1e-4
"""What readable numbers may cost."""

FIRST_ROUNDS, _NEXT_ROUNDS, _NEXT_DELTA = 15, 10, 0.05
_DROPS_TRIED, _DROP_ROUNDS, _DROP_DELTA = 2, 3, 0.01
LAST_ROUNDS, LAST_DELTA = 6, 0.02

_PRESENT_HUE = 0.002
"""Mean chroma of a hue, as displayed, from which the mixer can do something visible."""
_RADIAL_SHARE = 0.1
"""A vignette is tried where distance from the centre explains this share of the variance of what remains."""
_MONOCHROME_SHARE, _PALE_SHARE, _COLOURLESS = 0.1, 0.4, 0.004
"""Spread of the colours of a monochrome target: a share of the photo's, a larger one below a level of 255."""


def plan_darkroom(
    start: Picture, target: Picture, steps: int = DARKROOM_STEPS, names: Sequence[str] = DARKROOM
) -> FittedSteps:
    """Plan on working pictures (3, H, W) float32 as they are; `names` are the operations allowed."""
    sketch = SketchFitter(make_sketch(start, _SKETCH_PIXELS), make_sketch(target, _SKETCH_PIXELS))
    chosen = _search(sketch, steps, [name for name in names if not reads_neighbours(name)])
    chosen = drop_idle_numbers(chosen)
    final = replace(
        chosen.fitter, start=make_sketch(start, _FINAL_PIXELS), target=make_sketch(target, _FINAL_PIXELS)
    )
    found = final.fit(chosen.fit.steps, LAST_ROUNDS, LAST_DELTA).steps
    rounded = drop_identities(round_numbers(found, SketchFitter(start, target)))
    detail = [name for name in names if reads_neighbours(name)]
    return _append_detail(rounded, detail[: steps - len(found)], start, target)


@dataclass(frozen=True)
class Choice:
    """Steps chosen on a sketch, and the fitter that knows which of their numbers are free."""

    fit: FittedSteps
    fitter: SketchFitter

    @property
    def scale(self) -> float:
        return _price_scale(self.fit.cost)

    @property
    def total(self) -> float:
        """The cost, and the price of all steps."""
        return self.fit.cost + self.scale * sum(map(_price, self.fit.steps))


def _price(step: Step) -> float:
    return _PRICES.get(step.operation, STEP_PRICE)


def _price_scale(cost: float) -> float:
    """An exact recipe can be told from one that is almost as good; between rough ones the shorter wins."""
    return float(np.clip(cost / _FULL_PRICE_COST, _LEAST_PRICE, 1))


def _search(sketch: SketchFitter, limit: int, names: Sequence[str]) -> Choice:
    """The cheapest of the fits with more and more operations."""
    basic = [name for name in names if name not in (*SELECTIVE, *MONOCHROME, *CURVES, "vignette")]
    whole = Choice(sketch.fit(_make_steps(basic), FIRST_ROUNDS), sketch)
    found = []
    monochrome = is_monochrome(sketch.start, sketch.target)
    group = [*(MONOCHROME if monochrome else SELECTIVE), *(["vignette"] if _is_radial(whole) else ())]
    added = [name for name in group if name in names]
    if whole.fit.cost < _NEAR_EXACT_COST or not added:
        found.append(prune_choice(whole, limit))
    if whole.fit.cost > _EXACT_COST and added:
        # Without black and white, light and colour were forced into something else: better to begin anew.
        known = Choice(FittedSteps((), 1.0), sketch) if monochrome else whole
        found.append(prune_choice(_extend(known, [*basic, *added]), limit))
    for curve in CURVES:
        best = min(found, key=lambda choice: choice.total)
        if curve in names and best.fit.cost > _CURVE_COST:
            found.append(prune_choice(_extend(best, [curve]), limit))
    return min(found, key=lambda choice: choice.total)


def _is_radial(choice: Choice) -> bool:
    """Whether what remains grows or shrinks with the distance from the centre."""
    result = choice.fitter.render(choice.fit.steps)[-1]
    return measure_radial_share((choice.fitter.target - result).mean(axis=0)) > _RADIAL_SHARE


def is_monochrome(start: Picture, target: Picture) -> bool:
    """Whether the colours of the target, though not those of the photo, depend on its tones alone."""
    before, after = _measure_colour_spread(start), _measure_colour_spread(target)
    return after < max(_MONOCHROME_SHARE * before, min(_COLOURLESS, _PALE_SHARE * before))


def _measure_colour_spread(picture: Picture) -> float:
    """How far colours lie from those that are usual for their tone."""
    red, green, blue = picture.reshape(3, -1).astype(float)
    powers = np.stack([green**power for power in range(7)], axis=1)
    differences = np.stack([red - green, blue - green], axis=1)
    usual = powers @ np.linalg.lstsq(powers, differences, rcond=None)[0]
    return float(np.abs(differences - usual).mean())


def _make_steps(names: Sequence[str]) -> list[Step]:
    return [Step.from_trusted(name, get_operation(name).defaults) for name in sort_by_position(names)]


def _extend(choice: Choice, names: Sequence[str]) -> Choice:
    """The choice with more operations, fitted again."""
    known = {step.operation: step for step in choice.fit.steps}
    free: FreePlaces = dict(choice.fitter.free)
    if "black_and_white" in names:
        size = get_operation("black_and_white").size
        known["black_and_white"] = Step.from_trusted("black_and_white", (100.0, *[0.0] * (size - 1)))
        free["black_and_white", None] = tuple(range(1, size))
    if "mixer" in names:
        free["mixer", None] = _find_mixer_places(choice.fitter)
    fitter = replace(choice.fitter, free=free)
    steps = [known.get(step.operation, step) for step in _make_steps([*known, *set(names).difference(known)])]
    rounds, delta = (_NEXT_ROUNDS, _NEXT_DELTA) if choice.fit.steps else (FIRST_ROUNDS, INITIAL_DELTA)
    return Choice(fitter.fit(steps, rounds, delta), fitter)


def _find_mixer_places(fitter: SketchFitter) -> tuple[int, ...]:
    """The numbers of the hues that either picture has."""
    amounts = np.zeros(len(HUES))
    for picture in (fitter.start, fitter.target):
        chroma = picture.max(axis=0) - picture.min(axis=0)
        shares = blend_by_hue(measure_hue(picture), np.eye(len(HUES)))
        amounts = np.maximum(amounts, (shares[:, 0] * chroma).mean(axis=(1, 2)))
    present = np.flatnonzero(amounts > _PRESENT_HUE).tolist()
    return tuple(row * len(HUES) + hue for row in range(3) for hue in present)


def prune_choice(choice: Choice, limit: int) -> Choice:
    """The cheapest fit on the way from these steps to none, dropping those that pay least."""
    fitter, fit, scale = choice.fitter, choice.fit, choice.scale

    def total(one: FittedSteps) -> float:
        return one.cost + scale * sum(map(_price, one.steps)) + (len(one.steps) > limit)

    best = fit
    while shorter := _shorten(fitter, fit.steps, scale):
        fit = min((fitter.fit(tried, _DROP_ROUNDS, _DROP_DELTA) for tried in shorter), key=total)
        if total(fit) < total(best):
            best = fit
        elif len(best.steps) <= limit and total(fit) > total(best) + _PATH_SLACK * scale:
            break
    return Choice(best, fitter)


def _shorten(fitter: SketchFitter, steps: StepSequence, scale: float) -> list[StepSequence]:
    """Shorter ways to say the same: without all idle steps, or else without one of those that pay least."""
    if not steps:
        return []
    prices = [scale * _price(step) for step in steps]
    drops = fitter.drop_steps(steps, [(at,) for at in range(len(steps))])
    gains = [price - drop.loss for price, drop in zip(prices, drops, strict=True)]
    # What makes a picture black and white is not one of the numbers that are fitted.
    droppable = [at for at, step in enumerate(steps) if step.operation != "black_and_white"]
    ranked = sorted(droppable, key=lambda at: -gains[at])
    idle = [at for at in ranked if drops[at].loss < _IDLE_SHARE * prices[at]]
    if 1 < len(idle) < len(steps):
        (together,) = fitter.drop_steps(steps, [idle])
        if together.loss < _IDLE_SHARE * sum(prices[at] for at in idle):
            return [together.steps]
    clear = len(ranked) < 2 or gains[ranked[0]] - gains[ranked[1]] > prices[ranked[0]]
    return [drops[at].steps for at in ranked[: 1 if clear else _DROPS_TRIED]]


def drop_idle_numbers(choice: Choice) -> Choice:
    """Single numbers that do not pay are put back to their defaults and stay there."""
    fitter, steps, price = choice.fitter, choice.fit.steps, choice.scale * _NUMBER_PRICE
    groups = list(_group_numbers(fitter, steps))
    if not groups:
        return choice
    losses = [drop.loss for drop in fitter.drop_numbers(steps, [numbers for _, _, numbers in groups])]
    idle = sorted((at for at in range(len(groups)) if losses[at] < price), key=losses.__getitem__)
    while idle:
        together = np.concatenate([groups[at][2] for at in idle])
        (drop,) = fitter.drop_numbers(steps, [together])
        if drop.loss < price * len(idle):
            free = {get_key(step): set(fitter.free_places(step).tolist()) for step in steps}
            for at in idle:
                free[get_key(groups[at][0])] -= set(groups[at][1])
            held = replace(fitter, free={key: tuple(sorted(places)) for key, places in free.items()})
            return Choice(held.fit(drop.steps, _DROP_ROUNDS, _DROP_DELTA), held)
        idle = idle[: len(idle) // 2]
    return choice


def _group_numbers(
    fitter: SketchFitter, steps: StepSequence
) -> Iterator[tuple[Step, tuple[int, ...], np.ndarray]]:
    """Step, places and numbers of what is dropped as one: a number, or the colour of a zone."""
    for step, numbers in zip(steps, fitter.find_numbers(steps), strict=True):
        free = fitter.free_places(step).tolist()
        if step.operation in CURVES or len(free) < 2:
            continue
        own = dict(zip(free, numbers, strict=True))
        grading = step.operation == "grading"
        for group in ((0, 3), (1, 4), (2, 5), (6,)) if grading else [(place,) for place in free]:
            yield step, group, np.array([own[place] for place in group])


def round_numbers(steps: StepSequence, fitter: SketchFitter) -> FittedSteps:
    """Numbers rounded to what their sliders move by, where that costs little."""

    def measure(tried: StepSequence) -> FittedSteps:
        return FittedSteps(tried, fitter.measure(fitter.render(tried)[-1]))

    fit = measure(steps)
    limit = fit.cost + _ROUNDING_COST
    rounded = tuple(map(round_step, steps))
    if (whole := measure(rounded)).cost <= limit:
        return whole
    for at in range(len(steps)):
        tried = measure((*fit.steps[:at], rounded[at], *fit.steps[at + 1 :]))
        fit = tried if tried.cost <= limit else fit
    return fit


def drop_identities(fit: FittedSteps) -> FittedSteps:
    changes = (step for step in fit.steps if not get_operation(step.operation).is_identity(step.parameters))
    return replace(fit, steps=tuple(changes))


def round_step(step: Step) -> Step:
    operation = get_operation(step.operation)
    pairs = zip(step.parameters, operation.slots, strict=True)
    values = operation.clip([round(round(value / slot.step) * slot.step, 5) for value, slot in pairs])
    return Step.from_trusted(step.operation, values, step.where)


def _append_detail(fit: FittedSteps, names: Sequence[str], start: Picture, target: Picture) -> FittedSteps:
    """Operations that read neighbours, each solved on its own, where they pay."""
    cost, picture = L1Cost(target), render_intermediates(fit.steps, start)[-1]
    for name in names:
        step = round_step(solve_fast(name, picture, cost))
        edited = apply_step(step, picture)
        if (reached := float(cost(edited))) < fit.cost - STEP_PRICE:
            fit, picture = FittedSteps((*fit.steps, step), reached), edited
    return fit

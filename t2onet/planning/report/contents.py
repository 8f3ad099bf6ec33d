"""What a report says, in words, pixels and numbers. Knows neither HTML nor the drawing of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import PIL.Image

from ... import operations
from ...errors import PlanError
from ...image.depth import to_uint8
from ...operations import Parameter, Values
from ...operations.curves import PIECES
from ...recipe import Step
from ..local import LocalPlan
from ..path import Picture
from ..places import whereabouts
from ..planner import Plan
from ..removal import grown
from ..segments import Region, fitted

LARGEST = 640
"""Longest side, in pixels, of the pictures in a report."""
_GAINS = (50, 20, 10, 5, 2)
"""How many times as strong the residual may be shown."""
_DIM, _OUTLINE = 0.35, 235
"""How bright the picture is outside of a mask, and the level of the line around it."""


@dataclass(frozen=True)
class Shot:
    """A picture and what is to be read below it."""

    picture: PIL.Image.Image
    caption: str
    detail: str


@dataclass(frozen=True)
class Curve:
    """A curve's name and its corners (x, y) in [0, 1], from black to white."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Slider:
    """A number within its declared range."""

    label: str
    low: float
    high: float
    default: float
    value: float

    def share(self, value: float) -> float:
        """Where in the range `value` lies: 0 at its low end, 1 at its high end."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class StepShown:
    """A step: the picture after it, and its parameters."""

    shot: Shot
    curves: tuple[Curve, ...]
    sliders: tuple[Slider, ...]
    place: Shot | None = None
    """Where it works, in a plan with masks: the picture before it, dark outside of the mask."""


@dataclass(frozen=True)
class Contents:
    """A whole report."""

    title: str
    headline: str
    costs: str
    overview: tuple[Shot, ...]
    steps: tuple[StepShown, ...]
    residual: Shot
    footnote: str

    @classmethod
    def of(cls, plan: Plan) -> Contents:
        if plan.target is None:
            raise PlanError("a report compares with an edited photo, and this plan was made by a cost alone")
        before, result, target = (_shown(p) for p in (plan.pictures[0], plan.pictures[-1], plan.target))
        height, width = plan.target.shape[1:]
        return cls(
            title=plan.recipe.name or "Plan",
            headline=plan.recipe.describe(),
            costs=f"Mean difference from the target, on the photos themselves: {in_words(plan.start_cost)} "
            f"before, {in_words(plan.cost)} after.",
            overview=(
                Shot(before, "Before", f"off by {in_words(plan.costs[0])}"),
                Shot(result, "Result", f"off by {in_words(plan.costs[-1])}"),
                Shot(target, "Target", "what it aims at"),
            ),
            steps=tuple(_steps(plan)),
            residual=_residual(plan.residual),
            footnote=f"Pictures, and differences below them, are at the size that was planned at: "
            f"{width} x {height} pixels.",
        )


def in_words(cost: float) -> str:
    """A mean difference in [0, 1] in levels of 255, which people know better, and as it is."""
    return f"{255 * cost:.1f} of 255 levels ({cost:.4f})"


def _shown(picture: Picture) -> PIL.Image.Image:
    """(3, H, W) as a picture of at most the largest size."""
    image = PIL.Image.fromarray(to_uint8(np.ascontiguousarray(picture.transpose(1, 2, 0))))
    image.thumbnail((LARGEST, LARGEST), PIL.Image.Resampling.BOX)
    return image


def _steps(plan: Plan) -> Iterator[StepShown]:
    shown = zip(plan.recipe.steps, plan.pictures[1:], plan.costs[1:], strict=True)
    for number, (step, picture, cost) in enumerate(shown, start=1):
        shot = Shot(_shown(picture), f"{number}. {step.describe()}", f"then off by {in_words(cost)}")
        rows = list(_rows(step))
        curves = tuple(Curve(p.name, _corners(values)) for p, values in rows if p.count == PIECES)
        sliders = (_sliders(step.operation, p, values) for p, values in rows if p.count != PIECES)
        place = _place(plan, number - 1)
        yield StepShown(shot, curves, tuple(slider for row in sliders for slider in row), place)


def _place(plan: Plan, at: int) -> Shot | None:
    if not isinstance(plan, LocalPlan):
        return None
    region, before = plan.regions[at], _shown(plan.pictures[at])
    where = whereabouts(region)
    return Shot(
        before if region is None else _outlined(before, region),
        f"Step {at + 1} works here",
        f"{where[0].upper()}{where[1:]}",
    )


def _outlined(picture: PIL.Image.Image, region: Region) -> PIL.Image.Image:
    """The picture as it is inside of a mask, grey and dark outside, with a thin light line between them."""
    inside = fitted(region, picture.height, picture.width)
    grey = np.asarray(picture.convert("L"))[..., None]
    pixels = np.where(inside[..., None], np.asarray(picture), (_DIM * grey).astype(np.uint8))
    pixels[grown(inside) & ~inside] = _OUTLINE
    return PIL.Image.fromarray(pixels)


def _rows(step: Step) -> Iterator[tuple[Parameter, Values]]:
    """Each parameter of the operation with its numbers."""
    first = 0
    for parameter in () if step.is_repair else operations.get(step.operation).parameters:
        yield parameter, step.parameters[first : first + parameter.count]
        first += parameter.count


def _corners(rises: Values) -> tuple[tuple[float, float], ...]:
    heights = (0.0, *accumulate(rise / sum(rises) for rise in rises))
    return tuple((k / PIECES, height) for k, height in enumerate(heights))


def _sliders(operation: str, parameter: Parameter, values: Values) -> Iterator[Slider]:
    for value in values:
        label = f"{operation} {value:+.3g} ({parameter.unit})"
        yield Slider(label, parameter.low, parameter.high, parameter.default, value)


def _residual(residual: Picture) -> Shot:
    """The residual, stronger by a round factor that leaves all but its strongest hundredth unclipped."""
    top = float(np.percentile(residual, 99))
    gain = next((gain for gain in _GAINS if gain * top <= 1), 1)
    mean, most = 255 * residual.mean(), 255 * np.percentile(residual, 95)
    return Shot(
        _shown(gain * residual),
        "What these operations cannot explain",
        f"Off by {mean:.1f} of 255 levels on average; 95 % of all values are off by at most {most:.1f}. "
        f"Shown {gain} times as strong: full brightness is a difference of {255 / gain:.3g} levels or more.",
    )

"""Mode expert: the retouch that an expert would give a photo, as a recipe.

A graph predicts, for a thumbnail and the attributes a request asks for, the tones the expert would give it. A
curve for each channel takes the picture a part of the way there, and planning names the steps. A style of
one's own (styles.py) gives the target picture instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from .. import operations
from ..image.colour import srgb_to_lab
from ..inference import MEMORY_FILE, WEIGHTS_FOLDER, open_session
from ..language.reader import read
from ..language.wishes import AMOUNTS, Role, Wish, get_attributes
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..operations.paper import CURVE_PIECES
from ..options import DEFAULT_READER, ReaderName
from ..recipe import Recipe, Step
from .check import round_parameters
from .policy import apply_to_thumbnail
from .styles import Style

MAX_STEPS = 6
"""Steps of a retouch."""
_OPERATIONS = (
    "exposure",
    "contrast",
    "highlights",
    "shadows",
    "whites",
    "blacks",
    "white_balance",
    "vibrance",
    "tone",
)
_ADDITIVE = (
    *("exposure", "highlights", "shadows", "whites", "blacks"),
    *("white_balance", "saturation", "vibrance"),
)
"""Operations whose values add up; pivots, hues and curves do not."""
_NEARLY_THE_SAME = 0.01
"""Mean difference in [0, 1] up to which values are added rather than steps."""
_GRADING_COST, _GRADING_SHARE = 0.01, 0.6
"""Grading is tried where the other steps leave more than this, and used if it leaves at most that share."""
_NEARLY_GREY, _MIN_GREY_SHARE, _MOST_TINT = 6.0, 0.1, 2.5
"""Chroma of what is nearly grey, the share of it that counts, and the mean chroma it may be given."""
_BALANCE_SHARES = (1.0, 0.7, 0.4, 0.2, 0.0)
_SHRINK = 4
"""Steps are planned on pictures so many times smaller."""
_LARGEST = 2.0
TONE_LEVELS = 33
"""Quantiles of a channel, evenly spaced from its darkest to its lightest pixel."""
TONE_SHARE = 1.0
"""Share of the way to the predicted tones that a picture is taken."""
TINT_SHARE = 0.7
"""Share of the differences between channels that is taken over; they would tint what is grey."""
_REGULARIZATION = 0.02
"""Weight that pulls a curve to the interpolated one; each tone has weight 1."""


def make_retouch(
    picture: np.ndarray,
    recipe: Recipe,
    wishes: Sequence[Wish],
    where: str | None = None,
    style: Style | None = None,
) -> Recipe:
    """A recipe with the retouch of a picture (3, side, side) added, perhaps at one place alone.

    It is that of the expert in the package, or of a style.
    """
    after = apply_to_thumbnail(recipe, picture) if recipe.steps else picture
    if style is None:
        planned: Sequence[Step] = _plan_expert(picture, after, wishes)
    else:
        framed = Recipe(steps=tuple(step for step in recipe.steps if step.is_geometry))
        target = style.retouch(picture)
        planned = plan_retouch(after, apply_to_thumbnail(framed, target) if framed.steps else target)
    retouch = Recipe.from_steps((step.operation, _round(step)) for step in planned)
    if where is not None:
        retouch = retouch.restrict(where)
    return _add_retouch(recipe, retouch, picture, after) if recipe.steps else retouch


def _add_retouch(recipe: Recipe, retouch: Recipe, picture: np.ndarray, after: np.ndarray) -> Recipe:
    """A recipe, then a retouch of what it makes of a picture.

    Values are added to those that the recipe has, as long as that comes to nearly the same picture.
    """
    both = recipe
    for step in retouch.steps:
        both = _add_step(both, step)
    difference = apply_to_thumbnail(both, picture) - apply_to_thumbnail(retouch, after)
    return both if np.abs(difference).mean() < _NEARLY_THE_SAME else recipe + retouch


def _add_step(recipe: Recipe, step: Step) -> Recipe:
    """A recipe with a step, added to one of the operation there if its values add up."""
    at = recipe.find_step(step.operation, step.where)
    if at is None or step.operation not in _ADDITIVE:
        return recipe.insert(step)
    both = recipe.steps[at].add(step)
    return recipe.model_copy(update={"steps": (*recipe.steps[:at], both, *recipe.steps[at + 1 :])})


def _plan_expert(picture: np.ndarray, after: np.ndarray, wishes: Sequence[Wish]) -> list[Step]:
    """Steps that take `after` towards the tones that the expert would give a picture."""
    from ..planning import plan_pictures  # loads compiled kernels, which other edits do not need

    curves = load_expert_tones().parameters(picture, after, to_attribute_vector(wishes))
    target = apply_to_thumbnail(Recipe(steps=(Step(operation="color", parameters=curves),)), after)
    planned = plan_pictures(_shrink(after), _shrink(target), MAX_STEPS, _OPERATIONS).steps
    return _keep_greys(planned, _shrink(after))


def plan_retouch(picture: np.ndarray, target: np.ndarray, steps: int = MAX_STEPS) -> Sequence[Step]:
    """Steps for the whole photo that take a picture (3, H, W) to a target, as a photographer would.

    Grading is used only where it explains what the others leave; single hues are not changed at all, as
    predicted targets have little to say about them.
    """
    from ..planning import plan_darkroom
    from ..planning.darkroom import BASIC

    start, aim = (np.ascontiguousarray(one, np.float32) for one in (picture, target))
    names = (*BASIC, "black_and_white", "tone")
    plain = plan_darkroom(start, aim, steps, names)
    if plain.cost < _GRADING_COST:
        return plain.steps
    graded = plan_darkroom(start, aim, steps, (*names, "grading"))
    return graded.steps if graded.cost < _GRADING_SHARE * plain.cost else plain.steps


def _keep_greys(steps: Sequence[Step], picture: np.ndarray) -> list[Step]:
    """Steps whose white balance does not tint what is nearly grey, as the tones of a coloured object may."""
    grey = np.hypot(*srgb_to_lab(picture)[1:]) < _NEARLY_GREY
    if grey.mean() < _MIN_GREY_SHARE:
        return [*steps]
    for share in _BALANCE_SHARES:
        weaker = [step.blend(share) if step.operation == "white_balance" else step for step in steps]
        lab = srgb_to_lab(apply_to_thumbnail(Recipe(steps=tuple(weaker)), picture))
        if math.hypot(*(float(channel[grey].mean()) for channel in lab[1:])) <= _MOST_TINT:
            break
    return weaker


def _round(step: Step) -> list[float]:
    values = operations.get_operation(step.operation).check(list(step.parameters))
    return round_parameters(step.operation, values)


def _shrink(picture: np.ndarray) -> np.ndarray:
    """A picture (3, H, W) with the means of squares of pixels."""
    height, width = (side // _SHRINK for side in picture.shape[1:])
    squares = picture.reshape(3, height, _SHRINK, width, _SHRINK)
    return np.ascontiguousarray(squares.mean((2, 4)))


def measure_wanted(request: str, reader: ReaderName = DEFAULT_READER) -> np.ndarray:
    """(6,) float32, in the order of the attributes: how much more or less of each a request asks for."""
    return to_attribute_vector(read(request, reader).wishes)


def to_attribute_vector(wishes: Sequence[Wish]) -> np.ndarray:
    """(6,) float32, in the order of the attributes: how much more or less of each the wishes ask for."""
    amounts = np.zeros(len(ATTRIBUTE_INDEX), np.float32)
    for wish in wishes:
        if wish.role is Role.ASK:
            for attribute, sign in get_attributes(wish.what, wish.direction, wish.where, wish.hue):
                amounts[ATTRIBUTE_INDEX[attribute]] += sign * AMOUNTS[wish.amount] ** 0.5
    return np.clip(amounts, -_LARGEST, _LARGEST)


def measure_tones(picture: np.ndarray) -> np.ndarray:
    """(3, TONE_LEVELS): the quantiles of each channel of a picture (3, H, W), from dark to light."""
    tones: np.ndarray = np.quantile(picture.reshape(3, -1), np.linspace(0, 1, TONE_LEVELS), axis=1).T
    return tones


class ExpertTones:
    """The graph `memory.onnx` of a network: predicts the tones that an expert would give a photo."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def tones(self, picture: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Predicted tones (3, TONE_LEVELS) in [0, 1] of a picture (3, side, side), never falling.

        `wanted` (6,) is how much more or less of each attribute was asked for.
        """
        inputs = {"image": picture[None].astype(np.float32), "wanted": wanted[None]}
        (tones,) = self._session.run(None, inputs)
        return np.asarray(np.maximum.accumulate(np.clip(tones[0], 0, 1), axis=-1))

    def parameters(self, before: np.ndarray, after: np.ndarray, wanted: np.ndarray) -> tuple[float, ...]:
        """Parameters of `color` that take `after` towards the tones predicted for `before`."""
        tones = measure_tones(after)
        change = self.tones(before, wanted) - tones
        lightness = change.mean(0)
        return fit_tone_curves(after, tones + lightness + TINT_SHARE * (change - lightness), TONE_SHARE)


def fit_tone_curves(picture: np.ndarray, target: np.ndarray, share: float) -> tuple[float, ...]:
    """Parameters of `color` that take a picture's tones a share of the way to `target` (3, TONE_LEVELS)."""
    curves = [
        _fit_curve(tones, (1 - share) * tones + share * wanted)
        for tones, wanted in zip(measure_tones(picture), target, strict=True)
    ]
    increments = [float(value) for curve in curves for value in np.diff(curve) * CURVE_PIECES]
    return operations.get_operation("color").clip(increments)


def _fit_curve(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(CURVE_PIECES + 1,) from 0 to 1, never falling: the piecewise linear curve from tones to others.

    A least-squares fit, pulled to the interpolated curve where there are few tones.
    """
    knots = np.arange(CURVE_PIECES + 1) / CURVE_PIECES
    interpolated = np.interp(knots, [0, *_separate_levels(before), 1], [0, *after, 1])
    basis = np.maximum(0, 1 - np.abs(before[:, None] - knots) * CURVE_PIECES)
    inner = slice(1, CURVE_PIECES)
    regularization = np.sqrt(_REGULARIZATION) * np.eye(CURVE_PIECES - 1)
    weights = np.concatenate([basis[:, inner], regularization])
    heights = np.concatenate([after - basis[:, -1], regularization @ interpolated[inner]])
    solution = np.linalg.lstsq(weights, heights, rcond=None)[0]
    return np.asarray(np.maximum.accumulate(np.clip([0, *solution, 1], 0, 1)))


def _separate_levels(levels: np.ndarray) -> np.ndarray:
    """Rising levels made distinct, as interpolation needs them."""
    return np.asarray(levels + np.arange(len(levels)) * 1e-7)


@cache
def load_expert_tones() -> ExpertTones:
    """The expert in the package, loaded once."""
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER / MEMORY_FILE) as path:
        return ExpertTones(open_session(path))

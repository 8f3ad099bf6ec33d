"""The expert's retouch of a photo as a recipe: a graph predicts its tones, and planning names the steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np

from .. import operations
from ..image.colour import srgb_to_lab
from ..inference import MEMORY_FILE, WEIGHTS_FOLDER, open_session
from ..language.reader import read
from ..language.wishes import Amount, Role, Wish, get_attributes
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..options import DEFAULT_READER, ReaderName
from ..recipe import Recipe, Step
from .check import round_parameters
from .policy import apply_to_thumbnail
from .styles import OnnxStyle

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
_NEARLY_GREY, _MIN_GREY_SHARE, _MOST_TINT = 6.0, 0.1, 2.5
"""Chroma of what is nearly grey, the share of it that counts, and the mean chroma it may be given."""
_BALANCE_SHARES = (1.0, 0.7, 0.4, 0.2, 0.0)
_SHRINK = 4
"""Steps are planned on pictures so many times smaller."""
_AMOUNTS = {Amount.LITTLE: 0.4, Amount.PLAIN: 1.0, Amount.MUCH: 2.0}
_LARGEST = 2.0


def make_retouch(picture: np.ndarray, recipe: Recipe, wishes: Sequence[Wish]) -> Recipe:
    """A recipe with the expert's retouch of a picture (3, side, side) added."""
    from ..planning import plan_pictures  # loads compiled kernels, which other edits do not need

    after = apply_to_thumbnail(recipe, picture) if recipe.steps else picture
    curves = load_style().parameters(picture, after, to_attribute_vector(wishes))
    target = apply_to_thumbnail(Recipe(steps=(Step(operation="color", parameters=curves),)), after)
    planned = plan_pictures(_shrink(after), _shrink(target), MAX_STEPS, _OPERATIONS).steps
    steps = [(step.operation, _round(step)) for step in _keep_greys(planned, _shrink(after))]
    if not recipe.steps:
        return Recipe.from_steps(steps)
    for operation, values in steps:
        recipe = recipe.adjust(operation, values)
    return recipe


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
                amounts[ATTRIBUTE_INDEX[attribute]] += sign * _AMOUNTS[wish.amount] ** 0.5
    return np.clip(amounts, -_LARGEST, _LARGEST)


@cache
def load_style() -> OnnxStyle:
    """The style in the package, loaded once."""
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER / MEMORY_FILE) as path:
        return OnnxStyle(open_session(path))

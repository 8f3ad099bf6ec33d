"""Recipes from outside, and recipes as they are told. Masks come inside them, never as the name of a file."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from typing import Any

import PIL.Image

from .. import operations
from ..errors import RecipeError
from ..image import formats
from ..operations import repairs
from ..recipe import Recipe, Step
from .errors import too_large
from .schemas import StepResponse
from .settings import ServerSettings

_MAX_RECIPE_NAME_LENGTH = 200
_REPAIR_MEGAPIXELS = 150.0
"""Of masked steps that take as long as a repair of a whole photo, which is made at one size for any photo."""
_NEIGHBOURHOOD_COST = 2.0
"""Megapixels of masked steps that take as long as one megapixel of a step that looks at neighbours."""


def parse_recipe(raw: Any, settings: ServerSettings) -> Recipe:
    """A recipe that a visitor sent, within the limits."""
    steps = raw.get("steps") if isinstance(raw, dict) else None
    if isinstance(steps, list):
        if len(steps) > settings.steps:
            raise too_large(f"a recipe has at most {settings.steps} steps here, and {len(steps)} were given")
        for step in steps:
            _check_mask(step, settings)
    recipe = Recipe.from_data(raw)
    if len(recipe.name) > _MAX_RECIPE_NAME_LENGTH:
        raise RecipeError(
            f"a recipe's name has at most {_MAX_RECIPE_NAME_LENGTH} characters here; give a shorter one"
        )
    return recipe


def parse_step(raw: Any, settings: ServerSettings) -> Step:
    return parse_recipe({"steps": [raw]}, settings).steps[0]


def check_work(recipe: Recipe, pixels: float, settings: ServerSettings) -> None:
    """Refuse a recipe whose steps would keep the server busy for too long on a picture of so many pixels."""
    masked = [step for step in recipe.steps if step.mask and not step.is_identity]
    work = sum(_estimate_step_work(step, pixels / 1e6) for step in masked)
    work += _NEIGHBOURHOOD_COST * _count_neighbourhood_passes(recipe) * pixels / 1e6
    if work > settings.masked_megapixels:
        raise too_large(
            f"masks and sharpness come to {work:.0f} megapixels of work on this photo, and this server "
            f"does at most {settings.masked_megapixels:g}; use fewer or smaller masks, or sharpen less often"
        )


def _estimate_step_work(step: Step, megapixels: float) -> float:
    """What a step with a mask computes, in megapixels."""
    assert step.mask is not None
    if (repair := repairs().get(step.operation)) is None:
        return megapixels * step.mask.extent()
    share = 1.0 if repair.margin is None else step.mask.extent(repair.margin)
    return _REPAIR_MEGAPIXELS * share


def _count_neighbourhood_passes(recipe: Recipe) -> float:
    """How many times over the photo's pixels are computed from their neighbours.

    The first time over the whole photo is not counted, so that a plain edit of any photo is admitted.
    """
    steps = [step for step in recipe.steps if not step.is_repair and not step.is_identity]
    wide = [step for step in steps if operations.get_operation(step.operation).reach(1.0)]
    whole = sum(step.mask is None for step in wide)
    return max(whole - 1, 0) + sum(step.mask.extent() for step in wide if step.mask)


def has_masks(raw: Any) -> bool:
    """Whether pictures have to be decoded to read this recipe."""
    steps = raw.get("steps") if isinstance(raw, dict) else None
    return isinstance(steps, list) and any(isinstance(step, dict) and "mask" in step for step in steps)


def _check_mask(step: Any, settings: ServerSettings) -> None:
    """Before anything of a mask is opened: no files of the server, and no more pixels than allowed."""
    mask = step.get("mask") if isinstance(step, dict) else None
    if not isinstance(mask, dict):
        return
    if "file" in mask:
        raise RecipeError('a mask comes inside the recipe here: give {"png": base64 of a grey PNG}')
    png = mask.get("png")
    if isinstance(png, str) and _count_mask_pixels(png) > 1e6 * settings.mask_megapixels:
        raise too_large(f"a mask has at most {settings.mask_megapixels:g} megapixels here; make it smaller")


def _count_mask_pixels(png: str) -> int:
    """As its header has them; 0 for what is no PNG, which the recipe itself refuses."""
    try:
        data = base64.b64decode(png)
        if not data.startswith(formats.PNG_SIGNATURE):
            return 0
        formats.check_structure(data)
        with PIL.Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
            return picture.width * picture.height
    except PIL.Image.DecompressionBombError:
        return 2**62
    except Exception:  # Pillow raises many kinds on damaged data
        return 0


def count_mask_bytes(steps: Iterable[Step]) -> int:
    """Bytes of all masks that are not the same object."""
    masks = {id(step.mask): step.mask for step in steps if step.mask}
    return sum(len(mask.png) for mask in masks.values())


def to_recipe_json(recipe: Recipe) -> dict[str, Any]:
    """As JSON holds it."""
    return recipe.model_dump(mode="json", exclude_none=True)


def to_step_responses(steps: Sequence[Step], reasons: Sequence[Sequence[str]] = ()) -> list[StepResponse]:
    """In words, with the words that led to each."""
    because = [*reasons, *[()] * (len(steps) - len(reasons))]
    return [
        StepResponse(
            operation=step.operation, does=step.describe(), because=list(words), masked=step.mask is not None
        )
        for step, words in zip(steps, because, strict=True)
    ]

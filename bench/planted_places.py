"""Planted edits of named places: whether local planning names the operations and the places again."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.pairs import DATA, ROOT
from bench.planted import DARKROOM_AMOUNTS
from t2onet import Recipe, apply, open_image
from t2onet.image import Image
from t2onet.operations import sort_by_position
from t2onet.places import OpenedPhoto, list_present, resolve_where
from t2onet.planning import plan_local
from t2onet.recipe import Step

COUNT = 100
OPERATIONS = ("exposure", "white_balance", "vibrance", "saturation", "contrast", "highlights", "shadows")
SHARES = (0.01, 0.95)
"""Places that cover less or more of a photo are not edited."""
VISIBLE = 0.015
"""Least mean change of the pixels of a place without one of its steps: four levels of 255."""
CLIPPED = 0.02
GLOBAL_SHARE, TWO_SHARE = 0.3, 0.4
"""Shares of the edits with a step of the whole photo besides, and with two steps at the place."""
SIDE = 400
"""Short side of the example photos, in pixels; val photos are 256 x 256."""

StepName = tuple[str, str | None]
"""Operation and place; None is the whole photo."""


@dataclass(frozen=True)
class Planted:
    """An edit of a photo (8 bits) whose recipe is known."""

    photo: str
    before: Image
    after: Image
    recipe: Recipe

    @property
    def names(self) -> set[StepName]:
        return name_steps(self.recipe)


def name_steps(recipe: Recipe) -> set[StepName]:
    """What a recipe does where."""
    return {(step.operation, None if step.where is None else str(step.where)) for step in recipe.steps}


def iterate_photos() -> Iterator[tuple[str, Image]]:
    """The example photos, then val photos in a seeded order, again and again."""
    examples = sorted((ROOT / "examples").glob("*.jpg"))
    annotated = DATA / "annotations" / "val_sess_1.json"
    names: list[str] = []
    if annotated.is_file():
        names = _list_val_names(annotated)
    while True:
        for path in (*examples, *(DATA / "images" / f"{name}_O.webp" for name in names)):
            image = open_image(path)
            yield path.stem, image.resize(SIDE)


def _list_val_names(annotated: Path) -> list[str]:
    import json

    entries = json.loads(annotated.read_text(encoding="utf-8"))
    names = sorted({Path(entry["input"]).stem.split("_")[0] for entry in entries})
    return [str(name) for name in np.random.default_rng(3).permutation(names)]


def draw_edits(count: int, *, any_order: bool = False) -> Iterator[Planted]:
    """Edits at places that the network finds, visible and hardly clipped."""
    rng = np.random.default_rng(7)
    made = 0
    for name, image in iterate_photos():
        if made == count:
            return
        photo = OpenedPhoto(image)
        masks = {place: resolve_where(place, photo) / 255 for place in list_present(photo.small_picture)}
        places = [place for place, mask in masks.items() if SHARES[0] <= mask.mean() <= SHARES[1]]
        if not places:
            continue
        place = str(rng.choice(places))
        recipe = _draw_recipe(place, rng, any_order=any_order)
        planted = Planted(name, image, apply(recipe, image), recipe)
        if _is_clear(planted, masks[place] > 0.5):
            made += 1
            yield planted


def _draw_recipe(place: str, rng: np.random.Generator, *, any_order: bool) -> Recipe:
    """Steps at a place in their usual order or any, perhaps with one of the whole photo besides."""
    count = 1 + int(rng.random() < TWO_SHARE)
    names = [str(name) for name in rng.permutation(OPERATIONS)]
    chosen = names[:count] if any_order else sort_by_position(names[:count])
    local = [_draw_step(name, place, rng) for name in chosen]
    overall = [_draw_step(names[count], None, rng)] if rng.random() < GLOBAL_SHARE else []
    return Recipe.from_steps([*overall, *local] if rng.random() < 0.5 else [*local, *overall])


def _draw_step(name: str, place: str | None, rng: np.random.Generator) -> Step:
    return Step.model_validate({"operation": name, "parameters": DARKROOM_AMOUNTS[name](rng), "where": place})


def _is_clear(planted: Planted, inside: np.ndarray) -> bool:
    """Whether each step would be missed, and little is clipped."""
    after = planted.after.pixels
    newly = ((after == 0) & (planted.before.pixels > 0)) | ((after == 255) & (planted.before.pixels < 255))
    if newly.mean() > CLIPPED or not inside.any():
        return False
    steps = planted.recipe.steps
    for at in range(len(steps)):
        without = apply(Recipe(steps=(*steps[:at], *steps[at + 1 :])), planted.before).pixels
        if np.abs(without.astype(float) - after)[inside].mean() / 255 < VISIBLE:
            return False
    return True


def main(arguments: Sequence[str] = ()) -> int:
    """Print how many edits were named; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench planted_places", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="edits to plan")
    parser.add_argument("--any-order", action="store_true", help="steps at a place in any order")
    parser.add_argument("--verbose", action="store_true", help="print the edits that were not named")
    options = parser.parse_args(arguments)
    right, places, kinds, totals, seconds = 0, 0, Counter[str](), Counter[str](), []
    for planted in draw_edits(options.count, any_order=options.any_order):
        start = time.perf_counter()
        recipe = plan_local(planted.before, planted.after).recipe
        seconds.append(time.perf_counter() - start)
        found = name_steps(recipe)
        place = next(where for _, where in planted.names if where is not None)
        good = found == planted.names
        right += good
        places += {where for _, where in found} == {where for _, where in planted.names}
        totals[place] += 1
        kinds[place] += good
        if options.verbose and not good:
            print(f"  {planted.photo}: {planted.recipe.format_settings()}\n    as {recipe.format_settings()}")
    count = len(seconds)
    print(f"  {count} edits: operations and places right in {right / count:.1%} (bar: 90 %), ", end="")
    print(f"places alone in {places / count:.1%}; median {np.median(seconds):.2f} s a pair")
    print(f"  {', '.join(f'{place} {kinds[place]} of {total}' for place, total in totals.items())}")
    return 0

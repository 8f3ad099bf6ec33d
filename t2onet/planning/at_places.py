"""Plan steps at named places: the sky, the subject, a face, whatever the place network finds in a photo.

The operations of the darkroom are fitted jointly at a set of places, with or without the whole picture, on a
sample of the pixels; steps that do not pay their price are dropped, as in plans for the whole picture. Sets
of more places are tried only while a difference remains. A set is better than another if its steps explain
the pair better, so places that overlap, such as the sky and the background, are told apart by their borders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..image import Image
from ..operations import get_operation, sort_by_position
from ..places import OpenedPhoto, list_present, resolve_where, share_answer
from ..recipe import Step
from ..recipe.where import Where
from .darkroom import (
    FIRST_ROUNDS,
    LAST_DELTA,
    LAST_ROUNDS,
    Choice,
    drop_identities,
    drop_idle_numbers,
    prune_choice,
    round_numbers,
)
from .pictures import PhotoPair, Picture, StepSequence, reads_neighbours
from .segments import find_changed_pixels
from .sketch import SketchFitter

PlaceSet = tuple[str | None, ...]
"""Places that steps are fitted at together; None is the whole picture."""

PICTURE_SIDE = 512
"""Long side of the working pictures: the size at which places are found."""
_MAX_PLACES = 2
_SHARES = (0.003, 0.99)
"""Places that cover less or more of the picture are not tried."""
_SEARCH_PIXELS, _FINAL_PIXELS = 1200, 4096
"""Pixels on which places and operations are chosen, and on which the chosen ones are fitted at last."""
_RANKING_ROUNDS = 8
"""Rounds of the fits by which sets of places are compared."""
_FINALISTS = 3
"""Sets of each kind whose steps are dropped one by one."""
_EXACT_COST = 8e-4
"""Mean difference on the sample below which nothing more is tried: a fifth of a level of 255."""


def find_place_weights(before: Image, picture: Picture) -> dict[str, np.ndarray]:
    """Masks (H, W) from 0 to 1 of the places in a photo, at the size of its working picture (3, H, W)."""
    photo = OpenedPhoto(before)
    copy = photo.with_pixels(np.ascontiguousarray(picture.transpose(1, 2, 0)))
    share_answer(photo.small_picture, copy.small_picture)
    masks = {name: resolve_where(name, copy) for name in list_present(photo.small_picture)}
    weights = {name: np.divide(levels, 255, dtype=np.float32) for name, levels in masks.items()}
    low, high = _SHARES
    return {name: weight for name, weight in weights.items() if low <= weight.mean() <= high}


def choose_working_side(pair: PhotoPair) -> int:
    """Short side of working pictures whose long side is `PICTURE_SIDE`."""
    height, width = pair.before.height, pair.before.width
    return max(round(PICTURE_SIDE * min(height, width) / max(height, width)), 16)


def plan_at_places(
    start: Picture,
    target: Picture,
    weights: Mapping[str, np.ndarray],
    steps: int,
    names: Sequence[str],
) -> StepSequence:
    """Plan on working pictures (3, H, W); `weights` are the places, `names` the operations allowed."""
    allowed = sort_by_position([name for name in names if not reads_neighbours(name)])
    changed = find_changed_pixels(start, target)
    fitter = _make_fitter(start, target, weights, changed, _SEARCH_PIXELS)
    chosen = drop_idle_numbers(_search(fitter, list(weights), allowed, steps))
    final = _make_fitter(start, target, weights, changed, _FINAL_PIXELS)
    final = replace(final, free=chosen.fitter.free)
    fitted = final.fit(chosen.fit.steps, LAST_ROUNDS, LAST_DELTA).steps
    return drop_identities(round_numbers(fitted, final)).steps


def _make_fitter(
    start: Picture, target: Picture, weights: Mapping[str, np.ndarray], changed: np.ndarray, count: int
) -> SketchFitter:
    """A fitter on `count` pixels, half of them changed ones, so that a small place counts as a large one."""
    rng = np.random.default_rng(0)
    parts = [np.flatnonzero(part) for part in (changed.reshape(-1), ~changed.reshape(-1))]
    pixels = np.concatenate([_spread(part, count // 2, rng) for part in parts])
    sampled: dict[Where, np.ndarray] = {
        name: weight.reshape(-1)[pixels][None] for name, weight in weights.items()
    }
    before, after = (np.ascontiguousarray(p.reshape(3, -1)[:, None, pixels]) for p in (start, target))
    return SketchFitter(before, after, weights=sampled)


def _spread(pixels: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """About `count` of these pixels, spread evenly with jitter."""
    if pixels.size <= count:
        return pixels
    jittered = np.arange(count) + rng.random(count)
    return np.asarray(pixels[(jittered * (pixels.size / count)).astype(int)])


def _search(fitter: SketchFitter, places: Sequence[str], names: Sequence[str], limit: int) -> Choice:
    """The cheapest of the fits at more and more places."""
    found: list[Choice] = []
    for sets in _iterate_sets(places):
        fits = [fitter.fit(_make_steps(one, names), _RANKING_ROUNDS) for one in sets]
        ranked = sorted(fits, key=lambda fit: fit.cost)[:_FINALISTS]
        for fit in ranked:
            again = fitter.fit(fit.steps, FIRST_ROUNDS, LAST_DELTA)
            found.append(prune_choice(Choice(again, fitter), limit))
        if min(choice.fit.cost for choice in found) < _EXACT_COST:
            break
    return min(found, key=lambda choice: choice.total)


def _iterate_sets(places: Sequence[str]) -> Iterator[Sequence[PlaceSet]]:
    """The whole picture and single places; those with the whole picture, before or after; several places."""
    yield [(None,), *((place,) for place in places)]
    for count in range(1, _MAX_PLACES + 1):
        groups = list(combinations(places, count))
        if count > 1:
            yield groups
        if groups:
            yield [order for group in groups for order in ((None, *group), (*group, None))]


def _make_steps(places: PlaceSet, names: Sequence[str]) -> StepSequence:
    return tuple(
        Step.from_trusted(name, get_operation(name).defaults, place) for place in places for name in names
    )

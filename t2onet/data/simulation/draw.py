"""Samples drawn on photos: before, after and the wish between them, with labels that the pictures bear out.

Photos are (N, 3, H, W) in [0, 1], NumPy or torch; pixels are computed where the photos lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...image.pixels import Array
from ...language import Attribute
from ...metrics.attributes import (
    ATTRIBUTE_INDEX,
    JUST_NOTICEABLE,
    SIMULATED_LIGHTNESS,
    check_followed,
    check_usable,
    measure_attributes,
)
from .strengths import edited, strengths
from .wish import COLOUR, DrawnWish, Flavour
from .wishes import FLAVOURS, Class, Draw, chosen, classes_of, drawn

TRIES = 8
"""Wishes tried on a photo before it is left as it is, with a wish that cannot be answered."""
UNTOUCHED = 0.3
"""Share of wishes that also say what must stay, where something did."""
ALL_COLOUR = 0.4
"""Share of those in which that is all that makes up colour, where all of it did."""
_STAYED = 1.5
"""Noticeable amounts up to which an attribute counts as left alone."""


def draw(
    photo: Array, rng: np.random.Generator, tally: Counter[Class] | None = None
) -> tuple[Array, Array, DrawnWish]:
    """Before, after and wish for one photo (3, H, W)."""
    before, after, wishes = draw_batch(photo[None], rng, tally)
    return before[0], after[0], wishes[0]


def draw_batch(
    photos: Array, rng: np.random.Generator, tally: Counter[Class] | None = None
) -> tuple[Array, Array, list[DrawnWish]]:
    """Before, after and wish for each photo.

    Classes of attribute and sign come up evenly; a `tally` that is kept from call to call, and counted up
    here, makes that hold over all of them.
    """
    tally = Counter() if tally is None else tally
    flavours = [chosen(FLAVOURS, rng) for _ in range(len(photos))]
    failed: list[set[Class]] = [set() for _ in flavours]
    before, after, left = photos + 0.0, photos + 0.0, list(range(len(photos)))
    wishes = [drawn(Flavour.UNANSWERABLE, rng, tally).wish for _ in left]
    for _ in range(TRIES):
        if not left:
            break
        draws = [_counted(drawn(flavours[i], rng, tally, failed[i]), tally) for i in left]
        made = _made(photos[left], draws)
        good = [at for at, missing in enumerate(made.missing) if missing is None]
        rows = [left[at] for at in good]
        before[rows], after[rows] = made.before[good], made.after[good]
        for i, draw, change, missing in zip(left, draws, made.changes, made.missing, strict=True):
            if missing is None:
                wishes[i] = _with_untouched(draw.wish, change, rng)
            else:
                failed[i].update(missing)
                tally.subtract(classes_of(draw.wish.intents))
        left = [i for i in left if i not in rows]
    return before, after, wishes


def _counted(draw: Draw, tally: Counter[Class]) -> Draw:
    tally.update(classes_of(draw.wish.intents))
    return draw


@dataclass(frozen=True)
class _Made:
    """What draws become on their photos, how the attributes (N, 6) change, and which classes do not show.

    `missing` is None where all is well.
    """

    before: Array
    after: Array
    changes: np.ndarray
    missing: list[list[Class] | None]


def _made(photos: Array, draws: Sequence[Draw]) -> _Made:
    before = edited(photos, np.stack([strengths(draw.before) for draw in draws]))
    after = edited(photos, np.stack([strengths(draw.after) for draw in draws]))
    original, first, second = (_measured(images) for images in (photos, before, after))
    usable = check_usable(original, first, SIMULATED_LIGHTNESS) & check_usable(
        original, second, SIMULATED_LIGHTNESS
    )
    missing = [
        _missing(draw.wish, change, bool(whole))
        for draw, change, whole in zip(draws, second - first, usable, strict=True)
    ]
    return _Made(before, after, second - first, missing)


def _measured(images: Array) -> np.ndarray:
    found = measure_attributes(images)
    return found if isinstance(found, np.ndarray) else found.detach().cpu().double().numpy()


def _missing(wish: DrawnWish, change: np.ndarray, sound: bool) -> list[Class] | None:
    intents = wish.intents
    if not intents:
        return None if wish.flavour is Flavour.UNANSWERABLE else []
    shown = check_followed(change, intents) if sound else (False,) * len(intents)
    unseen = [c for c, seen in zip(classes_of(intents), shown, strict=True) if not seen]
    return unseen if unseen or not sound else None


def _with_untouched(wish: DrawnWish, change: np.ndarray, rng: np.random.Generator) -> DrawnWish:
    """Sometimes with one or two attributes that must stay, or all of colour, out of those that did."""
    if wish.flavour is not Flavour.ASK or rng.random() >= UNTOUCHED:
        return wish
    asked = {intent.attribute for intent in wish.intents}
    still = np.abs(change) < _STAYED * np.array(JUST_NOTICEABLE)
    stayed = [a for a in Attribute if a not in asked and still[ATTRIBUTE_INDEX[a]]]
    if set(COLOUR) <= set(stayed) and rng.random() < ALL_COLOUR:
        return replace(wish, untouched=COLOUR)
    some = rng.permutation(len(stayed))[: rng.integers(1, 3)]
    return replace(wish, untouched=tuple(stayed[i] for i in sorted(some)))

"""Contact sheets: pairs with their requests, and the best and the worst of their plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import PIL.Image

from ..errors import DataError, T2OError
from ..image import Image
from ..image.depth import to_uint8
from .sample import Dataset, Sample

if TYPE_CHECKING:
    from .plans.tally import Shown, Tally

_SIDE, _GAP, _COLUMNS = 250, 24, 3
_CELL = 2 * _SIDE + 6
WIDTH = _COLUMNS * (_CELL + _GAP) + _GAP
_REQUESTS = 5
"""The most requests that are printed below a pair."""
_LONGEST = 220
"""Characters of a request, the rest is left out."""


def chosen(samples: Sequence[Sample], count: int, seed: int) -> list[Sample]:
    """That many samples by chance, in their own order."""
    if not samples:
        raise DataError("there is no sample to show; check the dataset and the split")
    picked = np.random.default_rng(seed).permutation(len(samples))[:count]
    return [samples[at] for at in sorted(picked)]


def pairs_sheet(dataset: Dataset, samples: Sequence[Sample], total: int) -> bytes:
    """Before and after side by side, with what was asked for below; as a PNG."""
    from ..planning.report.drawing import BODY, HEAD, as_png, beside, framed, stacked, words
    from ..planning.report.palette import FAINT

    cells = [_pair(sample) for sample in samples]
    rows = [beside(cells[at : at + _COLUMNS], _GAP) for at in range(0, len(cells), _COLUMNS)]
    subtitle = f"{len(samples)} of {total} samples, before and after"
    inside = WIDTH - 2 * _GAP
    title = [words(dataset.root.name or dataset.layout, HEAD, inside), words(subtitle, BODY, inside, FAINT)]
    return as_png(framed(stacked([stacked(title, 4), *rows], _GAP), WIDTH, _GAP))


def _pair(sample: Sample) -> PIL.Image.Image:
    from ..planning.report.drawing import BODY, SMALL, beside, stacked, words
    from ..planning.report.palette import FAINT

    try:
        parts = [beside([_square(photo) for photo in sample.photos()], 6)]
    except T2OError as error:
        parts = [words(str(error), SMALL, _CELL, FAINT)]
    said = [words(f'"{_shortened(request)}"', BODY, _CELL) for request in sample.requests[:_REQUESTS]]
    more = len(sample.requests) - _REQUESTS
    note = f"{sample.name}, {sample.split}" + (f", and {more} requests more" if more > 0 else "")
    return stacked([*parts, *said, words(note, SMALL, _CELL, FAINT)], 6)


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rsplit(' ', 1)[0]} ..."


def plans_sheet(tally: Tally) -> bytes:
    """The worst plans and the best: before, planned, target, and the recipe in words; as a PNG."""
    from ..planning.report.drawing import HEAD, as_png, framed, stacked, words

    width = 3 * _SIDE + 2 * 6 + _GAP + _CELL
    parts = []
    for title, shown in (("Worst plans", tally.worst), ("Best plans", tally.best)):
        if shown:
            parts += [words(title, HEAD, width), *_plans(shown)]
    return as_png(framed(stacked(parts, _GAP), width + 2 * _GAP, _GAP))


def _plans(shown: Iterable[Shown]) -> list[PIL.Image.Image]:
    from ..executor import apply
    from ..planning.report.contents import in_words
    from ..planning.report.drawing import BODY, SMALL, beside, stacked, words
    from ..planning.report.palette import FAINT

    rows = []
    for _, _, sample, planned in shown:
        before, after = sample.photos()
        photos = (before, apply(planned.recipe, before), after)
        pictures = [
            stacked([_square(photo), words(caption, SMALL, _SIDE, FAINT)], 6)
            for photo, caption in zip(photos, ("before", "planned", "target"), strict=True)
        ]
        costs = f"off by {in_words(planned.start_cost)} before, {in_words(planned.cost)} after"
        said = [
            words(planned.recipe.describe(), BODY, _CELL),
            words(costs, SMALL, _CELL),
            words(sample.name, SMALL, _CELL, FAINT),
        ]
        rows.append(beside([beside(pictures, 6), stacked(said, 8)], _GAP))
    return rows


def _square(image: Image) -> PIL.Image.Image:
    """The photo as it looks on a screen, centred in a square."""
    from ..planning.report.drawing import canvas, fitted

    small = fitted(PIL.Image.fromarray(to_uint8(image.resized(_SIDE).to_srgb().pixels)), _SIDE)
    whole = canvas(_SIDE, _SIDE)
    whole.paste(small, ((_SIDE - small.width) // 2, (_SIDE - small.height) // 2))
    return whole

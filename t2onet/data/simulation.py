"""Simulated datasets: sentences drawn by `SentenceMaker`, and the edits that they ask for, of your photos.

A dataset is laid out as MA5k-Req: `annotations/{train,val}_sess_1.json` and `images/`. An entry has the
published fields (input, output, request) and what only a simulation knows: the photo it came from, and what
the request asks for. The wishes of a sentence are known, so the editor meets them without reading it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ..editor import make_thumbnail
from ..editor.answer import answer_reading
from ..editor.policy import THUMBNAIL_SIDE
from ..errors import DataError, ImageError, OutputError
from ..executor import apply
from ..image import Image, image_from_array, open_image, write_atomically
from ..image.files import write_folder_atomically
from ..language.reader import DecodedWish, Reading, attach_quantities, split_words
from ..language.wishes import (
    AMOUNTS,
    COMMANDS,
    GEOMETRY,
    STYLES,
    Direction,
    Intent,
    Outcome,
    Role,
    Wish,
    get_attributes,
)
from ..metrics.attributes import check_followed, measure_changes
from ..recipe import Recipe
from .dataset import Problem
from .marks import MarkedSentence
from .sentences import SentenceMaker

PER_PHOTO = 5
"""Samples of a photo, by default."""
_QUALITY = 95
_UNLABELLED = (*COMMANDS, *GEOMETRY)
"""What is said to the program, and what changes the size of a photo: no pair of pictures for these."""


@dataclass(frozen=True)
class SimulatedEdit:
    """A sentence, the picture after what it asks for was done, and what that is.

    `mood` is set where the photo decides what is done, `unanswerable` where something cannot be done.
    """

    request: str
    picture: Image
    intents: tuple[Intent, ...] = ()
    mood: str = ""
    unanswerable: str = ""


@dataclass(frozen=True)
class SimulatedCounts:
    """How many samples were written to each split, and the photos that could not be read."""

    counts: dict[str, int]
    problems: tuple[Problem, ...]


def draw_edit(maker: SentenceMaker, photo: Image) -> SimulatedEdit:
    """Draw sentences until one is answered by a picture that shows all it asks for, or cannot be answered."""
    thumbnail = make_thumbnail(photo, THUMBNAIL_SIDE)
    while True:
        edit = _try_sentence(maker.draw(), photo, thumbnail)
        if edit is not None:
            return edit


def read_marked(sentence: MarkedSentence) -> Reading:
    """The wishes of a sentence as the reader would give them if it never erred."""
    words = split_words(sentence.text)
    decoded = []
    for marked in sentence.wishes:
        spans = [*([marked.head] if marked.head else []), *marked.spans]
        members = frozenset(
            number
            for number, word in enumerate(words)
            if any(word.start < end and word.end > start for start, end in spans)
        )
        looks = ((marked.look, 1.0),) if marked.look else ()
        decoded.append(DecodedWish(replace(marked.wish, looks=looks), min(members, default=0), members))
    return Reading(sentence.text, tuple(attach_quantities(decoded, words, sentence.text)))


def _try_sentence(sentence: MarkedSentence, photo: Image, thumbnail: np.ndarray) -> SimulatedEdit | None:
    if any(one.wish.what in _UNLABELLED or one.wish.role is Role.QUESTION for one in sentence.wishes):
        return None
    answer = answer_reading(read_marked(sentence), thumbnail, Recipe())
    asked = [wish for wish in answer.wishes if wish.role is Role.ASK]
    refused = [wish.what for wish in asked if wish.outcome is Outcome.DECLINED]
    unanswerable = refused[0] if refused else "" if asked else "chat"
    done = [wish for wish in asked if wish.outcome is Outcome.DONE]
    if not done:
        return SimulatedEdit(sentence.text, photo, unanswerable=unanswerable)
    intents = [intent for wish in done for intent in _list_intents(wish)]
    moods = [_name_mood(wish) for wish in done if wish.what in STYLES or wish.direction is Direction.FIX]
    if len({intent.attribute for intent in intents}) < len(intents) or not (intents or moods):
        return None
    edited = open_image(apply(answer.recipe, photo))
    before, after = (one.pixels.transpose(2, 0, 1) / 255 for one in (photo, edited))
    if not all(check_followed(measure_changes(before, after), intents)):
        return None
    return SimulatedEdit(sentence.text, edited, tuple(intents), "".join(moods[:1]), unanswerable)


def _list_intents(wish: Wish) -> list[Intent]:
    moved = get_attributes(wish.what, wish.direction, wish.where, wish.hue)
    return [Intent(attribute, sign, AMOUNTS[wish.amount.value]) for attribute, sign in moved]


def _name_mood(wish: Wish) -> str:
    return wish.looks[0][0] if wish.looks else "better"


@dataclass
class _SimulationRun:
    """What is carried from photo to photo."""

    folder: Path
    size: int
    maker: SentenceMaker
    entries: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    problems: dict[Path, Problem] = field(default_factory=dict)

    @property
    def written(self) -> int:
        return sum(map(len, self.entries.values()))


def simulate(
    photos: Sequence[Path],
    folder: Path,
    *,
    count: int | None = None,
    seed: int = 0,
    size: int = 256,
    val: float = 0.1,
    progress: Callable[[int], None] = lambda written: None,
) -> SimulatedCounts:
    """Write `count` samples, by default five a photo, shared out evenly over the photos that can be read.

    `val` is the share of photos whose samples are set apart for validation, `size` the most pixels of a short
    side. The same photos, seed and sizes give the same bytes. Nothing is left behind on failure.
    """
    count = _check_options(photos, count, size, val)
    if folder.exists():
        raise OutputError(f"{folder} exists already; give another folder")
    if not folder.parent.is_dir():
        raise OutputError(f"{folder}: there is no folder {folder.parent}; create it first")
    splits = dict(zip(photos, _draw_splits(len(photos), val, seed), strict=True))
    with write_folder_atomically(folder) as place:
        for part in ("images", "annotations"):
            (place / part).mkdir()
        run = _SimulationRun(place, size, SentenceMaker(seed))
        while run.written < count:
            _visit_photos(run, splits, count, progress)
        for name, entries in run.entries.items():
            lines = ",\n".join(json.dumps(entry) for entry in entries)
            path = place / "annotations" / f"{name}_sess_1.json"
            write_atomically(path, f"[\n{lines}\n]\n".encode(), overwrite=False)
    counts = {name: len(entries) for name, entries in run.entries.items()}
    return SimulatedCounts(counts, tuple(run.problems.values()))


def _check_options(photos: Sequence[Path], count: int | None, size: int, val: float) -> int:
    if not photos:
        raise DataError("there are no photos to simulate requests for; give photos or folders")
    if len(set(photos)) < len(photos):
        raise DataError("a photo is given twice; give each once, so that no split has what another has")
    if size < 16:
        raise DataError(f"a short side of {size} pixels shows no edit; give at least 16")
    if not 0 <= val < 1:
        raise DataError(f"a validation share of {val:g} is not possible; give 0 to less than 1")
    if count is not None and count < 1:
        raise DataError(f"{count} samples make no dataset; give at least 1")
    return PER_PHOTO * len(photos) if count is None else count


def _draw_splits(count: int, val: float, seed: int) -> list[str]:
    """The split of each photo; where a share is set apart and there are two photos, neither is empty."""
    apart = round(val * count) if not val or count < 2 else min(max(1, round(val * count)), count - 1)
    chosen = set(np.random.default_rng(seed).permutation(count)[:apart].tolist())
    return ["val" if number in chosen else "train" for number in range(count)]


def _visit_photos(
    run: _SimulationRun, splits: dict[Path, str], count: int, progress: Callable[[int], None]
) -> None:
    """Each photo once, with its share of what is still to be written; unreadable ones pass theirs on."""
    usable = [path for path in splits if path not in run.problems]
    for number, path in enumerate(usable):
        try:
            photo = open_image(path).to_srgb().resize(run.size)
        except ImageError as error:
            run.problems[path] = Problem(str(path), str(error))
            continue
        photo = image_from_array(photo.pixels)  # without metadata
        for _ in range(ceil((count - run.written) / (len(usable) - number))):
            _write_sample(run, photo, path, splits[path])
            progress(run.written)
    if len(run.problems) == len(splits):
        first = next(iter(run.problems.values()))
        if len(splits) == 1:
            raise DataError(f"the photo cannot be read: {first.reason}")
        raise DataError(f"none of the {len(splits)} photos can be read; of the first: {first.reason}")


def _write_sample(run: _SimulationRun, photo: Image, source: Path, split: str) -> None:
    edit = draw_edit(run.maker, photo)
    names = [f"{run.written:06d}_{role}.jpg" for role in ("before", "after")]
    for name, picture in zip(names, (photo, edit.picture), strict=True):
        picture.save(run.folder / "images" / name, quality=_QUALITY)
    entry: dict[str, Any] = {
        "input": names[0],
        "output": names[1],
        "request": edit.request,
        "intents": [asdict(intent) for intent in edit.intents],
        "source": source.name,
    }
    optional = {"mood": edit.mood, "unanswerable": edit.unanswerable}
    run.entries.setdefault(split, []).append(entry | {name: text for name, text in optional.items() if text})

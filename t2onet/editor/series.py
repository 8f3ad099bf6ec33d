"""Series: photos of one scene get one look, whatever their exposure and white balance.

Photos are grouped into scenes by when they were taken and what they show. In each scene the request is
answered on the middle photo, its guide. The others get the same steps, with exposure and white balance moved
so that they come out as light, as warm and as tinted as the guide does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import operations
from ..executor import PhotoLike, PictureRenderer
from ..image import Image, open_image
from ..image.colour import srgb_to_lab
from ..image.metadata import read_capture_time
from ..language.reader import Reader
from ..options import DEFAULT_MODE, DEFAULT_READER, Mode, ReaderName
from ..recipe import Recipe, Step
from .check import shrink_picture
from .editor import Editor
from .edits import Edit
from .explain import describe_changes
from .policy import THUMBNAIL_SIDE, make_thumbnail

_GRID = 16
"""Cells a side in which photos are compared."""
_SHIFT = 1
"""Cells by which the framing of two photos may differ."""
_COLOURLESS = 4.0
"""Spread of a* and b* at which colours count as much as the layout of light when photos are compared."""
_MIN_LIKENESS = ((20.0, 0.3), (300.0, 0.55), (3600.0, 0.75))
"""Photos taken within so many seconds are one scene from this likeness on; later ones are not."""
_MIN_LIKENESS_UNTIMED = 0.75
"""The same where a photo does not say when it was taken."""
_LEVELS = (
    ("exposure", "ev", 2.5, 0.1),
    ("white_balance", "temperature", 80.0, 5.0),
    ("white_balance", "tint", 50.0, 5.0),
)
"""What is moved to make photos alike: operation, parameter, the most, and the step it is tried with."""
_ROUNDS = 8
_CLOSE = 0.1
"""Difference of mean L*, a* and b* that is near enough."""
_DAMPING = 1e-3


@dataclass(frozen=True)
class SeriesPhoto:
    """What is compared of a photo: its small picture (3, side, side) and when it was taken, in seconds."""

    picture: np.ndarray
    taken: float | None = None

    @classmethod
    def of(cls, photo: Image) -> SeriesPhoto:
        return cls(make_thumbnail(photo, THUMBNAIL_SIDE), read_capture_time(photo.origin.exif))

    @cached_property
    def colour(self) -> np.ndarray:
        """Mean L*, a* and b*."""
        return _average_lab(self.picture)

    @cached_property
    def layout(self) -> np.ndarray:
        """(3, grid, grid): ranks of lightness, and a* and b* around their means; alike at any exposure."""
        side = self.picture.shape[-1] // _GRID
        cells = self.picture.reshape(3, _GRID, side, _GRID, side).mean((2, 4))
        lab = srgb_to_lab(cells.astype(float))
        ranks = np.argsort(np.argsort(lab[0], axis=None)).reshape(1, _GRID, _GRID)
        return np.concatenate([ranks / (_GRID**2 - 1) - 0.5, lab[1:] - lab[1:].mean((1, 2), keepdims=True)])


def measure_likeness(one: SeriesPhoto, other: SeriesPhoto) -> float:
    """How alike two photos are that may be framed a little differently: 1 for the same, .2 for strangers."""
    return max(
        _compare_layouts(_shift(one.layout, down, right), _shift(other.layout, -down, -right))
        for down in range(-_SHIFT, _SHIFT + 1)
        for right in range(-_SHIFT, _SHIFT + 1)
    )


def _shift(layout: np.ndarray, down: int, right: int) -> np.ndarray:
    """What is left of a layout (3, grid, grid) that is moved by cells."""
    rows, columns = (slice(max(by, 0), _GRID + min(by, 0)) for by in (down, right))
    return layout[:, rows, columns]


def _compare_layouts(one: np.ndarray, other: np.ndarray) -> float:
    spread = min(float(one[1:].std()), float(other[1:].std()))
    weight = spread / (spread + _COLOURLESS)
    return (_correlate(one[:1], other[:1]) + weight * _correlate(one[1:], other[1:])) / (1 + weight)


def _correlate(one: np.ndarray, other: np.ndarray) -> float:
    one, other = (plane - plane.mean((1, 2), keepdims=True) for plane in (one, other))
    return float((one * other).sum() / max(math.sqrt((one**2).sum() * (other**2).sum()), 1e-9))


def group_scenes(photos: Sequence[SeriesPhoto]) -> list[list[int]]:
    """The positions of the photos of each scene, in the order of time.

    Photos that do not say when they were taken stand where they are given.
    """
    times = [photo.taken for photo in photos]
    order = list(range(len(photos)))
    if None not in times:
        order.sort(key=lambda at: times[at] or 0.0)
    scenes: list[list[int]] = []
    for at in order:
        if scenes and _is_same_scene([photos[other] for other in scenes[-1]], photos[at]):
            scenes[-1].append(at)
        else:
            scenes.append([at])
    return scenes


def _is_same_scene(scene: Sequence[SeriesPhoto], photo: SeriesPhoto) -> bool:
    """Whether a photo is like the last of a scene, or like any that was taken as shortly before."""
    return any(measure_likeness(other, photo) >= _get_least_likeness(other, photo) for other in scene)


def _get_least_likeness(one: SeriesPhoto, other: SeriesPhoto) -> float:
    if one.taken is None or other.taken is None:
        return _MIN_LIKENESS_UNTIMED
    gap = abs(one.taken - other.taken)
    return next((least for seconds, least in _MIN_LIKENESS if gap <= seconds), math.inf)


def find_guide(photos: Sequence[SeriesPhoto], scene: Sequence[int]) -> int:
    """The photo of a scene that is nearest to the medians of lightness and colour."""
    colours = np.array([photos[at].colour for at in scene])
    distances = np.abs(colours - np.median(colours, axis=0)).sum(1)
    return scene[int(distances.argmin())]


def level(recipe: Recipe, guide: np.ndarray, picture: np.ndarray) -> Recipe:
    """The recipe of a guide for another photo of its scene: with it both come out alike.

    `guide` and `picture` (3, side, side) are both photos before the recipe. Exposure and white balance are
    moved, within limits; local steps and geometry stay as they are and are left out of the comparison.
    """
    common = recipe.model_copy(
        update={"steps": tuple(step for step in recipe.steps if not _is_partial(step))}
    )
    wanted = _average_lab(PictureRenderer(shrink_picture(guide)).render(common))
    renderer = PictureRenderer(shrink_picture(picture))

    def miss(moves: np.ndarray) -> np.ndarray:
        renderer.forget()
        means = _average_lab(renderer.render(_move(common, moves)))
        return np.asarray(wanted - means)

    most, tried = (np.array([row[number] for row in _LEVELS], float) for number in (2, 3))
    moves = np.zeros(len(_LEVELS))
    missed = miss(moves)
    for _ in range(_ROUNDS):
        if np.abs(missed).max() <= _CLOSE:
            break
        slopes = np.stack(
            [missed - miss(moves + row) for row in np.diag(tried)], axis=1
        )  # by how much each try moves the means
        scale = _DAMPING * max(float((slopes**2).sum()), 1e-9)
        step = np.linalg.solve(slopes.T @ slopes + scale * np.eye(len(moves)), slopes.T @ missed)
        nearer = np.clip(moves + step * tried, -most, most)
        after = miss(nearer)
        if (after**2).sum() >= (missed**2).sum():
            break
        moves, missed = nearer, after
    return _move(recipe, moves)


def _is_partial(step: Step) -> bool:
    return step.is_local or step.is_geometry or step.is_repair


def _move(recipe: Recipe, moves: np.ndarray) -> Recipe:
    """The recipe with exposure and white balance moved; numbers are rounded as a person would set them."""
    for (name, parameter, _, step), move in zip(_LEVELS, moves.tolist(), strict=True):
        rounded = round(move, 2 if step < 1 else 0)
        if rounded:
            operation = operations.get_operation(name)
            at = recipe.find_step(name)
            values = operation.defaults if at is None else recipe.steps[at].parameters
            slot = operation.slot_labels.index(parameter)
            moved = [value + rounded * (number == slot) for number, value in enumerate(values)]
            recipe = recipe.adjust(name, list(operation.clip(moved)))
    return recipe


def _average_lab(picture: np.ndarray) -> np.ndarray:
    """(3,): mean L*, a* and b* of a picture."""
    means: np.ndarray = srgb_to_lab(picture.astype(float)).reshape(3, -1).mean(1)
    return means


@dataclass(frozen=True)
class SeriesEdit:
    """The edit of a photo of a series, and the position of the guide of its scene.

    Its `photo` is that of the guide; a caller puts the right one in its place.
    """

    edit: Edit
    guide: int


def plan_series(
    photos: Sequence[SeriesPhoto], answer: Callable[[int], Edit], *, like: int | None = None
) -> list[SeriesEdit]:
    """An edit for each photo; `answer` answers the request on the photo at a position.

    With `like`, all photos are one scene, and that photo is its guide. Where the request cannot be met on a
    guide, each photo of its scene is answered by itself.
    """
    planned: dict[int, SeriesEdit] = {}
    scenes = group_scenes(photos) if like is None else [list(range(len(photos)))]
    for scene in scenes:
        guide = find_guide(photos, scene) if like is None else like
        first = answer(guide)
        for at in scene:
            if at == guide or not first.answered:
                planned[at] = SeriesEdit(first if at == guide else answer(at), at)
                continue
            recipe = level(first.recipe, photos[guide].picture, photos[at].picture)
            reply = describe_changes(Recipe(), recipe)
            planned[at] = SeriesEdit(replace(first, recipe=recipe, reply=reply), guide)
    return [planned[at] for at in range(len(photos))]


def edit_series(
    photos: Sequence[PhotoLike],
    request: str,
    *,
    mode: Mode = DEFAULT_MODE,
    reader: Reader | ReaderName = DEFAULT_READER,
    like: int | None = None,
) -> list[Edit]:
    """Edit photos so that those of one scene get one look; `like` is the position of the photo to follow.

    All photos stay in memory; `t2o edit --consistent` edits folders of any size.
    """
    images = [open_image(photo) for photo in photos]

    def answer(at: int) -> Edit:
        return Editor(images[at], reader=reader).ask(request, mode=mode)

    planned = plan_series([SeriesPhoto.of(image) for image in images], answer, like=like)
    return [replace(one.edit, photo=image) for one, image in zip(planned, images, strict=True)]

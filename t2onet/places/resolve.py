"""From `where` to a mask of a photo of any size, in bands.

Ranges are measured on every pixel at full resolution, positions and gradients in shares of the frame, and
distances are in proportion to the photo's short side: the masks of a preview and of the export agree.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import PIL.Image
import PIL.ImageFilter

from ..bands import CancelToken, Pixels, Rows, load_tile, run_in_threads, split_rows
from ..errors import PlaceError
from ..image import Image, image_from_array
from ..image.photo import resize_array
from ..image.pixels import Scratch, to_depth, to_uint8
from ..operations import REFERENCE_SHORT_SIDE, Frame
from ..recipe.mask import Change, blend_by_weights
from ..recipe.where import (
    HUES,
    POSITIONS,
    TONES,
    Area,
    Joined,
    Linear,
    Named,
    Radial,
    Refined,
    Where,
    list_inner,
    to_area,
)
from .named import PICTURE_SIDE, SnappedMask, find_place
from .ranges import TileColours, weigh_range
from .shapes import weigh_linear, weigh_position, weigh_radial

_SMALL_GAP = 3.0
"""Blocks of a photo are averaged to this many times the size of its small picture, or more."""


@dataclass(frozen=True)
class OpenedPhoto:
    """The photo that places are looked for on: as it was opened, in the frame that a step sees.

    Earlier steps do not move a place, as they would if it were measured on their result.
    """

    image: Image

    @property
    def pixels(self) -> Pixels:
        return self.image.pixels

    def with_pixels(self, pixels: Pixels) -> OpenedPhoto:
        """The same photo in another frame."""
        return OpenedPhoto(replace(image_from_array(pixels), origin=self.image.origin))

    @cached_property
    def small_picture(self) -> np.ndarray:
        """(3, H, W) in sRGB from 0 to 1, its long side at most PICTURE_SIDE pixels."""
        height, width = self.pixels.shape[:2]
        share = min(PICTURE_SIDE / max(height, width), 1.0)
        size = max(round(width * share), 1), max(round(height * share), 1)
        small = self.with_pixels(resize_array(self.pixels, size, reducing_gap=_SMALL_GAP)).image.to_srgb()
        return np.ascontiguousarray(to_depth(small.pixels, np.float32).transpose(2, 0, 1))

    @cached_property
    def _found(self) -> dict[str, np.ndarray | PlaceError]:
        return {}

    def find(self, name: str) -> np.ndarray | PlaceError:
        """The soft mask (h, w) of a named place, or why there is none; looked for once."""
        if name not in self._found:
            try:
                self._found[name] = find_place(name, self.small_picture)
            except PlaceError as error:
                self._found[name] = error
        return self._found[name]


def resolve_where(
    where: Where,
    photo: OpenedPhoto,
    *,
    compiled: bool = False,
    threads: int = 1,
    cancel: CancelToken | None = None,
) -> np.ndarray:
    """The mask (H, W) uint8 of a place: 255 inside, 0 outside, soft in between; see `PlaceMasks.add`."""
    masks = PlaceMasks(photo, compiled=compiled, threads=threads, cancel=cancel)
    return masks.fill(masks.add(where))


@dataclass
class _Tile:
    """Some rows of the photo, and what is known of the whole photo beforehand."""

    colours: TileColours
    frame: Frame
    refined: Mapping[Refined, np.ndarray]
    found: Mapping[str, SnappedMask]
    _weights: dict[Area, np.ndarray] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        height, width = self.colours.tile.shape[1:]
        return height, width

    def weigh(self, area: Area) -> np.ndarray:
        """How far each pixel belongs to an area, from 0 to 1, computed once; broadcasts to the tile."""
        if area not in self._weights:
            self._weights[area] = self._weigh(area)
        return self._weights[area]

    def _weigh(self, area: Area) -> np.ndarray:
        match area:
            case Named(name):
                return self._weigh_name(name)
            case Linear():
                return weigh_linear(area, self.frame, *self.shape)
            case Radial():
                return weigh_radial(area, self.frame, *self.shape)
            case Joined(joint, parts):
                return _join(joint, [self.weigh(part) for part in parts])
            case Refined(part):
                return self._read_refined(area) if area.is_spatial else 1 - self.weigh(part)

    def _weigh_name(self, name: str) -> np.ndarray:
        if name in TONES or name in HUES:
            return weigh_range(name, self.colours)
        if name in POSITIONS:
            return weigh_position(name, self.frame, *self.shape)
        return self.found[name].weigh(self.colours.tile, self.frame, compiled=self.colours.compiled)

    def _read_refined(self, area: Refined) -> np.ndarray:
        rows = self.refined[area][self.frame.top : self.frame.top + self.shape[0]]
        return np.asarray(np.divide(rows, 255, dtype=np.float32))


def _join(joint: str, weights: list[np.ndarray]) -> np.ndarray:
    """Products for `and` and `except`; sums up to one for `or`, so that neighbouring ranges leave no seam."""
    result, *others = weights
    for other in others:
        if joint == "or":
            result = np.minimum(result + other, 1)
        else:
            result = result * (other if joint == "and" else 1 - other)
    return result


class _LastTile(threading.local):
    """The rows that a thread looked at last, and the memory of their tile."""

    rows: Rows | None = None
    tile: _Tile

    def __init__(self) -> None:
        self.scratch = Scratch()


class PlaceMasks:
    """Masks of places in one photo, computed on the bands that a thread works on.

    What needs the whole photo is computed when a place is added: the fits of named places, and the parts that
    are grown or softened. Places share the tile of a band and what is measured on it.
    """

    def __init__(
        self,
        photo: OpenedPhoto,
        *,
        compiled: bool = False,
        threads: int = 1,
        cancel: CancelToken | None = None,
    ) -> None:
        self._photo, self._compiled = photo, compiled
        self._threads, self._cancel = threads, cancel
        self._refined: dict[Refined, np.ndarray] = {}
        self._found: dict[str, SnappedMask] = {}
        self._last = _LastTile()

    def add(self, where: Where) -> Area:
        """Prepare the mask of a place.

        Raises PlaceError where nothing of it can be in the photo: "sky" in a photo without sky. What is left
        out or inverted, or one of several, need not be there: "not sky" is then all of the photo.
        """
        area = to_area(where)
        if (missing := self._find_missing(area)) is not None:
            raise missing
        self._prepare(area)
        return area

    def fill(self, area: Area) -> np.ndarray:
        """The whole mask (H, W) uint8 of an area that was added."""
        if isinstance(area, Refined) and area.is_spatial:
            return self._refined[area]
        height, width = self._photo.pixels.shape[:2]
        levels = np.empty((height, width), np.uint8)

        def fill_band(rows: Rows) -> None:
            levels[slice(*rows)] = to_uint8(np.asarray(self.weigh_rows(area, rows), np.float32))

        for _ in run_in_threads(fill_band, split_rows(height, width), self._threads, self._cancel):
            pass
        return levels

    def weigh_rows(self, area: Area, rows: Rows) -> np.ndarray:
        """The mask of some rows of an area that was added, from 0 to 1."""
        tile = self._look_at(rows)
        return np.broadcast_to(tile.weigh(area), tile.shape)

    def _look_at(self, rows: Rows) -> _Tile:
        last = self._last
        if last.rows != rows:
            tile = load_tile(self._photo.pixels[slice(*rows)], last.scratch, self._compiled)
            colours = TileColours(tile, compiled=self._compiled)
            height, width = self._photo.pixels.shape[:2]
            frame = Frame(height, width, 1.0).at(rows[0])
            last.rows, last.tile = rows, _Tile(colours, frame, self._refined, self._found)
        return last.tile

    def _prepare(self, area: Area) -> None:
        for part in _list_outer_parts(area):
            if isinstance(part, Refined) and part.is_spatial and part not in self._refined:
                self._prepare(part.part)
                self._refined[part] = _refine(self.fill(part.part), part)
            elif isinstance(part, Named) and part.name not in (*TONES, *HUES, *POSITIONS, *self._found):
                self._found[part.name] = self._snap(part.name)

    def _find_missing(self, area: Area) -> PlaceError | None:
        """Why nothing of an area can be in the photo; None where some of it can."""
        match area:
            case Named(name):
                found = None if name in (*TONES, *HUES, *POSITIONS) else self._photo.find(name)
                return found if isinstance(found, PlaceError) else None
            case Joined("except", (first, *_)):
                return self._find_missing(first)
            case Joined(joint, parts):
                reasons = [self._find_missing(part) for part in parts]
                if joint == "or":
                    return None if None in reasons else reasons[0]
                return next((reason for reason in reasons if reason is not None), None)
            case Refined(part, invert=False):
                return self._find_missing(part)
        return None

    def _snap(self, name: str) -> SnappedMask:
        found, picture = self._photo.find(name), self._photo.small_picture
        mask = np.zeros((2, 2), np.float32) if isinstance(found, PlaceError) else found
        return SnappedMask.fit(mask, picture, compiled=self._compiled)


@dataclass(frozen=True)
class PlaceCoverage:
    """A place among the masks of a photo, as what a step covers."""

    masks: PlaceMasks
    area: Area

    def blend(
        self, tile: np.ndarray, frame: Frame, change: Change, reach: int, *, compiled: bool = False
    ) -> np.ndarray:
        """Blend `change` into a tile of whole rows where the place is; see `blend_by_weights`."""
        weights = self.masks.weigh_rows(self.area, (frame.top, frame.top + tile.shape[1]))
        rows, columns = np.flatnonzero(weights.max(axis=1)), np.flatnonzero(weights.max(axis=0))
        if not len(rows):
            return tile
        inside = weights[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        part = int(rows[0]), int(columns[0]), np.ascontiguousarray(inside, np.float32)
        return blend_by_weights(tile, frame, part, change, reach, compiled=compiled)


def _list_outer_parts(area: Area) -> list[Area]:
    """An area and everything inside it, but for what is inside of parts that need the whole photo."""
    if isinstance(area, Refined) and area.is_spatial:
        return [area]
    return [area, *(part for one in list_inner(area) for part in _list_outer_parts(one))]


def list_refined(where: Where) -> list[Refined]:
    """The parts of a place whose masks are kept for the whole photo: those that are grown or softened."""
    return [part for part in _list_parts(to_area(where)) if isinstance(part, Refined) and part.is_spatial]


def _list_parts(area: Area) -> list[Area]:
    """An area and everything inside it."""
    return [area, *(part for one in list_inner(area) for part in _list_parts(one))]


def _refine(levels: np.ndarray, refined: Refined) -> np.ndarray:
    """Levels (H, W) grown, softened and inverted."""
    scale = min(levels.shape) / REFERENCE_SHORT_SIDE
    levels = grow(levels, refined.grow * scale)
    if refined.soften:
        blur = PIL.ImageFilter.GaussianBlur(refined.soften * scale)
        levels = np.asarray(PIL.Image.fromarray(levels).filter(blur))
    return 255 - levels if refined.invert else levels


def grow(levels: np.ndarray, pixels: float) -> np.ndarray:
    """The highest level up to `pixels` away along rows and columns; below 0, the lowest.

    Between whole pixels it is a mixture, so that a preview grows as much as the export.
    """
    if pixels < 0:
        return 255 - grow(255 - levels, -pixels)
    whole, share = int(pixels), pixels - int(pixels)
    levels = _grow_whole(levels, whole)
    if share:
        levels += np.rint(share * (_grow_whole(levels, 1) - levels)).astype(np.uint8)
    return levels


def _grow_whole(levels: np.ndarray, pixels: int) -> np.ndarray:
    for _ in range(2):
        levels = _grow_rows(levels, pixels).T
    return np.ascontiguousarray(levels)


def _grow_rows(levels: np.ndarray, pixels: int) -> np.ndarray:
    """The highest of 2 * pixels + 1 rows, by windows that double."""
    padded = np.pad(levels, ((pixels, pixels), (0, 0)))
    window, wanted = 1, 2 * pixels + 1
    while window < wanted:
        step = min(window, wanted - window)
        padded = np.maximum(padded[:-step], padded[step:])
        window += step
    return padded

"""From `where` to a mask (H, W) uint8 of a photo of any size, in bands.

Ranges are measured on every pixel at full resolution, positions and gradients in shares of the frame, and
distances are in proportion to the photo's short side: the masks of a preview and of the export agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import PIL.Image
import PIL.ImageFilter

from ..bands import CancelToken, Pixels, Rows, run_in_threads, split_rows
from ..errors import PlaceError
from ..image import Image, image_from_array
from ..image.photo import resize_array
from ..image.pixels import to_depth, to_uint8
from ..operations import REFERENCE_SHORT_SIDE, Frame
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
        small = self.with_pixels(resize_array(self.pixels, size)).image.to_srgb()
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
    """The mask (H, W) uint8 of a place: 255 inside, 0 outside, soft in between.

    Raises PlaceError where nothing of it can be in the photo: "sky" in a photo without sky. What is left out
    or inverted, or one of several, need not be there: "not sky" is then all of the photo.
    """
    area = to_area(where)
    resolver = _Resolver(photo, compiled, threads, cancel)
    if (missing := resolver.find_missing(area)) is not None:
        raise missing
    return resolver.resolve(area)


@dataclass(frozen=True)
class _Tile:
    """Some rows of the photo, and what is known of the whole photo beforehand."""

    colours: TileColours
    frame: Frame
    refined: Mapping[Refined, np.ndarray]
    found: Mapping[str, SnappedMask]

    @property
    def shape(self) -> tuple[int, int]:
        height, width = self.colours.tile.shape[1:]
        return height, width

    def weigh(self, area: Area) -> np.ndarray:
        """How far each pixel belongs to an area, from 0 to 1; broadcasts to the tile."""
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


@dataclass(frozen=True)
class _Resolver:
    photo: OpenedPhoto
    compiled: bool
    threads: int
    cancel: CancelToken | None

    def resolve(self, area: Area) -> np.ndarray:
        if isinstance(area, Refined) and area.is_spatial:
            return _refine(self.resolve(area.part), area)
        height, width = self.photo.pixels.shape[:2]
        levels = np.empty((height, width), np.uint8)
        parts = set(_list_outer_parts(area))
        refined = {
            part: self.resolve(part) for part in parts if isinstance(part, Refined) and part.is_spatial
        }
        names = {part.name for part in parts if isinstance(part, Named)}
        found = {name: self._snap(name) for name in names.difference(TONES, HUES, POSITIONS)}

        def fill_band(rows: Rows) -> None:
            tile = _Tile(self._load(rows), Frame(height, width, 1.0).at(rows[0]), refined, found)
            levels[slice(*rows)] = to_uint8(np.asarray(tile.weigh(area), np.float32))

        for _ in run_in_threads(fill_band, split_rows(height, width), self.threads, self.cancel):
            pass
        return levels

    def _load(self, rows: Rows) -> TileColours:
        values = to_depth(self.photo.pixels[slice(*rows)], np.float32).transpose(2, 0, 1)
        return TileColours(np.ascontiguousarray(np.clip(values, 0, 1)), compiled=self.compiled)

    def find_missing(self, area: Area) -> PlaceError | None:
        """Why nothing of an area can be in the photo; None where some of it can."""
        match area:
            case Named(name):
                found = None if name in (*TONES, *HUES, *POSITIONS) else self.photo.find(name)
                return found if isinstance(found, PlaceError) else None
            case Joined("except", (first, *_)):
                return self.find_missing(first)
            case Joined(joint, parts):
                reasons = [self.find_missing(part) for part in parts]
                if joint == "or":
                    return None if None in reasons else reasons[0]
                return next((reason for reason in reasons if reason is not None), None)
            case Refined(part, invert=False):
                return self.find_missing(part)
        return None

    def _snap(self, name: str) -> SnappedMask:
        found, picture = self.photo.find(name), self.photo.small_picture
        mask = np.zeros((2, 2), np.float32) if isinstance(found, PlaceError) else found
        return SnappedMask.fit(mask, picture)


def _list_outer_parts(area: Area) -> list[Area]:
    """An area and everything inside it, but for what is inside of parts that need the whole photo."""
    if isinstance(area, Refined) and area.is_spatial:
        return [area]
    return [area, *(part for one in list_inner(area) for part in _list_outer_parts(one))]


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

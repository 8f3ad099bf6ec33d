"""Places: masked steps on working pictures, and evidence that something was removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import operations
from ..executor import intermediates
from ..recipe import Mask, Recipe
from .pictures import Action, Picture
from .segments import Region, resize_region

# Where a step may work, and the pixels that stand for it.
#
# A place is a mask candidate over the working picture. Steps are solved and compared on a sample of its
# pixels,
# each amid the neighbours that operations look at, so a large photo costs little more than a small one.

MASK_SAMPLE = 4096
"""Pixels that stand for a place."""
_RANKING_SIDE = 200
"""Short side, in pixels, at which places are compared with what changed."""

_SPANNING_SHARE = 0.6
"""Of a side of the picture: a mask with its middle four fifths spread further has no place along it."""


@dataclass(frozen=True, eq=False)
class PixelSample:
    """Some pixels of a picture (H, W), each in the middle of a square of its neighbours.

    `rows` and `columns` are (D, D K): K squares of D = 2 reach + 1 pixels, side by side. An operation that
    looks no further than `reach` finds around each middle what it finds in the picture.
    """

    rows: np.ndarray
    columns: np.ndarray
    reach: int

    @classmethod
    def inside(cls, region: Region, reach: int, size: int = MASK_SAMPLE) -> PixelSample:
        """At most about `size` pixels, spread evenly over a mask and without a pattern."""
        found = np.flatnonzero(region)
        if found.size > size:
            jittered = np.arange(size) + np.random.default_rng(0).random(size)
            found = found[(jittered * (found.size / size)).astype(int)]
        height, width = region.shape
        rows, columns = np.divmod(found, width)
        aside = np.arange(-reach, reach + 1)
        across = (columns[:, None] + aside).reshape(-1)
        down = np.repeat(rows, aside.size) + aside[:, None]
        return cls(
            np.clip(down, 0, height - 1), np.clip(np.broadcast_to(across, down.shape), 0, width - 1), reach
        )

    def of(self, picture: Picture) -> Picture:
        """(..., D, D K) of a picture or mask (..., H, W)."""
        return np.ascontiguousarray(picture[..., self.rows, self.columns])

    @cached_property
    def middle(self) -> Region:
        """(D, D K): which of its pixels are in the middle."""
        middle = np.zeros(self.rows.shape, bool)
        self.middles(middle)[...] = True
        return middle

    def middles(self, squares: np.ndarray) -> np.ndarray:
        """(..., R, K) of R rows of squares (..., R D, D K)."""
        side = 2 * self.reach + 1
        return squares[..., self.reach :: side, self.reach :: side]


@dataclass(frozen=True, eq=False)
class MaskCandidate:
    """A candidate: its mask as given (None: everywhere), over a working picture (H, W)."""

    region: Region | None
    shape: tuple[int, int]

    @cached_property
    def inside(self) -> Region:
        """(H, W)."""
        return np.ones(self.shape, bool) if self.region is None else resize_region(self.region, *self.shape)

    @cached_property
    def small(self) -> Region:
        """The same, thinned out."""
        return (
            subsample_region(self.inside)
            if self.region is None
            else resize_region(self.region, *_subsampled_shape(self.shape))
        )

    @cached_property
    def box(self) -> tuple[slice, slice]:
        """Rows and columns of the mask and, for operations that look aside, one more on each side."""
        rows, columns = np.flatnonzero(self.inside.any(axis=1)), np.flatnonzero(self.inside.any(axis=0))
        return (
            slice(max(0, rows[0] - 1), rows[-1] + 2),
            slice(max(0, columns[0] - 1), columns[-1] + 2),
        )

    @cached_property
    def area(self) -> float:
        """Share of the picture."""
        return float(self.inside.mean())

    @cached_property
    def sample(self) -> PixelSample:
        """Pixels that stand for it, with the neighbours next to them."""
        return PixelSample.inside(self.inside, reach=1)


def subsample_region(region: Region) -> Region:
    """Every so many rows and columns of a mask (H, W), enough to compare it with others."""
    stride = _ranking_stride(region.shape)
    return region[::stride, ::stride]


def _subsampled_shape(shape: tuple[int, int]) -> tuple[int, int]:
    stride = _ranking_stride(shape)
    return -(-shape[0] // stride), -(-shape[1] // stride)


def _ranking_stride(shape: tuple[int, ...]) -> int:
    return max(1, min(shape) // _RANKING_SIDE)


def describe_location(region: Region | None) -> str:
    """How much of the picture a mask covers and roughly where: "12 % of the picture, upper left"."""
    if region is None:
        return "everywhere"
    share = 100 * region.mean()
    size = f"{share:.0f} %" if share >= 1 else "less than 1 %"
    return f"{size} of the picture, {_describe_position(region)}"


def _describe_position(region: Region) -> str:
    vertical = _find_third(region.sum(axis=1), ("upper", "", "lower"))
    horizontal = _find_third(region.sum(axis=0), ("left", "", "right"))
    if vertical and horizontal:
        return f"{vertical} {horizontal}"
    if vertical is None and horizontal is None:
        return "all over"
    return {"upper": "top", "lower": "bottom"}.get(vertical or "", horizontal or "centre")


def _find_third(amounts: np.ndarray, names: tuple[str, str, str]) -> str | None:
    """Which third of an axis the middle of a mask is in; None where the mask spans most of the axis."""
    shares = np.cumsum(amounts) / amounts.sum()
    first, middle, last = np.searchsorted(shares, (0.1, 0.5, 0.9)) / amounts.size
    return None if last - first > _SPANNING_SHARE else names[min(int(3 * middle), 2)]


# Steps in places: on working pictures and in a recipe.

PLANNED_MASK_FEATHER = 2.0
"""Softness of a planned mask, in pixels at the reference size."""


@dataclass(frozen=True, eq=False)
class LocalStep:
    """An action, or a repair (which has no values), in a place."""

    action: Action
    place: MaskCandidate

    @property
    def complexity(self) -> int:
        return self.action.values.size

    @property
    def is_repair(self) -> bool:
        return self.action.operation in operations.repairs()

    def applied(self, picture: Picture) -> Picture:
        """(3, H, W) with the place edited, its edge hard."""
        result, box = picture.copy(), (slice(None), *self.place.box)
        if self.is_repair:
            repair = operations.repairs()[self.action.operation]
            inside = self.place.inside.astype(np.float32)
            edited = repair.function(picture, inside, operations.pixel_scale(*inside.shape))[box]
        else:
            edited = self.action.applied(np.ascontiguousarray(picture[box]))
        result[box] = np.where(self.place.inside[box[1:]], edited, picture[box])
        return result

    @cached_property
    def mask(self) -> Mask | None:
        """As the recipe has it, at the resolution of its candidate."""
        region = self.place.region
        if region is None:
            return None
        return Mask.from_array(dilate_region(region) if self.is_repair else region, PLANNED_MASK_FEATHER)

    @property
    def share(self) -> np.ndarray:
        """(H, W) float32: how much of the step each pixel takes, its edge soft."""
        if self.mask is None:
            return np.ones(self.place.shape, np.float32)
        levels = self.mask.over(*self.place.shape)
        return levels.astype(np.float32) / np.float32(255)

    def written(self) -> tuple[str, Sequence[float], Mask | None]:
        """For a recipe; parameters are rounded to what anyone could tell apart."""
        name, values = self.action
        if self.is_repair:
            return name, [], self.mask
        return name, operations.get_operation(name).clip(np.round(values, 5).tolist()), self.mask


def render_local_steps(steps: Sequence[LocalStep], start: Picture) -> tuple[Recipe, tuple[Picture, ...]]:
    """The recipe, and the working picture at first and after each of its steps."""
    recipe = Recipe.from_steps(step.written() for step in steps)
    pixels = np.ascontiguousarray(start.transpose(1, 2, 0))
    later = (np.asarray(image).transpose(2, 0, 1) for image in intermediates(recipe, pixels))
    return recipe, (start, *map(np.ascontiguousarray, later))


# Whether something is gone: evidence for a removal.
#
# Operations move colours and keep structure; a removal replaces it, and takes the outline away too. Whoever
# removed something may have filled the hole quite differently from how we would, so our fill need not
# resemble
# theirs: the edges inside are no longer those of before, no operation comes close, and the outline is
# fainter.
# Where it is stronger, something was added, which no step can say.

_EXPLAINED_SHARE = 0.05
"""An operation that leaves less than this share of the difference explains it."""
_INVISIBLE_DIFFERENCE = 0.004
"""So does one that leaves less than this mean absolute difference."""
_MIN_EDGE_CORRELATION = 0.5
"""Correlation of edges below which structure is lost."""
_REMOVAL_SIDE = 240
"""Short side of a picture, in pixels, at which structure is judged; grain and compression are finer."""


def downsample_for_structure(arrays: Sequence[np.ndarray], short_side: int) -> list[np.ndarray]:
    """Parts (..., H, W) of pictures of that short side, averaged down to where structure is judged.

    Masks are true where most of a pixel is. If one of them would vanish, all arrays stay as they are.
    """
    stride = max(1, short_side // _REMOVAL_SIDE)
    if stride == 1:
        return list(arrays)
    small = [_average_blocks(array, stride) for array in arrays]
    return small if all(array.any() for array in small if array.dtype == bool) else list(arrays)


def _average_blocks(array: np.ndarray, stride: int) -> np.ndarray:
    """Means of squares of pixels; what is left over at the far edges is cut off."""
    height, width = (side - side % stride for side in array.shape[-2:])
    parts = [array[..., i:height:stride, j:width:stride] for i, j in np.ndindex(stride, stride)]
    mean = np.asarray(np.sum(parts, axis=0, dtype=np.float32)) / np.float32(stride**2)
    return mean > 0.5 if array.dtype == bool else mean


def is_structure_lost(before: Picture, best: Picture, target: Picture, inside: Region) -> bool:
    """Whether in `target` the structure of `before` is gone; `best` is what operations make of it.

    Pictures (3, H, W); only the pixels `inside` (H, W) are looked at.
    """
    left, was = (float(np.abs(p - target)[:, inside].mean()) for p in (best, before))
    if left < max(_EXPLAINED_SHARE * was, _INVISIBLE_DIFFERENCE):
        return False
    return (
        max(edge_correlation(before, target, inside), edge_correlation(best, target, inside))
        < _MIN_EDGE_CORRELATION
    )


def is_removal(before: Picture, target: Picture, inside: Region) -> bool:
    """Whether lost structure means that something was taken away: the outline of the mask is fainter."""
    return outline_contrast(target, inside) < outline_contrast(before, inside)


def outline_contrast(picture: Picture, inside: Region) -> float:
    """Mean absolute difference between neighbours on either side of the edge of a mask."""
    steps = [np.abs(np.diff(picture, axis=axis))[:, crossed] for axis, crossed in _find_crossings(inside)]
    across = np.concatenate(steps, axis=1)
    return float(across.mean()) if across.size else 0.0


def _find_crossings(inside: Region) -> list[tuple[int, Region]]:
    return [(axis + 1, np.diff(inside, axis=axis)) for axis in (0, 1)]


def edge_correlation(one: Picture, other: Picture, inside: Region) -> float:
    """Correlation, -1 to 1, of the edges of two pictures inside a mask; 0 where one has none."""
    first, second = _grey_gradients(one)[:, inside], _grey_gradients(other)[:, inside]
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size > 0 else 0.0


def dilate_region(region: Region) -> Region:
    """One pixel larger all around, so that a soft edge leaves no outline of what is removed."""
    padded = np.pad(region, 1)
    down = padded[:-2] | padded[1:-1] | padded[2:]
    around: Region = down[:, :-2] | down[:, 1:-1] | down[:, 2:]
    return around


def _grey_gradients(picture: Picture) -> np.ndarray:
    """(2, H, W): differences of grey to the right and below."""
    grey = picture.mean(axis=0)
    right, below = np.diff(grey, axis=1, append=grey[:, -1:]), np.diff(grey, axis=0, append=grey[-1:])
    return np.stack([right, below])

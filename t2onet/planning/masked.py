"""Masked steps on working pictures: mask candidates, samples of their pixels, and evidence of a removal.

Steps are solved and compared on a sample of the pixels of a mask, each with the neighbours that operations
read, so a large photo costs little more than a small one.

Operations move colours and keep structure. A removal replaces structure and takes the outline away: the
edges inside are no longer those of before, no operation comes close, and the outline is fainter. The fill
of another tool need not resemble ours, so it is not compared. Where the outline is stronger, something was
added, which no step can express.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import operations
from ..executor import intermediates
from ..recipe import Mask, Recipe, Step
from .pictures import Picture, apply_step, round_parameters
from .segments import Region, resize_region

PLANNED_MASK_FEATHER = 2.0
"""Softness of a planned mask, in pixels at the reference size."""
MASK_SAMPLE = 4096
"""Pixels of a mask that steps are solved on."""
_RANKING_SIDE = 200
"""Short side, in pixels, at which masks are compared with what changed."""
_SPANNING_SHARE = 0.6
"""A mask whose middle four fifths span more of a side of the picture than this has no position along it."""
_EXPLAINED_SHARE = 0.05
"""An operation that leaves less than this share of the difference explains it."""
_INVISIBLE_DIFFERENCE = 0.004
"""So does one that leaves less than this mean absolute difference."""
_MIN_EDGE_CORRELATION = 0.5
"""Correlation of edges below which structure is lost."""
_REMOVAL_SIDE = 240
"""Short side of a picture, in pixels, at which structure is judged; grain and compression are finer."""


@dataclass(frozen=True, eq=False)
class PixelSample:
    """Some pixels of a picture (H, W), each at the centre of a square of its neighbours.

    `rows` and `columns` are (D, D K): K squares of D = 2 reach + 1 pixels, side by side. An operation that
    reads no further than `reach` sees around each centre what it sees in the picture.
    """

    rows: np.ndarray
    columns: np.ndarray
    reach: int

    @classmethod
    def inside(cls, region: Region, reach: int, size: int = MASK_SAMPLE) -> PixelSample:
        """At most about `size` pixels, spread evenly over a mask with jitter."""
        pixels = np.flatnonzero(region)
        if pixels.size > size:
            jittered = np.arange(size) + np.random.default_rng(0).random(size)
            pixels = pixels[(jittered * (pixels.size / size)).astype(int)]
        height, width = region.shape
        rows, columns = np.divmod(pixels, width)
        offsets = np.arange(-reach, reach + 1)
        across = (columns[:, None] + offsets).reshape(-1)
        down = np.repeat(rows, offsets.size) + offsets[:, None]
        return cls(
            np.clip(down, 0, height - 1), np.clip(np.broadcast_to(across, down.shape), 0, width - 1), reach
        )

    def take(self, picture: Picture) -> Picture:
        """(..., D, D K): the squares of a picture or mask (..., H, W)."""
        return np.ascontiguousarray(picture[..., self.rows, self.columns])

    @cached_property
    def is_centre(self) -> Region:
        """(D, D K): which pixels are the centre of their square."""
        mask = np.zeros(self.rows.shape, bool)
        self.centres(mask)[...] = True
        return mask

    def centres(self, squares: np.ndarray) -> np.ndarray:
        """(..., R, K) of R rows of squares (..., R D, D K)."""
        side = 2 * self.reach + 1
        return squares[..., self.reach :: side, self.reach :: side]


@dataclass(frozen=True, eq=False)
class MaskCandidate:
    """A mask at any resolution (None: the whole picture) over a working picture of `shape` (H, W)."""

    region: Region | None
    shape: tuple[int, int]

    @cached_property
    def inside(self) -> Region:
        """(H, W): the mask at the size of the working picture."""
        return np.ones(self.shape, bool) if self.region is None else resize_region(self.region, *self.shape)

    @cached_property
    def small_region(self) -> Region:
        """The mask at the size at which masks are compared."""
        return (
            subsample_region(self.inside)
            if self.region is None
            else resize_region(self.region, *_subsampled_shape(self.shape))
        )

    @cached_property
    def box(self) -> tuple[slice, slice]:
        """Rows and columns of the mask, with one more on each side for operations that read neighbours."""
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
        """Some of its pixels, with their direct neighbours."""
        return PixelSample.inside(self.inside, reach=1)


def subsample_region(region: Region) -> Region:
    """Every n-th row and column of a mask (H, W), enough to compare it with others."""
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


@dataclass(frozen=True, eq=False)
class LocalStep:
    """A step, or a repair (which has no parameters), inside a mask candidate; the step itself has no mask."""

    step: Step
    place: MaskCandidate

    @property
    def operation(self) -> str:
        return self.step.operation

    @property
    def complexity(self) -> int:
        """Number of parameters."""
        return len(self.step.parameters)

    @property
    def is_repair(self) -> bool:
        return self.step.is_repair

    def apply(self, picture: Picture) -> Picture:
        """The picture (3, H, W) with the candidate edited, its edge hard."""
        result, box = picture.copy(), (slice(None), *self.place.box)
        if self.is_repair:
            repair = operations.repairs()[self.operation]
            inside = self.place.inside.astype(np.float32)
            edited = repair.function(picture, inside, operations.pixel_scale(*inside.shape))[box]
        else:
            edited = apply_step(self.step, np.ascontiguousarray(picture[box]))
        result[box] = np.where(self.place.inside[box[1:]], edited, picture[box])
        return result

    @cached_property
    def mask(self) -> Mask | None:
        """The mask in a recipe, at the resolution of its candidate; None for the whole picture."""
        region = self.place.region
        if region is None:
            return None
        return Mask.from_array(dilate_region(region) if self.is_repair else region, PLANNED_MASK_FEATHER)

    @property
    def weight(self) -> np.ndarray:
        """(H, W) float32 in [0, 1]: how much of the step each pixel takes, the edge of the mask soft."""
        if self.mask is None:
            return np.ones(self.place.shape, np.float32)
        levels = self.mask.resize(*self.place.shape)
        return levels.astype(np.float32) / np.float32(255)

    def to_recipe_step(self) -> Step:
        """The step with its mask and rounded parameters."""
        parameters = () if self.is_repair else round_parameters(self.step)
        return Step(operation=self.operation, parameters=parameters, mask=self.mask)


def render_local_steps(steps: Sequence[LocalStep], start: Picture) -> tuple[Recipe, tuple[Picture, ...]]:
    """The recipe, and the working picture at first and after each of its steps."""
    recipe = Recipe.from_steps(step.to_recipe_step() for step in steps)
    return recipe, render_recipe(recipe, start)


def render_recipe(recipe: Recipe, start: Picture) -> tuple[Picture, ...]:
    """The working picture at first and after each step of a recipe with masks or places."""
    pixels = np.ascontiguousarray(start.transpose(1, 2, 0))
    pictures = (np.asarray(image).transpose(2, 0, 1) for image in intermediates(recipe, pixels))
    return (start, *map(np.ascontiguousarray, pictures))


def downsample_for_structure(arrays: Sequence[np.ndarray], short_side: int) -> list[np.ndarray]:
    """Average parts (..., H, W) of pictures of that short side down to the size at which structure is judged.

    Masks are true where most of a pixel is. If one of them would become empty, all arrays stay as they are.
    """
    stride = max(1, short_side // _REMOVAL_SIDE)
    if stride == 1:
        return list(arrays)
    small = [_average_blocks(array, stride) for array in arrays]
    return small if all(array.any() for array in small if array.dtype == bool) else list(arrays)


def _average_blocks(array: np.ndarray, stride: int) -> np.ndarray:
    """Means of squares of pixels; incomplete squares at the far edges are cut off."""
    height, width = (side - side % stride for side in array.shape[-2:])
    parts = [array[..., i:height:stride, j:width:stride] for i, j in np.ndindex(stride, stride)]
    mean = np.asarray(np.sum(parts, axis=0, dtype=np.float32)) / np.float32(stride**2)
    return mean > 0.5 if array.dtype == bool else mean


def is_structure_lost(before: Picture, best: Picture, target: Picture, inside: Region) -> bool:
    """Whether the structure of `before` is gone in `target`; `best` is the closest that an operation comes.

    Pictures (3, H, W); only the pixels `inside` (H, W) count.
    """
    remaining, initial = (float(np.abs(p - target)[:, inside].mean()) for p in (best, before))
    if remaining < max(_EXPLAINED_SHARE * initial, _INVISIBLE_DIFFERENCE):
        return False
    return (
        max(edge_correlation(before, target, inside), edge_correlation(best, target, inside))
        < _MIN_EDGE_CORRELATION
    )


def is_removal(before: Picture, target: Picture, inside: Region) -> bool:
    """Whether lost structure means a removal: the outline of the mask is fainter."""
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
    """A mask grown by one pixel, so that a soft edge leaves no outline of what is removed."""
    padded = np.pad(region, 1)
    down = padded[:-2] | padded[1:-1] | padded[2:]
    around: Region = down[:, :-2] | down[:, 1:-1] | down[:, 2:]
    return around


def _grey_gradients(picture: Picture) -> np.ndarray:
    """(2, H, W): differences of grey to the right and below."""
    grey = picture.mean(axis=0)
    right, below = np.diff(grey, axis=1, append=grey[:, -1:]), np.diff(grey, axis=0, append=grey[-1:])
    return np.stack([right, below])

"""Working pictures: a pair of photos made comparable, steps applied to them, the cost, and what remains.

A working picture is (3, H, W) float32 in [0, 1] with a short side of at most the reference size, so sharpness
is always the one-pixel Laplacian.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import PIL.Image

from ..errors import PlanError
from ..executor import PhotoLike
from ..image import Image, open_image
from ..image.pixels import to_depth
from ..kernels import KERNELS, decode_tile, encode_tile
from ..kernels.fitting import mean_absolute_difference
from ..kernels.light import Kernel, TileFunction
from ..operations import Frame, ParameterValues, get_operation, get_published_operation
from ..recipe import Recipe, Step

Picture = np.ndarray
"""(3, H, W) float32, C-contiguous."""

StepSequence = tuple[Step, ...]

PARAMETER_DECIMALS = 5
"""Decimals of a planned parameter in a recipe: enough for any visible difference."""

ASPECT_TOLERANCE = 0.02
"""Relative difference of aspect ratios that a crop of a few pixels may cause."""
_MIN_CORRELATION = 0.15
"""Correlation of fine structure below which two photos do not show the same scene."""
_STRUCTURE_SIDE = 64
"""Short side, in pixels, at which structure is compared: coarse enough to tolerate small shifts."""


@dataclass(frozen=True)
class PhotoPair:
    """Two photos of the same scene."""

    before: Image
    after: Image

    def working_pictures(self, short_side: int) -> tuple[Picture, Picture]:
        """Both as pictures (3, H, W) of one size, area-averaged, with at most that short side."""
        height, width = self._size(short_side)
        return to_working_picture(self.before, height, width), to_working_picture(self.after, height, width)

    @property
    def short_side(self) -> int:
        """Shortest side of the two, in pixels."""
        return min(self.before.height, self.before.width, self.after.height, self.after.width)

    @property
    def aspect_difference(self) -> float:
        """Relative difference of the aspect ratios."""
        first, second = (image.width / image.height for image in (self.before, self.after))
        return abs(first / second - 1)

    def _size(self, short_side: int) -> tuple[int, int]:
        smaller = min(self.before, self.after, key=lambda image: image.height * image.width)
        scale = min(1.0, short_side / min(smaller.height, smaller.width))
        return max(1, round(smaller.height * scale)), max(1, round(smaller.width * scale))


def open_photo_pair(before: PhotoLike, after: PhotoLike, *, same_scene: bool = True) -> PhotoPair:
    """Open two photos as a pair with the same framing and colour space.

    PlanError if they are framed differently or, with `same_scene`, do not show the same scene.
    """
    pair = open_photos(before, after)
    if pair.aspect_difference > ASPECT_TOLERANCE:
        raise PlanError(
            f"the photos are {format_size(pair.before)} and {format_size(pair.after)}: one is cropped or "
            "rotated; give both with the same framing"
        )
    pair = _align_pair(pair)
    if same_scene:
        check_same_scene(pair)
    return pair


def open_photos(before: PhotoLike, after: PhotoLike) -> PhotoPair:
    """Open two photos in one colour space, whatever they show."""
    first, second = open_image(before), open_image(after)
    if first.origin.icc != second.origin.icc:
        first, second = first.to_srgb(), second.to_srgb()
    return PhotoPair(first, second)


def _align_pair(pair: PhotoPair) -> PhotoPair:
    """Where the sizes differ by a few pixels, crop both photos to what they share."""
    heights, widths = (pair.before.height, pair.after.height), (pair.before.width, pair.after.width)
    height, width = min(heights), min(widths)
    same = heights[0] == heights[1] and widths[0] == widths[1]
    if same or height < (1 - ASPECT_TOLERANCE) * max(heights) or width < (1 - ASPECT_TOLERANCE) * max(widths):
        return pair
    down, right = _estimate_shift(pair)
    first = _crop(pair.before, max(0, down), max(0, right), height, width)
    return PhotoPair(first, _crop(pair.after, max(0, -down), max(0, -right), height, width))


def _estimate_shift(pair: PhotoPair) -> tuple[int, int]:
    """Rows and columns by which `after` is offset in `before`: the peak of their phase correlation."""
    rows, columns = (max(sides) for sides in zip(_sides(pair.before), _sides(pair.after), strict=True))
    spectra = []
    for image in (pair.before, pair.after):
        frame = np.zeros((rows, columns), np.float32)
        frame[: image.height, : image.width] = _high_pass(
            to_working_picture(image, image.height, image.width)
        )
        spectra.append(np.fft.rfft2(frame))
    cross = spectra[0] * np.conj(spectra[1])
    correlation = np.fft.irfft2(cross / np.maximum(np.abs(cross), 1e-12), s=(rows, columns))
    down, right = divmod(int(np.argmax(correlation)), columns)
    down, right = down - rows * (down > rows // 2), right - columns * (right > columns // 2)
    spare = abs(pair.before.height - pair.after.height), abs(pair.before.width - pair.after.width)
    return (down, right) if abs(down) <= spare[0] and abs(right) <= spare[1] else (0, 0)


def _sides(image: Image) -> tuple[int, int]:
    return image.height, image.width


def _crop(image: Image, top: int, left: int, height: int, width: int) -> Image:
    top, left = min(top, image.height - height), min(left, image.width - width)
    return Image(image.pixels[top : top + height, left : left + width], origin=image.origin)


def format_size(image: Image) -> str:
    return f"{image.width} x {image.height}"


def check_same_scene(pair: PhotoPair) -> None:
    """Raise PlanError for photos of different scenes, judged by the correlation of their fine structure."""
    if correlate_structure(pair) < _MIN_CORRELATION:
        raise PlanError(
            "the two photos do not show the same scene, so no edit leads from one to the other; "
            "give a photo and an edit of that photo"
        )


def correlate_structure(pair: PhotoPair) -> float:
    """Correlation of the fine structure of two photos laid over each other; 1 where it cannot be judged."""
    if pair.short_side < 8:
        return 1.0  # too few pixels
    details = [_high_pass(picture) for picture in pair.working_pictures(_STRUCTURE_SIDE)]
    deviations = [float(np.sqrt((detail**2).mean())) for detail in details]
    if min(deviations) < 1e-3:
        return 1.0  # a picture without structure, such as black, can come from any other
    return float((details[0] * details[1]).mean()) / (deviations[0] * deviations[1])


def _high_pass(picture: Picture) -> np.ndarray:
    """(H, W): grey minus the mean of its four neighbours."""
    grey = picture.mean(axis=0)
    padded = np.pad(grey, 1, mode="edge")
    neighbours = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / 4
    detail: np.ndarray = grey - neighbours
    return detail


def average_squares(picture: np.ndarray, radius: int) -> np.ndarray:
    """(H, W) float32: means over squares of (2 radius + 1) pixels; edges repeat."""
    size, means = 2 * radius + 1, np.pad(picture, radius, mode="edge").astype(np.float64)
    for _ in range(2):  # rows, and once transposed, columns
        total = np.cumsum(np.concatenate([np.zeros_like(means[:1]), means]), axis=0)
        means = ((total[size:] - total[:-size]) / size).T
    return np.ascontiguousarray(means, np.float32)


def to_working_picture(image: Image, height: int, width: int) -> Picture:
    """A photo as a picture (3, H, W), area-averaged."""
    pixels = image.pixels
    if pixels.dtype == np.uint8:  # several times faster; rounding to 8 bits does not matter to a plan
        pixels = _resize_by_area(pixels, height, width)
    channels = to_depth(pixels, np.float32).transpose(2, 0, 1)
    if channels.shape[1:] != (height, width):
        channels = np.stack([_resize_by_area(channel, height, width) for channel in channels])
    return np.ascontiguousarray(np.clip(channels, 0, 1))


def _resize_by_area(array: np.ndarray, height: int, width: int) -> np.ndarray:
    if array.shape[:2] == (height, width):
        return array
    picture = PIL.Image.fromarray(np.ascontiguousarray(array))
    return np.asarray(picture.resize((width, height), PIL.Image.Resampling.BOX))


class CostFunction(Protocol):
    """A picture (3, H, W) in [0, 1] -> the number to minimize.

    Solvers that use gradients pass a torch tensor and need a tensor back; the others pass a NumPy array.
    """

    def __call__(self, picture: Any, /) -> Any: ...


class L1Cost:
    """Mean absolute difference from a target picture."""

    def __init__(self, target: np.ndarray) -> None:
        self.target = np.ascontiguousarray(target, np.float32)

    def __call__(self, picture: Any, /) -> Any:
        if isinstance(picture, np.ndarray):
            return float(mean_absolute_difference(picture.reshape(-1), self.target.reshape(-1)))
        return (picture - picture.new_tensor(self.target)).abs().mean()


def reads_neighbours(operation: str) -> bool:
    """Whether an operation reads neighbouring pixels."""
    return get_operation(operation).reads_neighbours


def make_identity_step(operation: str) -> Step:
    """The step that changes nothing."""
    return Step.from_trusted(operation, get_published_operation(operation).defaults)


def apply_step(step: Step, picture: Picture, *, overwrite: bool = False) -> Picture:
    """The picture (3, H, W) after a step without a mask; `overwrite` may reuse the memory of `picture`."""
    operation = get_operation(step.operation)
    if kernel := KERNELS.get(step.operation):
        tile = picture if overwrite else picture.copy()  # kernels may work in place
        run = _prepare_kernel(kernel, step.parameters)
        frame = Frame(picture.shape[1], picture.shape[2], 1.0)
        if operation.space == "display":
            return run(tile, frame)
        return encode_tile(run(decode_tile(tile), frame))
    return np.ascontiguousarray(operation.run(picture, np.asarray(step.parameters, np.float32)))


@lru_cache(maxsize=128)
def _prepare_kernel(kernel: Kernel, values: ParameterValues) -> TileFunction:
    """The kernel for these parameters; their tables cost more than running it on a small picture."""
    return kernel(np.asarray(values))


def render_intermediates(steps: Iterable[Step], start: Picture) -> list[Picture]:
    """The start and the picture after each step."""
    pictures = [start]
    for step in steps:
        pictures.append(apply_step(step, pictures[-1]))
    return pictures


def round_parameters(step: Step) -> ParameterValues:
    """Parameters as a recipe has them: rounded, and within their ranges."""
    slots = get_operation(step.operation).slots
    rounded = np.round(step.parameters, PARAMETER_DECIMALS).tolist()
    return tuple(min(max(value, slot.low), slot.high) for value, slot in zip(rounded, slots, strict=False))


def to_recipe(steps: Iterable[Step]) -> Recipe:
    """Planned steps as a recipe, with rounded parameters."""
    return Recipe.from_steps((step.operation, round_parameters(step), step.where) for step in steps)


_VISIBLE = 0.004
"""Mean difference below which nothing is said: one level of 255."""
_RADIAL_SHARE = 0.35
"""Share of the variance of smooth differences that distance from the centre must explain."""
_BLOCKS = 12
"""Blocks a side on which differences are smooth."""
_LOCAL_BLOCKS, _LOCAL_SHARE = 0.12, 0.5
"""A difference is local if this share of the blocks holds this share of it."""
_DETAIL_SHARE = 0.8
"""Share of a difference that averaging over blocks must cancel to call it fine detail."""
_CLARITY_RADIUS = 0.03
"""Radius of the squares around which clarity raises contrast, as a share of the short side."""
_SAME_DETAIL = 0.4
"""Correlation with the detail of the picture from which a difference is more or less of that detail."""


def describe_remainder(result: Picture, target: Picture) -> str:
    """What remains between two pictures (3, H, W), in words; empty if invisible or of no clear kind."""
    if np.abs(target - result).mean() < _VISIBLE or min(result.shape[1:]) < _BLOCKS:
        return ""
    difference = (target - result).mean(axis=0)
    blocks = _average_blocks(difference)
    if measure_radial_share(blocks) > _RADIAL_SHARE:
        return "what remains is radial: looks like a vignette"
    sizes = np.sort(_average_blocks(np.abs(target - result).mean(axis=0)).reshape(-1))[::-1]
    if sizes[: round(_LOCAL_BLOCKS * sizes.size)].sum() > _LOCAL_SHARE * sizes.sum():
        return "what remains is in one part of the picture: looks like a local edit"
    if np.abs(blocks).mean() < (1 - _DETAIL_SHARE) * np.abs(difference).mean():
        return f"what remains is fine detail: looks like {_name_detail(result.mean(axis=0), difference)}"
    return ""


def _name_detail(grey: np.ndarray, difference: np.ndarray) -> str:
    """What changed detail (H, W) so: more or less of what is there, or something of its own."""
    wide = max(round(min(grey.shape) * _CLARITY_RADIUS), 2)
    kinds = {("sharpening", "blur or noise reduction"): 1, ("clarity", "less clarity"): wide}
    shares = {names: _correlate(grey - average_squares(grey, r), difference) for names, r in kinds.items()}
    names, share = max(shares.items(), key=lambda item: abs(item[1]))
    return names[share < 0] if abs(share) > _SAME_DETAIL else "noise or grain"


def _correlate(one: np.ndarray, other: np.ndarray) -> float:
    deviations = float(one.std() * other.std())
    return float(((one - one.mean()) * (other - other.mean())).mean()) / max(deviations, 1e-12)


def measure_radial_share(differences: np.ndarray) -> float:
    """Share of the variance of (h, w) that the squared distance from the centre explains."""
    rows, columns = (np.linspace(-1, 1, size) ** 2 for size in differences.shape)
    distance = rows[:, None] + columns
    deviations = differences.std() * distance.std()
    if deviations < 1e-9:
        return 0.0
    covariance = ((differences - differences.mean()) * (distance - distance.mean())).mean()
    return float((covariance / deviations) ** 2)


def _average_blocks(picture: np.ndarray) -> np.ndarray:
    """(B, B): means of the blocks of a picture (H, W)."""
    rows = [part.mean(axis=0) for part in np.array_split(picture, _BLOCKS, axis=0)]
    return np.array([[cell.mean() for cell in np.array_split(row, _BLOCKS)] for row in rows])

"""Regions where an edit may have been made: from colours, changes, mask files or a segmentation network.

A segmenter is any callable from a picture to boolean masks. The default one finds regions of similar colour
at several scales and needs scikit-image (the extra `local`). Masks can also come from COCO panoptic files,
from a folder of pictures, or from a segmentation network in the ONNX format.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
import PIL.Image

from ..errors import PlanError
from ..image import open_image, open_regular_file, read_regular_file
from ..image.pixels import to_depth
from ..inference import import_onnxruntime
from .pictures import Picture

Region = np.ndarray
"""(H, W) booleans, at any resolution."""

VISIBLE_PIXEL_CHANGE = 0.02
"""A pixel changed if one of its channels moved by more than this: five 8-bit levels."""
_NOISE_FLOOR, _NOISE_SHARE = 0.004, 0.15
"""Smaller differences down to the floor are noise if more than this share of the pixels has them."""
MIN_REGION_SHARE = 0.002
"""Smallest region, as a share of the picture."""
_DUPLICATE_IOU = 0.95
"""Intersection over union from which two masks count as one."""
_SEGMENTATION_SCALES = (60, 200, 600)
"""Scales of Felzenszwalb and Huttenlocher's segmentation; a larger one prefers larger regions."""
_WORKING_SIDE = 256
"""Short side, in pixels, at which colours are segmented."""
_MASK_SUFFIXES = (".png", ".tif", ".tiff", ".bmp", ".webp")


class Segmenter(Protocol):
    """A picture (3, H, W) in [0, 1] -> boolean masks (H, W); they may overlap and may be of another size."""

    def __call__(self, picture: Picture, /) -> Sequence[Region]: ...


def segment_by_colour(picture: Picture, /) -> list[Region]:
    """The default segmenter: connected regions of similar colour at several scales."""
    segmentation = _import_extra("skimage.segmentation")
    stride = max(1, min(picture.shape[1:]) // _WORKING_SIDE)
    pixels = picture[:, ::stride, ::stride].transpose(1, 2, 0)
    regions: list[Region] = []
    for scale in _SEGMENTATION_SCALES:
        labels = segmentation.felzenszwalb(
            pixels, scale=scale, sigma=0.3, min_size=max(8, int(MIN_REGION_SHARE * pixels[..., 0].size))
        )
        regions += split_labels(labels, background=None)
    return drop_duplicate_regions(regions)


def find_changed_pixels(before: Picture, after: Picture) -> Region:
    """(H, W): where two pictures differ visibly.

    If much of the picture differs invisibly, it was compressed or resampled; then differences are averaged
    over a small neighbourhood first, where such noise cancels out.
    """
    difference = after - before
    sizes = np.abs(difference).max(axis=0)
    if ((sizes > _NOISE_FLOOR) & (sizes <= VISIBLE_PIXEL_CHANGE)).mean() > _NOISE_SHARE:
        sizes = np.abs(_box_filter(difference, _neighbourhood_side(before.shape))).max(axis=0)
    differs: Region = sizes > VISIBLE_PIXEL_CHANGE
    return differs


def _box_filter(planes: np.ndarray, side: int) -> np.ndarray:
    """(..., H, W): each pixel the mean of a square of `side` (odd) pixels around it."""
    half = side // 2
    padded = np.pad(planes, [(0, 0)] * (planes.ndim - 2) + [(half + 1, half)] * 2, mode="edge")
    sums = padded.cumsum(axis=-1, dtype=np.float64).cumsum(axis=-2)
    corners = sums[..., side:, side:] - sums[..., :-side, side:]
    corners -= sums[..., side:, :-side] - sums[..., :-side, :-side]
    mean: np.ndarray = corners / side**2
    return mean


def _neighbourhood_side(shape: tuple[int, ...]) -> int:
    """Side of a square that reaches a hundredth of the short side of (..., H, W) from its centre."""
    return 2 * max(1, round(0.01 * min(shape[-2:]))) + 1


def find_changed_regions(before: Picture, after: Picture) -> list[Region]:
    """Connected regions of visible difference with small holes closed, and their union."""
    differs = find_changed_pixels(before, after)
    parts = find_connected_regions(_close_region(differs, side=_neighbourhood_side(differs.shape)))
    return drop_duplicate_regions([*parts, *([np.any(parts, axis=0)] if len(parts) > 1 else [])])


def find_connected_regions(region: Region) -> list[Region]:
    """The connected parts of a mask (8-neighbourhood), the largest first."""
    labels, _ = _import_extra("scipy.ndimage").label(region, np.ones((3, 3)))
    return split_labels(labels)


def _close_region(region: Region, side: int) -> Region:
    """Morphological closing by a square of that side; the border of the picture has no effect."""
    filters = _import_extra("scipy.ndimage")
    levels = np.pad(region, side).view(np.uint8)
    for filtered in (filters.maximum_filter1d, filters.minimum_filter1d):
        levels = filtered(filtered(levels, side, axis=0), side, axis=1)
    closed: Region = levels[side:-side, side:-side] > 0
    return closed


def split_labels(labels: np.ndarray, background: int | None = 0) -> list[Region]:
    """One mask for each label of an integer picture (H, W), the largest first; small ones are dropped."""
    values, counts = np.unique(labels, return_counts=True)
    order = np.argsort(-counts)
    large = [
        values[i] for i in order if counts[i] >= MIN_REGION_SHARE * labels.size and values[i] != background
    ]
    return [labels == value for value in large]


def drop_small_regions(regions: Sequence[Region]) -> list[Region]:
    """The regions of at least `MIN_REGION_SHARE`."""
    return [region for region in regions if np.count_nonzero(region) >= MIN_REGION_SHARE * region.size]


def drop_duplicate_regions(regions: Sequence[Region]) -> list[Region]:
    """The regions without those that nearly equal an earlier one."""
    distinct: list[Region] = []
    areas: list[int] = []
    for region in regions:
        area = int(np.count_nonzero(region))
        near = [
            other
            for other, size in zip(distinct, areas, strict=True)
            if _DUPLICATE_IOU * size <= area <= size / _DUPLICATE_IOU
        ]
        if all(
            intersection_over_union(region, other) < _DUPLICATE_IOU
            for other in near
            if other.shape == region.shape
        ):
            distinct.append(region)
            areas.append(area)
    return distinct


def intersection_over_union(one: Region, other: Region) -> float:
    """Intersection over union of two masks of one size; 0 where both are empty."""
    union = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / union if union else 0.0


def resize_region(region: Region, height: int, width: int) -> Region:
    """A mask scaled to (height, width)."""
    if region.shape == (height, width):
        return region
    grey = PIL.Image.fromarray(region * np.uint8(255))
    return np.asarray(grey.resize((width, height), PIL.Image.Resampling.BILINEAR)) >= 128


def masks_from_panoptic(png: str | Path, annotations: str | Path | dict[str, Any]) -> list[Region]:
    """The segments of one photo in COCO's panoptic format: a PNG of ids and its annotations."""
    png = Path(png)
    data = annotations if isinstance(annotations, dict) else _read_json(Path(annotations))
    origin = "the dictionary" if isinstance(annotations, dict) else annotations
    try:
        entry = next((one for one in data["annotations"] if one["file_name"] == png.name), None)
        segment_ids = None if entry is None else [int(one["id"]) for one in entry["segments_info"]]
    except (KeyError, TypeError, ValueError):
        raise PlanError(
            f"{origin} has no panoptic annotations; they name files (file_name) and the ids in them "
            "(segments_info)"
        ) from None
    if segment_ids is None:
        raise PlanError(f"the panoptic annotations do not list {png.name}; give the JSON that came with it")
    ids = read_panoptic_ids(png)
    regions = (ids == segment for segment in segment_ids)
    return [region for region in regions if region.any()]


def read_panoptic_ids(png: str | Path) -> np.ndarray:
    """(H, W) integers: red + 256 green + 65536 blue."""
    try:
        with open_regular_file(png) as file, PIL.Image.open(file) as picture:
            pixels = np.asarray(picture.convert("RGB"), np.int64)
    except OSError as error:
        raise PlanError(f"{png} cannot be read as a panoptic PNG ({error})") from None
    ids: np.ndarray = pixels @ np.array([1, 256, 65536])
    return ids


def masks_from_folder(folder: str | Path) -> list[Region]:
    """The picture files of a folder as masks, sorted by name: true where lighter than mid-grey."""
    folder = Path(folder)
    if not folder.is_dir():
        raise PlanError(f"{folder} is not a folder; give one with mask pictures")
    masks = [_read_mask(path) for path in sorted(folder.iterdir()) if path.suffix.lower() in _MASK_SUFFIXES]
    if not masks:
        raise PlanError(f"{folder} has no masks; they end in {', '.join(_MASK_SUFFIXES)}")
    if not any(mask.any() for mask in masks):
        raise PlanError(f"{folder} has only black masks; make them white where the edit may be")
    return masks


def _read_mask(path: Path) -> Region:
    lightness = to_depth(open_image(path).pixels, np.float32).mean(axis=-1)
    lighter: Region = lightness >= 0.5
    return lighter


def _read_json(path: Path) -> Any:
    try:
        data = json.loads(read_regular_file(path))
    except (OSError, ValueError) as error:
        raise PlanError(f"{path} cannot be read as panoptic annotations ({error})") from None
    return data


def _import_extra(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise PlanError(
            f"finding regions needs {module.partition('.')[0]}: pip install 't2onet[local]', or give masks "
            "of your own"
        ) from None


def check_masks(regions: Sequence[Region]) -> list[Region]:
    """The masks that are not empty; PlanError for anything but booleans (H, W)."""
    checked = []
    for number, region in enumerate(regions, start=1):
        array = np.asarray(region)
        if array.ndim != 2 or array.dtype != bool or not array.size:
            raise PlanError(
                f"mask {number} is {array.dtype} of shape {array.shape}; a mask is booleans (H, W)"
            )
        if array.any():
            checked.append(array)
    return checked


Normalisation = Literal["imagenet", "unit"]
"""Input of a network: channels normalised by ImageNet's mean and deviation, or values in [0, 1]."""

_IMAGENET_MEAN, _IMAGENET_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_NETWORK_SHORT_SIDE = 512
"""Short side, in pixels, of the input of a network that takes any size."""
_SIDE_MULTIPLE = 32
"""Sides are multiples of this in that case, since most networks halve them five times."""
_PROBABILITY_SUM_TOLERANCE = 0.01
"""Scores of a pixel that add up to one within this are class probabilities."""


class OnnxSegmenter:
    """A segmentation network in the ONNX format, run by ONNX Runtime on the CPU.

    It takes one picture (1, 3, H, W) of float32 RGB. Its first output is one of

    - integers (h, w), optionally with leading ones: a label for each pixel;
    - booleans, or numbers in [0, 1] that do not add up to one over K, of shape (K, h, w), optionally with a
      leading one: K masks, which may overlap, true from one half on;
    - any other numbers of that shape: scores of K classes, of which each pixel takes the highest.

    Labels become connected regions, and each label as a whole.
    """

    def __init__(self, path: str | Path, normalise: Normalisation = "imagenet") -> None:
        if normalise not in get_args(Normalisation):
            raise PlanError(
                f"there is no normalisation {normalise!r}; there are {', '.join(get_args(Normalisation))}"
            )
        self.path, self.normalise = Path(path), normalise
        self._session = _load_session(self.path)
        self._input, self._size = self._check_input()

    def __call__(self, picture: Picture, /) -> list[Region]:
        """Masks of a picture (3, H, W) at the network's own resolution."""
        return self._to_regions(self._run(self._prepare(picture)))

    def _check_input(self) -> tuple[str, tuple[int | None, int | None]]:
        """Name of the only input, and its height and width, None for any."""
        inputs = self._session.get_inputs()
        shapes = "; ".join(f"{one.name} {one.type} {list(one.shape)}" for one in inputs)
        fixed = [side if isinstance(side, int) else None for side in inputs[0].shape] if inputs else []
        fits = len(inputs) == 1 and len(fixed) == 4 and fixed[0] in (1, None) and fixed[1] in (3, None)
        if not fits or inputs[0].type != "tensor(float)":
            raise PlanError(
                f"{self.path} takes {shapes or 'nothing'}; a segmenter takes one picture, float32 of shape "
                "(1, 3, H, W)"
            )
        return inputs[0].name, (fixed[2], fixed[3])

    def _prepare(self, picture: Picture) -> np.ndarray:
        """(1, 3, H, W): scaled to the size the network takes, and normalised."""
        height, width = (
            own or _round_side(side, min(picture.shape[1:]))
            for own, side in zip(self._size, picture.shape[1:], strict=True)
        )
        channels = np.stack([_resize_channel(channel, height, width) for channel in picture])
        if self.normalise == "imagenet":
            mean, deviation = (
                np.array(v, np.float32)[:, None, None] for v in (_IMAGENET_MEAN, _IMAGENET_DEVIATION)
            )
            channels = (channels - mean) / deviation
        return np.ascontiguousarray(channels[None], np.float32)

    def _run(self, batch: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(self._session.run(None, {self._input: batch})[0])
        except Exception as error:  # ONNX Runtime has a class of its own for each kind of failure
            raise PlanError(
                f"{self.path} failed on a picture of {batch.shape[3]} x {batch.shape[2]} "
                f"({_summarize_error(error)})"
            ) from None

    def _to_regions(self, output: np.ndarray) -> list[Region]:
        if output.dtype.kind in "iu" and output.ndim >= 2 and output.size == np.prod(output.shape[-2:]):
            return _regions_from_labels(output.reshape(output.shape[-2:]))
        scores = output[0] if output.ndim == 4 and len(output) == 1 else output
        if output.dtype.kind not in "fb" or scores.ndim != 3 or 0 in scores.shape[1:]:
            raise PlanError(
                f"{self.path} answers with {output.dtype} of shape {output.shape}; a segmenter answers with "
                "scores or masks (1, K, h, w), or with integer labels (1, h, w)"
            )
        if not np.isfinite(scores).all():
            raise PlanError(f"{self.path} answers with values that are not finite; try another normalisation")
        if _are_independent_masks(scores):
            return drop_duplicate_regions(drop_small_regions(list(scores >= 0.5)))
        if len(scores) == 1:
            raise PlanError(
                f"{self.path} answers with one mask of values beyond [0, 1]; end the network in a sigmoid"
            )
        return _regions_from_labels(scores.argmax(axis=0))


def _are_independent_masks(scores: np.ndarray) -> bool:
    """Whether scores (K, h, w) are K independent masks rather than scores of K classes."""
    if not scores.size:
        return True
    within = scores.min() >= 0 and scores.max() <= 1
    shares = len(scores) > 1 and np.abs(scores.sum(axis=0) - 1).max() < _PROBABILITY_SUM_TOLERANCE
    return bool(within and not shares)


def _regions_from_labels(labels: np.ndarray) -> list[Region]:
    """Each label as a whole and in its connected parts."""
    wholes = drop_small_regions([labels == label for label in np.unique(labels)])
    return drop_duplicate_regions(
        [part for whole in wholes for part in (whole, *find_connected_regions(whole))]
    )


def _round_side(side: int, short_side: int) -> int:
    return max(1, round(side * _NETWORK_SHORT_SIDE / short_side / _SIDE_MULTIPLE)) * _SIDE_MULTIPLE


def _resize_channel(channel: np.ndarray, height: int, width: int) -> np.ndarray:
    picture = PIL.Image.fromarray(np.ascontiguousarray(channel))
    return np.asarray(picture.resize((width, height), PIL.Image.Resampling.BILINEAR))


def _load_session(path: Path) -> Any:
    try:
        onnxruntime = import_onnxruntime()
    except ImportError:
        raise PlanError("a segmenter in ONNX needs ONNX Runtime: pip install onnxruntime") from None
    if not path.is_file():
        raise PlanError(f"{path} is not a file; give a network in the ONNX format")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has a class of its own for each kind of failure
        raise PlanError(f"{path} cannot be loaded as an ONNX network ({_summarize_error(error)})") from None


def _summarize_error(error: Exception) -> str:
    """The first line of an error of ONNX Runtime, which can be long."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__

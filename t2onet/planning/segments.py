"""Where an edit may have worked: mask candidates.

A segmenter is any callable from a picture to boolean masks. The default one needs scikit-image (the extra
`local`), knows nothing of what things are, and finds regions of like colour at several scales. Masks that
somebody else made come from COCO panoptic files or from a folder of pictures; a network of the user's own
(`network.py`) is a segmenter too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import PIL.Image

from ..errors import PlanError
from ..image import open_image, open_regular, read_regular
from ..image.depth import as_depth
from .path import Picture

Region = np.ndarray
"""(H, W) booleans, at any resolution."""

CHANGED = 0.02
"""A pixel changed if one of its channels moved by more than this: five 8-bit levels."""
_NOISE, _NOISY = 0.004, 0.15
"""Differences from this up to visible ones are noise, where more than this share of the picture has them."""
SMALLEST = 0.002
"""Of the picture: smaller regions are no candidates."""
_SAME = 0.95
"""Intersection over union from which two masks count as one."""
_SCALES = (60, 200, 600)
"""Of Felzenszwalb and Huttenlocher's segmentation: larger prefers larger regions."""
_WORKING_SIDE = 256
"""Short side, in pixels, at which regions are looked for."""
_ENDINGS = (".png", ".tif", ".tiff", ".bmp", ".webp")


class Segmenter(Protocol):
    """A picture (3, H, W) in [0, 1] -> boolean masks (H, W); they may overlap and may be of another size."""

    def __call__(self, picture: Picture, /) -> Sequence[Region]: ...


def regions_of_colour(picture: Picture, /) -> list[Region]:
    """Connected regions of like colour at several scales, the default segmenter."""
    segmentation = _extra("skimage.segmentation")
    stride = max(1, min(picture.shape[1:]) // _WORKING_SIDE)
    pixels = picture[:, ::stride, ::stride].transpose(1, 2, 0)
    found: list[Region] = []
    for scale in _SCALES:
        labels = segmentation.felzenszwalb(
            pixels, scale=scale, sigma=0.3, min_size=max(8, int(SMALLEST * pixels[..., 0].size))
        )
        found += split(labels, background=None)
    return distinct(found)


def changed(before: Picture, after: Picture) -> Region:
    """(H, W): where two pictures differ visibly.

    Where much of the picture differs by less than that, it was compressed or resampled, which goes both ways:
    then only what remains on average over a small neighbourhood counts.
    """
    difference = after - before
    sizes = np.abs(difference).max(axis=0)
    if ((sizes > _NOISE) & (sizes <= CHANGED)).mean() > _NOISY:
        sizes = np.abs(_averaged(difference, _side(before))).max(axis=0)
    differs: Region = sizes > CHANGED
    return differs


def _averaged(planes: np.ndarray, side: int) -> np.ndarray:
    """(..., H, W), each pixel the mean of the square of that odd side around it."""
    half = side // 2
    padded = np.pad(planes, [(0, 0)] * (planes.ndim - 2) + [(half + 1, half)] * 2, mode="edge")
    sums = padded.cumsum(axis=-1, dtype=np.float64).cumsum(axis=-2)
    corners = sums[..., side:, side:] - sums[..., :-side, side:]
    corners -= sums[..., side:, :-side] - sums[..., :-side, :-side]
    mean: np.ndarray = corners / side**2
    return mean


def _side(picture: Picture) -> int:
    """A hundredth of the short side on either side of a pixel."""
    short: int = min(picture.shape[1:])
    return 2 * max(1, round(0.01 * short)) + 1


def changed_regions(before: Picture, after: Picture) -> list[Region]:
    """Connected regions of visible difference, their pinholes filled, and all of them together."""
    differs = changed(before, after)
    parts = connected(_closed(differs, side=2 * max(1, round(0.01 * min(differs.shape))) + 1))
    return distinct([*parts, *([np.any(parts, axis=0)] if len(parts) > 1 else [])])


def connected(region: Region) -> list[Region]:
    """The parts of a mask that hang together, corners included, the largest first."""
    labels, _ = _extra("scipy.ndimage").label(region, np.ones((3, 3)))
    return split(labels)


def _closed(region: Region, side: int) -> Region:
    """Grown by a square of that side and shrunk again; the border does not pull in."""
    filters = _extra("scipy.ndimage")
    levels = np.pad(region, side).view(np.uint8)
    for filtered in (filters.maximum_filter1d, filters.minimum_filter1d):
        levels = filtered(filtered(levels, side, axis=0), side, axis=1)
    closed: Region = levels[side:-side, side:-side] > 0
    return closed


def split(labels: np.ndarray, background: int | None = 0) -> list[Region]:
    """One mask for each label of an integer picture (H, W), the largest first."""
    values, counts = np.unique(labels, return_counts=True)
    order = np.argsort(-counts)
    kept = [values[i] for i in order if counts[i] >= SMALLEST * labels.size and values[i] != background]
    return [labels == value for value in kept]


def large(regions: Sequence[Region]) -> list[Region]:
    """Those that are no specks."""
    return [region for region in regions if np.count_nonzero(region) >= SMALLEST * region.size]


def distinct(regions: Sequence[Region]) -> list[Region]:
    """Without those that are another of the list, or nearly."""
    kept: list[Region] = []
    areas: list[int] = []
    for region in regions:
        area = int(np.count_nonzero(region))
        near = [
            other for other, size in zip(kept, areas, strict=True) if _SAME * size <= area <= size / _SAME
        ]
        if all(overlap(region, other) < _SAME for other in near if other.shape == region.shape):
            kept.append(region)
            areas.append(area)
    return kept


def overlap(one: Region, other: Region) -> float:
    """Intersection over union of two masks of one size; 0 where both are empty."""
    union = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / union if union else 0.0


def fitted(region: Region, height: int, width: int) -> Region:
    """A mask stretched over a picture of that size."""
    if region.shape == (height, width):
        return region
    grey = PIL.Image.fromarray(region * np.uint8(255))
    return np.asarray(grey.resize((width, height), PIL.Image.Resampling.BILINEAR)) >= 128


def from_panoptic(png: str | Path, annotations: str | Path | dict[str, Any]) -> list[Region]:
    """The segments of one photo in COCO's panoptic format: a PNG of ids, and the JSON (or its file)."""
    png = Path(png)
    data = annotations if isinstance(annotations, dict) else _json(Path(annotations))
    origin = "the dictionary" if isinstance(annotations, dict) else annotations
    try:
        entry = next((one for one in data["annotations"] if one["file_name"] == png.name), None)
        wanted = None if entry is None else [int(segment["id"]) for segment in entry["segments_info"]]
    except (KeyError, TypeError, ValueError):
        raise PlanError(
            f"{origin} holds no panoptic annotations; they name files (file_name) and the ids in them "
            "(segments_info)"
        ) from None
    if wanted is None:
        raise PlanError(
            f"the panoptic annotations say nothing of {png.name}; give the JSON that came with it"
        )
    ids = panoptic_ids(png)
    found = (ids == one for one in wanted)
    return [region for region in found if region.any()]


def panoptic_ids(png: str | Path) -> np.ndarray:
    """(H, W) integers: red + 256 green + 65536 blue."""
    try:
        with open_regular(png) as file, PIL.Image.open(file) as picture:
            pixels = np.asarray(picture.convert("RGB"), np.int64)
    except OSError as error:
        raise PlanError(f"{png} cannot be read as a panoptic PNG ({error})") from None
    ids: np.ndarray = pixels @ np.array([1, 256, 65536])
    return ids


def from_onnx(path: str | Path, normalise: Literal["imagenet", "unit"] = "imagenet") -> Segmenter:
    """A segmentation network of your own as a segmenter; `network.py` says what it takes and answers."""
    from .network import Network

    return Network(path, normalise)


def from_folder(folder: str | Path) -> list[Region]:
    """Every picture file of a folder as a mask, by name: what is lighter than half grey."""
    folder = Path(folder)
    if not folder.is_dir():
        raise PlanError(f"{folder} is not a folder; give one that holds mask pictures")
    found = [_read(path) for path in sorted(folder.iterdir()) if path.suffix.lower() in _ENDINGS]
    if not found:
        raise PlanError(f"{folder} holds no masks; they end in {', '.join(_ENDINGS)}")
    if not any(region.any() for region in found):
        raise PlanError(f"{folder} holds only black masks; make them white where an edit may have worked")
    return found


def _read(path: Path) -> Region:
    lightness = as_depth(open_image(path).pixels, np.float32).mean(axis=-1)
    lighter: Region = lightness >= 0.5
    return lighter


def _json(path: Path) -> Any:
    try:
        data = json.loads(read_regular(path))
    except (OSError, ValueError) as error:
        raise PlanError(f"{path} cannot be read as panoptic annotations ({error})") from None
    return data


def _extra(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise PlanError(
            f"finding regions needs {module.partition('.')[0]}: pip install 't2onet[local]', or give masks "
            "of your own"
        ) from None


def checked(found: Sequence[Region]) -> list[Region]:
    """Those that cover anything; what is no mask is refused."""
    kept = []
    for number, region in enumerate(found, start=1):
        array = np.asarray(region)
        if array.ndim != 2 or array.dtype != bool or not array.size:
            raise PlanError(
                f"mask {number} is {array.dtype} of shape {array.shape}; a mask is booleans (H, W)"
            )
        if array.any():
            kept.append(array)
    return kept

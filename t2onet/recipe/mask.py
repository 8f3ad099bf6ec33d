"""Masks: grey pictures that say where a step applies, white fully and black not at all.

A mask keeps its own resolution and is stretched over the photo. Its feather is a distance in pixels at the
reference size, so that previews and exports soften an edge alike.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import PIL.Image
import PIL.ImageFilter
from pydantic import BaseModel, ConfigDict, ValidationInfo, field_serializer, model_validator

from ..errors import ImageError, RecipeError
from ..image import formats, open_image
from ..image.pixels import to_depth, to_uint8
from ..operations import REFERENCE_SHORT_SIDE, Frame

_FEATHER_REACH = 3
"""Width of a feathered edge in standard deviations of its Gaussian."""
_MASK_FORMAT = (
    'a mask is {"png": base64 of a grey PNG} or {"file": path of a picture}, with "feather" in pixels'
)

_MASK_SCHEMA = {
    "properties": {
        "png": {"type": "string", "contentEncoding": "base64", "description": "A grey PNG."},
        "file": {"type": "string", "description": "Path of a picture, relative to the recipe."},
        "feather": {
            "type": "number",
            "minimum": 0,
            "maximum": REFERENCE_SHORT_SIDE,
            "default": 0,
            "description": f"Softness of the edge, in pixels of a photo with a short side of "
            f"{REFERENCE_SHORT_SIDE}.",
        },
    },
    "oneOf": [{"required": ["png"]}, {"required": ["file"]}],
    "required": [],
}


class Mask(BaseModel):
    """A grey PNG of any size and the softness of its edge."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra=lambda schema: schema.update(_MASK_SCHEMA)
    )

    KEYS: ClassVar = ("png", "file", "feather")

    png: bytes
    feather: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _read(cls, raw: Any, info: ValidationInfo) -> Any:
        if isinstance(raw, cls):
            return raw
        if not isinstance(raw, dict) or ("png" in raw) == ("file" in raw):
            raise RecipeError(f"{_MASK_FORMAT}; {raw!r:.80} was given")
        fields = dict(raw)
        if "file" in fields:
            folder, file = (info.context or {}).get("folder", Path()), fields.pop("file")
            if not isinstance(file, str | Path):
                raise RecipeError(f"{_MASK_FORMAT}; {raw!r:.80} was given")
            fields["png"] = _png_from_file(folder / file)
        elif isinstance(fields["png"], str):
            fields["png"] = _png_from_base64(fields["png"])
        return fields

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (math.isfinite(self.feather) and 0 <= self.feather <= REFERENCE_SHORT_SIDE):
            raise RecipeError(f"mask: feather is {self.feather:g}; allowed is 0 to {REFERENCE_SHORT_SIDE}")
        _find_bounding_box(self.png)  # raises unless it is a picture
        return self

    @field_serializer("png", when_used="json")
    def _as_base64(self, png: bytes) -> str:
        return base64.b64encode(png).decode("ascii")

    @classmethod
    def from_array(cls, array: np.ndarray, feather: float = 0.0) -> Self:
        """From (H, W): booleans, uint8, or floats in [0, 1]."""
        return cls(png=_png_from_array(np.asarray(array)), feather=feather)

    @classmethod
    def from_file(cls, path: str | Path, feather: float = 0.0) -> Self:
        """From any picture file; of a colour picture, the mean of its channels."""
        return cls(png=_png_from_file(Path(path)), feather=feather)

    def __repr__(self) -> str:
        height, width = self.array.shape
        return f"Mask({width} x {height}, feather={self.feather:g})"

    @property
    def pixels(self) -> int:
        """Number of pixels at its own resolution."""
        (width, height), _ = _find_bounding_box(self.png)
        return width * height

    @property
    def array(self) -> np.ndarray:
        """(H, W) uint8 at its own resolution, not feathered."""
        return np.asarray(_decode_mask(self.png))

    def extent(self, margin: float = 0.0) -> float:
        """Share of the photo, 0 to 1, covered by the bounding box of everything that is not black.

        The box includes the feather and `margin`, in pixels at the reference size.
        """
        (width, height), box = _find_bounding_box(self.png)
        soft = 2 * (_FEATHER_REACH * self.feather + margin) / REFERENCE_SHORT_SIDE
        left, top, right, bottom = box or (0, 0, 0, 0)
        return min((right - left) / width + soft, 1) * min((bottom - top) / height + soft, 1) if box else 0.0

    def resize(self, height: int, width: int) -> np.ndarray:
        """(height, width) uint8: stretched over a photo of that size and feathered."""
        top, left, part = self.resize_cropped(height, width)
        if part.shape == (height, width):
            return part
        mask = np.zeros((height, width), np.uint8)
        mask[top : top + part.shape[0], left : left + part.shape[1]] = part
        return mask

    def resize_cropped(self, height: int, width: int) -> tuple[int, int, np.ndarray]:
        """The part of `resize` that is not black: first row, first column, levels (rows, columns) uint8."""
        (own_width, own_height), box = _find_bounding_box(self.png)
        if box is None:
            return 0, 0, np.zeros((0, 0), np.uint8)
        softness = self.feather * min(height, width) / REFERENCE_SHORT_SIDE
        left, right = _stretch_interval(box[0], box[2], width / own_width, width, softness)
        top, bottom = _stretch_interval(box[1], box[3], height / own_height, height, softness)
        across, down = own_width / width, own_height / height
        source = (left * across, top * down, min(right * across, own_width), min(bottom * down, own_height))
        size = (right - left, bottom - top)
        part = _decode_mask(self.png).resize(size, PIL.Image.Resampling.BILINEAR, source)
        if softness:
            part = part.filter(PIL.ImageFilter.GaussianBlur(softness))
        return top, left, np.asarray(part)


Change = Callable[[np.ndarray, Frame], np.ndarray]
"""(tile (3, H, W), its place in the photo) -> tile, which may be the same memory."""


@dataclass(frozen=True)
class MaskCoverage:
    """The part of a mask over the photo that is not black."""

    top: int
    left: int
    levels: np.ndarray
    """(rows, columns) uint8; empty where the whole mask is black."""

    @classmethod
    def crop(cls, top: int, left: int, mask: np.ndarray) -> MaskCoverage:
        """Crop the part of a mask that begins at row `top` and column `left` to what is not black."""
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not len(rows):
            return cls(0, 0, mask[:0, :0])
        inside = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return cls(top + int(rows[0]), left + int(columns[0]), inside)

    def widen(self, margin: int, height: int, width: int) -> tuple[tuple[slice, slice], np.ndarray]:
        """Rows and columns of the photo up to `margin` pixels around the mask, and the levels there."""
        top, left = max(self.top - margin, 0), max(self.left - margin, 0)
        bottom = min(self.top + self.levels.shape[0] + margin, height)
        right = min(self.left + self.levels.shape[1] + margin, width)
        above, before = self.top - top, self.left - left
        levels = np.zeros((bottom - top, right - left), np.uint8)
        levels[above : above + self.levels.shape[0], before : before + self.levels.shape[1]] = self.levels
        return (slice(top, bottom), slice(left, right)), levels

    def blend(
        self, tile: np.ndarray, frame: Frame, change: Change, reach: int, *, compiled: bool = False
    ) -> np.ndarray:
        """Blend `change` into `tile` by the mask; see `blend_by_weights`."""
        top = max(self.top, frame.top)
        bottom = min(self.top + len(self.levels), frame.top + tile.shape[1])
        if top >= bottom:
            return tile
        weights = np.divide(self.levels[top - self.top : bottom - self.top], 255, dtype=np.float32)
        part = top - frame.top, self.left, weights
        return blend_by_weights(tile, frame, part, change, reach, compiled=compiled)


def blend_by_weights(
    tile: np.ndarray,
    frame: Frame,
    weighted: tuple[int, int, np.ndarray],
    change: Change,
    reach: int,
    *,
    compiled: bool = False,
) -> np.ndarray:
    """Blend `change` into a part of `tile`, in place, by weights from 0 to 1.

    `weighted` is the first row and column of the part, and its weights (rows, columns). `change`, which reads
    up to `reach` pixels away, runs only on that part and what it reads around it.
    """
    top, left, weights = weighted
    height, width = weights.shape
    above, before = max(top - reach, 0), max(left - reach, 0)
    part = tile[:, above : top + height + reach, before : left + width + reach].copy()
    changed = change(part, frame.at(frame.top + above, frame.left + before))
    offset = top - above, left - before
    if compiled:
        from ..kernels import blend_part

        blend_part(tile, (top, left), weights, changed, offset)
        return tile
    changed = changed[:, offset[0] : offset[0] + height, offset[1] : offset[1] + width]
    inside = tile[:, top : top + height, left : left + width]
    inside += weights * (changed - inside)
    return tile


def _stretch_interval(first: int, last: int, scale: float, side: int, softness: float) -> tuple[int, int]:
    """The interval of photo pixels that mask pixels `first` to `last` affect, feather included."""
    spread = max(scale, 1) + _FEATHER_REACH * (softness + 1)
    return max(math.floor(first * scale - spread), 0), min(math.ceil(last * scale + spread), side)


@lru_cache(maxsize=64)
def _find_bounding_box(png: bytes) -> tuple[tuple[int, int], tuple[int, int, int, int] | None]:
    """Width and height, and the box (left, top, right, bottom) of everything that is not black."""
    picture = _decode_mask(png)
    return picture.size, picture.getbbox()


def _decode_mask(png: bytes) -> PIL.Image.Image:
    if not png.startswith(formats.PNG_SIGNATURE):
        raise RecipeError(f"mask: its PNG is damaged or none at all; {_MASK_FORMAT}")
    try:
        formats.check_structure(png)
    except ImageError as error:
        raise RecipeError(f"mask: {error}") from None
    try:
        return _to_grey(PIL.Image.open(io.BytesIO(png), formats=("PNG",)))
    except RecipeError:
        raise
    except PIL.Image.DecompressionBombError:
        raise RecipeError("mask: it has more pixels than a photo may have; make it smaller") from None
    except Exception:  # Pillow raises many kinds on damaged data
        raise RecipeError(f"mask: its PNG is damaged or none at all; {_MASK_FORMAT}") from None


def _to_grey(picture: PIL.Image.Image) -> PIL.Image.Image:
    """A picture in 8 bits, colours as the mean of their channels; refused where any of it is transparent."""
    if picture.has_transparency_data and picture.convert("RGBA").getchannel("A").getextrema()[0] != 255:
        raise RecipeError("mask: it is partly transparent, which is ambiguous; save it as plain grey")
    if picture.mode.startswith("I"):  # 16 bits, which Pillow would cut off at 255
        return PIL.Image.fromarray(to_depth(np.asarray(picture).astype(np.uint16), np.uint8))
    if picture.mode in ("1", "L", "LA"):
        return picture.convert("L")
    sums = np.asarray(picture.convert("RGB")).sum(axis=-1, dtype=np.uint16)
    return PIL.Image.fromarray(((sums + 1) // 3).astype(np.uint8))  # rounded


def _png_from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:  # also binascii.Error
        raise RecipeError(f"mask: its png is not base64; {_MASK_FORMAT}") from None


def _png_from_array(array: np.ndarray) -> bytes:
    if array.ndim != 2 or array.size == 0:
        raise RecipeError(f"a mask is an array (H, W), and one of shape {array.shape} was given")
    if array.dtype == bool:
        array = array * np.uint8(255)
    elif np.issubdtype(array.dtype, np.floating):
        if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
            raise RecipeError("a mask of floats runs from 0 to 1, and this one does not; scale it first")
        array = to_uint8(array)
    elif array.dtype != np.uint8:
        raise RecipeError(f"a mask is bool, uint8 or float, and {array.dtype} was given")
    stream = io.BytesIO()
    PIL.Image.fromarray(array).save(stream, "PNG")
    return stream.getvalue()


def _png_from_file(path: Path) -> bytes:
    picture = open_image(path)
    if picture.alpha is not None and to_depth(picture.alpha, np.float32).min() < 1:
        raise RecipeError(f"mask: {path} is partly transparent, which is ambiguous; save it as plain grey")
    return _png_from_array(to_depth(picture.pixels, np.float32).mean(axis=-1))

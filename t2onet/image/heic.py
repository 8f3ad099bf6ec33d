"""HEIC photos through pillow-heif, an extra. Takes and gives bytes, knows no paths."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import PIL.Image

from . import losses, metadata
from .arrays import split_alpha
from .limits import check_size
from .model import Image, Origin

_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs")
_CONTAINER_BRANDS = (b"mif1", b"msf1")


def looks_like(data: bytes) -> bool:
    """Whether the bytes begin as a HEIC file does."""
    if data[4:8] != b"ftyp":
        return False
    brands = data[8 : max(12, int.from_bytes(data[:4], "big"))]
    return data[8:12] in _BRANDS or (data[8:12] in _CONTAINER_BRANDS and b"avif" not in brands[:256])


def read(data: bytes, max_pixels: float | None = None) -> Image:
    """The primary photo. libheif has turned it already, so its EXIF orientation is not applied again."""
    heif: Any = _library().open_heif(io.BytesIO(data), convert_hdr_to_8bit=False)
    width, height = heif.size
    check_size(width, height, max_pixels)
    # A copy: some versions of pillow-heif free the pixels with the file.
    samples = _full_range(np.array(heif, copy=True), int(heif.info.get("bit_depth", 8)))
    gray = samples.ndim == 2 or samples.shape[2] < 3
    if gray:
        samples = np.atleast_3d(samples)
        samples = np.concatenate([samples[..., :1]] * 3 + [samples[..., 1:2]], axis=-1)
    pixels, alpha = split_alpha(np.ascontiguousarray(samples))
    found = metadata.read_exif(heif.info.get("exif"))
    packet = metadata.read_xmp(heif.info.get("xmp"))
    origin = Origin(
        format="HEIC",
        bits=8 * pixels.dtype.itemsize,
        gray=gray,
        exif=found.block,
        icc=heif.info.get("icc_profile"),
        xmp=packet.packet,
        encoded=data,
    )
    return Image(pixels, alpha, origin, (*found.notes, *packet.notes, *_losses(heif, data)))


def encode(picture: PIL.Image.Image, *, quality: int, **parts: Any) -> bytes:
    """The picture as HEIC, 8 bit; `parts` are exif, xmp and icc_profile."""
    library = _library()
    picture.info = {}
    file = library.from_pillow(picture)
    if parts.get("icc_profile"):
        file[0].info.update(icc_profile=parts.pop("icc_profile"), icc_profile_type="prof")
    output = io.BytesIO()
    file.save(output, quality=quality, chroma=444, **{key: value for key, value in parts.items() if value})
    return output.getvalue()


def _library() -> Any:
    import pillow_heif

    return pillow_heif


def _full_range(samples: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    # Deep samples come shifted up; repeating their leading bits below makes white 65535.
    return samples | samples >> bits if samples.dtype == np.uint16 and bits < 16 else samples


def _losses(heif: Any, data: bytes) -> list[str]:
    kinds = [str(kind) for kind in heif.info.get("aux", {})]
    gain_map = losses.declares_gain_map(data) or any("hdrgainmap" in kind for kind in kinds)
    notes = [losses.GAIN_MAP] if gain_map else []
    if not heif.info.get("icc_profile"):
        notes.extend(losses.of_space(data))
    if heif.info.get("depth_images"):
        notes.append("the depth map cannot be kept")
    extra = len(heif) - 1
    if extra:
        notes.append(losses.more(extra, "frame"))
    return notes

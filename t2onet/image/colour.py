"""Colour: sRGB, linear light, CIE XYZ and CIELAB under D65 as formulas, and ICC profiles.

The formulas take NumPy arrays or torch tensors of shape (..., 3, H, W).
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageCms

from .pixels import Array, array_namespace

Matrix = tuple[tuple[float, float, float], ...]

LINEAR_TO_XYZ: Matrix = (
    (0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883),
)
"""Linear sRGB to XYZ relative to the white point, so that white is (1, 1, 1) (IEC 61966-2-1, D65)."""
_XYZ_TO_LINEAR: Matrix = (
    (3.2404542 * 0.95047, -1.5371385, -0.4985314 * 1.08883),
    (-0.9692660 * 0.95047, 1.8760108, 0.0415560 * 1.08883),
    (0.0556434 * 0.95047, -0.2040259, 1.0572252 * 1.08883),
)
LUMINANCE_WEIGHTS = LINEAR_TO_XYZ[1]
"""Weight of each channel of linear light in the luminance Y."""

_LINEAR_BELOW = 0.04045
"""sRGB values up to this lie on the linear segment."""
_CUBE_BELOW = 6.0 / 29.0
"""Cube roots up to this lie on the linear segment of CIELAB."""

_TRANSFORM_FLAGS = ImageCms.Flags.BLACKPOINTCOMPENSATION
_RENDERING_INTENT = ImageCms.Intent.RELATIVE_COLORIMETRIC
# LittleCMS and its wrapper raise any of these on damaged profiles.
_PROFILE_ERRORS = (ImageCms.PyCMSError, OSError, ValueError, TypeError)


def decode_srgb(image: Array) -> Array:
    """Display-referred sRGB in [0, 1] to linear light."""
    xp = array_namespace(image)
    powered = ((xp.clip(image, _LINEAR_BELOW, None) + 0.055) / 1.055) ** 2.4
    return xp.where(image > _LINEAR_BELOW, powered, image / 12.92)


def encode_srgb(light: Array) -> Array:
    """Linear light to display-referred sRGB; negative values stay on the linear segment."""
    xp = array_namespace(light)
    edge = _LINEAR_BELOW / 12.92
    powered = 1.055 * xp.clip(light, edge, None) ** (1 / 2.4) - 0.055
    return xp.where(light > edge, powered, 12.92 * light)


def linear_to_xyz(light: Array) -> Array:
    """Linear light to XYZ, with white at (1, 1, 1)."""
    return _mix_channels(LINEAR_TO_XYZ, light)


def xyz_to_linear(values: Array) -> Array:
    """XYZ, with white at (1, 1, 1), to linear light."""
    return _mix_channels(_XYZ_TO_LINEAR, values)


def luminance(light: Array) -> Array:
    """Y of linear light: (..., 3, H, W) -> (..., 1, H, W)."""
    return _mix_channels((LUMINANCE_WEIGHTS,), light)


def luminance_to_lightness(values: Array) -> Array:
    """Luminance in [0, 1] to L* / 100, elementwise."""
    return 1.16 * _cie_root(values) - 0.16


def lightness_to_luminance(values: Array) -> Array:
    """L* / 100 to luminance, elementwise."""
    return _cie_cube((values + 0.16) / 1.16)


def srgb_to_lab(image: Array) -> Array:
    """Display-referred sRGB to L*, a*, b*."""
    roots = _cie_root(linear_to_xyz(decode_srgb(image)))
    x, y, z = (roots[..., i, :, :] for i in range(3))
    return array_namespace(image).stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=-3)


def lab_to_srgb(values: Array) -> Array:
    """L*, a*, b* to display-referred sRGB, beyond [0, 1] for colours that sRGB does not have."""
    lightness, a, b = (values[..., i, :, :] for i in range(3))
    y = (lightness + 16.0) / 116.0
    roots = array_namespace(values).stack([y + a / 500.0, y, y - b / 200.0], axis=-3)
    return encode_srgb(xyz_to_linear(_cie_cube(roots)))


def _cie_root(values: Array) -> Array:
    """CIE's cube root, linear near black."""
    xp = array_namespace(values)
    edge = _CUBE_BELOW**3
    curved = xp.clip(values, edge, None) ** (1 / 3)
    return xp.where(values > edge, curved, values / (3 * _CUBE_BELOW**2) + 4 / 29)


def _cie_cube(roots: Array) -> Array:
    xp = array_namespace(roots)
    return xp.where(roots > _CUBE_BELOW, roots**3, 3 * _CUBE_BELOW**2 * (roots - 4 / 29))


def _mix_channels(matrix: Matrix, channels: Array) -> Array:
    """Multiply channels by a matrix, as weighted sums: a GPU may round a matrix product to ten bits."""
    planes = [channels[..., i, :, :] for i in range(3)]
    mixed = [sum(w * plane for w, plane in zip(row, planes, strict=True)) for row in matrix]
    return array_namespace(channels).stack(mixed, axis=-3)


def read_profile_space(profile: bytes | None) -> str | None:
    """The colour space an ICC profile names ("RGB", "GRAY", "CMYK", "Lab"); None without a profile."""
    return None if profile is None else profile[16:20].decode("ascii", "replace").strip()


def convert_picture_to_srgb(picture: PIL.Image.Image, profile: bytes | None) -> PIL.Image.Image | None:
    """Convert `picture` to sRGB through an ICC profile, or from CIELAB without one; None if it is damaged."""
    try:
        source = _open_profile(profile) if profile is not None else ImageCms.createProfile("LAB")
        transform = ImageCms.buildTransform(
            source, ImageCms.createProfile("sRGB"), picture.mode, "RGB", _RENDERING_INTENT, _TRANSFORM_FLAGS
        )
        return ImageCms.applyTransform(picture, transform)
    except _PROFILE_ERRORS:
        return None


def is_srgb(profile: bytes) -> bool:
    """Whether an ICC profile is sRGB in effect: no colour of a coarse grid changes by more than one level."""
    if read_profile_space(profile) != "RGB":
        return False
    levels = np.linspace(0, 255, 9).round().astype(np.uint8)
    grid = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(9, 81, 3)
    converted = convert_array_to_srgb(grid, profile)
    return converted is not None and int(np.abs(converted.astype(int) - grid).max()) <= 1


def convert_array_to_srgb(pixels: NDArray[np.uint8], profile: bytes) -> NDArray[Any] | None:
    """Convert (H, W, 3) to sRGB; a gray profile applies to the first channel. None if it is damaged."""
    samples = pixels[..., 0] if read_profile_space(profile) == "GRAY" else pixels
    converted = convert_picture_to_srgb(PIL.Image.fromarray(np.ascontiguousarray(samples)), profile)
    return None if converted is None else np.asarray(converted)


def _open_profile(profile: bytes) -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(io.BytesIO(profile))

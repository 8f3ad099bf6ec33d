"""Colour spaces (sRGB, linear light, XYZ, CIELAB under D65) for NumPy and torch."""

from __future__ import annotations

from .arrays import Array, array_namespace

# Colour spaces: displayed sRGB, linear light, CIE XYZ and CIELAB, all under D65.
#
# Written once for NumPy arrays and torch tensors; the channel axis is third from last, (..., 3, H, W).

Matrix = tuple[tuple[float, float, float], ...]

_LINEAR_TO_XYZ: Matrix = (
    (0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883),
)
"""Linear sRGB to XYZ over that of the white, so that white is (1, 1, 1) (IEC 61966-2-1, D65)."""
_XYZ_TO_LINEAR: Matrix = (
    (3.2404542 * 0.95047, -1.5371385, -0.4985314 * 1.08883),
    (-0.9692660 * 0.95047, 1.8760108, 0.0415560 * 1.08883),
    (0.0556434 * 0.95047, -0.2040259, 1.0572252 * 1.08883),
)
LUMINANCE_WEIGHTS = _LINEAR_TO_XYZ[1]
"""What each channel of linear light adds to the luminance Y."""

_LINEAR_BELOW = 0.04045
_CUBE_BELOW = 6.0 / 29.0


def decode_srgb(image: Array) -> Array:
    """Displayed sRGB in [0, 1] to linear light."""
    xp = array_namespace(image)
    powered = ((xp.clip(image, _LINEAR_BELOW, None) + 0.055) / 1.055) ** 2.4
    return xp.where(image > _LINEAR_BELOW, powered, image / 12.92)


def encode_srgb(light: Array) -> Array:
    """Linear light to displayed sRGB; negative light stays on the straight part."""
    xp = array_namespace(light)
    edge = _LINEAR_BELOW / 12.92
    powered = 1.055 * xp.clip(light, edge, None) ** (1 / 2.4) - 0.055
    return xp.where(light > edge, powered, 12.92 * light)


def linear_to_xyz(light: Array) -> Array:
    """Linear light to XYZ, with white at (1, 1, 1)."""
    return _mix_channels(_LINEAR_TO_XYZ, light)


def xyz_to_linear(values: Array) -> Array:
    """XYZ, with white at (1, 1, 1), to linear light."""
    return _mix_channels(_XYZ_TO_LINEAR, values)


def luminance(light: Array) -> Array:
    """Y of linear light: (..., 3, H, W) -> (..., 1, H, W)."""
    return _mix_channels((LUMINANCE_WEIGHTS,), light)


def luminance_to_lightness(values: Array) -> Array:
    """L* / 100 of luminance in [0, 1], element by element."""
    return 1.16 * _cie_root(values) - 0.16


def lightness_to_luminance(values: Array) -> Array:
    """Luminance of L* / 100, element by element."""
    return _cie_cube((values + 0.16) / 1.16)


def srgb_to_lab(image: Array) -> Array:
    """Displayed sRGB to L*, a*, b*."""
    roots = _cie_root(linear_to_xyz(decode_srgb(image)))
    x, y, z = (roots[..., i, :, :] for i in range(3))
    return array_namespace(image).stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=-3)


def lab_to_srgb(values: Array) -> Array:
    """L*, a*, b* to displayed sRGB, which may lie outside [0, 1]."""
    y = (values[..., 0, :, :] + 16.0) / 116.0
    x, z = y + values[..., 1, :, :] / 500.0, y - values[..., 2, :, :] / 200.0
    return encode_srgb(xyz_to_linear(_cie_cube(array_namespace(values).stack([x, y, z], axis=-3))))


def _cie_root(values: Array) -> Array:
    """CIE's cube root, straight near black."""
    xp = array_namespace(values)
    edge = _CUBE_BELOW**3
    curved = xp.clip(values, edge, None) ** (1 / 3)
    return xp.where(values > edge, curved, values / (3 * _CUBE_BELOW**2) + 4 / 29)


def _cie_cube(roots: Array) -> Array:
    xp = array_namespace(roots)
    return xp.where(roots > _CUBE_BELOW, roots**3, 3 * _CUBE_BELOW**2 * (roots - 4 / 29))


def _mix_channels(matrix: Matrix, channels: Array) -> Array:
    """Weighted sums of channels; not a matrix product, which a GPU may round to ten bits."""
    planes = [channels[..., i, :, :] for i in range(3)]
    mixed = [sum(w * plane for w, plane in zip(row, planes, strict=True)) for row in matrix]
    return array_namespace(channels).stack(mixed, axis=-3)

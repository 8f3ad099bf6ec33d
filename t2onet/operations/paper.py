"""The paper's six operations: brightness, saturation, contrast, tone, color and sharpness.

The equations are those of the appendix of "Learning by Planning: Language-Guided Global Image Editing".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from ..image.pixels import Array, array_namespace, make_shifter, per_pixel
from ._declarations import Attribute, Frame, Operation
from ._parameters import Parameter, ParameterValues, Phrase, adverb, degree, percent
from ._registry import register

PAPER = ("brightness", "saturation", "contrast", "tone", "color", "sharpness")
"""The paper's set, in the order of a network's outputs and of the keys of stored plans."""

PAPER_LUMINANCE_WEIGHTS = (0.27, 0.67, 0.06)
"""Weights of red, green and blue."""
CURVE_PIECES = 8
"""Straight pieces of a tone or color curve."""
_TINY = 1e-8
"""Replaces a zero divisor: far below one 16-bit level, and its square's inverse is finite in float32."""


def _hsv_value(image: Array) -> Array:
    return array_namespace(image).amax(image, axis=-3, keepdims=True)


def _gain(p: Array, image: Array) -> Array:
    return array_namespace(image).clip(1.0 + per_pixel(p), 0.0, None)


def brightness(image: Array, parameters: Array, frame: Frame) -> Array:
    """I' = I * V'/V, V' = clip((1 + p) V) in HSV: the gain 1 + p, or 1/V where that would exceed one.

    With hue and saturation kept, scaling V scales the three channels alike. Written so, no hue is computed,
    and black pixels, where it is undefined, have finite gradients.
    """
    xp = array_namespace(image)
    limit = 1.0 / xp.clip(_hsv_value(image), _TINY, None)
    return image * xp.minimum(_gain(parameters[..., 0], image), limit)


BRIGHTNESS = register(
    Operation(
        name="brightness",
        group="light",
        position=10,
        attribute=Attribute.LIGHTNESS,
        help="Lightens or darkens: the HSV value of every pixel times 1 + p.",
        parameters=(
            Parameter(
                "p",
                -1.0,
                2.0,
                0.0,
                unit="relative change",
                help="0.2 makes it 20 % lighter, -1 black; what passes white is cut off",
                sampling=2.0,
            ),
        ),
        phrase=Phrase(more="brighter", less="darker", amount=percent, lowest="all black"),
        formula=brightness,
    )
)


def saturation(image: Array, parameters: Array, frame: Frame) -> Array:
    """I' = V - (V - I) * S'/S, S' = clip((1 + p) S): the gain 1 + p, or 1/S where that would exceed one.

    With hue and value kept, scaling S scales each channel's distance from V.
    """
    xp = array_namespace(image)
    value = _hsv_value(image)
    chroma = value - xp.amin(image, axis=-3, keepdims=True)
    limit = value / xp.clip(chroma, _TINY, None)
    return value - (value - image) * xp.minimum(_gain(parameters[..., 0], image), limit)


SATURATION = register(
    Operation(
        name="saturation",
        group="colour",
        position=30,
        attribute=Attribute.COLOURFULNESS,
        help="Strengthens or fades colours: the HSV saturation of every pixel times 1 + p.",
        parameters=(
            Parameter(
                "p",
                -1.0,
                2.0,
                0.0,
                unit="relative change",
                help="0.2 makes colours 20 % stronger, -1 leaves the grey of the brightest channel",
                sampling=0.5,
            ),
        ),
        phrase=Phrase(more="more colourful", less="less colourful", amount=percent, lowest="without colour"),
        formula=saturation,
    )
)


def paper_luminance(image: Array) -> Array:
    """(..., 3, H, W) -> (..., 1, H, W)."""
    red, green, blue = (image[..., c : c + 1, :, :] for c in range(3))
    return (
        PAPER_LUMINANCE_WEIGHTS[0] * red
        + PAPER_LUMINANCE_WEIGHTS[1] * green
        + PAPER_LUMINANCE_WEIGHTS[2] * blue
    )


def contrast(image: Array, parameters: Array, frame: Frame) -> Array:
    """I' = (1 - p) I + p I * E/lum, E = (1 - cos(pi lum)) / 2.

    E/lum = sin(pi lum / 2)^2 / lum is written with sinc(x) = sin(pi x) / (pi x), which is smooth at black.
    The curve turns around 1/2. Another pivot q bends it there: lum becomes lum^g and E becomes E^(1/g), with
    q^g = 1/2, so that black, q and white stay.
    """
    xp = array_namespace(image)
    lum = paper_luminance(image)
    if parameters.shape[-1] == 1:  # as published
        ratio = (math.pi**2 / 4) * lum * xp.sinc(lum / 2) ** 2
    else:
        power = per_pixel(math.log(0.5) / xp.log(parameters[..., 1]))
        bent = xp.clip(lum, _TINY, None) ** power
        ratio = ((math.pi**2 / 4) * bent * xp.sinc(bent / 2) ** 2) ** (1.0 / power)
    return image * (1.0 + per_pixel(parameters[..., 0]) * (ratio - 1.0))


CONTRAST = register(
    Operation(
        name="contrast",
        group="light",
        position=50,
        attribute=Attribute.CONTRAST,
        help="Deepens darks and lifts lights, or the reverse: a blend with the cosine curve.",
        parameters=(
            Parameter(
                "p",
                -1.0,
                1.0,
                0.0,
                unit="share of the curve",
                help="1 is the full curve, below 0 flattens",
                sampling=1.0,
            ),
            Parameter(
                "pivot",
                0.1,
                0.9,
                0.5,
                unit="share of white",
                help="the tone that stays as it is; 0.5 is the middle grey of the display",
                is_kind=True,
                published=False,
            ),
        ),
        phrase=Phrase(more="more contrast", less="less contrast", amount=percent),
        formula=contrast,
    )
)


def apply_curve(image: Array, rises: list[Array]) -> Array:
    """f(x) = sum_i clip(N x - i, 0, 1) p_i / sum_i p_i, the rises p_i broadcast over the pixels."""
    xp = array_namespace(image)
    climbed = sum(xp.clip(CURVE_PIECES * image - i, 0.0, 1.0) * rise for i, rise in enumerate(rises))
    return climbed / sum(rises)


def tone(image: Array, parameters: Array, frame: Frame) -> Array:
    """One curve for all channels."""
    return apply_curve(image, [per_pixel(parameters[..., i]) for i in range(CURVE_PIECES)])


def color(image: Array, parameters: Array, frame: Frame) -> Array:
    """A curve for each channel: the eight rises of red, then green, then blue."""
    channels = parameters.reshape((*parameters.shape[:-1], 3, CURVE_PIECES))
    return apply_curve(image, [channels[..., i][..., None, None] for i in range(CURVE_PIECES)])


def normalize_rises(values: ParameterValues) -> ParameterValues:
    """The same curves with rises that average one: only their ratios matter."""
    rows = (values[start : start + CURVE_PIECES] for start in range(0, len(values), CURVE_PIECES))
    return tuple(value * CURVE_PIECES / sum(row) for row in rows for value in row)


def _declare_rises(name: str, what: str, sampling: float) -> Parameter:
    return Parameter(
        name,
        0.02,
        8.0,
        1.0,
        unit="relative rise",
        help=f"how steeply {what} rises in each eighth from dark to light; only ratios matter",
        count=CURVE_PIECES,
        sampling=sampling,
    )


_NOTICEABLE_SHIFT = 0.01
"""Shift of a curve, in units of full scale, below which it is not visible."""

_TONAL_REGIONS = {"shadows": (1, 2), "midtones": (3, 4, 5), "highlights": (6, 7)}
"""Knots of the curve, in eighths from dark to light."""

# Directions in which the red, green and blue curves move apart.
_TINTS = {
    "warmer": (1, 0, -1),
    "cooler": (-1, 0, 1),
    "redder": (2, -1, -1),
    "greener": (-1, 2, -1),
    "bluer": (-1, -1, 2),
    "yellower": (1, 1, -2),
    "more cyan": (-2, 1, 1),
    "more magenta": (1, -2, 1),
}
_MAX_CURVE_WORDS = 7
"""Words for curves by region; beyond, the picture is described as a whole."""


def describe_tone(rises: ParameterValues) -> str:
    """One curve for all channels: "midtones and highlights lifted"."""
    return ", ".join(_word_lifts(_measure_shifts(rises))) or "tone curve barely bent"


def describe_color(rises: ParameterValues) -> str:
    """A curve for each channel: "warmer shadows, cooler highlights"."""
    pieces = len(rises) // 3
    by_channel = [_measure_shifts(rises[start : start + pieces]) for start in range(0, len(rises), pieces)]
    by_region = {name: tuple(channel[name] for channel in by_channel) for name in _TONAL_REGIONS}
    phrases = _word_regions(by_region)
    if sum(len(phrase.split()) for phrase in phrases) > _MAX_CURVE_WORDS:
        mean = tuple(sum(shifts) / len(by_region) for shifts in zip(*by_region.values(), strict=True))
        phrases = _word_regions(dict.fromkeys(_TONAL_REGIONS, mean)) or ["colours shifted by tone"]
    return ", ".join(phrases) or "colour curves barely bent"


def _measure_shifts(rises: Sequence[float]) -> dict[str, float]:
    """How far each region of a curve lies above the diagonal."""
    heights = [0.0, *accumulate(rise / sum(rises) for rise in rises)]
    shift = [height - k / len(rises) for k, height in enumerate(heights)]
    return {name: sum(shift[k] for k in knots) / len(knots) for name, knots in _TONAL_REGIONS.items()}


def _word_regions(by_region: dict[str, tuple[float, ...]]) -> list[str]:
    """Tints and lifts from the shifts of red, green and blue in each region."""
    tints = {name: _find_tint(*shifts) for name, shifts in by_region.items()}
    means = {name: sum(shifts) / len(shifts) for name, shifts in by_region.items()}
    return [*_word_tints(tints), *_word_lifts(means, beside=max(size for _, size in tints.values()))]


def _word_lifts(shifts: dict[str, float], beside: float = 0.0) -> list[str]:
    """Which regions became lighter or darker; nothing where a larger shift `beside` them hides it."""
    least = max(_NOTICEABLE_SHIFT, max(beside, *map(abs, shifts.values())) / 4)
    phrases = []
    for moved, whole, sign in (("lifted", "brighter", 1), ("lowered", "darker", -1)):
        regions = [name for name, shift in shifts.items() if sign * shift >= least]
        size = max((abs(shifts[name]) for name in regions), default=0.0)
        if len(regions) == len(_TONAL_REGIONS):
            phrases.append(f"{degree(size, 0.03, 0.1)} {whole}".strip())
        elif regions:
            phrases.append(" ".join(f"{' and '.join(regions)} {adverb(size, 0.03, 0.1)} {moved}".split()))
    return phrases


def _find_tint(red: float, green: float, blue: float) -> tuple[str, float]:
    """The name of a colour shift and its size."""
    mean = (red + green + blue) / 3
    apart = (red - mean, green - mean, blue - mean)

    def agreement(name: str) -> float:
        towards = _TINTS[name]
        along: float = sum(map(mul, apart, towards))
        return along / math.hypot(*towards)

    return max(_TINTS, key=agreement), max(map(abs, apart))


def _word_tints(tints: dict[str, tuple[str, float]]) -> list[str]:
    """Visible tints: one for the picture where all regions agree, otherwise by region."""
    visible = {region: tint for region, (tint, size) in tints.items() if size >= _NOTICEABLE_SHIFT}
    if len(set(visible.values())) == 1:
        (tint,) = set(visible.values())
        return [f"{degree(max(size for _, size in tints.values()), 0.03, 0.1)} {tint}".strip()]
    regions = {tint: [name for name, one in visible.items() if one == tint] for tint in visible.values()}
    return [f"{tint} {' and '.join(names)}" for tint, names in regions.items()]


TONE = register(
    Operation(
        name="tone",
        group="light",
        position=40,
        attribute=Attribute.LIGHTNESS,
        help="A tone curve of eight pieces, the same for red, green and blue.",
        parameters=(_declare_rises("rises", "the curve", 0.75),),
        phrase=describe_tone,
        brief="tones adjusted",
        formula=tone,
        per_channel=True,
        canonical=normalize_rises,
    )
)

COLOR = register(
    Operation(
        name="color",
        group="colour",
        position=20,
        attribute=Attribute.WARMTH,
        help="Three tone curves of eight pieces, one each for red, green and blue.",
        parameters=tuple(_declare_rises(channel, channel, 0.1) for channel in ("red", "green", "blue")),
        phrase=describe_color,
        brief="colours adjusted",
        formula=color,
        per_channel=True,
        canonical=normalize_rises,
    )
)

CURVES = (TONE.name, COLOR.name)
"""Operations whose parameters are the rises of one or three curves of CURVE_PIECES pieces."""


@dataclass(frozen=True)
class LaplacianNeighbourhood:
    """Where the four neighbours of a pixel are read at one pixel scale."""

    near: int
    """Whole pixels away; the neighbours lie between `near` and `near + 1`."""
    fraction: float
    """How far towards `near + 1`."""
    weights: tuple[float, ...]
    """Smoothing along each axis, odd in number, summing to one."""

    @property
    def reach(self) -> int:
        return self.near + (self.fraction > 0) + len(self.weights) // 2


def laplacian_neighbourhood(scale: float) -> LaplacianNeighbourhood:
    """One pixel away and no smoothing at scale one, growing in proportion above.

    Shifts by one preview pixel commute with averaging down to the preview; the smoothing, with the distance
    shortened so that the spread stays the same, keeps fine lines from echoing.
    """
    variance = (scale**2 - 1) / 6
    distance = math.sqrt(scale**2 - 2 * variance)
    return LaplacianNeighbourhood(int(distance), distance - int(distance), _gaussian_weights(variance))


def _gaussian_weights(variance: float) -> tuple[float, ...]:
    if variance == 0:
        return (1.0,)
    half = math.ceil(3 * math.sqrt(variance))
    raw = [math.exp(-(x * x) / (2 * variance)) for x in range(-half, half + 1)]
    return tuple(weight / sum(raw) for weight in raw)


def _smooth(image: Array, weights: tuple[float, ...]) -> Array:
    half = len(weights) // 2
    for axis in (-2, -1) if half else ():
        shift = make_shifter(image, half, axis)
        image = sum(weight * shift(i - half) for i, weight in enumerate(weights))
    return image


def laplacian(image: Array, scale: float) -> Array:
    """Centre-positive: 4 I minus the four neighbours."""
    neighbourhood = laplacian_neighbourhood(scale)
    near = neighbourhood.near
    smooth = _smooth(image, neighbourhood.weights)
    shift_rows, shift_columns = make_shifter(smooth, near + 1, -2), make_shifter(smooth, near + 1, -1)

    def sum_four(distance: int) -> Array:
        return (
            shift_rows(-distance) + shift_rows(distance) + shift_columns(-distance) + shift_columns(distance)
        )

    around = sum_four(near)
    if neighbourhood.fraction:
        around = around + neighbourhood.fraction * (sum_four(near + 1) - around)
    return 4.0 * image - around


def sharpness(image: Array, parameters: Array, frame: Frame) -> Array:
    """I' = I + p * Laplacian(I)."""
    return image + per_pixel(parameters[..., 0]) * laplacian(image, frame.scale)


def _word_sharpness(p: float) -> str:
    return degree(p, 0.1, 0.6) if p > 0 else degree(-p, 0.05, 0.18)


SHARPNESS = register(
    Operation(
        name="sharpness",
        group="detail",
        position=60,
        attribute=Attribute.SHARPNESS,
        help="Sharpens or softens: p times the Laplacian is added.",
        parameters=(
            Parameter(
                "p",
                -0.25,
                1.5,
                0.0,
                unit="weight of the Laplacian",
                help="0.3 is clearly sharper, below 0 softens, -0.25 is the mean of the neighbours",
                sampling=0.75,
            ),
        ),
        phrase=Phrase(more="sharper", less="softer", amount=_word_sharpness),
        formula=sharpness,
        reach=lambda frame: laplacian_neighbourhood(frame.scale).reach,
    )
)

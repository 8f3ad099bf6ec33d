"""Words for tone and colour curves: which tones they lift or lower, and which tint they add."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from operator import mul

from ._registry import ParameterValues, adverb

_NOTICEABLE_SHIFT = 0.01
"""Shift of a curve, in units of full scale, below which it is not visible."""

_TONAL_REGIONS = {"shadows": (1, 2), "midtones": (3, 4, 5), "highlights": (6, 7)}
"""Knots of the curve, in eighths from dark to light."""

# Directions in which the red, green and blue curves move apart.
_TINTS = {
    "warms": (1, 0, -1),
    "cools": (-1, 0, 1),
    "red": (2, -1, -1),
    "green": (-1, 2, -1),
    "blue": (-1, -1, 2),
    "yellow": (1, 1, -2),
    "cyan": (-2, 1, 1),
    "magenta": (1, -2, 1),
}


def describe_tone(rises: ParameterValues) -> str:
    """One curve for all channels: "lifts the midtones and highlights"."""
    return _describe_lifts(_measure_shifts(rises)) or "bends the tone curve very slightly"


def describe_color(rises: ParameterValues) -> str:
    """A curve for each channel: "warms the shadows and cools the highlights"."""
    pieces = len(rises) // 3
    by_channel = [_measure_shifts(rises[start : start + pieces]) for start in range(0, len(rises), pieces)]
    by_region = {name: tuple(channel[name] for channel in by_channel) for name in _TONAL_REGIONS}
    tints = {name: _find_tint(*shifts) for name, shifts in by_region.items()}
    visible = {name: tint for name, tint in tints.items() if tint[1] >= _NOTICEABLE_SHIFT}
    phrases = []
    if len({tint for tint, _ in visible.values()}) == 1:
        tint = next(iter(visible.values()))[0]
        phrases.append(_describe_tint(tint, max(size for _, size in visible.values()), "colours"))
    else:
        phrases += [_describe_tint(tint, size, name) for name, (tint, size) in visible.items()]
    means = {name: sum(shifts) / 3 for name, shifts in by_region.items()}
    phrases.append(_describe_lifts(means, beside=max(size for _, size in tints.values())))
    return " and ".join(filter(None, phrases)) or "bends the colour curves very slightly"


def _measure_shifts(rises: Sequence[float]) -> dict[str, float]:
    """How far each region of a curve lies above the diagonal."""
    heights = [0.0, *accumulate(rise / sum(rises) for rise in rises)]
    shift = [height - k / len(rises) for k, height in enumerate(heights)]
    return {name: sum(shift[k] for k in knots) / len(knots) for name, knots in _TONAL_REGIONS.items()}


def _describe_lifts(shifts: dict[str, float], beside: float = 0.0) -> str:
    """Which regions became lighter or darker; empty where a larger shift `beside` them hides it."""
    least = max(_NOTICEABLE_SHIFT, max(beside, *map(abs, shifts.values())) / 4)
    moves = [
        _describe_regions(verb, [name for name, shift in shifts.items() if sign * shift >= least], shifts)
        for verb, sign in (("lifts", 1), ("lowers", -1))
    ]
    return " and ".join(filter(None, moves))


def _describe_regions(verb: str, regions: list[str], shifts: dict[str, float]) -> str:
    if not regions:
        return ""
    amount = adverb(max(abs(shifts[name]) for name in regions), 0.03, 0.1)
    what = "all tones" if len(regions) == len(_TONAL_REGIONS) else f"the {' and '.join(regions)}"
    return f"{verb} {what} {amount}".rstrip()


def _find_tint(red: float, green: float, blue: float) -> tuple[str, float]:
    """The name of a colour shift and its size."""
    mean = (red + green + blue) / 3
    apart = (red - mean, green - mean, blue - mean)

    def agreement(name: str) -> float:
        towards = _TINTS[name]
        along: float = sum(map(mul, apart, towards))
        return along / math.hypot(*towards)

    return max(_TINTS, key=agreement), max(map(abs, apart))


def _describe_tint(tint: str, size: float, what: str) -> str:
    amount = adverb(size, 0.03, 0.1)
    if tint in ("warms", "cools"):
        return f"{tint} the {what} {amount}".rstrip()
    return " ".join(filter(None, (f"tints the {what}", amount, f"towards {tint}")))

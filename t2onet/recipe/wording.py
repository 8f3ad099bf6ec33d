"""Steps in plain English."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul

from .. import operations
from ..operations import ParameterValues
from ..operations.paper import CURVE_PIECES

# Operations in plain English.
#
# An operation with a phrase of its own is said nicely; any other is said by its name and numbers.

_NOTICEABLE_SHIFT = 0.01
"""Shift of a curve, in units of full scale, below which nobody sees it."""

_TONAL_REGIONS = {"shadows": (1, 2), "midtones": (3, 4, 5), "highlights": (6, 7)}
"""Knots of the curve, in eighths from dark to light."""

# Directions in which the red, green and blue curves move apart, as people name them.
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


def describe_step(operation: str, values: ParameterValues) -> str:
    """One step, without a full stop: "raises contrast by 30 %"."""
    if operations.get_operation(operation).is_identity(values):
        return f"leaves {operation} alone"
    return _PHRASES.get(operation, _describe_plainly)(operation, values)


def describe_repair(name: str) -> str:
    """One repair, without a full stop."""
    return "removes something from the picture" if name == "inpaint" else f"repairs the picture ({name})"


def join_as_sentence(phrases: Sequence[str]) -> str:
    """Phrases as one sentence."""
    *first, last = phrases
    text = f"{', '.join(first)} and {last}" if first else last
    return f"{text[0].upper()}{text[1:]}."


def _describe_plainly(operation: str, values: ParameterValues) -> str:
    numbers = ", ".join(f"{value:g}" for value in values)
    return f"applies {operation} ({numbers})"


def _make_percent_phrase(more: str, less: str, last: str) -> Callable[[str, ParameterValues], str]:
    def phrase(operation: str, values: ParameterValues) -> str:
        if values[0] == -1:
            return last
        return f"{more if values[0] > 0 else less} by {_format_percent(100 * abs(values[0]))} %"

    return phrase


def _format_percent(percent: float) -> str:
    return f"{percent:.0f}" if percent >= 1 else f"{percent:.1g}"


def _choose_adverb(size: float, small: float, large: float) -> str:
    return " slightly" if size < small else " strongly" if size > large else ""


def _describe_sharpness(operation: str, values: ParameterValues) -> str:
    p = values[0]
    return f"sharpens{_choose_adverb(p, 0.1, 0.6)}" if p > 0 else f"softens{_choose_adverb(-p, 0.05, 0.18)}"


def _measure_shifts(rises: Sequence[float]) -> dict[str, float]:
    """How far each region of a curve lies above the diagonal."""
    heights = [0.0, *accumulate(rise / sum(rises) for rise in rises)]
    shift = [height - k / CURVE_PIECES for k, height in enumerate(heights)]
    return {name: sum(shift[k] for k in knots) / len(knots) for name, knots in _TONAL_REGIONS.items()}


def _describe_tone(operation: str, values: ParameterValues) -> str:
    return _describe_lifts(_measure_shifts(values)) or "bends the tone curve very slightly"


def _describe_lifts(shifts: dict[str, float], beside: float = 0.0) -> str:
    """Which regions became lighter or darker; empty where nobody sees it `beside` a larger shift."""
    seen = max(_NOTICEABLE_SHIFT, max(beside, *map(abs, shifts.values())) / 4)
    moves = [
        _describe_regions(verb, [name for name, shift in shifts.items() if sign * shift >= seen], shifts)
        for verb, sign in (("lifts", 1), ("lowers", -1))
    ]
    return " and ".join(filter(None, moves))


def _describe_regions(verb: str, regions: list[str], shifts: dict[str, float]) -> str:
    if not regions:
        return ""
    amount = _choose_adverb(max(abs(shifts[name]) for name in regions), 0.03, 0.1)
    what = "all tones" if len(regions) == len(_TONAL_REGIONS) else f"the {' and '.join(regions)}"
    return f"{verb} {what}{amount}"


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
    amount = _choose_adverb(size, 0.03, 0.1)
    if tint in ("warms", "cools"):
        return f"{tint} the {what}{amount}"
    return f"tints the {what}{amount} towards {tint}"


def _describe_color(operation: str, values: ParameterValues) -> str:
    by_channel = [
        _measure_shifts(values[i : i + CURVE_PIECES]) for i in range(0, 3 * CURVE_PIECES, CURVE_PIECES)
    ]
    by_region = {name: tuple(channel[name] for channel in by_channel) for name in _TONAL_REGIONS}
    tints = {name: _find_tint(*shifts) for name, shifts in by_region.items()}
    seen = {name: tint for name, tint in tints.items() if tint[1] >= _NOTICEABLE_SHIFT}
    phrases = []
    if len({tint for tint, _ in seen.values()}) == 1:
        tint = next(iter(seen.values()))[0]
        phrases.append(_describe_tint(tint, max(size for _, size in seen.values()), "colours"))
    else:
        phrases += [_describe_tint(tint, size, name) for name, (tint, size) in seen.items()]
    means = {name: sum(shifts) / 3 for name, shifts in by_region.items()}
    phrases.append(_describe_lifts(means, beside=max(size for _, size in tints.values())))
    return " and ".join(filter(None, phrases)) or "bends the colour curves very slightly"


_PHRASES: dict[str, Callable[[str, ParameterValues], str]] = {
    "brightness": _make_percent_phrase("brightens", "darkens", "turns everything black"),
    "saturation": _make_percent_phrase("strengthens colours", "fades colours", "takes all colour out"),
    "contrast": _make_percent_phrase("raises contrast", "lowers contrast", "lowers contrast by 100 %"),
    "sharpness": _describe_sharpness,
    "tone": _describe_tone,
    "color": _describe_color,
}

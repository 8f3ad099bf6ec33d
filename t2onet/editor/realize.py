"""From wishes to changes: which numbers of which operations a wish moves, which way, and how far.

A number that a person stated is taken as it is. For the others there is a target, in just-noticeable
differences of what the wish is about; `check.py` finds the number that reaches it on the photo.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import operations
from ..language.quantities import Quantity, Unit
from ..language.wishes import HUES, RANGES, WHOLE, ZONES, Amount, Direction, Wish, get_attributes
from ..operations import Attribute
from .measures import Measure

AMOUNT_FACTORS = {Amount.LITTLE: 0.6, Amount.PLAIN: 1.0, Amount.MUCH: 2.2}
"""How far a wish goes, as a multiple of the plain one."""
MOST_SHARES = {Amount.LITTLE: 0.4, Amount.PLAIN: 0.7, Amount.MUCH: 1.0}
"""The most of an operation's range that a wish without a number takes; it keeps the amounts in order."""
_MOST_UNSTATED_STOPS = 2.0
"""The most stops that a wish without a number changes the light by."""
LIGHTNESS_TARGETS = {1: 22.4, -1: 16.0}
"""Just-noticeable differences by which a photo is made lighter or darker."""
DAYLIGHT = 6500.0
"""Kelvin that stated colour temperatures are relative to."""

_LARGEST_SHARE = 2.0
"""Parameters up to here are shares; those of wider ranges count to a hundred."""
_STOP = 0.3
"""The share of an operation other than exposure that a stop means."""
_DARKEST = 1 / 32
_EXPOSURE_NAMES = ("exp", "ev")
"""Beginnings of words beside which a bare number counts stops."""
MOST_STOPS = 5.0
_MOST_NAMED_STOPS = 10.0
"""Numbers up to here beside a name of exposure are stops, also where it does not go as far."""
_ABSOLUTE_KELVIN = 1500.0
"""Smaller numbers are differences."""


@dataclass(frozen=True)
class Change:
    """One number that a wish moves: at amount 1 an operation's values are `unit` further; `fixed` are set.

    `stated` is the amount that a person asked for; without one, the amount is found that moves `measure` by
    `target` just-noticeable differences, or it is `usual` where nothing can be measured.
    """

    wish: Wish
    operation: str
    unit: Mapping[str, float]
    measure: Measure | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    target: float = 0.0
    usual: float = 0.0
    stated: float | None = None
    notes: tuple[str, ...] = field(default=())
    where: str | None = None
    """The part of the photo that its step is for; None for the whole."""
    absolute: bool = False
    """Whether the stated amount is where a slider should stand, and not a change of it."""
    capped: bool = True
    """Whether the amount in words bounds it; it does not where a retouch has to be undone first."""

    @property
    def most(self) -> float:
        """The largest amount that is searched."""
        share = MOST_SHARES[self.wish.amount] if self.capped else 1.0
        return share * _MOST_UNSTATED_STOPS / abs(self.unit["ev"]) if "ev" in self.unit else share

    def move(self, parameters: Sequence[float], amount: float) -> tuple[float, ...]:
        """The operation's parameters with the change made at an amount."""
        names = operations.get_operation(self.operation).slot_labels
        values = list(parameters)
        for name, value in self.unit.items():
            values[names.index(name)] += value * amount
        for name, value in self.fixed.items():
            values[names.index(name)] = value
        return tuple(values)


@dataclass(frozen=True)
class Handle:
    """An operation's values for more of something, and the plain target in just-noticeable differences."""

    operation: str
    values: Mapping[str, float]
    target: float
    usual: float = 0.0


_UP = {
    "lightness": Handle("exposure", {"ev": 5.0}, LIGHTNESS_TARGETS[1]),
    "contrast": Handle("contrast", {"p": 1.0}, 12.0),
    "colour": Handle("vibrance", {"amount": 100.0}, 7.8),
    "warmth": Handle("white_balance", {"temperature": 100.0}, 7.5),
    "tint": Handle("white_balance", {"tint": 100.0}, 9.0),
    "sharpness": Handle("sharpness", {"p": 1.5}, 11.5),
    "clarity": Handle("clarity", {"amount": 100.0}, 0.0, 0.4),
    "haze": Handle("dehaze", {"amount": -100.0}, 0.0, 0.4),
    "grain": Handle("grain", {"amount": 100.0}, 0.0, 0.35),
    "vignette": Handle("vignette", {"amount": -100.0}, 0.0, 0.4),
}
_DOWN = {
    "lightness": Handle("exposure", {"ev": -5.0}, LIGHTNESS_TARGETS[-1]),
    "colour": Handle("vibrance", {"amount": -100.0}, 7.8),
    "sharpness": Handle("sharpness", {"p": -0.25}, 14.0),
    "noise": Handle("denoise", {"luminance": 100.0, "color": 100.0}, 0.0, 0.45),
    "grain": Handle("denoise", {"luminance": 100.0, "color": 50.0}, 0.0, 0.4),
}
"""Where less is not the opposite of more."""
_EVERYWHERE = ("noise", "grain", "sharpness", "clarity", "haze", "vignette")
"""What changes in the whole photo, also where it is noticed in a part of it: "grainy shadows"."""
_COUNTED_AGAINST = ("haze", "noise")
"""What the sliders take away that are named after it."""
_HUE_PARTS = {**dict(zip(RANGES, HUES, strict=True)), "skin": "orange"}
"""Parts of a photo that the mixer moves, and by which of its hues."""
_WARM_HUES = ("red", "orange", "yellow")
_WARM_TURNS = dict(zip(HUES, (1, 1, -1, -1, -1, 1, 1, 1), strict=True))
"""Which way the mixer turns each hue to make it warmer."""
_GRADED_ZONES = {
    "shadows": "shadows",
    "blacks": "shadows",
    "midtones": "midtones",
    "highlights": "highlights",
    "whites": "highlights",
}
_HUE_BALANCE = {
    "red": (0.35, 0.95),
    "orange": (0.95, 0.25),
    "yellow": (1.0, -0.4),
    "green": (0.2, -1.0),
    "aqua": (-0.55, -0.7),
    "blue": (-1.0, 0.1),
    "purple": (-0.6, 0.8),
    "magenta": (0.0, 1.0),
}
"""Temperature and tint of a shift of the whole photo towards a hue."""
_BALANCED = {Attribute.REDNESS: ("tint", "tint"), Attribute.WARMTH: ("warmth", "temperature")}
"""What wishes call the attributes of a cast, and the parameter of white balance that moves each."""
_WARM_ANGLE, _COOL_ANGLE = 45.0, 225.0
_GRADING_ANGLES = dict(zip(HUES, (0.0, 30.0, 60.0, 120.0, 180.0, 220.0, 280.0, 320.0), strict=True))
_ZONE_TARGET, _RANGE_TARGET, _CAST_TARGET, _GRADING_TARGET = 10.0, 14.0, 8.0, 7.0
_CAST_ATTRIBUTE_TARGET = 3.0
"""How far a cast moves what it is recognised by at least, whatever else moves that."""
_TONING_TARGET, _ZONE_COLOUR_TARGET = 6.0, 8.0
_PUNCH_SHARE = 0.6
_HAZE_CONTRAST = 0.5
_FADED_CONTRAST = 6.0
_OTHER_END = {"highlights": "shadows", "whites": "shadows", "shadows": "highlights", "blacks": "highlights"}
"""The zone that carries a change of the light where another must keep its own."""
_ZONE_LIGHT_SHARE = 0.4
_MIN_CAST, _NEUTRALIZED = 1.0, 0.8
"""The mean a* or b* from which on greys have a cast, and the share of it that is taken away."""


def realize(wish: Wish, limits: Sequence[Measure] = (), pivot: float = 0.5) -> Iterator[Change]:
    """The changes that meet a wish and do not mainly move what is limited; none where no operation can.

    Contrast turns around `pivot`, the lightness of the photo, so that it gets neither lighter nor darker.
    """
    for change in _realize(wish, {limit.where for limit in limits if limit.what == "lightness"}):
        if not any(_holds(limit, change.measure) for limit in limits if change.measure):
            turns = change.operation == "contrast" and change.stated is None and not change.fixed
            yield replace(change, fixed={"pivot": pivot}) if turns else change


def _holds(limit: Measure, moved: Measure) -> bool:
    """Whether a limit rules out what a change moves."""
    return (limit.what, limit.where) == (moved.what, moved.where) and limit.sign in (0, moved.sign)


def _realize(wish: Wish, held: Collection[str]) -> Iterator[Change]:
    """As `realize`; `held` are the zones whose light must stay."""
    sign = get_sign(wish)
    if wish.what == "lightness" and wish.where == WHOLE and wish.quantity is None:
        ends = {_OTHER_END[zone] for zone in held if zone in _OTHER_END}
        if ends:
            target = _ZONE_LIGHT_SHARE * LIGHTNESS_TARGETS[sign] * AMOUNT_FACTORS[wish.amount]
            if len(ends) == 1:
                unit = {"amount": 100.0 * sign}
                yield Change(wish, ends.pop(), unit, Measure("lightness", sign), {}, target)
            yield Change(wish, "tone", _lift_midtones(sign), Measure("lightness", sign), {}, target)
            return
    if wish.what == "black_and_white":
        yield Change(wish, "black_and_white", {"amount": 100.0}, stated=1.0)
    elif wish.what == "punch":
        for what, share in (("contrast", _PUNCH_SHARE), ("colour", _PUNCH_SHARE)):
            yield from _realize_whole(wish, what, sign, share)
    elif wish.what == "fade":
        yield Change(wish, "blacks", {"amount": 100.0 * sign}, usual=0.6 * AMOUNT_FACTORS[wish.amount])
        less = Measure("contrast", -sign)
        yield Change(
            wish, "contrast", {"p": -1.0 * sign}, less, {}, _FADED_CONTRAST * AMOUNT_FACTORS[wish.amount]
        )
    elif wish.what == "haze" and sign < 0 and wish.quantity is None and wish.where == WHOLE:
        yield from _realize_whole(wish, "haze", sign)
        yield from _realize_whole(wish, "contrast", 1, _HAZE_CONTRAST)
    elif wish.what == "cast":
        yield from _realize_cast(wish, sign)
    elif wish.where == WHOLE or wish.what in _EVERYWHERE:
        yield from _realize_whole(wish, wish.what, sign)
    elif wish.where in ZONES:
        yield from _realize_zone(wish, sign)
    elif wish.where in _HUE_PARTS:
        yield from _realize_range(wish, sign)


def get_sign(wish: Wish) -> int:
    """Which way a wish goes; a written sign counts more than words, and so does a colour temperature.

    Not so for haze and noise, which the sliders dehaze and denoise count the other way round.
    """
    quantity = wish.quantity
    if quantity is not None and quantity.sign and wish.what not in _COUNTED_AGAINST:
        return -quantity.sign if wish.what == "vignette" else quantity.sign  # a negative vignette darkens
    if quantity is not None and quantity.unit is Unit.KELVIN and quantity.value >= _ABSOLUTE_KELVIN:
        return 1 if quantity.value >= DAYLIGHT else -1
    return -1 if wish.direction is Direction.DOWN else 1


def _realize_whole(wish: Wish, what: str, sign: int, share: float = 1.0) -> Iterator[Change]:
    table = _DOWN if sign < 0 and what in _DOWN else _UP
    if what not in table:
        return
    handle = table[what]
    named = wish.head.lower()
    if what == "colour" and named.startswith("vib"):
        handle, table = _UP["colour"], _UP
    elif what == "colour" and wish.quantity:
        handle = Handle("saturation", {"p": float(sign)}, handle.target)
    turn = 1 if table is _DOWN or handle.operation == "saturation" else sign
    unit = {name: turn * value for name, value in handle.values.items()}
    factor = AMOUNT_FACTORS[wish.amount] * share
    measure = Measure(what, sign) if handle.target else None
    stated, notes = state_amount(handle.operation, unit, wish) if wish.quantity else (None, ())
    yield Change(
        wish,
        handle.operation,
        unit,
        measure,
        {},
        handle.target * factor,
        min(handle.usual * factor, 1.0),
        stated,
        notes,
    )
    if handle.operation == "vibrance" and stated is None:  # what vibrance alone does not reach
        yield Change(wish, "saturation", {"p": float(sign)}, measure, {}, handle.target * factor)


def _realize_zone(wish: Wish, sign: int) -> Iterator[Change]:
    factor = AMOUNT_FACTORS[wish.amount]
    measure = Measure(wish.what, sign, wish.where)
    if wish.what == "lightness" and wish.quantity is not None and wish.quantity.unit is Unit.STOPS:
        yield _expose_zone(wish, sign, measure)
    elif wish.what == "lightness" and wish.where == "midtones":
        stated = None if wish.quantity is None else min(_read_share(wish.quantity), 1.0)
        yield Change(wish, "tone", _lift_midtones(sign), measure, {}, _ZONE_TARGET * factor, stated=stated)
    elif wish.what == "lightness":
        unit = {"amount": 100.0 * sign}
        stated, notes = state_amount(wish.where, unit, wish) if wish.quantity else (None, ())
        yield Change(wish, wish.where, unit, measure, {}, _ZONE_TARGET * factor, stated=stated, notes=notes)
    elif wish.what == "contrast":
        unit = {"p": 1.0 * sign}
        stated, notes = state_amount("contrast", unit, wish) if wish.quantity else (None, ())
        pivot = {"shadows": 0.25, "blacks": 0.2, "midtones": 0.5, "highlights": 0.7, "whites": 0.75}[
            wish.where
        ]
        target, fixed = _ZONE_TARGET * factor, {"pivot": pivot}
        yield Change(
            wish, "contrast", unit, measure, fixed, target, stated=stated, notes=notes, where=wish.where
        )
    elif wish.what == "warmth":
        yield _make_grading(wish, _WARM_ANGLE if sign > 0 else _COOL_ANGLE, measure)
    elif wish.what == "tint":
        yield _make_grading(wish, _GRADING_ANGLES["magenta" if sign > 0 else "green"], measure)
    elif wish.what == "colour":
        unit, target = {"p": float(sign)}, _ZONE_COLOUR_TARGET * factor
        stated, notes = state_amount("saturation", unit, wish) if wish.quantity else (None, ())
        yield Change(
            wish, "saturation", unit, measure, {}, target, stated=stated, notes=notes, where=wish.where
        )


def _expose_zone(wish: Wish, sign: int, measure: Measure) -> Change:
    """Stops of a zone are exposure there."""
    handle = (_UP if sign > 0 else _DOWN)["lightness"]
    stated, notes = state_amount(handle.operation, handle.values, wish)
    return Change(
        wish, handle.operation, handle.values, measure, stated=stated, notes=notes, where=wish.where
    )


def _lift_midtones(sign: int) -> dict[str, float]:
    """Values of `tone` that lift the midtones, or lower them, and hold both ends."""
    bump = (0.35, 0.7, 0.55, 0.15, -0.3, -0.5, -0.55, -0.4)
    return {f"rises {number + 1}": sign * value for number, value in enumerate(bump)}


def _make_grading(wish: Wish, angle: float, measure: Measure) -> Change:
    zone = _GRADED_ZONES[wish.where]
    target, unit = _GRADING_TARGET * AMOUNT_FACTORS[wish.amount], {f"{zone} strength": 100.0}
    stated = None if wish.quantity is None else min(_read_share(wish.quantity), 1.0)
    return Change(wish, "grading", unit, measure, {f"{zone} hue": angle}, target, stated=stated)


def _realize_range(wish: Wish, sign: int) -> Iterator[Change]:
    hue = _HUE_PARTS[wish.where]
    units = {
        "colour": {f"{hue} saturation": 100.0},
        "lightness": {f"{hue} lightness": 100.0},
        "warmth": {f"{hue} hue": 60.0 * _WARM_TURNS[hue], f"{hue} saturation": 40.0 * (hue in _WARM_HUES)},
    }
    unit = {name: sign * value for name, value in units.get(wish.what, {}).items()}
    if not unit:
        return
    stated, notes = state_amount("mixer", unit, wish) if wish.quantity else (None, ())
    target = _RANGE_TARGET * AMOUNT_FACTORS[wish.amount]
    yield Change(
        wish, "mixer", unit, Measure(wish.what, sign, wish.where), {}, target, stated=stated, notes=notes
    )


def fix_balance(wish: Wish, cast: tuple[float, float]) -> list[Change]:
    """White balance that makes a cast (a*, b*) of what should be grey neutral, for the most part."""
    red, warm = cast
    found = []
    for name, off, what in (("temperature", warm, "warmth"), ("tint", red, "tint")):
        if abs(off) >= _MIN_CAST:
            sign = -1 if off > 0 else 1
            target = _NEUTRALIZED * abs(off) / (0.5 if what == "warmth" else 0.4)
            found.append(Change(wish, "white_balance", {name: 100.0 * sign}, Measure(what, sign), {}, target))
    return found


def tone_grey(wish: Wish) -> Change:
    """Warmth or a cast of a photo in black and white: it is toned afterwards, in all zones alike."""
    sign = get_sign(wish)
    warm = _WARM_ANGLE if sign > 0 else _COOL_ANGLE
    angle = warm if wish.what != "cast" else (_GRADING_ANGLES[wish.hue] + (0 if sign > 0 else 180)) % 360
    unit = {f"{zone} strength": 100.0 for zone in ("shadows", "midtones", "highlights")}
    fixed = {f"{zone} hue": angle for zone in ("shadows", "midtones", "highlights")}
    measure = Measure(wish.what, sign, hue=wish.hue)
    return Change(wish, "grading", unit, measure, fixed, _TONING_TARGET * AMOUNT_FACTORS[wish.amount])


def _realize_cast(wish: Wish, sign: int) -> Iterator[Change]:
    if not wish.hue:
        return
    factor = AMOUNT_FACTORS[wish.amount]
    measure = Measure("cast", sign, wish.where, wish.hue)
    if wish.where == WHOLE:
        temperature, tint = _HUE_BALANCE[wish.hue]
        unit = {"temperature": 100.0 * temperature * sign, "tint": 100.0 * tint * sign}
        stated = None if wish.quantity is None else min(_read_share(wish.quantity), 1.0)
        yield Change(wish, "white_balance", unit, measure, {}, _CAST_TARGET * factor, stated=stated)
        if stated is not None:
            return
        for attribute, way in get_attributes("cast", Direction.UP, hue=wish.hue):
            what, slider = _BALANCED[attribute]
            seen = Measure(what, way * sign)
            target = _CAST_ATTRIBUTE_TARGET * factor
            yield Change(wish, "white_balance", {slider: 100.0 * way * sign}, seen, {}, target)
    elif wish.where in ZONES:
        angle = _GRADING_ANGLES[wish.hue]
        yield _make_grading(wish, angle if sign > 0 else (angle + 180) % 360, measure)
    elif wish.where in _HUE_PARTS:
        yield from _shift_range(wish, sign, factor)


def _shift_range(wish: Wish, sign: int, factor: float) -> Iterator[Change]:
    """Turn a range of hues towards a neighbour, or make it stronger where it is that hue itself."""
    own = HUES.index(_HUE_PARTS[wish.where])
    other = HUES.index(wish.hue)
    if own == other:
        unit = {f"{wish.hue} saturation": 100.0 * sign}
        yield Change(wish, "mixer", unit, Measure("colour", sign, wish.where), {}, _RANGE_TARGET * factor)
        return
    turn = 1 if (other - own) % len(HUES) <= len(HUES) // 2 else -1
    if wish.quantity is not None and wish.quantity.sign and wish.head.lower().startswith("hue"):
        turn = 1  # the sign is that of the slider, whichever neighbour it leads to
    unit = {f"{HUES[own]} hue": 100.0 * turn * sign}
    stated, notes = state_amount("mixer", unit, wish) if wish.quantity else (None, ())
    yield Change(wish, "mixer", unit, None, usual=min(0.5 * factor, 1.0), stated=stated, notes=notes)


def state_amount(operation: str, unit: Mapping[str, float], wish: Wish) -> tuple[float, tuple[str, ...]]:
    """The amount that a wish's number means for an operation, and what has to be said about it."""
    quantity = wish.quantity
    assert quantity is not None
    (name, full), *_ = unit.items()
    parameter = next(one for one in operations.get_operation(operation).parameters if one.name in name)
    if operation == "exposure":
        value = abs(_convert_to_stops(quantity, full, wish.head.lower().startswith(_EXPOSURE_NAMES)))
    else:
        value = abs(_convert(operation, parameter.high, quantity, full))
    bound = parameter.high if full > 0 else -parameter.low
    notes = () if value <= bound else (f"{operation.replace('_', ' ')} goes no further than {bound:g}",)
    if quantity.unit is Unit.KELVIN:
        notes = (*notes, f"{quantity.value:g} K is taken relative to {DAYLIGHT:g} K")
    return min(value, bound) / abs(full), notes


def _read_share(quantity: Quantity) -> float:
    """A stated number of what has no unit of its own, as a share: of 100, or as a factor or stops say."""
    if quantity.unit is Unit.FACTOR:
        return abs(quantity.value - 1)
    return quantity.value * (_STOP if quantity.unit is Unit.STOPS else 0.01)


def _convert(operation: str, high: float, quantity: Quantity, full: float) -> float:
    """A stated number in the unit of an operation's parameter; the sign is that of `full`."""
    value, unit = quantity.value, quantity.unit
    if operation == "white_balance" and unit is Unit.KELVIN:
        kelvin = value if value >= _ABSOLUTE_KELVIN else DAYLIGHT + math.copysign(value, full)
        return 1e6 / DAYLIGHT - 1e6 / kelvin
    whole = 1.0 if high <= _LARGEST_SHARE else 100.0
    if unit is Unit.FACTOR:
        return abs(value - 1) * whole
    if unit is Unit.STOPS:
        return value * _STOP * whole
    is_hundredths = unit is Unit.PERCENT or value == int(value) or value > high
    return value / 100 if whole == 1 and is_hundredths else value


def _convert_to_stops(quantity: Quantity, full: float, named: bool) -> float:
    """A stated number in stops: a bare one counts stops beside a name of exposure, or where it is a fraction.

    Others are shares of the light: "brightness 20" is 20 % more of it.
    """
    value, unit = quantity.value, quantity.unit
    if unit is Unit.FACTOR and value > 0:
        return math.log2(value)
    is_small = value <= (_MOST_NAMED_STOPS if named else MOST_STOPS) and (named or value != int(value))
    if unit is Unit.STOPS or (unit is not Unit.PERCENT and is_small):
        return value
    return math.log2(1 + value / 100) if full > 0 else math.log2(max(1 - value / 100, _DARKEST))

"""Parameters of an operation: their ranges, how their numbers are written, worded and read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from ..errors import RecipeError

ParameterValues = tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """One number, or `count` numbers of the same kind, such as the rises of a curve."""

    name: str
    low: float
    high: float
    default: float
    unit: str
    help: str
    step: float = 0.01
    """The smallest change worth making: of a slider, and of a finite difference in planning."""
    count: int = 1
    sampling: float | None = None
    """The paper's half-range R for random sampling around a value; half the range where None."""
    names: tuple[str, ...] = ()
    """Names of the `count` numbers, such as the hues of a mixer; numbered where empty."""
    published: bool = True
    """False for an addition to an operation of the paper; the paper's networks and plans keep its default."""
    whole_steps: bool = False
    """Whether only multiples of `step` are allowed."""
    title: str = ""
    """What settings and sliders call it, where `Operation.titles` would not be clear."""
    is_kind: bool = False
    """Whether it says how rather than how much, such as a hue: it stays the same at every strength."""

    @property
    def half_range(self) -> float:
        return (self.high - self.low) / 2 if self.sampling is None else self.sampling

    def allows(self, value: float) -> bool:
        if not (math.isfinite(value) and self.low <= value <= self.high):
            return False
        return not self.whole_steps or value % self.step == 0

    @property
    def allowed(self) -> str:
        """What it allows, as errors say it: "-1 to 2"; "0 to 270 in steps of 90"."""
        steps = f" in steps of {self.step:g}" if self.whole_steps else ""
        return f"{self.low:g} to {self.high:g}{steps}"

    def is_default(self, value: float) -> bool:
        return math.isclose(value, self.default, rel_tol=1e-12)

    @property
    def label(self) -> str:
        """Name and count, as tables show it."""
        return self.name if self.count == 1 else f"{self.name} (x{self.count})"

    @property
    def slot_labels(self) -> tuple[str, ...]:
        """A label for each of its numbers: "ev"; "rises 1", "rises 2"; "red hue", "orange hue"."""
        return self.title_slots(self.name)

    def title_slots(self, title: str) -> tuple[str, ...]:
        """The labels where the parameter is called `title`."""
        if self.count == 1:
            return (title,)
        if self.names:
            return tuple(f"{name} {title}" for name in self.names)
        return tuple(f"{title} {number}" for number in range(1, self.count + 1))

    @property
    def is_curve(self) -> bool:
        """Whether its numbers are the rises of a curve, which say nothing one by one."""
        return self.count > 1 and not self.names

    @property
    def written_unit(self) -> str:
        """The unit as it follows a number, where photographers write one."""
        return WRITTEN_UNITS.get(self.unit, "")

    def format(self, value: float) -> str:
        """A number as photographers write it: "+0.50 EV", "-30", "200°"."""
        places = max(0, -math.floor(math.log10(self.step) + 1e-9))
        sign = "+" if self.low < 0 else ""
        number = f"{value:{sign}.{places}f}"
        if value != self.default and float(number) == self.default:  # too small for these decimals
            number = f"{value:{sign}.1g}"
        return f"{number}{self.written_unit}"


def percentage(name: str, help: str, low: float = -100.0, default: float = 0.0, **more: Any) -> Parameter:
    """A parameter up to 100 percent that sliders move in whole numbers."""
    return Parameter(name, low, 100.0, default, unit="percent", help=help, step=1.0, **more)


WRITTEN_UNITS = {"EV": " EV", "degrees": "°", "%": " %"}
"""Units that photographers write, as they follow a number; others are understood."""
MAX_PHRASE_WORDS = 9
"""Words for one step; a longer phrase gives way to `Operation.brief`."""


@dataclass(frozen=True)
class Phrase:
    """Words for a step, from the direction and size of its first number: "20 % brighter"."""

    more: str
    less: str
    """The amount stands before these words, or where they have {}: "shadows {} lifted"."""
    amount: str | Callable[[float], str] = ""
    """A format of the parameters by name ("{ev:.2f} EV"), or a function of the first."""
    lowest: str = ""
    """Replaces words and amount where the first number is as low as it can be."""


def join_phrases(phrases: Sequence[str]) -> str:
    """Phrases in a row, the last after "and" unless one has an "and" of its own."""
    *first, last = phrases
    joint = ", " if any(" and " in phrase for phrase in phrases) else " and "
    return f"{', '.join(first)}{joint}{last}" if first else last


def percent(value: float) -> str:
    """ "20 %" for 0.2 and -0.2."""
    size = 100 * abs(value)
    return f"{size:.0f} %" if size >= 1 else f"{size:.1f} %" if size >= 0.05 else "barely"


def adverb(size: float, small: float, large: float) -> str:
    """How far something was moved: "slightly" below `small`, "strongly" above `large`, or nothing."""
    return "slightly" if size < small else "strongly" if size > large else ""


def degree(size: float, small: float, large: float) -> str:
    """How much before a comparative: "a little" below `small`, "much" above `large`, or nothing."""
    return "a little" if size < small else "much" if size > large else ""


def flatten_names(given: Mapping[Any, object], *outer: str) -> Iterator[tuple[str, object]]:
    """Names and values of nested mappings; nested names are joined."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from flatten_names(value, *outer, str(name))
        else:
            yield "_".join((*outer, str(name))), value


def is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def flatten_numbers(value: object, name: str) -> Iterator[float]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool) or not isinstance(value, int | float | list | tuple):
        raise RecipeError(f"{name} takes numbers, and {value!r} was given")
    if isinstance(value, int | float):
        yield float(value)
    else:
        for part in value:
            yield from flatten_numbers(part, name)

"""Numbers of a sentence, with their signs and units, exactly as they are written.

"+0.5", "-30", "20 %", "20-30 %", "1/3 stop", "half a stop", "one and a half stops", "another third", "one
point five", "twice", "half as", "5500 K", "16:9", "all the way".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise


class Unit(StrEnum):
    """What a number counts."""

    NONE = "none"
    STOPS = "stops"
    PERCENT = "percent"
    KELVIN = "kelvin"
    MIRED = "mired"
    DEGREES = "degrees"
    FACTOR = "factor"
    """So many times as much."""
    RATIO = "ratio"
    """Width by height."""


@dataclass(frozen=True)
class Quantity:
    """A number of a sentence; `sign` is the one written before it, 0 where there is none.

    `start` and `end` are where it stands, with its sign and unit.
    """

    value: float
    unit: Unit = Unit.NONE
    sign: int = 0
    start: int = 0
    end: int = 0

    @property
    def signed(self) -> float:
        """The number with its sign."""
        return -self.value if self.sign < 0 else self.value


_SMALL_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


_NUMBER_WORDS = {word: number for number, word in enumerate(_SMALL_NUMBERS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_LARGE_NUMBER = re.compile(
    r"(?:(?P<count>[\w\s-]+?)\s+)?(?P<size>thousand|hundred)(?:\s+(?:and\s+)?(?P<rest>.+))?", re.IGNORECASE
)
_SIZES = {"hundred": 100, "thousand": 1000}
_PARTS = {
    "half": 1 / 2, "third": 1 / 3, "thirds": 1 / 3, "quarter": 1 / 4, "quarters": 1 / 4, "fourth": 1 / 4,
}  # fmt: skip
_FRACTION_SIGNS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8", "⅜": "3/8",
    "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_FACTORS = {
    "double": 2, "doubled": 2, "doubling": 2, "twice": 2, "triple": 3, "thrice": 3, "quadruple": 4,
    "halve": 0.5, "halved": 0.5, "halving": 0.5, "half as": 0.5, "half the": 0.5, "by half": 0.5,
    "in half": 0.5, "to half": 0.5, "half that": 0.5, "half of that": 0.5, "half of it": 0.5,
    "half strength": 0.5, "that half": 0.5, "it half": 0.5,
    "a third of that": 1 / 3, "a quarter of that": 0.25,
}  # fmt: skip
_UNITS = {
    Unit.STOPS: r"(?:f-?)?stops?\b|ev\b",
    Unit.PERCENT: r"%|percent\b|per\s?cent\b|pct\b|percents\b",
    Unit.KELVIN: r"k\b|kelvins?\b|°\s?k\b",
    Unit.MIRED: r"mireds?\b",
    Unit.DEGREES: r"degrees?\b|°|deg\b",
    Unit.FACTOR: r"x\b|times\b|fold\b|×",
    Unit.NONE: r"points?\b|pts?\b|units?\b|steps?\b|edits?\b",
}
_UNIT = "|".join(f"(?P<{unit.name}>{pattern})" for unit, pattern in _UNITS.items())
_AFTER = re.compile(
    rf"\s?(?:-\s?)?(?:of\s+an?\s+|an?\s+|full\s+|whole\s+|more\s+|f\s)?(?:{_UNIT})", re.IGNORECASE
)
_NEEDS_UNIT = ("parts", "word", "one")
"""Numbers in words count only with a unit, or as settings: "one" and "half" mean other things too."""
_BEFORE_SETTING = r"(?:plus|positive|by|to|at|on|of|up|down|about|around|roughly|say)\s+"
_AFTER_SETTING = r"(?=\s*(?:$|[.,;:!?)]|and\b|please\b|for\b|or so\b))"
_OF_THAT = re.compile(r"\s+of\s+(?:that|it|this)\b", re.IGNORECASE)
_MOST_NUMBERS = 60
"""Numbers of a sentence that are read."""
_LARGEST = 1e6
"""Larger numbers are none that a person means."""
_KELVIN = range(1500, 40001)
"""A bare number of this size is a colour temperature."""


def _compile_patterns() -> dict[str, re.Pattern[str]]:
    ones, tens = "|".join(_SMALL_NUMBERS[1:10]), "|".join(_TENS)
    small = rf"(?:{tens})(?:[\s-](?:{ones})\b)?|{'|'.join(reversed(_SMALL_NUMBERS))}"
    part = "|".join(sorted(_PARTS, key=len, reverse=True))
    digit = "|".join(_SMALL_NUMBERS[:10])
    hundreds = rf"(?:(?:an?|{small})\s+)?hundred(?:\s+(?:and\s+)?(?:{small}))?"
    word = rf"(?:an?|{small})\s+thousand(?:\s+(?:and\s+)?(?:{hundreds}|{small}))?|{hundreds}|{small}"
    not_one = r"(?!one\b(?!\s+(?:hundred|thousand)))"
    added = rf"\s*(?:\band|\bn|&|\+|\bplus)\s+(?P<count>an?|one|two|three)\s+(?P<part>{part})\b"
    digits = r"[1-9]\d{0,2}(?:,\d{3})+(?!\d)|\d+(?:[.,]\d+)?|[.,]\d+"
    sign = r"(?:(?P<sign>(?<![\d.])[-+−–]\s?|\b(?:minus|negative)\s+)|(?<![\w.]))"
    minus = r"(?P<sign>\b(?:minus|negative)\s+)?"
    parts = rf"\b(?P<words>an?|{word})[\s-]+(?P<part>{part})"
    patterns = {
        "ratio": r"(?<![\d.])(?P<width>\d{1,2}(?:\.\d+)?)\s?[:x]\s?(?P<height>\d{1,2})(?![\d.%])",
        "square": r"\bsquared?\b",
        "all": r"\b(?:all the way|fully|completely|entirely|(?:to )?(?:the )?max(?:imum|ed)?(?: out)?)\b"
        rf"(?!\s+(?:of\s+)?(?:[-+.]?\d|(?:{word}|an?|{part})\b))",
        "count": rf"\b(?:last|first|previous)\s+(?P<words>{word}|\d+)\b",
        "share": rf"{parts}\s+of\s+(?:the|its|all)\b",
        "share more": rf"{parts}(?=\s+(?:more|less|extra|off|again)\b)",
        "share by": rf"(?<=\bby\s){parts}\b(?!\s+(?:of\s+an?\s+)?(?:f-?)?stop)",
        "factor": rf"\b(?P<factor>{'|'.join(_FACTORS)})\b(?!\s+an?\b)",
        "range": rf"(?<![\w.])(?P<low>{digits})\s?%?\s?(?:-|–|to|or)\s?(?P<high>{digits})",
        "fraction": rf"{sign}(?:(?P<whole>\d+)(?:\s+(?:and\s+)?|-))?(?P<over>\d+)\s?[/⁄]\s?(?P<under>\d+)",
        "number": rf"{sign}(?P<digits>{digits})(?!s\b|st\b|nd\b|rd\b|th\b)(?!\d)",
        "mixed": rf"{minus}\b(?P<words>{word}|an?){added}",
        "mixed after": rf"{minus}\b(?:(?P<words>{word}|an?|\d+)\s+)?(?:f-?)?stops?{added}",
        "parts": rf"{minus}\b(?:(?P<words>an?|{word})[\s-]+)?(?P<part>{part})\b",
        "another": rf"\banother\s+(?P<part>{part})\b(?!\s+(?:of\b|an?\b|f-?stop|stop|ev\b))",
        "spoken": rf"{minus}\b(?:(?P<words>{word})\s+)?point(?P<decimals>(?:\s+(?:{digit}))+)\b",
        "setting": rf"{minus}\b(?<!last\s)(?P<words>{not_one}(?:{word}))\b{_AFTER_SETTING}",
        "setting after": rf"(?:{minus[:-1]}|\b{_BEFORE_SETTING})(?P<words>{not_one}(?:{word}))\b"
        rf"(?![\s-]+(?:of|point|{part})\b)",
        "word": rf"{minus}\b(?P<words>{word})\b",
        "one": r"\b(?:an?|one)(?=\s+(?:full\s+|whole\s+)?(?:f-?)?(?:stop|degree)\b)",
    }
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}


_PATTERNS = _compile_patterns()
_FIXED = {"square": (1.0, Unit.RATIO), "all": (100.0, Unit.PERCENT)}
"""What words mean that state a number without one."""


def find_quantities(sentence: str) -> list[Quantity]:
    """All numbers of a sentence, in order."""
    text, places = _spell_out_fractions(sentence)
    found: list[Quantity] = []
    position = last = 0
    matches = {name: pattern.search(text) for name, pattern in _PATTERNS.items()}
    while True:
        for name, known in matches.items():
            if known is not None and known.start() < position:
                matches[name] = _PATTERNS[name].search(text, position)
        left = [(name, match) for name, match in matches.items() if match is not None]
        if not left or len(found) == _MOST_NUMBERS:
            return found
        name, match = min(left, key=lambda pair: (pair[1].start(), -pair[1].end()))
        quantity = _read(name, match, text)
        if name == "all" and 0 < last == len(text[: match.start()].rstrip()):
            quantity = None  # "half a stop max"
        last = quantity.end if quantity else last
        position = quantity.end if quantity else match.end()
        if quantity:
            found.append(replace(quantity, start=places[quantity.start], end=places[quantity.end - 1] + 1))


def _spell_out_fractions(sentence: str) -> tuple[str, list[int]]:
    """The sentence with 1/2 for ½ and the like, and where each of its characters stood."""
    parts = [_FRACTION_SIGNS.get(character, character) for character in sentence]
    for at, (before, character) in enumerate(pairwise(sentence), start=1):
        if before.isdigit() and character in _FRACTION_SIGNS:
            parts[at] = f" {parts[at]}"  # 1½ is not 11/2
    places = [position for position, part in enumerate(parts) for _ in part]
    return "".join(parts), places


def _read(name: str, match: re.Match[str], text: str) -> Quantity | None:
    if name == "ratio":
        width, height = float(match["width"]), float(match["height"])
        return Quantity(width / height, Unit.RATIO, 0, *match.span()) if width and height else None
    if name in _FIXED:
        return Quantity(*_FIXED[name], 0, *match.span())
    if name == "factor":
        return Quantity(_FACTORS[" ".join(match["factor"].lower().split())], Unit.FACTOR, 0, *match.span())
    if name == "mixed after":
        return Quantity(_read_mixed(match), Unit.STOPS, -1 if match["sign"] else 0, *match.span())
    value = _read_value(name, match)
    after = _AFTER.match(text, match.end())
    if value is None or value > _LARGEST or (after is None and name in _NEEDS_UNIT):
        return None
    unit = next((unit for unit in _UNITS if after and after.group(unit.name)), Unit.NONE)
    sign = (match.groupdict().get("sign") or "").strip()
    if after is None and not sign and value in _KELVIN:
        unit = Unit.KELVIN
    elif name.startswith("share"):
        unit = Unit.PERCENT
    if unit is Unit.PERCENT and _OF_THAT.match(text, after.end() if after else match.end()):
        value, unit = value / 100, Unit.FACTOR
    return Quantity(
        value, unit, {"": 0, "+": 1}.get(sign, -1), match.start(), after.end() if after else match.end()
    )


def _read_value(name: str, match: re.Match[str]) -> float | None:
    read_value = _VALUES.get("share" if name.startswith("share") else name, _read_words)
    return read_value(match)


def _read_range(match: re.Match[str]) -> float:
    return (_to_number(match["low"]) + _to_number(match["high"])) / 2


def _read_fraction(match: re.Match[str]) -> float | None:
    under = float(match["under"])
    return float(match["whole"] or 0) + float(match["over"]) / under if under else None


def _read_spoken(match: re.Match[str]) -> float:
    decimals = "".join(str(_NUMBER_WORDS[word]) for word in match["decimals"].lower().split())
    return _read_word(match["words"] or "zero") + float(f"0.{decimals}")


def _read_parts(match: re.Match[str]) -> float:
    return _read_word(match["words"] or "a") * _PARTS[match["part"].lower()]


def _read_words(match: re.Match[str]) -> float:
    return _read_word(match["words"])


def _read_mixed(match: re.Match[str]) -> float:
    return _read_word(match["words"] or "a") + _read_word(match["count"]) * _PARTS[match["part"].lower()]


def _to_number(digits: str) -> float:
    """A number whose comma is a decimal point, or separates thousands: "1,5", "5,500"."""
    has_thousands = re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+", digits) is not None
    return float(digits.replace(",", "" if has_thousands else "."))


def _read_word(word: str) -> float:
    """A number in words or digits; an article is one."""
    if word.isdigit():
        return float(word)
    if large := _LARGE_NUMBER.fullmatch(word):
        size = _SIZES[large["size"].lower()]
        return size * _read_word(large["count"] or "a") + _read_word(large["rest"] or "zero")
    return float(sum(_NUMBER_WORDS.get(part, 1) for part in re.split(r"[\s-]+", word.lower())))


_VALUES: dict[str, Callable[[re.Match[str]], float | None]] = {
    "range": _read_range,
    "fraction": _read_fraction,
    "number": lambda match: _to_number(match["digits"]),
    "mixed": _read_mixed,
    "another": lambda match: _PARTS[match["part"].lower()],
    "spoken": _read_spoken,
    "parts": _read_parts,
    "share": lambda match: 100 * _read_parts(match),
    "one": lambda _: 1.0,
}
"""How the value of each pattern is read; the others are number words."""

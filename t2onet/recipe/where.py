"""Where a step applies: words, gradients, their combinations and refinements, as plain data.

Text says the common cases: "shadows", "highlights except reds", "not (top or left)". JSON objects also say
gradients and refinements: {"of": "shadows", "soften": 20}. What a word means on a photo is in `places/`;
nothing here reads one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast, get_args

from ..errors import RecipeError, suggest
from ..operations import REFERENCE_SHORT_SIDE

TONES = ("shadows", "midtones", "highlights", "whites", "blacks")
HUES = ("reds", "oranges", "yellows", "greens", "aquas", "blues", "purples", "magentas", "skin")
POSITIONS = ("top", "bottom", "left", "right", "centre", "edges", "corners")
PLACES: tuple[str, ...] = ("sky", "subject", "background", "person", "face", "vegetation")
"""Places that a network finds. `places/named.py` has a finder for each."""

Joint = Literal["and", "or", "except"]
JOINTS: tuple[Joint, ...] = get_args(Joint)
Point = tuple[float, float]
"""Shares of the width, from the left, and of the height, from the top."""

MAX_TEXT_LENGTH = 400
MAX_PARTS = 16
"""Words, gradients and refinements of one `where`."""
POINT_RANGE = (-1.0, 2.0)
RADIUS_RANGE = (0.01, 3.0)
GROW_RANGE = (-100.0, 100.0)
SOFTEN_RANGE = (0.0, float(REFERENCE_SHORT_SIDE))
DEFAULT_FEATHER = 0.5
_MIN_GRADIENT = 0.001
"""Least distance between the points of a linear gradient."""


@dataclass(frozen=True)
class Named:
    """A range, a position or a place by its name."""

    name: str


@dataclass(frozen=True)
class Linear:
    """A gradient: all up to the line through `start`, nothing beyond the one through `end`."""

    start: Point
    end: Point


@dataclass(frozen=True)
class Radial:
    """A circle that fades outwards over the share `feather` of its radius."""

    centre: Point
    radius: float
    """Share of the short side."""
    feather: float = DEFAULT_FEATHER


@dataclass(frozen=True)
class Joined:
    """What all parts have in common, what any of them has, or the first without the others."""

    joint: Joint
    parts: tuple[Area, ...]


@dataclass(frozen=True)
class Refined:
    """A part that is grown (or, below 0, shrunk), then softened, then inverted.

    Distances are in pixels of a photo whose short side is REFERENCE_SHORT_SIDE.
    """

    part: Area
    grow: float = 0.0
    soften: float = 0.0
    invert: bool = False

    @property
    def is_spatial(self) -> bool:
        """Whether a pixel depends on those around it."""
        return bool(self.grow or self.soften)


Area = Named | Linear | Radial | Joined | Refined
Where = str | Area
"""What a step has: text wherever text can say it, so that equal places compare equal."""


def list_words() -> tuple[str, ...]:
    """All words that name a part of a photo."""
    return (*TONES, *HUES, *POSITIONS, *PLACES)


def parse_where(raw: object) -> Where:
    """Text, a JSON object or an area as a step keeps it; refuses unknown words and keys."""
    area = _read_area(raw)
    if count_parts(area) > MAX_PARTS:
        raise RecipeError(f"where has at most {MAX_PARTS} parts, and more were given; make it simpler")
    text = _write_text(area)
    return area if text is None else text


def to_area(where: Where) -> Area:
    """The tree that a `where` stands for."""
    return _parse_checked_text(where) if isinstance(where, str) else where


def to_data(where: Where) -> str | dict[str, Any]:
    """As JSON has it."""
    if isinstance(where, str):
        return where
    if (text := _write_text(where)) is not None:
        return text
    match where:
        case Linear(start, end):
            return {"linear": {"from": list(start), "to": list(end)}}
        case Radial(centre, radius, feather):
            return {"radial": {"centre": list(centre), "radius": radius, "feather": feather}}
        case Joined(joint, parts):
            return {joint: [to_data(part) for part in parts]}
        case Refined(part):
            return _refined_to_data(to_data(part), where)
    raise AssertionError(where)


def _refined_to_data(part: str | dict[str, Any], refined: Refined) -> dict[str, Any]:
    chosen = {"grow": refined.grow, "soften": refined.soften, "invert": refined.invert}
    given = {key: value for key, value in chosen.items() if value}
    is_refined = not isinstance(part, str) and bool(part.keys() & chosen.keys())
    return {"of": part, **given} if isinstance(part, str) or is_refined else {**part, **given}


def combine(joint: Joint, *wheres: Where) -> Where:
    """Several `where` in one: `combine("and", "shadows", "top")`."""
    return parse_where(Joined(joint, tuple(to_area(where) for where in wheres)))


def list_inner(area: Area) -> tuple[Area, ...]:
    """The parts that an area is directly made of; none for a word or a gradient."""
    return area.parts if isinstance(area, Joined) else (area.part,) if isinstance(area, Refined) else ()


def count_parts(area: Area) -> int:
    """How many words, gradients and refinements an area has."""
    return (not isinstance(area, Joined)) + sum(map(count_parts, list_inner(area)))


def _invert(area: Area) -> Area:
    if isinstance(area, Refined) and not area.is_spatial:
        return area.part  # nothing but an inversion
    return Refined(area, invert=True)


# ---- text


@lru_cache(maxsize=256)
def _parse_checked_text(text: str) -> Area:
    return _TextParser(text).parse()


class _TextParser:
    """joined: single (JOINT single)*, all joints alike; single: "not" single, "(" joined ")", or a word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = re.findall(r"[()]|[^\s()]+", text.lower())

    def parse(self) -> Area:
        if len(self.text) > MAX_TEXT_LENGTH:
            raise RecipeError(f"where has at most {MAX_TEXT_LENGTH} characters; make it simpler")
        area = self._read_joined()
        if self.tokens:
            raise self._refuse(f"{self.tokens[0]!r:.40} is one too many; join words by {_list_joints()}")
        return area

    def _read_joined(self) -> Area:
        parts, joints = [self._read_single()], []
        while self.tokens and self.tokens[0] in JOINTS:
            joints.append(cast("Joint", self.tokens.pop(0)))
            parts.append(self._read_single())
        if len(set(joints)) > 1:
            raise self._refuse(f"say with brackets what belongs together, as in ({_EXAMPLE}) except reds")
        return Joined(joints[0], tuple(parts)) if joints else parts[0]

    def _read_single(self) -> Area:
        token = self.tokens.pop(0) if self.tokens else ""
        if token == "not":
            return _invert(self._read_single())
        if token == "(":
            area = self._read_joined()
            if not self.tokens or self.tokens.pop(0) != ")":
                raise self._refuse("a bracket is not closed")
            return area
        if not token or token == ")" or token in JOINTS:
            raise self._refuse(f"a word is missing{f' before {token!r}' if token else ' at its end'}")
        if token not in list_words():
            raise self._refuse(f"{token!r:.40} is not known; {suggest(token, list_words())}")
        return Named(token)

    def _refuse(self, reason: str) -> RecipeError:
        return RecipeError(f"where is {self.text!r:.80}: {reason}")


_EXAMPLE = "highlights and top"


def _list_joints() -> str:
    return ", ".join(JOINTS)


def _write_text(area: Area) -> str | None:
    """An area as text; None where text cannot say it."""
    match area:
        case Named(name):
            return name
        case Joined(joint, parts):
            texts = [_write_inner_text(part) for part in parts]
            return None if None in texts else f" {joint} ".join(map(str, texts))
        case Refined(part, invert=True) if not area.is_spatial:
            text = _write_inner_text(part)
            return None if text is None else f"not {text}"
    return None


def _write_inner_text(area: Area) -> str | None:
    text = _write_text(area)
    return f"({text})" if text is not None and isinstance(area, Joined) else text


# ---- JSON

_FORMAT = (
    'where is text such as "shadows" or "highlights except reds", or an object with one of of, linear, '
    "radial, and, or, except, and perhaps grow, soften, invert"
)
_REFINEMENTS = ("grow", "soften", "invert")


def _read_area(raw: object) -> Area:
    if isinstance(raw, str):
        return _TextParser(raw).parse()
    if isinstance(raw, Named | Linear | Radial | Joined | Refined):
        return _read_area(to_data(raw))
    if not isinstance(raw, Mapping):
        raise RecipeError(f"{_FORMAT}; {raw!r:.80} was given")
    base, *others = [key for key in raw if key not in _REFINEMENTS] or [None]
    unknown = [key for key in (base, *others) if key is not None and key not in _READERS]
    if unknown:
        near = suggest(str(unknown[0]), (*_READERS, *_REFINEMENTS))
        raise RecipeError(f"where has no {unknown[0]!r:.40}; {near}")
    if base is None or others:
        raise RecipeError(f"{_FORMAT}; {dict(raw)!r:.80} was given")
    return _read_refined(_READERS[base](raw[base]), raw)


def _read_refined(part: Area, raw: Mapping[str, object]) -> Area:
    grow = _read_number("grow", raw.get("grow", 0.0), *GROW_RANGE)
    soften = _read_number("soften", raw.get("soften", 0.0), *SOFTEN_RANGE)
    invert = raw.get("invert", False)
    if not isinstance(invert, bool):
        raise RecipeError(f"where: invert is true or false, and {invert!r:.40} was given")
    if grow or soften:
        return Refined(part, grow, soften, invert)
    return _invert(part) if invert else part


def _read_linear(raw: object) -> Area:
    fields = _read_fields("linear", raw, ("from", "to"), ())
    start, end = (_read_point(f"linear {key}", fields[key]) for key in ("from", "to"))
    if math.dist(start, end) < _MIN_GRADIENT:
        raise RecipeError(
            f"where: linear runs from {list(start)} to the same point; give two different points"
        )
    return Linear(start, end)


def _read_radial(raw: object) -> Area:
    fields = _read_fields("radial", raw, ("centre", "radius"), ("feather",))
    return Radial(
        _read_point("radial centre", fields["centre"]),
        _read_number("radial radius", fields["radius"], *RADIUS_RANGE),
        _read_number("radial feather", fields.get("feather", DEFAULT_FEATHER), 0.0, 1.0),
    )


def _read_joined(joint: Joint) -> Callable[[object], Area]:
    def read(raw: object) -> Area:
        if not isinstance(raw, Sequence) or isinstance(raw, str) or len(raw) < 2:
            raise RecipeError(f"where: {joint} joins a list of two or more, and {raw!r:.80} was given")
        return Joined(joint, tuple(_read_area(part) for part in raw))

    return read


_READERS: dict[str, Callable[[object], Area]] = {
    "of": _read_area,
    "linear": _read_linear,
    "radial": _read_radial,
    **{joint: _read_joined(joint) for joint in JOINTS},
}


def _read_fields(
    kind: str, raw: object, needed: tuple[str, ...], optional: tuple[str, ...]
) -> Mapping[str, object]:
    known = (*needed, *optional)
    if not isinstance(raw, Mapping) or not set(needed) <= raw.keys() or not raw.keys() <= set(known):
        raise RecipeError(f"where: {kind} has {', '.join(known)}, and {raw!r:.80} was given")
    return raw


def _read_point(name: str, raw: object) -> Point:
    if not isinstance(raw, Sequence) or isinstance(raw, str) or len(raw) != 2:
        raise RecipeError(f"where: {name} is a point [x, y], and {raw!r:.80} was given")
    x, y = (_read_number(name, value, *POINT_RANGE) for value in raw)
    return x, y


def _read_number(name: str, raw: object, low: float, high: float) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise RecipeError(f"where: {name} takes numbers, and {raw!r:.40} was given")
    if not low <= raw <= high:
        raise RecipeError(f"where: {name} is {raw!r:.20}; allowed is {low:g} to {high:g}")
    return float(raw)


def _make_number_schema(low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"type": "number", "minimum": low, "maximum": high, **more}


_POINT_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": _make_number_schema(*POINT_RANGE),
    "minItems": 2,
    "maxItems": 2,
    "description": "Shares of the width, from the left, and of the height, from the top.",
}
_PART_SCHEMA: dict[str, Any] = {"type": ["string", "object"], "description": "As `where` itself."}
_UNIT = f"in pixels of a photo with a short side of {REFERENCE_SHORT_SIDE}"

_OBJECT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "of": _PART_SCHEMA,
        "linear": {
            "type": "object",
            "description": "A gradient: all up to `from`, nothing beyond `to`.",
            "properties": {"from": _POINT_SCHEMA, "to": _POINT_SCHEMA},
            "required": ["from", "to"],
            "additionalProperties": False,
        },
        "radial": {
            "type": "object",
            "description": "A circle; its radius is a share of the short side.",
            "properties": {
                "centre": _POINT_SCHEMA,
                "radius": _make_number_schema(*RADIUS_RANGE),
                "feather": _make_number_schema(
                    0, 1, default=DEFAULT_FEATHER, description="Share of the radius over which it fades."
                ),
            },
            "required": ["centre", "radius"],
            "additionalProperties": False,
        },
        **{joint: {"type": "array", "items": _PART_SCHEMA, "minItems": 2} for joint in JOINTS},
        "grow": _make_number_schema(*GROW_RANGE, default=0, description=f"Below 0 it shrinks; {_UNIT}."),
        "soften": _make_number_schema(*SOFTEN_RANGE, default=0, description=f"Blurs the edge; {_UNIT}."),
        "invert": {"type": "boolean", "default": False},
    },
    "oneOf": [{"required": [key]} for key in _READERS],
    "additionalProperties": False,
}


def make_where_schema() -> dict[str, Any]:
    """The JSON schema of `where`."""
    about = f"Words joined by {_list_joints()}, with not and brackets: {', '.join(list_words())}."
    text = {"type": "string", "maxLength": MAX_TEXT_LENGTH, "description": about}
    return {"title": "Where", "anyOf": [text, _OBJECT_SCHEMA, {"type": "null"}], "default": None}

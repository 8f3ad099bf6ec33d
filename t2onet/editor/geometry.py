"""Wishes about the frame of a photo: crop, rotate, straighten, flip."""

from __future__ import annotations

from ..language.quantities import Unit
from ..language.wishes import Wish

GEOMETRY_EXAMPLES = {
    "crop": "“crop to 16:9”",
    "rotate": "“rotate 90 degrees”",
    "straighten": "“straighten by 2 degrees”",
    "flip": "“flip it”",
}
"""A wish of each kind that says enough."""
_TURNS = {
    "counterclockwise": 270,
    "anticlockwise": 270,
    "counter": 270,
    "anti": 270,
    "clockwise": 90,
    "right": 90,
    "left": 270,
    "upside": 180,
    "around": 180,
}
"""Degrees by words, of which the first counts: "counter-clockwise" is two of them."""
_QUARTERS = (90, 180, 270)
_LARGEST_TILT = 45.0
_VERTICAL = {"vertically", "vertical", "upside"}


def make_geometry(wish: Wish, aspect: float) -> tuple[str, object] | None:
    """An operation and its values, where the wish says enough; `aspect` is the photo's width by height."""
    words = {word.lower() for word in wish.words}
    quantity = wish.quantity
    if wish.what == "flip":
        return "flip", {"vertical": 1} if words & _VERTICAL else {"horizontal": 1}
    if wish.what == "crop":
        is_ratio = quantity is not None and quantity.unit is Unit.RATIO
        return ("crop", _cut_to_ratio(quantity.value, aspect)) if quantity and is_ratio else None
    turn = next((angle for word, angle in _TURNS.items() if word in words), None)
    if quantity is None:
        return ("rotate", turn) if wish.what == "rotate" and turn else None
    angle = -quantity.signed if turn == _TURNS["counterclockwise"] else quantity.signed
    if wish.what == "rotate" and quantity.value in _QUARTERS:
        return "rotate", angle % 360
    if quantity.value <= _LARGEST_TILT and quantity.unit in (Unit.DEGREES, Unit.NONE):
        return "straighten", angle
    return None


def _cut_to_ratio(ratio: float, aspect: float) -> dict[str, float]:
    """The edges of the largest crop in the middle that is `ratio` wide by high.

    "3:2" of an upright photo is 2:3; "2:3" says itself that the result is upright.
    """
    if ratio > 1 > aspect:
        ratio = 1 / ratio
    width, height = min(ratio / aspect, 1.0), min(aspect / ratio, 1.0)
    left, top = (1 - width) / 2, (1 - height) / 2
    return {"left": left, "top": top, "right": 1 - left, "bottom": 1 - top}

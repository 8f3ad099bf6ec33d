"""Limits: what must stay while wishes are met, because someone said so or because nobody spoke of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ..language.wishes import (
    CHANGES,
    IMPOSSIBLE,
    PLACES,
    RANGES,
    STYLES,
    WHOLE,
    ZONES,
    Direction,
    Outcome,
    Role,
    Wish,
    get_attributes,
)
from .check import NOTICEABLE
from .measures import Measure

_SIDE_EFFECTS = {"haze": ("lightness",), "lightness": ("contrast", "colour")}
"""What wishes move that nobody asked for, and that can be held."""
_ALSO_ASKS = {
    **dict.fromkeys(("haze", "fade", "clarity"), ("contrast",)),
    "black_and_white": ("colour",),
    "punch": ("contrast", "colour"),
}
"""What wishes ask to move besides what they are called; it is not held then."""
_EXCUSED = {"colour": frozenset({"warmth", "tint", "cast"})}
"""Wishes that may move what is held: it is held as if they were not there."""
_COLOURS = ("colour", "warmth", "tint")
"""What must stay where the colours of a photo are to stay."""
_UNMEASURED: dict[str, tuple[str, ...]] = {
    "noise": ("sharpness", "clarity"),
    "grain": ("grain",),
    "clarity": ("clarity",),
    "haze": ("dehaze",),
    "vignette": ("vignette",),
    "black_and_white": ("black_and_white",),
    **dict.fromkeys(STYLES, ()),
}
"""What is not measured where it is limited, and the operations that may add to it."""
_MEASURED_AS = {"punch": (("contrast", 1), ("colour", 1)), "fade": (("contrast", -1),)}
"""Limits that are about several quantities, or about the opposite of one."""
_PART_LIMITS = ("lightness", "colour")
"""What must stay in a range of hues that is to be left alone; of a tonal zone the light alone."""


def is_gentle(wish: Wish, wishes: Sequence[Wish]) -> bool:
    """Whether a wish is that others go less far: "don't overdo it", "brighter but not too bright"."""
    if wish.role is not Role.LIMIT or wish.what == "less":
        return wish.role is Role.LIMIT
    moved = _list_moves(wish)
    asks = [(other.what, _list_moves(other)) for other in wishes if other.role is Role.ASK]
    # Of "more punch, but not more saturated" the rest of the punch remains.
    asked = {move for what, moves in asks if what == wish.what or len(moves) == 1 for move in moves}
    return bool(moved) and moved <= asked


def _list_moves(wish: Wish) -> set[tuple[str, str, int]]:
    """What a wish moves which way, and where: attributes, or what it is about."""
    moves: Sequence[tuple[str, int]] = get_attributes(wish.what, wish.direction, wish.where, wish.hue)
    if not moves and wish.direction in (Direction.UP, Direction.DOWN):
        moves = [(wish.what, 1 if wish.direction is Direction.UP else -1)]
    return {(wish.where, what, sign) for what, sign in moves}


def spares_part(wish: Wish) -> bool:
    """Whether a limit leaves a part of the photo alone: steps then apply to the rest."""
    return wish.role is Role.LIMIT and wish.what in IMPOSSIBLE and wish.where in (*ZONES, *RANGES, *PLACES)


def spares_place(wish: Wish, wishes: Sequence[Wish]) -> bool:
    """Whether a limit is met by leaving a place out of what is asked for: "darker, but not her skin"."""
    asked = [other for other in wishes if other.role is Role.ASK and other.where == WHOLE]
    return (
        wish.role is Role.LIMIT
        and wish.what in CHANGES
        and wish.where in PLACES
        and any(other.what == wish.what for other in asked)
    )


def is_open(wish: Wish) -> bool:
    """Whether changes have to be found for a wish."""
    return wish.outcome is None and wish.role is Role.ASK and wish.what in CHANGES


def decline(wish: Wish, reason: str) -> Wish:
    return replace(wish, outcome=Outcome.DECLINED, reason=reason)


def get_limits(wish: Wish, asked: Collection[str], place: str | None) -> Iterable[Measure]:
    """What a limit holds: one quantity, or the light and colour of a part; not what is asked for."""
    sign = {Direction.UP: 1, Direction.DOWN: -1}.get(wish.direction, 0)
    where = place or wish.where
    if wish.what in IMPOSSIBLE:
        held = _PART_LIMITS[:1] if wish.where in ZONES else _PART_LIMITS
        return [Measure(what, 0, where) for what in held] if wish.where != WHOLE else []
    if wish.what == "colour" and wish.where == WHOLE and not sign:
        return [Measure(what, 0) for what in _COLOURS if what not in asked]
    if wish.what in _MEASURED_AS:
        return [Measure(what, turn * sign, where) for what, turn in _MEASURED_AS[wish.what]]
    return [] if wish.what in _UNMEASURED else [Measure(wish.what, sign, where, wish.hue)]


def get_soft_limits(wishes: Sequence[Wish]) -> dict[Measure, frozenset[str]]:
    """What a photo should not lose without being asked, and the wishes that may move it all the same.

    Its contrast and colour when it is made lighter or darker, its light when haze goes.
    """
    open_wishes = [wish for wish in wishes if is_open(wish)]
    if any(wish.quantity for wish in open_wishes):
        return {}
    whole = {wish.what for wish in open_wishes if wish.where == WHOLE}
    asked = {what for wish in open_wishes for what in (wish.what, *_ALSO_ASKS.get(wish.what, ()))}
    sides = dict.fromkeys(side for what in _SIDE_EFFECTS if what in whole for side in _SIDE_EFFECTS[what])
    return {Measure(side, 0): _EXCUSED.get(side, frozenset()) for side in sides if side not in asked}


def conclude_unmeasured(wish: Wish, changed: Collection[str]) -> Wish:
    """A limit that nothing measures is kept where no step that was changed may break it."""
    risky = [name for name in _UNMEASURED.get(wish.what, ()) if name in changed]
    return decline(wish, f"{risky[0]} may have added to it") if risky else replace(wish, outcome=Outcome.KEPT)


def conclude_limit(wish: Wish, excess: float) -> Wish:
    """Kept, or not quite; a limit of several quantities is kept if all of them are."""
    if excess > NOTICEABLE or wish.outcome is Outcome.DECLINED:
        return decline(wish, "it could not be held fully")
    return replace(wish, outcome=Outcome.KEPT)

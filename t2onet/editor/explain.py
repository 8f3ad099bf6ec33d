"""Sentences about an edit: the reply in one line, what was declined and why, which limits were kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from .. import operations
from ..language.wishes import WHOLE, Amount, Direction, Outcome, Role, Wish
from ..recipe import Recipe, Step
from ..recipe.wording import join_as_sentence

NOTHING_FOUND = "I found no wish about the photo in that; nothing was changed."
NOTHING_CHANGED = "The photo already is as asked, as far as I can see."
AS_OPENED = "The photo is as it was opened."
NOTHING_YET = "There is nothing yet that this could be about."
_SAME_DIRECTION = 0.9
"""Cosine from which on two steps do the same at different strengths."""

RuledOut = Literal["more", "less", "either"]
_RULED_OUT: dict[Direction, RuledOut] = {Direction.UP: "more", Direction.DOWN: "less"}
_NAMES = {"colour": "colourfulness", "tint": "redness"}


class DeclinedEntry(BaseModel):
    """A part of the request that was not answered."""

    model_config = ConfigDict(frozen=True)

    words: Annotated[str, Field(description="The words of the request.")]
    verdict: Annotated[
        str, Field(description="What they are about, such as remove or foreign; later releases may add some.")
    ]
    reason: Annotated[str, Field(description="Why it was not done, in words.")]

    @classmethod
    def from_wish(cls, wish: Wish) -> DeclinedEntry:
        return cls(words=" ".join(wish.words), verdict=wish.what, reason=wish.reason)


class LimitEntry(BaseModel):
    """Something the request says must stay: `without changing the colours`, `but not darker`."""

    model_config = ConfigDict(frozen=True)

    attribute: Annotated[
        str,
        Field(description="What must stay: lightness, contrast, colourfulness, warmth, redness, sharpness, or a part of the photo."),
    ]
    direction: Annotated[RuledOut, Field(description="The direction that is ruled out.")]
    kept: Annotated[bool, Field(description="Whether it was kept, as far as can be measured.")]
    phrase: Annotated[
        str, Field(description="What was done to keep it, or what was not quite kept, in words.")
    ]

    @classmethod
    def from_wish(cls, wish: Wish) -> LimitEntry:
        held = wish.where if wish.where != WHOLE else _NAMES.get(wish.what, wish.what)
        ruled_out = _RULED_OUT.get(wish.direction, "either")
        return cls(attribute=held, direction=ruled_out, kept=wish.outcome is Outcome.KEPT, phrase=_describe_limit(wish))


class WishEntry(BaseModel):
    """One thing that the request asks for, and what became of it."""

    model_config = ConfigDict(frozen=True)

    words: Annotated[str, Field(description="The words of the request that say so.")]
    what: Annotated[
        str,
        Field(description="What they are about, such as lightness, look or undo; later releases may add some."),
    ]
    role: Annotated[
        Role, Field(description="ask for a change, limit for something that must stay, question about the edit.")
    ]
    direction: Annotated[Direction, Field(description="Which way; fix is to where it should be.")]
    amount: Annotated[Amount, Field(description="How much by words; plain beside a number.")]
    number: Annotated[float | None, Field(description="The number stated, with its sign; null without one.")]
    unit: Annotated[
        str | None, Field(description="What the number counts, such as stops or percent; null without one.")
    ]
    where: Annotated[
        str, Field(description="whole, or the tonal zone, range of hues or part of the photo it is about.")
    ]
    hue: Annotated[str, Field(description="The colour that there should be more or less of; empty without one.")]
    outcome: Annotated[Outcome, Field(description="done, declined, or kept for a limit.")]
    reason: Annotated[str, Field(description="Why it was declined, or a remark about how it was done.")]

    @classmethod
    def from_wish(cls, wish: Wish) -> WishEntry:
        quantity = wish.quantity
        return cls(
            words=" ".join(wish.words),
            what=wish.what,
            role=wish.role,
            direction=wish.direction,
            amount=wish.amount,
            number=None if quantity is None else quantity.signed,
            unit=None if quantity is None else quantity.unit,
            where=wish.where,
            hue=wish.hue,
            outcome=wish.outcome or (Outcome.KEPT if wish.role is Role.LIMIT else Outcome.DONE),
            reason=wish.reason,
        )


def quote_words(words: Sequence[str]) -> str:
    return f"“{' '.join(words)}”"


def _describe_limit(wish: Wish) -> str:
    said = quote_words(wish.words)
    return f"{said} is kept" if wish.outcome is Outcome.KEPT else f"{said}: {wish.reason}"


def explain_outcomes(wishes: Sequence[Wish]) -> Iterator[str]:
    """A sentence for each wish that was declined and for each limit."""
    for wish in wishes:
        if wish.outcome is Outcome.DECLINED and wish.role is Role.ASK:
            yield f"Not done, {quote_words(wish.words)}: {wish.reason}."
        elif wish.role is Role.LIMIT:
            yield f"{_describe_limit(wish)}."
        elif wish.outcome is Outcome.DONE and wish.reason:
            yield f"{quote_words(wish.words)}: {wish.reason}."


def reply_to(wishes: Sequence[Wish], before: Recipe, after: Recipe) -> str:
    """What was done, in one line."""
    if not wishes:
        return NOTHING_FOUND
    declined = [wish for wish in wishes if wish.outcome is Outcome.DECLINED and wish.role is Role.ASK]
    if after == before:
        if declined:
            reasons = "; ".join(dict.fromkeys(wish.reason for wish in declined))
            return f"{reasons[:1].upper()}{reasons[1:]}; nothing was changed."
        return NOTHING_CHANGED
    if not after.steps:
        return AS_OPENED
    return describe_changes(before, after) if before.steps else after.describe()


def describe_changes(old: Recipe, new: Recipe, begin: str = "") -> str:
    """Describe the differences between two recipes in one sentence."""
    changes = old.diff(new)
    phrases = [_describe_change(change.before, change.after) for change in changes]
    sentence = join_as_sentence([f"{begin}{phrases[0]}", *phrases[1:]])
    has_rest = len(new.steps) > sum(change.after is not None for change in changes)
    return f"{sentence.removesuffix('.')}; the rest stays as it was." if has_rest else sentence


def _describe_change(before: Step | None, after: Step | None) -> str:
    if after is None:
        return f"no longer {before.describe()}" if before else ""
    if before is None:
        return after.describe()
    one, other = _compute_offsets(before), _compute_offsets(after)
    sizes = math.hypot(*one) * math.hypot(*other)
    if not sizes or sum(a * b for a, b in zip(one, other, strict=True)) < _SAME_DIRECTION * sizes:
        return f"now {after.describe()}"
    return f"{after.describe()} ({'more' if math.hypot(*other) > math.hypot(*one) else 'less'} than before)"


def _compute_offsets(step: Step) -> list[float]:
    """Differences of a step's parameters from their defaults."""
    if not step.has_strength:
        return []
    operation = operations.get_operation(step.operation)
    pairs = zip(operation.canonical(step.parameters), operation.defaults, strict=True)
    return [value - default for value, default in pairs]

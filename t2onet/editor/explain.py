"""Sentences about an edit: the reply in one line, what was declined and why, which limits were kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from .. import operations
from ..language.wishes import WHOLE, Amount, Direction, Outcome, Role, Verb, Wish
from ..looks import looks
from ..recipe import Recipe, Step
from ..recipe.recipe import StepChange
from ..recipe.wording import (
    MAX_SENTENCE_WORDS,
    WORDS_PER_FURTHER_STEP,
    describe_look,
    join_as_sentence,
)

NOTHING_FOUND = "I found no wish about the photo in that; nothing was changed."
NOTHING_CHANGED = "The photo already is as asked, as far as I can see."
AS_OPENED = "The photo is as it was opened."
NOTHING_YET = "there is nothing yet that this could be about"
NO_OPPOSITE = "the last change has no opposite"
_REST_STAYS = "; the rest stays as it was"
_SAME_DIRECTION = 0.9
"""Cosine from which on two steps do the same at different strengths."""
KEPT = {
    "contrast": "contrast",
    "vibrance": "colour",
    "saturation": "colour",
    "white_balance": "white balance",
    "exposure": "lightness",
    "sharpness": "sharpness",
}
"""What an operation keeps that makes up for side effects."""
_SCALED = ("more", "less")

RuledOut = Literal["more", "less", "either"]
_RULED_OUT: dict[Direction, RuledOut] = {Direction.UP: "more", Direction.DOWN: "less"}
_NAMES = {"colour": "colourfulness", "tint": "redness", "less": "amount"}


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
        Field(
            description="What must stay: lightness, contrast, colourfulness, warmth, redness, sharpness, "
            "a part of the photo, or amount (not too much)."
        ),
    ]
    direction: Annotated[RuledOut, Field(description="The direction that is ruled out.")]
    kept: Annotated[bool, Field(description="Whether it was kept, as far as can be measured.")]
    phrase: Annotated[
        str, Field(description="What was done to keep it, or what was not quite kept, in words.")
    ]

    @classmethod
    def from_wish(cls, wish: Wish) -> LimitEntry:
        held = wish.where if wish.where != WHOLE else _NAMES.get(wish.what, wish.what)
        ruled_out = "more" if wish.what == "less" else _RULED_OUT.get(wish.direction, "either")
        return cls(
            attribute=held,
            direction=ruled_out,
            kept=wish.outcome is Outcome.KEPT,
            phrase=_describe_limit(wish),
        )


class WishEntry(BaseModel):
    """One thing that the request asks for, and what became of it."""

    model_config = ConfigDict(frozen=True)

    words: Annotated[str, Field(description="The words of the request that say so.")]
    what: Annotated[
        str,
        Field(
            description="What they are about, such as lightness, look or undo; later releases may add some."
        ),
    ]
    role: Annotated[
        Role,
        Field(description="ask for a change, limit for something that must stay, question about the edit."),
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
    hue: Annotated[
        str, Field(description="The colour that there should be more or less of; empty without one.")
    ]
    verb: Annotated[
        Verb,
        Field(
            description="change the photo as it is; set a slider to the number; add to, cancel or replace an "
            "earlier change."
        ),
    ]
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
            verb=wish.verb,
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
        elif (
            wish.outcome is Outcome.DONE and wish.reason and wish.reason != f"the look {' '.join(wish.words)}"
        ):
            yield f"{quote_words(wish.words)}: {wish.reason}."


def reply_to(
    wishes: Sequence[Wish],
    before: Recipe,
    after: Recipe,
    helpers: Sequence[str] = (),
    kept: Sequence[str] = (),
) -> str:
    """What was done, in one line.

    `helpers` are operations that make up for side effects of the others, `kept` is what they kept.
    """
    if not wishes:
        return NOTHING_FOUND
    declined = [wish for wish in wishes if wish.outcome is Outcome.DECLINED and wish.role is Role.ASK]
    if after.steps == before.steps:
        reasons = "; ".join(dict.fromkeys(wish.reason for wish in declined))
        return describe_decline(reasons) if declined else NOTHING_CHANGED
    if not after.steps:
        return AS_OPENED
    missed = _name_missed(wishes)
    if named := _list_looks(wishes):
        return _add_part(_describe_with_looks(named, before, after, helpers), missed)
    told = tuple(step for step in after.steps if step.operation not in helpers)
    others = after.model_copy(update={"steps": told}) if told else after
    said = describe_changes(before, after, helpers=helpers) if before.steps else others.describe()
    if missed or not (kept and told):
        return _add_part(said, missed)
    return _add_part(said, f", {operations.join_phrases([*kept])} kept")


def _name_missed(wishes: Sequence[Wish]) -> str:
    """What wishes that were not met and limits that do not hold are about, by their heads."""
    missed = [wish for wish in wishes if wish.outcome is Outcome.DECLINED]
    heads = dict.fromkeys(quote_words([wish.head]) for wish in missed if wish.head)
    return f"; not {operations.join_phrases([*heads])}" if heads else ""


def _add_part(sentence: str, part: str) -> str:
    return f"{sentence.removesuffix('.')}{part}." if part else sentence


def _list_looks(wishes: Sequence[Wish]) -> list[str]:
    """The looks that were taken."""
    done = (wish for wish in wishes if wish.what == "look" and wish.outcome is Outcome.DONE)
    return [wish.looks[0][0] for wish in done if wish.verb is not Verb.CANCEL]


def _describe_with_looks(names: Sequence[str], before: Recipe, after: Recipe, helpers: Sequence[str]) -> str:
    """Looks by their names, then what else was changed: "Golden hour; darker corners"."""
    own = {step.operation for name in names for step in looks()[name].recipe.steps}
    changes = [change.after for change in before.diff(after) if change.after]
    steps = [step for step in changes if step.operation not in (*own, *helpers)]
    if len(names) == 1 and not steps:
        return describe_look(names[0], changes)
    said = operations.join_phrases([*names])
    rest = Recipe(steps=tuple(steps)).describe() if steps else ""
    return f"{said[:1].upper()}{said[1:]}" + (f"; {rest[:1].lower()}{rest[1:]}" if rest else ".")


def describe_decline(reason: str) -> str:
    """Why nothing was done, as a sentence."""
    return f"{reason[:1].upper()}{reason[1:]}; nothing was changed."


def find_look(wishes: Sequence[Wish]) -> str:
    """The name of the look that is all that was done; empty where there was more."""
    met = [wish for wish in wishes if wish.outcome is not Outcome.DECLINED]
    return met[0].looks[0][0] if len(met) == 1 and met[0].what == "look" else ""


def describe_changes(
    old: Recipe, new: Recipe, begin: str = "", look: str = "", helpers: Sequence[str] = ()
) -> str:
    """Describe the differences between two recipes in one sentence, at most 12 words for one or two.

    Where a look as a whole became more or less, it is described by its name. `helpers` are operations that
    make up for side effects of the others; they are left out where there are others.
    """
    every = old.diff(new)
    changes = [change for change in every if _get_operation(change) not in helpers] or every
    if not changes:
        return f"{(begin.removesuffix(': ') or 'nothing changed').capitalize()}."
    comparisons = {_compare(change) for change in changes}
    common = comparisons.pop() if len(comparisons) == 1 else ""
    name = look or (new.name if new.is_look else "")
    if name and common in _SCALED and len(changes) > 2:
        steps = [change.after for change in changes if change.after]
        return describe_look(f"{begin}{common} {name}", steps)
    has_rest = len(new.steps) > sum(change.after is not None for change in every)
    longest = MAX_SENTENCE_WORDS + len(begin.split()) + WORDS_PER_FURTHER_STEP * max(0, len(changes) - 2)
    text = _join_changes(changes, begin, common)
    sentences = [f"{text}{_REST_STAYS if has_rest else ''}", text, _join_phrases(changes, begin)]
    if len(changes) <= 2:
        sentences.append(_join_phrases(changes, begin, brief=True))
    return f"{next((one for one in sentences if len(one.split()) <= longest), sentences[-1])}."


def _get_operation(change: StepChange) -> str:
    """The operation whose step changed."""
    step = change.after or change.before
    assert step is not None
    return step.operation


def _join_changes(changes: Sequence[StepChange], begin: str, common: str) -> str:
    """Changes in one sentence without its full stop; what all have in common is said once."""
    if common not in _SCALED or len(changes) == 1:
        return _join_phrases(changes, begin, compare=True)
    every = "both" if len(changes) == 2 else "all"
    return f"{_join_phrases(changes, begin)} ({every} {common} than before)"


def _join_phrases(
    changes: Sequence[StepChange], begin: str, *, compare: bool = False, brief: bool = False
) -> str:
    phrases = [_describe_change(change, compare, brief) for change in changes]
    return join_as_sentence([f"{begin}{phrases[0]}", *phrases[1:]]).removesuffix(".")


def _describe_change(change: StepChange, compare: bool, brief: bool) -> str:
    step = change.after or change.before
    assert step is not None
    phrase, comparison = step.describe(brief=brief), _compare(change)
    if comparison in _SCALED:
        return f"{phrase} ({comparison} than before)" if compare else phrase
    return f"{comparison} {phrase}".strip()


def _compare(change: StepChange) -> str:
    """How a step relates to the one it replaces: `more`, `less`, `now`, `no longer`; empty for a new one."""
    if change.after is None:
        return "no longer"
    if change.before is None:
        return ""
    one, other = _compute_offsets(change.before), _compute_offsets(change.after)
    sizes = math.hypot(*one) * math.hypot(*other)
    if not sizes or sum(a * b for a, b in zip(one, other, strict=True)) < _SAME_DIRECTION * sizes:
        return "now"
    return "more" if math.hypot(*other) > math.hypot(*one) else "less"


def _compute_offsets(step: Step) -> list[float]:
    """Differences of a step's parameters from their defaults."""
    if not step.has_strength:
        return []
    operation = operations.get_operation(step.operation)
    pairs = zip(operation.canonical(step.parameters), operation.defaults, strict=True)
    return [value - default for value, default in pairs]

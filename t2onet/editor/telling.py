"""Sentences about an edit: what was declined, which limits were kept, what changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from .. import operations
from ..language import Attribute
from ..language.limits import Limit, Limited
from ..recipe import Recipe, Step
from ..recipe.wording import join_as_sentence
from .policy import FOREIGN

NOTHING_YET = "nothing yet"
"""Verdict on a follow-up that has nothing to refer to."""

_CANNOT = {
    "crop": "crop",
    "rotate": "turn or flip",
    "straighten": "straighten",
    "size": "change sizes",
    "move": "move things",
    "text": "write or remove text",
    "style": "redraw in another style",
    "retouch": "retouch faces and bodies",
    "local_light": "change the light of one part alone",
    "remove_object": "remove things or people",
    "remove_person": "remove things or people",
    "remove_blemish": "remove spots",
    "add_object": "add things",
    "recolour_object": "recolour one thing alone",
    "replace_background": "replace backgrounds",
    "blur_background": "blur backgrounds",
}
"""What cannot be done, by the verdict on a request."""
_ATTRIBUTE_WORDS = {
    Attribute.LIGHTNESS: ("the brightness", "brighter", "darker"),
    Attribute.CONTRAST: ("the contrast", "harsher", "flatter"),
    Attribute.COLOURFULNESS: ("the saturation", "more colourful", "paler"),
    Attribute.WARMTH: ("the warmth", "warmer", "cooler"),
    Attribute.REDNESS: ("the tint", "redder", "greener"),
    Attribute.SHARPNESS: ("the sharpness", "sharper", "softer"),
}
"""An attribute, more of it and less of it."""
_COLOUR_ATTRIBUTES = (Attribute.COLOURFULNESS, Attribute.WARMTH, Attribute.REDNESS)
_SAME_DIRECTION = 0.9
"""Cosine from which on two steps do the same at different strengths."""


Direction = Literal["more", "less", "either"]
_DIRECTIONS: dict[int, Direction] = {1: "more", -1: "less", 0: "either"}


class DeclinedEntry(BaseModel):
    """A part of the request that was not answered."""

    model_config = ConfigDict(frozen=True)

    words: Annotated[str, Field(description="The words of the request.")]
    verdict: Annotated[
        str, Field(description="What they are about, such as crop or foreign; later releases may add some.")
    ]
    reason: Annotated[str, Field(description="Why it was not done, in words.")]


class LimitEntry(BaseModel):
    """Something the request says must stay: `without changing the colours`, `but not darker`."""

    model_config = ConfigDict(frozen=True)

    attribute: Annotated[
        str,
        Field(
            description="lightness, contrast, colourfulness, warmth, redness, sharpness, or amount (not too "
            "much)."
        ),
    ]
    direction: Annotated[Direction, Field(description="The direction that is ruled out.")]
    kept: Annotated[bool, Field(description="Whether it was kept, as far as can be measured.")]
    phrase: Annotated[
        str, Field(description="What was done to keep it, or what was not quite kept, in words.")
    ]


def describe_decline(verdict: str) -> str:
    """Say why a request was declined."""
    if verdict == NOTHING_YET:
        return "There is nothing yet that this could be about"
    if verdict == FOREIGN:
        return "I only read English so far, please ask in English"
    if verdict in _CANNOT:
        return _describe_inability([verdict])
    return "I do not see what to change in the photo"


def describe_undone_parts(verdicts: Iterable[str], done: Recipe) -> Iterator[str]:
    """Say which parts of a request could not be done, if any."""
    known = [verdict for verdict in verdicts if verdict in _CANNOT]
    if known:
        yield f"{_describe_inability(known)}{'; I did the rest' if done.steps else ''}."


def _describe_inability(verdicts: Sequence[str]) -> str:
    matters = list(dict.fromkeys(_CANNOT[one] for one in verdicts))
    return f"I cannot {_join_phrases(matters, 'or')}, I only change photos as a whole"


def to_declined_entry(words: str, verdict: str) -> DeclinedEntry:
    return DeclinedEntry(words=words, verdict=verdict, reason=describe_decline(verdict))


def to_declined_entries(parts: Iterable[tuple[str, str]]) -> tuple[DeclinedEntry, ...]:
    """Declined parts with their reasons; parts with an unknown verdict are left out."""
    return tuple(to_declined_entry(words, verdict) for words, verdict in parts if verdict in _CANNOT)


def to_limit_entries(request: Limited, violated: frozenset[Limit]) -> tuple[LimitEntry, ...]:
    """Whether each limit of a request was kept."""
    outcomes = [
        LimitEntry(
            attribute=limit.attribute.value,
            direction=_DIRECTIONS[limit.sign],
            kept=limit not in violated,
            phrase=_describe_limit(limit) if limit in violated else " ".join(_describe_kept_limits([limit])),
        )
        for limit in request.limits
    ]
    if request.gentle:
        phrase = "did only a little of it"
        outcomes.append(LimitEntry(attribute="amount", direction="more", kept=True, phrase=phrase))
    return tuple(outcomes)


def describe_limits(request: Limited, violated: frozenset[Limit]) -> Iterator[str]:
    """Say which limits were kept and which were not."""
    kept = [limit for limit in request.limits if limit not in violated]
    did = [*_describe_kept_limits(kept), *(["did only a little of it"] if request.gentle else [])]
    if did:
        yield f"As asked, I {_join_phrases(did)}."
    if violated:
        phrases = [_describe_limit(limit) for limit in request.limits if limit in violated]
        yield f"I could not quite {_join_phrases(phrases)}."


def _describe_kept_limits(limits: Sequence[Limit]) -> Iterator[str]:
    still = [limit.attribute for limit in limits if not limit.sign]
    every = set(_COLOUR_ATTRIBUTES) <= set(still)
    names = ["the colours"] * every + [
        _ATTRIBUTE_WORDS[a][0] for a in still if not (every and a in _COLOUR_ATTRIBUTES)
    ]
    if names:
        yield f"left {_join_phrases(names)} alone"
    if turned := [_describe_direction(limit) for limit in limits if limit.sign]:
        yield f"made it no {_join_phrases(turned, 'or')}"


def _describe_limit(limit: Limit) -> str:
    return (
        f"keep it from becoming {_describe_direction(limit)}"
        if limit.sign
        else f"keep {_ATTRIBUTE_WORDS[limit.attribute][0]}"
    )


def _describe_direction(limit: Limit) -> str:
    return _ATTRIBUTE_WORDS[limit.attribute][1 if limit.sign > 0 else 2]


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


def _join_phrases(phrases: Sequence[str], last: str = "and") -> str:
    *first, end = phrases
    return f"{', '.join(first)} {last} {end}" if first else end

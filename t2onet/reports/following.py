"""Does a system do what was said? Real requests, labelled by hand, on photos it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..language import Attribute
from ..metrics.attributes import NOTICEABLE, ORDER, followed, unrequested
from ..metrics.pictures import distance
from .cases import Case, Told, quiet
from .labelled import Kind, LabelledRequest
from .rows import Row
from .systems import Made, Question, System, answered

CLASSES: dict[tuple[Attribute, int], str] = {
    (attribute, sign): f"{'more' if sign > 0 else 'less'} {attribute}"
    for attribute in Attribute
    for sign in (1, -1)
}
"""What can be asked for, and what it is called in tables."""
UNREQUESTED = "unrequested change"
COMPOUND = "all of a compound request"
MISSPELT = "all of a misspelt request"
VAGUE = "a vague request answered"
NEARER = "a vague request nearer the expert"
FLAGGED = "unanswerable flagged"
WRONGLY = "wrongly flagged"
IN_ORDER = "amounts in order"
AMOUNTS: tuple[tuple[Attribute, int, tuple[str, str, str]], ...] = (
    (Attribute.LIGHTNESS, 1, ("make it a little brighter", "make it brighter", "make it a lot brighter")),
    (Attribute.LIGHTNESS, -1, ("darken it slightly", "darken it", "darken it a lot")),
    (Attribute.COLOURFULNESS, 1, ("a bit more saturation", "more saturation", "much more saturation")),
    (Attribute.WARMTH, 1, ("make it a little warmer", "make it warmer", "make it a lot warmer")),
    (Attribute.CONTRAST, 1, ("add a bit of contrast", "add contrast", "add a lot of contrast")),
)
"""The same request in three amounts."""


def request_rows(
    system: System,
    sentences: Mapping[LabelledRequest, str],
    cases: Sequence[Case],
    *,
    manner: str = "literal",
    each: int = 4,
    seed: int = 0,
    told: Told = quiet,
) -> Iterator[Row]:
    """Every labelled request on `each` photos drawn by the seed."""
    rng = np.random.default_rng(seed)
    asked = [
        (label, sentence, cases[at])
        for label, sentence in sentences.items()
        for at in rng.choice(len(cases), min(each, len(cases)), replace=False)
    ]
    questions = [Question(case.before, sentence, manner) for _, sentence, case in asked]
    answers = answered(system, questions, f"labelled requests, {manner}", told)
    for (label, _, case), made in zip(asked, answers, strict=True):
        yield Row("requests", case.name, label.name, manner, judged(label, case, made))


def judged(label: LabelledRequest, case: Case, made: Made) -> dict[str, float]:
    """What can be said about one answer, 1 for yes and 0 for no; what was declined changes nothing."""
    if label.kind is Kind.UNANSWERABLE:
        return {FLAGGED: float(made.declined)}
    after = case.before if made.declined else made.picture
    change = case.change(after)
    found = {WRONGLY: float(made.declined)}
    if label.kind is Kind.VAGUE:
        nearer = distance(after, case.after) < distance(case.before, case.after)
        return found | {VAGUE: float((abs(change) > NOTICEABLE).any()), NEARER: float(nearer)}
    seen = followed(change, label.intents)
    for intent, hit in zip(label.intents, seen, strict=True):
        found[CLASSES[intent.attribute, intent.sign]] = float(hit)
    found[UNREQUESTED] = unrequested(change, label.intents)
    if label.typo:
        found[MISSPELT] = float(all(seen))
    if len(label.intents) > 1:
        found[COMPOUND] = float(all(seen))
    return found


def amount_rows(system: System, cases: Sequence[Case], told: Told = quiet) -> Iterator[Row]:
    """Whether a little is less than plain, and plain less than a lot, on each photo."""
    questions = [
        Question(case.before, request, "literal")
        for case in cases
        for _, _, requests in AMOUNTS
        for request in requests
    ]
    answers = answered(system, questions, "amounts", told)
    for case in cases:
        for attribute, sign, requests in AMOUNTS:
            steps = [sign * case.change(next(answers).picture)[ORDER[attribute]] for _ in requests]
            right = all(less < more for less, more in pairwise(steps))
            yield Row("amounts", case.name, CLASSES[attribute, sign], "literal", {IN_ORDER: float(right)})

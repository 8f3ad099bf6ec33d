"""Does an editor do what was said? Real requests, labelled by hand, on photos it has not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..editor import performed_thoughts
from ..language import Attribute
from ..metrics.attributes import changes, followed, unrequested
from ..policy import EDIT, Answer, Policy
from .labelled import Kind, LabelledRequest

Class = tuple[Attribute, int]
CLASSES: tuple[Class, ...] = tuple((attribute, sign) for attribute in Attribute for sign in (1, -1))


@dataclass
class Following:
    """Counts over requests and photos."""

    hits: dict[Class, list[bool]] = field(default_factory=lambda: {c: [] for c in CLASSES})
    aside: list[float] = field(default_factory=list)
    """Unrequested change of each answer, in noticeable amounts."""
    flagged: list[bool] = field(default_factory=list)
    """Unanswerable requests that were found to be so."""
    wrongly: list[bool] = field(default_factory=list)
    """Answerable ones that were flagged."""
    misspelt: list[bool] = field(default_factory=list)
    compound: list[bool] = field(default_factory=list)

    def share(self, wanted: Class) -> float:
        return float(np.mean(self.hits[wanted])) if self.hits[wanted] else float("nan")

    @property
    def mean(self) -> float:
        """Averaged over classes of attribute and sign."""
        return float(np.nanmean([self.share(c) for c in CLASSES]))

    @property
    def least(self) -> float:
        return float(np.nanmin([self.share(c) for c in CLASSES]))

    def add(self, label: LabelledRequest, answer: Answer, picture: np.ndarray) -> None:
        flagged = answer.verdict != EDIT
        if label.kind is Kind.UNANSWERABLE:
            self.flagged.append(flagged)
            return
        self.wrongly.append(flagged)
        if label.kind is not Kind.EDIT:
            return
        after = performed_thoughts(answer.thoughts, picture) if not flagged else picture
        change = changes(picture.astype(np.float64), after.astype(np.float64))
        seen = followed(change, label.intents)
        for intent, hit in zip(label.intents, seen, strict=True):
            self.hits[intent.attribute, intent.sign].append(hit)
        self.aside.append(unrequested(change, label.intents))
        if label.typo:
            self.misspelt.append(all(seen))
        if len(label.intents) > 1:
            self.compound.append(all(seen))


def follow(
    policy: Policy,
    sentences: Mapping[LabelledRequest, str],
    photos: Sequence[np.ndarray],
    *,
    manner: str = "literal",
    each: int = 4,
    seed: int = 0,
) -> Following:
    """Every request on `each` photos (3, SIDE, SIDE), drawn by the seed."""
    rng = np.random.default_rng(seed)
    found = Following()
    for label, sentence in sentences.items():
        for at in rng.choice(len(photos), min(each, len(photos)), replace=False):
            found.add(label, policy.answer(photos[at], sentence, manner), photos[at])
    return found


def ordered_amounts(
    policy: Policy, photos: Iterable[np.ndarray], triples: Sequence[tuple[Attribute, int, Sequence[str]]]
) -> float:
    """The share of photos on which a little is less than plain, and plain less than a lot."""
    right = []
    for picture in photos:
        for attribute, sign, requests in triples:
            steps = [sign * _change(policy, picture, request, attribute) for request in requests]
            right.append(steps == sorted(steps) and len(set(steps)) == len(steps))
    return float(np.mean(right))


def _change(policy: Policy, picture: np.ndarray, request: str, attribute: Attribute) -> float:
    after = performed_thoughts(policy.answer(picture, request, "literal").thoughts, picture)
    return float(changes(picture, after)[list(Attribute).index(attribute)])

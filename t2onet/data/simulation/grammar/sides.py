"""The two sides of a change, and what kinds of words each has.

A side is a direction a photo can go, or can already have gone too far: the words that ask for `brighter` sit
on the plus side of exposure, and so do those that complain of a photo that is too bright.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .engine import NOTHING, PhraseChoice, phrases, slots, start


@dataclass(frozen=True, eq=False)
class Side:
    """Words of one direction.

    `does` are orders; `quantity` is what can be turned up to go there; `mass` what can be added; `compared`
    describes a photo that has gone further; `state` and `flaw` one that has gone too far (`too dark`;
    `underexposed`); `remark` says so in a sentence, `wail` of an extreme case; `goal` is what for; `done` is
    what the photo wants to be (`brightened`).
    """

    does: PhraseChoice = NOTHING
    quantity: PhraseChoice = NOTHING
    mass: PhraseChoice = NOTHING
    compared: PhraseChoice = NOTHING
    state: PhraseChoice = NOTHING
    flaw: PhraseChoice = NOTHING
    remark: PhraseChoice = NOTHING
    wail: PhraseChoice = NOTHING
    goal: PhraseChoice = NOTHING
    done: PhraseChoice = NOTHING

    @cached_property
    def measured(self) -> PhraseChoice:
        """The remarks that say how much."""
        return PhraseChoice(tuple(option for option in self.remark.options if slots(option) & DEGREES))

    @cached_property
    def graded(self) -> PhraseChoice:
        """The orders that say how much inside, or bear `a bit` after them."""
        return PhraseChoice(
            tuple(
                option
                for option in self.does.options
                if slots(option) & DEGREES or not _UNGRADED.match(start(option))
            )
        )


DEGREES = frozenset({"too", "toomuch", "kind", "much"})
"""Slots that say how much."""
_UNGRADED = re.compile(
    r"(make|give|get rid|kill|apply|put|add an? |fix|save|rescue|undo|turn the lights|deblur|unblur|do |"
    r"let |set |remove the|correct|neutralise|cancel|bring <it> |stop |expose|move|"
    r"take the \w+ (cast|tint))|.*slider"
)


def side(**words: str) -> Side:
    return Side(**{name: phrases(text) for name, text in words.items()})

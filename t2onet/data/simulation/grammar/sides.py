"""The two sides of a change, and what kinds of words each has.

A side is a direction a photo can go, or can already have gone too far: the words that ask for `brighter` sit
on the plus side of exposure, and so do those that complain of a photo that is too bright.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .engine import NOTHING, Choice, phrases, slots, start


@dataclass(frozen=True, eq=False)
class Side:
    """Words of one direction.

    `does` are orders; `quantity` is what can be turned up to go there; `mass` what can be added; `compared`
    describes a photo that has gone further; `state` and `flaw` one that has gone too far (`too dark`;
    `underexposed`); `remark` says so in a sentence, `wail` of an extreme case; `goal` is what for; `done` is
    what the photo wants to be (`brightened`).
    """

    does: Choice = NOTHING
    quantity: Choice = NOTHING
    mass: Choice = NOTHING
    compared: Choice = NOTHING
    state: Choice = NOTHING
    flaw: Choice = NOTHING
    remark: Choice = NOTHING
    wail: Choice = NOTHING
    goal: Choice = NOTHING
    done: Choice = NOTHING

    @cached_property
    def measured(self) -> Choice:
        """The remarks that say how much."""
        return Choice(tuple(option for option in self.remark.options if slots(option) & DEGREES))

    @cached_property
    def graded(self) -> Choice:
        """The orders that say how much inside, or bear `a bit` after them."""
        return Choice(
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

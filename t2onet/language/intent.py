"""What a request asks for, apart from its words."""

from __future__ import annotations

from dataclasses import dataclass

from ..operations import Attribute

__all__ = ["AMOUNTS", "Attribute", "Intent", "intent_of"]


@dataclass(frozen=True)
class Intent:
    """More (+1) or less (-1) of an attribute; an amount of 1 is what the plain sentence means."""

    attribute: Attribute
    sign: int
    amount: float = 1.0


AMOUNTS = {"little": 0.4, "plain": 1.0, "much": 2.0}
"""The amount of an intent by the class of its amount word: `a bit`, none (or a figure), `a lot`."""


def intent_of(ask: str) -> Intent:
    """`contrast-:little` as an intent."""
    signed, _, amount = ask.partition(":")
    return Intent(Attribute(signed[:-1]), {"+": 1, "-": -1}[signed[-1]], AMOUNTS[amount or "plain"])

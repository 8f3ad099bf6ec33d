"""What a request asks for, as labels state it: attributes and signs; and the paper's ten requests."""

from __future__ import annotations

from dataclasses import dataclass

from ..operations import Attribute

__all__ = ["AMOUNTS", "TEN_REQUESTS", "Attribute", "Intent", "parse_intent"]


@dataclass(frozen=True)
class Intent:
    """More (+1) or less (-1) of an attribute; an amount of 1 is what the plain sentence means."""

    attribute: Attribute
    sign: int
    amount: float = 1.0


AMOUNTS = {"little": 0.4, "plain": 1.0, "much": 2.0}
"""The amount of an intent by the class of its amount word: `a bit`, none (or a figure), `a lot`."""


def parse_intent(ask: str) -> Intent:
    """`contrast-:little` as an intent."""
    signed, _, amount = ask.partition(":")
    return Intent(Attribute(signed[:-1]), {"+": 1, "-": -1}[signed[-1]], AMOUNTS[amount or "plain"])


TEN_REQUESTS = (
    "Decrease the brightness.",
    "Increase the brightness.",
    "Enhance the color.",
    "Decrease the color.",
    "Improve contrast.",
    "Reduce contrast.",
    "Increase saturation.",
    "Reduce saturation.",
    "Increase the brightness a little.",
    "Increase the brightness a lot.",
)
"""The requests of the paper's appendix, with which it measures whether words matter."""

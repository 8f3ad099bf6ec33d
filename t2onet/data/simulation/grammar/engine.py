"""Phrases as data: a small notation, read once, said many times.

    brighten[ up|] <it>^3|lighten <it>

`|` parts alternatives, `[...]` holds alternatives inside a phrase, `[word]` without a bar may be left out,
`<name>` is filled in by the speaker, and `^3` at the end makes an alternative three times as likely. It knows
nothing about photos.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

_TOKENS: Final = re.compile(r"[\[\]|]|<[a-z_]+>|[^\[\]|<]+")
_WEIGHT: Final = re.compile(r"\^(\d+)\s*$")
T = TypeVar("T")


@dataclass(frozen=True)
class Slot:
    """Something the speaker fills in."""

    name: str


@dataclass(frozen=True)
class PhraseChoice:
    """One of these; an alternative that stands there twice is twice as likely."""

    options: tuple[Node, ...]

    def __bool__(self) -> bool:
        return bool(self.options)

    def __add__(self, other: PhraseChoice) -> PhraseChoice:
        return PhraseChoice(self.options + other.options)


Node = str | Slot | PhraseChoice | tuple["Node", ...]
Filler = Callable[["Speaker"], str]

NOTHING: Final = PhraseChoice(())


def phrases(text: str) -> PhraseChoice:
    """The alternatives written in `text`; line breaks and the spaces around them are not part of it."""
    text = re.sub(r"\s*\n\s*", "", text)
    tokens = _TOKENS.findall(text)
    if "".join(tokens) != text:
        raise ValueError(f"{text!r} holds something that is no phrase")
    options, rest = _alternatives(tokens, 0)
    if rest != len(tokens):
        raise ValueError(f"{text!r} closes a bracket that it never opened")
    return PhraseChoice(tuple(options))


def _alternatives(tokens: Sequence[str], at: int) -> tuple[list[Node], int]:
    options: list[Node] = []
    parts: list[Node] = []
    while at < len(tokens) and tokens[at] != "]":
        token = tokens[at]
        if token == "|":
            options += _weighted(parts)
            parts = []
        elif token == "[":
            inner, at = _alternatives(tokens, at + 1)
            if at == len(tokens):
                raise ValueError(f"a bracket stays open in {''.join(tokens)!r}")
            parts.append(PhraseChoice(tuple(inner) if len(inner) > 1 else (inner[0], "")))
        elif token.startswith("<"):
            parts.append(Slot(token[1:-1]))
        else:
            parts.append(token)
        at += 1
    return options + _weighted(parts), at


def _weighted(parts: list[Node]) -> list[Node]:
    weight = 1
    if parts and isinstance(parts[-1], str) and (found := _WEIGHT.search(parts[-1])):
        weight = int(found[1])
        parts[-1] = parts[-1][: found.start()]
    node = parts[0] if len(parts) == 1 else tuple(parts)
    return [node or ""] * weight


def slots(node: Node) -> frozenset[str]:
    """The names a phrase leaves to the speaker."""
    if isinstance(node, Slot):
        return frozenset({node.name})
    parts = node.options if isinstance(node, PhraseChoice) else node if isinstance(node, tuple) else ()
    return frozenset().union(*map(slots, parts))


def start(node: Node) -> str:
    """How a phrase begins, its first alternatives taken."""
    if isinstance(node, Slot):
        return f"<{node.name}>"
    if isinstance(node, PhraseChoice):
        return start(node.options[0])
    return node if isinstance(node, str) else "".join(map(start, node))


@dataclass
class Speaker:
    """Says phrases: a source of chance, and what fills the slots.

    `own` overrides `shared` for as long as it stands there; a `Choice` is said, a function is called.
    """

    rng: Random
    shared: Mapping[str, PhraseChoice | Filler]
    own: dict[str, PhraseChoice | Filler] = field(default_factory=dict)

    def say(self, node: Node) -> str:
        if isinstance(node, str):
            return node
        if isinstance(node, tuple):
            return "".join([self.say(part) for part in node])
        if isinstance(node, PhraseChoice):
            options = node.options
            return self.say(options[int(self.rng.random() * len(options))])
        filler = self.own.get(node.name) or self.shared[node.name]
        return self.say(filler) if isinstance(filler, PhraseChoice) else filler(self)

    def pick(self, things: Sequence[T]) -> T:
        return things[int(self.rng.random() * len(things))]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

"""An edit: a photo, a request, the recipe that answers it, and its explanation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ..errors import RequestError
from ..executor import apply
from ..image import Image
from ..language.followup import Move
from ..recipe import Recipe, Step
from .policy import EDIT
from .telling import DeclinedPart, LimitOutcome, describe_changes, describe_decline
from .turns import EditTurn

# An edit: a photo, a request and the recipe that answers it, and how that is said.

Mode = Literal["literal", "expert"]
Manner = Mode
"""The old name."""


def resolve_mode(mode: Mode, manner: Mode | None) -> Mode:
    """The mode of a function that may be called with `manner`, its old name; warns its caller of that."""
    if manner is None:
        return mode
    warnings.warn("`manner` is now called `mode`", DeprecationWarning, stacklevel=3)
    if mode not in ("literal", manner):
        raise RequestError(f"mode {mode!r} and manner {manner!r} contradict each other; give mode alone")
    return manner


@dataclass(frozen=True)
class Edit:
    """A photo, a request, and the recipe that answers it.

    `verdict` is "edit", or what the request is about that cannot be done; then the recipe is empty, or as it
    was before a follow-up. `reasons` are, for each step, the words that led to it. `turn` is how it came from
    the edit before, and `move` says whether that was one step through the history. `aside` are steps that
    were switched off by hand, and the positions they had. `remarks` are sentences about what was not done;
    `declined` and `limits` are the same as data: parts of the request that were not answered, and what
    became of its limits.
    """

    photo: Image
    request: str
    mode: Mode
    recipe: Recipe
    verdict: str = EDIT
    reasons: tuple[tuple[str, ...], ...] = ()
    turn: EditTurn = field(default_factory=EditTurn)
    aside: tuple[tuple[int, Step], ...] = ()
    remarks: tuple[str, ...] = ()
    move: Move | None = None
    declined: tuple[DeclinedPart, ...] = ()
    limits: tuple[LimitOutcome, ...] = ()

    @property
    def manner(self) -> Mode:
        """The old name of `mode`."""
        return resolve_mode(self.mode, self.mode)

    @cached_property
    def image(self) -> Image:
        """The photo after the recipe, at full resolution."""
        return apply(self.recipe, self.photo)

    @property
    def answered(self) -> bool:
        return self.verdict == EDIT

    @property
    def changes(self) -> list[str]:
        """What differs from the edit before, in words."""
        return [str(change) for change in self.turn.last.diff(self.recipe)]

    def explain(self) -> str:
        """What was done and which words asked for it, or why nothing was done."""
        if not self.answered:
            return f"{describe_decline(self.verdict)}; nothing was changed."
        lines = [" ".join([*self._news(), *self.remarks])]
        if self.recipe == self.turn.last:
            return lines[0]
        for step, words in zip(self.recipe.steps, self.reasons, strict=True):
            because = f" because of {_quote_words(words)}" if words else ""
            lines.append(f"- {step.operation}: {step.describe()}{because}")
        return "\n".join(lines)

    def _news(self) -> Iterator[str]:
        """What is new since the edit before."""
        before = self.turn.last
        if self.recipe == before:
            yield "The photo already is as asked, as far as I can see; nothing was changed."
        elif self.move is Move.UNDO:
            yield describe_changes(self.recipe, before, "undone: ")
        elif self.move is Move.REDO:
            yield describe_changes(before, self.recipe, "done again: ")
        elif self.recipe.steps:
            yield describe_changes(before, self.recipe) if before.steps else self.recipe.describe()
        if not self.recipe.steps and before.steps:
            yield "The photo is as it was opened."

    def at(self, strength: float) -> Edit:
        """The same edit, weaker or stronger."""
        return replace(self, recipe=self.recipe.blend(strength))

    def become(self, recipe: Recipe, turn: EditTurn) -> Edit:
        """With another recipe; steps that are still there keep the words that led to them."""
        told = list(zip(self.recipe.steps, self.reasons, strict=True))
        reasons: dict[int, tuple[str, ...]] = {}
        for alike in (_is_equal, _is_same_operation):
            for at, step in enumerate(recipe.steps):
                found = next((pair for pair in told if at not in reasons and alike(pair[0], step)), None)
                if found is not None:
                    told.remove(found)
                    reasons[at] = found[1]
        ordered = tuple(reasons.get(at, ()) for at in range(len(recipe.steps)))
        return replace(self, recipe=recipe, reasons=ordered, turn=turn, remarks=(), declined=(), limits=())


def _is_equal(one: Step, other: Step) -> bool:
    return one == other


def _is_same_operation(one: Step, other: Step) -> bool:
    return one.operation == other.operation


def _quote_words(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)

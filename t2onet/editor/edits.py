"""An edit: a photo, a request, the recipe that answers it, and its explanation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ..executor import apply
from ..image import Image
from ..language.followup import Move
from ..options import Mode, reconcile_mode
from ..recipe import Recipe, Step
from .policy import EDIT
from .telling import DeclinedEntry, LimitEntry, describe_changes, describe_decline
from .turns import EditTurn


class StepEntry(BaseModel):
    """A step of a recipe, in words as well."""

    model_config = ConfigDict(frozen=True)

    operation: Annotated[str, Field(description="Name of the operation, one of `t2o ops`.")]
    parameters: Annotated[tuple[float, ...], Field(description="Its parameters, in declared order.")]
    masked: Annotated[bool, Field(description="Whether the step works only in a part of the picture.")]
    sentence: Annotated[str, Field(description="What the step does, in words.")]
    settings: Annotated[str, Field(description="Its numbers as photographers write them: exposure +0.50 EV.")]
    reasons: Annotated[
        tuple[str, ...],
        Field(description="Words of the request that led to the step; unknown for results that existed."),
    ]


def summarize_steps(recipe: Recipe, reasons: Sequence[Sequence[str]] = ()) -> list[StepEntry]:
    """The steps of a recipe in words; `reasons` are the words that led to each step, if they are known."""
    return [
        StepEntry(
            operation=step.operation,
            parameters=step.stored_parameters,
            masked=step.mask is not None,
            sentence=step.describe(),
            settings=step.format_settings(),
            reasons=tuple(words),
        )
        for step, words in zip(recipe.steps, reasons or ((),) * len(recipe.steps), strict=True)
    ]


def resolve_mode(mode: Mode, manner: Mode | None) -> Mode:
    """The mode of a function that still takes `manner`, the old name; warns callers that use it."""
    if manner is not None:
        warnings.warn("`manner` is now called `mode`", DeprecationWarning, stacklevel=3)
    return reconcile_mode(mode, manner)


@dataclass(frozen=True)
class Edit:
    """A photo, a request, and the recipe that answers it.

    `verdict` is "edit", or the kind of request that cannot be answered; then the recipe is empty, or
    unchanged after a follow-up. `reasons` are the words that led to each step. `turn` relates the edit to the
    one before it, and `move` is UNDO or REDO where it came from the history. `aside` are steps that were
    switched off by hand, with their positions. `remarks` are sentences about what was not done; `declined`
    and `limits` are the same as data: parts of the request that were not answered, and whether its limits
    were kept.
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
    declined: tuple[DeclinedEntry, ...] = ()
    limits: tuple[LimitEntry, ...] = ()

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
        """Whether the request was answered with a recipe."""
        return self.verdict == EDIT

    @property
    def changes(self) -> list[str]:
        """Differences from the previous edit, in words."""
        return [str(change) for change in self.turn.last.diff(self.recipe)]

    def explain(self) -> str:
        """Say what was done and which words asked for it, or why nothing was done."""
        if not self.answered:
            return f"{describe_decline(self.verdict)}; nothing was changed."
        lines = [" ".join([*self._describe_changes(), *self.remarks])]
        if self.recipe == self.turn.last:
            return lines[0]
        for step, words in zip(self.recipe.steps, self.reasons, strict=True):
            because = f" because of {_quote_words(words)}" if words else ""
            lines.append(f"- {step.format_settings()}: {step.describe()}{because}")
        return "\n".join(lines)

    def _describe_changes(self) -> Iterator[str]:
        """Sentences about what changed since the previous edit."""
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
        """The same edit at another strength: 0 does nothing, 1 is itself, more goes beyond."""
        return replace(self, recipe=self.recipe.blend(strength))

    def with_recipe(self, recipe: Recipe, turn: EditTurn) -> Edit:
        """The edit with another recipe; steps that are still in it keep their reasons."""
        remaining = list(zip(self.recipe.steps, self.reasons, strict=True))
        reasons: dict[int, tuple[str, ...]] = {}
        for is_match in (_is_equal, _is_same_operation):
            for position, step in enumerate(recipe.steps):
                match = next(
                    (pair for pair in remaining if position not in reasons and is_match(pair[0], step)), None
                )
                if match is not None:
                    remaining.remove(match)
                    reasons[position] = match[1]
        ordered = tuple(reasons.get(position, ()) for position in range(len(recipe.steps)))
        return replace(self, recipe=recipe, reasons=ordered, turn=turn, remarks=(), declined=(), limits=())


def _is_equal(one: Step, other: Step) -> bool:
    return one == other


def _is_same_operation(one: Step, other: Step) -> bool:
    return one.operation == other.operation


def _quote_words(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)

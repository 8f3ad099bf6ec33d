"""An edit: a photo, a request, the wishes that were read in it, and the recipe that meets them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ..executor import apply
from ..image import Image
from ..language.wishes import COMMANDS, Outcome, Role, Wish
from ..options import Mode, reconcile_mode
from ..recipe import Recipe, Step
from ..recipe.where import to_data
from .explain import KEPT, DeclinedEntry, LimitEntry, describe_changes, explain_outcomes, quote_words
from .parts import is_placeable

EDIT = "edit"
"""Verdict on a request that was answered."""
NOTHING = "nothing"
"""Verdict on a request in which no wish was found."""


class StepEntry(BaseModel):
    """A step of a recipe, in words as well."""

    model_config = ConfigDict(frozen=True)

    operation: Annotated[str, Field(description="Name of the operation, one of `t2o ops`.")]
    parameters: Annotated[tuple[float, ...], Field(description="Its parameters, in declared order.")]
    masked: Annotated[bool, Field(description="Whether the step works only in a part of the picture.")]
    where: Annotated[
        str | dict[str, Any] | None,
        Field(description="The part, found on each picture, such as `shadows`; null for all or a mask."),
    ] = None
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
            masked=step.is_local,
            where=None if step.where is None else to_data(step.where),
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
class EditTurn:
    """How a recipe came about.

    `since` is the recipe before the change that "more" and "that" refer to, `last` the recipe of the previous
    turn. `scaled` is 1 or -1 after "more" or "less"; `repeated` is how often the change was made again since.
    `strength` is the strength of `last` that was set.
    `wishes` are those that led from `since` to the recipe, also where it was scaled afterwards.
    """

    since: Recipe = field(default_factory=Recipe)
    last: Recipe = field(default_factory=Recipe)
    scaled: int = 0
    repeated: int = 0
    strength: float = 1.0
    wishes: tuple[Wish, ...] = ()


@dataclass(frozen=True)
class Edit:
    """A photo, a request, its wishes with what became of each, and the recipe.

    `reply` is the answer in one line. `because` are the words that led to each operation, also those of
    earlier turns; `helpers` are operations that only make up for side effects of others. `turn` relates the
    edit to the one before it. `aside` are steps that were switched off by hand, with their positions.
    """

    photo: Image
    request: str
    mode: Mode
    recipe: Recipe
    wishes: tuple[Wish, ...] = ()
    reply: str = ""
    because: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    turn: EditTurn = field(default_factory=EditTurn)
    aside: tuple[tuple[int, Step], ...] = ()
    helpers: tuple[str, ...] = ()

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
        """Whether at least one wish was met, or none was stated because the recipe was set by hand."""
        return not self.request or any(wish.outcome is not Outcome.DECLINED for wish in self.wishes)

    @property
    def verdict(self) -> str:
        """`edit`, or what a request that was declined is about."""
        if self.answered:
            return EDIT
        return self.wishes[0].what if self.wishes else NOTHING

    @property
    def command(self) -> str:
        """What the request told the program rather than the photo, such as undo or save; empty for none."""
        said = (wish.what for wish in self.wishes if wish.what in COMMANDS and wish.role is Role.ASK)
        asks = any(wish.role is Role.QUESTION for wish in self.wishes)
        return next(said, "question" if asks else "")

    @property
    def reasons(self) -> tuple[tuple[str, ...], ...]:
        """The words that led to each step."""
        return tuple(self.because.get(step.operation, ()) for step in self.recipe.steps)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about wishes that were declined and limits."""
        return tuple(explain_outcomes(self.wishes))

    @property
    def unplaced(self) -> tuple[Wish, ...]:
        """Wishes that were declined about a place that a mask could stand for."""
        return tuple(wish for wish in self.wishes if wish.outcome is Outcome.DECLINED and is_placeable(wish))

    @property
    def declined(self) -> tuple[DeclinedEntry, ...]:
        """Wishes that were not met, as data."""
        return tuple(
            DeclinedEntry.from_wish(wish)
            for wish in self.wishes
            if wish.outcome is Outcome.DECLINED and wish.role is Role.ASK
        )

    @property
    def limits(self) -> tuple[LimitEntry, ...]:
        """Limits and whether they were kept, as data."""
        return tuple(LimitEntry.from_wish(wish) for wish in self.wishes if wish.role is Role.LIMIT)

    @property
    def changes(self) -> list[str]:
        """Differences from the previous edit, in words."""
        return [str(change) for change in self.turn.last.diff(self.recipe)]

    def explain(self) -> str:
        """The reply, then each step with the words that asked for it, then what was not done."""
        lines = [self.reply]
        if self.recipe != self.turn.last:
            for step, words in zip(self.recipe.steps, self.reasons, strict=True):
                because = f" because of {quote_words(words)}" if words else ""
                if step.operation in self.helpers:
                    because = f", to keep the {KEPT.get(step.operation, 'rest')}"
                lines.append(f"- {step.format_settings()}: {step.describe()}{because}")
        lines += explain_outcomes([wish for wish in self.wishes if not self._is_in_reply(wish)])
        return "\n".join(lines)

    def _is_in_reply(self, wish: Wish) -> bool:
        """Whether the reply says already why a wish was declined; its first letter may be a capital."""
        return wish.outcome is Outcome.DECLINED and wish.role is Role.ASK and wish.reason[1:] in self.reply

    def at(self, strength: float) -> Edit:
        """The same edit at another strength: 0 does nothing, 1 is itself, more goes beyond."""
        if strength == 1 or not self.recipe.steps:
            return self
        recipe = self.recipe.blend(strength)
        return replace(self, recipe=recipe, reply=describe_changes(Recipe(), recipe, helpers=self.helpers))

    def with_recipe(self, recipe: Recipe, turn: EditTurn) -> Edit:
        """The edit with another recipe, set by hand; operations keep the words that led to them."""
        used = {step.operation for step in recipe.steps}
        because = {name: words for name, words in self.because.items() if name in used}
        return replace(self, recipe=recipe, turn=turn, because=because, wishes=(), reply="")

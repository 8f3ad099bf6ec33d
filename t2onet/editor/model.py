"""An edit: a photo, a request and the recipe that answers it, and how that is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ..executor import apply
from ..image import Image
from ..policy import EDIT, FOREIGN
from ..recipe import Recipe, Step
from .turns import Turn

Manner = Literal["literal", "expert"]
NOTHING_YET = "nothing yet"
"""The verdict on a follow-up that has nothing to speak of."""

_CANNOT = {
    "crop": "crop",
    "rotate": "turn or flip",
    "straighten": "straighten",
    "size": "change sizes",
    "move": "move things",
    "text": "write or remove text",
    "style": "redraw in another style",
    "retouch": "retouch faces and bodies",
    "local_light": "change the light of one part alone",
    "remove_object": "remove things",
    "remove_person": "remove people",
    "remove_blemish": "remove spots",
    "add_object": "add things",
    "recolour_object": "recolour one thing alone",
    "replace_background": "replace backgrounds",
    "blur_background": "blur backgrounds",
}
"""Verdicts on requests that no operation on the whole photo can answer, as what cannot be done."""


@dataclass(frozen=True)
class Edit:
    """A photo, a request, and the recipe that answers it.

    `verdict` is "edit", or what the request is about that cannot be done; then the recipe is empty, or as it
    was before a follow-up. `reasons` are, for each step, the words that led to it. `turn` is how it came from
    the edit before. `aside` are steps that were switched off by hand, and the positions they had.
    """

    photo: Image
    request: str
    manner: Manner
    recipe: Recipe
    verdict: str = EDIT
    reasons: tuple[tuple[str, ...], ...] = ()
    turn: Turn = field(default_factory=Turn)
    aside: tuple[tuple[int, Step], ...] = ()

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
            return f"{_declined(self.verdict)}; nothing was changed."
        if self.recipe == self.turn.last:
            return "The photo already is as asked, as far as I can see; nothing was changed."
        if not self.recipe.steps:
            return "The photo is as it was opened."
        lines = [self.recipe.describe()]
        for step, words in zip(self.recipe.steps, self.reasons, strict=True):
            because = f" because of {_listed(words)}" if words else ""
            lines.append(f"- {step.operation}: {step.describe()}{because}")
        return "\n".join(lines)

    def at(self, strength: float) -> Edit:
        """The same edit, weaker or stronger."""
        return replace(self, recipe=self.recipe.blend(strength))

    def become(self, recipe: Recipe, turn: Turn) -> Edit:
        """With another recipe; steps that are still there keep the words that led to them."""
        told = list(zip(self.recipe.steps, self.reasons, strict=True))
        reasons: dict[int, tuple[str, ...]] = {}
        for alike in (_equal, _of_one_operation):
            for at, step in enumerate(recipe.steps):
                found = next((pair for pair in told if at not in reasons and alike(pair[0], step)), None)
                if found is not None:
                    told.remove(found)
                    reasons[at] = found[1]
        ordered = tuple(reasons.get(at, ()) for at in range(len(recipe.steps)))
        return replace(self, recipe=recipe, reasons=ordered, turn=turn)


def _declined(verdict: str) -> str:
    if verdict == NOTHING_YET:
        return "There is nothing yet that this could be about"
    if verdict == FOREIGN:
        return "I only read English so far, please ask in English"
    if verdict in _CANNOT:
        return f"I cannot {_CANNOT[verdict]}, I only change photos as a whole"
    return "I do not see what to change in the photo"


def _equal(one: Step, other: Step) -> bool:
    return one == other


def _of_one_operation(one: Step, other: Step) -> bool:
    return one.operation == other.operation


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)

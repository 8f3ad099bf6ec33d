"""Follow-ups to an edit: each part of a follow-up makes the next edit. The editor keeps the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..language import Attribute
from ..language.followup import FollowUp, Move
from ..options import Mode
from ..recipe import Recipe, Step
from .edits import Edit
from .policy import apply_to_thumbnail, is_visibly_different
from .telling import NOTHING_YET
from .turns import EditTurn, measure_effects, scale_attributes, scale_last_change

RequestAnswerer = Callable[[str, Mode, np.ndarray], Edit]
"""Takes a request, a mode and a picture (3, side, side); returns the edit that answers the request."""


@dataclass(frozen=True)
class Conversation:
    """A conversation about a thumbnail; `destinations` are the recipes that moves in the history lead to."""

    picture: np.ndarray
    answer: RequestAnswerer
    destinations: Mapping[Move, Recipe]

    def follow(self, edit: Edit, part: FollowUp) -> Edit:
        """The edit after one part of a follow-up."""
        if part.move in self.destinations:
            recipe = self.destinations[part.move]
            return edit.with_recipe(recipe, EditTurn(recipe, edit.recipe))
        if part.move is Move.ASK:
            return self._add_steps(edit, part.text)
        return self._scale_attributes(edit, part) if part.intents else self._scale_last_change(edit, part)

    def _scale_last_change(self, edit: Edit, part: FollowUp) -> Edit:
        if edit.recipe == edit.turn.since:
            return replace(edit, verdict=NOTHING_YET)
        return edit.with_recipe(*scale_last_change(edit.recipe, edit.turn, part))

    def _scale_attributes(self, edit: Edit, part: FollowUp) -> Edit:
        """Scale the steps that carry the attributes; the policy answers what no step carries."""
        recipe, turn, carried = scale_attributes(edit.recipe, edit.turn, part, self.picture)
        if not carried or not is_visibly_different(edit.recipe, recipe, self.picture):
            if part.share is not None:
                return replace(edit, verdict=NOTHING_YET)
            return self._add_steps(edit, part.text)
        after = edit.with_recipe(recipe, turn)
        asked = {intent.attribute for intent in part.intents}
        return after if carried == asked else self._add_steps(after, part.text, except_for=carried)

    def _add_steps(self, edit: Edit, request: str, except_for: frozenset[Attribute] = frozenset()) -> Edit:
        """Add the steps that answer a request about the photo as it looks by now.

        Steps about the attributes `except_for`, which were scaled already, are left out.
        """
        picture = apply_to_thumbnail(edit.recipe, self.picture)
        answer = self.answer(request, edit.mode, picture)
        if not answer.answered:
            return replace(edit, verdict=answer.verdict)
        effects = measure_effects(answer.recipe, picture)
        new = [position for position, effect in enumerate(effects) if not except_for & effect.keys()]
        before = edit.turn.since if except_for else edit.recipe
        recipe, reasons = edit.recipe, list(edit.reasons)
        for position in new:
            recipe, at = self._add_step(recipe, answer.recipe.steps[position])
            earlier = reasons[at] if at < len(reasons) else ()
            reasons[at : at + 1] = [(*earlier, *answer.reasons[position])]
        return replace(
            edit,
            recipe=recipe,
            reasons=tuple(reasons),
            turn=EditTurn(before, before),
            remarks=answer.remarks,
            declined=answer.declined,
            limits=answer.limits,
        )

    def _add_step(self, recipe: Recipe, step: Step) -> tuple[Recipe, int]:
        """The recipe with a step more, or with the step that it has of this operation, and where that is.

        The step that is there is changed only where the picture is the same as with another one.
        """
        longer = recipe.model_copy(update={"steps": (*recipe.steps, step)})
        at = recipe.find_step(step.operation)
        if at is None or step.mask is not None:
            return longer, len(recipe.steps)
        merged = recipe.adjust(step.operation, recipe.steps[at].add(step).parameters)
        if is_visibly_different(longer, merged, self.picture):
            return longer, len(recipe.steps)
        return merged, at

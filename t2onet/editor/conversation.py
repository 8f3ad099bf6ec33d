"""What is said about an edit, part by part, made into the next edit. The history is the editor's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..language import Attribute
from ..language.followup import FollowUp, Move
from ..recipe import Recipe
from .edits import Edit, Mode
from .pictures import apply_to_thumbnail, is_visibly_different
from .telling import NOTHING_YET
from .turns import EditTurn, measure_effects, scale_attributes, scale_last_change

RequestAnswerer = Callable[[str, Mode, np.ndarray], Edit]
"""A request, a mode and a picture (3, SIDE, SIDE) to the edit that answers it."""


@dataclass(frozen=True)
class Conversation:
    """About a photo as the policy sees it; `places` are the recipes that moves in the history lead to."""

    picture: np.ndarray
    answering: RequestAnswerer
    places: Mapping[Move, Recipe]

    def turned(self, edit: Edit, part: FollowUp) -> Edit:
        """One part of what was said, on top of an edit."""
        if part.move in self.places:
            there = self.places[part.move]
            return edit.become(there, EditTurn(there, edit.recipe))
        if part.move is Move.ASK:
            return self._added(edit, part.text)
        return self._adjusted(edit, part) if part.intents else self._changed(edit, part)

    def _changed(self, edit: Edit, part: FollowUp) -> Edit:
        if edit.recipe == edit.turn.since:
            return replace(edit, verdict=NOTHING_YET)
        return edit.become(*scale_last_change(edit.recipe, edit.turn, part))

    def _adjusted(self, edit: Edit, part: FollowUp) -> Edit:
        recipe, turn, carried = scale_attributes(edit.recipe, edit.turn, part, self.picture)
        if not carried or not is_visibly_different(edit.recipe, recipe, self.picture):
            return self._added(edit, part.text) if part.share is None else replace(edit, verdict=NOTHING_YET)
        after = edit.become(recipe, turn)
        asked = {intent.attribute for intent in part.intents}
        return after if carried == asked else self._added(after, part.text, besides=carried)

    def _added(self, edit: Edit, request: str, besides: frozenset[Attribute] = frozenset()) -> Edit:
        """With the steps that answer a request about the photo as it looks by now.

        Steps about `besides`, what has been seen to already, are left out.
        """
        picture = apply_to_thumbnail(edit.recipe, self.picture)
        answer = self.answering(request, edit.mode, picture)
        if not answer.answered:
            return replace(edit, verdict=answer.verdict)
        about = measure_effects(answer.recipe, picture)
        new = [at for at, effect in enumerate(about) if not besides & effect.keys()]
        steps = (*edit.recipe.steps, *(answer.recipe.steps[at] for at in new))
        reasons = (*edit.reasons, *(answer.reasons[at] for at in new))
        before = edit.turn.since if besides else edit.recipe
        recipe = edit.recipe.model_copy(update={"steps": steps})
        turn = EditTurn(before, before)
        return replace(
            edit,
            recipe=recipe,
            reasons=reasons,
            turn=turn,
            remarks=answer.remarks,
            declined=answer.declined,
            limits=answer.limits,
        )

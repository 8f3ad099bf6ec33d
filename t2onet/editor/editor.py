"""One photo, opened once, and any number of requests and follow-ups about it.

The editor knows nothing about networks: a policy answers the requests. Full-size pictures are rendered on
demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from .. import operations
from ..errors import RequestError
from ..executor import PhotoLike
from ..image import open_image
from ..language.followup import Move, followups
from ..language.grams import words
from ..language.limits import limited
from ..language.stop_words import says
from ..options import DEFAULT_MODE, MODES, Mode
from ..recipe import Recipe, Step
from .conversation import Conversation
from .edits import Edit, resolve_mode
from .holding import Reasons, enforce_limits
from .policy import (
    EDIT,
    Policy,
    PolicyAnswer,
    apply_to_thumbnail,
    check_mode,
    find_visible_steps,
    load_shipped_policy,
    make_thumbnail,
)
from .telling import (
    NOTHING_YET,
    describe_limits,
    describe_undone_parts,
    to_declined_entries,
    to_declined_entry,
    to_limit_entries,
)
from .turns import EditTurn

VARIANT_SPREAD = 0.35
"""Standard deviation of the random factor on the strength of each step of a variant."""
MAX_HISTORY = 100
"""The most edits that can be undone."""
_CANDIDATES_PER_VARIANT = 8
"""Candidates drawn for each variant."""
_MIN_REASON_SHARE = 0.15
"""Share of the attention to content words from which on a word is a reason."""
_MIN_ATTENTION = 0.02
"""Attention below which a word is no reason."""


def edit(
    photo: PhotoLike,
    request: str,
    *,
    mode: Mode = DEFAULT_MODE,
    strength: float = 1.0,
    policy: Policy | None = None,
    manner: Mode | None = None,
) -> Edit:
    """Edit a photo (an Image, an array or a file) as a request in words says.

    `mode` is "literal" (what the sentence says and nothing else) or "expert" (also retouch the photo);
    `manner` is its deprecated old name. `strength` 1 is the answer as it is.
    """
    mode = resolve_mode(mode, manner)
    return Editor(photo, policy).ask(request, mode=mode).at(strength)


class Editor:
    """A photo that is opened once, and requests about it, with undo and redo."""

    def __init__(self, photo: PhotoLike, policy: Policy | None = None) -> None:
        self.photo = open_image(photo)
        self.policy = policy if policy is not None else load_shipped_policy()
        self._past: list[Edit] = []
        self._future: list[Edit] = []

    @cached_property
    def picture(self) -> np.ndarray:
        """(3, side, side) float32: the photo as the policy sees it, sRGB and squeezed to a square."""
        return make_thumbnail(self.photo, self.policy.side)

    @property
    def current(self) -> Edit | None:
        """The current edit; None is the photo as it was opened."""
        return self._past[-1] if self._past else None

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    @property
    def history(self) -> list[Edit]:
        """All edits that undo and redo lead to, and the current one."""
        return [*self._past, *reversed(self._future)]

    def ask(self, request: str, *, mode: Mode = DEFAULT_MODE, manner: Mode | None = None) -> Edit:
        """Answer a request about the photo as it was opened; the history changes only if it is answered."""
        mode = resolve_mode(mode, manner)
        edit = self._answer(request, mode, self.picture)
        return self._record(edit) if edit.answered else edit

    def follow(self, request: str, *, mode: Mode = DEFAULT_MODE, manner: Mode | None = None) -> Edit:
        """Answer a follow-up about the current edit: only what it mentions changes.

        "More", "too much" and the like scale the last change, "less warm" the steps that made the photo warm,
        "undo that" and "start over" go back. Anything else goes to the policy, with the photo as it looks by
        now, and adds its steps. A follow-up that is declined or changes nothing leaves the history unchanged.
        """
        mode = resolve_mode(mode, manner)
        parts = followups(_check_request(request))
        current = self.current or self._make_untouched_edit(mode)
        if [part.move for part in parts] in ([Move.UNDO], [Move.REDO]):
            return self._move(current, parts[0].move)
        start = edit = replace(current, request=request, mode=mode, verdict=EDIT)
        conversation = Conversation(self.picture, self._answer, self._find_destinations())
        for part in parts:
            edit = conversation.follow(edit, part)
            if not edit.answered:
                return replace(start, verdict=edit.verdict)
        edit = replace(edit, turn=replace(edit.turn, last=start.recipe))
        return edit if edit.recipe == start.recipe else self._record(edit)

    def put(self, recipe: Recipe, *, aside: Sequence[tuple[int, Step]] = (), new: bool = False) -> Edit:
        """Set the recipe, as adjusted by hand; `aside` are steps that were switched off.

        With `new` it comes from elsewhere, such as a look, and no words led to its steps.
        """
        edit = self.current or self._make_untouched_edit(DEFAULT_MODE)
        turn = EditTurn(edit.recipe, edit.recipe)
        if new:
            edit = replace(edit, request="", recipe=Recipe(), reasons=())
        after = edit.with_recipe(recipe, turn)
        return self._record(replace(after, verdict=EDIT, aside=tuple(aside)))

    def adjust(self, operation: str, values: object) -> Edit:
        """Set an operation by hand: its step is changed, or added at its usual position."""
        recipe = self.current.recipe if self.current else Recipe()
        return self.put(recipe.adjust(operation, values))

    def at(self, strength: float) -> Edit:
        """Set the strength of the current edit; a second call starts from the same edit as the first."""
        edit = self.current or self._make_untouched_edit(DEFAULT_MODE)
        again = edit.turn.strength != 1
        full = edit.turn.last if again else edit.recipe
        after = edit.with_recipe(full.blend(strength), EditTurn(edit.turn.since, full, strength=strength))
        if again:
            self._past.pop()
        if strength == 1:
            return self.current or self._make_untouched_edit(DEFAULT_MODE)
        return self._record(after)

    def undo(self) -> Edit | None:
        """Go back to the previous edit; None is the photo as it was opened."""
        if self._past:
            self._future.append(self._past.pop())
        return self.current

    def redo(self) -> Edit | None:
        """Go forward to the edit that was undone last."""
        if self._future:
            self._past.append(self._future.pop())
        return self.current

    def variants(
        self,
        request: str,
        count: int,
        *,
        mode: Mode = DEFAULT_MODE,
        seed: int = 0,
        manner: Mode | None = None,
    ) -> list[Edit]:
        """The answer and others like it: of many random candidates those that look most different."""
        mode = resolve_mode(mode, manner)
        if count < 1:
            raise RequestError(f"{count} variants were asked for; ask for at least one")
        edit = self._answer(request, mode, self.picture)
        if not edit.recipe.steps:
            return [edit]
        rng = np.random.default_rng(seed)
        drawn = (_vary_recipe(edit.recipe, rng) for _ in range(_CANDIDATES_PER_VARIANT * (count - 1)))
        candidates = [edit.recipe, *drawn]
        pictures = [apply_to_thumbnail(recipe, self.picture) for recipe in candidates]
        return [replace(edit, recipe=candidates[number]) for number in _pick_farthest(pictures, count)]

    def _record(self, edit: Edit) -> Edit:
        """Add an edit to the history."""
        self._past = [*self._past, edit][-MAX_HISTORY:]
        self._future.clear()
        return edit

    def _make_untouched_edit(self, mode: Mode) -> Edit:
        """The photo as it was opened, as an edit."""
        return Edit(self.photo, "", mode, Recipe())

    def _move(self, edit: Edit, move: Move) -> Edit:
        """Undo or redo, as a follow-up to an edit."""
        if not (self._past if move is Move.UNDO else self._future):
            return replace(edit, verdict=NOTHING_YET)
        target = (self.undo() if move is Move.UNDO else self.redo()) or self._make_untouched_edit(edit.mode)
        turn = replace(target.turn, last=edit.recipe)
        return replace(target, turn=turn, move=move, remarks=(), declined=(), limits=())

    def _find_destinations(self) -> dict[Move, Recipe]:
        """The recipes that moves in the history lead to."""
        edits = {Move.UNDO: self._past[-2:-1], Move.REDO: self._future[-1:], Move.RESTART: []}
        return {move: found[0].recipe if found else Recipe() for move, found in edits.items()}

    def _answer(self, request: str, mode: Mode, picture: np.ndarray) -> Edit:
        """Ask the policy about a picture (3, side, side), and enforce the limits that the request sets."""
        if mode not in MODES:
            raise RequestError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")
        check_mode(self.policy, mode)
        limited_request = limited(_check_request(request))
        answer = self.policy.answer(picture, limited_request.request, mode)
        if answer.verdict != EDIT:
            declined = (to_declined_entry(request, answer.verdict),)
            return Edit(self.photo, request, mode, Recipe(), answer.verdict, declined=declined)
        visible = find_visible_steps(answer.steps, picture)
        recipe = Recipe.from_steps(_round_step(answer.steps[number]) for number in visible)
        checked = enforce_limits(recipe, _find_reasons(answer, visible), limited_request, picture)
        undone = describe_undone_parts((verdict for _, verdict in answer.declined), checked.recipe)
        return Edit(
            self.photo,
            request,
            mode,
            checked.recipe,
            EDIT,
            checked.reasons,
            remarks=(*undone, *describe_limits(limited_request, checked.violated)),
            declined=to_declined_entries(answer.declined),
            limits=to_limit_entries(limited_request, checked.violated),
        )


def _check_request(request: str) -> str:
    if not isinstance(request, str):
        raise RequestError(f"a request is a sentence, and {type(request).__name__!r} was given")
    if not any(character.isalnum() for character in request):
        raise RequestError("the request has no words; say what you want, such as 'a bit brighter'")
    return request


def _round_step(step: Step) -> tuple[str, tuple[float, ...]]:
    """A policy's step with four decimals, clipped to the declared ranges."""
    operation = operations.get_operation(step.operation)
    return step.operation, operation.clip([round(value, 4) for value in step.parameters])


def _find_reasons(answer: PolicyAnswer, positions: Sequence[int]) -> Reasons:
    """For each of the steps the words with a good part of the attention, in the order of the request.

    Words without content are left out, and those of parts that were declined.
    """
    declined = {word for part, _ in answer.declined for word in words(part)}
    has_content = [says(word) and word not in declined for word in answer.words]
    attention = answer.attention or ((),) * len(answer.steps)

    def find(weights: tuple[float, ...]) -> tuple[str, ...]:
        shares = [share if counts else 0.0 for share, counts in zip(weights, has_content, strict=False)]
        enough = max(_MIN_REASON_SHARE * sum(shares), _MIN_ATTENTION)
        return tuple(word for word, share in zip(answer.words, shares, strict=False) if share >= enough)

    return tuple(find(attention[position]) for position in positions)


def _vary_recipe(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """Each step weaker or stronger by its own random factor."""
    steps = [step.blend(float(np.clip(rng.normal(1.0, VARIANT_SPREAD), 0.3, 1.9))) for step in recipe.steps]
    return recipe.model_copy(update={"steps": tuple(steps)})


def _pick_farthest(pictures: Sequence[np.ndarray], count: int) -> list[int]:
    """The first picture, then always the one farthest from all chosen before."""
    chosen = [0]
    nearest = np.full(len(pictures), np.inf)
    while len(chosen) < min(count, len(pictures)):
        nearest = np.minimum(nearest, [np.abs(picture - pictures[chosen[-1]]).mean() for picture in pictures])
        chosen.append(int(np.argmax(nearest)))
    return chosen

"""One photo, opened once, and what is asked and said about it; the picture is made when it is asked for.

The editor knows nothing of networks: what answers a request is a policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import get_args

import numpy as np

from .. import operations
from ..errors import RequestError
from ..executor import PhotoLike
from ..image import open_image
from ..language.followup import Move, followups
from ..language.grams import words
from ..language.limits import limited
from ..language.stop_words import says
from ..recipe import Recipe, Step
from .conversation import Conversation
from .edits import Edit, Mode, resolve_mode
from .holding import Reasons, enforce_limits
from .pictures import apply_to_thumbnail, keep_visible_steps, make_thumbnail
from .policy import EDIT, Policy, PolicyAnswer, PolicyStep, check_mode
from .telling import (
    NOTHING_YET,
    DeclinedPart,
    describe_decline,
    describe_limits,
    describe_undone_parts,
    to_declined_parts,
    to_limit_outcomes,
)
from .turns import EditTurn

VARIANT_SPREAD = 0.35
"""How far variants stray: the standard deviation of the factor on each step's parameters."""
MAX_HISTORY = 100
"""Edits that can be undone."""
_CANDIDATES_PER_VARIANT = 8
"""Candidates drawn for each variant that is wanted."""
_MIN_REASON_SHARE = 0.15
"""Share of the attention to telling words from which on one of them is a reason."""
_MIN_ATTENTION = 0.02
"""Attention that is none."""


def edit(
    photo: PhotoLike,
    request: str,
    *,
    mode: Mode = "literal",
    strength: float = 1.0,
    policy: Policy | None = None,
    manner: Mode | None = None,
) -> Edit:
    """What `request` asks of `photo` (an Image, an array or a file), as a recipe and a picture.

    `mode` is "literal" (what the sentence says and nothing else) or "expert" (also what a retoucher would
    have done); `manner` is its old name, deprecated. `strength` 1 is the answer as it is.
    """
    mode = resolve_mode(mode, manner)
    return Editor(photo, policy).ask(request, mode=mode).at(strength)


class Editor:
    """One photo, opened once, and requests about it; what was asked can be undone and done again."""

    def __init__(self, photo: PhotoLike, policy: Policy | None = None) -> None:
        self.photo = open_image(photo)
        self.policy = policy if policy is not None else _load_default_policy()
        self._past: list[Edit] = []
        self._future: list[Edit] = []

    @cached_property
    def picture(self) -> np.ndarray:
        """(3, SIDE, SIDE) float32: the photo as the policy sees it, sRGB and squeezed to a square."""
        return make_thumbnail(self.photo, self.policy.side)

    @property
    def current(self) -> Edit | None:
        """The last edit that stands."""
        return self._past[-1] if self._past else None

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    @property
    def history(self) -> list[Edit]:
        """All that undo and redo lead to, and the one that stands."""
        return [*self._past, *reversed(self._future)]

    def ask(self, request: str, *, mode: Mode = "literal", manner: Mode | None = None) -> Edit:
        """The answer to a request about the photo as it was opened; what cannot be done leaves no trace."""
        mode = resolve_mode(mode, manner)
        answer = self._answered(request, mode, self.picture)
        return self._kept(answer) if answer.answered else answer

    def follow(self, request: str, *, mode: Mode = "literal", manner: Mode | None = None) -> Edit:
        """The answer to what is said about the edit as it is: only what the words mention changes.

        `more`, `too much` and the like scale the last change, `less warm` the steps that made the photo warm,
        `undo that` and `start over` go back; anything else is asked of the policy, about the photo as it
        looks by now, and adds its steps. What cannot be done, or changes nothing, leaves no trace.
        """
        mode = resolve_mode(mode, manner)
        meant = followups(_check_request(request))
        edit = self.current or self._untouched(mode)
        if [part.move for part in meant] in ([Move.UNDO], [Move.REDO]):
            return self._gone(edit, meant[0].move)
        start = after = replace(edit, request=request, mode=mode, verdict=EDIT)
        conversation = Conversation(self.picture, self._answered, self._places())
        for part in meant:
            after = conversation.turned(after, part)
            if not after.answered:
                return replace(start, verdict=after.verdict)
        after = replace(after, turn=replace(after.turn, last=start.recipe))
        return after if after.recipe == start.recipe else self._kept(after)

    def put(self, recipe: Recipe, *, aside: Sequence[tuple[int, Step]] = (), new: bool = False) -> Edit:
        """The recipe as it was adjusted by hand; `aside` are steps that were switched off.

        A `new` one comes from elsewhere, a look say: no words led to it.
        """
        edit = self.current or self._untouched("literal")
        turn = EditTurn(edit.recipe, edit.recipe)
        if new:
            edit = replace(edit, request="", recipe=Recipe(), reasons=())
        after = edit.become(recipe, turn)
        return self._kept(replace(after, verdict=EDIT, aside=tuple(aside)))

    def at(self, strength: float) -> Edit:
        """The edit weaker or stronger as a whole; asked again, it starts from the same edit."""
        edit = self.current or self._untouched("literal")
        again = edit.turn.strength != 1
        whole = edit.turn.last if again else edit.recipe
        after = edit.become(whole.blend(strength), EditTurn(edit.turn.since, whole, strength=strength))
        if again:
            self._past.pop()
        return (self.current or self._untouched("literal")) if strength == 1 else self._kept(after)

    def undo(self) -> Edit | None:
        """Back to the edit before; None is the photo itself."""
        if self._past:
            self._future.append(self._past.pop())
        return self.current

    def redo(self) -> Edit | None:
        """Forward again to what was undone."""
        if self._future:
            self._past.append(self._future.pop())
        return self.current

    def variants(
        self,
        request: str,
        count: int,
        *,
        mode: Mode = "literal",
        seed: int = 0,
        manner: Mode | None = None,
    ) -> list[Edit]:
        """The answer and others like it, of which no two look alike: those farthest apart of many drawn."""
        mode = resolve_mode(mode, manner)
        if count < 1:
            raise RequestError(f"{count} variants were asked for; ask for at least one")
        plain = self._answered(request, mode, self.picture)
        if not plain.recipe.steps:
            return [plain]
        rng = np.random.default_rng(seed)
        drawn = [
            plain.recipe,
            *(_vary_recipe(plain.recipe, rng) for _ in range(_CANDIDATES_PER_VARIANT * (count - 1))),
        ]
        pictures = [apply_to_thumbnail(recipe, self.picture) for recipe in drawn]
        return [replace(plain, recipe=drawn[at]) for at in _pick_farthest(pictures, count)]

    def _kept(self, edit: Edit) -> Edit:
        self._past = [*self._past, edit][-MAX_HISTORY:]
        self._future.clear()
        return edit

    def _untouched(self, mode: Mode) -> Edit:
        """The photo as it was opened, as an edit."""
        return Edit(self.photo, "", mode, Recipe())

    def _gone(self, edit: Edit, move: Move) -> Edit:
        """After one step through the history."""
        if not (self._past if move is Move.UNDO else self._future):
            return replace(edit, verdict=NOTHING_YET)
        found = (self.undo() if move is Move.UNDO else self.redo()) or self._untouched(edit.mode)
        return replace(
            found, turn=replace(found.turn, last=edit.recipe), move=move, remarks=(), declined=(), limits=()
        )

    def _places(self) -> dict[Move, Recipe]:
        """The recipes that moves through the history lead to."""
        beside = {Move.UNDO: self._past[-2:-1], Move.REDO: self._future[-1:], Move.RESTART: []}
        return {move: found[0].recipe if found else Recipe() for move, found in beside.items()}

    def _answered(self, request: str, mode: Mode, picture: np.ndarray) -> Edit:
        """The answer to a request about a picture (3, SIDE, SIDE)."""
        if mode not in get_args(Mode):
            raise RequestError(f"there is no mode {mode!r}; there are {', '.join(get_args(Mode))}")
        check_mode(self.policy, mode)
        said = limited(_check_request(request))
        answer = self.policy.answer(picture, said.request, mode)
        if answer.verdict != EDIT:
            declined_whole = (DeclinedPart(request, answer.verdict, describe_decline(answer.verdict)),)
            return Edit(self.photo, request, mode, Recipe(), answer.verdict, declined=declined_whole)
        thoughts = keep_visible_steps(answer.thoughts, picture)
        recipe = Recipe.from_steps((thought.operation, _round_parameters(thought)) for thought in thoughts)
        found = enforce_limits(recipe, _find_reasons(answer, thoughts), said, picture)
        undone = describe_undone_parts((verdict for _, verdict in answer.besides), found.recipe)
        remarks = (*undone, *describe_limits(said, found.passed))
        return Edit(
            self.photo,
            request,
            mode,
            found.recipe,
            EDIT,
            found.reasons,
            remarks=remarks,
            declined=to_declined_parts(answer.besides),
            limits=to_limit_outcomes(said, found.passed),
        )


def _check_request(request: str) -> str:
    if not isinstance(request, str):
        raise RequestError(f"a request is a sentence, and {type(request).__name__!r} was given")
    if not any(character.isalnum() for character in request):
        raise RequestError("the request has no words; say what you want, such as 'a bit brighter'")
    return request


def _round_parameters(thought: PolicyStep) -> tuple[float, ...]:
    operation = operations.get_operation(thought.operation)
    return operation.clip([round(value, 4) for value in thought.parameters])


def _find_reasons(answer: PolicyAnswer, thoughts: Sequence[PolicyStep]) -> Reasons:
    """For each thought the words that had a good part of the attention, in their own order.

    Words that are in every request are none of them, nor are those of parts that are not answered.
    """
    idle = {word for part, _ in answer.besides for word in words(part)}
    telling = [says(word) and word not in idle for word in answer.words]

    def of(thought: PolicyStep) -> tuple[str, ...]:
        shares = [share if tells else 0.0 for share, tells in zip(thought.attention, telling, strict=False)]
        enough = max(_MIN_REASON_SHARE * sum(shares), _MIN_ATTENTION)
        return tuple(word for word, share in zip(answer.words, shares, strict=False) if share >= enough)

    return tuple(map(of, thoughts))


def _vary_recipe(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """Each step weaker or stronger by a factor of its own."""
    steps: list[Step] = [
        step.blend(float(np.clip(rng.normal(1.0, VARIANT_SPREAD), 0.3, 1.9))) for step in recipe.steps
    ]
    return recipe.model_copy(update={"steps": tuple(steps)})


def _pick_farthest(pictures: Sequence[np.ndarray], count: int) -> list[int]:
    """The first, and then always the one farthest from all taken."""
    taken = [0]
    nearest = np.full(len(pictures), np.inf)
    while len(taken) < min(count, len(pictures)):
        nearest = np.minimum(nearest, [np.abs(picture - pictures[taken[-1]]).mean() for picture in pictures])
        taken.append(int(np.argmax(nearest)))
    return taken


def _load_default_policy() -> Policy:
    from .policy import load_shipped_policy

    return load_shipped_policy()

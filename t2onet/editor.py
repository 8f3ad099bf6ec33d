"""The facade: open a photo once, ask many times.

An edit is a photo, a request and the recipe that answers it; the picture is made when it is asked for. The
editor knows nothing of networks: what answers a request is a policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from . import operations
from .errors import RequestError
from .executor import Photo, apply
from .image import Image, open_image
from .image.scaling import squeezed
from .policy import EDIT, FOREIGN, Policy, Thought
from .recipe import Recipe, Step

Manner = Literal["literal", "expert"]
VISIBLE = 1 / 255
"""A step that moves the small picture by less, on average, is left out."""
SPREAD = 0.35
"""How far variants stray: the standard deviation of the factor on each step's parameters."""
_POOL = 8
"""Candidates drawn for each variant that is wanted."""
_REASONS = 0.15
"""Attention from which a word is a reason."""


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

    `verdict` is "edit", or what the request is about that cannot be done; then the recipe is empty.
    `reasons` are, for each step, the words that led to it.
    """

    photo: Image
    request: str
    manner: Manner
    recipe: Recipe
    verdict: str = EDIT
    reasons: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def image(self) -> Image:
        """The photo after the recipe, at full resolution."""
        return apply(self.recipe, self.photo)

    @property
    def answered(self) -> bool:
        return self.verdict == EDIT

    def explain(self) -> str:
        """What was done and which words asked for it, or why nothing was done."""
        if not self.answered:
            return f"{_declined(self.verdict)}; nothing was changed."
        if not self.recipe.steps:
            return "The photo already is as asked, as far as I can see; nothing was changed."
        lines = [self.recipe.describe()]
        for step, words in zip(self.recipe.steps, self.reasons, strict=True):
            because = f" because of {_listed(words)}" if words else ""
            lines.append(f"- {step.operation}: {step.describe()}{because}")
        return "\n".join(lines)

    def at(self, strength: float) -> Edit:
        """The same edit, weaker or stronger."""
        return replace(self, recipe=self.recipe.blend(strength))


def edit(
    photo: Photo,
    request: str,
    *,
    manner: Manner = "literal",
    strength: float = 1.0,
    policy: Policy | None = None,
) -> Edit:
    """What `request` asks of `photo` (an Image, an array or a file), as a recipe and a picture.

    `manner` is "literal" (what the sentence says and nothing else) or "expert" (also what a retoucher would
    have done). `strength` 1 is the answer as it is.
    """
    return Editor(photo, policy).ask(request, manner=manner).at(strength)


class Editor:
    """One photo, opened once, and requests about it; what was asked can be undone and done again."""

    def __init__(self, photo: Photo, policy: Policy | None = None) -> None:
        self.photo = open_image(photo)
        self.policy = policy if policy is not None else _shipped()
        self._past: list[Edit] = []
        self._future: list[Edit] = []

    @cached_property
    def picture(self) -> np.ndarray:
        """(3, SIDE, SIDE) float32: the photo as the policy sees it, sRGB and squeezed to a square."""
        return small(self.photo, self.policy.side)

    @property
    def current(self) -> Edit | None:
        """The last edit that stands."""
        return self._past[-1] if self._past else None

    def ask(self, request: str, *, manner: Manner = "literal") -> Edit:
        """The answer to a request about the photo as it was opened."""
        answered = self._answered(request, manner)
        self._past.append(answered)
        self._future.clear()
        return answered

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

    def variants(self, request: str, count: int, *, manner: Manner = "literal", seed: int = 0) -> list[Edit]:
        """The answer and others like it, of which no two look alike: those farthest apart of many drawn."""
        if count < 1:
            raise RequestError(f"{count} variants were asked for; ask for at least one")
        plain = self._answered(request, manner)
        if not plain.recipe.steps:
            return [plain]
        rng = np.random.default_rng(seed)
        drawn = [plain.recipe, *(_strayed(plain.recipe, rng) for _ in range(_POOL * (count - 1)))]
        pictures = [performed(recipe, self.picture) for recipe in drawn]
        return [replace(plain, recipe=drawn[at]) for at in _apart(pictures, count)]

    def _answered(self, request: str, manner: Manner) -> Edit:
        if manner not in get_args(Manner):
            raise RequestError(f"there is no manner {manner!r}; there are {', '.join(get_args(Manner))}")
        answer = self.policy.answer(self.picture, _checked(request), manner)
        thoughts = _visible(answer.thoughts, self.picture) if answer.verdict == EDIT else []
        recipe = Recipe.from_steps((thought.operation, _rounded(thought)) for thought in thoughts)
        reasons = tuple(_reasons(answer.words, thought.attention) for thought in thoughts)
        return Edit(self.photo, request, manner, recipe, answer.verdict, reasons)


def small(photo: Image, side: int) -> np.ndarray:
    """(3, side, side) float32 in [0, 1]: the photo in sRGB, area-averaged and squeezed to a square."""
    return np.ascontiguousarray(squeezed(photo, side).transpose(2, 0, 1).astype(np.float32) / 255)


def performed(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after the steps of a recipe without masks."""
    for step in recipe.steps:
        picture = operations.get(step.operation).run(picture, np.array(step.parameters, np.float32), 1.0)
    return picture


def performed_thoughts(thoughts: Sequence[Thought], picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after what a policy thought of."""
    for thought in thoughts:
        values = np.array(thought.parameters, np.float32)
        picture = operations.get(thought.operation).run(picture, values, 1.0)
    return picture


def _declined(verdict: str) -> str:
    if verdict == FOREIGN:
        return "I only read English so far, please ask in English"
    if verdict in _CANNOT:
        return f"I cannot {_CANNOT[verdict]}, I only change photos as a whole"
    return "I do not see what to change in the photo"


def _checked(request: str) -> str:
    if not isinstance(request, str):
        raise RequestError(f"a request is a sentence, and {type(request).__name__!r} was given")
    if not any(character.isalnum() for character in request):
        raise RequestError("the request has no words; say what you want, such as 'a bit brighter'")
    return request


def _visible(thoughts: Sequence[Thought], picture: np.ndarray) -> list[Thought]:
    """Those that can be seen on the picture, in turn."""
    kept = []
    for thought in thoughts:
        values = np.array(thought.parameters, np.float32)
        after = operations.get(thought.operation).run(picture, values, 1.0)
        if np.abs(after - picture).mean() >= VISIBLE:
            kept.append(thought)
            picture = after
    return kept


def _rounded(thought: Thought) -> tuple[float, ...]:
    operation = operations.get(thought.operation)
    return operation.clipped([round(value, 4) for value in thought.parameters])


def _reasons(words: Sequence[str], attention: Sequence[float]) -> tuple[str, ...]:
    """The words that had a good part of the attention, in their own order."""
    return tuple(word for word, share in zip(words, attention, strict=False) if share >= _REASONS)


def _strayed(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """Each step weaker or stronger by a factor of its own."""
    steps: list[Step] = [
        step.blend(float(np.clip(rng.normal(1.0, SPREAD), 0.3, 1.9))) for step in recipe.steps
    ]
    return recipe.model_copy(update={"steps": tuple(steps)})


def _apart(pictures: Sequence[np.ndarray], count: int) -> list[int]:
    """The first, and then always the one farthest from all taken."""
    taken = [0]
    nearest = np.full(len(pictures), np.inf)
    while len(taken) < min(count, len(pictures)):
        nearest = np.minimum(nearest, [np.abs(picture - pictures[taken[-1]]).mean() for picture in pictures])
        taken.append(int(np.argmax(nearest)))
    return taken


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _shipped() -> Policy:
    from .policy import shipped

    return shipped()

"""Trained networks at run time: a thumbnail and a request in, steps out, by ONNX Runtime.

A network is a folder with a graph for the request, a graph for each operation and a description of what it
was trained to answer. The shipped network is part of the package and has a third graph, an expert's style;
the paper's T2ONet is another kind. Nothing here is random.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .. import operations
from ..errors import RequestError, T2OError
from ..executor import apply
from ..image import Image
from ..image.photo import resize_array, resize_to_square
from ..inference import open_session
from ..language.foreign import is_foreign
from ..language.grams import spelt, words
from ..language.parts import doubtful
from ..language.tokeniser import tokens
from ..language.vocabulary import NONE, Vocabulary
from ..options import LITERAL
from ..recipe import Recipe, Step
from .styles import OnnxStyle

VISIBLE_CHANGE = 1 / 255
"""Mean change of the thumbnail from which on it counts as visible."""
MIN_PARAMETER_CHANGE = 0.02
"""A step whose parameters are all closer than this to their defaults counts as none."""


def make_thumbnail(photo: Image, side: int) -> np.ndarray:
    """(3, side, side) float32 in [0, 1]: the photo in sRGB, area-averaged and squeezed to a square."""
    return np.ascontiguousarray(resize_to_square(photo, side).transpose(2, 0, 1).astype(np.float32) / 255)


def apply_to_thumbnail(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    """Apply a recipe to a picture (3, H, W).

    The result keeps that size: a thumbnail shows a photo of any shape squeezed to a square, so what a crop
    leaves is stretched again. Straightening is approximate, as its angle is measured in the squeezed picture.
    """
    pixels = np.ascontiguousarray(picture.transpose(1, 2, 0))
    after = np.asarray(apply(recipe, pixels, kernels=False, threads=1))
    if after.shape != pixels.shape:
        after = resize_array(after, (pixels.shape[1], pixels.shape[0]))
    return np.ascontiguousarray(after.transpose(2, 0, 1))


def apply_policy_steps(steps: Iterable[Step], picture: np.ndarray) -> np.ndarray:
    """Apply a policy's steps to a picture (3, H, W), with exactly the policy's numbers."""
    for step in steps:
        picture = _apply_policy_step(step, picture)
    return picture


def find_visible_steps(steps: Sequence[Step], picture: np.ndarray) -> list[int]:
    """Positions of the steps that visibly change the picture as the visible ones before left it."""
    visible = []
    for position, step in enumerate(steps):
        after = _apply_policy_step(step, picture)
        offsets = np.subtract(step.parameters, operations.get_operation(step.operation).defaults)
        if np.abs(after - picture).mean() >= VISIBLE_CHANGE and np.abs(offsets).max() >= MIN_PARAMETER_CHANGE:
            visible.append(position)
            picture = after
    return visible


def _apply_policy_step(step: Step, picture: np.ndarray) -> np.ndarray:
    values = np.array(step.parameters, np.float32)
    after: np.ndarray = operations.get_operation(step.operation).run(picture, values)
    return after


def is_visibly_different(one: Recipe, other: Recipe, picture: np.ndarray) -> bool:
    """Whether two recipes make visibly different pictures."""
    difference = apply_to_thumbnail(one, picture) - apply_to_thumbnail(other, picture)
    return float(np.abs(difference).mean()) >= VISIBLE_CHANGE


EDIT = "edit"
"""Verdict on a request that operations on the whole photo can answer."""
FOREIGN = "foreign"
"""Verdict on a request in a language that the network has not learned."""
UNSURE = "unsure"
"""Verdict on a request that is probably no edit, where it is not clear what else it is."""
TALK_VERDICTS = ("chat", "gibberish")
"""Verdicts on requests that are not about a photo."""
MIN_VERDICT_PROBABILITY = 2 / 3
"""Probability above which a verdict other than EDIT is given instead of UNSURE."""

NETWORK_FILES = ("begin.onnx", "step.onnx", "about.json")
"""Files in the folder of a network."""
MEMORY_FILE = "memory.onnx"
"""An optional further file: the style used in expert mode."""
RETOUCHER, T2ONET = "retoucher", "t2onet"
"""Kinds of networks, as `about.json` names them; the default is the first."""
WEIGHTS_FOLDER = "weights"
"""Folder of the shipped network in the package."""


@dataclass(frozen=True)
class PolicyAnswer:
    """A policy's answer to a request: a verdict, the words it read, and steps.

    The steps have the policy's own numbers, neither rounded nor clipped to the declared ranges. `attention`
    has for each step the weight of each word, or nothing where no word led to it; it is empty if the policy
    has no attention. `declined` are parts of the request that the steps do not answer, each with a verdict.
    """

    verdict: str
    words: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    attention: tuple[tuple[float, ...], ...] = ()
    declined: tuple[tuple[str, str], ...] = ()


class Policy(Protocol):
    """Answers requests about thumbnails (3, side, side) in [0, 1], sRGB."""

    side: int

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer: ...


def check_mode(policy: Policy, mode: str) -> None:
    """Raise RequestError if a policy says that it does not have a mode; every policy has `literal`."""
    modes = getattr(policy, "modes", (mode,))
    if mode not in (LITERAL, *modes):
        raise RequestError(
            f"this network has no mode {mode}, it answers every request in one way; ask without a mode"
        )


class _OnnxNetwork:
    """The two graphs and the description in the folder of a network."""

    def __init__(self, folder: Path) -> None:
        begin, step, about = NETWORK_FILES
        self.about: dict[str, Any] = json.loads((folder / about).read_text(encoding="utf-8"))
        self.side: int = self.about["side"]
        self._begin, self._step = (open_session(folder / name) for name in (begin, step))


class OnnxPolicy(_OnnxNetwork):
    """The shipped network: decides on each operation in a fixed order, in either mode, and may decline."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.order: tuple[str, ...] = tuple(self.about["order"])
        self.modes: tuple[str, ...] = tuple(self.about["manners"])
        self.verdicts: tuple[str, ...] = tuple(self.about["verdicts"])
        self.caution: float = self.about["caution"]
        memory = folder / MEMORY_FILE
        self._style = OnnxStyle(open_session(memory)) if memory.is_file() else None

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        """Answer a request about a picture (3, side, side) in [0, 1], sRGB.

        The network sees the picture after each step. In expert mode the whole photo is retouched, even where
        the request cannot be answered.
        """
        if is_foreign(request):
            return PolicyAnswer(FOREIGN, tuple(words(request)))
        image = picture[None].astype(np.float32)
        *context, logits = self._read(request, image, mode)
        literal = mode == LITERAL
        verdict = self._decide(logits[0], self.caution if literal else 0.0)
        read = tuple(words(request))
        if verdict != EDIT and (literal or verdict in TALK_VERDICTS):
            return PolicyAnswer(verdict, read)
        steps, attention, after = self._decode(image, context)
        if self._style is not None and not literal:
            steps.append(Step.from_trusted("color", self._style.parameters(picture, after[0], request)))
            attention.append(())
        declined = self._find_declined(request, image, mode) if verdict == EDIT else [(request, verdict)]
        return PolicyAnswer(EDIT, read, tuple(steps), tuple(attention), tuple(declined))

    def _read(self, request: str, image: np.ndarray, mode: str) -> list[np.ndarray]:
        """Encoded words, their mask, the encoded sentence, and logits of the verdict.

        The logits do not depend on the image.
        """
        pieces, rows = spelt([request])
        inputs = {
            "pieces": pieces.astype(np.int64),
            "told": rows.astype(np.int64),
            "image": image,
            "manner": np.array([self.modes.index(mode)]),
        }
        outputs: list[np.ndarray] = self._begin.run(None, inputs)
        return outputs

    def _find_declined(self, request: str, image: np.ndarray, mode: str) -> Iterator[tuple[str, str]]:
        """Parts of a request that are surely no edit when they are judged alone."""
        for part in doubtful(request):
            verdict = self._decide(self._read(part, image, mode)[-1][0])
            if verdict not in (EDIT, UNSURE):
                yield part, verdict

    def _decide(self, logits: np.ndarray, caution: float = 0.0) -> str:
        """EDIT unless all other verdicts together are likelier; then the likeliest of them, if it is sure.

        `caution` is added in favour of the others: in literal mode an edit that nobody asked for is worse
        than none.
        """
        edit, *others = logits.astype(np.float64)
        if np.logaddexp.reduce(others) + caution <= edit:
            return EDIT
        likeliest = int(np.argmax(others))
        sure = others[likeliest] - np.logaddexp.reduce([edit, *others]) > np.log(MIN_VERDICT_PROBABILITY)
        return self.verdicts[1 + likeliest] if sure else UNSURE

    def _decode(
        self, image: np.ndarray, context: Sequence[np.ndarray]
    ) -> tuple[list[Step], list[tuple[float, ...]], np.ndarray]:
        """The steps, the attention of each, and the image after them."""
        encoded, mask, sentence = context
        state = sentence
        steps: list[Step] = []
        attention: list[tuple[float, ...]] = []
        for number, name in enumerate(self.order):
            inputs = {
                "words": encoded,
                "mask": mask,
                "whole": sentence,
                "picture": image,
                "state": state,
                "number": np.array([number]),
            }
            used, values, state, weights = self._step.run(None, inputs)
            if used[0] > 0:
                operation = operations.get_published_operation(name)
                parameters = values[0, : operation.size]
                image = operation.run(image, parameters[None])
                steps.append(_make_step(name, parameters))
                attention.append(tuple(weights[0].tolist()))
        return steps, attention, image


class T2ONetPolicy(_OnnxNetwork):
    """The paper's network: reads the request once, then chooses one step after the other until it ends.

    It sees the picture after each step, has no modes and declines nothing.
    """

    modes: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.max_steps: int = self.about["max_steps"]
        self.ends: bool = self.about["ends"]
        self.vocabulary = Vocabulary(tuple(self.about["words"]))
        self.operations = tuple(operations.get_published_operation(name) for name in self.about["operations"])
        self._inputs = {given.name for given in self._step.get_inputs()}

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        """Answer a request about a picture (3, side, side) in [0, 1], sRGB."""
        ids = [number for number in self.vocabulary.encode(request) if number != NONE]
        read = tuple(tokens(request)[: len(ids) - 2])
        encoded, state = self._begin.run(None, {"tokens": np.array([ids])})
        image = picture[None].astype(np.float32)
        end = len(self.operations)
        unused, previous = list(range(end)), end + 1
        steps: list[Step] = []
        attention: list[tuple[float, ...]] = []
        for _ in range(self.max_steps):
            values = {"words": encoded, "picture": image, "previous": np.array([previous]), "state": state}
            inputs = {name: value for name, value in values.items() if name in self._inputs}
            logits, parameters, state, weights = self._step.run(None, inputs)
            allowed = [*unused, end] if self.ends or not unused else unused
            previous = max(allowed, key=lambda number: logits[0, number])
            if previous == end:
                break
            unused.remove(previous)
            operation, chosen = self.operations[previous], parameters[:, self._get_slice(previous)]
            image = operation(image, chosen)
            steps.append(_make_step(operation.name, chosen[0]))
            attention.append(tuple(weights[0, 1:-1].tolist()))
        return PolicyAnswer(EDIT, read, tuple(steps), tuple(attention))

    def _get_slice(self, number: int) -> slice:
        """Where the parameters of an operation are in the row of all parameters."""
        start = sum(operation.size for operation in self.operations[:number])
        return slice(start, start + self.operations[number].size)


def _make_step(name: str, published: np.ndarray) -> Step:
    """A step from the parameters that the paper published."""
    return Step.from_trusted(name, operations.get_operation(name).complete(tuple(published.tolist())))


def open_policy(folder: Path) -> OnnxPolicy | T2ONetPolicy:
    """Open a network that `t2o export` wrote."""
    missing = [name for name in NETWORK_FILES if not (folder / name).is_file()]
    if missing:
        raise RequestError(
            f"{folder} is no exported network, {missing[0]} is missing; make one by t2o export WEIGHTS DIR"
        )
    try:
        kind = json.loads((folder / NETWORK_FILES[-1]).read_text(encoding="utf-8")).get("kind", RETOUCHER)
        if kind not in _POLICY_KINDS:
            raise RequestError(f"{folder} holds a network of kind {kind!r}, which this release cannot run")
        return _POLICY_KINDS[kind](folder)
    except T2OError:
        raise
    except Exception as error:  # from JSON, from missing fields, and whatever ONNX Runtime raises
        raise RequestError(f"{folder} cannot be opened as an exported network: {error}") from None


_POLICY_KINDS: dict[str, type[OnnxPolicy | T2ONetPolicy]] = {RETOUCHER: OnnxPolicy, T2ONET: T2ONetPolicy}


@cache
def load_shipped_policy() -> OnnxPolicy:
    """The network in the package, loaded once."""
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER) as folder:
        return OnnxPolicy(folder)

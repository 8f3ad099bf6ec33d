"""Trained networks at run time: a thumbnail and a request in, steps out, by ONNX Runtime."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .. import operations
from ..errors import RequestError, T2OError
from ..inference import import_onnxruntime
from ..language.foreign import is_foreign
from ..language.grams import spelt, words
from ..language.parts import doubtful
from ..language.tokeniser import tokens
from ..language.vocabulary import NONE, Vocabulary
from .styles import OnnxStyle

# Trained networks at run time: a small picture and a request in, steps out, by ONNX Runtime.
#
# A network is a folder with two graphs, one for the request and one for each operation, and a short
# description
# of what it was trained to answer. The shipped one lies in the package and has a third graph, which remembers
# an expert's edits; the paper's T2ONet is another kind. Nothing here is random.

EDIT = "edit"
"""The verdict on a request that operations on the whole photo can answer."""
FOREIGN = "foreign"
"""The verdict on a request in a language the network has not learnt."""
UNSURE = "unsure"
"""The verdict on a request that is likely no edit, without its being clear what else."""
MIN_VERDICT_PROBABILITY = 2 / 3
"""How probable a matter has to be to be named."""
LITERAL = "literal"
"""The manner of doing what was said and nothing else."""
TALK_VERDICTS = ("chat", "gibberish")
"""Verdicts on what is not about a photo."""
NETWORK_FILES = ("begin.onnx", "step.onnx", "about.json")
"""What the folder of a network holds."""
MEMORY_FILE = "memory.onnx"
"""What it may hold beside, for the manners that are not literal."""
RETOUCHER, T2ONET = "retoucher", "t2onet"
"""Kinds of networks, as `about.json` names them; without a name it is the first."""
WEIGHTS_FOLDER = "weights"
"""The folder in the package."""
_THREADS = 2


@dataclass(frozen=True)
class PolicyStep:
    """A step as a policy answers it: operation, parameters, and how much each word led to it."""

    operation: str
    parameters: tuple[float, ...]
    attention: tuple[float, ...] = ()


@dataclass(frozen=True)
class PolicyAnswer:
    """What a policy makes of a request: a verdict, the words it read, and the steps.

    `besides` are parts of the request that the steps do not answer, and the verdict on each.
    """

    verdict: str
    words: tuple[str, ...]
    thoughts: tuple[PolicyStep, ...] = ()
    besides: tuple[tuple[str, str], ...] = ()


class Policy(Protocol):
    """Answers requests about small pictures (3, SIDE, SIDE) in [0, 1], sRGB."""

    side: int

    def answer(self, picture: np.ndarray, request: str, manner: str) -> PolicyAnswer: ...


def check_mode(policy: Policy, mode: str) -> None:
    """Refuse a mode that a policy says it does not have; every policy has `literal`."""
    modes = getattr(policy, "manners", (mode,))
    if mode not in (LITERAL, *modes):
        raise RequestError(
            f"this network has no mode {mode}, it answers every request in one way; ask without a mode"
        )


class OnnxPolicy:
    """The network of a folder with `begin.onnx`, `step.onnx` and `about.json`."""

    def __init__(self, folder: Path) -> None:
        begin, step, about_file = NETWORK_FILES
        about = json.loads((folder / about_file).read_text(encoding="utf-8"))
        self.side: int = about["side"]
        self.order: tuple[str, ...] = tuple(about["order"])
        self.manners: tuple[str, ...] = tuple(about["manners"])
        self.verdicts: tuple[str, ...] = tuple(about["verdicts"])
        self.caution: float = about["caution"]
        self._begin, self._step = (_open_onnx_session(folder / name) for name in (begin, step))
        self._memory = (
            OnnxStyle(_open_onnx_session(folder / MEMORY_FILE)) if (folder / MEMORY_FILE).is_file() else None
        )

    def answer(self, picture: np.ndarray, request: str, manner: str) -> PolicyAnswer:
        """What to do with a picture (3, side, side) in [0, 1], sRGB; steps are seen as they are taken.

        Who leaves it to an expert gets a photo retouched as a whole, whatever else was asked for.
        """
        if is_foreign(request):
            return PolicyAnswer(FOREIGN, tuple(words(request)))
        image = picture[None].astype(np.float32)
        *context, verdict = self._begun(request, image, manner)
        literal = manner == LITERAL
        decided, read = self._verdict(verdict[0], self.caution if literal else 0.0), tuple(words(request))
        if decided != EDIT and (literal or decided in TALK_VERDICTS):
            return PolicyAnswer(decided, read)
        thoughts, after = self._thoughts(image, context)
        if self._memory is not None and not literal:
            thoughts.append(PolicyStep("color", self._memory.parameters(picture, after[0], request)))
        besides = self._besides(request, image, manner) if decided == EDIT else [(request, decided)]
        return PolicyAnswer(EDIT, read, tuple(thoughts), tuple(besides))

    def _begun(self, request: str, image: np.ndarray, manner: str) -> list[np.ndarray]:
        """Words, their mask, the whole, and the logits of the verdict, which the image has no part in."""
        pieces, told = spelt([request])
        asked = {
            "pieces": pieces.astype(np.int64),
            "told": told.astype(np.int64),
            "image": image,
            "manner": np.array([self.manners.index(manner)]),
        }
        found: list[np.ndarray] = self._begin.run(None, asked)
        return found

    def _besides(self, request: str, image: np.ndarray, manner: str) -> Iterator[tuple[str, str]]:
        """Parts that are surely no edit if they are judged alone; plain ones need no judgement."""
        for part in doubtful(request):
            verdict = self._verdict(self._begun(part, image, manner)[-1][0])
            if verdict not in (EDIT, UNSURE):
                yield part, verdict

    def _verdict(self, logits: np.ndarray, caution: float = 0.0) -> str:
        """An edit, unless all matters together are likelier; then the likeliest of them, if that is sure.

        In manner literal, where an edit that was not asked for is worse than none, caution helps them.
        """
        edit, *matters = logits.astype(np.float64)
        if np.logaddexp.reduce(matters) + caution <= edit:
            return EDIT
        likeliest = int(np.argmax(matters))
        sure = matters[likeliest] - np.logaddexp.reduce([edit, *matters]) > np.log(MIN_VERDICT_PROBABILITY)
        return self.verdicts[1 + likeliest] if sure else UNSURE

    def _thoughts(
        self, image: np.ndarray, context: Sequence[np.ndarray]
    ) -> tuple[list[PolicyStep], np.ndarray]:
        """The network's steps, and the image after them."""
        heard, mask, whole = context
        state, found = whole, []
        for number, name in enumerate(self.order):
            told = {"words": heard, "mask": mask, "whole": whole, "picture": image, "state": state}
            used, values, state, attention = self._step.run(None, {**told, "number": np.array([number])})
            if used[0] > 0:
                operation = operations.get_operation(name)
                parameters = values[0, : operation.size]
                image = operation.run(image, parameters[None], 1.0)
                found.append(PolicyStep(name, tuple(parameters.tolist()), tuple(attention[0].tolist())))
        return found, image


class T2ONetPolicy:
    """The paper's network, from a folder with `begin.onnx`, `step.onnx` and `about.json`.

    It reads the request once, then decides step by step, seeing the picture as it is by then, until it ends.
    It has one manner, and declines nothing.
    """

    manners: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        begin, step, about_file = NETWORK_FILES
        about = json.loads((folder / about_file).read_text(encoding="utf-8"))
        self.side: int = about["side"]
        self.max_steps: int = about["max_steps"]
        self.ends: bool = about["ends"]
        self.vocabulary = Vocabulary(tuple(about["words"]))
        self.operations = tuple(operations.get_operation(name) for name in about["operations"])
        self._begin, self._step = (_open_onnx_session(folder / name) for name in (begin, step))
        self._inputs = {given.name for given in self._step.get_inputs()}

    def answer(self, picture: np.ndarray, request: str, manner: str) -> PolicyAnswer:
        """What to do with a picture (3, side, side) in [0, 1], sRGB."""
        ids = [number for number in self.vocabulary.encode(request) if number != NONE]
        read = tuple(tokens(request)[: len(ids) - 2])
        words, state = self._begin.run(None, {"tokens": np.array([ids])})
        image = picture[None].astype(np.float32)
        end = len(self.operations)
        left, previous = list(range(end)), end + 1
        thoughts: list[PolicyStep] = []
        for _ in range(self.max_steps):
            given = {"words": words, "picture": image, "previous": np.array([previous]), "state": state}
            used = {name: value for name, value in given.items() if name in self._inputs}
            logits, parameters, state, attention = self._step.run(None, used)
            allowed = [*left, end] if self.ends or not left else left
            previous = max(allowed, key=lambda number: logits[0, number])
            if previous == end:
                break
            left.remove(previous)
            operation, values = self.operations[previous], parameters[:, self._place(previous)]
            image = operation(image, values)
            shares = tuple(attention[0, 1:-1].tolist())
            thoughts.append(PolicyStep(operation.name, tuple(values[0].tolist()), shares))
        return PolicyAnswer(EDIT, read, tuple(thoughts))

    def _place(self, number: int) -> slice:
        """Where the parameters of an operation lie in the row of all."""
        start = sum(operation.size for operation in self.operations[:number])
        return slice(start, start + self.operations[number].size)


def _open_onnx_session(path: Path) -> Any:
    try:
        onnxruntime = import_onnxruntime()
    except ImportError:
        raise RequestError("answering requests needs ONNX Runtime: pip install onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def open_policy(folder: Path) -> OnnxPolicy | T2ONetPolicy:
    """The network in a folder that `t2o export` wrote."""
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
    except Exception as error:  # of JSON, of its fields, and whatever ONNX Runtime finds wrong
        raise RequestError(f"{folder} cannot be opened as an exported network: {error}") from None


_POLICY_KINDS: dict[str, type[OnnxPolicy | T2ONetPolicy]] = {RETOUCHER: OnnxPolicy, T2ONET: T2ONetPolicy}


@cache
def load_shipped_policy() -> OnnxPolicy:
    """The network in the package, loaded once."""
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER) as folder:
        return OnnxPolicy(folder)

"""Trained networks as policies, by ONNX Runtime: a thumbnail and a request in, steps out.

A folder holds the paper's T2ONet: a graph for the request, a graph for each step and a description. The
editor of the package does not need it. Nothing here is random.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .. import operations
from ..errors import RequestError, T2OError
from ..inference import MEMORY_FILE, NETWORK_FILES, T2ONET, open_session
from ..language.vocabulary import NONE, Vocabulary, tokens
from ..options import DEFAULT_READER, ReaderName, check_reader
from ..recipe import Step
from .policy import PolicyAnswer


class T2ONetPolicy:
    """The paper's network: reads the request once, then chooses one step after the other until it ends.

    It sees the picture after each step, has no modes and declines nothing.
    """

    modes: tuple[str, ...] = ()
    reader: ReaderName | None = None

    def __init__(self, folder: Path) -> None:
        *graphs, about = (folder / name for name in NETWORK_FILES)
        description = json.loads(about.read_text(encoding="utf-8"))
        kind = description.get("kind", "retoucher")  # folders of that network did not name it
        if kind != T2ONET:
            raise RequestError(f"{folder} holds a network of kind {kind!r}, which this release cannot run")
        self.side: int = description["side"]
        self.max_steps: int = description["max_steps"]
        self.ends: bool = description["ends"]
        self.vocabulary = Vocabulary(tuple(description["words"]))
        self.operations = tuple(
            operations.get_published_operation(name) for name in description["operations"]
        )
        self._begin, self._step = map(open_session, graphs)
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
        for _ in range(self.max_steps):
            values = {"words": encoded, "picture": image, "previous": np.array([previous]), "state": state}
            inputs = {name: value for name, value in values.items() if name in self._inputs}
            logits, parameters, state, _ = self._step.run(None, inputs)
            allowed = [*unused, end] if self.ends or not unused else unused
            previous = max(allowed, key=lambda number: logits[0, number])
            if previous == end:
                break
            unused.remove(previous)
            operation, chosen = self.operations[previous], parameters[:, self._get_slice(previous)]
            image = operation(image, chosen)
            steps.append(_make_step(operation.name, chosen[0]))
        return PolicyAnswer(read, tuple(steps))

    def _get_slice(self, number: int) -> slice:
        """Where the parameters of an operation are in the row of all parameters."""
        start = sum(operation.size for operation in self.operations[:number])
        return slice(start, start + self.operations[number].size)


def _make_step(name: str, published: np.ndarray) -> Step:
    """A step from the parameters that the paper published."""
    return Step.from_trusted(name, operations.get_operation(name).complete(tuple(published.tolist())))


def open_policy(folder: Path, reader: ReaderName = DEFAULT_READER) -> T2ONetPolicy:
    """Open a network that `t2o export` wrote; it reads requests itself."""
    check_reader(reader)
    missing = [name for name in NETWORK_FILES if not (folder / name).is_file()]
    if len(missing) == len(NETWORK_FILES) and (folder / MEMORY_FILE).is_file():
        raise RequestError(
            f"{folder} holds a style of an older release; learn it again by t2o learn PAIRS -o mine.style, "
            "and use it by --style mine.style"
        )
    if missing:
        raise RequestError(
            f"{folder} is no exported network, {missing[0]} is missing; make one by t2o export WEIGHTS DIR"
        )
    if reader != DEFAULT_READER:
        raise RequestError(
            f"{folder} holds a network that reads requests itself; leave out the reader {reader}"
        )
    try:
        return T2ONetPolicy(folder)
    except T2OError:
        raise
    except Exception as error:  # from JSON, from missing fields, and whatever ONNX Runtime raises
        raise RequestError(f"{folder} cannot be opened as an exported network: {error}") from None

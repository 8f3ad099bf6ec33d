"""Systems: anything that turns a photo and a request into a picture, opened by a name or from a file.

A system may have a recipe for what it did, may decline, and may tell two manners apart; those that do not
are measured alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from .. import operations
from ..data.run_records import BEST
from ..editor import performed_thoughts
from ..errors import DataError
from ..policy import EDIT, OnnxPolicy, Policy, T2ONetPolicy, opened, shipped
from ..recipe import Recipe
from .cases import Told
from .keyword_policy import KeywordPolicy
from .tables.commands import ANSWERS

SIDE = 128
"""Pixels a side at which systems that take any picture are measured, as in the paper."""
_BATCH = 32
_ABOUT = "about.json"
"""What only the folder of an exported network has."""


class Question(NamedTuple):
    """A picture (3, side, side) float32 in [0, 1], what is asked of it, and in which manner."""

    picture: np.ndarray
    request: str
    manner: str


class Made(NamedTuple):
    """The picture after the edit (as it was, if that was declined), and the recipe where there is one."""

    picture: np.ndarray
    declined: bool = False
    recipe: Recipe | None = None


class System(Protocol):
    """What is measured."""

    @property
    def name(self) -> str: ...
    @property
    def side(self) -> int:
        """Pixels of the pictures that it sees."""

    @property
    def manners(self) -> bool:
        """Whether it tells literal from expert."""

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        """To each question, in order."""


@dataclass(frozen=True)
class PolicySystem:
    """An editor's policy, asked one by one."""

    name: str
    policy: Policy
    manners: bool = True

    @property
    def side(self) -> int:
        return self.policy.side

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        return [self._made(question) for question in questions]

    def _made(self, question: Question) -> Made:
        answer = self.policy.answer(*question)
        after = performed_thoughts(answer.thoughts, question.picture)
        recipe = recipe_of((thought.operation, thought.parameters) for thought in answer.thoughts)
        return Made(after, answer.verdict != EDIT, recipe)


@dataclass(frozen=True)
class OneMode:
    """A system held to one of its modes, whichever a question names: all its figures are measured in that."""

    name: str
    system: System
    mode: str
    manners: bool = False

    @property
    def side(self) -> int:
        return self.system.side

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        return self.system.answer([question._replace(manner=self.mode) for question in questions])


@dataclass(frozen=True)
class Repeated:
    """Several training runs of one system, which figures are averaged over; the first answers for all."""

    name: str
    runs: tuple[System, ...]

    @property
    def side(self) -> int:
        return self.runs[0].side

    @property
    def manners(self) -> bool:
        return self.runs[0].manners

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        return self.runs[0].answer(questions)


@dataclass(frozen=True)
class Identity:
    """Leaves every photo as it is: its figures are those of the inputs."""

    name: str = "identity"
    side: int = SIDE
    manners: bool = False

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        return [Made(question.picture, recipe=Recipe()) for question in questions]


def recipe_of(steps: Iterable[tuple[str, Sequence[float]]]) -> Recipe:
    """Of operations and parameters as a network says them, which rounding may have put beyond a limit."""
    return Recipe.from_steps((name, operations.get(name).clipped(values)) for name, values in steps)


def answered(system: System, questions: Sequence[Question], what: str, told: Told) -> Iterator[Made]:
    """Answers one after the other, asked for in batches; `told` is told how many there are."""
    for start in range(0, len(questions), _BATCH):
        batch = questions[start : start + _BATCH]
        yield from system.answer(batch)
        told(what, start + len(batch), len(questions))


NAMED: dict[str, Callable[[str], System]] = {
    "shipped": lambda name: PolicySystem(name, shipped()),
    "default": lambda name: PolicySystem(name, shipped()),
    "keywords": lambda name: PolicySystem(name, KeywordPolicy(), manners=False),
    "identity": Identity,
}
"""Systems that need no file; `default` is the config that the shipped network was trained by."""


def open_system(given: str, *, narrow: bool = False) -> System:
    """By a name of `NAMED`, from weights or answers, the folder of a training run or of an exported network.

    `NAME=PATH` says what to call what is at a path; without, the file or its folder does. `narrow` lets the
    generators of GANs compute in bfloat16.
    """
    if given in NAMED:
        return NAMED[given](given)
    called, _, rest = given.partition("=")
    path, name = (Path(rest), called) if rest and not Path(given).exists() else (Path(given), "")
    file = next((path / one for one in (BEST, ANSWERS) if (path / one).is_file()), path)
    if file.is_file():
        return from_file(name or _called(file), file, narrow=narrow)
    if path.is_dir():
        policy = _exported(path)
        return PolicySystem(name or path.resolve().name, policy, manners=bool(policy.manners))
    near = get_close_matches(given, NAMED, n=1)
    names = ", ".join(NAMED)
    hint = f"did you mean {near[0]!r}?" if near else f"give {names}, weights, answers or an exported folder"
    raise DataError(f"{given!r} is no system: nothing of that name is known, and nothing lies there; {hint}")


def open_systems(given: Sequence[str], *, narrow: bool = False) -> list[System]:
    """All of them, of one working size and each under a name of its own."""
    systems = [open_system(one, narrow=narrow) for one in given]
    names = [system.name for system in systems]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"two systems are called {twice!r}; call one otherwise: --system NAME=PATH")
    if len(sides := {system.side for system in systems}) > 1:
        raise DataError(f"systems see pictures of different sizes ({', '.join(map(str, sorted(sides)))})")
    return systems


def _called(file: Path) -> str:
    return file.resolve().parent.name if file.name in (BEST, ANSWERS) else file.stem


def from_file(name: str, path: Path, *, narrow: bool = False) -> System:
    """The network of a file of weights, or of one of answers, under that name."""
    if path.suffix == ".zip":
        from .recorded import Recorded

        return Recorded(name, path)
    try:
        from .networks import network_system
    except ImportError as error:
        needed = "opening weights needs torch and safetensors: pip install 't2onet[train]'"
        raise DataError(f"{needed} ({error})") from None
    return network_system(name, path, narrow=narrow)


def _exported(folder: Path) -> OnnxPolicy | T2ONetPolicy:
    if not (folder / _ABOUT).is_file():
        raise DataError(f"{folder} has neither {BEST} nor {_ABOUT}: it is no run and no exported network")
    return opened(folder)

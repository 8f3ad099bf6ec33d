"""Systems: anything that turns a photo and a request into a picture, opened by a name or from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from .. import operations
from ..data.records import (
    BEST_WEIGHTS_FILE,
    AnswerSet,
    PlainSteps,
    QuestionSet,
    RecordedRecipes,
    question_key,
    read_answers,
    to_float_picture,
)
from ..editor import apply_policy_steps
from ..editor.policy import (
    EDIT,
    OnnxPolicy,
    Policy,
    PolicyAnswer,
    T2ONetPolicy,
    load_shipped_policy,
    open_policy,
)
from ..errors import DataError
from ..language import Attribute, Intent
from ..language.grams import words
from ..language.keywords import keywords
from ..operations.paper import COLOR, CURVE_PIECES
from ..recipe import Recipe, Step
from .cases import EvaluationProgress
from .runs import ANSWERS_FILE

# Systems: anything that turns a photo and a request into a picture, opened by a name or from a file.
#
# A system may have a recipe for what it did, may decline, and may tell two manners apart; those that do not
# are measured alike.

EVALUATION_SIDE = 128
"""Pixels a side at which systems that take any picture are measured, as in the paper."""
_BATCH_SIZE = 32
_EXPORT_INDEX = "about.json"
"""What only the folder of an exported network has."""


class Question(NamedTuple):
    """A picture (3, side, side) float32 in [0, 1], what is asked of it, and in which manner."""

    picture: np.ndarray
    request: str
    manner: str


class SystemAnswer(NamedTuple):
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

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
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

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [self._made(question) for question in questions]

    def _made(self, question: Question) -> SystemAnswer:
        answer = self.policy.answer(*question)
        after = apply_policy_steps(answer.steps, question.picture)
        recipe = clip_to_recipe((step.operation, step.parameters) for step in answer.steps)
        return SystemAnswer(after, answer.verdict != EDIT, recipe)


@dataclass(frozen=True)
class FixedModeSystem:
    """A system held to one of its modes, whichever a question names: all its figures are measured in that."""

    name: str
    system: System
    mode: str
    manners: bool = False

    @property
    def side(self) -> int:
        return self.system.side

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return self.system.answer([question._replace(manner=self.mode) for question in questions])


@dataclass(frozen=True)
class RepeatedSystem:
    """Several training runs of one system, which figures are averaged over; the first answers for all."""

    name: str
    runs: tuple[System, ...]

    @property
    def side(self) -> int:
        return self.runs[0].side

    @property
    def manners(self) -> bool:
        return self.runs[0].manners

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return self.runs[0].answer(questions)


@dataclass(frozen=True)
class IdentitySystem:
    """Leaves every photo as it is: its figures are those of the inputs."""

    name: str = "identity"
    side: int = EVALUATION_SIDE
    manners: bool = False

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [SystemAnswer(question.picture, recipe=Recipe()) for question in questions]


def clip_to_recipe(steps: Iterable[tuple[str, Sequence[float]]]) -> Recipe:
    """Of operations and parameters as a network says them, which rounding may have put beyond a limit."""
    return Recipe.from_steps((name, operations.get_operation(name).clip(values)) for name, values in steps)


def answer_in_batches(
    system: System, questions: Sequence[Question], what: str, told: EvaluationProgress
) -> Iterator[SystemAnswer]:
    """Answers one after the other, asked for in batches; `told` is told how many there are."""
    for start in range(0, len(questions), _BATCH_SIZE):
        batch = questions[start : start + _BATCH_SIZE]
        yield from system.answer(batch)
        told(what, start + len(batch), len(questions))


NAMED_SYSTEMS: dict[str, Callable[[str], System]] = {
    "shipped": lambda name: PolicySystem(name, load_shipped_policy()),
    "default": lambda name: PolicySystem(name, load_shipped_policy()),
    "keywords": lambda name: PolicySystem(name, KeywordPolicy(), manners=False),
    "identity": IdentitySystem,
}
"""Systems that need no file; `default` is the config that the shipped network was trained by."""


def open_system(given: str, *, narrow: bool = False) -> System:
    """By a name of `NAMED`, from weights or answers, the folder of a training run or of an exported network.

    `NAME=PATH` says what to call what is at a path; without, the file or its folder does. `narrow` lets the
    generators of GANs compute in bfloat16.
    """
    if given in NAMED_SYSTEMS:
        return NAMED_SYSTEMS[given](given)
    called, _, rest = given.partition("=")
    path, name = (Path(rest), called) if rest and not Path(given).exists() else (Path(given), "")
    file = next((path / one for one in (BEST_WEIGHTS_FILE, ANSWERS_FILE) if (path / one).is_file()), path)
    if file.is_file():
        return open_system_file(name or _name_from_file(file), file, narrow=narrow)
    if path.is_dir():
        policy = _open_exported(path)
        return PolicySystem(name or path.resolve().name, policy, manners=bool(policy.modes))
    near = get_close_matches(given, NAMED_SYSTEMS, n=1)
    names = ", ".join(NAMED_SYSTEMS)
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


def _name_from_file(file: Path) -> str:
    return file.resolve().parent.name if file.name in (BEST_WEIGHTS_FILE, ANSWERS_FILE) else file.stem


def open_system_file(name: str, path: Path, *, narrow: bool = False) -> System:
    """The network of a file of weights, or of one of answers, under that name."""
    if path.suffix == ".zip":
        return RecordedSystem(name, path)
    try:
        from .networks import open_network_system
    except ImportError as error:
        needed = "opening weights needs torch and safetensors: pip install 't2onet[train]'"
        raise DataError(f"{needed} ({error})") from None
    return open_network_system(name, path, narrow=narrow)


def _open_exported(folder: Path) -> OnnxPolicy | T2ONetPolicy:
    if not (folder / _EXPORT_INDEX).is_file():
        raise DataError(
            f"{folder} has neither {BEST_WEIGHTS_FILE} nor {_EXPORT_INDEX}: "
            "it is no run and no exported network"
        )
    return open_policy(folder)


# The baseline: rules read the request, and each attribute has one fixed edit.
#
# What a network is measured against. It has no idea what a photo looks like.

_CAST_DIRECTIONS = {Attribute.WARMTH: (1.0, 0.2, -1.0), Attribute.REDNESS: (1.0, -1.0, 0.6)}
"""How red, green and blue move for a cast, at an amount of 1 in units of `_CAST`."""
_CAST_STRENGTH = 0.1
_AMOUNTS = {
    Attribute.LIGHTNESS: 0.25,
    Attribute.CONTRAST: 0.3,
    Attribute.COLOURFULNESS: 0.3,
    Attribute.SHARPNESS: 0.4,
}
"""What an intent of amount 1 moves the operation of its attribute by."""
_LOWEST_PARAMETER = -0.9
"""Short of black and of no colour at all."""
_SCALAR_OPERATIONS = {one.attribute: one for one in operations.paper_operations() if one.size == 1}
_VAGUE_INTENTS = (Intent(Attribute.CONTRAST, 1, 0.7), Intent(Attribute.COLOURFULNESS, 1, 0.7))


class KeywordPolicy:
    """Answers requests by rules."""

    side = 128

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        reading = keywords(request)
        if reading.unanswerable:
            return PolicyAnswer("unanswerable", tuple(words(request)))
        intents = reading.intents or (_VAGUE_INTENTS if reading.vague else ())
        return PolicyAnswer(EDIT, tuple(words(request)), tuple(_choose_steps(intents)))


def _choose_steps(intents: tuple[Intent, ...]) -> Iterator[Step]:
    for intent in intents:
        moved = intent.sign * intent.amount
        if intent.attribute in _CAST_DIRECTIONS:
            yield Step(operation=COLOR.name, parameters=_build_colour_curves(intent.attribute, moved))
        else:
            operation = _SCALAR_OPERATIONS[intent.attribute]
            value = max(_LOWEST_PARAMETER, _AMOUNTS[intent.attribute] * moved)
            yield Step(operation=operation.name, parameters=operation.clip([value]))


def _build_colour_curves(attribute: Attribute, moved: float) -> tuple[float, ...]:
    """A power curve for each channel: white and black stay, the middle moves."""
    knots = np.linspace(0, 1, CURVE_PIECES + 1)
    rises = []
    for part in _CAST_DIRECTIONS[attribute]:
        curve = knots ** (2.0 ** (-part * moved * 4 * _CAST_STRENGTH))
        rises += (np.diff(curve) * CURVE_PIECES).tolist()
    return COLOR.clip(rises)


# Systems on paper: one notes what it is asked, one answers as a network did before.


class QuestionRecorder:
    """Leaves every photo as it is and keeps what was asked of it."""

    name = "questions"
    side = EVALUATION_SIDE
    manners = False

    def __init__(self) -> None:
        self.asked: list[tuple[np.ndarray, str]] = []

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        self.asked += [(question.picture, question.request) for question in questions]
        return [SystemAnswer(question.picture) for question in questions]

    def questions(self, *data: str) -> QuestionSet:
        """Each once, with the fingerprints of the data."""
        return QuestionSet.of(self.asked, data)


class RecordedSystem:
    """A network by its answers; where these are recipes, they are carried out here."""

    side = EVALUATION_SIDE
    manners = False

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.answers: AnswerSet = read_answers(path)

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {key: at for at, key in enumerate(self.answers.keys)}

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [self._made(question) for question in questions]

    def _made(self, question: Question) -> SystemAnswer:
        at = self.places.get(question_key(question.picture, question.request))
        if at is None:
            raise DataError(
                f"{self.path} has no answer to {question.request!r} about one of the photos; "
                "make questions anew with --ask and the same options, and have them answered"
            )
        given = self.answers.given
        if isinstance(given, RecordedRecipes):
            steps = given.steps[at]
            return SystemAnswer(apply_recorded_steps(steps, question.picture), recipe=clip_to_recipe(steps))
        return SystemAnswer(to_float_picture(given.pictures[at]))


def apply_recorded_steps(steps: PlainSteps, picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after steps as networks take them, on a picture that is the whole photo."""
    for name, values in steps:
        picture = np.asarray(operations.get_operation(name)(picture, np.array(values, np.float32)))
    return picture

"""Systems: anything that turns a photo and a request into a picture, opened by a name or from a file.

A system may give a recipe, may decline a request, and may have the modes `literal` and `expert`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

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
from ..editor import Editor, apply_policy_steps, apply_to_thumbnail
from ..editor.networks import open_policy
from ..editor.policy import Policy
from ..errors import DataError, needs_extra, suggest
from ..inference import NETWORK_FILES
from ..options import DEFAULT_READER, LITERAL, READERS, ReaderName
from ..recipe import Recipe
from .cases import EvaluationProgress
from .runs import ANSWERS_FILE

if TYPE_CHECKING:
    from ..models.answering import Predictor

EVALUATION_SIDE = 128
"""Side in pixels of the pictures that systems see, as in the paper."""
_BATCH_SIZE = 32


class Question(NamedTuple):
    """A picture (3, side, side) float32 in [0, 1], a request, and the mode."""

    picture: np.ndarray
    request: str
    mode: str


class SystemAnswer(NamedTuple):
    """The edited picture (unchanged if the request was declined), and the recipe if there is one."""

    picture: np.ndarray
    declined: bool = False
    recipe: Recipe | None = None


class System(Protocol):
    """Anything that can be measured."""

    @property
    def name(self) -> str: ...
    @property
    def side(self) -> int:
        """Side in pixels of the pictures that it sees."""

    @property
    def has_modes(self) -> bool:
        """Whether it distinguishes `literal` and `expert`."""

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        """One answer for each question, in order."""


@dataclass(frozen=True)
class PolicySystem:
    """A policy, which answers every request in one way."""

    name: str
    policy: Policy
    has_modes: bool = False

    @property
    def side(self) -> int:
        return self.policy.side

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> SystemAnswer:
        answer = self.policy.answer(*question)
        after = apply_policy_steps(answer.steps, question.picture)
        recipe = clip_to_recipe((step.operation, step.parameters) for step in answer.steps)
        return SystemAnswer(after, recipe=recipe)


@dataclass(frozen=True)
class EditorSystem:
    """The editor of the package, with one of its readers."""

    name: str
    reader: ReaderName = DEFAULT_READER
    has_modes: bool = True
    side: int = EVALUATION_SIDE

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> SystemAnswer:
        editor = Editor(np.ascontiguousarray(question.picture.transpose(1, 2, 0)), reader=self.reader)
        edit = editor.ask(question.request, mode=LITERAL if question.mode == LITERAL else "expert")
        after = apply_to_thumbnail(edit.recipe, question.picture)
        return SystemAnswer(after, not edit.answered, edit.recipe)


@dataclass(frozen=True)
class NetworkSystem:
    """A network in torch: T2ONet or the generator of a GAN. Needs the extra `train`."""

    name: str
    network: Predictor
    has_modes: bool = False
    side: int = EVALUATION_SIDE

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        pictures = np.stack([question.picture for question in questions])
        replies = self.network.answer(pictures, [question.request for question in questions])
        return [
            SystemAnswer(reply.picture, recipe=None if reply.steps is None else clip_to_recipe(reply.steps))
            for reply in replies
        ]


@dataclass(frozen=True)
class FixedModeSystem:
    """A system in one of its modes, whatever the mode of a question."""

    name: str
    system: System
    mode: str
    has_modes: bool = False

    @property
    def side(self) -> int:
        return self.system.side

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return self.system.answer([question._replace(mode=self.mode) for question in questions])


@dataclass(frozen=True)
class RepeatedSystem:
    """Several training runs of one system, whose figures are averaged; `answer` is that of the first."""

    name: str
    runs: tuple[System, ...]

    @property
    def side(self) -> int:
        return self.runs[0].side

    @property
    def has_modes(self) -> bool:
        return self.runs[0].has_modes

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return self.runs[0].answer(questions)


@dataclass(frozen=True)
class IdentitySystem:
    """Leaves every photo unchanged: its figures are those of the inputs."""

    name: str = "identity"
    side: int = EVALUATION_SIDE
    has_modes: bool = False

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [SystemAnswer(question.picture, recipe=Recipe()) for question in questions]


def clip_to_recipe(steps: Iterable[tuple[str, Sequence[float]]]) -> Recipe:
    """A recipe of a network's steps, with parameters clipped to their ranges: rounding may exceed them."""
    kinds = ((operations.get_operation(name), values) for name, values in steps)
    return Recipe.from_steps((kind.name, kind.clip(kind.complete(tuple(row)))) for kind, row in kinds)


def answer_in_batches(
    system: System, questions: Sequence[Question], task: str, progress: EvaluationProgress
) -> Iterator[SystemAnswer]:
    """Answers in order, computed in batches; progress is reported under the name `task`."""
    for start in range(0, len(questions), _BATCH_SIZE):
        batch = questions[start : start + _BATCH_SIZE]
        yield from system.answer(batch)
        progress(task, start + len(batch), len(questions))


NAMED_SYSTEMS: dict[str, Callable[[str], System]] = {
    "shipped": EditorSystem,
    **{name: partial(EditorSystem, reader=name) for name in READERS},
    "identity": IdentitySystem,
}
"""Systems without a file; `shipped` is the editor of the package, and a reader's name the editor with it."""


def open_system(spec: str, *, bfloat16: bool = False) -> System:
    """Open a system by a name of `NAMED_SYSTEMS` or by a path.

    The path is a file of weights or of recorded answers, the folder of a training run or of an exported
    network. `NAME=PATH` gives it a name; by default that is the name of the file or its folder. With
    `bfloat16` the generators of GANs compute in that type.
    """
    if spec in NAMED_SYSTEMS:
        return NAMED_SYSTEMS[spec](spec)
    prefix, _, rest = spec.partition("=")
    path, name = (Path(rest), prefix) if rest and not Path(spec).exists() else (Path(spec), "")
    file = next((path / one for one in (BEST_WEIGHTS_FILE, ANSWERS_FILE) if (path / one).is_file()), path)
    if file.is_file():
        return open_system_file(name or _name_from_file(file), file, bfloat16=bfloat16)
    if path.is_dir():
        return PolicySystem(name or path.resolve().name, _open_exported(path))
    others = f"give {', '.join(NAMED_SYSTEMS)}, weights, answers or an exported folder"
    hint = suggest(spec, NAMED_SYSTEMS, others)
    raise DataError(f"{spec!r} is not a system: it is neither a known name nor an existing path; {hint}")


def open_systems(specs: Sequence[str]) -> list[System]:
    """Open several systems; their names must differ and their picture sizes agree."""
    systems = [open_system(spec) for spec in specs]
    names = [system.name for system in systems]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"two systems are called {duplicate!r}; rename one: --system NAME=PATH")
    if len(sides := {system.side for system in systems}) > 1:
        raise DataError(f"systems see pictures of different sizes ({', '.join(map(str, sorted(sides)))})")
    return systems


def _name_from_file(file: Path) -> str:
    return file.resolve().parent.name if file.name in (BEST_WEIGHTS_FILE, ANSWERS_FILE) else file.stem


def open_system_file(name: str, path: Path, *, bfloat16: bool = False) -> System:
    """The network of a file of weights, or the recorded answers of a ZIP file."""
    if path.suffix == ".zip":
        return RecordedSystem(name, path)
    with needs_extra(DataError, "opening weights needs torch and safetensors", "train", with_cause=True):
        from ..models.answering import make_predictor
        from ..models.files import load_network
    return NetworkSystem(name, make_predictor(load_network(path), bfloat16=bfloat16))


def _open_exported(folder: Path) -> Policy:
    if not (folder / NETWORK_FILES[-1]).is_file():
        raise DataError(
            f"{folder} has neither {BEST_WEIGHTS_FILE} nor {NETWORK_FILES[-1]}: "
            "it is neither a run nor an exported network"
        )
    return open_policy(folder)


class QuestionRecorder:
    """Records the questions it is asked, and leaves every photo unchanged."""

    name = "questions"
    side = EVALUATION_SIDE
    has_modes = False

    def __init__(self) -> None:
        self.recorded: list[tuple[np.ndarray, str]] = []

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        self.recorded += [(question.picture, question.request) for question in questions]
        return [SystemAnswer(question.picture) for question in questions]

    def to_question_set(self, *fingerprints: str) -> QuestionSet:
        """Each question once, with the fingerprints of the datasets."""
        return QuestionSet.from_pairs(self.recorded, fingerprints)


class RecordedSystem:
    """The recorded answers of a network; recipes are applied here."""

    side = EVALUATION_SIDE
    has_modes = False

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.answers: AnswerSet = read_answers(path)

    @cached_property
    def _indices(self) -> Mapping[str, int]:
        return {key: index for index, key in enumerate(self.answers.keys)}

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> SystemAnswer:
        index = self._indices.get(question_key(question.picture, question.request))
        if index is None:
            raise DataError(
                f"{self.path} has no answer to {question.request!r} for one of the photos; "
                "write the questions again with --ask and the same options, and have them answered"
            )
        given = self.answers.given
        if isinstance(given, RecordedRecipes):
            steps = given.steps[index]
            return SystemAnswer(apply_recorded_steps(steps, question.picture), recipe=clip_to_recipe(steps))
        return SystemAnswer(to_float_picture(given.pictures[index]))


def apply_recorded_steps(steps: PlainSteps, picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after the steps of a network."""
    for name, values in steps:
        picture = np.asarray(operations.get_operation(name)(picture, np.array(values, np.float32)))
    return picture

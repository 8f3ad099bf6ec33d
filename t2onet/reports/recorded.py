"""Systems on paper: one notes what it is asked, one answers as a network did before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from .. import operations
from ..data.recorded import Answers, Questions, Recipes, key_of, read_answers
from ..data.recorded.answers import Steps
from ..data.recorded.archive import floats
from ..errors import DataError
from .systems import SIDE, Made, Question, recipe_of


class Noting:
    """Leaves every photo as it is and keeps what was asked of it."""

    name = "questions"
    side = SIDE
    manners = False

    def __init__(self) -> None:
        self.asked: list[tuple[np.ndarray, str]] = []

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        self.asked += [(question.picture, question.request) for question in questions]
        return [Made(question.picture) for question in questions]

    def questions(self, *data: str) -> Questions:
        """Each once, with the fingerprints of the data."""
        return Questions.of(self.asked, data)


class Recorded:
    """A network by its answers; where these are recipes, they are carried out here."""

    side = SIDE
    manners = False

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.answers: Answers = read_answers(path)

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {key: at for at, key in enumerate(self.answers.keys)}

    def answer(self, questions: Sequence[Question]) -> list[Made]:
        return [self._made(question) for question in questions]

    def _made(self, question: Question) -> Made:
        at = self.places.get(key_of(question.picture, question.request))
        if at is None:
            raise DataError(
                f"{self.path} has no answer to {question.request!r} about one of the photos; "
                "make questions anew with --ask and the same options, and have them answered"
            )
        given = self.answers.given
        if isinstance(given, Recipes):
            steps = given.steps[at]
            return Made(carried_out(steps, question.picture), recipe=recipe_of(steps))
        return Made(floats(given.pictures[at]))


def carried_out(steps: Steps, picture: np.ndarray) -> np.ndarray:
    """(3, H, W) after steps as networks take them, on a picture that is the whole photo."""
    for name, values in steps:
        picture = np.asarray(operations.get(name)(picture, np.array(values, np.float32)))
    return picture

"""Questions and answers as files: what is read is what was written, and anything else is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.data.records import (
    AnswerSet,
    QuestionSet,
    RecordedPictures,
    RecordedRecipes,
    question_key,
    read_answers,
    read_answers_source,
    read_questions,
    to_byte_picture,
    to_float_picture,
)
from t2onet.errors import DataError

RNG = np.random.default_rng(0)
PICTURES = [RNG.integers(0, 256, (8, 8, 3), np.uint8) for _ in range(3)]
ASKED = [
    (to_float_picture(PICTURES[0]), "brighter"),
    (to_float_picture(PICTURES[0]), ""),
    (to_float_picture(PICTURES[1]), "plus léger"),
]
STEPS = [[("tone", [0.5] * 8), ("brightness", [0.25])], [], [("brightness", [-1.0])]]
ABOUT = {"run": "paper", "weights": "0123456789ab"}


def write_file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_questions_come_back_each_once(tmp_path: Path) -> None:
    questions = QuestionSet.from_pairs([*ASKED, ASKED[0]], ["f", "f", "g"])
    found = read_questions(write_file(tmp_path / "q.zip", questions.to_zip()))
    assert list(found.asked) == list(questions.asked) == [question_key(*one) for one in ASKED]
    assert (found.fingerprint, found.data) == (questions.fingerprint, ("f", "g"))
    for one, (picture, request) in zip(found.asked.values(), ASKED, strict=True):
        np.testing.assert_array_equal(to_float_picture(one.picture), picture)
        assert one.request == request
    with zipfile.ZipFile(tmp_path / "q.zip") as archive:
        assert len(archive.namelist()) == 1 + 2  # a picture that is asked about twice is there once


def test_the_same_questions_are_the_same_file() -> None:
    assert QuestionSet.from_pairs(ASKED).to_zip() == QuestionSet.from_pairs(ASKED).to_zip()
    assert QuestionSet.from_pairs(ASKED).fingerprint == QuestionSet.from_pairs(ASKED[::-1]).fingerprint
    assert QuestionSet.from_pairs(ASKED).fingerprint != QuestionSet.from_pairs(ASKED[:2]).fingerprint


@given(st.integers(0, 255), st.floats(-0.49, 0.49))
def test_a_key_is_that_of_the_picture_at_8_bits(level: int, off: float) -> None:
    plain, near = (np.full((3, 2, 2), value / 255) for value in (level, level + off))
    assert question_key(plain, "x") == question_key(near, "x")
    assert question_key(plain, "x") != question_key(plain, "y")
    np.testing.assert_array_equal(
        to_byte_picture(to_float_picture(to_byte_picture(near))), to_byte_picture(near)
    )


@pytest.mark.parametrize(
    "given_", [RecordedRecipes(STEPS), RecordedPictures(PICTURES), RecordedRecipes([[], [], []])]
)
def test_answers_come_back(tmp_path: Path, given_: RecordedRecipes | RecordedPictures) -> None:
    path = write_file(tmp_path / "a.zip", AnswerSet(["a", "b", "c"], given_, ABOUT).to_zip())
    found = read_answers(path)
    assert (found.keys, found.about, read_answers_source(path)) == (["a", "b", "c"], ABOUT, ABOUT)
    if isinstance(given_, RecordedRecipes):
        assert isinstance(found.given, RecordedRecipes)
        assert found.given.steps == [list(steps) for steps in given_.steps]
    else:
        assert isinstance(found.given, RecordedPictures)
        np.testing.assert_array_equal(np.stack(found.given.pictures), np.stack(PICTURES))


def test_what_was_never_written_so_is_refused(tmp_path: Path) -> None:
    questions = write_file(tmp_path / "q.zip", QuestionSet.from_pairs(ASKED).to_zip())
    answers = write_file(tmp_path / "a.zip", AnswerSet(["a"], RecordedPictures(PICTURES[:1]), ABOUT).to_zip())
    with pytest.raises(DataError, match=r"a\.zip does not hold questions; `t2o evaluate --ask` or"):
        read_questions(answers)
    with pytest.raises(DataError, match=r"q\.zip does not hold answers; `python -m t2onet\.training answer"):
        read_answers(questions)
    with pytest.raises(DataError, match=r"other\.zip cannot be read as questions, "):
        read_questions(write_file(tmp_path / "other.zip", b"PK, or so"))
    with pytest.raises(DataError, match=r"half\.zip cannot be read as answers, "):
        read_answers(write_file(tmp_path / "half.zip", answers.read_bytes()[:-40]))
    with pytest.raises(
        DataError, match=r"is damaged, its answers cannot be read \(1 answers to 2 questions\)"
    ):
        read_answers(
            write_file(
                tmp_path / "b.zip", AnswerSet(["a", "b"], RecordedPictures(PICTURES[:1]), ABOUT).to_zip()
            )
        )


def test_a_picture_that_is_gone_is_noticed(tmp_path: Path) -> None:
    path = write_file(tmp_path / "q.zip", QuestionSet.from_pairs(ASKED).to_zip())
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "part.zip", "w") as part:
        for name in whole.namelist()[:-1]:
            part.writestr(name, whole.read(name))
    with pytest.raises(DataError, match=r"part\.zip is damaged, its questions cannot be read"):
        read_questions(tmp_path / "part.zip")


def test_pictures_in_another_order_are_noticed(tmp_path: Path) -> None:
    path = write_file(tmp_path / "q.zip", QuestionSet.from_pairs(ASKED).to_zip())
    names = {"pictures/00000.webp": "pictures/00001.webp", "pictures/00001.webp": "pictures/00000.webp"}
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "swapped.zip", "w") as swapped:
        for name in whole.namelist():
            swapped.writestr(names.get(name, name), whole.read(name))
    with pytest.raises(DataError, match="they are not what was written"):
        read_questions(tmp_path / "swapped.zip")

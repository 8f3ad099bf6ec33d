"""The shipped network answers: what it says is deterministic, in range, and about what was asked."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import open_image, operations
from t2onet.editor import apply_policy_steps, make_thumbnail
from t2onet.editor.policy import EDIT, FOREIGN, UNSURE, load_shipped_policy
from t2onet.evaluation.cases import RequestKind, read_labels, read_sentences
from t2onet.language import Attribute
from t2onet.language.parts import doubtful
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, measure_changes
from tests.conftest import EXAMPLES, ROOT

DATA = ROOT.parent / "shared" / "data"
NAMES = ("dogs", "drum", "stream", "trail")


@pytest.fixture(scope="module")
def pictures() -> list[np.ndarray]:
    return [
        make_thumbnail(open_image(EXAMPLES / f"{name}.jpg"), load_shipped_policy().side) for name in NAMES
    ]


def measure_change(picture: np.ndarray, request: str, attribute: Attribute) -> float:
    answer = load_shipped_policy().answer(picture, request, "literal")
    assert answer.verdict == EDIT
    return float(
        measure_changes(picture, apply_policy_steps(answer.steps, picture))[ATTRIBUTE_INDEX[attribute]]
    )


@pytest.mark.parametrize(
    ("request_", "attribute", "sign"),
    [
        ("make it brighter", Attribute.LIGHTNESS, 1),
        ("please darken the photo", Attribute.LIGHTNESS, -1),
        ("more contrast", Attribute.CONTRAST, 1),
        ("reduce the contrast", Attribute.CONTRAST, -1),
        ("boost the colours", Attribute.COLOURFULNESS, 1),
        ("less saturated please", Attribute.COLOURFULNESS, -1),
        ("warm it up", Attribute.WARMTH, 1),
        ("cooler tones", Attribute.WARMTH, -1),
        ("add some magenta", Attribute.REDNESS, 1),
        ("sharpen it", Attribute.SHARPNESS, 1),
        ("make it softer", Attribute.SHARPNESS, -1),
        ("incrase the brigthness", Attribute.LIGHTNESS, 1),
    ],
)
def test_it_does_what_was_said(
    pictures: list[np.ndarray], request_: str, attribute: Attribute, sign: int
) -> None:
    assert all(sign * measure_change(picture, request_, attribute) > 0 for picture in pictures)


@pytest.mark.slow
def test_amounts_matter(pictures: list[np.ndarray]) -> None:
    for picture in pictures:
        amounts = ("make it a little brighter", "make it brighter", "make it a lot brighter")
        steps = [measure_change(picture, request, Attribute.LIGHTNESS) for request in amounts]
        assert steps == sorted(steps)


@pytest.mark.parametrize(
    "request_", ["crop it to a square", "remove the man on the left", "add a hat to the dog"]
)
def test_what_cannot_be_done_is_said(pictures: list[np.ndarray], request_: str) -> None:
    answer = load_shipped_policy().answer(pictures[0], request_, "literal")
    assert answer.verdict != EDIT
    assert answer.steps == ()


def test_it_reads_only_english(pictures: list[np.ndarray]) -> None:
    for request in ("mach es heller", "明るくして"):
        answer = load_shipped_policy().answer(pictures[0], request, "literal")
        assert (answer.verdict, answer.steps) == (FOREIGN, ())


@pytest.mark.parametrize("mode", ["literal", "expert"])
@pytest.mark.parametrize("request_", ["brighter and warmer", "", "ünïcode \x00 \u200b 😀", "blah " * 3000])
def test_any_words_give_parameters_in_range(pictures: list[np.ndarray], request_: str, mode: str) -> None:
    answer = load_shipped_policy().answer(pictures[1], request_, mode)
    assert answer == load_shipped_policy().answer(pictures[1], request_, mode)
    for step, attention in zip(answer.steps, answer.attention, strict=True):
        assert operations.get_operation(step.operation).check(list(step.parameters))
        assert not attention or len(attention) >= len(answer.words)


@pytest.mark.parametrize("request_", ["<script>alert(1)</script>", "DROP TABLE photos; --"])
def test_what_is_unclear_is_not_named(pictures: list[np.ndarray], request_: str) -> None:
    for picture in pictures:
        assert load_shipped_policy().answer(picture, request_, "literal").verdict == UNSURE


@pytest.mark.parametrize(
    ("request_", "besides"),
    [
        ("make it brighter and remove the dog", ("remove the dog", "remove_person")),
        ("warmer, and crop it to a square", ("crop it to a square", "crop")),
        ("increase the contrast. Also blur the background", ("blur the background", "blur_background")),
    ],
)
def test_of_a_mixed_request_the_part_that_cannot_be_done_is_told(
    pictures: list[np.ndarray], request_: str, besides: tuple[str, str]
) -> None:
    answer = load_shipped_policy().answer(pictures[0], request_, "expert")
    assert (answer.verdict, answer.declined) == (EDIT, (besides,))
    assert answer.steps


@pytest.mark.parametrize(
    "request_",
    [
        "make it brighter and warmer",
        "a bit sharper, more contrast and less yellow please",
        "brighten it so that the dog and the grass are seen",
        "this is my dog, make him brighter",
        "make it black and white and darker",
        "lighten it up, it's for my grandma's birthday, thanks!",
    ],
)
def test_nothing_is_missing_from_an_answer_to_what_can_be_done(
    pictures: list[np.ndarray], request_: str
) -> None:
    assert load_shipped_policy().answer(pictures[0], request_, "literal").declined == ()


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is absent")
def test_real_requests_that_can_be_answered_are_hardly_ever_said_to_ask_for_more(
    pictures: list[np.ndarray],
) -> None:
    sentences = read_sentences(read_labels(), DATA / "ma5k-req", DATA / "gier")
    plain = [
        text
        for label, text in sentences.items()
        if label.kind is not RequestKind.UNANSWERABLE and not label.mixed
    ]
    judged = [text for text in plain if doubtful(text)]
    wrong = [text for text in judged if load_shipped_policy().answer(pictures[0], text, "literal").declined]
    assert len(wrong) <= 0.01 * len(plain), wrong

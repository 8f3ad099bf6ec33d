"""Real requests are used again only where they ask for just what is wished."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest

from bench.sentences import DATA
from t2onet.data.simulation.mining import UNNAMED, Phrases, mine
from t2onet.data.simulation.sentences import request
from t2onet.data.simulation.wish import ChangeKind, DrawnWish, Flavour, PhotoChange
from t2onet.language import Attribute

GLOBAL = {"brightness": {"local": False, "ids": []}}
LOCAL = {"brightness": {"local": True, "ids": [3]}}
REMOVAL = {"inpaint_obj": {"local": True, "ids": [1]}}


@pytest.fixture(scope="module")
def mined_phrases() -> Phrases:
    return mine(
        [
            ("Brighten it a lot", None),
            ("brighten the   photo", GLOBAL),
            ("lift the shadows", None),
            ("make it black and white", None),
            ("[Tag] Remove the lamp post", REMOVAL),
            ("Remove the lamp post, I never liked it", GLOBAL),
            ("make it brighter for grandma", LOCAL),
            ("improve this", None),
            ("make it look vintage", None),
            ("brighten it, but don't touch the contrast", None),
        ]
    )


def pick_phrase(mined_phrases: Phrases, wish: DrawnWish) -> str | None:
    return mined_phrases.pick(wish, Random(0))


def ask(kind: ChangeKind, sign: int, amount: float = 1.0) -> DrawnWish:
    return DrawnWish(Flavour.ASK, (PhotoChange(kind, sign, amount),))


def test_sense_and_amount_must_fit(mined_phrases: Phrases) -> None:
    assert pick_phrase(mined_phrases, ask(ChangeKind.EXPOSURE, 1)) == "brighten the photo"
    assert pick_phrase(mined_phrases, ask(ChangeKind.EXPOSURE, 1, 2.0)) == "Brighten it a lot"
    assert pick_phrase(mined_phrases, ask(ChangeKind.EXPOSURE, 1, 0.4)) is None
    assert pick_phrase(mined_phrases, ask(ChangeKind.EXPOSURE, -1)) is None


def test_what_is_named_must_fit(mined_phrases: Phrases) -> None:
    assert pick_phrase(mined_phrases, ask(ChangeKind.SHADOWS, 1)) == "lift the shadows"
    assert pick_phrase(mined_phrases, ask(ChangeKind.MONOCHROME, -1)) == "make it black and white"
    assert pick_phrase(mined_phrases, ask(ChangeKind.CHROMA, -1)) is None


def test_vague_ones_are_kept_by_mood(mined_phrases: Phrases) -> None:
    assert pick_phrase(mined_phrases, DrawnWish(Flavour.VAGUE, mood="better")) == "improve this"
    assert pick_phrase(mined_phrases, DrawnWish(Flavour.VAGUE, mood="vintage")) == "make it look vintage"


def test_labels_decide_what_cannot_be_answered(mined_phrases: Phrases) -> None:
    assert mined_phrases.unanswerable == {UNNAMED: ("Remove the lamp post",)}
    assert pick_phrase(mined_phrases, DrawnWish(Flavour.UNANSWERABLE, matter="remove_object")) is None


def test_a_figure_or_something_kept_is_never_taken_from_a_real_one(mined_phrases: Phrases) -> None:
    figured = DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.EXPOSURE, 1, spoken=(1.0, "stops")),))
    assert pick_phrase(mined_phrases, figured) is None
    kept = DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.EXPOSURE, 1),), (Attribute.CONTRAST,))
    assert pick_phrase(mined_phrases, kept) is None


def test_request_says_real_ones_now_and_then(mined_phrases: Phrases) -> None:
    rng = np.random.default_rng(0)
    texts = [request(ask(ChangeKind.SHADOWS, 1), rng, mined_phrases) for _ in range(200)]
    assert 30 < texts.count("lift the shadows") < 100


@pytest.mark.needs_data
@pytest.mark.slow
def test_most_classes_are_found_in_the_train_requests() -> None:
    path = DATA / "ma5k-req/annotations/train_sess_1.json"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    counts = mine((entry["request"], None) for entry in json.loads(path.read_text())).counts()
    assert min(counts.values()) > 40

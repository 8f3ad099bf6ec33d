"""Requests that were read one by one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bench.sentences import DATA
from t2onet.data.simulation import judged as room
from t2onet.data.simulation.grammar.matters import MATTERS
from t2onet.data.simulation.judged import HELD, Meaning, digest, held_back, judged, judgements
from t2onet.data.simulation.mining import mine, plain
from t2onet.language import Attribute, Intent


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> dict[str, Meaning]:
    """Only what a test puts in was read."""
    found: dict[str, Meaning] = {}
    monkeypatch.setattr(room, "judgements", lambda: found)
    return found


def test_case_spaces_and_the_end_do_not_matter() -> None:
    assert digest("Make it  brighter.") == digest("make it brighter!") != digest("make it bright")


def test_rows_are_sound() -> None:
    for meaning in judgements().values():
        assert meaning.matter in {"", *MATTERS}
        assert not (meaning.vague and (meaning.intents or meaning.matter))
        attributes = [intent.attribute for intent in meaning.intents]
        assert len(set(attributes)) == len(attributes)


def test_every_class_is_among_them_and_among_those_held_back() -> None:
    for kept in (True, False):
        counts = Counter(
            (intent.attribute, intent.sign)
            for key, meaning in judgements().items()
            for intent in meaning.intents
            if key.startswith(HELD) == kept
        )
        assert min(counts[attribute, sign] for attribute in Attribute for sign in (1, -1)) >= 3


def test_a_reader_is_believed_before_rules(readings: dict[str, Meaning]) -> None:
    text = "make it brighter"
    readings["f" + digest(text)[1:]] = Meaning()
    assert mine([(text, None)]).counts()["lightness +1"] == 1
    readings[digest(text)] = Meaning((Intent(Attribute.LIGHTNESS, -1),))
    assert mine([(text, None)]).counts()["lightness -1"] == 1
    assert judged("Make it brighter.") == readings[digest(text)]


def test_what_is_unclear_to_a_reader_is_left_out(readings: dict[str, Meaning]) -> None:
    readings[digest("make it brighter")] = Meaning()
    assert not any(mine([("make it brighter", None)]).counts().values())


def test_what_is_held_back_is_not_mined(readings: dict[str, Meaning]) -> None:
    texts = [f"make it brighter {number}" for number in range(40)]
    readings.update({digest(text): Meaning((Intent(Attribute.LIGHTNESS, 1),)) for text in texts})
    kept = [text for text in texts if held_back(text)]
    assert 0 < len(kept) < len(texts)
    assert mine([(text, None) for text in texts]).counts()["lightness +1"] == len(texts) - len(kept)


@pytest.mark.needs_data
def test_they_are_those_of_the_train_splits() -> None:
    files = {"ma5k-req/annotations/train_sess_1.json": ("request",)}
    files["gier/splits/train_sess_3.json"] = ("request", "expert_summary", "amateur_summary")
    if not DATA.exists():
        pytest.skip(f"{DATA} is not there")
    said = {digest(plain(text)) for name, keys in files.items() for text in _texts(DATA / name, keys)}
    assert judgements().keys() <= said


def _texts(path: Path, keys: tuple[str, ...]) -> list[str]:
    entries = json.loads(path.read_text())
    values = [entry.get(key) or [] for entry in entries for key in keys]
    return [text for value in values for text in ([value] if isinstance(value, str) else value)]

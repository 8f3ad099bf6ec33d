"""The words that are given as reasons, compared with those that people marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.reasons import compare_request, main, read_marked, summarize
from t2onet.data.marks import digest, read_requests
from t2onet.language.reader import Reader, Reading, load_reader
from t2onet.language.wishes import Direction, Wish

TEXT = "Please brighten it a lot and add warmth"
MARKS = "lightness + much @1,4 ; warmth + @7,6"


class FixedReader(Reader):
    """Reads the same wishes in every request."""

    def __init__(self, *wishes: Wish) -> None:
        self._wishes = wishes

    def read(self, request: str) -> Reading:
        return Reading(request, self._wishes)


def lighter(*words: str) -> Wish:
    return Wish("lightness", Direction.UP, words=words)


def warmer(*words: str) -> Wish:
    return Wish("warmth", Direction.UP, words=words)


def test_words_as_marked_are_right() -> None:
    results = [*compare_request(TEXT, MARKS, FixedReader(lighter("brighten"), warmer("add", "warmth")))]
    assert [(one.has_head, one.is_clean) for one in results] == [(True, True), (True, True)]


def test_a_missing_head_and_a_word_of_another_wish_are_found() -> None:
    results = [*compare_request(TEXT, MARKS, FixedReader(lighter("lot"), warmer("brighten", "warmth")))]
    assert [(one.has_head, one.is_clean) for one in results] == [(False, True), (True, False)]
    assert "50.0%" in summarize(results)


def test_a_wish_that_was_not_read_has_no_words() -> None:
    _, warmth = compare_request(TEXT, MARKS, FixedReader(lighter("brighten")))
    assert warmth.named == ()
    assert not warmth.has_head


def test_requests_are_found_by_digest(tmp_path: Path) -> None:
    folder = tmp_path / "ma5k-req" / "annotations"
    folder.mkdir(parents=True)
    rows = [{"request": TEXT}, {"request": [TEXT.upper(), "Warmer."]}, {"other": "x"}]
    (folder / "val_sess_1.json").write_text(json.dumps(rows), encoding="utf-8")
    assert read_requests(tmp_path, "val") == {digest(TEXT): TEXT, digest("warmer"): "Warmer."}
    assert read_requests(tmp_path, "train") == {}


def test_marks_can_be_read() -> None:
    marks = read_marked()
    assert len(marks) >= 200


def test_a_folder_without_the_requests_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    assert "has no request that was marked" in capsys.readouterr().err


def test_the_reader_in_the_package_names_the_words() -> None:
    results = [*compare_request(TEXT, MARKS, load_reader())]
    assert all(one.has_head and one.is_clean for one in results)

"""The list of sentences about parts of a photo, and how its answers are measured."""

from __future__ import annotations

import numpy as np
import pytest

from bench.local_words import LocalPhoto, check_entry, find_outside, measure, parse_check, read_entries
from t2onet.errors import DataError
from t2onet.metrics.regions import View
from tests.conftest import EXAMPLES


def test_the_list_has_120_sentences_on_30_photos() -> None:
    entries = read_entries()
    assert len({entry.say for entry in entries}) == len(entries) == 120
    photos = {photo for entry in entries for photo in entry.photos}
    assert len(photos) == 30
    examples = {path.stem for path in EXAMPLES.glob("*.jpg")}
    assert all(photo.isdigit() or photo in examples for photo in photos)


def test_checks_are_parsed() -> None:
    assert parse_check("not sky: L-")[1:] == ("not sky", "L", -1)
    assert parse_check("sky: +blue")[1:] == ("sky", "blue", 1)
    with pytest.raises(
        DataError, match=r"^a check is 'place: L\+' or 'place: \+blue', and one is 'sky: \+sky'$"
    ):
        parse_check("sky: +sky")


def test_changes_are_counted_in_just_noticeable_amounts() -> None:
    grey = np.full((3, 4, 4), 0.5)
    lighter = grey.copy()
    lighter[:, :2] += 0.02
    chosen = np.zeros((4, 4), bool)
    chosen[:2] = True
    rise = View(lighter).lab[0][0, 0] - View(grey).lab[0][0, 0]
    assert measure(View(grey), View(lighter), chosen, "L") == pytest.approx(rise / 0.5)
    assert measure(View(grey), View(lighter), ~chosen, "L") == 0


def test_a_margin_around_a_place_is_not_outside() -> None:
    levels = np.zeros((100, 100), np.uint8)
    levels[:50] = 255
    outside = find_outside([levels])
    assert not outside[:53].any()
    assert outside[54:].all()


def test_a_sentence_is_measured_on_an_example_photo() -> None:
    (entry,) = (entry for entry in read_entries() if entry.say == "darken the sky")
    result = check_entry(entry, LocalPhoto("meadow"))
    assert result.is_right
    assert result.is_spared

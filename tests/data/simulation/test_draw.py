"""Drawn samples: even classes, labels that the pictures bear out, and the same again from the same seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from t2onet.data.simulation.draw import draw, draw_batch
from t2onet.data.simulation.moods import FAULTS, MOODS
from t2onet.data.simulation.wish import COLOUR, ChangeKind, DrawnWish, Flavour
from t2onet.data.simulation.wishes import (
    AMOUNTS,
    CHANGES,
    CLASSES,
    FAULTY,
    FLAVOURS,
    KINDS,
    Class,
    classes_of,
)
from t2onet.metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, check_followed, measure_changes
from tests.data.simulation.helpers import photos

SHARES = [FLAVOURS, CHANGES, AMOUNTS, FAULTY, *KINDS.values()]


def batch(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[DrawnWish]]:
    images = photos()[np.arange(count) % len(photos())]
    return draw_batch(images, np.random.default_rng(seed))


BEFORE, AFTER, WISHES = batch(300)


def test_shares_are_shares() -> None:
    assert [sum(shares.values()) for shares in SHARES] == pytest.approx([1.0] * len(SHARES))


def test_pictures_bear_out_the_labels_even_in_eight_bits() -> None:
    stored = [np.round(pictures * 255) / 255 for pictures in (BEFORE, AFTER)]
    seen = [
        shown
        for wish, change in zip(WISHES, measure_changes(*stored), strict=True)
        for shown in check_followed(change, wish.intents)
    ]
    assert len(seen) > 300
    assert np.mean(seen) >= 0.99


def test_attributes_and_signs_come_up_evenly() -> None:
    counts = Counter(found for wish in WISHES for found in classes_of(wish.intents))
    assert set(counts) == set(CLASSES)
    assert max(counts.values()) <= 1.25 * min(counts.values())


@pytest.mark.slow
def test_a_tally_keeps_single_draws_even() -> None:
    rng, tally = np.random.default_rng(1), Counter[Class]()
    for number in range(60):
        draw(photos(32)[number % len(photos())], rng, tally)
    assert max(tally[found] for found in CLASSES) - min(tally[found] for found in CLASSES) <= 3


def test_flavours_have_their_shares() -> None:
    counts = Counter(wish.flavour for wish in WISHES)
    for flavour, share in FLAVOURS.items():
        assert counts[flavour] == pytest.approx(share * len(WISHES), abs=25)


def test_an_unanswerable_wish_changes_nothing_and_says_what_it_is_about() -> None:
    for before, after, wish in zip(BEFORE, AFTER, WISHES, strict=True):
        if wish.flavour is Flavour.UNANSWERABLE:
            assert wish.matter
            assert wish.intents == ()
            np.testing.assert_array_equal(before, after)
        else:
            assert not wish.matter
            assert wish.changes


def test_a_defect_is_in_the_before_and_the_after_is_the_photo() -> None:
    for number, (after, wish) in enumerate(zip(AFTER, WISHES, strict=True)):
        original = photos()[number % len(photos())]
        if wish.flavour is Flavour.DEFECT:
            np.testing.assert_array_equal(after, original)
            assert all(change.kind is not ChangeKind.MONOCHROME for change in wish.changes)
        if wish.flavour is Flavour.ASK:
            np.testing.assert_array_equal(BEFORE[number], original)


def test_vague_wishes_name_a_mood() -> None:
    moods = {wish.mood for wish in WISHES if wish.flavour is Flavour.VAGUE}
    assert len(moods) > 8
    assert moods <= {*MOODS, *FAULTS}
    assert all(not wish.mood for wish in WISHES if wish.flavour is not Flavour.VAGUE)


def test_what_must_stay_did() -> None:
    found = measure_changes(BEFORE, AFTER)
    stayed = [(a, row) for row, wish in zip(found, WISHES, strict=True) for a in wish.untouched]
    assert len(stayed) > 10
    assert all(abs(row[ATTRIBUTE_INDEX[a]]) < 1.5 * JUST_NOTICEABLE[ATTRIBUTE_INDEX[a]] for a, row in stayed)
    assert any(wish.untouched == COLOUR for wish in WISHES)


def test_all_kinds_and_figures_come_up() -> None:
    asked = [change for wish in WISHES for change in wish.changes]
    assert {change.kind for change in asked} == set(ChangeKind)
    units = {change.spoken[1] for change in asked if change.spoken}
    assert units == {"stops", "percent"}
    assert all(0.2 < change.amount <= 3.2 for change in asked)


def test_the_same_seed_draws_the_same() -> None:
    first, second = batch(20, seed=7), batch(20, seed=7)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert first[2] == second[2]
    assert first[2] != batch(20, seed=8)[2]


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_photo_that_shows_nothing_gets_a_wish_that_changes_nothing(level: float) -> None:
    flat = np.full((40, 3, 16, 16), level, np.float32)
    before, after, wishes = draw_batch(flat, np.random.default_rng(0))
    for wish, change in zip(wishes, measure_changes(before, after), strict=True):
        assert all(check_followed(change, wish.intents))
        assert bool(wish.changes) != (wish.flavour is Flavour.UNANSWERABLE)


@pytest.mark.slow
def test_torch_draws_where_the_photos_lie() -> None:
    torch = pytest.importorskip("torch")
    images = photos(32).astype(np.float64)
    ours = draw_batch(images, np.random.default_rng(5))
    theirs = draw_batch(torch.tensor(images), np.random.default_rng(5))
    assert isinstance(theirs[0], torch.Tensor)
    np.testing.assert_allclose(theirs[0].numpy(), ours[0], atol=1e-6)
    np.testing.assert_allclose(theirs[1].numpy(), ours[1], atol=1e-6)
    assert theirs[2] == ours[2]

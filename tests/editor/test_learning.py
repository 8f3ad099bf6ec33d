"""Styles are learned from pairs: what is recovered, what is doubted, and how a run goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet import DataError, OutputError, Recipe
from t2onet.editor import learning
from t2onet.editor.learning import (
    FEW_PAIRS,
    MAX_PAIRS,
    MIN_PAIRS,
    PairFiles,
    PairSample,
    fit_style,
    learn_style,
    measure_pair,
    sample_pair,
)
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.editor.styles import apply_change
from t2onet.planning.pictures import open_photo_pair
from tests.planning.scenes import scene

SIDE = 128


def make_sample(seed: int, power: float, *, at: float = 0.0) -> PairSample:
    """Random pixels after a gamma curve, of a photo at a point on a line."""
    before = np.random.default_rng(seed).integers(20, 235, (256, 3)).astype(np.uint8)
    after = np.uint8(255 * (before / 255) ** power + 0.5)
    return PairSample(np.array([at, 0.0, 0.0], np.float32), before, after)


def test_one_look_is_recovered_from_a_few_pairs() -> None:
    style, held_out = fit_style([make_sample(seed, 0.7, at=0.1 * seed) for seed in range(FEW_PAIRS)])
    assert held_out.none > 0.08
    assert held_out.style < 0.005
    assert not held_out.is_contradictory
    assert not held_out.is_arbitrary
    new = make_sample(99, 0.7, at=50)
    picture = np.ascontiguousarray(new.before.T[:, None].astype(np.float32) / 255)
    after = apply_change(picture, style.predict(new.point))
    assert np.abs(after - new.after.T[:, None] / 255).mean() < 0.005


def test_a_look_that_depends_on_the_photo_is_told_from_one_mean_look() -> None:
    places = np.linspace(0, 4, 40)
    pairs = [make_sample(n, 0.6 if at > 2 else 1.6, at=at) for n, at in enumerate(places)]
    style, held_out = fit_style(pairs)
    assert held_out.style < 0.3 * held_out.mean
    dark, bright = (style.predict(np.array([at, 0, 0]))[4, 0] for at in (0.5, 3.5))
    assert dark < -0.05 < 0.05 < bright


def test_pairs_that_contradict_each_other_are_doubted() -> None:
    rng = np.random.default_rng(0)
    powers = np.exp(rng.normal(0, 0.6, 40))
    _, held_out = fit_style([make_sample(n, power, at=rng.normal()) for n, power in enumerate(powers)])
    assert held_out.is_contradictory


def test_what_photos_do_not_explain_is_shrunk_to_the_mean_look() -> None:
    rng = np.random.default_rng(0)
    powers = 0.6 * np.exp(rng.normal(0, 0.4, 40))
    style, held_out = fit_style([make_sample(n, power, at=rng.normal()) for n, power in enumerate(powers)])
    assert held_out.is_arbitrary
    assert not held_out.is_contradictory
    far = style.predict(np.array([0.0, 0, 0])) - style.mean
    assert np.abs(far).max() < 0.5 * np.abs(style.mean).max()


def test_edits_that_leave_photos_alone_are_a_style_too() -> None:
    style, held_out = fit_style([make_sample(seed, 1.0) for seed in range(MIN_PAIRS)])
    assert held_out.none == 0
    assert np.abs(style.mean).max() < 1e-6


# ---- pairs of files


@pytest.fixture
def pairs(tmp_path: Path) -> list[PairFiles]:
    """Six pairs, each after the same recipe."""
    hidden = Recipe.from_steps([("exposure", 0.4), ("white_balance", (15, 0)), ("vibrance", 30)])
    found = []
    for number in range(MIN_PAIRS + 1):
        before = scene(SIDE, number)
        files = PairFiles(f"{number}", tmp_path / f"{number}.png", tmp_path / f"{number}-edited.png")
        for path, picture in ((files.before, before), (files.after, apply_to_thumbnail(hidden, before))):
            PIL.Image.fromarray(np.uint8(255 * picture.transpose(1, 2, 0) + 0.5)).save(path)
        found.append(files)
    return found


@pytest.mark.slow
def test_a_hidden_recipe_is_recovered(pairs: list[PairFiles]) -> None:
    learned = learn_style(pairs[:-1], jobs=1)
    assert learned.held_out.style < 0.02
    assert learned.style.pairs == MIN_PAIRS
    sample = measure_pair(pairs[-1])
    change = learned.style.predict(sample.point)
    after = apply_change(sample.before.T[:, None] / np.float32(255), change)
    assert np.abs(after - sample.after.T[:, None] / 255).mean() < 0.02


def test_pairs_that_cannot_be_used_are_left_out_by_name(pairs: list[PairFiles], tmp_path: Path) -> None:
    (tmp_path / "junk.jpg").write_bytes(b"junk")
    junk = PairFiles("junk", tmp_path / "junk.jpg", tmp_path / "junk.jpg")
    absent = PairFiles("absent", tmp_path / "absent.jpg", tmp_path / "absent.jpg")
    other = PairFiles("other", pairs[0].before, tmp_path / "other.png")
    noise = np.random.default_rng(0).integers(0, 255, (SIDE, SIDE, 3)).astype(np.uint8)
    PIL.Image.fromarray(noise).save(other.after)
    cropped = PairFiles("cropped", pairs[0].before, tmp_path / "cropped.png")
    PIL.Image.open(pairs[0].after).crop((0, 0, SIDE, SIDE // 2)).save(cropped.after)
    learned = learn_style([junk, absent, other, cropped, *pairs], jobs=1)
    assert learned.style.pairs == len(pairs)
    assert list(learned.left_out) == ["junk", "absent", "other", "cropped"]
    assert "does not look like a photo" in learned.left_out["junk"]
    assert learned.left_out["absent"] == f"{absent.before} cannot be read (No such file or directory)"
    assert "do not show the same scene" in learned.left_out["other"]
    assert "one is cropped or rotated" in learned.left_out["cropped"]


def test_too_few_and_too_many_pairs_are_refused(pairs: list[PairFiles], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"at least {MIN_PAIRS} pairs, and 4 of 4 can be used; give more"):
        learn_style(pairs[:4], jobs=1)
    (tmp_path / "junk.jpg").write_bytes(b"junk")
    junk = [PairFiles("junk", tmp_path / "junk.jpg", tmp_path / "junk.jpg")] * 9
    with pytest.raises(DataError, match=r"0 of 9 can be used \(.*does not look like a photo"):
        learn_style(junk, jobs=1)
    with pytest.raises(DataError, match=f"more than {MAX_PAIRS}; give fewer"):
        learn_style(junk[:1] * (MAX_PAIRS + 1))


# ---- the journal


def count_measured(pairs: list[PairFiles], journal: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pairs that a run measures, the others being in the journal."""
    measured: list[str] = []

    def measure(pair: PairFiles) -> PairSample:
        measured.append(pair.name)
        return measure_pair(pair)

    with monkeypatch.context() as patch:
        patch.setattr(learning, "measure_pair", measure)
        learn_style(pairs, journal=journal, jobs=1)
    return measured


def test_a_run_that_was_killed_goes_on(
    pairs: list[PairFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, names = tmp_path / "journal", [pair.name for pair in pairs]
    assert count_measured(pairs, journal, monkeypatch) == names
    assert count_measured(pairs, journal, monkeypatch) == []
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-10])  # killed while it wrote the last record
    assert count_measured(pairs, journal, monkeypatch) == names[-1:]
    assert journal.read_bytes() == whole
    at = len(learning._JOURNAL_HEADER)
    journal.write_bytes(whole[:at] + b"?" + whole[at + 1 :])  # damaged: what follows is measured again
    assert count_measured(pairs, journal, monkeypatch) == names
    journal.write_bytes(whole[:5])  # killed while it wrote the header
    assert count_measured(pairs, journal, monkeypatch) == names
    assert len(journal.read_bytes()) == len(whole)
    PIL.Image.open(pairs[2].after).rotate(0).save(pairs[2].after, compress_level=1)  # another file by now
    assert count_measured(pairs, journal, monkeypatch) == names[2:3]


@pytest.mark.parametrize("text", [b"mine", bytes(10_000)])
def test_a_file_that_is_not_a_journal_is_left_alone(
    pairs: list[PairFiles], tmp_path: Path, text: bytes
) -> None:
    mine = tmp_path / "trip.journal"
    mine.write_bytes(text)
    with pytest.raises(OutputError, match="is not a journal of t2o learn; move it away"):
        learn_style(pairs, journal=mine, jobs=1)
    assert mine.read_bytes() == text


def test_a_record_of_which_a_part_was_written_ends_the_run(
    pairs: list[PairFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, journal = learning.os.write, tmp_path / "journal"

    def write_a_part(file: int, data: bytes) -> int:
        return write(file, data[:1000])

    monkeypatch.setattr(learning.os, "write", write_a_part)
    with pytest.raises(OutputError, match="cannot be written: the disk is full"):
        learn_style(pairs, journal=journal, jobs=1)
    monkeypatch.undo()
    assert count_measured(pairs, journal, monkeypatch) == [pair.name for pair in pairs]


def test_what_the_system_failed_to_read_is_told_from_what_is_no_photo(
    pairs: list[PairFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "junk.jpg").write_bytes(b"junk")
    junk = PairFiles("junk", tmp_path / "junk.jpg", tmp_path / "junk.jpg")
    assert not learn_style([junk, *pairs], jobs=1).may_be_readable_later
    absent = PairFiles("absent", tmp_path / "absent.jpg", tmp_path / "absent.jpg")
    assert learn_style([absent, *pairs], jobs=1).may_be_readable_later

    def fail(pair: PairFiles) -> PairSample:
        if pair.name == "junk":
            open_photo_pair(absent.before, absent.after)  # gone after it was listed
        return measure_pair(pair)

    monkeypatch.setattr(learning, "measure_pair", fail)
    assert learn_style([junk, *pairs], jobs=1).may_be_readable_later


def test_known_samples_give_the_same_style(pairs: list[PairFiles], tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    first, again = (learn_style(pairs, journal=journal, jobs=jobs) for jobs in (2, 1))
    np.testing.assert_array_equal(first.style.mean, again.style.mean)
    assert first.held_out == again.held_out


def test_a_sample_is_small_and_holds_the_pixels_of_both(pairs: list[PairFiles]) -> None:
    before, after = scene(SIDE, 0), scene(SIDE, 0) ** 0.5
    sample = sample_pair(before, after)
    assert sample.before.shape == sample.after.shape == (1024, 3)
    np.testing.assert_allclose((sample.before / 255) ** 0.5, sample.after / 255, atol=0.01)

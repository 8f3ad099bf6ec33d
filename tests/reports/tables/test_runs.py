"""Runs behind rows: trained once, gone on with after a stop, and left alone when they are done."""

from __future__ import annotations

import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
import torch

from t2onet.data.run_records import BEST, CHECKPOINT, RECORD
from t2onet.errors import DataError, TrainingError
from t2onet.models.files import read_tensors, write_tensors
from t2onet.reports.tables import Plans, Row
from t2onet.reports.tables.runs import Place, facts_of, finished, sources_of, trained, weights_in
from tests.training.made import packed_folder

from .made import AFTER, T2ONET, TINY


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "runs", packed_folder(tmp_path), cpu=True, stream=StringIO())


def told(place: Place) -> str:
    assert isinstance(place.stream, StringIO)
    return place.stream.getvalue()


@pytest.mark.slow
def test_what_is_absent_is_trained_and_then_left_alone(place: Place) -> None:
    said: list[str] = []
    trained(TINY.runs(), place, said.append)
    assert said == ["training pix2pixaug, 1 of 3", "training paper, 2 of 3", "training rl-pretrained, 3 of 3"]
    assert told(place).count("ended by iterations after iteration 4") == 3
    assert all(finished(place.runs / run.name) for run in TINY.runs())
    trained(TINY.runs(), place, said.append)
    assert len(said) == 3


def test_a_run_that_was_stopped_goes_on(place: Place) -> None:
    trained([T2ONET], replace(place, minutes=0), str)
    assert (weights_in(place.runs / "paper"), finished(place.runs / "paper")) == (None, False)
    long = replace(T2ONET, settings=(*T2ONET.settings, "iterations=100000", "validate_every=2"))
    trained([long], replace(place, minutes=0.01), str)
    assert weights_in(place.runs / "paper") is not None
    assert not finished(place.runs / "paper")
    trained([long], replace(place, minutes=0.001), str)
    assert "resuming after iteration" in told(place)


def test_a_stopped_run_without_its_checkpoint_is_not_finished(place: Place) -> None:
    """It cannot go on, and is not started again over its weights without a word."""
    long = replace(T2ONET, settings=(*T2ONET.settings, "iterations=100000", "validate_every=1"))
    trained([long], replace(place, minutes=0.005), str)
    folder = place.runs / "paper"
    before = facts_of(Row("T2ONet", long), place.runs)
    (folder / CHECKPOINT).unlink()
    assert not finished(folder)
    facts = facts_of(Row("T2ONet", long), place.runs)
    assert facts == before
    assert facts["finished"] is False
    done, _, asked = facts["iterations"].partition(" of ")
    assert 0 < int(done) < int(asked) == 100000
    weights = (folder / BEST).read_bytes()
    with pytest.raises(TrainingError, match=r"stopped after \d+ of 100000 iterations .* no checkpoint"):
        trained([long], place, pytest.fail)
    assert (folder / BEST).read_bytes() == weights


def test_weights_alone_do_not_say_that_their_run_was_finished(place: Place) -> None:
    """The best weights may be of an iteration long before the last one."""
    trained([T2ONET], place, str)
    folder = place.runs / "paper"
    for name in (CHECKPOINT, RECORD):
        (folder / name).unlink()
    assert facts_of(Row("T2ONet", T2ONET), place.runs)["finished"] is True
    tensors, metadata = read_tensors(folder / BEST)
    write_tensors(folder / BEST, tensors, {**metadata, "iteration": "2"})
    facts = facts_of(Row("T2ONet", T2ONET), place.runs)
    assert (facts["iterations"], facts["finished"]) == ("at least 2 of 4", None)
    with pytest.raises(TrainingError, match="stopped after at least 2 of 4 iterations"):
        trained([T2ONET], place, pytest.fail)


def test_patience_is_an_end(place: Place) -> None:
    settings = (*T2ONET.settings, "iterations=100000", "validate_every=1", "patience=1", "learning_rate=0")
    trained([replace(T2ONET, settings=settings)], place, str)
    assert "ended by patience" in told(place)
    assert finished(place.runs / "paper")
    (place.runs / "paper" / CHECKPOINT).unlink()
    assert finished(place.runs / "paper")


def test_weights_that_were_brought_are_done(place: Place) -> None:
    trained([T2ONET], place, str)
    assert facts_of(Row("T2ONet", T2ONET), place.runs)["trained with"]["seed"] == 0
    (place.runs / "paper" / CHECKPOINT).unlink()
    trained([T2ONET], place, pytest.fail)
    facts = facts_of(Row("T2ONet", T2ONET), place.runs)
    assert (facts["iteration"], facts["finished"], facts["plans"]) == (4, True, "of the data")
    assert facts["held-out figures"]["l1"] > 0
    assert len(facts["weights"]) == 12


def test_a_run_without_weights_is_trained_again(place: Place) -> None:
    trained([T2ONET], place, str)
    for name in (CHECKPOINT, BEST):
        (place.runs / "paper" / name).unlink()
    said: list[str] = []
    trained([T2ONET], place, said.append)
    assert said == ["training paper, 1 of 1"]
    assert finished(place.runs / "paper")


def test_repetitions_are_found_beside_a_run(tmp_path: Path) -> None:
    for name in ("paper-seed-10", "paper-seed-2", "paper-seed-x", "paper", "paper-beam-seed-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / BEST).touch()
    (tmp_path / "paper-seed-1.zip").touch()
    (tmp_path / "paper-seed-3").mkdir()
    assert list(sources_of(T2ONET, tmp_path)) == ["paper", "paper-seed-1", "paper-seed-2", "paper-seed-10"]


def test_without_a_packed_set_nothing_is_trained(tmp_path: Path) -> None:
    trained(TINY.runs(), Place(tmp_path / "runs"), pytest.fail)
    assert not (tmp_path / "runs").exists()
    assert "weights" not in facts_of(Row("T2ONet", T2ONET), tmp_path / "runs")


def test_plans_of_their_own_lie_beside_the_data(place: Place) -> None:
    assert place.data is not None
    run = replace(T2ONET, name="other", plans=Plans("beam", way="beam"))
    with pytest.raises(
        DataError, match=r"other learns from .*packed-beam, .* t2o data plan .*--way beam && "
    ):
        trained([AFTER, run], place, pytest.fail)
    shutil.copytree(place.data, place.data.with_name("packed-beam"))
    trained([run], place, str)
    assert (place.runs / "other" / BEST).is_file()

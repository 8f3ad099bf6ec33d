"""Runs behind rows: trained once, gone on with after a stop, and left alone when they are done."""

from __future__ import annotations

import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
import torch

from t2onet.data.records import BEST_WEIGHTS_FILE, CHECKPOINT_FILE, RUN_RECORD_FILE
from t2onet.errors import DataError, TrainingError
from t2onet.evaluation.paper_tables import PaperPlans, PaperRow
from t2onet.evaluation.runs import (
    PaperRunOptions,
    build_packing_commands,
    describe_row,
    find_run_files,
    find_weights,
    is_finished,
    repeat_runs,
    train_missing_runs,
)
from t2onet.models.files import read_tensors, write_tensors
from tests.evaluation.paper_helpers import AFTER, T2ONET, TINY
from tests.training.helpers import make_packed_folder


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def place(tmp_path: Path) -> PaperRunOptions:
    return PaperRunOptions(tmp_path / "runs", make_packed_folder(tmp_path), cpu=True, stream=StringIO())


def read_output(place: PaperRunOptions) -> str:
    assert isinstance(place.stream, StringIO)
    return place.stream.getvalue()


@pytest.mark.slow
def test_what_is_absent_is_trained_and_then_left_alone(place: PaperRunOptions) -> None:
    said: list[str] = []
    train_missing_runs(TINY.list_runs(), place, said.append)
    assert said == ["training pix2pixaug, 1 of 3", "training paper, 2 of 3", "training rl-pretrained, 3 of 3"]
    assert read_output(place).count("ended by iterations after iteration 4") == 3
    assert all(is_finished(place.runs / run.name) for run in TINY.list_runs())
    train_missing_runs(TINY.list_runs(), place, said.append)
    assert len(said) == 3


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on(place: PaperRunOptions) -> None:
    train_missing_runs([T2ONET], replace(place, minutes=0), str)
    assert (find_weights(place.runs / "paper"), is_finished(place.runs / "paper")) == (None, False)
    long = replace(T2ONET, settings=(*T2ONET.settings, "iterations=100000", "validate_every=2"))
    train_missing_runs([long], replace(place, minutes=0.01), str)
    assert find_weights(place.runs / "paper") is not None
    assert not is_finished(place.runs / "paper")
    train_missing_runs([long], replace(place, minutes=0.001), str)
    assert "resuming after iteration" in read_output(place)


@pytest.mark.slow
def test_a_stopped_run_without_its_checkpoint_is_not_finished(place: PaperRunOptions) -> None:
    """It cannot go on, and is not started again over its weights without a word."""
    long = replace(T2ONET, settings=(*T2ONET.settings, "iterations=100000", "validate_every=1"))
    train_missing_runs([long], replace(place, minutes=0.005), str)
    folder = place.runs / "paper"
    before = describe_row(PaperRow("T2ONet", long), place.runs)
    (folder / CHECKPOINT_FILE).unlink()
    assert not is_finished(folder)
    facts = describe_row(PaperRow("T2ONet", long), place.runs)
    assert facts == before
    assert facts["finished"] is False
    done, _, asked = facts["iterations"].partition(" of ")
    assert 0 < int(done) < int(asked) == 100000
    weights = (folder / BEST_WEIGHTS_FILE).read_bytes()
    with pytest.raises(TrainingError, match=r"stopped after \d+ of 100000 iterations .* no checkpoint"):
        train_missing_runs([long], place, pytest.fail)
    assert (folder / BEST_WEIGHTS_FILE).read_bytes() == weights


@pytest.mark.slow
def test_weights_alone_do_not_say_that_their_run_was_finished(place: PaperRunOptions) -> None:
    """The best weights may be of an iteration long before the last one."""
    train_missing_runs([T2ONET], place, str)
    folder = place.runs / "paper"
    for name in (CHECKPOINT_FILE, RUN_RECORD_FILE):
        (folder / name).unlink()
    assert describe_row(PaperRow("T2ONet", T2ONET), place.runs)["finished"] is True
    tensors, metadata = read_tensors(folder / BEST_WEIGHTS_FILE)
    write_tensors(folder / BEST_WEIGHTS_FILE, tensors, {**metadata, "iteration": "2"})
    facts = describe_row(PaperRow("T2ONet", T2ONET), place.runs)
    assert (facts["iterations"], facts["finished"]) == ("at least 2 of 4", None)
    with pytest.raises(TrainingError, match="stopped after at least 2 of 4 iterations"):
        train_missing_runs([T2ONET], place, pytest.fail)


@pytest.mark.slow
def test_patience_is_an_end(place: PaperRunOptions) -> None:
    settings = (*T2ONET.settings, "iterations=100000", "validate_every=1", "patience=1", "learning_rate=0")
    train_missing_runs([replace(T2ONET, settings=settings)], place, str)
    assert "ended by patience" in read_output(place)
    assert is_finished(place.runs / "paper")
    (place.runs / "paper" / CHECKPOINT_FILE).unlink()
    assert is_finished(place.runs / "paper")


@pytest.mark.slow
def test_weights_that_were_brought_are_done(place: PaperRunOptions) -> None:
    train_missing_runs([T2ONET], place, str)
    assert describe_row(PaperRow("T2ONet", T2ONET), place.runs)["trained with"]["seed"] == 0
    (place.runs / "paper" / CHECKPOINT_FILE).unlink()
    train_missing_runs([T2ONET], place, pytest.fail)
    facts = describe_row(PaperRow("T2ONet", T2ONET), place.runs)
    assert (facts["iteration"], facts["finished"], facts["plans"]) == (4, True, "of the data")
    assert facts["held-out figures"]["l1"] > 0
    assert len(facts["weights"]) == 12


@pytest.mark.slow
def test_a_run_without_weights_is_trained_again(place: PaperRunOptions) -> None:
    train_missing_runs([T2ONET], place, str)
    for name in (CHECKPOINT_FILE, BEST_WEIGHTS_FILE):
        (place.runs / "paper" / name).unlink()
    said: list[str] = []
    train_missing_runs([T2ONET], place, said.append)
    assert said == ["training paper, 1 of 1"]
    assert is_finished(place.runs / "paper")


def test_repetitions_are_found_beside_a_run(tmp_path: Path) -> None:
    for name in ("paper-seed-10", "paper-seed-2", "paper-seed-x", "paper", "paper-beam-seed-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / BEST_WEIGHTS_FILE).touch()
    (tmp_path / "paper-seed-1.zip").touch()
    (tmp_path / "paper-seed-3").mkdir()
    assert list(find_run_files(T2ONET, tmp_path)) == [
        "paper",
        "paper-seed-1",
        "paper-seed-2",
        "paper-seed-10",
    ]


def test_without_a_packed_set_nothing_is_trained(tmp_path: Path) -> None:
    train_missing_runs(TINY.list_runs(), PaperRunOptions(tmp_path / "runs"), pytest.fail)
    assert not (tmp_path / "runs").exists()
    assert "weights" not in describe_row(PaperRow("T2ONet", T2ONET), tmp_path / "runs")


def test_plans_of_their_own_lie_beside_the_data(place: PaperRunOptions) -> None:
    assert place.data is not None
    run = replace(T2ONET, name="other", plans=PaperPlans("beam", way="beam"))
    with pytest.raises(
        DataError,
        match=r"(?s)other learns from .*packed-beam, .*\nt2o data plan .*--way beam\nt2o data pack ",
    ):
        train_missing_runs([AFTER, run], place, pytest.fail)
    shutil.copytree(place.data, place.data.with_name("packed-beam"))
    train_missing_runs([run], place, str)
    assert (place.runs / "other" / BEST_WEIGHTS_FILE).is_file()


@pytest.mark.parametrize("setting", ["seed=7", " seed = 7"])
def test_one_seed_for_all_repetitions_is_refused(setting: str) -> None:
    """They would be equal runs, and their spread no measure of noise."""
    with pytest.raises(TrainingError, match=r"^--seeds 2 trains .* --set .*seed.* give one of the two$"):
        repeat_runs([T2ONET], 2, ["iterations=4", setting])
    assert repeat_runs([T2ONET], 1, [setting]) == [T2ONET]
    assert len(repeat_runs([T2ONET], 2, ["seeds=7"])) == 2


def test_repeated_runs_start_from_the_same_seed() -> None:
    _, repeated = repeat_runs([AFTER], 2)
    assert repeated.name == f"{AFTER.name}-seed-1"
    assert repeated.settings[-1] == "seed=1"
    assert repeated.starts_from is not None
    assert repeated.starts_from.name == "paper-seed-1"


def test_packing_commands_have_the_options_of_the_plans() -> None:
    plans = PaperPlans("few", ("tone", "color"), 2, "fixed")
    assert list(build_packing_commands(plans, Path("packed"))) == [
        "t2o data plan DATASET -o plans --split train --way fixed --operations tone,color --steps 2",
        "t2o data pack DATASET --split train --plans plans --plan-way fixed "
        "--plan-operations tone,color --plan-steps 2 --photos-of packed -o packed-few",
    ]

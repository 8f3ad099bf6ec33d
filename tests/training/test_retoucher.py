"""The shipped network as something to be trained."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from t2onet import TrainingError
from t2onet.data.packed import read_packed
from t2onet.data.records import BEST_WEIGHTS_FILE
from t2onet.models import load_network
from t2onet.training import train
from t2onet.training.loop import describe_settings_difference
from t2onet.training.retoucher import measure_expert_closeness
from t2onet.training.run import get_config
from t2onet.training.task import ProcessInfo, apply_assignments
from tests.training.helpers import make_packed_folder


@pytest.mark.slow
def test_training_ends_without_dropout_as_the_network_is_used(tmp_path: Path) -> None:
    config = get_config("default")
    settings = apply_assignments(
        config.settings, ["iterations=10", "batch=2", "no_dropout_share=0.2", "width=16", "channels=8,8"]
    )
    task = config.task(
        settings, read_packed(make_packed_folder(tmp_path)), None, ProcessInfo(torch.device("cpu"))
    )
    shares = []
    for iteration in (1, 8, 9):
        task.loss(iteration, torch.Generator())
        shares.append({part.p for part in task.network.modules() if isinstance(part, nn.Dropout)})
    assert shares == [{0.15, 0.4}, {0.15, 0.4}, {0.0}]


def test_a_run_may_go_on_with_more_workers() -> None:
    assert (
        describe_settings_difference(
            {"workers": 2, "loop": {"batch": 8}}, {"workers": 7, "loop": {"batch": 8}}
        )
        == ""
    )


@pytest.mark.slow
def test_parts_that_are_kept_stay_as_they_are(tmp_path: Path) -> None:
    data = make_packed_folder(tmp_path)
    small = ["iterations=2", "batch=2", "width=16", "channels=8,8"]
    for out, more in (("first", []), ("second", ["frozen=reading,verdict"])):
        start = None if out == "first" else tmp_path / "first" / BEST_WEIGHTS_FILE
        train(
            "default",
            data,
            tmp_path / out,
            assignments=[*small, *more],
            start=start,
            cpu=True,
            stream=io.StringIO(),
        )
    first, second = (
        load_network(tmp_path / out / BEST_WEIGHTS_FILE).network.state_dict() for out in ("first", "second")
    )
    moved = {name.partition(".")[0] for name, value in first.items() if not torch.equal(value, second[name])}
    assert {"whole", "heads"} < moved
    assert not {"reading", "verdict"} & moved


def test_pairs_without_requests_are_learned_from(tmp_path: Path) -> None:
    """In expert mode no request is needed."""
    config = get_config("default")
    settings = apply_assignments(
        config.settings, ["iterations=1", "batch=4", "real=0.5", "width=16", "channels=8,8"]
    )
    data = read_packed(make_packed_folder(tmp_path))
    silent = replace(data, samples=tuple(replace(sample, requests=()) for sample in data.samples))
    task = config.task(settings, silent, None, ProcessInfo(torch.device("cpu")))
    assert task.loss(1, torch.Generator())
    with torch.no_grad():
        assert measure_expert_closeness(task.network.eval(), silent, task.validation, task.photos)["l1"] > 0


def test_an_unknown_part_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="the network has no part 'eyes' to freeze; it has reading"):
        train(
            "default", make_packed_folder(tmp_path), tmp_path / "out", assignments=["frozen=eyes"], cpu=True
        )

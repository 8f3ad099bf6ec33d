"""The shipped network as something to be trained."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from t2onet.data.packed import read_packed
from t2onet.training.checkpoints import difference
from t2onet.training.configs import get
from t2onet.training.settings import changed
from t2onet.training.task import Place

from ..made import packed_folder


def test_training_ends_without_dropout_as_the_network_is_used(tmp_path: Path) -> None:
    config = get("default")
    settings = changed(config.settings, ["iterations=10", "batch=2", "dry=0.2", "width=16", "channels=8,8"])
    task = config.task(settings, read_packed(packed_folder(tmp_path)), None, Place(torch.device("cpu")))
    shares = []
    for iteration in (1, 8, 9):
        task.loss(iteration, torch.Generator())
        shares.append({part.p for part in task.network.modules() if isinstance(part, nn.Dropout)})
    assert shares == [{0.15, 0.4}, {0.15, 0.4}, {0.0}]


def test_a_run_may_go_on_with_more_workers() -> None:
    assert difference({"workers": 2, "loop": {"batch": 8}}, {"workers": 7, "loop": {"batch": 8}}) == ""

"""How long an iteration and an answer take, told as one line of JSON for each config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from t2onet.training import train
from t2onet.training.speed import ConfigTiming, main
from tests.training.made import SMALL, packed_folder


@pytest.mark.slow
def test_both_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = packed_folder(tmp_path)
    settings = [part for setting in (*SMALL, "iterations=2") for part in ("--set", setting)]
    train("paper", packed, tmp_path / "runs" / "paper", assignments=(*SMALL, "iterations=2"), cpu=True)
    capsys.readouterr()
    told = ["paper", "--data", str(packed), "--runs", str(tmp_path / "runs"), "--cpu", *settings]
    assert main(told) == 0
    found = ConfigTiming(**json.loads(capsys.readouterr().out))
    assert (found.config, found.batch) == ("paper", 4)
    assert found.device.startswith("CPU (")
    assert found.train is not None
    assert found.train > 0
    assert list(found.test) == ["128", "600"]
    assert min(found.test.values()) > 0


def test_what_is_not_given_is_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pix2pixaug", "--cpu"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["train"], found["test"]) == (None, {})
    assert main(["paper", "--data", "nowhere", "--cpu"]) == 2
    assert "nowhere is no packed set" in capsys.readouterr().err

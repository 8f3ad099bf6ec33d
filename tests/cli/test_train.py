"""`t2o train`: a packed set -> weights."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from t2onet.training import configs
from tests.cli.helpers import T2O
from tests.training.helpers import SMALL, make_packed_folder

SETTINGS = [part for setting in (*SMALL, "iterations=2") for part in ("--set", setting)]


@pytest.fixture
def packed_folder(folder: Path) -> Path:
    return make_packed_folder(folder)


@pytest.mark.slow
def test_it_trains_says_so_and_resumes(t2o: T2O, packed_folder: Path) -> None:
    answer = t2o("train", "paper", "--data", packed_folder, "-o", "out", "--cpu", *SETTINGS)
    assert answer.code == 0
    assert "2: l1 " in answer.out
    assert answer.out.endswith("ended by iterations after iteration 2 -> out\n")
    assert Path("out/best.safetensors").exists()
    answer = t2o("train", "paper", "--data", packed_folder, "-o", "out", "--cpu", "--resume", *SETTINGS)
    assert "resuming after iteration 2\n" in answer.out


def test_help_names_every_config(t2o: T2O) -> None:
    told = t2o("train", "--help").out
    listed = " ".join(told.replace("│", " ").split()).partition("What to train: ")[2].partition(".")[0]
    assert re.split(r", | or ", listed) == list(configs())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["papers", "--data", "packed", "-o", "out"],
            "t2o: there is no config 'papers'; did you mean 'paper'?\n",
        ),
        (["rl-pretrained", "--data", "packed"], "give them with --from FILE\n"),
        (
            ["rl", "--data", "packed", "--from", "w.safetensors"],
            "w.safetensors cannot be read as weights",
        ),
        (["paper", "--data", "nowhere"], "t2o: nowhere is no packed set"),
        (
            ["paper", "--data", "packed", "--set", "h=x"],
            "t2o: h must be a number, not 'x'\n",
        ),
        (
            ["paper", "--data", "packed", "--words", "w.npz"],
            "t2o: w.npz cannot be read as words",
        ),
    ],
)
def test_refusals(t2o: T2O, packed_folder: Path, arguments: list[str], said: str) -> None:
    answer = t2o("train", *arguments, "-o", "out", "--cpu")
    assert answer.code == 2
    assert said in answer.err


def test_what_is_missing_is_said(t2o: T2O, packed_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "t2onet.training", None)
    answer = t2o("train", "paper", "--data", packed_folder, "-o", "out")
    assert answer.code == 2
    assert "training needs torch, Accelerate and safetensors: pip install 't2onet[train]'" in answer.err

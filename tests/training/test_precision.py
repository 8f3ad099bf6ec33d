"""bfloat16 where the device computes in it; elsewhere float32, and the run says so."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from t2onet import TrainingError
from t2onet.models.answering import NO_BFLOAT16_MESSAGE, supports_bfloat16
from t2onet.training import train
from t2onet.training.run import adapt_precision, get_config, time_config
from t2onet.training.task import apply_assignments
from tests.conftest import PATIENCE, ROOT
from tests.training.helpers import SMALL, make_packed_folder

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def packed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_packed_folder(tmp_path_factory.mktemp("set"))


def run(packed_folder: Path, out: Path, *, resume: bool = False) -> tuple[str, str]:
    """What a run that asks for bfloat16 says, and the precision in its settings."""
    told = io.StringIO()
    changes = (*SMALL, "iterations=1", "precision=bfloat16")
    train("paper", packed_folder, out, assignments=changes, cpu=True, stream=told, resume=resume)
    with safe_open(out / "checkpoint.safetensors", "np") as file:
        settings = json.loads(file.metadata()["settings"])
    return told.getvalue(), settings["loop"]["precision"]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """On any machine, as on one that does not compute in bfloat16."""
    monkeypatch.setattr("t2onet.training.run.supports_bfloat16", lambda device: False)


def test_a_device_that_computes_in_bfloat16_trains_in_it(packed_folder: Path, tmp_path: Path) -> None:
    if not supports_bfloat16(CPU):
        pytest.skip("this CPU does not compute in bfloat16")
    told, precision = run(packed_folder, tmp_path / "out")
    assert (NO_BFLOAT16_MESSAGE in told, precision) == (False, "bfloat16")


@pytest.mark.usefixtures("without")
def test_another_trains_in_float32_and_says_so(packed_folder: Path, tmp_path: Path) -> None:
    told, precision = run(packed_folder, tmp_path / "out")
    assert (told.count(NO_BFLOAT16_MESSAGE), precision) == (1, "float32")
    assert NO_BFLOAT16_MESSAGE in run(packed_folder, tmp_path / "out", resume=True)[0]


@pytest.mark.usefixtures("without")
def test_a_pace_in_bfloat16_is_refused_where_it_would_be_another() -> None:
    with pytest.raises(TrainingError, match="does not compute in bfloat16; measure float32 here"):
        time_config("paper", None, None, settings=["precision=bfloat16"], cpu=True)


@pytest.mark.usefixtures("without")
def test_only_what_asks_for_bfloat16_changes() -> None:
    settings = apply_assignments(get_config("paper").settings, ["seed=3"])
    assert adapt_precision(settings, CPU) is settings
    wide, narrow = (apply_assignments(settings, [f"precision={name}"]) for name in ("float32", "bfloat16"))
    assert adapt_precision(narrow, CPU) == wide


@pytest.mark.parametrize("layer", ["LSTM", "Conv2d"])
def test_a_layer_that_cannot_be_computed_is_found_by_trying(
    layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("could not create a primitive descriptor for the LSTM forward propagation")

    supports_bfloat16.cache_clear()
    monkeypatch.setattr(getattr(torch.nn, layer), "forward", refuse)
    assert not supports_bfloat16(CPU)
    supports_bfloat16.cache_clear()


def test_trying_leaves_the_random_numbers_alone() -> None:
    supports_bfloat16.cache_clear()
    torch.manual_seed(1)
    supports_bfloat16(CPU)
    found = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(3), found)


@pytest.mark.slow
def test_a_cpu_without_wide_vectors_trains(packed_folder: Path, tmp_path: Path) -> None:
    """Emulated: oneDNN is told to use AVX2, in which it has no LSTM in bfloat16."""
    command = [
        sys.executable,
        "-m",
        "t2onet.training",
        "train",
        "paper",
        "--data",
        packed_folder,
        "--out",
        tmp_path / "out",
    ]
    changes = (*SMALL, "iterations=2", "precision=bfloat16")
    settings = [word for change in changes for word in ("--set", change)]
    env = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "--cpu", *settings], capture_output=True, text=True, env=env, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr

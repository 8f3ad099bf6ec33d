"""Registering is enrolling: every config trains for two iterations on a small set."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch

from t2onet import TrainingError
from t2onet.models import load_network
from t2onet.training import configs, register, train
from t2onet.training.configs import get

from .made import SMALL, packed_folder

ABLATIONS = ("image=false", "operation=false", "attention=false", "image_loss=none", "h=0.1")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed_folder(tmp_path_factory.mktemp("set"))


@pytest.mark.slow
@pytest.mark.parametrize("name", configs())
def test_every_config_trains_as_it_comes(name: str, packed: Path, tmp_path: Path) -> None:
    outcome = train(
        name,
        packed,
        tmp_path / "out",
        assignments=["iterations=2", "batch=2"],
        cpu=True,
        stream=io.StringIO(),
    )
    assert outcome.progress.iteration == 2
    assert load_network(tmp_path / "out" / "best.safetensors").metadata["iteration"] == "2"


@pytest.mark.parametrize("change", ABLATIONS)
def test_every_ablation_of_the_paper_trains(change: str, packed: Path, tmp_path: Path) -> None:
    given = (*SMALL, "iterations=2", change)
    train("paper", packed, tmp_path / "out", assignments=given, cpu=True, stream=io.StringIO())
    loaded = load_network(tmp_path / "out" / "best.safetensors")
    image, tokens = torch.rand(1, 3, 32, 32), torch.tensor([loaded.vocabulary.encode("make it brighter")])
    assert loaded.network.begin(tokens, tokens != 0, image).state.shape == (1, 128)


@pytest.mark.parametrize(
    ("ways", "operations", "steps"), [(1, "brightness", 1), (2, "brightness,saturation", 2)]
)
def test_sets_of_operations_and_fewer_steps_train(
    ways: int, operations: str, steps: int, tmp_path: Path
) -> None:
    """The paper's sets, single operations and maximum steps; plans are made with the same."""
    given = (*SMALL, "iterations=2", f"operations={operations}", f"max_steps={steps}")
    packed = packed_folder(tmp_path, ways=ways)
    outcome = train("paper", packed, tmp_path / "out", assignments=given, cpu=True, stream=io.StringIO())
    assert outcome.figures["steps"] <= steps
    network = load_network(tmp_path / "out" / "best.safetensors").network
    assert network.actions.names == tuple(operations.split(","))


def test_half_precision_files_load_too(packed: Path, tmp_path: Path) -> None:
    sizes = []
    for half in (False, True):
        out = tmp_path / str(half)
        train(
            "paper",
            packed,
            out,
            assignments=(*SMALL, "iterations=1"),
            half=half,
            cpu=True,
            stream=io.StringIO(),
        )
        sizes.append((out / "best.safetensors").stat().st_size)
        assert next(load_network(out / "best.safetensors").network.parameters()).dtype == torch.float32
    assert sizes[1] < 0.7 * sizes[0]


def test_bfloat16_trains(packed: Path, tmp_path: Path) -> None:
    given = (*SMALL, "iterations=4", "precision=bfloat16")
    outcome = train("paper", packed, tmp_path / "out", assignments=given, cpu=True, stream=io.StringIO())
    assert 0 < outcome.figures["l1"] < 1


def test_names_are_found_or_suggested_and_taken_once() -> None:
    with pytest.raises(TrainingError, match="there is no config 'papers'; did you mean 'paper'"):
        get("papers")
    with pytest.raises(ValueError, match="registered already"):
        register(get("paper"))

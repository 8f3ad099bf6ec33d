"""Registering is enrolling: every config trains for two iterations on a small set."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import torch

from t2onet import TrainingError
from t2onet.models.files import load_network
from t2onet.training import TrainingResult, WordVectors, configs, register_config, train, write_word_vectors
from t2onet.training.run import get_config
from tests.training.helpers import OPPONENT, SMALL, make_packed_folder

ABLATIONS = (
    *("image=false", "operation=false", "attention=false", "h=0.1"),
    *("image_loss=none", "image_loss=adversarial", "image_loss=both"),
)


@pytest.fixture(scope="module")
def packed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_packed_folder(tmp_path_factory.mktemp("set"))


def train_config(
    config: str, packed_folder: Path, out: Path, *changes: str, **options: Any
) -> TrainingResult:
    return train(config, packed_folder, out, assignments=changes, cpu=True, stream=io.StringIO(), **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", configs())
def test_every_config_trains_as_it_comes(name: str, packed_folder: Path, tmp_path: Path) -> None:
    start = None
    if get_config(name).needs_start:
        train_config("paper", packed_folder, tmp_path / "first", "iterations=1", "batch=2")
        start = tmp_path / "first" / "best.safetensors"
    outcome = train_config(name, packed_folder, tmp_path / "out", "iterations=2", "batch=2", start=start)
    assert outcome.progress.iteration == 2
    assert load_network(tmp_path / "out" / "best.safetensors").metadata["iteration"] == "2"


@pytest.mark.slow
@pytest.mark.parametrize("change", ABLATIONS)
def test_every_ablation_of_the_paper_trains(change: str, packed_folder: Path, tmp_path: Path) -> None:
    train_config("paper", packed_folder, tmp_path / "out", *SMALL, *OPPONENT, "iterations=2", change)
    loaded = load_network(tmp_path / "out" / "best.safetensors")
    tokens = torch.tensor([loaded.vocabulary.encode("make it brighter")])
    assert loaded.network.begin(tokens, tokens != 0).state.shape == (1, 128)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ways", "operations", "steps"), [(1, "brightness", 1), (2, "brightness,saturation", 2)]
)
def test_sets_of_operations_and_fewer_steps_train(
    ways: int, operations: str, steps: int, tmp_path: Path
) -> None:
    """The paper's sets, single operations and maximum steps; plans are made with the same."""
    given = (*SMALL, "iterations=2", f"operations={operations}", f"max_steps={steps}")
    outcome = train_config("paper", make_packed_folder(tmp_path, ways=ways), tmp_path / "out", *given)
    assert outcome.figures["steps"] <= steps
    network = load_network(tmp_path / "out" / "best.safetensors").network
    assert network.actions.names == tuple(operations.split(","))


@pytest.mark.slow
def test_half_precision_files_load_too(packed_folder: Path, tmp_path: Path) -> None:
    sizes = []
    for half in (False, True):
        out = tmp_path / str(half)
        train_config("paper", packed_folder, out, *SMALL, "iterations=1", half=half)
        sizes.append((out / "best.safetensors").stat().st_size)
        assert next(load_network(out / "best.safetensors").network.parameters()).dtype == torch.float32
    assert sizes[1] < 0.7 * sizes[0]


@pytest.mark.slow
def test_bfloat16_trains(packed_folder: Path, tmp_path: Path) -> None:
    outcome = train_config(
        "paper", packed_folder, tmp_path / "out", *SMALL, "iterations=4", "precision=bfloat16"
    )
    assert 0 < outcome.figures["l1"] < 1


@pytest.mark.slow
def test_a_run_begins_with_the_weights_and_words_of_another(packed_folder: Path, tmp_path: Path) -> None:
    train_config("paper", packed_folder, tmp_path / "plans", *SMALL, "iterations=2")
    first = tmp_path / "plans" / "best.safetensors"
    slow = ("iterations=1", "learning_rate=1e-9")
    write_word_vectors(tmp_path / "other.npz", WordVectors.without_vectors(["some other words"] * 2, 12))
    train_config("rl-pretrained", packed_folder, tmp_path / "rl", *SMALL, *slow, start=first)
    before, after = (load_network(tmp_path / run / "best.safetensors") for run in ("plans", "rl"))
    assert after.vocabulary == before.vocabulary
    assert (after.config.max_steps, after.config.ends) == (5, False)
    for name, value in before.network.named_parameters():
        torch.testing.assert_close(after.network.get_parameter(name), value, atol=1e-6, rtol=0)
    with pytest.raises(TrainingError, match=r"other settings \(hidden: 32 there, 64 here\); give the same"):
        train_config("rl-pretrained", packed_folder, tmp_path / "a", *SMALL, "hidden=64", start=first)
    with pytest.raises(TrainingError, match="holds a t2onet, which this config does not train"):
        train_config("sisgan", packed_folder, tmp_path / "a", start=first)
    with pytest.raises(TrainingError, match="bring their own words"):
        train_config(
            "rl-pretrained", packed_folder, tmp_path / "a", *SMALL, start=first, words=tmp_path / "other.npz"
        )
    with pytest.raises(TrainingError, match="starts from trained weights; give them with --from FILE"):
        train_config("rl-pretrained", packed_folder, tmp_path / "a", *SMALL)
    assert not (tmp_path / "a").exists()


def test_names_are_found_or_suggested_and_taken_once() -> None:
    with pytest.raises(TrainingError, match="there is no config 'papers'; did you mean 'paper'"):
        get_config("papers")
    with pytest.raises(ValueError, match="registered already"):
        register_config(get_config("paper"))

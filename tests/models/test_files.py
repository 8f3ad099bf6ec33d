"""Weights that say what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from t2onet import TrainingError
from t2onet.language import Vocabulary
from t2onet.models.discriminator import Discriminator, DiscriminatorConfig
from t2onet.models.files import describe_network, load_network, write_tensors
from tests.models.helpers import small

VOCABULARY = Vocabulary(("<NONE>", "<START>", "<END>", "<UNK>", *(f"word{n}" for n in range(16))))


def test_a_network_comes_back_with_its_words(tmp_path: Path) -> None:
    network = small(operations=("tone", "contrast"), attention=False)
    facts = {**describe_network("t2onet", network.config, VOCABULARY), "iteration": "7"}
    write_tensors(tmp_path / "w.safetensors", network.state_dict(), facts)
    loaded = load_network(tmp_path / "w.safetensors")
    assert loaded.vocabulary == VOCABULARY
    assert loaded.metadata["iteration"] == "7"
    assert loaded.network.config == network.config
    assert not loaded.network.training
    for name, value in network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], value)


def test_settings_of_earlier_releases_are_read_by_their_names_now(tmp_path: Path) -> None:
    config = DiscriminatorConfig(patch_width=4, vector_size=6, request_size=8, request_channels=4)
    facts = describe_network("discriminator", config, VOCABULARY)
    facts["config"] = facts["config"].replace("request_channels", "told_size")
    write_tensors(tmp_path / "w.safetensors", Discriminator(config, len(VOCABULARY)).state_dict(), facts)
    assert load_network(tmp_path / "w.safetensors").config == config


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    with pytest.raises(TrainingError, match=r"w\.safetensors cannot be read as weights"):
        load_network(path)
    path.write_bytes(b"no weights at all")
    with pytest.raises(TrainingError, match=r"w\.safetensors cannot be read as weights"):
        load_network(path)
    write_tensors(path, {"x": torch.zeros(1)}, {})
    with pytest.raises(TrainingError, match="holds no network of this release"):
        load_network(path)

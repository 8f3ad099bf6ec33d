"""Weights that say what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from t2onet import TrainingError
from t2onet.language import Vocabulary
from t2onet.models import describe_network, load_network
from t2onet.models.files import write_tensors
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

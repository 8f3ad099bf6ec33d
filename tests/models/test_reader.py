"""The network that reads requests, in torch and as the file that is shipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet.inference import open_session
from t2onet.language.reader import Reader
from t2onet.language.wishes import WHATS
from t2onet.models.files import export_reader, share_weights
from t2onet.models.reader import (
    GRAPH_OUTPUTS,
    LOOK_WIDTH,
    POSITIONS,
    ReaderGraph,
    ReaderNetwork,
    load_exported,
    load_pretrained,
)
from t2onet.training.reader_run import keep_vectors

pytest.importorskip("onnx")

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "bright", "##er", "a", "bit", "noir", "20", "%", "+"]
LOOKS = ["noir", "matte", "airy", "vintage"]
BATCH = torch.tensor([[2, 6, 7, 4, 5, 8, 3], [2, 9, 10, 3, 0, 0, 0]])


@pytest.fixture(scope="module")
def graph() -> ReaderGraph:
    """A small reader with random weights."""
    torch.manual_seed(0)
    network = ReaderNetwork(len(PIECES), layers=1)
    return ReaderGraph(network, torch.randn(len(LOOKS), LOOK_WIDTH)).eval()


@pytest.fixture(scope="module")
def files(graph: ReaderGraph, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reader's file, by how its weights are stored."""
    folder = tmp_path_factory.mktemp("reader")
    paths = {stored: folder / f"{stored}.onnx" for stored in ("float32", "int8")}
    for stored, path in paths.items():
        export_reader(graph.network, graph.prototypes, PIECES, LOOKS, path, stored=stored)
    return paths


def run(path: Path) -> list[np.ndarray]:
    return open_session(path).run(list(GRAPH_OUTPUTS), {"pieces": BATCH.numpy()})


def test_the_file_says_what_torch_says(graph: ReaderGraph, files: dict[str, Path]) -> None:
    with torch.no_grad():
        expected = graph(BATCH)
    for ours, theirs in zip(expected, run(files["float32"]), strict=True):
        np.testing.assert_allclose(theirs, ours.numpy(), atol=1e-3)


def test_eight_bits_are_enough(files: dict[str, Path]) -> None:
    for exact, rounded in zip(run(files["float32"]), run(files["int8"]), strict=True):
        np.testing.assert_allclose(rounded, exact, atol=0.05)
    assert files["int8"].stat().st_size < 0.4 * files["float32"].stat().st_size


def test_the_file_carries_its_vocabulary_and_looks(files: dict[str, Path]) -> None:
    about = open_session(files["int8"]).get_modelmeta().custom_metadata_map
    assert about["pieces"].split("\n") == PIECES
    assert about["looks"].split("\n") == LOOKS


@pytest.mark.parametrize(
    "request_", ["", "a bit brighter, +20 %", "BRIGHTER!", "更亮一点", "bright " * 300, "x" * 5000]
)
def test_any_request_is_read(request_: str, files: dict[str, Path]) -> None:
    reading = Reader(files["int8"]).read(request_)
    assert reading.request == request_
    assert all(wish.what in WHATS and wish.head for wish in reading.wishes)


def test_padding_changes_nothing(graph: ReaderGraph) -> None:
    with torch.no_grad():
        alone, together = graph(BATCH[1:, :4]), graph(BATCH)
    for one, both in zip(alone, together, strict=True):
        torch.testing.assert_close(both[1, :4, : one.shape[2]], one[0], atol=1e-4, rtol=0)


def test_the_encoder_of_bert_is_taken_over() -> None:
    network = ReaderNetwork(len(PIECES), layers=1)
    layer = network.layers[0].state_dict()
    theirs = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "output": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "norm": "output.LayerNorm",
    }
    weights = {
        "embeddings.word_embeddings.weight": torch.randn(network.pieces.weight.shape),
        "embeddings.position_embeddings.weight": torch.randn(2 * POSITIONS, network.positions.embedding_dim),
        "embeddings.token_type_embeddings.weight": torch.randn(2, network.positions.embedding_dim),
        "embeddings.LayerNorm.weight": torch.randn(network.norm.weight.shape),
        "embeddings.LayerNorm.bias": torch.randn(network.norm.bias.shape),
    }
    for name, value in layer.items():
        ours, _, part = name.rpartition(".")
        weights[f"encoder.layer.0.{theirs[ours]}.{part}"] = torch.randn(value.shape).half()
    load_pretrained(network, weights)
    for name, value in network.layers[0].state_dict().items():
        ours, _, part = name.rpartition(".")
        assert torch.equal(value, weights[f"encoder.layer.0.{theirs[ours]}.{part}"].float())
    positions = weights["embeddings.position_embeddings.weight"][:POSITIONS]
    expected = positions + weights["embeddings.token_type_embeddings.weight"][0]
    assert torch.equal(network.positions.weight, expected)


def test_training_can_go_on_from_an_exported_file(tmp_path: Path) -> None:
    trained = ReaderNetwork(len(PIECES), layers=2)
    for parameter in trained.parameters():  # equal ones, such as norms before training, are stored once
        torch.nn.init.normal_(parameter, std=0.1)
    path = tmp_path / "reader.onnx"
    export_reader(trained.eval(), torch.randn(len(LOOKS), LOOK_WIDTH), PIECES, LOOKS, path)
    network, prototypes, pieces = load_exported(path)
    assert pieces == PIECES
    with torch.no_grad():
        loaded = ReaderGraph(network, prototypes).eval()(BATCH)
    for ours, theirs in zip(loaded, run(path), strict=True):
        np.testing.assert_allclose(theirs, ours.numpy(), atol=2e-3)


def test_what_readers_have_in_common_is_stored_once(tmp_path: Path) -> None:
    first = ReaderNetwork(len(PIECES), layers=2).eval()
    for parameter in first.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    paths = [tmp_path / "one.onnx", tmp_path / "two.onnx"]
    export_reader(first, torch.randn(len(LOOKS), LOOK_WIDTH), PIECES, LOOKS, paths[0])
    second, _, _ = load_exported(paths[0])
    keep_vectors(second, PIECES, paths[0])
    for parameter in second.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.1)
    export_reader(second.eval(), torch.randn(len(LOOKS), LOOK_WIDTH), PIECES, LOOKS, paths[1])
    before, sizes = [run(path) for path in paths], [path.stat().st_size for path in paths]

    shared = share_weights(paths, tmp_path / "shared.bin")

    vectors = first.pieces.weight.numel()
    assert shared >= vectors  # a byte for each
    for path, outputs, size in zip(paths, before, sizes, strict=True):
        assert path.stat().st_size < size - 0.9 * vectors
        for ours, theirs in zip(run(path), outputs, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    network, _, _ = load_exported(paths[1])
    assert torch.equal(network.pieces.weight, second.pieces.weight)

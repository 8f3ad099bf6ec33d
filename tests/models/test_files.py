"""Weights that say what they are; and the paper's network at run time, without torch, as it is in torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet import TrainingError
from t2onet.editor.networks import T2ONetPolicy, open_policy
from t2onet.editor.policy import PolicyAnswer
from t2onet.errors import RequestError
from t2onet.evaluation.systems import Question, open_system
from t2onet.inference import import_onnxruntime
from t2onet.language import Vocabulary
from t2onet.language.vocabulary import SPECIAL
from t2onet.models.decoding import GreedyDecoding, RequestBatch, Rollout, decode_steps
from t2onet.models.files import (
    T2ONET_SIDE,
    WeightFormat,
    describe_network,
    export_graph,
    export_t2onet,
    load_network,
    quantize,
    write_tensors,
)
from t2onet.models.t2onet import T2ONet, T2ONetConfig
from tests.models.helpers import WORDS, small

pytest.importorskip("onnx")
onnxruntime = import_onnxruntime()
KNOWN = ("make", "it", "brighter", "darker", "warmer", "more", "contrast", "please", "the", "photo")
VOCABULARY = Vocabulary((*SPECIAL, *KNOWN, *(f"word{chr(97 + at)}" for at in range(WORDS - 4 - len(KNOWN)))))
STORED: tuple[WeightFormat, WeightFormat] = ("float32", "int8")
REQUESTS = ("make it brighter", "more contrast please, and make the whole photo darker", "?", "word " * 40)


def lively(**changes: object) -> T2ONet:
    """A small network with random weights that are large enough to decide and to differ between photos."""
    torch.manual_seed(3)
    network = small(**changes).eval()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.ndim > 1 and not name.startswith("eye"):
                weight.mul_(3)
        network.chooser.bias[network.actions.end] -= 3
    return network


def picture(seed: int = 0) -> np.ndarray:
    rough = torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.interpolate(rough, size=T2ONET_SIDE, mode="bilinear")[0].numpy()


def in_torch(network: T2ONet, photo: np.ndarray, request: str) -> Rollout:
    tokens = torch.tensor([VOCABULARY.encode(request)])
    with torch.no_grad():
        return decode_steps(
            network, RequestBatch(tokens, tokens != 0, torch.from_numpy(photo)[None]), GreedyDecoding()
        )


def export_policy(network: T2ONet, folder: Path, stored: WeightFormat = "float32") -> T2ONetPolicy:
    folder.mkdir(exist_ok=True)
    export_t2onet(network, VOCABULARY, folder, stored)
    policy = open_policy(folder)
    assert isinstance(policy, T2ONetPolicy)
    return policy


def assert_same(network: T2ONet, done: Rollout, answer: PolicyAnswer) -> None:
    actions = network.actions
    chosen = [number for number in done.operations[0].tolist() if number != actions.end]
    assert [step.operation for step in answer.steps] == [actions.names[number] for number in chosen]
    for at, (number, step) in enumerate(zip(chosen, answer.steps, strict=True)):
        expected = done.parameters[0, at, actions.slices[number]].tolist()
        assert step.parameters[: len(expected)] == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{}, {"image": False}, {"operation": False}, {"attention": False}, {"ends": False, "max_steps": 5}],
    ids=str,
)
def test_the_same_operations_and_parameters(changes: dict[str, object], tmp_path: Path) -> None:
    network = lively(**changes)
    policy = export_policy(network, tmp_path)
    lengths = set()
    for seed, request in enumerate(REQUESTS):
        answer = policy.answer(picture(seed), request, "literal")
        assert_same(network, in_torch(network, picture(seed), request), answer)
        lengths.add(len(answer.steps))
    assert max(lengths) > 1


def test_the_request_and_the_photo_matter(tmp_path: Path) -> None:
    policy = export_policy(lively(), tmp_path)
    answers = {policy.answer(picture(seed), request, "") for seed in (0, 1) for request in REQUESTS[:2]}
    assert len(answers) == 4


def test_it_is_measured_as_a_system_without_manners(tmp_path: Path) -> None:
    export_policy(lively(), tmp_path)
    system = open_system(f"T2ONet={tmp_path}")
    assert (system.name, system.side, system.has_modes) == ("T2ONet", T2ONET_SIDE, False)
    (made,) = system.answer([Question(picture(), REQUESTS[0], "literal")])
    assert made.recipe is not None
    assert len(made.recipe.steps) == 6
    done = in_torch(lively(), picture(), REQUESTS[0])
    np.testing.assert_allclose(made.picture, done.final[0].numpy(), atol=1e-4)


def test_a_kind_of_a_later_release_is_refused(tmp_path: Path) -> None:
    export_policy(lively(), tmp_path)
    about = tmp_path / "about.json"
    about.write_text(about.read_text().replace('"t2onet"', '"t3onet"'))
    with pytest.raises(RequestError, match="of kind 't3onet', which this release cannot run"):
        open_policy(tmp_path)


def test_it_ends_when_it_says_so(tmp_path: Path) -> None:
    network = lively()
    with torch.no_grad():
        network.chooser.bias[network.actions.end] = 100
    assert export_policy(network, tmp_path).answer(picture(), "brighter", "literal").steps == ()


@pytest.mark.slow
def test_weights_in_8_bits_answer_nearly_alike(tmp_path: Path) -> None:
    network = lively()
    plain, small = (export_policy(network, tmp_path / stored, stored) for stored in STORED)
    for seed, request in enumerate(REQUESTS):
        exact, near = (policy.answer(picture(seed), request, "") for policy in (plain, small))
        assert exact != near
        for one, other in zip(exact.steps, near.steps, strict=True):
            assert one.operation == other.operation
            assert one.parameters == pytest.approx(other.parameters, abs=0.05)


@pytest.mark.parametrize("stored", ["float16", "int8"])
def test_a_graph_computes_with_its_stored_weights(stored: WeightFormat) -> None:
    """As torch does with weights that were rounded alike."""
    part = torch.nn.Sequential(torch.nn.Conv2d(3, 40, 3), torch.nn.Flatten(), torch.nn.Linear(160, 8))
    image = torch.rand(1, 3, 4, 4)
    graph = export_graph(part, (image,), ("image",), ("out",), axes={}, stored=stored)
    (found,) = onnxruntime.InferenceSession(graph).run(None, {"image": image.numpy()})
    with torch.no_grad():
        for layer in (part[0], part[2]):
            levels, scale = quantize(layer.weight.numpy())
            rounded = layer.weight.half().float() if stored == "float16" else torch.from_numpy(levels * scale)
            assert not torch.equal(rounded, layer.weight)
            layer.weight.copy_(rounded)
        np.testing.assert_allclose(found, part(image).numpy(), atol=1e-5)


@pytest.mark.parametrize("shape", [(8, 5), (2, 8, 5), (8, 5, 3, 3)])
def test_quantized_weights_are_within_half_a_level_of_their_row(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    values.reshape(-1, *shape[-1:])[0] = 0
    levels, scale = quantize(values)
    assert levels.dtype == np.int8
    assert (np.abs(levels * scale - values) <= 0.5001 * scale).all()
    assert np.abs(levels).max() == 127


@pytest.mark.slow
def test_the_published_size_fits_in_25_megabytes(tmp_path: Path) -> None:
    words = (*SPECIAL, *(f"word{number}" for number in range(914)))
    export_t2onet(T2ONet(T2ONetConfig(), len(words)), Vocabulary(words), tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 25e6


STORED_WORDS = Vocabulary(("<NONE>", "<START>", "<END>", "<UNK>", *(f"word{n}" for n in range(16))))


def test_a_network_comes_back_with_its_words(tmp_path: Path) -> None:
    network = small(operations=("tone", "contrast"), attention=False)
    facts = {**describe_network("t2onet", network.config, STORED_WORDS), "iteration": "7"}
    write_tensors(tmp_path / "w.safetensors", network.state_dict(), facts)
    loaded = load_network(tmp_path / "w.safetensors")
    assert loaded.vocabulary == STORED_WORDS
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

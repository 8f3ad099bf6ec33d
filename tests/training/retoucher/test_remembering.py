"""A memory is made of pairs: it gives photos like those what those were given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet.errors import DataError, TrainingError
from t2onet.inference import import_onnxruntime
from t2onet.memory import LEVELS, tones, wanted
from t2onet.models.retoucher import memory as networks
from t2onet.models.retoucher.export import export_memory
from t2onet.models.retoucher.memory import Memory, load_memory, save_memory
from t2onet.models.retoucher.network import SIDE
from t2onet.policy import MEMORY
from t2onet.training.retoucher.remembering import LEAST, Pair, remember
from tests.planning.scenes import scene

pytest.importorskip("efficientnet_lite_pytorch")
pytestmark = pytest.mark.slow

POWERS = {"brighter": 0.7, "darker": 1.4}


def edited(seed: int, request: str) -> Pair:
    before = scene(SIDE, seed)
    return Pair(before, before ** POWERS[request], request)


@pytest.fixture(scope="module")
def memory() -> Memory:
    return remember(edited(seed, request) for seed in range(12) for request in POWERS)


def given(memory: Memory, picture: np.ndarray, request: str) -> np.ndarray:
    with torch.inference_mode():
        return np.asarray(memory(torch.from_numpy(picture)[None], torch.from_numpy(wanted(request))[None])[0])


def test_tones_are_those_of_the_runtime() -> None:
    picture = scene(SIDE)
    found = networks.tones(torch.from_numpy(picture)[None])[0]
    np.testing.assert_allclose(found.numpy(), tones(picture), atol=1e-6)


@pytest.mark.parametrize("request_", POWERS)
def test_a_photo_like_those_is_given_what_those_were_given(memory: Memory, request_: str) -> None:
    pair = edited(99, request_)
    missed = np.abs(given(memory, pair.before, request_) - tones(pair.after)).mean()
    assert missed < 0.4 * np.abs(tones(pair.before) - tones(pair.after)).mean()


def test_a_wrong_pair_among_many_has_little_say() -> None:
    pairs = [edited(seed, "brighter") for seed in range(14)]
    wrong = Pair(scene(SIDE, 0), scene(SIDE, 0) ** 4, "brighter")
    honest, misled = remember(pairs), remember([*pairs, wrong])
    picture = scene(SIDE, 50)
    moved = np.abs(given(misled, picture, "brighter") - given(honest, picture, "brighter")).mean()
    assert moved < 0.2 * np.abs(tones(scene(SIDE, 0) ** 4) - tones(scene(SIDE, 0) ** 0.7)).mean()


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(DataError, match=f"at least {LEAST} pairs"):
        remember(edited(seed, "brighter") for seed in range(LEAST - 1))
    with pytest.raises(DataError, match="at least"):
        remember(())


def test_a_memory_comes_back_from_its_file(memory: Memory, tmp_path: Path) -> None:
    save_memory(tmp_path / "memory.safetensors", memory, {})
    picture = scene(SIDE, 3)
    again = given(load_memory(tmp_path / "memory.safetensors"), picture, "darker")
    np.testing.assert_array_equal(again, given(memory, picture, "darker"))


def test_other_weights_are_no_memory(tmp_path: Path) -> None:
    networks.write_tensors(tmp_path / "other.safetensors", {"a": torch.zeros(1)}, {"network": "paper"})
    with pytest.raises(TrainingError, match="holds no memory; make one by t2o remember"):
        load_memory(tmp_path / "other.safetensors")


def test_the_graph_says_what_torch_says(memory: Memory, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    export_memory(memory, tmp_path)
    session = import_onnxruntime().InferenceSession(tmp_path / MEMORY)
    picture = scene(SIDE, 7)
    (found,) = session.run(None, {"image": picture[None], "wanted": wanted("darker")[None]})
    assert found.shape == (1, 3, LEVELS)
    np.testing.assert_allclose(found[0], given(memory, picture, "darker"), atol=5e-3)

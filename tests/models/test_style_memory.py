"""A memory is made of pairs: it gives photos like those what those were given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from t2onet.editor.expert import TONE_LEVELS, measure_tones, measure_wanted
from t2onet.errors import DataError
from t2onet.inference import MEMORY_FILE, import_onnxruntime
from t2onet.models import style_memory as networks
from t2onet.models.style_memory import (
    MIN_PAIRS,
    PICTURE_SIDE,
    StyleMemoryNetwork,
    StylePair,
    build_style_memory,
    export_style_memory,
)
from tests.planning.scenes import scene

pytest.importorskip("efficientnet_lite_pytorch")
pytestmark = pytest.mark.slow

POWERS = {"brighter": 0.7, "darker": 1.4}


def make_pair(seed: int, request: str) -> StylePair:
    before = scene(PICTURE_SIDE, seed)
    return StylePair(before, before ** POWERS[request], request)


@pytest.fixture(scope="module")
def memory() -> StyleMemoryNetwork:
    return build_style_memory(make_pair(seed, request) for seed in range(12) for request in POWERS)


def answer_request(memory: StyleMemoryNetwork, picture: np.ndarray, request: str) -> np.ndarray:
    with torch.inference_mode():
        return np.asarray(
            memory(
                torch.from_numpy(picture)[None],
                torch.from_numpy(measure_wanted(request))[None],
            )[0]
        )


def test_tones_are_those_of_the_runtime() -> None:
    picture = scene(PICTURE_SIDE)
    found = networks.channel_quantiles(torch.from_numpy(picture)[None])[0]
    np.testing.assert_allclose(found.numpy(), measure_tones(picture), atol=1e-6)


@pytest.mark.parametrize("request_", POWERS)
def test_a_photo_like_those_is_given_what_those_were_given(memory: StyleMemoryNetwork, request_: str) -> None:
    pair = make_pair(99, request_)
    missed = np.abs(answer_request(memory, pair.before, request_) - measure_tones(pair.after)).mean()
    assert missed < 0.4 * np.abs(measure_tones(pair.before) - measure_tones(pair.after)).mean()


def test_a_wrong_pair_among_many_has_little_say() -> None:
    pairs = [make_pair(seed, "brighter") for seed in range(14)]
    wrong = StylePair(scene(PICTURE_SIDE, 0), scene(PICTURE_SIDE, 0) ** 4, "brighter")
    honest, misled = build_style_memory(pairs), build_style_memory([*pairs, wrong])
    picture = scene(PICTURE_SIDE, 50)
    moved = np.abs(
        answer_request(misled, picture, "brighter") - answer_request(honest, picture, "brighter")
    ).mean()
    assert (
        moved
        < 0.2
        * np.abs(
            measure_tones(scene(PICTURE_SIDE, 0) ** 4) - measure_tones(scene(PICTURE_SIDE, 0) ** 0.7)
        ).mean()
    )


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(DataError, match=f"at least {MIN_PAIRS} pairs"):
        build_style_memory(make_pair(seed, "brighter") for seed in range(MIN_PAIRS - 1))
    with pytest.raises(DataError, match="at least"):
        build_style_memory(())


def test_the_graph_says_what_torch_says(memory: StyleMemoryNetwork, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    export_style_memory(memory, tmp_path / MEMORY_FILE)
    session = import_onnxruntime().InferenceSession(tmp_path / MEMORY_FILE)
    picture = scene(PICTURE_SIDE, 7)
    (found,) = session.run(None, {"image": picture[None], "wanted": measure_wanted("darker")[None]})
    assert found.shape == (1, 3, TONE_LEVELS)
    np.testing.assert_allclose(found[0], answer_request(memory, picture, "darker"), atol=5e-3)

"""What is measured while training."""

from __future__ import annotations

import pytest
import torch

from t2onet.language.wishes import TEN_REQUESTS
from t2onet.training import triplets
from t2onet.training.triplets import answer_variance, l1_distance, structural_similarity


def test_distance_by_hand() -> None:
    target = torch.zeros(2, 3, 4, 4)
    image = target.clone()
    image[1, 0] = 0.3
    assert l1_distance(image, target).tolist() == pytest.approx([0.0, 0.1])


def test_the_variance_over_answers_by_hand() -> None:
    """Half of ten answers black, half white: .25 at every pixel; all alike: nothing."""
    answers = torch.zeros(10, 2, 3, 4, 4)
    answers[:5, 0] = 1.0
    assert answer_variance(answers).tolist() == [0.25, 0.0]
    assert len(TEN_REQUESTS) == 10


def test_similarity_is_one_for_the_same_photo() -> None:
    image = torch.rand(2, 3, 32, 32)
    found = structural_similarity(image, image)
    if found is None:
        pytest.skip("torchmetrics cannot be imported here")
    assert found.tolist() == pytest.approx([1.0, 1.0], abs=1e-5)
    assert (structural_similarity(image, 1 - image) < 0.5).all()


def test_without_torchmetrics_there_is_no_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    triplets._load_ssim.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "torchmetrics.functional.image", None)
    assert structural_similarity(torch.zeros(1, 3, 32, 32), torch.zeros(1, 3, 32, 32)) is None
    triplets._load_ssim.cache_clear()

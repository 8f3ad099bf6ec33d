"""The eye."""

from __future__ import annotations

import pytest
import torch

from t2onet.models.t2onet import ResNet18


def test_it_is_resnet_18() -> None:
    """He et al.'s eighteen layers have 11,176,512 weights before their last one."""
    network = ResNet18()
    counts = [p.numel() for name, p in network.named_parameters() if not name.startswith("out.")]
    assert sum(counts) == 11_176_512


@pytest.mark.parametrize("size", [16, 33, 48])
def test_photos_of_any_size(size: int) -> None:
    assert ResNet18(features=10, width=2)(torch.rand(2, 3, size, size + 7)).shape == (2, 10)

"""One thread: the networks of these tests are too small for more."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def _small() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)

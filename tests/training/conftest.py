"""One thread and a short validation: the networks of these tests are too small for more."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    monkeypatch.setattr("t2onet.training.retoucher.SIMULATED_REQUESTS", 128)

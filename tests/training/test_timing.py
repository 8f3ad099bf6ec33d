"""Seconds of an iteration and of an answer."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from t2onet import DataError
from t2onet.training import train
from t2onet.training.run import time_config
from tests.training.helpers import SMALL, make_packed_folder


@pytest.mark.slow
def test_iterations_and_answers_are_timed(tmp_path: Path) -> None:
    packed, run = make_packed_folder(tmp_path), tmp_path / "runs" / "paper"
    train("paper", packed, run, assignments=(*SMALL, "iterations=2"), cpu=True, stream=io.StringIO())
    timing = time_config("paper", packed, run / "best.safetensors", settings=SMALL, cpu=True)
    assert (timing.config, timing.batch) == ("paper", 4)
    assert timing.device.startswith("CPU (")
    assert timing.train is not None
    assert timing.train > 0
    assert list(timing.test) == ["128", "600"]
    assert min(timing.test.values()) > 0


def test_only_what_is_given_is_timed() -> None:
    timing = time_config("pix2pixaug", None, None, cpu=True)
    assert (timing.train, timing.test) == (None, {})
    with pytest.raises(DataError, match="nowhere is no packed set"):
        time_config("paper", Path("nowhere"), None, cpu=True)

"""Seeds, schedules, averages, reports: what the loop is made of."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from t2onet.training import LoopSettings
from t2onet.training.loop import Reporter
from t2onet.training.task import (
    WeightAverage,
    compute_learning_rate,
    derive_seed,
    draw_batch_indices,
    make_generator,
)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 5))
def test_all_come_up_once_before_any_comes_up_again(count: int, size: int, seed: int) -> None:
    batches = -(-3 * count // size)
    row = np.concatenate([draw_batch_indices(count, size, at, seed) for at in range(batches)])[: 3 * count]
    for epoch in row.reshape(3, count):
        assert sorted(epoch) == list(range(count))


def test_draws_follow_from_their_numbers_alone() -> None:
    assert draw_batch_indices(50, 8, 3, 1).tolist() == draw_batch_indices(50, 8, 3, 1).tolist()
    assert draw_batch_indices(50, 8, 3, 1).tolist() != draw_batch_indices(50, 8, 3, 2).tolist()
    first, second = (torch.rand(3, generator=make_generator(4, 5)) for _ in range(2))
    assert torch.equal(first, second)
    assert len({derive_seed(0, 1), derive_seed(1, 0), derive_seed(0, 1, 0), derive_seed(0)}) == 4


def test_the_learning_rate_rises_then_falls_along_a_cosine() -> None:
    settings = LoopSettings(iterations=110, learning_rate=0.2, schedule="cosine", warm_up=10)
    rates = {at: compute_learning_rate(settings, at) for at in (1, 5, 10, 60, 110)}
    assert rates == pytest.approx({1: 0.02, 5: 0.1, 10: 0.2, 60: 0.1, 110: 0.0})
    assert compute_learning_rate(LoopSettings(learning_rate=0.2), 999) == 0.2


def test_an_average_by_hand() -> None:
    """The share that stays is n / (n + 10) until it reaches what was asked for."""
    network = nn.Linear(1, 1, bias=False)
    network.weight.data.fill_(0.0)
    average = WeightAverage(network, 0.5)
    network.weight.data.fill_(1.0)
    average.update(network, 1)
    assert average.network.weight.item() == pytest.approx(10 / 11)
    average.network.weight.data.fill_(0.0)
    average.update(network, 1000)
    assert average.network.weight.item() == pytest.approx(0.5)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    stream = io.StringIO()
    report = Reporter(stream, tmp_path)
    report.report_progress(10, 20, {"operation": 1.5}, 2.0)
    report.report_validation(10, {"l1": 0.25}, best=True)
    report.close()
    assert stream.getvalue() == "10/20  operation 1.5000  2.00/s\n10: l1 0.2500  best so far\n"
    assert (tmp_path / "figures.jsonl").read_text() == '{"iteration": 10, "l1": 0.25}\n'


def test_one_living_line_on_a_terminal(tmp_path: Path) -> None:
    stream = Terminal()
    report = Reporter(stream, tmp_path)
    for at in (10, 20):
        report.report_progress(at, 20, {"operation": 1.5}, 2.0)
    report.close()
    line = "20/20  operation 1.5000  2.00/s"
    assert stream.getvalue() == f"10/20{line[5:]}\r{line}\r{' ' * len(line)}\n"


def test_tensorboard_gets_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    report = Reporter(io.StringIO(), tmp_path)
    report.report_progress(10, 20, {"operation": 1.5}, 2.0)
    report.report_validation(10, {"l1": 0.25}, best=False)
    report.close()
    events = EventAccumulator(str(tmp_path / "events")).Reload()
    found = {tag: events.Scalars(tag)[0].value for tag in events.Tags()["scalars"]}
    assert found == {"train/operation": 1.5, "validation/l1": 0.25}
    assert math.isclose(events.Scalars("train/operation")[0].step, 10)

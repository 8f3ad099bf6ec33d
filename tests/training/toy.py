"""Tasks without photos: a line fitted to points, alone or under a critic; dropout makes chance matter."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from t2onet.training import Learner, LoopSettings, TrainingRun, TrainingTask
from t2onet.training.loop import Reporter
from t2onet.training.task import settings_to_json


class Line:
    """Its figures are those of `script`, one at each validation, then the last loss."""

    selects = "loss"

    def __init__(self, script: tuple[float, ...] = ()) -> None:
        torch.manual_seed(0)
        self.network = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
        self.script: Iterator[float] = iter(script)
        self.validated: list[nn.Module] = []

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        points = torch.randn(16, 2, generator=generator)
        missed = self.network(points)[:, 0] - points.sum(1)
        return {"even" if iteration % 2 == 0 else "odd": (missed**2).mean()}

    def validate(self, network: nn.Module) -> dict[str, float]:
        assert not network.training
        self.validated.append(network)
        points = torch.randn(64, 2, generator=torch.Generator().manual_seed(9))
        measured = ((network(points)[:, 0] - points.sum(1)) ** 2).mean().item()
        return {"loss": next(self.script, measured)}

    def metadata(self) -> Mapping[str, str]:
        return {"network": "line"}


class Duel(Line):
    """A line that a critic sees too; the critic learns at even iterations, twice as fast."""

    def __init__(self, script: tuple[float, ...] = ()) -> None:
        super().__init__(script)
        self.critic = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
        self.others = (Learner("critic", self.critic, self.judge, pace=2.0, metadata={"network": "critic"}),)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        points = torch.randn(16, 2, generator=generator)
        answers = self.network(points)
        self.seen = points, answers.detach()
        missed = answers[:, 0] - points.sum(1)
        return {"missed": (missed**2).mean(), "seen_through": -self._score(points, answers)}

    def judge(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        if iteration % 2:
            return {}
        points, answers = self.seen
        true = points.sum(1, keepdim=True) + 0.1 * torch.randn(16, 1, generator=generator)
        return {"gullible": self._score(points, answers) - self._score(points, true)}

    def _score(self, points: Tensor, answers: Tensor) -> Tensor:
        told: Tensor = self.critic(torch.cat([points, answers], 1))
        return torch.tanh(told).mean()


def make_run(
    folder: Path, settings: LoopSettings, task: TrainingTask | None = None, said: io.StringIO | None = None
) -> TrainingRun:
    folder.mkdir(exist_ok=True)
    reporter = Reporter(said or io.StringIO(), folder)
    described = settings_to_json(settings)
    return TrainingRun(
        task or Line(), settings, folder, Accelerator(cpu=True), reporter, settings_json=described
    )

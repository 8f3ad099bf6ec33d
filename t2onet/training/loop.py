"""The one loop: draw, descend, validate, keep. It knows tasks, devices and files, not what is learned."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast
from torch import Tensor, nn

from ..data.run_records import BEST, CHECKPOINT, RECORD
from ..errors import OutputError, TrainingError
from .checkpoints import (
    Progress,
    State,
    load_checkpoint,
    save_checkpoint,
    save_record,
    save_weights,
)
from .reporting import Reporter
from .settings import LoopSettings
from .task import Task, players_of
from .turns import Turn, frozen

TELL_EVERY = 10
"""Iterations between two lines about losses."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended: `reason` is iterations, minutes or patience."""

    reason: str
    progress: Progress
    figures: dict[str, float]
    """Of the last validation."""


class Run:
    """A task under way in a folder."""

    def __init__(
        self,
        task: Task,
        settings: LoopSettings,
        folder: Path,
        accelerator: Accelerator,
        reporter: Reporter,
        *,
        described: str,
        half: bool = False,
    ) -> None:
        self.task = task
        self.settings = settings
        self.folder = folder
        self.accelerator = accelerator
        self.reporter = reporter
        self.described = described
        self.half = half
        self.progress = Progress()
        self.figures: dict[str, float] = {}
        self.turns = [
            Turn(player, number, settings, accelerator) for number, player in enumerate(players_of(task))
        ]

    @property
    def states(self) -> list[State]:
        """Of all players, the network's first."""
        return [turn.state for turn in self.turns]

    def resume(self) -> None:
        """Go on from the folder's checkpoint; without one, begin."""
        if (self.folder / CHECKPOINT).exists():
            self.progress = load_checkpoint(self.folder / CHECKPOINT, self.described, self.states)
            self.reporter.say(f"resuming after iteration {self.progress.iteration}")

    def go(self, minutes: float | None = None) -> Outcome:
        """Until the iterations are done, time is up or nothing gets better; then save everything."""
        ends = math.inf if minutes is None else time.monotonic() + 60 * minutes
        reason = ""
        validated = self.progress.iteration
        tally = Tally()
        while not (reason := self._reason(ends)):
            self.progress.iteration += 1
            tally.add(self.descend())
            if self._due(TELL_EVERY):
                self._tell(tally)
                tally = Tally()
            if self._due(self.settings.validate_every):
                validated = self.progress.iteration
                self._validate()
                self._save()
        if validated != self.progress.iteration:
            self._validate()
            self._save()
        if self.accelerator.is_main_process:
            save_record(self.folder / RECORD, self.progress, self.described, reason)
        return Outcome(reason, self.progress, self.figures)

    def _due(self, every: int) -> bool:
        return self.progress.iteration % every == 0

    def _reason(self, ends: float) -> str:
        """Why to stop now, or nothing; all processes hear the first one's clock."""
        now, settings = self.progress, self.settings
        if now.iteration >= settings.iterations:
            return "iterations"
        if settings.patience and now.iteration - now.best_iteration >= settings.patience:
            return "patience"
        late = time.monotonic() >= ends
        if self.accelerator.num_processes > 1:
            heard = torch.tensor(late, device=self.accelerator.device, dtype=torch.int32)
            late = bool(broadcast(heard).item())
        return "minutes" if late else ""

    def descend(self) -> dict[str, Tensor]:
        """Every player's turn; the weights of the others stand still in it."""
        parts: dict[str, Tensor] = {}
        for state in self.states:
            state.network.train()
        for turn in self.turns:
            with frozen(state.network for state in self.states if state is not turn.state):
                parts |= turn.take(self.progress.iteration)
        return parts

    def _tell(self, tally: Tally) -> None:
        means, rate = tally.means()
        for name, value in means.items():
            if not math.isfinite(value):
                raise TrainingError(
                    f"{name} is {value} at iteration {self.progress.iteration}; resume from the last "
                    "checkpoint with a lower learning_rate or with clip=1"
                )
        self.reporter.progress(self.progress.iteration, self.settings.iterations, means, rate)

    def _validate(self) -> None:
        """Figures of the averaged weights where there are some; the first process alone does it."""
        best = torch.zeros(2, dtype=torch.float64, device=self.accelerator.device)
        if self.accelerator.is_main_process:
            state = self.states[0]
            network = state.network if state.average is None else state.average.network
            network.eval()
            with torch.no_grad():
                self.figures = self.task.validate(network)
            self._compare(network)
            best = best.new_tensor([math.nan if self.progress.best is None else self.progress.best, 0])
            best[1] = self.progress.best_iteration
        if self.accelerator.num_processes > 1:
            best = broadcast(best)
            self.progress.best, self.progress.best_iteration = best[0].item(), int(best[1].item())

    def _compare(self, network: nn.Module) -> None:
        """Keep the weights if their figure is the lowest; the latest where there is no such figure."""
        figure = self.figures.get(self.task.selects)
        better = figure is None or self.progress.best is None or figure < self.progress.best
        self.reporter.validated(self.progress.iteration, self.figures, better)
        if better:
            self.progress.best, self.progress.best_iteration = figure, self.progress.iteration
            self._keep(BEST, network, self.task.metadata())
            for player in (turn.player for turn in self.turns):
                if player.metadata is not None:
                    self._keep(f"{player.name}.safetensors", player.network, player.metadata)

    def _keep(self, name: str, network: nn.Module, metadata: Mapping[str, str]) -> None:
        facts = {
            "iteration": str(self.progress.iteration),
            "iterations": str(self.settings.iterations),
            "figures": json.dumps(self.figures),
        }
        save_weights(self.folder / name, network, {**metadata, **facts}, half=self.half)

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            save_checkpoint(self.folder / CHECKPOINT, self.progress, self.described, self.states)
            save_record(self.folder / RECORD, self.progress, self.described)
        self.accelerator.wait_for_everyone()


class Tally:
    """Losses since the last line; read from the device only when asked for."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Tensor]] = {}
        self._count = 0
        self._began = time.monotonic()

    def add(self, parts: dict[str, Tensor]) -> None:
        self._count += 1
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def means(self) -> tuple[dict[str, float], float]:
        """Mean parts, and iterations a second."""
        means = {name: torch.stack(parts).mean().item() for name, parts in self._parts.items()}
        return means, self._count / max(1e-9, time.monotonic() - self._began)


def open_folder(folder: Path, *, resume: bool) -> None:
    """Make the folder of a run; refuses one that holds a run, unless that is to be resumed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made ({error.strerror}); choose another folder") from None
    if (folder / CHECKPOINT).exists():
        if not resume:
            raise TrainingError(f"{folder} holds a run already; give another folder, or resume it")
    elif (folder / BEST).exists():
        raise TrainingError(
            f"{folder} holds {BEST} and no checkpoint to resume from; "
            f"give another folder, or remove {BEST} to train again"
        )

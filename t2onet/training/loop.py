"""The training loop: draw, descend, validate, keep. Knows tasks, devices and files, not what is learned."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast
from torch import Tensor, nn

from ..data.records import BEST_WEIGHTS_FILE, CHECKPOINT_FILE, RUN_RECORD_FILE
from ..errors import OutputError, TrainingError
from .checkpoints import (
    LearnerState,
    TrainingProgress,
    load_checkpoint,
    save_checkpoint,
    save_record,
    save_weights,
)
from .reporting import Reporter
from .settings import LoopSettings
from .task import (
    Learner,
    TrainingTask,
    WeightAverage,
    compute_learning_rate,
    derive_seed,
    list_learners,
    make_generator,
)

# A player's turn: losses, a step down them, and the average that follows. It knows no files.


class LossModule(nn.Module):
    """A loss as a module, so that a distributed wrapper sees every pass through the player's network."""

    def __init__(self, player: Learner, number: int, settings: LoopSettings, rank: int) -> None:
        super().__init__()
        self.network = player.network
        self.narrow = settings.precision == "bfloat16"
        self._loss = player.loss
        self._numbers = (settings.seed, rank, number)

    def forward(self, iteration: int) -> dict[str, Tensor]:
        seed, rank, number = self._numbers
        torch.manual_seed(derive_seed(seed, iteration, rank, 2 * number + 1))
        generator = make_generator(seed, iteration, rank, 2 * number + 2)
        device = next(self.network.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.narrow):
            return self._loss(iteration, generator)


class LearnerTrainer:
    """What a player, the `number`-th from 0, does in every iteration; the first has the average."""

    def __init__(
        self, player: Learner, number: int, settings: LoopSettings, accelerator: Accelerator
    ) -> None:
        self.player = player
        self.settings = settings
        self.accelerator = accelerator
        objective = LossModule(player, number, settings, accelerator.process_index)
        self.objective = accelerator.prepare_model(objective.to(accelerator.device))
        network, betas = player.network, (settings.beta1, settings.beta2)
        self.state = LearnerState(
            player.name,
            network,
            torch.optim.AdamW(network.parameters(), betas=betas, weight_decay=settings.weight_decay),
            WeightAverage(network, settings.ema) if settings.ema and not number else None,
        )

    def take(self, iteration: int) -> dict[str, Tensor]:
        """One step down the player's losses, whose parts are returned; none, and no step, if it has none."""
        settings, (_, network, optimizer, average) = self.settings, self.state
        for group in optimizer.param_groups:
            group["lr"] = self.player.pace * compute_learning_rate(settings, iteration)
        optimizer.zero_grad(set_to_none=True)
        parts: dict[str, Tensor] = self.objective(iteration)
        if not parts:
            return {}
        self.accelerator.backward(torch.stack(list(parts.values())).sum())
        if settings.clip:
            nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
        optimizer.step()
        if average is not None:
            average.update(network, iteration)
        return {name: part.detach() for name, part in parts.items()}


@contextmanager
def freeze_weights(networks: Iterable[nn.Module]) -> Iterator[None]:
    """No gradient reaches weights of these networks, though it passes through them."""
    weights = [weight for network in networks for weight in network.parameters() if weight.requires_grad]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


# The one loop: draw, descend, validate, keep. It knows tasks, devices and files, not what is learned.

REPORT_EVERY = 10
"""Iterations between two lines about losses."""


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended: `reason` is iterations, minutes or patience."""

    reason: str
    progress: TrainingProgress
    figures: dict[str, float]
    """Of the last validation."""


class TrainingRun:
    """A task under way in a folder."""

    def __init__(
        self,
        task: TrainingTask,
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
        self.progress = TrainingProgress()
        self.figures: dict[str, float] = {}
        self.turns = [
            LearnerTrainer(player, number, settings, accelerator)
            for number, player in enumerate(list_learners(task))
        ]

    @property
    def states(self) -> list[LearnerState]:
        """Of all players, the network's first."""
        return [turn.state for turn in self.turns]

    def resume(self) -> None:
        """Go on from the folder's checkpoint; without one, begin."""
        if (self.folder / CHECKPOINT_FILE).exists():
            self.progress = load_checkpoint(self.folder / CHECKPOINT_FILE, self.described, self.states)
            self.reporter.say(f"resuming after iteration {self.progress.iteration}")

    def go(self, minutes: float | None = None) -> TrainingResult:
        """Until the iterations are done, time is up or nothing gets better; then save everything."""
        ends = math.inf if minutes is None else time.monotonic() + 60 * minutes
        reason = ""
        validated = self.progress.iteration
        tally = LossMeter()
        while not (reason := self._reason(ends)):
            self.progress.iteration += 1
            tally.add(self.descend())
            if self._due(REPORT_EVERY):
                self._tell(tally)
                tally = LossMeter()
            if self._due(self.settings.validate_every):
                validated = self.progress.iteration
                self._validate()
                self._save()
        if validated != self.progress.iteration:
            self._validate()
            self._save()
        if self.accelerator.is_main_process:
            save_record(self.folder / RUN_RECORD_FILE, self.progress, self.described, reason)
        return TrainingResult(reason, self.progress, self.figures)

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
            with freeze_weights(state.network for state in self.states if state is not turn.state):
                parts |= turn.take(self.progress.iteration)
        return parts

    def _tell(self, tally: LossMeter) -> None:
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
            self._keep(BEST_WEIGHTS_FILE, network, self.task.metadata())
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
            save_checkpoint(self.folder / CHECKPOINT_FILE, self.progress, self.described, self.states)
            save_record(self.folder / RUN_RECORD_FILE, self.progress, self.described)
        self.accelerator.wait_for_everyone()


class LossMeter:
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


def open_run_folder(folder: Path, *, resume: bool) -> None:
    """Make the folder of a run; refuses one that holds a run, unless that is to be resumed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made ({error.strerror}); choose another folder") from None
    if (folder / CHECKPOINT_FILE).exists():
        if not resume:
            raise TrainingError(f"{folder} holds a run already; give another folder, or resume it")
    elif (folder / BEST_WEIGHTS_FILE).exists():
        raise TrainingError(
            f"{folder} holds {BEST_WEIGHTS_FILE} and no checkpoint to resume from; "
            f"give another folder, or remove {BEST_WEIGHTS_FILE} to train again"
        )

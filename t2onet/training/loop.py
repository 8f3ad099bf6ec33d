"""The training loop: step, validate, save, resume. It knows tasks, devices and files, not what is learned."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import broadcast
from torch import Tensor, nn

from ..data.records import BEST_WEIGHTS_FILE, CHECKPOINT_FILE, RUN_RECORD_FILE
from ..errors import OutputError, TrainingError
from ..image import write_atomically
from ..language.vocabulary import WordVectors
from ..models.files import LoadedNetwork, load_network, read_tensors, write_tensors
from .task import (
    Learner,
    LoopSettings,
    TrainingTask,
    WeightAverage,
    compute_learning_rate,
    derive_seed,
    list_learners,
    make_generator,
)

_MACHINE_SETTINGS = {"workers"}
"""Settings that affect the speed of a run and not its results."""
_CHANGEABLE_SETTINGS = ("max_steps", "ends", "dropout")
"""Settings of a network that its weights do not depend on."""


@dataclass
class TrainingProgress:
    """How far a run is; `best` is None before the first comparison."""

    iteration: int = 0
    best: float | None = None
    best_iteration: int = 0


class LearnerState(NamedTuple):
    """The state of a learner that iterations change."""

    name: str
    """Empty for the task's network."""
    network: nn.Module
    optimizer: torch.optim.Optimizer
    average: WeightAverage | None


def save_checkpoint(
    path: Path, progress: TrainingProgress, settings: str, states: Iterable[LearnerState]
) -> None:
    """Save everything the next iteration depends on, so that a resumed run equals one that never stopped."""
    tensors: dict[str, Tensor] = {}
    for state in states:
        tensors |= _add_prefix(state.name, _collect_tensors(state))
    write_tensors(path, tensors, {"progress": json.dumps(asdict(progress)), "settings": settings})


def save_record(path: Path, progress: TrainingProgress, settings: str, ended: str = "") -> None:
    """Save progress and settings as JSON; `ended` is why the run ended, empty while it is running."""
    record = {"ended": ended, "progress": asdict(progress), "settings": json.loads(settings)}
    write_atomically(path, f"{json.dumps(record, indent=1)}\n".encode(), overwrite=True)


def load_checkpoint(path: Path, settings: str, states: Iterable[LearnerState]) -> TrainingProgress:
    """Restore what `save_checkpoint` wrote; refuse a run with other settings."""
    tensors, metadata = read_tensors(path)
    if difference := describe_settings_difference(
        json.loads(metadata.get("settings", "{}")), json.loads(settings)
    ):
        raise TrainingError(
            f"{path} belongs to a run with other settings ({difference}); "
            "resume with the same ones or give another folder"
        )
    for state in states:
        _restore(state, _select_prefix(tensors, state.name))
    return TrainingProgress(**json.loads(metadata["progress"]))


def _collect_tensors(state: LearnerState) -> dict[str, Tensor]:
    tensors = _add_prefix("network", state.network.state_dict())
    if state.average is not None:
        tensors |= _add_prefix("average", state.average.network.state_dict())
    for number, moments in state.optimizer.state_dict()["state"].items():
        tensors |= _add_prefix(f"optimizer.{number}", moments)
    return tensors


def _restore(state: LearnerState, tensors: Mapping[str, Tensor]) -> None:
    state.network.load_state_dict(_select_prefix(tensors, "network"))
    if state.average is not None:
        state.average.network.load_state_dict(_select_prefix(tensors, "average"))
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in _select_prefix(tensors, "optimizer").items():
        number, _, name = key.partition(".")
        moments.setdefault(int(number), {})[name] = value
    state.optimizer.load_state_dict({**state.optimizer.state_dict(), "state": moments})


def save_weights(path: Path, network: nn.Module, metadata: Mapping[str, str], *, half: bool = False) -> None:
    """Save the network alone, with metadata to rebuild it; `half` stores 16 bits per weight."""
    tensors = network.state_dict()
    if half:
        tensors = {key: t.half() if t.is_floating_point() else t for key, t in tensors.items()}
    write_tensors(path, tensors, metadata)


def _add_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}." if prefix else ""
    return {f"{start}{key}": value for key, value in tensors.items()}


def _select_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    start = f"{prefix}." if prefix else ""
    return {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}


def describe_settings_difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    """The settings, nested ones included, in which two runs differ, apart from those of the machine."""
    old, new = _flatten(before), _flatten(after)
    keys = sorted(key for key in (old | new).keys() - _MACHINE_SETTINGS if old.get(key) != new.get(key))
    return ", ".join(f"{key}: {old.get(key)} there, {new.get(key)} here" for key in keys)


def _flatten(data: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flatten(value) if isinstance(value, dict) else {key: value}
    return flat


def load_start_weights(path: Path, settings: Any) -> LoadedNetwork:
    """Load weights to start from; refuse them unless they fit the network's `settings`."""
    loaded = load_network(path)
    if type(loaded.config) is not type(settings):
        kind = loaded.metadata["network"]
        raise TrainingError(f"{path} holds a {kind}, which this config does not train; give other weights")
    stored, wanted = (
        {**asdict(config), **dict.fromkeys(_CHANGEABLE_SETTINGS)} for config in (loaded.config, settings)
    )
    if stored != wanted:
        raise TrainingError(
            f"the weights of {path} have other settings "
            f"({describe_settings_difference(stored, wanted)}); give the same ones"
        )
    return loaded


def get_known_words(loaded: LoadedNetwork, size: int) -> WordVectors:
    """The vocabulary of loaded weights, without vectors: they are part of the weights."""
    return WordVectors(loaded.vocabulary, np.zeros((len(loaded.vocabulary), size), np.float32))


def copy_weights(network: nn.Module, loaded: LoadedNetwork) -> None:
    network.load_state_dict(loaded.network.state_dict())


REPORT_EVERY = 10
"""Iterations between two lines about losses."""
FIGURES_FILE = "figures.jsonl"


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended: `reason` is iterations, minutes or patience."""

    reason: str
    progress: TrainingProgress
    figures: dict[str, float]
    """Of the last validation."""


class TrainingRun:
    """A task being trained in a folder."""

    def __init__(
        self,
        task: TrainingTask,
        settings: LoopSettings,
        folder: Path,
        accelerator: Accelerator,
        reporter: Reporter,
        *,
        settings_json: str,
        half: bool = False,
    ) -> None:
        self.task = task
        self.settings = settings
        self.folder = folder
        self.accelerator = accelerator
        self.reporter = reporter
        self.settings_json = settings_json
        self.half = half
        self.progress = TrainingProgress()
        self.figures: dict[str, float] = {}
        self.trainers = [
            LearnerTrainer(learner, number, settings, accelerator)
            for number, learner in enumerate(list_learners(task))
        ]

    @property
    def states(self) -> list[LearnerState]:
        """Of all learners, the network's first."""
        return [trainer.state for trainer in self.trainers]

    def resume(self) -> None:
        """Restore the folder's checkpoint, if there is one."""
        if (self.folder / CHECKPOINT_FILE).exists():
            self.progress = load_checkpoint(self.folder / CHECKPOINT_FILE, self.settings_json, self.states)
            self.reporter.say(f"resuming after iteration {self.progress.iteration}")

    def run(self, minutes: float | None = None) -> TrainingResult:
        """Train until the iterations are done, the time is up or patience ends; then save everything."""
        deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        validated = self.progress.iteration
        meter = LossMeter()
        while not (reason := self._stop_reason(deadline)):
            self.progress.iteration += 1
            meter.add(self.step())
            if self.progress.iteration % REPORT_EVERY == 0:
                self._report(meter)
                meter = LossMeter()
            if self.progress.iteration % self.settings.validate_every == 0:
                validated = self.progress.iteration
                self._validate()
                self._save()
        if validated != self.progress.iteration:
            self._validate()
            self._save()
        if self.accelerator.is_main_process:
            save_record(self.folder / RUN_RECORD_FILE, self.progress, self.settings_json, reason)
        return TrainingResult(reason, self.progress, self.figures)

    def _stop_reason(self, deadline: float) -> str:
        """Why to stop now, or an empty string; all processes follow the first one's clock."""
        progress, settings = self.progress, self.settings
        if progress.iteration >= settings.iterations:
            return "iterations"
        if settings.patience and progress.iteration - progress.best_iteration >= settings.patience:
            return "patience"
        late = time.monotonic() >= deadline
        if self.accelerator.num_processes > 1:
            flag = torch.tensor(late, device=self.accelerator.device, dtype=torch.int32)
            late = bool(broadcast(flag).item())
        return "minutes" if late else ""

    def step(self) -> dict[str, Tensor]:
        """One step of every learner, with the weights of the others frozen; returns all losses."""
        parts: dict[str, Tensor] = {}
        for state in self.states:
            state.network.train()
        for trainer in self.trainers:
            with freeze_weights(state.network for state in self.states if state is not trainer.state):
                parts |= trainer.step(self.progress.iteration)
        return parts

    def _report(self, meter: LossMeter) -> None:
        means, rate = meter.means()
        for name, value in means.items():
            if not math.isfinite(value):
                raise TrainingError(
                    f"{name} is {value} at iteration {self.progress.iteration}; resume from the last "
                    "checkpoint with a lower learning_rate or with clip=1"
                )
        self.reporter.report_progress(self.progress.iteration, self.settings.iterations, means, rate)

    def _validate(self) -> None:
        """Validate the averaged weights, if there is an average, in the first process only."""
        best = torch.zeros(2, dtype=torch.float64, device=self.accelerator.device)
        if self.accelerator.is_main_process:
            state = self.states[0]
            network = state.network if state.average is None else state.average.network
            network.eval()
            with torch.no_grad():
                self.figures = self.task.validate(network)
            self._keep_if_best(network)
            best = best.new_tensor([math.nan if self.progress.best is None else self.progress.best, 0])
            best[1] = self.progress.best_iteration
        if self.accelerator.num_processes > 1:
            figure, iteration = broadcast(best).tolist()
            self.progress.best = None if math.isnan(figure) else figure
            self.progress.best_iteration = int(iteration)

    def _keep_if_best(self, network: nn.Module) -> None:
        """Save the weights if their figure is the lowest so far, or if there is no such figure."""
        figure = self.figures.get(self.task.selects)
        better = figure is None or self.progress.best is None or figure < self.progress.best
        self.reporter.report_validation(self.progress.iteration, self.figures, better)
        if better:
            self.progress.best, self.progress.best_iteration = figure, self.progress.iteration
            self._save_weights(BEST_WEIGHTS_FILE, network, self.task.metadata())
            for learner in (trainer.learner for trainer in self.trainers):
                if learner.metadata is not None:
                    self._save_weights(f"{learner.name}.safetensors", learner.network, learner.metadata)

    def _save_weights(self, name: str, network: nn.Module, metadata: Mapping[str, str]) -> None:
        status = {
            "iteration": str(self.progress.iteration),
            "iterations": str(self.settings.iterations),
            "figures": json.dumps(self.figures),
        }
        save_weights(self.folder / name, network, {**metadata, **status}, half=self.half)

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            save_checkpoint(self.folder / CHECKPOINT_FILE, self.progress, self.settings_json, self.states)
            save_record(self.folder / RUN_RECORD_FILE, self.progress, self.settings_json)
        self.accelerator.wait_for_everyone()


class LearnerTrainer:
    """The optimizer of a learner, the `number`-th from 0; the first has the moving average."""

    def __init__(
        self, learner: Learner, number: int, settings: LoopSettings, accelerator: Accelerator
    ) -> None:
        self.learner = learner
        self.settings = settings
        self.accelerator = accelerator
        objective = LossModule(learner, number, settings, accelerator.process_index)
        self.objective = accelerator.prepare_model(objective.to(accelerator.device))
        network, betas = learner.network, (settings.beta1, settings.beta2)
        self.state = LearnerState(
            learner.name,
            network,
            torch.optim.AdamW(network.parameters(), betas=betas, weight_decay=settings.weight_decay),
            WeightAverage(network, settings.ema) if settings.ema and not number else None,
        )

    def step(self, iteration: int) -> dict[str, Tensor]:
        """One optimizer step; returns the parts of the loss. Without any there is no step."""
        settings, (_, network, optimizer, average) = self.settings, self.state
        for group in optimizer.param_groups:
            group["lr"] = self.learner.pace * compute_learning_rate(settings, iteration)
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


class LossModule(nn.Module):
    """A loss as a module, so that a distributed wrapper sees every pass through the learner's network."""

    def __init__(self, learner: Learner, number: int, settings: LoopSettings, rank: int) -> None:
        super().__init__()
        self.network = learner.network
        self.use_bfloat16 = settings.precision == "bfloat16" and not learner.own_precision
        self._loss = learner.loss
        self._numbers = (settings.seed, rank, number)

    def forward(self, iteration: int) -> dict[str, Tensor]:
        seed, rank, number = self._numbers
        torch.manual_seed(derive_seed(seed, iteration, rank, 2 * number + 1))
        generator = make_generator(seed, iteration, rank, 2 * number + 2)
        device = next(self.network.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.use_bfloat16):
            return self._loss(iteration, generator)


@contextmanager
def freeze_weights(networks: Iterable[nn.Module]) -> Iterator[None]:
    """Compute no gradients for the weights of these networks, though gradients pass through them."""
    weights = [weight for network in networks for weight in network.parameters() if weight.requires_grad]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


class LossMeter:
    """Losses since the last report; copied from the device only by `means`."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Tensor]] = {}
        self._count = 0
        self._start = time.monotonic()

    def add(self, parts: dict[str, Tensor]) -> None:
        self._count += 1
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def means(self) -> tuple[dict[str, float], float]:
        """Mean parts, and iterations per second."""
        means = {name: torch.stack(parts).mean().item() for name, parts in self._parts.items()}
        return means, self._count / max(1e-9, time.monotonic() - self._start)


class Reporter:
    """Progress of a run: on a terminal one line that is overwritten, elsewhere plain lines.

    Figures also go to `folder`, as lines of JSON and as events for TensorBoard where that is installed.
    """

    def __init__(self, stream: TextIO, folder: Path) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._folder = folder
        self._board = _open_tensorboard(folder / "events")
        self._unfinished = 0
        """Length of the line on the terminal that may still be overwritten."""

    def report_progress(self, iteration: int, of: int, parts: Mapping[str, float], rate: float) -> None:
        """Report the mean losses since the last call, and iterations per second."""
        text = f"{iteration}/{of}  {_format_figures(parts)}  {rate:.2f}/s"
        self._write(text, final=not self._live)
        self._add_scalars("train", iteration, parts)

    def report_validation(self, iteration: int, figures: Mapping[str, float], best: bool) -> None:
        self._write(f"{iteration}: {_format_figures(figures)}{'  best so far' if best else ''}")
        self._add_scalars("validation", iteration, figures)
        with (self._folder / FIGURES_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"iteration": iteration, **figures}) + "\n")

    def say(self, text: str) -> None:
        self._write(text)

    def close(self) -> None:
        if self._unfinished:
            self._write("")
        if self._board is not None:
            self._board.close()

    def _write(self, text: str, *, final: bool = True) -> None:
        start = "\r" if self._unfinished else ""
        self._stream.write(f"{start}{text.ljust(self._unfinished)}" + ("\n" if final else ""))
        self._stream.flush()
        self._unfinished = 0 if final else len(text)

    def _add_scalars(self, group: str, iteration: int, figures: Mapping[str, float]) -> None:
        if self._board is not None:
            for name, value in figures.items():
                self._board.add_scalar(f"{group}/{name}", value, iteration)


class SilentReporter(Reporter):
    """Reports nothing: for all processes but the first."""

    def __init__(self) -> None:
        pass

    def report_progress(self, iteration: int, of: int, parts: Mapping[str, float], rate: float) -> None:
        pass

    def report_validation(self, iteration: int, figures: Mapping[str, float], best: bool) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


def _format_figures(figures: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.4f}" for name, value in figures.items())


def _open_tensorboard(folder: Path) -> Any:
    """A writer of events; None where TensorBoard is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder))


def open_run_folder(folder: Path, *, resume: bool) -> None:
    """Make the folder of a run; refuse one that holds a run, unless it is to be resumed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be created ({error.strerror}); choose another folder") from None
    if (folder / CHECKPOINT_FILE).exists():
        if not resume:
            raise TrainingError(f"{folder} holds a run already; give another folder, or resume it")
    elif (folder / BEST_WEIGHTS_FILE).exists():
        raise TrainingError(
            f"{folder} holds {BEST_WEIGHTS_FILE} and no checkpoint to resume from; "
            f"give another folder, or remove {BEST_WEIGHTS_FILE} to train again"
        )

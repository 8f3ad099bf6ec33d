"""Train by name: from a config and a packed set to trained weights."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TextIO, TypeVar

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs

from ..data.packed import PackedSet, read_packed
from ..data.words import WORDS_FILE, WordVectors, read_word_vectors
from ..errors import TrainingError
from ..models import LoadedNetwork
from ..models.answering import NO_BFLOAT16_MESSAGE, supports_bfloat16
from ..models.baselines import BASELINES
from .adversarial import AdversarialTask, get_baseline_settings
from .checkpoints import copy_weights, get_known_words, load_start_weights
from .loop import TrainingResult, TrainingRun, open_run_folder
from .reporting import Reporter, SilentReporter
from .retoucher import RetoucherSettings, RetoucherTask
from .settings import apply_assignments, setting_names, settings_to_json
from .t2onet import PaperSettings, PaperTask, ReinforcementSettings, ReinforcementTask
from .task import ProcessInfo, TrainingTask

# What can be trained, by name: the settings as they come and how they become a task.


@dataclass(frozen=True)
class TrainingConfig:
    """`task` makes something to train of `settings`, a dataclass with the parts `loop` (LoopSettings) and
    `network`, which has a `word_size` if the task `reads` words; else it is given None for them.
    """

    name: str
    help: str
    settings: Any
    task: Callable[[Any, PackedSet, Any, ProcessInfo], TrainingTask]
    reads: bool = True
    begins: bool = False
    """Whether it needs trained weights to begin with."""


_REGISTRY: dict[str, TrainingConfig] = {}


def register_config(config: TrainingConfig) -> TrainingConfig:
    """Enrol a config; the command line and the tests know it from now on."""
    if config.name in _REGISTRY:
        raise ValueError(f"a config called {config.name!r} is registered already")
    _REGISTRY[config.name] = config
    return config


def configs() -> Mapping[str, TrainingConfig]:
    return dict(_REGISTRY)


def get_config(name: str) -> TrainingConfig:
    """The config called `name`, or an error that offers the valid spellings."""
    if name in _REGISTRY:
        return _REGISTRY[name]
    near = get_close_matches(name, _REGISTRY, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_REGISTRY)}."
    raise TrainingError(f"there is no config {name!r}; {hint}")


DEFAULT = register_config(
    TrainingConfig("default", "The network that is shipped.", RetoucherSettings(), RetoucherTask, reads=False)
)
PAPER = register_config(TrainingConfig("paper", "T2ONet as published.", PaperSettings(), PaperTask))
RL = register_config(
    TrainingConfig("rl", "T2ONet by reinforcement, from nothing.", ReinforcementSettings(), ReinforcementTask)
)
RL_PRETRAINED = register_config(
    TrainingConfig(
        "rl-pretrained",
        "T2ONet by reinforcement, after plans.",
        ReinforcementSettings(),
        ReinforcementTask,
        begins=True,
    )
)
for _name, _baseline in BASELINES.items():
    register_config(
        TrainingConfig(
            _name,
            f"{_baseline.title}, which the paper compares with.",
            get_baseline_settings(_name),
            AdversarialTask,
        )
    )


# Settings that a device can follow: float32 in the place of bfloat16 where it does not compute in that.

S = TypeVar("S")

_FLOAT32_SETTINGS = {"precision": "float32", "narrow": "false"}
"""Settings that may ask for bfloat16, and how they do not."""


def adapt_precision(settings: S, device: torch.device) -> S:
    """The settings as they are, or without bfloat16 where the device lacks it."""
    wide = apply_assignments(
        settings,
        [f"{name}={value}" for name, value in _FLOAT32_SETTINGS.items() if name in setting_names(settings)],
    )
    return settings if wide == settings or supports_bfloat16(device) else wide


# From a config's name and a packed set to trained weights: what both command lines call.


def train(
    config: str,
    data: Path,
    out: Path,
    *,
    assignments: Iterable[str] = (),
    words: Path | None = None,
    start: Path | None = None,
    resume: bool = False,
    minutes: float | None = None,
    half: bool = False,
    cpu: bool = False,
    stream: TextIO | None = None,
) -> TrainingResult:
    """Train a registered config on a packed set into the folder `out`.

    `assignments` are settings as `name=value`; `words` are those beside the data by default. `start` is a
    file of weights to begin with, which brings its own words. `minutes` ends the run early, as whole as any
    other end; `half` stores the best weights with 16 bits each. A device that does not compute in bfloat16
    trains in float32, which the run says and its settings record.
    """
    chosen = get_config(config)
    asked = apply_assignments(chosen.settings, assignments)
    begun = _load_start(chosen, asked, start, words)
    open_run_folder(out, resume=resume)
    spread = DistributedDataParallelKwargs(find_unused_parameters=True)
    accelerator = Accelerator(cpu=cpu, kwargs_handlers=[spread])
    first = accelerator.is_main_process
    reporter = Reporter(stream or sys.stdout, out) if first else SilentReporter()
    try:
        settings = adapt_precision(asked, accelerator.device)
        if settings != asked:
            reporter.say(NO_BFLOAT16_MESSAGE)
        packed = read_packed(data)
        place = ProcessInfo(accelerator.device, accelerator.process_index, accelerator.num_processes)
        known = None
        if chosen.reads:
            size = settings.network.word_size
            known = (
                get_known_words(begun, size)
                if begun
                else _load_words(packed, words, data / WORDS_FILE, size, reporter)
            )
        task = chosen.task(settings, packed, known, place)
        if begun is not None:
            copy_weights(task.network, begun)
        run = TrainingRun(
            task, settings.loop, out, accelerator, reporter, described=settings_to_json(settings), half=half
        )
        if resume:
            run.resume()
        outcome = run.go(minutes)
        reporter.say(f"ended by {outcome.reason} after iteration {outcome.progress.iteration} -> {out}")
        return outcome
    finally:
        reporter.close()


def _load_start(
    config: TrainingConfig, settings: Any, start: Path | None, words: Path | None
) -> LoadedNetwork | None:
    """What to begin with, or nothing; refused where that does not fit the config."""
    if start is None:
        if config.begins:
            raise TrainingError(f"{config.name} begins with trained weights; give them with --from FILE")
        return None
    if words is not None:
        raise TrainingError("weights to begin with bring their own words; leave out --from or --words")
    return load_start_weights(start, settings.network)


def _load_words(
    data: PackedSet, given: Path | None, beside: Path, size: int, reporter: Reporter
) -> WordVectors:
    if given is not None or beside.exists():
        return read_word_vectors(given or beside)
    reporter.say(f"there is no {beside.name} beside the data: word vectors are learned from nothing")
    return WordVectors.without_vectors(data.training_requests(), size)

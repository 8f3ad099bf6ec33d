"""The registered configs, and what can be done with one by name: train it, or time it."""

from __future__ import annotations

import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeVar

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs
from torch import Tensor, nn

from ..data.packed import PackedSet, read_packed
from ..errors import TrainingError, suggest
from ..language.vocabulary import WORDS_FILE, WordVectors, read_word_vectors
from ..models.answering import NO_BFLOAT16_MESSAGE, supports_bfloat16
from ..models.baselines import BASELINES
from ..models.decoding import GreedyDecoding, RequestBatch, decode_steps
from ..models.files import LoadedNetwork, load_network
from ..models.t2onet import T2ONet
from .loop import (
    Reporter,
    SilentReporter,
    TrainingResult,
    TrainingRun,
    copy_weights,
    get_known_words,
    load_start_weights,
    open_run_folder,
)
from .paper import (
    AdversarialTask,
    PaperSettings,
    PaperTask,
    ReinforcementSettings,
    ReinforcementTask,
    get_baseline_settings,
)
from .task import ProcessInfo, TrainingTask, apply_assignments, settings_to_json

Settings = TypeVar("Settings")

TIMED_PHOTO_SIDES = (128, 600)
"""Sides in pixels of the timed photos: as in training, and the short side of the paper's tests."""
_WARM_UP_ITERATIONS, _TIMED_ITERATIONS = 2, 6
"""Untimed iterations, and timed ones; both even, since losses may alternate."""
_TIMED_REQUEST = "increase the brightness a little"


@dataclass(frozen=True)
class TrainingConfig:
    """A named config: default settings, and the task they describe.

    `settings` is a dataclass with the parts `loop` (LoopSettings) and `network`; the task is given word
    vectors of the size `network.word_size`.
    """

    name: str
    help: str
    settings: Any
    task: Callable[[Any, PackedSet, WordVectors, ProcessInfo], TrainingTask]
    needs_start: bool = False
    """Whether it must start from trained weights."""


_REGISTRY: dict[str, TrainingConfig] = {}


def register_config(config: TrainingConfig) -> TrainingConfig:
    """Make a config available to the command lines and the tests."""
    if config.name in _REGISTRY:
        raise ValueError(f"a config called {config.name!r} is registered already")
    _REGISTRY[config.name] = config
    return config


def configs() -> Mapping[str, TrainingConfig]:
    """All registered configs, by name."""
    return dict(_REGISTRY)


def get_config(name: str) -> TrainingConfig:
    """The config called `name`; the error for an unknown one suggests valid names."""
    if name in _REGISTRY:
        return _REGISTRY[name]
    raise TrainingError(f"there is no config {name!r}; {suggest(name, _REGISTRY)}")


def _register_all() -> None:
    register_config(TrainingConfig("paper", "T2ONet as published.", PaperSettings(), PaperTask))
    for name, when, needs_start in (("rl", "from scratch", False), ("rl-pretrained", "after plans", True)):
        register_config(
            TrainingConfig(
                name,
                f"T2ONet by reinforcement, {when}.",
                ReinforcementSettings(),
                ReinforcementTask,
                needs_start=needs_start,
            )
        )
    for name, baseline in BASELINES.items():
        help = f"{baseline.title}, which the paper compares with."
        register_config(TrainingConfig(name, help, get_baseline_settings(name), AdversarialTask))


_register_all()


def adapt_precision(settings: Settings, device: torch.device) -> Settings:
    """The settings, with float32 in place of bfloat16 where the device does not support that."""
    float32 = apply_assignments(settings, ["precision=float32"])
    return settings if float32 == settings or supports_bfloat16(device) else float32


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

    `assignments` are settings as `name=value`; `words` is by default the file beside the data. `start` is a
    file of weights to start from, with the words it was trained on. `minutes` ends the run early, with
    everything saved; `half` stores the best weights in 16 bits. A device without bfloat16 trains in float32,
    which is reported and recorded in the run's settings.
    """
    chosen = get_config(config)
    requested = apply_assignments(chosen.settings, assignments)
    loaded = _load_start(chosen, requested, start, words)
    open_run_folder(out, resume=resume)
    distributed = DistributedDataParallelKwargs(find_unused_parameters=True)
    accelerator = Accelerator(cpu=cpu, kwargs_handlers=[distributed])
    reporter = Reporter(stream or sys.stdout, out) if accelerator.is_main_process else SilentReporter()
    try:
        settings = adapt_precision(requested, accelerator.device)
        if settings != requested:
            reporter.say(NO_BFLOAT16_MESSAGE)
        packed = read_packed(data)
        process = ProcessInfo(accelerator.device, accelerator.process_index, accelerator.num_processes)
        size = settings.network.word_size
        if loaded is not None:
            vectors = get_known_words(loaded, size)
        else:
            vectors = _load_words(packed, words, data / WORDS_FILE, size, reporter)
        task = chosen.task(settings, packed, vectors, process)
        if loaded is not None:
            copy_weights(task.network, loaded)
        run = TrainingRun(
            task,
            settings.loop,
            out,
            accelerator,
            reporter,
            settings_json=settings_to_json(settings),
            half=half,
        )
        if resume:
            run.resume()
        result = run.run(minutes)
        reporter.say(f"ended by {result.reason} after iteration {result.progress.iteration} -> {out}")
        return result
    finally:
        reporter.close()


def _load_start(
    config: TrainingConfig, settings: Any, start: Path | None, words: Path | None
) -> LoadedNetwork | None:
    """The weights to start from, if any; refused where they do not fit the config."""
    if start is None:
        if config.needs_start:
            raise TrainingError(f"{config.name} starts from trained weights; give them with --from FILE")
        return None
    if words is not None:
        raise TrainingError("weights to start from bring their own words; leave out --from or --words")
    return load_start_weights(start, settings.network)


def _load_words(
    data: PackedSet, path: Path | None, default: Path, size: int, reporter: Reporter
) -> WordVectors:
    if path is not None or default.exists():
        return read_word_vectors(path or default)
    reporter.say(f"there is no {default.name} beside the data: word vectors are learned from scratch")
    return WordVectors.without_vectors(data.training_requests(), size)


@dataclass(frozen=True)
class ConfigTiming:
    """Seconds that a config takes on a device; None for what was not measured."""

    config: str
    device: str
    batch: int
    train: float | None
    """An iteration of a whole batch."""
    test: dict[str, float]
    """An answer about one photo, by the side of the photo in pixels."""


def time_config(
    config: str,
    data: Path | None,
    weights: Path | None,
    *,
    settings: Iterable[str] = (),
    sizes: Iterable[int] = TIMED_PHOTO_SIDES,
    cpu: bool = False,
) -> ConfigTiming:
    """Time some iterations on a packed set and some answers with trained weights, where given."""
    chosen = apply_assignments(get_config(config).settings, settings)
    accelerator = Accelerator(cpu=cpu)
    if adapt_precision(chosen, accelerator.device) != chosen:
        raise TrainingError("this device does not compute in bfloat16; measure float32 here")
    train = None if data is None else _time_iteration(config, chosen, data, accelerator)
    test = {} if weights is None else _time_answers(weights, accelerator.device, sizes)
    return ConfigTiming(config, get_device_name(accelerator.device), chosen.loop.batch, train, test)


def get_device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"


def _time_iteration(config: str, settings: Any, data: Path, accelerator: Accelerator) -> float:
    packed, reporter = read_packed(data), SilentReporter()
    words = _load_words(packed, None, data / WORDS_FILE, settings.network.word_size, reporter)
    task = get_config(config).task(settings, packed, words, ProcessInfo(accelerator.device))
    with tempfile.TemporaryDirectory() as folder:
        run = TrainingRun(
            task,
            settings.loop,
            Path(folder),
            accelerator,
            reporter,
            settings_json=settings_to_json(settings),
        )

        def step() -> None:
            run.progress.iteration += 1
            run.step()

        return _measure_seconds(step, accelerator.device)


def _time_answers(weights: Path, device: torch.device, sizes: Iterable[int]) -> dict[str, float]:
    loaded = load_network(weights)
    answer = _get_answer_function(loaded.network.to(device))
    tokens = torch.tensor([loaded.vocabulary.encode(_TIMED_REQUEST)], device=device)
    seconds = {}
    for side in sizes:
        photo = torch.rand(1, 3, side, side, generator=torch.Generator().manual_seed(0)).to(device)
        with torch.inference_mode():
            seconds[str(side)] = _measure_seconds(partial(answer, photo, tokens), device)
    return seconds


def _get_answer_function(network: nn.Module) -> Callable[[Tensor, Tensor], Any]:
    if not isinstance(network, T2ONet):
        return network
    return lambda photo, tokens: decode_steps(
        network, RequestBatch(tokens, tokens != 0, photo), GreedyDecoding()
    )


def _measure_seconds(function: Callable[[], object], device: torch.device) -> float:
    """The mean over a few calls, after some untimed ones."""
    for _ in range(_WARM_UP_ITERATIONS):
        function()
    _synchronize(device)
    start = time.perf_counter()
    for _ in range(_TIMED_ITERATIONS):
        function()
    _synchronize(device)
    return (time.perf_counter() - start) / _TIMED_ITERATIONS


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

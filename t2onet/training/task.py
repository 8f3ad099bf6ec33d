"""What the loop trains: settings, learners, tasks, seeded randomness, averaged weights."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..errors import TrainingError, suggest

S = TypeVar("S")


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop, shared by all configs."""

    iterations: int = 3000
    batch: int = 64
    """Of all processes together."""
    seed: int = 0
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 0.0
    schedule: Literal["constant", "cosine"] = "constant"
    warm_up: int = 0
    """Iterations over which the learning rate rises from zero."""
    clip: float = 0.0
    """Maximum norm of the gradient; 0 for no limit."""
    ema: float = 0.0
    """Decay of the moving average of weights (.999, say); 0 for no average."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the network; operations on pictures always run in float32."""
    validate_every: int = 250
    patience: int = 0
    """Stop after this many iterations without a better figure; 0 for never."""

    def __post_init__(self) -> None:
        for name in ("iterations", "batch", "validate_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")


def apply_assignments(settings: S, assignments: Iterable[str]) -> S:
    """Apply each `name=value`; names of nested settings are given alone (`hidden`, not `network.hidden`)."""
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise TrainingError(f"{assignment!r} is not a setting; settings are given as name=value")
        settings = _assign(settings, name.strip(), text.strip())
    return settings


def setting_names(settings: object) -> Iterator[str]:
    """The names of all settings, nested ones included."""
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        yield from setting_names(value) if is_dataclass(value) else (field.name,)


def settings_to_json(settings: object) -> str:
    return json.dumps(asdict(settings), sort_keys=True)  # type: ignore[call-overload]


def _assign(settings: S, name: str, text: str) -> S:
    hints = get_type_hints(type(settings))
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        try:
            if field.name == name and not is_dataclass(value):
                return replace(settings, **{name: _parse_value(name, text, hints[name])})  # type: ignore[type-var]
            if is_dataclass(value) and name in setting_names(value):
                return replace(settings, **{field.name: _assign(value, name, text)})  # type: ignore[type-var]
        except ValueError as error:
            raise TrainingError(f"{name}={text} is refused: {error}") from error
    raise TrainingError(f"there is no setting {name!r}; {suggest(name, setting_names(settings))}")


def _parse_value(name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise TrainingError(f"{name} must be one of {', '.join(get_args(kind))}, not {text!r}")
        return text
    if get_origin(kind) is tuple:
        kind, *_ = get_args(kind)
        return tuple(_parse_value(name, part.strip(), kind) for part in text.split(",") if part.strip())
    if kind is bool:
        if text not in ("true", "false"):
            raise TrainingError(f"{name} must be true or false, not {text!r}")
        return text == "true"
    try:
        return kind(text)
    except ValueError:
        expected = "a whole number" if kind is int else "a number"
        raise TrainingError(f"{name} must be {expected}, not {text!r}") from None


@dataclass(frozen=True)
class ProcessInfo:
    """The device of this process, and its number among several."""

    device: torch.device
    rank: int = 0
    processes: int = 1


LossFunction = Callable[[int, torch.Generator], dict[str, Tensor]]
"""As `TrainingTask.loss`."""


@dataclass(frozen=True)
class Learner:
    """A network with a loss of its own, which changes no other network's weights."""

    name: str
    network: nn.Module
    loss: LossFunction
    """Returns no parts to skip an iteration. Names of parts differ between learners."""
    pace: float = 1.0
    """Learning rate, as a multiple of the loop's."""
    metadata: Mapping[str, str] | None = None
    """Metadata of its file of weights; if None they are kept in the checkpoint only."""
    own_precision: bool = False
    """Whether its loss applies the setting `precision` itself; else the loop runs it under autocast."""


class TrainingTask(Protocol):
    """A network to train and its losses.

    Optional attributes: `others`, a sequence of learners that take a step after the network in every
    iteration, and `own_precision`, as in `Learner`.
    """

    @property
    def network(self) -> nn.Module: ...

    @property
    def selects(self) -> str:
        """The name of the figure of `validate` whose lowest value marks the best weights."""

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The parts whose sum is minimized; iterations count from 1.

        All randomness comes from `generator` (on the CPU) or follows from `iteration`.
        """

    def validate(self, network: nn.Module) -> dict[str, float]:
        """Measure a copy of the network, in evaluation mode."""

    def metadata(self) -> Mapping[str, str]:
        """The metadata from which `load_network` can rebuild the network."""


_RESERVED_NAMES = ("", "network", "average", "optimizer", "best", "checkpoint")
"""Names in checkpoints and in the folder of a run."""


def list_learners(task: TrainingTask) -> tuple[Learner, ...]:
    """The network of a task as a learner without a name, then its others."""
    others: tuple[Learner, ...] = tuple(getattr(task, "others", ()))
    names = [learner.name for learner in others]
    if len({*names, *_RESERVED_NAMES}) < len(names) + len(_RESERVED_NAMES):
        raise ValueError(
            f"the other learners are called {names}; names must be unique and none of {_RESERVED_NAMES}"
        )
    own_precision = getattr(task, "own_precision", False)
    return Learner("", task.network, task.loss, own_precision=own_precision), *others


def derive_seed(*numbers: int) -> int:
    """A seed of 63 bits from non-negative numbers alone, so that a run resumes exactly."""
    return int(_seed_sequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def make_generator(*numbers: int) -> torch.Generator:
    """A generator on the CPU, so that every device sees the same values."""
    return torch.Generator().manual_seed(derive_seed(*numbers))


def draw_batch_indices(count: int, size: int, at: int, *numbers: int) -> NDArray[np.int64]:
    """Batch number `at` (from 0) of `size` out of `count` indices, shuffled anew in each epoch."""
    positions = np.arange(at * size, (at + 1) * size)
    epochs = {
        int(epoch): shuffle_indices(count, int(epoch), *numbers) for epoch in np.unique(positions // count)
    }
    return np.array([epochs[int(position // count)][position % count] for position in positions], np.int64)


def shuffle_indices(count: int, *numbers: int) -> NDArray[np.int64]:
    """0 .. count - 1, shuffled."""
    return np.random.default_rng(_seed_sequence(numbers)).permutation(count)


def _seed_sequence(numbers: tuple[int, ...]) -> np.random.SeedSequence:
    """NumPy treats (1,) and (1, 0) alike; their length distinguishes them."""
    return np.random.SeedSequence([len(numbers), *numbers])


class WeightAverage:
    """A moving average of a network's weights; the first iterations count more than `keep` says."""

    def __init__(self, network: nn.Module, keep: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self.keep = keep

    @torch.no_grad()
    def update(self, network: nn.Module, iteration: int) -> None:
        """Move towards `network` after an iteration (from 1); buffers are copied."""
        share = 1 - min(self.keep, iteration / (iteration + 10))
        for average, weight in zip(self.network.parameters(), network.parameters(), strict=True):
            average.lerp_(weight, share)
        for copied, buffer in zip(self.network.buffers(), network.buffers(), strict=True):
            copied.copy_(buffer)


def compute_learning_rate(settings: LoopSettings, iteration: int) -> float:
    """At an iteration from 1: rising through the warm-up, then constant or a cosine down to zero."""
    if iteration <= settings.warm_up:
        return settings.learning_rate * iteration / settings.warm_up
    if settings.schedule == "constant":
        return settings.learning_rate
    done = (iteration - settings.warm_up) / max(1, settings.iterations - settings.warm_up)
    return settings.learning_rate * (1 + math.cos(math.pi * min(1.0, done))) / 2

"""Checkpoints: the state of a run in one file, and starting from trained weights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..data.words import WordVectors
from ..errors import TrainingError
from ..image import write_atomically
from ..models import LoadedNetwork, load_network
from ..models.files import read_tensors, write_tensors
from .task import WeightAverage

_MACHINE_SETTINGS = {"workers"}
"""Settings that affect the speed of a run and not its results."""
_CHANGEABLE_SETTINGS = ("max_steps", "ends", "dropout", "blink")
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

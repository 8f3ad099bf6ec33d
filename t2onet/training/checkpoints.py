"""The state of a run in one file, so that the next iteration is the same as if nothing had stopped it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..errors import TrainingError
from ..image import write_atomically
from ..models.files import read_tensors, write_tensors
from .averaging import Average

_OF_MACHINES = {"workers"}
"""Settings that change how fast a run is, and nothing of what it does."""


@dataclass
class Progress:
    """How far a run is; `best` is None until a figure has been compared."""

    iteration: int = 0
    best: float | None = None
    best_iteration: int = 0


class State(NamedTuple):
    """What an iteration changes of a player."""

    name: str
    """Empty for the network that is trained."""
    network: nn.Module
    optimizer: torch.optim.Optimizer
    average: Average | None


def save_checkpoint(path: Path, progress: Progress, settings: str, states: Iterable[State]) -> None:
    """Everything that the next iteration depends on."""
    tensors: dict[str, Tensor] = {}
    for state in states:
        tensors |= _prefixed(state.name, _tensors(state))
    write_tensors(path, tensors, {"progress": json.dumps(asdict(progress)), "settings": settings})


def save_record(path: Path, progress: Progress, settings: str, ended: str = "") -> None:
    """Progress and settings as JSON; `ended` is why the run is over, and empty while it is under way."""
    record = {"ended": ended, "progress": asdict(progress), "settings": json.loads(settings)}
    write_atomically(path, f"{json.dumps(record, indent=1)}\n".encode(), overwrite=True)


def load_checkpoint(path: Path, settings: str, states: Iterable[State]) -> Progress:
    """Put a run back to where `save_checkpoint` found it; refuses a run with other settings."""
    tensors, metadata = read_tensors(path)
    if apart := difference(json.loads(metadata.get("settings", "{}")), json.loads(settings)):
        raise TrainingError(
            f"{path} belongs to a run with other settings ({apart}); "
            "resume with the same ones or give another folder"
        )
    for state in states:
        _restore(state, _part(tensors, state.name))
    return Progress(**json.loads(metadata["progress"]))


def _tensors(state: State) -> dict[str, Tensor]:
    tensors = _prefixed("network", state.network.state_dict())
    if state.average is not None:
        tensors |= _prefixed("average", state.average.network.state_dict())
    for number, moments in state.optimizer.state_dict()["state"].items():
        tensors |= _prefixed(f"optimizer.{number}", moments)
    return tensors


def _restore(state: State, tensors: Mapping[str, Tensor]) -> None:
    state.network.load_state_dict(_part(tensors, "network"))
    if state.average is not None:
        state.average.network.load_state_dict(_part(tensors, "average"))
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in _part(tensors, "optimizer").items():
        number, _, name = key.partition(".")
        moments.setdefault(int(number), {})[name] = value
    state.optimizer.load_state_dict({**state.optimizer.state_dict(), "state": moments})


def save_weights(path: Path, network: nn.Module, metadata: Mapping[str, str], *, half: bool = False) -> None:
    """The network alone and what is needed to make it again; `half` stores 16 bits a weight."""
    tensors = network.state_dict()
    if half:
        tensors = {key: t.half() if t.is_floating_point() else t for key, t in tensors.items()}
    write_tensors(path, tensors, metadata)


def _prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}." if prefix else ""
    return {f"{start}{key}": value for key, value in tensors.items()}


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    start = f"{prefix}." if prefix else ""
    return {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}


def difference(was: dict[str, Any], now: dict[str, Any]) -> str:
    """In which settings, parts included, two runs differ; empty where only the machine's part does."""
    old, new = _flat(was), _flat(now)
    keys = sorted(key for key in (old | new).keys() - _OF_MACHINES if old.get(key) != new.get(key))
    return ", ".join(f"{key}: {old.get(key)} there, {new.get(key)} here" for key in keys)


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value) if isinstance(value, dict) else {key: value}
    return flat

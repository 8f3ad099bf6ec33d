"""Files of weights, with metadata that says which network they belong to, its words and operations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from ..errors import TrainingError
from ..image import check_regular_file, write_atomically
from ..language import Vocabulary
from .baselines import BASELINES
from .discriminator import Discriminator, DiscriminatorConfig
from .t2onet import T2ONet, T2ONetConfig


@dataclass(frozen=True)
class NetworkKind:
    """A kind of network: `build(config, words)` makes one for a vocabulary of `words` words."""

    config: type[Any]
    build: Callable[[Any, int], nn.Module]


NETWORK_KINDS: dict[str, NetworkKind] = {
    "t2onet": NetworkKind(T2ONetConfig, T2ONet),
    "discriminator": NetworkKind(DiscriminatorConfig, Discriminator),
    **{name: NetworkKind(baseline.config, baseline.generator) for name, baseline in BASELINES.items()},
}


@dataclass(frozen=True)
class LoadedNetwork:
    """A network in evaluation mode, and what its file says of it."""

    network: nn.Module
    vocabulary: Vocabulary
    metadata: Mapping[str, str]
    config: Any
    """The config of its kind."""


def describe_network(kind: str, config: Any, vocabulary: Vocabulary) -> dict[str, str]:
    """The metadata that `load_network` needs."""
    return {"network": kind, "config": json.dumps(asdict(config)), "words": json.dumps(vocabulary.words)}


def load_network(path: Path) -> LoadedNetwork:
    """Rebuild the network of a file of weights."""
    tensors, metadata = read_tensors(path)
    if (kind := NETWORK_KINDS.get(metadata.get("network", ""))) is None:
        raise TrainingError(f"{path} holds no network of this release; give the best.safetensors of a run")
    fields = json.loads(metadata["config"])
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    vocabulary = Vocabulary(tuple(json.loads(metadata["words"])))
    config = kind.config(**{**fields, **lists})
    network = kind.build(config, len(vocabulary))
    network.load_state_dict(tensors)
    return LoadedNetwork(network.eval(), vocabulary, metadata, config)


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str], *, overwrite: bool = True
) -> None:
    """Write tensors and metadata atomically; by default an existing file is replaced."""
    stored = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    write_atomically(path, save(stored, dict(metadata)), overwrite=overwrite)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a file, on the CPU, and its metadata."""
    try:
        check_regular_file(path)
        with safe_open(path, "pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read as weights: {error}") from None

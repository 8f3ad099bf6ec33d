"""Beginning with weights that were trained before, and with the words they know."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from ..errors import TrainingError
from ..models import Loaded, load_network
from .checkpoints import difference
from .words import Words

_FREE = ("max_steps", "ends", "dropout", "blink")
"""What a network may be told anew: its weights do not depend on it."""


def start_of(path: Path, settings: Any) -> Loaded:
    """The network of a file, if it is one that `settings` describe."""
    loaded = load_network(path)
    if type(loaded.config) is not type(settings):
        kind = loaded.metadata["network"]
        raise TrainingError(f"{path} holds a {kind}, which this config does not train; give other weights")
    there, here = ({**asdict(config), **dict.fromkeys(_FREE)} for config in (loaded.config, settings))
    if there != here:
        raise TrainingError(
            f"the weights of {path} have other settings ({difference(there, here)}); give the same ones"
        )
    return loaded


def words_of(loaded: Loaded, size: int) -> Words:
    """Its vocabulary; the vectors come with the weights."""
    return Words(loaded.vocabulary, np.zeros((len(loaded.vocabulary), size), np.float32))


def begin_with(network: nn.Module, loaded: Loaded) -> None:
    network.load_state_dict(loaded.network.state_dict())

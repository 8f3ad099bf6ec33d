"""What can be trained, by name: the settings as they come and how they become a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..data.packed import PackedSet
from ..errors import TrainingError
from ..models.baselines import BASELINES
from .adversarial import AdversarialTask, settings_of
from .paper import PaperSettings, PaperTask
from .reinforcement import ReinforcementSettings, ReinforcementTask
from .retoucher.task import RetoucherSettings, RetoucherTask
from .task import Place, Task


@dataclass(frozen=True)
class Config:
    """`task` makes something to train of `settings`, a dataclass with the parts `loop` (LoopSettings) and
    `network`, which has a `word_size` if the task `reads` words; else it is given None for them.
    """

    name: str
    help: str
    settings: Any
    task: Callable[[Any, PackedSet, Any, Place], Task]
    reads: bool = True
    begins: bool = False
    """Whether it needs trained weights to begin with."""


_REGISTRY: dict[str, Config] = {}


def register(config: Config) -> Config:
    """Enrol a config; the command line and the tests know it from now on."""
    if config.name in _REGISTRY:
        raise ValueError(f"a config called {config.name!r} is registered already")
    _REGISTRY[config.name] = config
    return config


def configs() -> Mapping[str, Config]:
    return dict(_REGISTRY)


def get(name: str) -> Config:
    """The config called `name`, or an error that offers the valid spellings."""
    if name in _REGISTRY:
        return _REGISTRY[name]
    near = get_close_matches(name, _REGISTRY, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_REGISTRY)}."
    raise TrainingError(f"there is no config {name!r}; {hint}")


DEFAULT = register(
    Config("default", "The network that is shipped.", RetoucherSettings(), RetoucherTask, reads=False)
)
PAPER = register(Config("paper", "T2ONet as published.", PaperSettings(), PaperTask))
RL = register(
    Config("rl", "T2ONet by reinforcement, from nothing.", ReinforcementSettings(), ReinforcementTask)
)
RL_PRETRAINED = register(
    Config(
        "rl-pretrained",
        "T2ONet by reinforcement, after plans.",
        ReinforcementSettings(),
        ReinforcementTask,
        begins=True,
    )
)
for _name, _baseline in BASELINES.items():
    register(
        Config(
            _name, f"{_baseline.title}, which the paper compares with.", settings_of(_name), AdversarialTask
        )
    )

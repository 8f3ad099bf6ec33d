"""Training: one loop on Accelerate, tasks as losses and figures, configs by name.

Imports only torch, Accelerate, safetensors, NumPy and Pillow, beside this package.
"""

from .configs import Config, configs, register
from .door import train
from .loop import Outcome, Run
from .settings import LoopSettings
from .task import Place, Player, Task
from .words import Words, read_words, write_words

__all__ = [
    "Config",
    "LoopSettings",
    "Outcome",
    "Place",
    "Player",
    "Run",
    "Task",
    "Words",
    "configs",
    "read_words",
    "register",
    "train",
    "write_words",
]

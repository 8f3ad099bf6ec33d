"""Training: one loop on Accelerate, tasks as losses and figures, configs by name.

Imports only torch, Accelerate, safetensors, NumPy and Pillow, beside this package.
"""

from ..language.vocabulary import WordVectors, read_word_vectors, write_word_vectors
from .loop import TrainingResult, TrainingRun
from .run import TrainingConfig, configs, register_config, train
from .task import Learner, LoopSettings, ProcessInfo, TrainingTask

__all__ = [
    "Learner",
    "LoopSettings",
    "ProcessInfo",
    "TrainingConfig",
    "TrainingResult",
    "TrainingRun",
    "TrainingTask",
    "WordVectors",
    "configs",
    "read_word_vectors",
    "register_config",
    "train",
    "write_word_vectors",
]

"""The plans of a whole dataset: made once by any engine, kept under the content of the photos."""

from .engines import Engine, LocalEngine, RayEngine
from .keys import Settings
from .mapping import Plans
from .record import Planned
from .run import plan_dataset
from .tally import Tally

__all__ = [
    "Engine",
    "LocalEngine",
    "Planned",
    "Plans",
    "RayEngine",
    "Settings",
    "Tally",
    "plan_dataset",
]

"""Where pairs are planned: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Protocol

from ..work import Outcome, Task
from .cluster import RayEngine
from .local import LocalEngine

__all__ = ["Engine", "LocalEngine", "RayEngine"]


class Engine(Protocol):
    """Takes tasks as it has room for them, and gives outcomes as they come, in any order.

    Closing the generator stops the work; a worker that dies costs no task its outcome.
    """

    def run(self, tasks: Iterable[Task]) -> Generator[Outcome, None, None]: ...

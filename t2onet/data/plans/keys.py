"""What a plan depends on, as one key: the bytes of both photos, the operations there are, and the planner.

Names and places of files are no part of it, so a dataset may move, and a pair that several samples share is
one pair.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ... import operations
from ...errors import PlanError
from ...operations import Operation
from ..digests import digest
from ..sample import Sample

if TYPE_CHECKING:
    from ...planning.planner import Way

PLANNER_VERSION = 3
"""Raised whenever the planner would find other recipes for the same pictures."""
_DECIMALS = 3
"""Of the pixels that tell one formula from another; the last bits differ between machines."""
_FIRST = ("size", "steps")
"""Settings that plans have had from the beginning; others are part of a key where they were changed."""
_REMEMBERED = 1024
"""Photos whose digest is kept, for those that several samples share."""


@dataclass(frozen=True)
class Settings:
    """How pairs are planned: working short side in pixels, 128 as in the paper, and the most steps.

    `operations` are those that may be used, None for all; `way` and `solver` are as in `t2onet.plan`.
    """

    size: int = 128
    steps: int = 6
    operations: tuple[str, ...] | None = None
    way: Way = "joint"
    solver: str = "fast"

    def __post_init__(self) -> None:
        if self.size < 16:
            raise PlanError(f"the working size is {self.size} pixels; it is at least 16")
        if self.steps < 1:
            raise PlanError(f"the most steps of a plan are {self.steps}; it is at least 1")
        if self.operations is not None and not self.operations:
            raise PlanError("no operations to plan with; name at least one")
        for name in self.operations or ():
            operations.get(name)
        if (self.way, self.solver) != ("joint", "fast"):
            from ...planning.planner import check_way
            from ...planning.solvers import check_solver

            check_way(self.way)
            check_solver(self.solver, self.way)

    def told(self) -> dict[str, object]:
        """What tells plans apart."""
        chosen = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: now for name, (now, usual) in chosen.items() if name in _FIRST or now != usual}


@dataclass(frozen=True)
class Key:
    """`content` stands for the two photos; `plan` for them, the operations and the settings."""

    content: str
    plan: str


class Keys:
    """Keys of pairs under some settings."""

    def __init__(self, settings: Settings) -> None:
        self._fingerprint = fingerprint(settings)
        self._digest = lru_cache(_REMEMBERED)(digest)

    def of(self, sample: Sample) -> Key:
        """Reads both files; OSError where one cannot be read."""
        content = pair_digest(self._digest(sample.before), self._digest(sample.after))
        return Key(content, _short(f"{content} {self._fingerprint}".encode()))


def pair_digest(before: str, after: str) -> str:
    return _short(f"{before} {after}".encode())


def fingerprint(settings: Settings) -> str:
    """Of everything but the photos."""
    made = [_behaviour(operation) for operation in operations.operations().values()]
    told = {"planner": PLANNER_VERSION, "settings": settings.told(), "operations": made}
    return _short(json.dumps(told, sort_keys=True).encode())


def _behaviour(operation: Operation) -> dict[str, object]:
    """Its declared ranges, and what it makes of a small picture: a changed formula is another operation."""
    slots = [(slot.low, slot.high, slot.default) for slot in operation.slots]
    shares = [0.05 + 0.3 * (7 * at % 5) / 5 for at in range(operation.size)]
    values = [
        default + share * (high - default) for share, (_, high, default) in zip(shares, slots, strict=True)
    ]
    ramp = np.linspace(0, 1, 192)
    picture = np.stack([ramp, np.roll(ramp, 60), ramp[::-1]]).reshape(3, 12, 16)
    edited = np.round(operation.run(picture, np.array(values), 1.0), _DECIMALS) + 0.0
    return {"name": operation.name, "slots": slots, "made": _short(edited.tobytes())}


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]

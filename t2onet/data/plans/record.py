"""The plan of one pair, and the line of text that holds it with its checksum."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

from ...recipe import Recipe


@dataclass(frozen=True)
class Planned:
    """The plan of a pair.

    `start_cost` and `cost` are mean absolute differences from the target on the photos themselves, without
    and with the recipe; `costs` those of the working picture, at first and after each step.
    """

    recipe: Recipe
    start_cost: float
    cost: float
    costs: tuple[float, ...]

    def to_data(self) -> dict[str, Any]:
        """As plain data for JSON."""
        steps = self.recipe.model_dump(mode="json", exclude_none=True)["steps"]
        return {"steps": steps, "start_cost": self.start_cost, "cost": self.cost, "costs": list(self.costs)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Planned:
        recipe = Recipe.from_data({"steps": data["steps"]})
        return cls(recipe, data["start_cost"], data["cost"], tuple(data["costs"]))


def to_line(key: str, planned: Planned) -> bytes:
    """`<CRC-32> {"key": ..., ...}`, ending the line."""
    body = json.dumps({"key": key, **planned.to_data()}, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def from_line(line: bytes) -> dict[str, Any] | None:
    """What the line says, or None where it is torn or its checksum does not fit."""
    checksum, _, body = line.partition(b" ")
    if not body.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body[:-1]):
        return None
    data: dict[str, Any] = json.loads(body)
    return data

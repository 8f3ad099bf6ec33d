"""Real sentences."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from .wish import Wish


@dataclass(frozen=True)
class Phrases:
    def pick(self, wish: Wish, chance: Random) -> str | None:
        return None

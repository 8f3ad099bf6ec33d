"""The learning rate as a function of the iteration alone, so that there is no state to keep."""

from __future__ import annotations

import math

from .settings import LoopSettings


def learning_rate(settings: LoopSettings, iteration: int) -> float:
    """At an iteration from 1: rising through the warm-up, then constant or half a cosine down to zero."""
    if iteration <= settings.warm_up:
        return settings.learning_rate * iteration / settings.warm_up
    if settings.schedule == "constant":
        return settings.learning_rate
    done = (iteration - settings.warm_up) / max(1, settings.iterations - settings.warm_up)
    return settings.learning_rate * (1 + math.cos(math.pi * min(1.0, done))) / 2

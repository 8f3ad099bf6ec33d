"""One edit in a process of its own, timed, its memory measured: a recipe's, or a generator's."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...editor import small
from ...executor import apply
from ...image import open_image
from ...image.depth import to_uint8
from ..systems import SIDE, Question

Edit = Callable[[np.ndarray], np.ndarray]
"""(H, W, 3) uint8 -> (H, W, 3) uint8."""
_AGAIN = 5.0
"""Seconds up to which an edit is done twice: the first time loads what the second finds loaded."""
_WARM = 64
"""Side of the picture that is edited before the clock starts."""
_GIGA = 1e9


class Cost(NamedTuple):
    """Seconds for an edit, and the most memory of the process, in gigabytes; NaN where nobody counts it."""

    seconds: float
    memory: float


def done_once(weights: Path, photo: Path, request: str, out: Path, limit: float) -> Cost | None:
    """Edit the photo of a .npy file into another; None where `limit` gigabytes were too few."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(_work, weights, photo, request, out, limit).result()
        except (MemoryError, BrokenProcessPool):
            return None


def _work(weights: Path, photo: Path, request: str, out: Path, limit: float) -> Cost:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # what a photographer's computer would do
    _limit_memory(limit)
    pixels = np.load(photo)
    edit = edit_by(weights, request)
    edit(np.ascontiguousarray(pixels[:_WARM, :_WARM]))
    seconds = np.inf
    try:
        for _ in range(2):
            start = time.perf_counter()
            made = edit(pixels)
            seconds = min(seconds, time.perf_counter() - start)
            if seconds > _AGAIN:
                break
    except RuntimeError as error:
        if "memory" in str(error):
            raise MemoryError(str(error)) from None
        raise
    np.save(out, made)
    return Cost(seconds, peak_memory())


def edit_by(weights: Path, request: str) -> Edit:
    """A recipe by a look at a small copy, or a picture by a look at all of it."""
    from ..networks import NetworkSystem, network_system

    system = network_system("", weights)
    if isinstance(system, NetworkSystem) and system.paints:

        def paint(pixels: np.ndarray) -> np.ndarray:
            floats = np.ascontiguousarray(pixels.transpose(2, 0, 1), np.float32) / 255
            (made,) = system.answer([Question(floats, request, "expert")])
            return to_uint8(made.picture).transpose(1, 2, 0)

        return paint

    def follow(pixels: np.ndarray) -> np.ndarray:
        (made,) = system.answer([Question(small(open_image(pixels), SIDE), request, "expert")])
        assert made.recipe is not None
        return np.asarray(apply(made.recipe, pixels))

    return follow


def _limit_memory(limit: float) -> None:
    """So that a picture that does not fit ends this process and no other."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit * _GIGA), resource.RLIM_INFINITY))


def peak_memory() -> float:
    """Of this process, in gigabytes."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _GIGA

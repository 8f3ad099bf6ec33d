"""The paper's table of times: to plan a pair, to train an iteration, to answer a request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...data import Dataset
from ...errors import DataError
from ...image import read_regular
from ...planning import plan_pictures
from ...planning.path import Picture
from ...policy import Policy, shipped
from ..pairs import chosen_pairs, pictures_of
from ..table import Cell, Table
from .runs import Place, weights_in

if TYPE_CHECKING:
    from ...training.pace import Pace

NAME, TITLE = "time", "Seconds to plan, to train and to answer"
CONFIGS = {"pix2pixaug": "Pix2pixAug", "paper": "T2ONet"}
"""What is timed, and what the paper calls it."""
_BATCH = 64
_PAPER = {"pix2pixaug": (None, 0.37, 0.05), "paper": (18.58, 1.16, 0.16)}
"""Planning a pair, an iteration of 64, a photo. The paper prints the first in the other row, by mistake."""
_COLUMNS = ("planning", "planning (paper)", "train", "train (paper)")
_NOTES = (
    "Planning: a pair at 128 x 128 pixels, one thread, all operations fitted jointly; the paper's is its "
    "Nelder-Mead search, printed there beside Pix2pixAug, where it cannot belong.",
    "Train: an iteration of a batch of 64 at 128 x 128 pixels, unless the row says otherwise.",
    "Test: one photo, a batch of one. Of default, the package's network: a recipe, by ONNX Runtime.",
    "The paper's machine is not known: compare rows of one device.",
)


def time_table(
    dataset: Dataset, place: Place, pairs: int, elsewhere: Sequence[Path], say: Callable[[str], None]
) -> Table:
    """Measured on this machine, and beside it what `t2onet.training.pace` told on others."""
    try:
        from ...training.pace import SIZES
    except ImportError as error:
        needed = "timing needs torch, Accelerate and safetensors: pip install 't2onet[train]'"
        raise DataError(f"{needed} ({error})") from None
    planning = planning_seconds(_pairs(dataset, pairs))
    paces = [_measured(config, place, say) for config in CONFIGS]
    paces += [pace for path in elsewhere for pace in _read(path)]
    rows = {_title(pace): _row(pace, planning, SIZES) for pace in paces}
    own = answering_seconds(shipped())
    rows["default"] = (None, None, None, None, own, *[None] * len(SIZES))
    tests = [f"test, {side} px" for side in SIZES]
    return Table(TITLE, (*_COLUMNS, *tests, "test (paper)"), rows, _NOTES)


def _pairs(dataset: Dataset, count: int) -> list[tuple[Picture, Picture]]:
    found = list(pictures_of(chosen_pairs(dataset.samples, count), []))
    if not found:
        raise DataError(f"{dataset.root} has no pair that can be planned; its photos cannot be read")
    return found


def planning_seconds(pairs: Sequence[tuple[Picture, Picture]]) -> float:
    """The mean for a pair, in one thread, once everything is loaded."""
    plan_pictures(*pairs[0])
    start = time.perf_counter()
    for before, after in pairs:
        plan_pictures(before, after)
    return (time.perf_counter() - start) / len(pairs)


def answering_seconds(policy: Policy, count: int = 10) -> float:
    """For a recipe, once everything is loaded."""
    picture = np.random.default_rng(0).random((3, policy.side, policy.side)).astype(np.float32)
    policy.answer(picture, "make it brighter", "literal")
    start = time.perf_counter()
    for _ in range(count):
        policy.answer(picture, "make it brighter", "literal")
    return (time.perf_counter() - start) / count


def _measured(config: str, place: Place, say: Callable[[str], None]) -> Pace:
    from ...training.pace import pace

    say(f"timing {config}")
    weights = weights_in(place.runs / config)
    return pace(config, place.data, weights, settings=place.settings, cpu=place.cpu)


def _read(path: Path) -> list[Pace]:
    from ...training.pace import Pace

    try:
        return [Pace(**json.loads(line)) for line in read_regular(path).decode().splitlines() if line]
    except (OSError, ValueError, TypeError) as error:
        told = "`python -m t2onet.training.pace` writes one to a line"
        raise DataError(f"{path} cannot be read as paces, {told}: {error}") from None


def _title(pace: Pace) -> str:
    size = "" if pace.batch == _BATCH else f", batch {pace.batch}"
    return f"{CONFIGS.get(pace.config, pace.config)}, {pace.device}{size}"


def _row(pace: Pace, planning: float, sizes: Sequence[int]) -> tuple[Cell, ...]:
    plans, train, test = _PAPER.get(pace.config, (None, None, None))
    answers = [pace.test.get(str(side), "not run: no weights") for side in sizes]
    trained = "not run: no packed set" if pace.train is None else pace.train
    planned = planning if pace.config == "paper" else None
    return (planned, plans, trained, train, *answers, test)

"""The paper's table of times: to plan a pair, to train an iteration, to answer a request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..data import Dataset
from ..editor.policy import Policy, load_shipped_policy
from ..errors import DataError
from ..image import read_regular_file
from ..planning import plan_pictures
from ..planning.pictures import Picture
from .cases import choose_pairs, read_pairs
from .runs import PaperRunOptions, find_weights
from .table import Cell, ResultTable

if TYPE_CHECKING:
    from ..training.run import ConfigTiming

# The paper's table of times: to plan a pair, to train an iteration, to answer a request.

TIME_NAME, TIME_TITLE = "time", "Seconds to plan, to train and to answer"
TIMED_CONFIGS = {"pix2pixaug": "Pix2pixAug", "paper": "T2ONet"}
"""What is timed, and what the paper calls it."""
_PAPER_BATCH = 64
_PAPER_SECONDS = {"pix2pixaug": (None, 0.37, 0.05), "paper": (18.58, 1.16, 0.16)}
"""Planning a pair, an iteration of 64, a photo. The paper prints the first in the other row, by mistake."""
_COLUMNS = ("planning", "planning (paper)", "train", "train (paper)")
_NOTES = (
    "Planning: a pair at 128 x 128 pixels, one thread, all operations fitted jointly; the paper's is its "
    "Nelder-Mead search, printed there beside Pix2pixAug, where it cannot belong.",
    "Train: an iteration of a batch of 64 at 128 x 128 pixels, unless the row says otherwise.",
    "Test: one photo, a batch of one. Of default, the package's network: a recipe, by ONNX Runtime.",
    "The paper's machine is not known: compare rows of one device.",
)


def build_time_table(
    dataset: Dataset,
    place: PaperRunOptions,
    pairs: int,
    elsewhere: Sequence[Path],
    say: Callable[[str], None],
) -> ResultTable:
    """Measured on this machine, and beside it the timings in files from other machines."""
    try:
        from ..training.run import TIMED_PHOTO_SIDES
    except ImportError as error:
        needed = "timing needs torch, Accelerate and safetensors: pip install 't2onet[train]'"
        raise DataError(f"{needed} ({error})") from None
    planning = measure_planning_seconds(_read_timed_pairs(dataset, pairs))
    paces = [_time_run(config, place, say) for config in TIMED_CONFIGS]
    paces += [pace for path in elsewhere for pace in _read_timings(path)]
    rows = {_format_title(pace): _build_row(pace, planning, TIMED_PHOTO_SIDES) for pace in paces}
    own = measure_answering_seconds(load_shipped_policy())
    rows["default"] = (None, None, None, None, own, *[None] * len(TIMED_PHOTO_SIDES))
    tests = [f"test, {side} px" for side in TIMED_PHOTO_SIDES]
    return ResultTable(TIME_TITLE, (*_COLUMNS, *tests, "test (paper)"), rows, _NOTES)


def _read_timed_pairs(dataset: Dataset, count: int) -> list[tuple[Picture, Picture]]:
    found = list(read_pairs(choose_pairs(dataset.samples, count), []))
    if not found:
        raise DataError(f"{dataset.root} has no pair that can be planned; its photos cannot be read")
    return found


def measure_planning_seconds(pairs: Sequence[tuple[Picture, Picture]]) -> float:
    """The mean for a pair, in one thread, once everything is loaded."""
    plan_pictures(*pairs[0])
    start = time.perf_counter()
    for before, after in pairs:
        plan_pictures(before, after)
    return (time.perf_counter() - start) / len(pairs)


def measure_answering_seconds(policy: Policy, count: int = 10) -> float:
    """For a recipe, once everything is loaded."""
    picture = np.random.default_rng(0).random((3, policy.side, policy.side)).astype(np.float32)
    policy.answer(picture, "make it brighter", "literal")
    start = time.perf_counter()
    for _ in range(count):
        policy.answer(picture, "make it brighter", "literal")
    return (time.perf_counter() - start) / count


def _time_run(config: str, place: PaperRunOptions, say: Callable[[str], None]) -> ConfigTiming:
    from ..training.run import time_config

    say(f"timing {config}")
    weights = find_weights(place.runs / config)
    return time_config(config, place.data, weights, settings=place.settings, cpu=place.cpu)


def _read_timings(path: Path) -> list[ConfigTiming]:
    from ..training.run import ConfigTiming

    try:
        return [
            ConfigTiming(**json.loads(line)) for line in read_regular_file(path).decode().splitlines() if line
        ]
    except (OSError, ValueError, TypeError) as error:
        told = "a line of each is the JSON of a `t2onet.training.run.ConfigTiming`"
        raise DataError(f"{path} cannot be read as paces, {told}: {error}") from None


def _format_title(pace: ConfigTiming) -> str:
    size = "" if pace.batch == _PAPER_BATCH else f", batch {pace.batch}"
    return f"{TIMED_CONFIGS.get(pace.config, pace.config)}, {pace.device}{size}"


def _build_row(pace: ConfigTiming, planning: float, sizes: Sequence[int]) -> tuple[Cell, ...]:
    plans, train, test = _PAPER_SECONDS.get(pace.config, (None, None, None))
    answers = [pace.test.get(str(side), "not run: no weights") for side in sizes]
    trained = "not run: no packed set" if pace.train is None else pace.train
    planned = planning if pace.config == "paper" else None
    return (planned, plans, trained, train, *answers, test)

"""Seconds and memory: the paper's table of times, and the cost of one edit in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data import Dataset
from ..editor import Editor, make_thumbnail
from ..errors import DataError, needs_extra
from ..executor import apply
from ..image import open_image
from ..image.pixels import to_uint8
from ..planning import plan_pictures
from ..planning.pictures import Picture
from .cases import choose_pairs, read_pairs
from .compare import Cell, ResultTable
from .runs import PaperRunOptions, find_weights
from .systems import EVALUATION_SIDE, NetworkSystem, Question, open_system_file

if TYPE_CHECKING:
    from ..training.run import ConfigTiming

TIME_NAME, TIME_TITLE = "time", "Seconds to plan, to train and to answer"
TIMED_CONFIGS = {"pix2pixaug": "Pix2pixAug", "paper": "T2ONet"}
"""Configs that are timed, with their names in the paper."""
_PAPER_BATCH = 64
_PAPER_SECONDS = {"pix2pixaug": (None, 0.37, 0.05), "paper": (18.58, 1.16, 0.16)}
"""Planning a pair, an iteration of 64, a photo. The paper prints the first in the other row, by mistake."""
_COLUMNS = ("planning", "planning (paper)", "train", "train (paper)")
_NOTES = (
    "Planning: a pair at 128 x 128 pixels, one thread, all operations fitted jointly; the paper's is its "
    "Nelder-Mead search, printed there beside Pix2pixAug, where it cannot belong.",
    "Train: an iteration of a batch of 64 at 128 x 128 pixels, unless the row says otherwise.",
    "Test: one photo, a batch of one. Of default, the package's editor: a recipe, by ONNX Runtime.",
    "The paper's machine is not known: compare rows of one device.",
)
PixelEdit = Callable[[np.ndarray], np.ndarray]
"""(H, W, 3) uint8 -> (H, W, 3) uint8."""
_REPEAT_SECONDS = 5.0
"""An edit faster than this is timed twice, since the first may load code and weights."""
_WARM_UP_SIDE = 64
"""Side in pixels of the crop that is edited before the clock starts."""
_GIGABYTE = 1e9


def build_time_table(
    dataset: Dataset, options: PaperRunOptions, pairs: int, report: Callable[[str], None]
) -> ResultTable:
    """Time planning on `pairs` pairs, training and answering on this machine."""
    with needs_extra(DataError, "timing needs torch, Accelerate and safetensors", "train", with_cause=True):
        from ..training.run import TIMED_PHOTO_SIDES
    planning = measure_planning_seconds(_read_timed_pairs(dataset, pairs))
    timings = [_time_run(config, options, report) for config in TIMED_CONFIGS]
    rows = {_format_title(timing): _build_row(timing, planning, TIMED_PHOTO_SIDES) for timing in timings}
    answering = measure_answering_seconds()
    rows["default"] = (None, None, None, None, answering, *[None] * len(TIMED_PHOTO_SIDES))
    tests = [f"test, {side} px" for side in TIMED_PHOTO_SIDES]
    return ResultTable(TIME_TITLE, (*_COLUMNS, *tests, "test (paper)"), rows, _NOTES)


def _read_timed_pairs(dataset: Dataset, count: int) -> list[tuple[Picture, Picture]]:
    pairs = list(read_pairs(choose_pairs(dataset.samples, count), []))
    if not pairs:
        raise DataError(f"{dataset.root} has no pair that can be planned; its photos cannot be read")
    return pairs


def measure_planning_seconds(pairs: Sequence[tuple[Picture, Picture]]) -> float:
    """Mean seconds for a pair, in one thread, after a warm-up."""
    plan_pictures(*pairs[0])
    start = time.perf_counter()
    for before, after in pairs:
        plan_pictures(before, after)
    return (time.perf_counter() - start) / len(pairs)


def measure_answering_seconds(count: int = 10) -> float:
    """Mean seconds until the package's editor has a recipe, after a warm-up."""
    side = EVALUATION_SIDE
    editor = Editor(np.random.default_rng(0).integers(256, size=(side, side, 3), dtype=np.uint8))
    editor.ask("make it brighter")
    start = time.perf_counter()
    for _ in range(count):
        editor.ask("make it brighter")
    return (time.perf_counter() - start) / count


def _time_run(config: str, options: PaperRunOptions, report: Callable[[str], None]) -> ConfigTiming:
    from ..training.run import time_config

    report(f"timing {config}")
    weights = find_weights(options.runs / config)
    return time_config(config, options.data, weights, settings=options.settings, cpu=options.cpu)


def _format_title(timing: ConfigTiming) -> str:
    size = "" if timing.batch == _PAPER_BATCH else f", batch {timing.batch}"
    return f"{TIMED_CONFIGS.get(timing.config, timing.config)}, {timing.device}{size}"


def _build_row(timing: ConfigTiming, planning: float, sizes: Sequence[int]) -> tuple[Cell, ...]:
    paper_planning, paper_train, paper_test = _PAPER_SECONDS.get(timing.config, (None, None, None))
    answers = [timing.test.get(str(side), "not run: no weights") for side in sizes]
    train = "not run: no packed set" if timing.train is None else timing.train
    own_planning = planning if timing.config == "paper" else None
    return (own_planning, paper_planning, train, paper_train, *answers, paper_test)


class EditCost(NamedTuple):
    """Seconds of an edit, and peak memory of its process in gigabytes (NaN if unknown)."""

    seconds: float
    memory: float


def edit_in_subprocess(
    weights: Path, photo: Path, request: str, output: Path, limit: float
) -> EditCost | None:
    """Edit a photo, .npy in and out; None if the edit needs more than `limit` gigabytes."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(_edit_and_measure, weights, photo, request, output, limit).result()
        except (MemoryError, BrokenProcessPool):
            return None


def _edit_and_measure(weights: Path, photo: Path, request: str, output: Path, limit: float) -> EditCost:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a photographer's computer has no such GPU
    _limit_memory(limit)
    pixels = np.load(photo)
    edit = open_pixel_edit(weights, request)
    edit(np.ascontiguousarray(pixels[:_WARM_UP_SIDE, :_WARM_UP_SIDE]))
    seconds = np.inf
    try:
        for _ in range(2):
            start = time.perf_counter()
            edited = edit(pixels)
            seconds = min(seconds, time.perf_counter() - start)
            if seconds > _REPEAT_SECONDS:
                break
    except RuntimeError as error:
        if "memory" in str(error):
            raise MemoryError(str(error)) from None
        raise
    np.save(output, edited)
    return EditCost(seconds, measure_peak_memory())


def open_pixel_edit(weights: Path, request: str) -> PixelEdit:
    """An edit of full-size pixels: by a recipe from a thumbnail, or by a generator that sees all pixels."""
    from ..models.answering import PicturePredictor

    system = open_system_file("", weights)
    if isinstance(system, NetworkSystem) and isinstance(system.network, PicturePredictor):

        def generate(pixels: np.ndarray) -> np.ndarray:
            picture = np.ascontiguousarray(pixels.transpose(2, 0, 1), np.float32) / 255
            (answer,) = system.answer([Question(picture, request, "expert")])
            return to_uint8(answer.picture).transpose(1, 2, 0)

        return generate

    def apply_recipe(pixels: np.ndarray) -> np.ndarray:
        thumbnail = make_thumbnail(open_image(pixels), EVALUATION_SIDE)
        (answer,) = system.answer([Question(thumbnail, request, "expert")])
        assert answer.recipe is not None
        return np.asarray(apply(answer.recipe, pixels))

    return apply_recipe


def _limit_memory(limit: float) -> None:
    """Make an edit that does not fit end this process and no other."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit * _GIGABYTE), resource.RLIM_INFINITY))


def measure_peak_memory() -> float:
    """Peak memory of this process, in gigabytes."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _GIGABYTE


def measure_total_memory() -> float:
    """Memory of the machine, in gigabytes; 16 if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIGABYTE
    except (AttributeError, ValueError):
        return 16.0

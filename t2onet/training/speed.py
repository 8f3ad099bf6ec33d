"""Measure seconds per training iteration and per answer on this machine."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from ..data.packed import read_packed
from ..data.records import BEST_WEIGHTS_FILE
from ..data.words import WORDS_FILE, WordVectors, read_word_vectors
from ..errors import T2OError, TrainingError
from ..models import GreedyDecoding, RequestBatch, decode_steps, load_network
from .loop import TrainingRun
from .reporting import SilentReporter
from .run import adapt_precision, configs, get_config
from .settings import apply_assignments, settings_to_json
from .task import ProcessInfo

# `python -m t2onet.training.pace`: seconds that an iteration of training takes here, and an answer.

PHOTO_SIDES = (128, 600)
"""Sides, in pixels, of the photo that is answered: as in training, and the short one of the paper's tests."""
_WARM_UP_ITERATIONS, _TIMED_ITERATIONS = 2, 6
"""Iterations before the clock starts, and while it runs; both even, since losses may take turns."""
_REQUEST = "increase the brightness a little"


@dataclass(frozen=True)
class ConfigTiming:
    """Seconds of a config on a device; what was not measured is None."""

    config: str
    device: str
    batch: int
    train: float | None
    """An iteration of a whole batch."""
    test: dict[str, float]
    """An answer to one photo, by the photo's side in pixels."""


def time_config(
    config: str,
    data: Path | None,
    weights: Path | None,
    *,
    settings: Iterable[str] = (),
    sizes: Iterable[int] = PHOTO_SIDES,
    cpu: bool = False,
) -> ConfigTiming:
    """Trains a little on a packed set and answers a little by trained weights, where these are given."""
    chosen = apply_assignments(get_config(config).settings, settings)
    accelerator = Accelerator(cpu=cpu)
    if adapt_precision(chosen, accelerator.device) != chosen:
        raise TrainingError("this device does not compute in bfloat16; measure float32 here")
    train = None if data is None else _time_iteration(config, chosen, data, accelerator)
    test = {} if weights is None else _time_answers(weights, accelerator.device, sizes)
    return ConfigTiming(config, get_device_name(accelerator.device), chosen.loop.batch, train, test)


def get_device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"


def _time_iteration(config: str, settings: Any, data: Path, accelerator: Accelerator) -> float:
    packed = read_packed(data)
    size = settings.network.word_size
    beside = data / WORDS_FILE
    words = (
        read_word_vectors(beside)
        if beside.exists()
        else WordVectors.without_vectors(packed.training_requests(), size)
    )
    task = get_config(config).task(settings, packed, words, ProcessInfo(accelerator.device))
    with tempfile.TemporaryDirectory() as folder:
        run = TrainingRun(
            task,
            settings.loop,
            Path(folder),
            accelerator,
            SilentReporter(),
            described=settings_to_json(settings),
        )

        def descend() -> None:
            run.progress.iteration += 1
            run.descend()

        return _measure_seconds(descend, accelerator.device)


def _time_answers(weights: Path, device: torch.device, sizes: Iterable[int]) -> dict[str, float]:
    loaded = load_network(weights)
    answer = _get_answer_function(loaded.network.to(device))
    tokens = torch.tensor([loaded.vocabulary.encode(_REQUEST)], device=device)
    found = {}
    for side in sizes:
        photo = torch.rand(1, 3, side, side, generator=torch.Generator().manual_seed(0)).to(device)
        with torch.inference_mode():
            found[str(side)] = _measure_seconds(lambda photo=photo: answer(photo, tokens), device)  # type: ignore[misc]
    return found


def _get_answer_function(network: nn.Module) -> Callable[[Tensor, Tensor], Any]:
    """Step by step, or in one go."""
    if not hasattr(network, "begin"):
        return network
    stepping: Any = network
    return lambda photo, tokens: decode_steps(
        stepping, RequestBatch(tokens, tokens != 0, photo), GreedyDecoding()
    )


def _measure_seconds(do: Callable[[], object], device: torch.device) -> float:
    """The mean of a few times, after some that do not count."""
    for _ in range(_WARM_UP_ITERATIONS):
        do()
    _synchronize(device)
    start = time.perf_counter()
    for _ in range(_TIMED_ITERATIONS):
        do()
    _synchronize(device)
    return (time.perf_counter() - start) / _TIMED_ITERATIONS


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main(arguments: list[str] | None = None) -> int:
    """Measure configs; prints a line of JSON for each."""
    parser = argparse.ArgumentParser(prog="python -m t2onet.training.speed", description=main.__doc__)
    known = [name for name, config in configs().items() if config.reads and not config.begins]
    parser.add_argument("configs", nargs="+", choices=known, metavar="CONFIG", help=", ".join(known))
    parser.add_argument("--data", type=Path, help="a packed set, to train on")
    parser.add_argument("--runs", type=Path, help="folder of runs with the names of configs, to answer by")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--cpu", action="store_true", help="leave accelerators alone")
    given = parser.parse_args(arguments)
    try:
        for name in given.configs:
            weights = None if given.runs is None else given.runs / name / BEST_WEIGHTS_FILE
            found = time_config(name, given.data, weights, settings=given.settings, cpu=given.cpu)
            sys.stdout.write(json.dumps(asdict(found)) + "\n")
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m t2onet.training.pace`: seconds that an iteration of training takes here, and an answer."""

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
from ..data.run_records import BEST
from ..errors import T2OError, TrainingError
from ..models import Asked, Greedy, load_network, rollout
from .configs import configs, get
from .loop import Run
from .precision import supported
from .reporting import Silent
from .settings import changed, to_json
from .task import Place
from .words import FILE, Words, read_words, requests_of

SIZES = (128, 600)
"""Sides, in pixels, of the photo that is answered: as in training, and the short one of the paper's tests."""
_WARM, _TIMED = 2, 6
"""Iterations before the clock starts, and while it runs; both even, since losses may take turns."""
_REQUEST = "increase the brightness a little"


@dataclass(frozen=True)
class Pace:
    """Seconds of a config on a device; what was not measured is None."""

    config: str
    device: str
    batch: int
    train: float | None
    """An iteration of a whole batch."""
    test: dict[str, float]
    """An answer to one photo, by the photo's side in pixels."""


def pace(
    config: str,
    data: Path | None,
    weights: Path | None,
    *,
    settings: Iterable[str] = (),
    sizes: Iterable[int] = SIZES,
    cpu: bool = False,
) -> Pace:
    """Trains a little on a packed set and answers a little by trained weights, where these are given."""
    chosen = changed(get(config).settings, settings)
    accelerator = Accelerator(cpu=cpu)
    if supported(chosen, accelerator.device) != chosen:
        raise TrainingError("this device does not compute in bfloat16; measure float32 here")
    train = None if data is None else _iteration(config, chosen, data, accelerator)
    test = {} if weights is None else _answers(weights, accelerator.device, sizes)
    return Pace(config, device_name(accelerator.device), chosen.loop.batch, train, test)


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"


def _iteration(config: str, settings: Any, data: Path, accelerator: Accelerator) -> float:
    packed = read_packed(data)
    size = settings.network.word_size
    beside = data / FILE
    words = read_words(beside) if beside.exists() else Words.without_vectors(requests_of(packed), size)
    task = get(config).task(settings, packed, words, Place(accelerator.device))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(task, settings.loop, Path(folder), accelerator, Silent(), described=to_json(settings))

        def descend() -> None:
            run.progress.iteration += 1
            run.descend()

        return _seconds(descend, accelerator.device)


def _answers(weights: Path, device: torch.device, sizes: Iterable[int]) -> dict[str, float]:
    loaded = load_network(weights)
    answer = _answering(loaded.network.to(device))
    tokens = torch.tensor([loaded.vocabulary.encode(_REQUEST)], device=device)
    found = {}
    for side in sizes:
        photo = torch.rand(1, 3, side, side, generator=torch.Generator().manual_seed(0)).to(device)
        with torch.inference_mode():
            found[str(side)] = _seconds(lambda photo=photo: answer(photo, tokens), device)  # type: ignore[misc]
    return found


def _answering(network: nn.Module) -> Callable[[Tensor, Tensor], Any]:
    """Step by step, or in one go."""
    if not hasattr(network, "begin"):
        return network
    stepping: Any = network
    return lambda photo, tokens: rollout(stepping, Asked(tokens, tokens != 0, photo), Greedy())


def _seconds(do: Callable[[], object], device: torch.device) -> float:
    """The mean of a few times, after some that do not count."""
    for _ in range(_WARM):
        do()
    _wait(device)
    start = time.perf_counter()
    for _ in range(_TIMED):
        do()
    _wait(device)
    return (time.perf_counter() - start) / _TIMED


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main(arguments: list[str] | None = None) -> int:
    """Measure configs; prints a line of JSON for each."""
    parser = argparse.ArgumentParser(prog="python -m t2onet.training.pace", description=main.__doc__)
    known = [name for name, config in configs().items() if config.reads and not config.begins]
    parser.add_argument("configs", nargs="+", choices=known, metavar="CONFIG", help=", ".join(known))
    parser.add_argument("--data", type=Path, help="a packed set, to train on")
    parser.add_argument("--runs", type=Path, help="folder of runs with the names of configs, to answer by")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--cpu", action="store_true", help="leave accelerators alone")
    given = parser.parse_args(arguments)
    try:
        for name in given.configs:
            weights = None if given.runs is None else given.runs / name / BEST
            found = pace(name, given.data, weights, settings=given.settings, cpu=given.cpu)
            sys.stdout.write(json.dumps(asdict(found)) + "\n")
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""From a config's name and a packed set to trained weights: what both command lines call."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs

from ..data.packed import PackedSet, read_packed
from ..errors import TrainingError
from ..models import Loaded
from ..models.precision import NO_BFLOAT16
from .configs import Config, get
from .loop import Outcome, Run, open_folder
from .precision import supported
from .reporting import Reporter, Silent
from .settings import changed, to_json
from .starting import begin_with, start_of, words_of
from .task import Place
from .words import FILE, Words, read_words, requests_of


def train(
    config: str,
    data: Path,
    out: Path,
    *,
    assignments: Iterable[str] = (),
    words: Path | None = None,
    start: Path | None = None,
    resume: bool = False,
    minutes: float | None = None,
    half: bool = False,
    cpu: bool = False,
    stream: TextIO | None = None,
) -> Outcome:
    """Train a registered config on a packed set into the folder `out`.

    `assignments` are settings as `name=value`; `words` are those beside the data by default. `start` is a
    file of weights to begin with, which brings its own words. `minutes` ends the run early, as whole as any
    other end; `half` stores the best weights with 16 bits each. A device that does not compute in bfloat16
    trains in float32, which the run says and its settings record.
    """
    chosen = get(config)
    asked = changed(chosen.settings, assignments)
    begun = _begun(chosen, asked, start, words)
    open_folder(out, resume=resume)
    spread = DistributedDataParallelKwargs(find_unused_parameters=True)
    accelerator = Accelerator(cpu=cpu, kwargs_handlers=[spread])
    first = accelerator.is_main_process
    reporter = Reporter(stream or sys.stdout, out) if first else Silent()
    try:
        settings = supported(asked, accelerator.device)
        if settings != asked:
            reporter.say(NO_BFLOAT16)
        packed = read_packed(data)
        place = Place(accelerator.device, accelerator.process_index, accelerator.num_processes)
        known = None
        if chosen.reads:
            size = settings.network.word_size
            known = words_of(begun, size) if begun else _words(packed, words, data / FILE, size, reporter)
        task = chosen.task(settings, packed, known, place)
        if begun is not None:
            begin_with(task.network, begun)
        run = Run(task, settings.loop, out, accelerator, reporter, described=to_json(settings), half=half)
        if resume:
            run.resume()
        outcome = run.go(minutes)
        reporter.say(f"ended by {outcome.reason} after iteration {outcome.progress.iteration} -> {out}")
        return outcome
    finally:
        reporter.close()


def _begun(config: Config, settings: Any, start: Path | None, words: Path | None) -> Loaded | None:
    """What to begin with, or nothing; refused where that does not fit the config."""
    if start is None:
        if config.begins:
            raise TrainingError(f"{config.name} begins with trained weights; give them with --from FILE")
        return None
    if words is not None:
        raise TrainingError("weights to begin with bring their own words; leave out --from or --words")
    return start_of(start, settings.network)


def _words(data: PackedSet, given: Path | None, beside: Path, size: int, reporter: Reporter) -> Words:
    if given is not None or beside.exists():
        return read_words(given or beside)
    reporter.say(f"there is no {beside.name} beside the data: word vectors are learned from nothing")
    return Words.without_vectors(requests_of(data), size)

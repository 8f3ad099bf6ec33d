"""From a config's name and a packed set to trained weights: what both command lines call."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs

from ..data.packed import PackedSet, read_packed
from .configs import get
from .loop import Outcome, Run, open_folder
from .reporting import Reporter, Silent
from .settings import changed, to_json
from .task import Place
from .words import FILE, Words, read_words, requests_of


def train(
    config: str,
    data: Path,
    out: Path,
    *,
    assignments: Iterable[str] = (),
    words: Path | None = None,
    resume: bool = False,
    minutes: float | None = None,
    half: bool = False,
    cpu: bool = False,
    stream: TextIO | None = None,
) -> Outcome:
    """Train a registered config on a packed set into the folder `out`.

    `assignments` are settings as `name=value`; `words` are those beside the data by default. `minutes` ends
    the run early, as whole as any other end; `half` stores the best weights with 16 bits each.
    """
    chosen = get(config)
    settings = changed(chosen.settings, assignments)
    open_folder(out, resume=resume)
    spread = DistributedDataParallelKwargs(find_unused_parameters=True)
    accelerator = Accelerator(cpu=cpu, kwargs_handlers=[spread])
    first = accelerator.is_main_process
    reporter = Reporter(stream or sys.stdout, out) if first else Silent()
    try:
        packed = read_packed(data)
        place = Place(accelerator.device, accelerator.process_index, accelerator.num_processes)
        known = None
        if chosen.reads:
            known = _words(packed, words or data / FILE, settings, reporter, given=words is not None)
        task = chosen.task(settings, packed, known, place)
        run = Run(task, settings.loop, out, accelerator, reporter, described=to_json(settings), half=half)
        if resume:
            run.resume()
        outcome = run.go(minutes)
        reporter.say(f"ended by {outcome.reason} after iteration {outcome.progress.iteration} -> {out}")
        return outcome
    finally:
        reporter.close()


def _words(data: PackedSet, path: Path, settings: object, reporter: Reporter, *, given: bool) -> Words:
    if given or path.exists():
        return read_words(path)
    reporter.say(f"there is no {path.name} beside the data: word vectors are learned from nothing")
    return Words.without_vectors(requests_of(data), settings.network.word_size)  # type: ignore[attr-defined]

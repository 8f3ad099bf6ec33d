"""`t2o data simulate`: a dataset of requests and edits, drawn on any photos."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..common import AsJson, Ticker, console, print_json, refusing, say
from ..photos import sources


@refusing
def simulate_requests(
    photos: Annotated[
        list[str],
        typer.Argument(metavar="PHOTO", help="Photos, folders, or patterns such as 'trip/*.jpg'."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the dataset; must not exist.")
    ],
    count: Annotated[int | None, typer.Option(help="Samples to write; by default five a photo.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Of all that is drawn; the same gives the same files.")
    ] = 0,
    size: Annotated[int, typer.Option(metavar="PX", help="Short side of the pictures, in pixels.")] = 256,
    val: Annotated[float, typer.Option(metavar="SHARE", help="Share of photos for validation.")] = 0.1,
    phrases: Annotated[
        Path | None,
        typer.Option(metavar="DATASET", help="Dataset whose real requests are used where they fit."),
    ] = None,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Look into folders below folders.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate requests: edit photos in photographic terms and say in words what was done."""
    from ...data.simulation.dataset import PER_PHOTO, phrases_in, simulate
    from ...data.simulation.sentences import request

    found = sources(photos, recursive=recursive)
    words = partial(request, mined=None if phrases is None else phrases_in(phrases))
    with _progress(count or PER_PHOTO * len(found)) as told:
        made = simulate(found, output, words, count=count, seed=seed, size=size, val=val, progress=told)
    for problem in made.problems:
        say(f"left out: {problem.reason}")
    if as_json:
        print_json({"counts": made.counts, "left_out": [problem.name for problem in made.problems]})
        return
    parts = ", ".join(f"{number} for {split}" for split, number in made.counts.items())
    say(f"{sum(made.counts.values())} samples ({parts}) -> {output}", err=False)


@contextmanager
def _progress(count: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal; a line now and then elsewhere."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        ticker = Ticker()
        yield lambda written: ticker.tell(
            f"{written} of {count} samples, {written / max(1e-9, ticker.elapsed):.1f} a second"
        )
        return
    from rich.progress import Progress

    with Progress(console=screen, transient=True) as bars:
        bar = bars.add_task("samples", total=count)
        yield lambda written: bars.update(bar, completed=written)

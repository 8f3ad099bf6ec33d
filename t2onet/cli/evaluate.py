"""`t2o evaluate`: how near the expert systems come, and whether they do what was said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import OutputError
from . import measured
from .common import AsJson, print_json, print_table, refusing, say
from .data.datasets import tell_problems

if TYPE_CHECKING:
    from ..reports.comparison import Comparison


@refusing
def evaluate_systems(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="MA5k-Req, or pairs with requests.")],
    gier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="GIER, for the labelled requests that are from there.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM",
            help="shipped (the network in the package), keywords (rules), identity, a file of weights or of "
            "answers, the folder of a run or of an exported network; NAME=PATH gives it a name. Repeatable: "
            "the others are compared with the first. By default shipped.",
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split to measure on.")] = "val",
    count: Annotated[int | None, typer.Option(min=1, help="The most pairs; by default all.")] = None,
    each: Annotated[int, typer.Option(min=1, help="Photos for each labelled request.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Of all drawing.")] = 0,
    inception: measured.Inception = None,
    lpips: measured.LpipsWeights = None,
    samples: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write what came of every sample.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for tables, figures and samples."),
    ] = None,
    ask: measured.Ask = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure systems on photos they have not seen: distance to the edits, and whether requests are followed.

    Following needs labelled requests: those of MA5k-Req and GIER are labelled by hand, simulated ones carry
    their labels; pairs of your own have none, and only distances are measured.
    """
    from ..data import Problem, open_dataset
    from ..reports.comparison import compare
    from ..reports.labelled import labelled_sentences
    from ..reports.recorded import Noting
    from ..reports.systems import open_systems

    _check_outputs(samples, output, overwrite)
    if ask is not None:
        measured.check_asking(ask, overwrite, {"--system": system, "--csv": samples, "-o": output})
    noting = Noting()
    systems = [noting] if ask is not None else open_systems(system or ["shipped"])
    extractors = measured.extractors_of(inception) if ask is None else []
    looks = measured.lpips_of(lpips) if ask is None else None
    data = open_dataset(dataset, splits=[split])
    sentences = labelled_sentences(data, split, gier)
    problems: list[Problem] = []
    with measured.progress() as told:
        found = compare(
            systems,
            data,
            sentences,
            split=split,
            count=count,
            each=each,
            seed=seed,
            extractors=extractors,
            lpips=looks,
            problems=problems,
            told=told,
        )
        told("intervals", 0, 1)
        answer, tables = (found.data(), found.tables()) if ask is None else ({}, [])
    tell_problems(problems, "left out")
    if ask is not None:
        measured.write_questions(noting.questions(data.fingerprint), ask, overwrite)
        return
    _write(found, samples, output, overwrite)
    if as_json:
        print_json(answer)
        return
    for table in tables:
        print_table(table)


def _write(found: Comparison, samples: Path | None, output: Path | None, overwrite: bool) -> None:
    from ..image import write_atomically

    if samples is not None:
        write_atomically(samples, found.samples().encode(), overwrite=overwrite)
        say(f"-> {samples}")
    if output is not None:
        found.write(output, measured.command_line(), overwrite=overwrite)
        say(f"-> {output}")


def _check_outputs(samples: Path | None, output: Path | None, overwrite: bool) -> None:
    """Before an hour is spent."""
    if samples is not None and samples.exists() and not overwrite:
        raise OutputError(f"{samples} exists already; give another name or --overwrite")
    if output is not None:
        measured.check_folder(output, overwrite)

"""`t2o data`: datasets of photos, requests and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError, OutputError
from .common import (
    EXIT_INTERRUPTED,
    DatasetArgument,
    JsonOption,
    LayoutOption,
    PlanOperationsOption,
    PlanSizeOption,
    PlanSolverOption,
    PlansOption,
    PlanStepsOption,
    PlanWayOption,
    ReplaceOption,
    SplitOption,
    Ticker,
    check_picture_path,
    exit_on_error,
    exit_with_error,
    make_console,
    make_plan_settings,
    open_dataset_folder,
    open_plans,
    print_json,
    print_line,
    print_problems,
)
from .photos import list_photos

if TYPE_CHECKING:
    from ..data.overview import Distribution
    from ..data.plans import Engine, PlanTotals
    from ..data.plans.run import PlanProgressCallback

# `t2o data pack`: a dataset as a few files for training.


@exit_on_error
def pack_folder(
    dataset: DatasetArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the shards.")],
    plans: PlansOption = None,
    plan_size: PlanSizeOption = 128,
    plan_steps: PlanStepsOption = 6,
    plan_operations: PlanOperationsOption = None,
    plan_way: PlanWayOption = "joint",
    plan_solver: PlanSolverOption = "fast",
    photos_of: Annotated[
        Path | None,
        typer.Option(
            metavar="PACKED",
            help="A packed set of the same pairs: its photos and texts are used where they lie, and DIR "
            "holds the other plans alone. Needs --plans.",
        ),
    ] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            "--texts", metavar="DATASET", help="Its requests go along without photos; may be given again."
        ),
    ] = None,
    size: Annotated[int, typer.Option(metavar="PX", help="Side of the photos, in pixels.")] = 128,
    quality: Annotated[int, typer.Option(min=1, max=100, help="Of the photos (WebP).")] = 90,
    glove: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="GloVe vectors (text, or the published .h5): writes the vectors of the requests' words to "
            "DIR/words.npz, for the configs that start from them.",
        ),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Word list for --glove; by default the words of the requests."),
    ] = None,
    split: SplitOption = None,
    layout: LayoutOption = None,
    overwrite: ReplaceOption = False,
) -> None:
    """Pack photos, requests and plans into shards that a training run reads once."""
    from ..data import open_dataset
    from ..data.packed import INDEX_FILE, collect_texts, pack_dataset, repack_dataset
    from ..data.words import WORDS_FILE, write_glove_vectors
    from ..language import Vocabulary

    if (output / INDEX_FILE).is_file() and not overwrite:
        raise OutputError(f"{output} exists already; give another name or --overwrite")
    if photos_of is not None and (plans is None or texts):
        raise DataError("with --photos-of only plans are packed; give --plans, and leave out --texts")
    if vocabulary is not None and glove is None:
        raise DataError("--vocabulary is the word list for --glove; give both")
    if glove is not None and not glove.is_file():
        raise DataError(f"{glove} cannot be read as word vectors: there is no such file")
    words = None if vocabulary is None else Vocabulary.load(vocabulary)
    found = open_dataset_folder(dataset, layout, split)
    made = None
    if plans is not None:
        settings = make_plan_settings(plan_size, plan_steps, plan_operations, plan_way, plan_solver)
        made = open_plans(plans, found, settings)
    said = [text for other in texts or () for text in collect_texts(open_dataset(other, photos=False), found)]
    with make_console(stderr=True).status("packing"):
        if photos_of is not None and made is not None:
            done = repack_dataset(photos_of, output, found, made, overwrite=overwrite)
        else:
            done = pack_dataset(
                found, output, plans=made, texts=said, size=size, quality=quality, overwrite=overwrite
            )
    print_problems(() if made is None else made.damage, "damaged")
    print_problems((*found.problems, *done.problems), "left out")
    print_line(
        f"{done.samples} samples ({done.planned} with a plan), {done.photos} photos and {done.texts} further "
        f"requests -> {output}, {done.bytes / 1e6:.1f} MB",
        err=False,
    )
    if glove is not None:
        counts = write_glove_vectors(output, glove, words)
        missing = f"{counts.missing} of them without a vector"
        print_line(f"{counts.words} words, {missing} -> {output / WORDS_FILE}", err=False)


# `t2o data plan`: the plans of all pairs of a dataset.

PLANS_SHEET = "best-and-worst.png"


@exit_on_error
def plan_pairs(
    dataset: DatasetArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the plans.")],
    split: SplitOption = None,
    layout: LayoutOption = None,
    engine: Annotated[
        str,
        typer.Option(metavar="NAME", help="local: processes of this machine; ray: a Ray cluster."),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes to plan in; by default one a core.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a Ray cluster; by default one is started on this machine."),
    ] = None,
    size: Annotated[int, typer.Option(metavar="PX", help="Short side to plan at, in pixels.")] = 128,
    steps: Annotated[int, typer.Option(help="The most steps of a plan.")] = 6,
    operations: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Operations to use, such as 'tone,color'; by default all."),
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="joint fits all operations together; beam, fixed and epsilon-greedy search forward, "
            "as the paper does with the solver nelder-mead.",
        ),
    ] = "joint",
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Solver of a forward search: fast (ours), nelder-mead (the paper's), adam, l-bfgs or "
            "newton.",
        ),
    ] = "fast",
    as_json: JsonOption = False,
) -> None:
    """Plan every pair of a dataset once; a run that was stopped goes on where it was."""
    from ..data.overview import draw_plans_sheet
    from ..data.plans import plan_dataset
    from ..image import write_atomically

    settings = make_plan_settings(size, steps, operations, way, solver)
    doing = _make_engine(engine, workers, address)
    found = open_dataset_folder(dataset, layout, split)
    done = 0
    try:
        with _show_planning_progress(len(found.samples)) as show:

            def told(count: int, tally: PlanTotals) -> None:
                nonlocal done
                done = count
                show(count, tally)

            tally = plan_dataset(found, output, engine=doing, settings=settings, progress=told)
    except KeyboardInterrupt:
        left = f"{len(found.samples) - done} of {len(found.samples)} samples"
        exit_with_error(f"stopped, {left} to go; the same command goes on there", EXIT_INTERRUPTED)
    print_problems(found.problems, "left out")
    print_problems(tally.damage, "damaged")
    print_problems(tally.problems, "not planned")
    if tally.pairs:
        write_atomically(output / PLANS_SHEET, draw_plans_sheet(tally), overwrite=True)
    (_print_tally_json if as_json else _print_tally)(tally, output)


def _make_engine(name: str, workers: int | None, address: str | None) -> Engine:
    from ..data.plans import LocalEngine, RayEngine

    if name not in ("local", "ray"):
        raise DataError(f"there is no engine {name!r}; there are local and ray")
    return RayEngine(address, workers) if name == "ray" else LocalEngine(workers)


@contextmanager
def _show_planning_progress(count: int) -> Iterator[PlanProgressCallback]:
    """A bar with the rate and the time left on a terminal; a line now and then elsewhere."""
    screen = make_console(stderr=True)
    if not screen.is_terminal:
        ticker = Ticker()
        yield lambda done, tally: ticker.tell(f"{done} of {count} samples, {tally.rate:.1f} pairs a second")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("planning"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=screen, transient=True) as bars:
        bar = bars.add_task("", total=count, rate="")
        yield lambda done, tally: bars.update(bar, completed=done, rate=f"{tally.rate:.1f} pairs a second")


def _print_tally(tally: PlanTotals, output: Path) -> None:
    from rich.table import Table

    from ..data.plans.run import PAPER_COSTS

    table = Table("", "before", "after", box=None, pad_edge=False)
    rows = {
        f"mean L1 of {_format_pairs(tally.pairs)}": (tally.start_cost, tally.cost),
        "the same at the working size": tally.working_costs,
        "the paper's planner on MA5k-Req": PAPER_COSTS,
    }
    for name, costs in rows.items():
        table.add_row(name, *(f"{cost:.4f}" for cost in costs))
    make_console().print(table)
    _print_shares("steps", sorted(tally.lengths.items()), tally.pairs)
    _print_shares("operation", tally.operations_by_count, tally.pairs)
    print_line(_format_counts(tally), err=False)
    print_line(f"-> {output}, and its best and worst plans in {output / PLANS_SHEET}", err=False)


def _format_counts(tally: PlanTotals) -> str:
    """How many pairs were planned when, and how many were not; without those that are none."""
    old = tally.pairs - tally.new
    parts = {
        f"{_format_pairs(tally.new)} planned now, {tally.rate:.1f} a second": tally.new,
        f"{_format_pairs(old)} {'was' if old == 1 else 'were'} there already": old,
        f"{_format_pairs(tally.failed)} could not be planned": tally.failed,
    }
    return "; ".join(part for part, count in parts.items() if count)


def _format_pairs(count: int) -> str:
    return f"{count} pair" if count == 1 else f"{count} pairs"


def _print_shares(what: str, counts: list[tuple[Any, int]], total: int) -> None:
    from rich.table import Table

    table = Table(what, "plans", "", box=None, pad_edge=False)
    for name, count in counts:
        table.add_row(str(name), str(count), "█" * round(40 * count / total))
    make_console().print(table)


def _print_tally_json(tally: PlanTotals, output: Path) -> None:
    print_json(
        {
            "pairs": tally.pairs,
            "new": tally.new,
            "failed": tally.failed,
            "pairs_a_second": tally.rate,
            "start_cost": tally.start_cost,
            "cost": tally.cost,
            "working_costs": tally.working_costs,
            "steps": {str(length): count for length, count in sorted(tally.lengths.items())},
            "operations": dict(tally.operations_by_count),
            "problems": [{"name": p.name, "reason": p.reason} for p in (*tally.damage, *tally.problems)],
            "output": str(output),
        }
    )


# `t2o data show`: pairs of a dataset on one sheet.


@exit_on_error
def show_pairs(
    dataset: DatasetArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="File for the sheet (PNG).")],
    count: Annotated[int, typer.Option(min=1, help="Pairs to show.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of pairs.")] = 0,
    split: SplitOption = None,
    layout: LayoutOption = None,
    overwrite: ReplaceOption = False,
) -> None:
    """Draw pairs of a dataset, and what was asked for, on a contact sheet."""
    from ..data.overview import choose_samples, draw_pairs_sheet
    from ..image import write_atomically

    check_picture_path(output, overwrite)
    found = open_dataset_folder(dataset, layout, split)
    samples = choose_samples(found.samples, count, seed)
    write_atomically(output, draw_pairs_sheet(found, samples, len(found.samples)), overwrite=overwrite)
    print_problems(found.problems, "left out")
    print_line(f"{len(samples)} of {len(found.samples)} samples -> {output}", err=False)


# `t2o data simulate`: a dataset of requests and edits, drawn on any photos.


@exit_on_error
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
    as_json: JsonOption = False,
) -> None:
    """Simulate requests: edit photos in photographic terms and say in words what was done."""
    from ..data.simulation.dataset import PER_PHOTO, phrases_in, simulate
    from ..data.simulation.sentences import request

    found = list_photos(photos, recursive=recursive)
    words = partial(request, mined=None if phrases is None else phrases_in(phrases))
    with _show_simulation_progress(count or PER_PHOTO * len(found)) as told:
        made = simulate(found, output, words, count=count, seed=seed, size=size, val=val, progress=told)
    for problem in made.problems:
        print_line(f"left out: {problem.reason}")
    if as_json:
        print_json({"counts": made.counts, "left_out": [problem.name for problem in made.problems]})
        return
    parts = ", ".join(f"{number} for {split}" for split, number in made.counts.items())
    print_line(f"{sum(made.counts.values())} samples ({parts}) -> {output}", err=False)


@contextmanager
def _show_simulation_progress(count: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal; a line now and then elsewhere."""
    screen = make_console(stderr=True)
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


# `t2o data stats`: how a dataset is distributed.


@exit_on_error
def show_statistics(
    dataset: DatasetArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="OUT", help="PNG file for the charts; needs the extra `train`."
        ),
        typer.Option(
            "-o", "--output", metavar="OUT", help="File for the charts (PNG); needs the extra `train`."
        ),
    ] = None,
    plans: PlansOption = None,
    plan_size: PlanSizeOption = 128,
    plan_steps: PlanStepsOption = 6,
    plan_operations: PlanOperationsOption = None,
    plan_way: PlanWayOption = "joint",
    plan_solver: PlanSolverOption = "fast",
    split: SplitOption = None,
    layout: LayoutOption = None,
    overwrite: ReplaceOption = False,
) -> None:
    """Count the words of requests, what they ask for, and what plans use and cost."""
    from ..data.overview import check_matplotlib, compute_distributions, draw_distributions
    from ..image import write_atomically

    if output is not None:
        check_picture_path(output, overwrite)
        check_matplotlib()
    found = open_dataset_folder(dataset, layout, split)
    made = None
    if plans is not None:
        settings = make_plan_settings(plan_size, plan_steps, plan_operations, plan_way, plan_solver)
        made = open_plans(plans, found, settings)
    counted = compute_distributions(found.samples, made)
    print_problems(() if made is None else made.damage, "damaged")
    print_problems(found.problems, "left out")
    for distribution in counted:
        _print_distribution(distribution)
    if output is not None:
        title = f"{found.root.name or found.layout}: {len(found.samples)} samples"
        write_atomically(output, draw_distributions(title, counted), overwrite=overwrite)
        print_line(f"-> {output}", err=False)


def _print_distribution(distribution: Distribution) -> None:
    from rich.table import Table

    heads = [name or "count" for name, _ in distribution.series]
    table = Table(distribution.title, *heads, "share", box=None, pad_edge=False)
    columns = [counts for _, counts in distribution.series]
    for label, *counts in zip(distribution.labels, *columns, strict=True):
        if any(counts):
            shares = " ".join(f"{100 * count / distribution.total:.1f} %" for count in counts)
            table.add_row(label, *map(str, counts), shares)
    make_console().print(table)
    print_line(distribution.note, err=False)


# `t2o data`: datasets of photos, requests and plans.

app = typer.Typer(
    help="Datasets: simulate requests, plan all pairs, pack and show them.", no_args_is_help=True
)
app.command("simulate")(simulate_requests)
app.command("plan")(plan_pairs)
app.command("pack")(pack_folder)
app.command("show")(show_pairs)
app.command("stats")(show_statistics)

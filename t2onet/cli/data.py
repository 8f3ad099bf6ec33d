"""`t2o data`: datasets of photos, requests and plans."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import DataError
from .common import (
    EXIT_INTERRUPTED,
    DatasetArgument,
    JsonOption,
    LayoutOption,
    PlanOptions,
    RecursiveOption,
    ReplaceOption,
    SplitOption,
    check_new_file,
    check_picture_path,
    exit_on_error,
    exit_with_error,
    make_console,
    make_plan_settings,
    open_dataset_folder,
    print_json,
    print_line,
    print_problems,
    print_rows,
    show_progress,
    with_options,
)
from .photos import list_photos

if TYPE_CHECKING:
    from ..data.overview import Distribution
    from ..data.plans import Engine, PlanTotals


@exit_on_error
@with_options(PlanOptions, "plans")
def pack_folder(
    dataset: DatasetArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the shards.")],
    plans: PlanOptions,
    photos_of: Annotated[
        Path | None,
        typer.Option(
            metavar="PACKED",
            help="A packed set of the same pairs, whose photos and texts are used in place; DIR then holds "
            "only the plans of --plans.",
        ),
    ] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            "--texts", metavar="DATASET", help="Dataset whose requests are packed without photos; repeatable."
        ),
    ] = None,
    size: Annotated[int, typer.Option(metavar="PX", help="Side of the photos, in pixels.")] = 128,
    quality: Annotated[int, typer.Option(min=1, max=100, help="Quality of the photos (WebP).")] = 90,
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
    from ..data.packed import INDEX_FILE, collect_texts, pack_dataset, read_training_requests, repack_dataset
    from ..language import Vocabulary
    from ..language.vocabulary import MIN_WORD_COUNT, WORDS_FILE, write_glove_vectors

    if (output / INDEX_FILE).is_file():
        check_new_file(output, overwrite)
    if photos_of is not None and (plans.plans is None or texts):
        raise DataError("with --photos-of only plans are packed; give --plans, and leave out --texts")
    if vocabulary is not None and glove is None:
        raise DataError("--vocabulary is the word list for --glove; give both")
    if glove is not None and not glove.is_file():
        raise DataError(f"{glove} cannot be read as word vectors: there is no such file")
    words = None if vocabulary is None else Vocabulary.load(vocabulary)
    found = open_dataset_folder(dataset, layout, split)
    stored_plans = plans.open(found)
    further_texts = [
        text for other in texts or () for text in collect_texts(open_dataset(other, photos=False), found)
    ]
    with make_console(stderr=True).status("packing"):
        if photos_of is not None and stored_plans is not None:
            done = repack_dataset(photos_of, output, found, stored_plans, overwrite=overwrite)
        else:
            done = pack_dataset(
                found,
                output,
                plans=stored_plans,
                texts=further_texts,
                size=size,
                quality=quality,
                overwrite=overwrite,
            )
    print_problems(() if stored_plans is None else stored_plans.damage, "damaged")
    print_problems((*found.problems, *done.problems), "left out")
    print_line(
        f"{done.samples} samples ({done.planned} with a plan), {done.photos} photos and {done.texts} further "
        f"requests -> {output}, {done.bytes / 1e6:.1f} MB",
        err=False,
    )
    if glove is not None:
        words = words or Vocabulary.of(read_training_requests(output), minimum=MIN_WORD_COUNT)
        counts = write_glove_vectors(output / WORDS_FILE, glove, words)
        missing = f"{counts.missing} of them without a vector"
        print_line(f"{counts.words} words, {missing} -> {output / WORDS_FILE}", err=False)


PLANS_SHEET = "best-and-worst.png"


@exit_on_error
def plan_pairs(
    dataset: DatasetArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the plans.")],
    split: SplitOption = None,
    layout: LayoutOption = None,
    engine: Annotated[
        str,
        typer.Option(metavar="NAME", help="local: processes on this machine; ray: a Ray cluster."),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one for each core.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address of a Ray cluster; by default one is started here."),
    ] = None,
    size: Annotated[
        int, typer.Option(metavar="PX", help="Short side of the working pictures, in pixels.")
    ] = 128,
    steps: Annotated[int, typer.Option(help="Maximum number of steps of a plan.")] = 6,
    operations: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Operations to use: paper (the default), darkroom, or names such as 'tone,color'.",
        ),
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
    """Plan every pair of a dataset; run it again to resume a stopped run."""
    from ..data.overview import draw_plans_sheet
    from ..data.plans import plan_dataset
    from ..image import write_atomically

    settings = make_plan_settings(size, steps, operations, way, solver)
    chosen_engine = _make_engine(engine, workers, address)
    found = open_dataset_folder(dataset, layout, split)
    count = len(found.samples)
    done = 0
    try:
        with show_progress() as show:

            def report(planned: int, tally: PlanTotals) -> None:
                nonlocal done
                done = planned
                show("samples", planned, count, f"{tally.rate:.1f} pairs a second")

            tally = plan_dataset(found, output, engine=chosen_engine, settings=settings, progress=report)
    except KeyboardInterrupt:
        left = f"{count - done} of {count} samples"
        exit_with_error(f"stopped, {left} to go; the same command continues there", EXIT_INTERRUPTED)
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


def _print_tally(tally: PlanTotals, output: Path) -> None:
    from ..data.plans.run import PAPER_COSTS

    rows = {
        f"mean L1 of {_format_pairs(tally.pairs)}": (tally.start_cost, tally.cost),
        "the same at the working size": tally.working_costs,
        "the paper's planner on MA5k-Req": PAPER_COSTS,
    }
    print_rows(
        ("", "before", "after"),
        ((name, *(f"{cost:.4f}" for cost in costs)) for name, costs in rows.items()),
    )
    _print_shares("steps", sorted(tally.lengths.items()), tally.pairs)
    _print_shares("operation", tally.operations_by_count, tally.pairs)
    print_line(_format_counts(tally), err=False)
    print_line(f"-> {output}, and its best and worst plans in {output / PLANS_SHEET}", err=False)


def _format_counts(tally: PlanTotals) -> str:
    """How many pairs were planned now, were planned before, or failed; zero counts are left out."""
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
    rows = ((name, count, "█" * round(40 * count / total)) for name, count in counts)
    print_rows((what, "plans", ""), rows)


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


@exit_on_error
def show_pairs(
    dataset: DatasetArgument,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="File for the sheet (PNG).")],
    count: Annotated[int, typer.Option(min=1, help="Pairs to show.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the choice of pairs.")] = 0,
    split: SplitOption = None,
    layout: LayoutOption = None,
    overwrite: ReplaceOption = False,
) -> None:
    """Draw pairs of a dataset with their requests on a contact sheet."""
    from ..data.overview import choose_samples, draw_pairs_sheet
    from ..image import write_atomically

    check_picture_path(output, overwrite)
    found = open_dataset_folder(dataset, layout, split)
    samples = choose_samples(found.samples, count, seed)
    write_atomically(output, draw_pairs_sheet(found, samples, len(found.samples)), overwrite=overwrite)
    print_problems(found.problems, "left out")
    print_line(f"{len(samples)} of {len(found.samples)} samples -> {output}", err=False)


@exit_on_error
def simulate_requests(
    photos: Annotated[
        list[str],
        typer.Argument(metavar="PHOTO", help="Photos, folders, or patterns such as 'trip/*.jpg'."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the dataset; must not exist.")
    ],
    count: Annotated[
        int | None, typer.Option(help="Number of samples; by default five for each photo.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same files.")] = 0,
    size: Annotated[int, typer.Option(metavar="PX", help="Short side of the pictures, in pixels.")] = 256,
    val: Annotated[float, typer.Option(metavar="SHARE", help="Share of photos for validation.")] = 0.1,
    recursive: RecursiveOption = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate requests: draw sentences, and do to photos what they ask for."""
    from ..data.simulation import PER_PHOTO, simulate

    found = list_photos(photos, recursive=recursive)
    total = count or PER_PHOTO * len(found)
    start = time.monotonic()
    with show_progress() as show:

        def report(written: int) -> None:
            rate = written / max(1e-9, time.monotonic() - start)
            show("samples", written, total, f"{rate:.1f} a second")

        made = simulate(found, output, count=count, seed=seed, size=size, val=val, progress=report)
    for problem in made.problems:
        print_line(f"left out: {problem.reason}")
    if as_json:
        print_json({"counts": made.counts, "left_out": [problem.name for problem in made.problems]})
        return
    parts = ", ".join(f"{number} for {split}" for split, number in made.counts.items())
    print_line(f"{sum(made.counts.values())} samples ({parts}) -> {output}", err=False)


@exit_on_error
@with_options(PlanOptions, "plans")
def show_statistics(
    dataset: DatasetArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="OUT", help="PNG file for the charts (needs the extra `train`)."
        ),
    ] = None,
    *,
    plans: PlanOptions,
    split: SplitOption = None,
    layout: LayoutOption = None,
    overwrite: ReplaceOption = False,
) -> None:
    """Print statistics of requests, what they ask for, and plans."""
    from ..data.overview import check_matplotlib, compute_distributions, draw_distributions
    from ..image import write_atomically

    if output is not None:
        check_picture_path(output, overwrite)
        check_matplotlib()
    found = open_dataset_folder(dataset, layout, split)
    stored_plans = plans.open(found)
    distributions = compute_distributions(found.samples, stored_plans)
    print_problems(() if stored_plans is None else stored_plans.damage, "damaged")
    print_problems(found.problems, "left out")
    for distribution in distributions:
        _print_distribution(distribution)
    if output is not None:
        title = f"{found.root.name or found.layout}: {len(found.samples)} samples"
        write_atomically(output, draw_distributions(title, distributions), overwrite=overwrite)
        print_line(f"-> {output}", err=False)


def _print_distribution(distribution: Distribution) -> None:
    heads = [name or "count" for name, _ in distribution.series]
    columns = [counts for _, counts in distribution.series]
    rows = [
        (label, *counts, " ".join(f"{100 * count / distribution.total:.1f} %" for count in counts))
        for label, *counts in zip(distribution.labels, *columns, strict=True)
        if any(counts)
    ]
    print_rows((distribution.title, *heads, "share"), rows)
    print_line(distribution.note, err=False)


app = typer.Typer(
    help="Datasets: simulate requests, plan all pairs, pack and show them.", no_args_is_help=True
)
app.command("simulate")(simulate_requests)
app.command("plan")(plan_pairs)
app.command("pack")(pack_folder)
app.command("show")(show_pairs)
app.command("stats")(show_statistics)

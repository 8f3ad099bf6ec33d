"""`t2o plan`: the recipe behind a before/after pair."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import OutputError, PlanError
from .common import (
    JsonOption,
    exit_on_error,
    get_given_options,
    make_console,
    print_json,
    print_line,
    print_rows,
    split_commas,
)
from .photos import describe_path_error

if TYPE_CHECKING:
    from ..planning import Plan
    from ..planning.local import MaskSource
    from ..planning.planner import PlanningMethod
    from ..planning.segments import Normalisation

GLOBAL_ONLY_OPTIONS = ("way", "random_beam", "repeats", "solver", "refine", "seed")
LOCAL_ONLY_OPTIONS = ("masks", "panoptic", "segmenter", "normalise", "mask_limit", "removals")


def check_options(options: dict[str, object]) -> None:
    """Raise PlanError for options of the other kind of plan, and for options that need another one."""
    local = bool(options.get("local"))
    for name in filter(options.__contains__, GLOBAL_ONLY_OPTIONS if local else LOCAL_ONLY_OPTIONS):
        option = f"--{name.replace('_', '-')}"
        if local:
            raise PlanError(f"{option} belongs to plans for the whole picture; leave out {option} or --local")
        raise PlanError(f"{option} belongs to plans with masks; add --local or leave it out")
    if "masks" in options and "segmenter" in options:
        raise PlanError("--masks and --segmenter both say where masks come from; give one of them")
    if "panoptic" in options and "masks" not in options:
        raise PlanError("--panoptic explains a PNG of ids; name that PNG with --masks")
    if "normalise" in options and "segmenter" not in options:
        raise PlanError("--normalise is about the network of --segmenter; name that network too")


def open_mask_candidates(
    masks: Path | None, panoptic: Path | None, segmenter: Path | None, normalise: str
) -> MaskSource | None:
    """The mask candidates that the options name; None for the planner's own."""
    from ..planning import segments

    if segmenter is not None:
        return segments.OnnxSegmenter(segmenter, cast("Normalisation", normalise))
    if masks is None:
        return None
    if panoptic is not None:
        return segments.masks_from_panoptic(masks, panoptic)
    if masks.is_file():
        raise PlanError(
            f"{masks} is a file; give a folder of mask pictures, or say with --panoptic what its ids mean"
        )
    return segments.masks_from_folder(masks)


_LOCAL_PANEL = "Local edits"
_LOCAL_DEFAULTS = ("steps", "beam", "tolerance", "size", "mask_limit")
"""Options whose defaults differ with --local; passed on only if they were given."""
_LOCAL_HINT = "if only a part of the photo was edited, try --local"
_UNEXPLAINABLE_HINT = "what was moved, added, blurred or shifted in hue cannot be explained"


@exit_on_error
def plan_recipe(
    ctx: typer.Context,
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The original photo.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The same photo, edited.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="File for the recipe (JSON).")
    ] = None,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OUT",
            help="File for a report: .html (a self-contained page) or .png; repeatable.",
        ),
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="joint (the default) fits all operations together; beam (the default with --repeats or "
            "another solver), fixed and epsilon-greedy search forward, as the paper does with nelder-mead.",
        ),
    ] = None,
    operations: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Operations to use: darkroom (the default of joint, and of --local at named places), paper "
            "(of a search, and of --local in masks), or names such as 'exposure,tone'.",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of steps of the recipe; 8 by default, 6 in the paper's operations."
        ),
    ] = None,
    beam: Annotated[int, typer.Option(help="Beam size of a forward search.")] = 3,
    random_beam: Annotated[
        int, typer.Option(help="Maximum number of random choices in the beam of epsilon-greedy.")
    ] = 1,
    tolerance: Annotated[
        float, typer.Option(help="Mean difference in [0, 1] at which a forward search stops.")
    ] = 0.01,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="Let a forward search use an operation more than once.")
    ] = False,
    solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Solver of a forward search: fast (ours, the default), nelder-mead (the paper's), adam, "
            "l-bfgs or newton.",
        ),
    ] = None,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Fit all steps of a forward search jointly at the end; by default if the solver is fast.",
        ),
    ] = None,
    size: Annotated[
        int, typer.Option(metavar="PX", help="Short side of the working pictures, in pixels.")
    ] = 256,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of epsilon-greedy.")] = 0,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            rich_help_panel=_LOCAL_PANEL,
            help="Plan steps at named places such as the sky, else in masks, and removals. Its own defaults: "
            "3 steps, beam 2, tolerance 0.006, size 1000.",
        ),
    ] = False,
    masks: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            rich_help_panel=_LOCAL_PANEL,
            help="Mask candidates: a folder of pictures, white where the mask is, or with --panoptic a PNG "
            "of ids. By default named places, then regions of similar colour and of visible change.",
        ),
    ] = None,
    panoptic: Annotated[
        Path | None,
        typer.Option(
            metavar="JSON",
            rich_help_panel=_LOCAL_PANEL,
            help="COCO panoptic annotations of the PNG in --masks.",
        ),
    ] = None,
    segmenter: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", rich_help_panel=_LOCAL_PANEL, help="A segmentation network in the ONNX format."
        ),
    ] = None,
    normalise: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            rich_help_panel=_LOCAL_PANEL,
            help="Input of --segmenter: imagenet (normalised by ImageNet's mean and deviation) or unit "
            "(values in [0, 1]).",
        ),
    ] = "imagenet",
    mask_limit: Annotated[
        int,
        typer.Option(
            rich_help_panel=_LOCAL_PANEL, help="Masks tried at each step: those that fit the change best."
        ),
    ] = 8,
    removals: Annotated[
        bool,
        typer.Option(
            "--removals/--no-removals",
            rich_help_panel=_LOCAL_PANEL,
            help="Whether to plan removals of objects.",
        ),
    ] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Find the recipe that turns one photo into another, and print how close it comes."""
    from ..planning import plan, plan_local
    from ..planning.report import check_report_suffix, write_report

    reports = report or []
    for place in reports:
        check_report_suffix(place)
    places = [*([] if output is None else [output]), *reports]
    _check_outputs([before, after], places, overwrite)
    options = get_given_options(ctx)
    check_options(options)
    names = None if operations is None else split_commas(operations)
    with make_console(stderr=True).status("planning"):
        result: Plan
        if local:
            own: dict[str, Any] = {name: options[name] for name in _LOCAL_DEFAULTS if name in options}
            regions = open_mask_candidates(masks, panoptic, segmenter, normalise)
            if not removals:
                own["repair"] = None
            result = plan_local(before, after, masks=regions, operations=names, **own)
        else:
            result = plan(
                before,
                after,
                way=cast("PlanningMethod | None", way),
                operations=names,
                steps=steps,
                beam=beam,
                random_beam=random_beam,
                tolerance=tolerance,
                repeats=repeats,
                solver=solver,
                refine=refine,
                size=size,
                seed=seed,
            )
    if output is not None:
        result.recipe.save(output, overwrite=overwrite)
    for place in reports:
        write_report(result, place, overwrite=overwrite)
    if as_json:
        _print_plan_json(result)
    else:
        _print_plan_table(result)
        for place in places:
            print_line(f"-> {place}", err=False)
    if result.explains_little:
        print_line(f"note: most of the difference remains; {_UNEXPLAINABLE_HINT if local else _LOCAL_HINT}")


def _check_outputs(photos: list[Path], places: list[Path], overwrite: bool) -> None:
    """Check, before any work, that all outputs can be written and replace nothing by accident."""
    for number, place in enumerate(places):
        try:
            exists, parent_exists = place.exists(), place.parent.is_dir()
        except OSError as error:
            raise OutputError(describe_path_error(error)) from None
        if not parent_exists:
            raise OutputError(f"{place}: there is no folder {place.parent}; create it first")
        if os.path.realpath(place) in map(os.path.realpath, (*photos, *places[:number])):
            raise OutputError(f"{place} is given twice; give every file a name of its own")
        if exists and not overwrite:
            raise OutputError(f"{place} exists already; give another name or --overwrite")


def _print_plan_table(plan: Plan) -> None:
    if plan.recipe.steps:
        where = _describe_regions(plan)
        height, width = plan.pictures[0].shape[1:]
        place = ["where"] if where else []
        heads = ("step", "operation", "what it does", *place, f"cost at {width} x {height}")
        rows = [
            (number + 1, step.operation, step.describe(), *where[number : number + 1], f"{cost:.4f}")
            for number, (step, cost) in enumerate(zip(plan.recipe.steps, plan.costs[1:], strict=True))
        ]
        print_rows(heads, rows)
    print_line(
        f"Mean difference from the edited photo, on the photos themselves: {plan.start_cost:.4f} -> "
        f"{plan.cost:.4f}, in levels of 255: {255 * plan.start_cost:.1f} -> {255 * plan.cost:.1f}",
        err=False,
    )
    if plan.remainder:
        print_line(f"{plan.remainder[0].upper()}{plan.remainder[1:]}.", err=False)
    print_line(plan.recipe.describe(), err=False)
    if plan.recipe.steps:
        print_line(plan.recipe.format_settings(), err=False)


def _describe_regions(plan: Plan) -> list[str]:
    """Where each step works, in words; empty for a plan of the whole picture."""
    from ..planning.local import LocalPlan

    return plan.describe_places() if isinstance(plan, LocalPlan) else []


def _print_plan_json(plan: Plan) -> None:
    where = _describe_regions(plan)
    print_json(
        {
            "recipe": plan.recipe.model_dump(mode="json", exclude_none=True),
            "description": plan.recipe.describe(),
            "settings": plan.recipe.format_settings(),
            **({"where": where} if where else {}),
            "start_cost": plan.start_cost,
            "cost": plan.cost,
            "costs": list(plan.costs),
            **({"remainder": plan.remainder} if plan.remainder else {}),
        }
    )

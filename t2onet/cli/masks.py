"""Options of `t2o plan --local`: which go together, and where mask candidates come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from ..errors import PlanError

if TYPE_CHECKING:
    from ..planning.local import Masks
    from ..planning.network import Normalisation

WHOLE_ONLY = ("way", "random_beam", "repeats", "solver", "refine", "seed")
LOCAL_ONLY = ("masks", "panoptic", "segmenter", "normalise", "mask_limit", "removals")


def given(context: typer.Context) -> dict[str, object]:
    """The options that somebody gave, as opposed to those that stand at their defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name: context.params[name] for name, source in sources.items() if source and source.name != "DEFAULT"
    }


def check_options(options: dict[str, object]) -> None:
    """Refuse options of one kind of plan given with the other, and those that need another one."""
    local = bool(options.get("local"))
    for name in filter(options.__contains__, WHOLE_ONLY if local else LOCAL_ONLY):
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


def candidates(
    masks: Path | None, panoptic: Path | None, segmenter: Path | None, normalise: str
) -> Masks | None:
    """What the options name; None for the planner's own choice."""
    from ..planning import segments

    if segmenter is not None:
        return segments.from_onnx(segmenter, cast("Normalisation", normalise))
    if masks is None:
        return None
    if panoptic is not None:
        return segments.from_panoptic(masks, panoptic)
    if masks.is_file():
        raise PlanError(
            f"{masks} is a file; give a folder of mask pictures, or say with --panoptic what its ids mean"
        )
    return segments.from_folder(masks)

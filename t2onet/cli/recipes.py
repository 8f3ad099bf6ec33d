"""`t2o describe`, `t2o export`, `t2o looks`, `t2o ops`: recipes in words and for other tools."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import TrainingError
from .common import (
    JsonOption,
    RecipeArgument,
    exit_on_error,
    load_recipe,
    print_json,
    print_line,
    print_rows,
)

if TYPE_CHECKING:
    from ..models.files import WeightFormat
    from ..recipe import Recipe, Step


@exit_on_error
def describe_recipe(
    recipe: RecipeArgument,
    diff: Annotated[
        Path | None, typer.Option("--diff", metavar="OTHER", help="Print the changes from RECIPE to OTHER.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Describe a recipe in plain English."""
    from ..looks import looks
    from ..recipe.recipe import derive_look_name

    loaded = load_recipe(recipe)
    if diff is not None:
        _print_diff(loaded, load_recipe(diff), as_json)
        return
    name = loaded.name or derive_look_name(recipe)
    look = looks().get(name)
    about = look.description if look is not None and look.recipe == loaded else ""
    if as_json:
        steps = [_to_step_json(step) for step in loaded.steps]
        print_json(
            {
                "name": name,
                **({"about": about} if about else {}),
                "description": loaded.describe(),
                "settings": loaded.format_settings(),
                "steps": steps,
            }
        )
    else:
        if about:
            print_line(about, err=False)
        _print_steps(name, loaded)


def _to_step_json(step: Step) -> dict[str, Any]:
    from ..recipe.where import to_data

    return {
        "operation": step.operation,
        "parameters": step.stored_parameters,
        "masked": step.is_local,
        **({} if step.where is None else {"where": to_data(step.where)}),
        "does": step.describe(),
        "settings": step.format_settings(),
    }


def _print_steps(name: str, recipe: Recipe) -> None:
    print_line(recipe.describe() if recipe.is_look else f"{name}: {recipe.describe()}", err=False)
    width = max((len(step.format_settings()) for step in recipe.steps), default=0)
    for number, step in enumerate(recipe.steps, start=1):
        line = f"  {number}. {step.format_settings():<{min(width, 30)}}  {step.describe()}"
        print_line(line, err=False)


def _print_diff(old: Recipe, new: Recipe, as_json: bool) -> None:
    changes = [str(change) for change in old.diff(new)]
    if as_json:
        print_json({"changes": changes})
    else:
        typer.echo("\n".join(changes) if changes else "The steps are the same.")


def list_looks(as_json: JsonOption = False) -> None:
    """List the named looks, which `t2o apply`, `t2o describe` and `t2o export` take instead of a recipe."""
    from ..looks import looks

    if as_json:
        print_json(
            [
                {
                    "name": look.name,
                    "family": look.family,
                    "description": look.description,
                    "recipe": json.loads(look.recipe.to_json()),
                }
                for look in looks().values()
            ]
        )
        return
    family = ""
    for look in looks().values():
        if look.family != family:
            family = look.family
            print_line(family, err=False)
        print_line(f"  {look.name:<26}{look.description}", err=False)


def list_operations(as_json: JsonOption = False) -> None:
    """List the operations with their parameters, ranges and defaults."""
    from ..operations import declarations

    if as_json:
        print_json(
            [
                {
                    "name": op.name,
                    "group": op.group,
                    "help": op.help,
                    "parameters": [asdict(p) for p in op.parameters],
                }
                for op in declarations().values()
            ]
        )
        return
    rows: list[tuple[str, ...]] = []
    for op in declarations().values():
        rows.append((f"[bold]{op.name}[/bold]", "", "", "", "", op.help))
        rows += [
            ("", p.label, f"{p.low:g} .. {p.high:g}", f"{p.default:g}", p.unit, p.help) for p in op.parameters
        ]
    print_rows(("operation", "parameter", "range", "default", "unit", "meaning"), rows)


_WEIGHTS_SUFFIX = ".safetensors"


@exit_on_error
def export_look(
    recipe: Annotated[
        Path,
        typer.Argument(
            metavar="RECIPE|WEIGHTS",
            help="Recipe (JSON), name of a look, or what `t2o train` wrote.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write: .cube, .png for a HaldCLUT, .pp3 for RawTherapee, .xmp for darktable; "
            "a folder for a network.",
        ),
    ],
    size: Annotated[
        int | None, typer.Option(help="Entries along each axis: 33 or 65 for .cube, 64 or 144 for .png.")
    ] = None,
    precision: Annotated[
        Literal["float32", "float16", "int8"] | None,
        typer.Option(help="T2ONet: format of the weights; by default int8."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a recipe as a colour table or as settings of RawTherapee or darktable; print how accurate it is.

    A .pp3 or .xmp applies a HaldCLUT, which is written beside it and moved to the program's own folder.

    Weights (.safetensors) of the configs paper and rl become a folder that `t2o edit --network` and
    `t2o evaluate --system` open.
    """
    if recipe.suffix == _WEIGHTS_SUFFIX:
        _export_network(recipe, output, precision, overwrite=overwrite)
        return
    from ..looks import export_recipe

    done = export_recipe(load_recipe(recipe), output, size=size, overwrite=overwrite)
    if as_json:
        print_json(
            {
                "path": str(done.path),
                "table": str(done.table),
                "size": done.size,
                "mean_error": done.fidelity.mean,
                "worst_error": done.fidelity.worst,
                "notes": list(done.notes),
            }
        )
        return
    written = done.path if done.path == done.table else f"{done.path} and {done.table}"
    print_line(
        f"{written}: {done.size} entries a side; against the recipe itself, on random colours, "
        f"off by {done.fidelity.mean:.2f}/255 on average and {done.fidelity.worst:.1f}/255 at worst",
        err=False,
    )
    for note in done.notes:
        print_line(f"note: {note}")


def _export_network(weights: Path, folder: Path, precision: WeightFormat | None, *, overwrite: bool) -> None:
    try:
        import onnx  # noqa: F401

        from ..models.files import export_t2onet, load_network
        from ..models.t2onet import T2ONet
    except ImportError as error:
        raise TrainingError(f"exporting a network needs {error.name}: pip install 't2onet[train]'") from None
    from ..inference import NETWORK_FILES

    existing = next((name for name in NETWORK_FILES if (folder / name).exists()), None)
    if existing is not None and not overwrite:
        raise TrainingError(
            f"{folder} holds a network already ({existing}); give another folder, or --overwrite"
        )
    loaded = load_network(weights)
    if not isinstance(loaded.network, T2ONet):
        raise TrainingError(
            f"{weights} holds a network that makes no recipes ({loaded.metadata['network']}), so that "
            "t2o edit cannot run it; export one of the configs paper, rl or rl-pretrained"
        )
    folder.mkdir(parents=True, exist_ok=True)
    export_t2onet(loaded.network, loaded.vocabulary, folder, precision or "int8", overwrite=overwrite)
    size = sum((folder / name).stat().st_size for name in NETWORK_FILES) / 1e6
    print_line(f"{weights} -> {folder}, {size:.1f} MB", err=False)
    print_line(f'try it: t2o edit photo.jpg "..." --network {folder}', err=False)

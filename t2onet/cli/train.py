"""`t2o train`: a config and a packed set -> weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import TrainingError
from .common import refusing


@refusing
def train_network(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG",
            help="What to train: default, paper, rl, rl-pretrained, pix2pixaug, geneva, sisgan, tagan, "
            "bilinear or manigan.",
        ),
    ],
    data: Annotated[Path, typer.Option(metavar="PACKED", help="Folder of the packed set.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for weights and figures.")],
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting: image_loss=none; repeatable."),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Words with vectors, if not words.npz of PACKED."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Weights to begin with, such as best.safetensors of another run."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in DIR.")] = False,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="End after so long, with everything saved.")
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store the best weights with 16 bits each.")] = False,
    cpu: Annotated[bool, typer.Option("--cpu", help="Leave accelerators alone.")] = False,
) -> None:
    """Train a network on a packed set (the extra `train`)."""
    try:
        from ..training import train
    except ImportError as error:
        needed = "training needs torch, Accelerate and safetensors: pip install 't2onet[train]'"
        raise TrainingError(f"{needed} ({error})") from None
    train(
        config,
        data,
        out,
        assignments=assignments or (),
        words=words,
        start=start,
        resume=resume,
        minutes=minutes,
        half=half,
        cpu=cpu,
    )

"""`t2o train`: networks from data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import TrainingError, needs_extra
from .common import exit_on_error


@exit_on_error
def train_network(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG",
            help="What to train: paper, rl, rl-pretrained, pix2pixaug, geneva, sisgan, tagan, "
            "bilinear or manigan.",
        ),
    ],
    data: Annotated[Path, typer.Option(metavar="PACKED", help="Folder of the packed set.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for weights and figures.")],
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change a setting, such as image_loss=none; repeatable."
        ),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Word vectors; by default words.npz in PACKED."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Weights to begin with, such as best.safetensors of another run."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint in DIR.")] = False,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after this many minutes; everything is saved.")
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store the best weights as float16.")] = False,
    cpu: Annotated[
        bool, typer.Option("--cpu", help="Train on the CPU even if there is an accelerator.")
    ] = False,
) -> None:
    """Train a network on a packed set (the extra `train`)."""
    with needs_extra(
        TrainingError, "training needs torch, Accelerate and safetensors", "train", with_cause=True
    ):
        from ..training import train
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

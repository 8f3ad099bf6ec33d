"""`t2o train` and `t2o remember`: networks and styles from data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError, OutputError, T2OError, TrainingError, needs_extra
from .common import Ticker, exit_on_error, print_line

if TYPE_CHECKING:
    from ..data import Sample
    from ..models.style_memory import StylePair


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


@exit_on_error
def remember_edits(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="Pairs of photos by one expert, with requests.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="File to write.")],
    split: Annotated[str, typer.Option(metavar="NAME", help="Split to use.")] = "train",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Learn the style of an expert from pairs (the extra `train`); minutes on a CPU.

    `t2o export FILE DIR` makes it a folder that `t2o edit --network` opens.
    """
    if output.exists() and not overwrite:
        raise OutputError(f"{output} exists; give another name or --overwrite")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"{output} cannot be written: there is no folder {output.parent}; create it first")
    with needs_extra(TrainingError, "remembering needs torch and safetensors", "train", with_cause=True):
        from ..models.style_memory import MAX_PAIRS, build_style_memory, save_style_memory
    from ..data import open_dataset

    found = open_dataset(dataset, splits=[split])
    if len(found.samples) > MAX_PAIRS:
        raise DataError(
            f"{dataset} has {len(found.samples)} pairs of {split}, and each is compared with each, which "
            f"is too much memory for more than {MAX_PAIRS}; give a folder with fewer"
        )
    memory = build_style_memory(_read_style_pairs(found.samples))
    save_style_memory(output, memory, {"data": found.fingerprint, "split": split}, overwrite=overwrite)
    print_line(f"{len(memory.anchors)} edits remembered -> {output}", err=False)


def _read_style_pairs(samples: Sequence[Sample]) -> Iterator[StylePair]:
    """Each pair as small pictures; pairs that cannot be read are reported and left out."""
    from ..models.style_memory import PICTURE_SIDE, StylePair
    from ..planning.pictures import open_photo_pair, to_working_picture

    ticker = Ticker()
    for number, sample in enumerate(samples):
        try:
            pair = open_photo_pair(sample.before, sample.after)
        except T2OError as error:
            print_line(f"left out: {sample.name}: {error}")
            continue
        before, after = (
            to_working_picture(photo, PICTURE_SIDE, PICTURE_SIDE) for photo in (pair.before, pair.after)
        )
        yield StylePair(before, after, sample.requests[0] if sample.requests else "")
        ticker.tell(f"{number + 1} of {len(samples)} pairs seen, {ticker.elapsed_seconds:.0f} s")

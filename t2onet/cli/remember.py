"""`t2o remember`: pairs of an expert -> a memory of how photos were given their tones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DataError, OutputError, T2OError, TrainingError
from .common import Ticker, refusing, say

if TYPE_CHECKING:
    from ..data import Sample
    from ..training.retoucher.remembering import Pair


@refusing
def remember_edits(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Pairs with requests, by one expert.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="File to write.")],
    split: Annotated[str, typer.Option(metavar="NAME", help="Split to remember.")] = "train",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Remember how an expert edited photos, for mode expert (the extra `train`); minutes on a CPU.

    `t2o export WEIGHTS DIR --memory FILE` puts it beside a network.
    """
    if output.exists() and not overwrite:
        raise OutputError(f"{output} exists; give another name or --overwrite")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"{output} cannot be written: there is no folder {output.parent}; create it first")
    try:
        from ..models.retoucher.memory import save_memory
        from ..training.retoucher.remembering import MOST, remember
    except ImportError as error:
        needed = "remembering needs torch and safetensors: pip install 't2onet[train]'"
        raise TrainingError(f"{needed} ({error})") from None
    from ..data import open_dataset

    found = open_dataset(dataset, splits=[split])
    if len(found.samples) > MOST:
        raise DataError(
            f"{dataset} has {len(found.samples)} pairs of {split}, and each is compared with each, which "
            f"is too much memory for more than {MOST}; give a folder with fewer"
        )
    memory = remember(_pairs(found.samples))
    save_memory(output, memory, {"data": found.fingerprint, "split": split}, overwrite=overwrite)
    say(f"{len(memory.anchors)} edits remembered -> {output}", err=False)


def _pairs(samples: Sequence[Sample]) -> Iterator[Pair]:
    """Each as small pictures; those that are no pair are told and left out."""
    from ..models.retoucher.network import SIDE
    from ..planning.pairs import paired, picture_of
    from ..training.retoucher.remembering import Pair

    ticker = Ticker()
    for number, sample in enumerate(samples):
        try:
            pair = paired(sample.before, sample.after)
        except T2OError as error:
            say(f"left out: {sample.name}: {error}")
            continue
        before, after = (picture_of(photo, SIDE, SIDE) for photo in (pair.before, pair.after))
        yield Pair(before, after, sample.requests[0] if sample.requests else "")
        ticker.tell(f"{number + 1} of {len(samples)} pairs seen, {ticker.elapsed:.0f} s")

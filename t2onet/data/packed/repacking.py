"""A packed set once more with other plans: its photos and texts stay where they are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import DataError
from ..folders import made_whole
from ..sample import Dataset
from .model import FORMAT, INDEX, PHOTOS_OF, SAMPLES, VERSION
from .reading import index_digest, read_index, sample_lines
from .shards import Shards
from .writing import Packed, check_place, clear_place

if TYPE_CHECKING:
    from ..plans import Plans


def repack(
    photos_of: str | Path, folder: str | Path, dataset: Dataset, plans: Plans, *, overwrite: bool = False
) -> Packed:
    """The samples of `dataset` that the set `photos_of` has, with `plans`, in `folder`, whole or not at all.

    It is a few hundred kilobytes; whoever reads it needs the other set at the same place beside it.
    """
    home, target = Path(photos_of), Path(folder)
    index = read_index(home)
    if PHOTOS_OF in index:
        raise DataError(f"{home} has no photos itself but shows those of {index[PHOTOS_OF]['folder']}")
    check_place(target, overwrite)
    known = {line["name"]: line for line in sample_lines(home, index)}
    lines = [
        {**known[sample.name], "plan": plans[sample].to_data() if sample in plans else None}
        for sample in dataset.samples
        if sample.name in known
    ]
    if not lines:
        raise DataError(f"{home} has none of the samples of {dataset.root}; pack them with their photos")
    done = Packed(samples=len(lines), planned=sum(line["plan"] is not None for line in lines))
    named = {"folder": os.path.relpath(home, target), "index": index_digest(home)}
    with made_whole(target) as place:
        shards = Shards(place)
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        shards.add(f"{SAMPLES}00000.jsonl", text.encode(), squeeze=True)
        shards.finish()
        told = {"format": FORMAT, "version": VERSION, "layout": dataset.layout, "samples": done.samples}
        said = json.dumps({**told, PHOTOS_OF: named, "shards": shards.listed}, indent=1)
        (place / INDEX).write_text(f"{said}\n", encoding="utf-8")
        done.bytes = sum(path.stat().st_size for path in place.iterdir())
        clear_place(target, overwrite)
    return done

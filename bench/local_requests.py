"""Real requests about a place: whether they are acted on there, and whether others are taken for local ones.

`python -m bench local_requests` reads requests of the val splits of MA5k-Req and GIER that name a place. They
were labelled with the places that they ask to change (`local_requests.csv` has digests and places). One is
right if for each of them a wish is read that can be met there. GIER has no photos here, so it is not checked
whether a photo shows the place. Requests about the whole photo are those of `marked_requests.csv` without a
place; one is taken for local if any of its wishes would change a place alone.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

from bench.reasons import read_marked
from t2onet.data.marks import parse_marks, read_requests
from t2onet.editor.answer import settle_wishes
from t2onet.editor.parts import get_text, take_for_auto
from t2onet.language.reader import Reader, load_reader
from t2onet.language.wishes import CHANGES, PLACES, STYLES, WHOLE, Role
from t2onet.options import DEFAULT_READER, READERS

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
LABELS_FILE = Path(__file__).with_name("local_requests.csv")
RIGHT_BAR, TAKEN_BAR = 0.85, 0.015


def read_labels(path: Path = LABELS_FILE) -> dict[str, frozenset[str]]:
    """The places that each request asks to change, by digest."""
    table = path.read_text(encoding="utf-8")
    return {row["sha256"]: frozenset(row["places"].split()) for row in csv.DictReader(table.splitlines())}


def list_changed_places(text: str, reader: Reader) -> set[str]:
    """The places that wishes of a request would change alone."""
    read = [take_for_auto(wish) for wish in reader.read(text).wishes]
    wishes = [wish for wish in settle_wishes(read) if wish.role is Role.ASK]
    found = {wish.where for wish in wishes if wish.what in (*CHANGES, *STYLES)}
    return {place for place in found if place in PLACES and get_text(place) is not None}


def is_global(text: str, marks: str) -> bool:
    """Whether a person marked changes in a request, all of them of the whole photo."""
    wishes = [one.wish for one in parse_marks(text, marks).wishes]
    return any(wish.what in CHANGES for wish in wishes) and all(wish.where == WHOLE for wish in wishes)


def main(arguments: Sequence[str] = ()) -> int:
    """Print both shares; returns 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench local_requests", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder that has ma5k-req and gier")
    parser.add_argument("--reader", choices=READERS, default=DEFAULT_READER, help="the reader to measure")
    parser.add_argument("--show", action="store_true", help="print the requests that are read otherwise")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print("  MA5k-Req and GIER: not here; see docs/data.md, and name their folder with --data")
        return 0
    requests, reader = read_requests(options.data, "val"), load_reader(options.reader)
    labels = {requests[key]: places for key, places in read_labels().items() if key in requests}
    wrong = {
        text: found
        for text, places in labels.items()
        if not places <= (found := list_changed_places(text, reader))
    }
    marked = {requests[key]: marks for key, marks in read_marked().items() if key in requests}
    whole = [text for text, marks in marked.items() if is_global(text, marks)]
    taken = {text: found for text in whole if (found := list_changed_places(text, reader))}
    if options.show:
        for text, found in (*wrong.items(), *taken.items()):
            label = ", ".join(sorted(labels.get(text, {WHOLE})))
            print(f"  {text}\n    read: {', '.join(sorted(found)) or 'none'}; labelled: {label}")
    right, share = 1 - len(wrong) / len(labels), len(taken) / len(whole)
    print(f"  {len(labels)} local requests: acted on at the right place {right:.1%} (bar: {RIGHT_BAR:.0%})")
    print(
        f"  {len(whole)} requests about the whole photo: {share:.1%} taken for local (bar: {TAKEN_BAR:.1%})"
    )
    return int(right < RIGHT_BAR or share > TAKEN_BAR)

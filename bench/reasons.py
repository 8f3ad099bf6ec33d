"""How well the words that are given as the reason of a step agree with those that people marked.

`python -m bench reasons` reads the requests of the val splits of MA5k-Req and GIER that were marked by hand
(marked_requests.csv has digests of them), and prints in how many wishes the named words contain the head that
was marked, and in how many they contain no word of another wish.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from t2onet.data.marks import MarkedWish, parse_marks, read_requests
from t2onet.errors import DataError, T2OError
from t2onet.language.reader import Reader, load_reader, split_words
from t2onet.language.wishes import Wish
from t2onet.options import DEFAULT_READER, READERS

MARKS_FILE = Path(__file__).with_name("marked_requests.csv")
DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@dataclass(frozen=True)
class ReasonResult:
    """One wish that was marked: whether its head is among the words named for it, and whether others are."""

    request: str
    marked: str
    named: tuple[str, ...]
    has_head: bool
    is_clean: bool


def read_marked() -> dict[str, str]:
    """The marks of each request, by digest."""
    table = MARKS_FILE.read_text(encoding="utf-8")
    return {row["sha256"]: row["wishes"] for row in csv.DictReader(table.splitlines())}


def compare_request(text: str, marks: str, reader: Reader) -> Iterator[ReasonResult]:
    """Compare the words of each marked wish with those of the wish that was read."""
    marked = parse_marks(text, marks).wishes
    read = list(reader.read(text).wishes)
    words = [_list_words(text, one) for one in marked]
    for number, one in enumerate(marked):
        head = _split(text[slice(*one.head)]) if one.head else set()
        best = _find_wish(one.wish, head, read)
        named = {word.lower() for word in best.words} if best else set()
        others = set().union(*(words[other] for other in range(len(marked)) if other != number))
        yield ReasonResult(
            text,
            f"{one.wish.what} @ {' '.join(sorted(head))}",
            best.words if best else (),
            bool(head & named),
            not named & (others - words[number]),
        )


def _find_wish(wish: Wish, head: set[str], read: Sequence[Wish]) -> Wish | None:
    """The wish that was read for a marked one: about the same, and nearest by its words."""
    same = [one for one in read if (one.what, one.role) == (wish.what, wish.role)]
    return max(same, key=lambda one: len(head & {word.lower() for word in one.words}), default=None)


def _list_words(text: str, one: MarkedWish) -> set[str]:
    spans = [*([one.head] if one.head else []), *one.spans]
    return set().union(*(_split(text[slice(*span)]) for span in spans))


def _split(text: str) -> set[str]:
    return {word.text.lower() for word in split_words(text) if word.text[0].isalnum()}


def measure_reasons(data: Path, reader: Reader) -> list[ReasonResult]:
    """Compare all requests that were marked."""
    requests = read_requests(data, "val")
    found = [(requests[key], marks) for key, marks in read_marked().items() if key in requests]
    if not found:
        raise DataError(f"{data} has no request that was marked; give the folder of ma5k-req and gier")
    return [result for text, marks in found for result in compare_request(text, marks, reader)]


def summarize(results: Sequence[ReasonResult]) -> str:
    """The shares in one line; words are compared where the wish itself was read."""
    read = [one for one in results if one.named]
    return (
        f"{len({one.request for one in results})} requests, {len(results)} wishes, of which "
        f"{len(read) / len(results):.1%} were read: of these the named words contain the head in "
        f"{sum(one.has_head for one in read) / len(read):.1%}, and no word of another wish in "
        f"{sum(one.is_clean for one in read) / len(read):.1%}"
    )


def main(arguments: Sequence[str] = ()) -> int:
    """Print both shares; returns the exit code, 2 for refused input."""
    parser = argparse.ArgumentParser(prog="python -m bench reasons", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder that has ma5k-req and gier")
    parser.add_argument("--reader", choices=READERS, default=DEFAULT_READER, help="the reader to measure")
    parser.add_argument("--show", action="store_true", help="print the wishes whose words are wrong")
    options = parser.parse_args(arguments)
    if options.data is None and not DATA.is_dir():
        print("  MA5k-Req and GIER: not here; see docs/data.md, and name their folder with --data")
        return 0
    try:
        results = measure_reasons(options.data or DATA, load_reader(options.reader))
    except (T2OError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for one in results if options.show else ():
        if not (one.has_head and one.is_clean):
            print(f"{one.request!r}: {one.marked}, named {' '.join(one.named)!r}")
    print(summarize(results))
    return 0

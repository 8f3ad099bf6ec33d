"""What requests of the training splits do to training photos: following, strength and side effects by class.

`python -m bench following` draws judged requests of MA5k-Req and GIER, each on one photo, and measures in
just-noticeable differences how far what was asked for moves, and what nobody asked for. With --held it draws
from those that the reader was not trained on. The validation split is left alone, so amounts can be chosen by
these figures.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from t2onet import Editor, open_image
from t2onet.data.marks import HELD, judgements, read_requests
from t2onet.editor import apply_to_thumbnail, make_thumbnail
from t2onet.language import Intent
from t2onet.metrics.attributes import (
    ATTRIBUTE_INDEX,
    JUST_NOTICEABLE,
    check_followed,
    measure_attributes,
    measure_unrequested_change,
)
from t2onet.options import DEFAULT_READER, READERS, ReaderName

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
SIDE = 128


@dataclass(frozen=True)
class FollowedRequest:
    """A request, what it asks for, and how it changed the six attributes of a photo."""

    text: str
    intents: tuple[Intent, ...]
    photo: Path
    change: np.ndarray

    def measure(self, intent: Intent) -> float:
        """By how many just-noticeable differences an intent was met."""
        index = ATTRIBUTE_INDEX[intent.attribute]
        return float(intent.sign * self.change[index] / JUST_NOTICEABLE[index])


def draw_requests(data: Path, each: int, seed: int, *, held: bool) -> list[tuple[str, tuple[Intent, ...]]]:
    """About `each` requests for every attribute and sign, and what they ask for."""
    rng = random.Random(seed)
    requests, meanings = read_requests(data, "train"), judgements()
    by_class: dict[tuple[str, int], list[str]] = defaultdict(list)
    for key in sorted(requests.keys() & meanings.keys()):
        if key.startswith(HELD) is held and not meanings[key].matter:
            for intent in meanings[key].intents:
                by_class[intent.attribute, intent.sign].append(key)
    chosen = {key: None for keys in by_class.values() for key in rng.sample(keys, min(each, len(keys)))}
    return [(requests[key].strip(), meanings[key].intents) for key in chosen]


def list_photos(data: Path) -> list[Path]:
    """The photos of the training split of MA5k-Req."""
    entries = json.loads((data / "ma5k-req/annotations/train_sess_1.json").read_text(encoding="utf-8"))
    names = sorted({Path(entry["input"]).stem for entry in entries})
    return [path for name in names if (path := data / f"ma5k-req/images/{name}.webp").exists()]


def follow(task: tuple[str, tuple[Intent, ...], Path], reader: ReaderName) -> FollowedRequest:
    """Ask the editor about a photo."""
    text, intents, photo = task
    picture = make_thumbnail(open_image(photo), SIDE)
    edited = apply_to_thumbnail(Editor(photo, reader=reader).ask(text).recipe, picture)
    after, before = (measure_attributes(one.astype(np.float64)) for one in (edited, picture))
    return FollowedRequest(text, intents, photo, np.asarray(after - before))


def print_table(results: Sequence[FollowedRequest]) -> None:
    """A line for each attribute and sign, and the figures over all."""
    classes: dict[tuple[str, int], list[FollowedRequest]] = defaultdict(list)
    for result in results:
        for intent in result.intents:
            classes[intent.attribute, intent.sign].append(result)
    shares = []
    for (attribute, sign), rows in sorted(classes.items()):
        own = [next(one for one in row.intents if one.attribute == attribute) for row in rows]
        hits = [row.measure(intent) > 1 for row, intent in zip(rows, own, strict=True)]
        single = [row for row in rows if len(row.intents) == 1]
        plain = [row.measure(row.intents[0]) for row in single if row.intents[0].amount == 1]
        side = np.mean([measure_unrequested_change(row.change, row.intents) for row in single])
        shares.append(np.mean(hits))
        name = f"{'more' if sign > 0 else 'less'} {attribute}"
        print(
            f"  {name:<20} followed {np.mean(hits):6.1%} of {len(rows):3}, "
            f"plain wish moves it by {np.median(plain):5.1f} (median of {len(plain)}), others by {side:.1f}"
        )
    compound = [all(check_followed(row.change, row.intents)) for row in results if len(row.intents) > 1]
    unrequested = np.mean([measure_unrequested_change(row.change, row.intents) for row in results])
    opposite = [row for row in results if len(row.intents) == 1 and row.measure(row.intents[0]) < -1]
    print(
        f"  all {len(results)}: followed {np.mean(shares):.1%}, least {min(shares):.1%}, "
        f"compound {np.mean(compound):.1%}, unrequested change {unrequested:.2f}, "
        f"single wishes done the other way {len(opposite)}"
    )
    for row in opposite:
        print(f"    the other way: {row.text!r} on {row.photo.name}")


def main(arguments: list[str] | None = None) -> int:
    """Print the table; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench following")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="folder of ma5k-req and gier")
    parser.add_argument("--each", type=int, default=25, help="requests for each attribute and sign")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--held", action="store_true", help="requests that were held back from training")
    parser.add_argument("--reader", choices=READERS, default=DEFAULT_READER)
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"  not measured: {options.data} is not there; name the folder of the datasets with --data")
        return 0
    requests = draw_requests(options.data, options.each, options.seed, held=options.held)
    rng, photos = random.Random(options.seed), list_photos(options.data)
    tasks = [(text, intents, rng.choice(photos)) for text, intents in requests]
    with ProcessPoolExecutor() as pool:
        print_table(list(pool.map(partial(follow, reader=options.reader), tasks, chunksize=8)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Simulated requests: 30 of them, how many differ, how fast they come, how well rules read them."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np

from t2onet.data.simulation.grammar.matters import MATTERS
from t2onet.data.simulation.grammar.moods import MOODS
from t2onet.data.simulation.mining import Labels, mine
from t2onet.data.simulation.sentences import request
from t2onet.data.simulation.wish import COLOURS, ChangeKind, DrawnWish, Flavour, PhotoChange
from t2onet.language import Attribute
from t2onet.language.keywords import keywords

SEED = int(os.environ.get("T2O_BENCH_SEED", "0"))
DRAWS = 60_000
DATA = Path(__file__).parent.parent.parent / "shared" / "data"
_FILLERS = frozenset(
    """a an the this that it my of to and please pls plz can could you would someone i photo picture image pic
    img shot photograph thanks thank thx for me so just very really hi hello hey is in be""".split()  # noqa: SIM905
)
_AMOUNTS = (0.25, 0.5, 1.0, 1.3, 2.0, 3.0)


def even_wish(rng: np.random.Generator) -> DrawnWish:
    """One of everything a wish can be, evenly."""
    flavour = tuple(Flavour)[rng.integers(4)]
    if flavour is Flavour.UNANSWERABLE:
        return DrawnWish(flavour, matter=tuple(MATTERS)[rng.integers(len(MATTERS))])
    kinds = rng.permutation(np.array(tuple(ChangeKind)))[: 1 + rng.integers(3)]
    changes = tuple(_even_change(ChangeKind(str(kind)), rng) for kind in kinds)
    if flavour is Flavour.VAGUE:
        return DrawnWish(flavour, changes, mood=tuple(MOODS)[rng.integers(len(MOODS))])
    asked = {intent.attribute for change in changes for intent in change.intents}
    left = [attribute for attribute in Attribute if attribute not in asked]
    return DrawnWish(flavour, changes, (left[0],) if left and rng.random() < 0.15 else ())


def _even_change(kind: ChangeKind, rng: np.random.Generator) -> PhotoChange:
    colour = tuple(COLOURS)[rng.integers(len(COLOURS))] if kind is ChangeKind.COLOUR else ""
    sign, amount = int(rng.choice((-1, 1))), float(rng.choice(_AMOUNTS))
    if rng.random() > 0.05:
        return PhotoChange(kind, sign, amount, colour)
    spoken = (2.0, "stops") if kind is ChangeKind.EXPOSURE else (20.0, "percent")
    return PhotoChange(kind, sign, amount, colour, spoken)


def normalised(text: str) -> str:
    """In small letters, one spelling, without punctuation and fillers."""
    text = text.lower().replace("colour", "color").replace("grey", "gray").replace("'", "")
    return " ".join(word for word in re.findall(r"[a-z0-9+&%]+", text) if word not in _FILLERS)


def main() -> None:
    rng = np.random.default_rng(SEED)
    for wish in [even_wish(rng) for _ in range(30)]:
        print(f"    {request(wish, rng)}")
    wishes = [even_wish(rng) for _ in range(DRAWS)]
    started = time.perf_counter()
    told = [request(wish, rng) for wish in wishes]
    seconds = time.perf_counter() - started
    print(f"  {DRAWS / seconds:.0f} sentences a second on one core")
    print(f"  {len(set(map(normalised, told)))} of {DRAWS} differ, normalised")
    _print_agreement(wishes, told)
    if (DATA / "gier").exists():
        _print_real(told)


def _print_agreement(wishes: list[DrawnWish], told: list[str]) -> None:
    """How often rules read the sentence as it was meant."""
    right: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for wish, text in zip(wishes[:10_000], told, strict=False):
        reading = keywords(text)
        meant = {(intent.attribute, intent.sign) for intent in wish.intents}
        understood = {
            Flavour.UNANSWERABLE: reading.unanswerable,
            Flavour.VAGUE: reading.vague,
        }.get(wish.flavour, {(intent.attribute, intent.sign) for intent in reading.intents} == meant)
        for name in _classes(wish):
            count[name] += 1
            right[name] += understood
    print("  read as meant by language.keywords, all intents and no other:")
    for name in sorted(count):
        print(f"    {name:<28} {right[name] / count[name]:.2f} of {count[name]}")


def _classes(wish: DrawnWish) -> tuple[str, ...]:
    if wish.flavour in {Flavour.VAGUE, Flavour.UNANSWERABLE}:
        return (str(wish.flavour),)
    if len(wish.changes) > 1:
        return (f"{wish.flavour}, several",)
    change = wish.changes[0]
    return (f"{wish.flavour}, one", f"{wish.flavour}, {change.kind} {change.sign:+d}")


def _print_real(told: list[str]) -> None:
    """The train splits only: the others are for testing."""
    annotations = json.loads((DATA / "ma5k-req/annotations/train_sess_1.json").read_text())
    ma5k: list[tuple[str, Labels | None]] = [(entry["request"], None) for entry in annotations]
    entries = json.loads((DATA / "gier/splits/train_sess_3.json").read_text())
    gier: list[tuple[str, Labels | None]] = [
        (text, entry["operator"])
        for entry in entries
        for text in (entry["request"], *entry["expert_summary"], *entry["amateur_summary"])
        if isinstance(text, str)
    ]
    ours = {word for text in told for word in re.findall(r"[a-z']+", text.lower())}
    for name, requests in (("MA5k-Req", ma5k), ("GIER", gier)):
        words = Counter(word for text, _ in requests for word in re.findall(r"[a-z']+", text.lower()))
        covered = sum(count for word, count in words.items() if word in ours) / words.total()
        print(f"  {covered:.1%} of the words of {name} train requests are said here too")
    print("  usable real requests of both:")
    for label, number in mine([*ma5k, *gier]).counts().items():
        print(f"    {label:<28} {number}")

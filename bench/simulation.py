"""Simulated requests: whether pictures bear out their labels, how even these are, what else edits change."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from bench.pairs import made, real
from t2onet.data.simulation.draw import draw_batch
from t2onet.data.simulation.strengths import edited, strengths
from t2onet.data.simulation.wish import ChangeKind, DrawnWish, PhotoChange
from t2onet.data.simulation.wishes import CLASSES, classes_of
from t2onet.language import Attribute
from t2onet.metrics.attributes import (
    JUST_NOTICEABLE,
    check_followed,
    measure_changes,
    measure_unrequested_change,
)

COUNT = int(os.environ.get("T2O_BENCH_SIMULATED", "2000"))
TOGETHER = 50


def main() -> None:
    photos = np.stack([after for _, after in real("train", 400) or made(9)])
    start = time.perf_counter()
    samples = list(_samples(photos))
    spent = 1000 * (time.perf_counter() - start) / len(samples)
    _print_agreement(samples)
    print(f"  {spent:.0f} ms a sample of {photos.shape[-1]} x {photos.shape[-2]}, measuring twice")
    _print_cross_talk(photos[:100])


def _samples(photos: np.ndarray) -> Iterator[tuple[DrawnWish, np.ndarray]]:
    """Wishes, and how the attributes change between their pictures in eight bits."""
    rng, tally = np.random.default_rng(0), Counter()
    for _ in range(0, COUNT, TOGETHER):
        chosen = photos[rng.integers(len(photos), size=TOGETHER)]
        before, after, wishes = draw_batch(chosen, rng, tally)
        yield from zip(wishes, measure_changes(_stored(before), _stored(after)), strict=True)


def _stored(pictures: np.ndarray) -> np.ndarray:
    return np.round(pictures * 255) / 255


def _print_agreement(samples: list[tuple[DrawnWish, np.ndarray]]) -> None:
    asked, shown = Counter(), Counter()
    for wish, change in samples:
        classes = classes_of(wish.intents)
        asked.update(classes)
        pairs = zip(classes, check_followed(change, wish.intents), strict=True)
        shown.update(found for found, seen in pairs if seen)
    agreement = sum(shown.values()) / sum(asked.values())
    print(f"  {len(samples)} samples: {agreement:.2%} of their labels are borne out (bar: 97 %)")
    for attribute, sign in CLASSES:
        count, share = asked[attribute, sign], shown[attribute, sign] / asked[attribute, sign]
        print(f"    {attribute:14} {sign:+d}  {count:5d} labels, {share:.1%} borne out")
    flavours = Counter(wish.flavour.value for wish, _ in samples)
    print("  " + ", ".join(f"{flavour} {count}" for flavour, count in flavours.most_common()))
    other = [measure_unrequested_change(change, wish.intents) for wish, change in samples if wish.intents]
    print(f"  unrequested change {np.mean(other):.1f} noticeable amounts")


def _print_cross_talk(photos: np.ndarray) -> None:
    print("  mean |change| in noticeable amounts at an amount of 1:")
    print("    " + " " * 15 + "".join(f"{attribute.value[:13]:>14}" for attribute in Attribute))
    for kind in ChangeKind:
        for sign in (-1,) if kind is ChangeKind.MONOCHROME else (1, -1):
            change = PhotoChange(kind, sign, colour="green" if kind is ChangeKind.COLOUR else "")
            wanted = np.tile(strengths([change]), (len(photos), 1))
            size = np.abs(measure_changes(photos, edited(photos, wanted)) / np.array(JUST_NOTICEABLE)).mean(
                axis=0
            )
            print(f"    {kind.value:12} {sign:+d}" + "".join(f"{value:14.1f}" for value in size))

"""Styles: how well edits of photos that were not learned from are predicted, from more and more pairs.

Mean L1 of held-out edits at 128 x 128, on photos of MA5k-Req's train split: by expert C, and by synthetic
retouchers, whose hidden recipes depend on the photo. `mean look` is the mean change alone. `as recipe` is the
style plus what planning adds to its error, measured on a few of the photos.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bench.pairs import real
from t2onet.editor.expert import plan_retouch
from t2onet.editor.learning import PairSample, fit_style, sample_pair
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.editor.styles import Style
from t2onet.metrics.attributes import measure_attributes
from t2onet.recipe import Recipe

COUNTS = (5, 20, 100, 1000)
HELD_OUT, PLANNED = 200, 20
"""Photos that are predicted, and how many of those predictions are planned too."""
DRAWS = {5: 8, 20: 4, 100: 2}
"""Draws of so few pairs, whose figures are averaged."""

Retoucher = Callable[[np.ndarray], Recipe]


def apply_one_look(picture: np.ndarray) -> Recipe:
    return Recipe.from_steps(
        [("white_balance", (12, 5)), ("exposure", 0.4), ("vibrance", 25), ("contrast", (0.2, 0.45))]
    )


def expose_to_grey(picture: np.ndarray) -> Recipe:
    """Brings every photo to the same lightness, with contrast."""
    lightness = _measure(picture)[0]
    return Recipe.from_steps([("exposure", _limit((55 - lightness) / 15, 2)), ("contrast", (0.25, 0.5))])


def balance(picture: np.ndarray) -> Recipe:
    """Warms cold photos, cools warm ones, and saturates dull ones."""
    _, _, colour, warmth, *_ = _measure(picture)
    return Recipe.from_steps(
        [
            ("white_balance", (_limit(-2 * (warmth - 4), 50), 0)),
            ("saturation", _limit((22 - colour) / 40, 0.4)),
        ]
    )


def open_shadows(picture: np.ndarray) -> Recipe:
    """Opens the shadows of contrasty photos, deepens those of flat ones."""
    contrast = _measure(picture)[1]
    amount = _limit(4 * (contrast - 20), 80)
    return Recipe.from_steps([("shadows", amount), ("highlights", -amount), ("exposure", 0.2)])


def go_to_extremes(picture: np.ndarray) -> Recipe:
    """Makes dark photos darker and cold, bright ones brighter and warm."""
    share = _limit((_measure(picture)[0] - 45) / 20, 1)
    return Recipe.from_steps(
        [("white_balance", (25 * share, 0)), ("exposure", 0.6 * share), ("blacks", -30), ("vibrance", -20)]
    )


RETOUCHERS: tuple[Retoucher, ...] = (
    apply_one_look,
    expose_to_grey,
    balance,
    open_shadows,
    go_to_extremes,
)


def _measure(picture: np.ndarray) -> list[float]:
    return [float(value) for value in measure_attributes(picture)]


def _limit(value: float, most: float) -> float:
    return float(np.clip(value, -most, most))


def main() -> None:
    pairs = real("train", COUNTS[-1] + HELD_OUT)
    if not pairs:
        print("  MA5k-Req: not here; see docs/planning.md for where it is looked for")
        return
    start = time.perf_counter()
    samples = [sample_pair(*pair) for pair in pairs]
    seconds = time.perf_counter() - start
    print(f"  {len(pairs)} pairs of 128 x 128 measured in {1000 * seconds / len(pairs):.0f} ms each")
    known = len(pairs) - HELD_OUT
    pictures = [before for before, _ in pairs]
    _measure_retoucher("expert C", samples, pictures, [after for _, after in pairs], known)
    for retoucher in RETOUCHERS:
        afters = [apply_to_thumbnail(retoucher(picture), picture) for picture in pictures]
        edited = [
            replace(sample, after=_sample_pixels(after))
            for sample, after in zip(samples, afters, strict=True)
        ]
        _measure_retoucher(retoucher.__name__, edited, pictures, afters, known)


def _sample_pixels(picture: np.ndarray) -> np.ndarray:
    return np.uint8(255 * picture[:, 2::4, 2::4].reshape(3, -1).T + 0.5)


def _measure_retoucher(
    name: str,
    samples: Sequence[PairSample],
    pictures: Sequence[np.ndarray],
    afters: Sequence[np.ndarray],
    known: int,
) -> None:
    tested = range(known, len(samples))
    none = np.mean([np.abs(pictures[at] - afters[at]).mean() for at in tested])
    print(f"  {name}: {none:.4f} without a change")
    print("     pairs  mean look  style  as recipe  expected by cross-validation  fitted in")
    for count in COUNTS:
        rows = []
        for draw in range(DRAWS.get(count, 1)):
            chosen = np.random.default_rng(draw).permutation(known)[:count]
            start = time.perf_counter()
            style, held_out = fit_style([samples[at] for at in chosen])
            seconds = time.perf_counter() - start
            mean = replace(style, points=style.points[:0], answers=style.answers[:0])
            rows.append(
                (
                    np.mean([_measure_error(mean, pictures[at], afters[at]) for at in tested]),
                    np.mean([_measure_error(style, pictures[at], afters[at]) for at in tested]),
                    np.mean(
                        [
                            _plan_error(style, pictures[at], afters[at])
                            - _measure_error(style, pictures[at], afters[at])
                            for at in tested[:PLANNED]
                        ]
                    ),
                    held_out.style,
                    seconds,
                )
            )
        look, found, planned, expected, seconds = np.mean(rows, axis=0)
        cells = f"{look:10.4f} {found:6.4f} {found + planned:10.4f} {expected:29.4f}"
        print(f"    {count:6} {cells} {seconds:8.1f} s")


def _measure_error(style: Style, picture: np.ndarray, after: np.ndarray) -> float:
    return float(np.abs(style.retouch(picture) - after).mean())


def _plan_error(style: Style, picture: np.ndarray, after: np.ndarray) -> float:
    steps = tuple(plan_retouch(picture, style.retouch(picture)))
    return float(np.abs(apply_to_thumbnail(Recipe(steps=steps), picture) - after).mean())

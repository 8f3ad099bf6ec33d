"""How a memory is made of pairs: once, in closed form, by linear algebra instead of many small steps.

Each part of what is seen is brought to one scale, the median squared distance of two photos, and weighed.
Pairs that the others do not foretell, an edit out of character or a wrong pair, get less say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch

from ...errors import DataError
from ...memory import wanted
from ...models.retoucher.memory import STATES, Memory, parts, tones

WEIGHTS = {"tones": 0.2, "shadows": 0.2, "coarse": 0.05, **dict.fromkeys(STATES, 0.0375), "wanted": 0.07}
"""How much distance in each part counts, by five-fold trial on the pairs of the train split."""
RIDGE = 0.3
LEAST, MOST = 10, 10_000
"""Pairs that a memory needs, and can hold: distances of all from all take .8 GB for that many."""
_COMPONENTS = 48
"""Most directions in which states of a block differ that are kept."""
_FOLDS, _SAMPLED, _BATCH = 5, 500, 32
_SURPRISE = 0.02
"""Added to how far a pair was from what the others foretold, before its say is divided by that."""

Rows = np.ndarray
"""(N, numbers) in double precision."""


class Pair(NamedTuple):
    """Pictures (3, SIDE, SIDE) in [0, 1] before and after, and what was asked for."""

    before: np.ndarray
    after: np.ndarray
    request: str


class Space(NamedTuple):
    """A linear map of what is seen: rows minus `centre`, times `map`."""

    centre: np.ndarray
    map: np.ndarray


def remember(pairs: Iterable[Pair]) -> Memory:
    """A memory of all pairs, ready to be asked."""
    seen, now, then = _observed(pairs)
    space = _space(seen)
    places = (seen - space.centre) @ space.map
    near, change = _near(places, places), then - now
    say = _say(near, change, now)
    middle, answers = _solved(near, change, say)
    memory = Memory(len(places), places.shape[1])
    found = {
        "centre": space.centre,
        "map": space.map,
        "anchors": places,
        "lengths": (places**2).sum(1),
        "answers": answers,
        "middle": middle,
    }
    for name, values in found.items():
        getattr(memory, name).copy_(torch.from_numpy(values))
    return memory.eval()


def _observed(pairs: Iterable[Pair]) -> tuple[Rows, Rows, Rows]:
    """What is seen of each photo before, its tones, and its tones after."""
    memory = Memory(0, 0).eval()
    found: list[tuple[Rows, ...]] = []
    with torch.inference_mode():
        for batch in _batches(pairs):
            before, after = (
                torch.from_numpy(np.stack(pictures).astype(np.float32))
                for pictures in ([pair.before for pair in batch], [pair.after for pair in batch])
            )
            asked = torch.from_numpy(np.stack([wanted(pair.request) for pair in batch]))
            rows = memory.seen(before, asked), tones(before).flatten(1), tones(after).flatten(1)
            found.append(tuple(row.double().numpy() for row in rows))
    if sum(len(rows) for rows, *_ in found) < LEAST:
        raise DataError(f"a memory needs at least {LEAST} pairs; give a dataset that has so many")
    seen, now, then = (np.concatenate(rows) for rows in zip(*found, strict=True))
    return seen, now, then


def _batches(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    coming = iter(pairs)
    while batch := list(islice(coming, _BATCH)):
        yield batch


def _space(seen: Rows) -> Space:
    """The map that makes squared distances weigh as `WEIGHTS` says."""
    centre, blocks = seen.mean(0), []
    for name, part in parts().items():
        values = seen[:, part] - centre[part]
        turned = _principal(values) if name in STATES else np.eye(values.shape[1])
        blocks.append(turned * np.sqrt(WEIGHTS[name] / _typical(values @ turned)))
    return Space(centre, _diagonal(blocks))


def _principal(values: Rows) -> np.ndarray:
    """The directions in which values differ most, each number taken in its own spread."""
    spread = values.std(0) + 1e-6
    *_, directions = np.linalg.svd(values / spread, full_matrices=False)
    return np.asarray(directions[:_COMPONENTS].T / spread[:, None])


def _typical(values: Rows) -> float:
    """The median squared distance between two of the first rows; 1 where half of them are alike."""
    few = values[:_SAMPLED]
    apart = _apart(few, few)[np.triu_indices(len(few), 1)]
    return float(np.median(apart)) or 1.0


def _diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        whole[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return whole


def _apart(one: Rows, other: Rows) -> np.ndarray:
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    return np.asarray(np.maximum(squares, 0.0))


def _near(one: Rows, other: Rows) -> np.ndarray:
    return np.asarray(np.exp(-_apart(one, other)))


def _say(near: np.ndarray, change: Rows, now: Rows) -> np.ndarray:
    """(N,) of mean 1: how much each pair counts, less the farther it is from what the others foretell."""
    missed = np.zeros(len(near))
    for held in _folds(len(near)):
        kept = np.setdiff1d(np.arange(len(near)), held)
        middle, answers = _solved(near[np.ix_(kept, kept)], change[kept], np.ones(len(kept)))
        foretold = now[held] + middle + near[np.ix_(held, kept)] @ answers
        missed[held] = np.abs(np.clip(foretold, 0, 1) - now[held] - change[held]).mean(1)
    say = 1 / (missed + _SURPRISE)
    return np.asarray(say / say.mean())


def _folds(count: int) -> Iterator[np.ndarray]:
    yield from np.array_split(np.random.default_rng(0).permutation(count), _FOLDS)


def _solved(near: np.ndarray, change: Rows, say: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The middle of all changes, and what each anchor adds to it."""
    middle = np.average(change, axis=0, weights=say)
    return middle, np.linalg.solve(near + np.diag(RIDGE / say), change - middle)

"""Build an expert's memory from pairs, in closed form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch

from ..editor.styles import to_attribute_vector
from ..errors import DataError
from ..models.style_memory import BLOCK_FEATURES, StyleMemoryNetwork, channel_quantiles, feature_slices

# How a memory is made of pairs: once, in closed form, by linear algebra instead of many small steps.
#
# Each part of what is seen is brought to one scale, the median squared distance of two photos, and weighed.
# Pairs that the others do not foretell, an edit out of character or a wrong pair, get less say.

FEATURE_WEIGHTS = {
    "tones": 0.2,
    "shadows": 0.2,
    "coarse": 0.05,
    **dict.fromkeys(BLOCK_FEATURES, 0.0375),
    "wanted": 0.07,
}
"""How much distance in each part counts, by five-fold trial on the pairs of the train split."""
RIDGE = 0.3
MIN_PAIRS, MAX_PAIRS = 10, 10_000
"""Pairs that a memory needs, and can hold: distances of all from all take .8 GB for that many."""
_MAX_COMPONENTS = 48
"""Most directions in which states of a block differ that are kept."""
_FOLDS, _SAMPLED_ROWS, _BATCH_SIZE = 5, 500, 32
_ERROR_OFFSET = 0.02
"""Added to how far a pair was from what the others foretold, before its say is divided by that."""

Rows = np.ndarray
"""(N, numbers) in double precision."""


class StylePair(NamedTuple):
    """Pictures (3, SIDE, SIDE) in [0, 1] before and after, and what was asked for."""

    before: np.ndarray
    after: np.ndarray
    request: str


class FeatureSpace(NamedTuple):
    """A linear map of what is seen: rows minus `centre`, times `map`."""

    centre: np.ndarray
    map: np.ndarray


def build_style_memory(pairs: Iterable[StylePair]) -> StyleMemoryNetwork:
    """A memory of all pairs, ready to be asked."""
    seen, now, then = _measure_pairs(pairs)
    space = _fit_space(seen)
    places = (seen - space.centre) @ space.map
    near, change = _gaussian_kernel(places, places), then - now
    say = _weigh_pairs(near, change, now)
    middle, answers = _solve_ridge(near, change, say)
    memory = StyleMemoryNetwork(len(places), places.shape[1])
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


def _measure_pairs(pairs: Iterable[StylePair]) -> tuple[Rows, Rows, Rows]:
    """What is seen of each photo before, its tones, and its tones after."""
    memory = StyleMemoryNetwork(0, 0).eval()
    found: list[tuple[Rows, ...]] = []
    with torch.inference_mode():
        for batch in _batches(pairs):
            before, after = (
                torch.from_numpy(np.stack(pictures).astype(np.float32))
                for pictures in ([pair.before for pair in batch], [pair.after for pair in batch])
            )
            asked = torch.from_numpy(np.stack([to_attribute_vector(pair.request) for pair in batch]))
            rows = (
                memory.seen(before, asked),
                channel_quantiles(before).flatten(1),
                channel_quantiles(after).flatten(1),
            )
            found.append(tuple(row.double().numpy() for row in rows))
    if sum(len(rows) for rows, *_ in found) < MIN_PAIRS:
        raise DataError(f"a memory needs at least {MIN_PAIRS} pairs; give a dataset that has so many")
    seen, now, then = (np.concatenate(rows) for rows in zip(*found, strict=True))
    return seen, now, then


def _batches(pairs: Iterable[StylePair]) -> Iterator[list[StylePair]]:
    coming = iter(pairs)
    while batch := list(islice(coming, _BATCH_SIZE)):
        yield batch


def _fit_space(seen: Rows) -> FeatureSpace:
    """The map that makes squared distances weigh as `WEIGHTS` says."""
    centre, blocks = seen.mean(0), []
    for name, part in feature_slices().items():
        values = seen[:, part] - centre[part]
        turned = _principal_directions(values) if name in BLOCK_FEATURES else np.eye(values.shape[1])
        blocks.append(turned * np.sqrt(FEATURE_WEIGHTS[name] / _median_squared_distance(values @ turned)))
    return FeatureSpace(centre, _block_diagonal(blocks))


def _principal_directions(values: Rows) -> np.ndarray:
    """The directions in which values differ most, each number taken in its own spread."""
    spread = values.std(0) + 1e-6
    *_, directions = np.linalg.svd(values / spread, full_matrices=False)
    return np.asarray(directions[:_MAX_COMPONENTS].T / spread[:, None])


def _median_squared_distance(values: Rows) -> float:
    """The median squared distance between two of the first rows; 1 where half of them are alike."""
    few = values[:_SAMPLED_ROWS]
    apart = _squared_distances(few, few)[np.triu_indices(len(few), 1)]
    return float(np.median(apart)) or 1.0


def _block_diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        whole[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return whole


def _squared_distances(one: Rows, other: Rows) -> np.ndarray:
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    return np.asarray(np.maximum(squares, 0.0))


def _gaussian_kernel(one: Rows, other: Rows) -> np.ndarray:
    return np.asarray(np.exp(-_squared_distances(one, other)))


def _weigh_pairs(near: np.ndarray, change: Rows, now: Rows) -> np.ndarray:
    """(N,) of mean 1: how much each pair counts, less the farther it is from what the others foretell."""
    missed = np.zeros(len(near))
    for held in _split_folds(len(near)):
        kept = np.setdiff1d(np.arange(len(near)), held)
        middle, answers = _solve_ridge(near[np.ix_(kept, kept)], change[kept], np.ones(len(kept)))
        foretold = now[held] + middle + near[np.ix_(held, kept)] @ answers
        missed[held] = np.abs(np.clip(foretold, 0, 1) - now[held] - change[held]).mean(1)
    say = 1 / (missed + _ERROR_OFFSET)
    return np.asarray(say / say.mean())


def _split_folds(count: int) -> Iterator[np.ndarray]:
    yield from np.array_split(np.random.default_rng(0).permutation(count), _FOLDS)


def _solve_ridge(near: np.ndarray, change: Rows, say: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The middle of all changes, and what each anchor adds to it."""
    middle = np.average(change, axis=0, weights=say)
    return middle, np.linalg.solve(near + np.diag(RIDGE / say), change - middle)

"""Style memory: an expert's pairs as a network, fitted in closed form by kernel ridge regression.

A photo is described by its tones, a coarse picture, features of the first blocks of EfficientNet-Lite0 and
the requested changes. One linear map takes these features to a space in which the remembered photos lie as
anchors; each contributes with a weight that decreases with distance. Features of a kind are brought to one
scale, the median squared distance of two photos, and weighted. Pairs that the others predict badly (an
unusual edit, a wrong pair) get less weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ..editor.expert import TONE_LEVELS, measure_wanted
from ..errors import DataError
from ..image import write_atomically
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..metrics.distances import load_lite0_network
from .files import export_graph

PICTURE_SIDE = 128
"""Pixels a side of the pictures it sees."""

BLOCK_CHANNELS = {2: 24, 4: 40, 7: 80, 10: 112}
"""Blocks of EfficientNet-Lite0 whose outputs are used, and their channels."""
BLOCK_FEATURES = tuple(f"states {block}" for block in BLOCK_CHANNELS)
_COARSE_SIDE = 4
"""Cells a side of the coarse picture."""
_TONES_SIZE = (3 * TONE_LEVELS + 1) // 2
FEATURE_SIZES = {
    "tones": _TONES_SIZE,
    "shadows": _TONES_SIZE,
    "coarse": 3 * _COARSE_SIDE**2,
    **{name: 2 * count for name, count in zip(BLOCK_FEATURES, BLOCK_CHANNELS.values(), strict=True)},
    "wanted": len(ATTRIBUTE_INDEX),
}
"""Numbers of each kind of feature, in order."""
_LOG_OFFSET = 0.03
"""Added to tones before taking their logarithm, which separates dark tones."""
FEATURE_WEIGHTS = {
    "tones": 0.2,
    "shadows": 0.2,
    "coarse": 0.05,
    **dict.fromkeys(BLOCK_FEATURES, 0.0375),
    "wanted": 0.07,
}
"""How much distance in each kind counts, by five-fold cross-validation on the pairs of the train split."""
RIDGE = 0.3
MIN_PAIRS, MAX_PAIRS = 10, 10_000
"""Fewest and most pairs; the matrix of all distances takes .8 GB for the most."""
_MAX_COMPONENTS = 48
"""Principal directions kept of a block's outputs."""
_FOLDS, _SAMPLED_ROWS, _BATCH_SIZE = 5, 500, 32
_ERROR_OFFSET = 0.02
"""Added to the error of a pair before its weight is divided by it."""

Rows = np.ndarray
"""(N, numbers) float64."""


class EfficientNetFeatures(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, BLOCK_FEATURES): means and standard deviations of block outputs."""

    def __init__(self) -> None:
        super().__init__()
        lite0 = load_lite0_network()
        self.stem = nn.Sequential(lite0._conv_stem, lite0._bn0, lite0._swish)
        self.blocks = nn.ModuleList(lite0._blocks[: max(BLOCK_CHANNELS) + 1])

    def forward(self, image: Tensor) -> Tensor:
        states, features = self.stem((255 * image - 127) / 128), []
        for number, block in enumerate(self.blocks):
            states = block(states)
            if number in BLOCK_CHANNELS:
                flat = states.flatten(2)
                features += [flat.mean(-1), flat.std(-1)]
        return torch.cat(features, -1)


class StyleMemoryNetwork(nn.Module):
    """Pictures (B, 3, SIDE, SIDE), requested changes (B, attributes) -> tones (B, 3, TONE_LEVELS)."""

    centre: Tensor
    map: Tensor
    anchors: Tensor
    lengths: Tensor
    answers: Tensor
    middle: Tensor

    def __init__(self, anchors: int, size: int) -> None:
        super().__init__()
        self.eyes = EfficientNetFeatures()
        features = sum(FEATURE_SIZES.values())
        for name, shape in {
            "centre": (features,),
            "map": (features, size),
            "anchors": (anchors, size),
            "lengths": (anchors,),
            "answers": (anchors, 3 * TONE_LEVELS),
            "middle": (3 * TONE_LEVELS,),
        }.items():
            self.register_buffer(name, torch.zeros(shape))

    def forward(self, image: Tensor, wanted: Tensor) -> Tensor:
        point = (self.features(image, wanted) - self.centre) @ self.map
        products = functional.linear(point, self.anchors)
        distances = (point**2).sum(-1, keepdim=True) + self.lengths - 2 * products
        change = self.middle + torch.exp(-distances.clamp(min=0)) @ self.answers
        tones: Tensor = channel_quantiles(image) + change.reshape(-1, 3, TONE_LEVELS)
        return tones

    def features(self, image: Tensor, wanted: Tensor) -> Tensor:
        """(B, sum of FEATURE_SIZES)."""
        coarse = functional.avg_pool2d(image, PICTURE_SIDE // _COARSE_SIDE).flatten(1)
        tones = channel_quantiles(image).flatten(1)[:, ::2]
        return torch.cat([tones, torch.log(tones + _LOG_OFFSET), coarse, self.eyes(image), wanted], -1)


def channel_quantiles(image: Tensor) -> Tensor:
    """(B, 3, H, W) -> (B, 3, TONE_LEVELS): evenly spaced quantiles of each channel."""
    ordered = image.flatten(2).sort(-1).values
    positions = torch.linspace(0, ordered.shape[-1] - 1, TONE_LEVELS, dtype=torch.float64)
    below, above = positions.floor().long(), positions.ceil().long()
    return torch.lerp(ordered[..., below], ordered[..., above], (positions - below).to(image.dtype))


def feature_slices() -> dict[str, slice]:
    """Where the features of each kind lie in a row."""
    ends = [0]
    for count in FEATURE_SIZES.values():
        ends.append(ends[-1] + count)
    return dict(zip(FEATURE_SIZES, (slice(*pair) for pair in pairwise(ends)), strict=True))


def export_style_memory(memory: StyleMemoryNetwork, path: Path, *, overwrite: bool = False) -> None:
    """Write the graph of a style memory."""
    inputs = (torch.rand(1, 3, PICTURE_SIDE, PICTURE_SIDE), torch.zeros(1, len(ATTRIBUTE_INDEX)))
    # Answers are large and cancel each other out, and lengths differ widely: 8 bits are too few for them.
    graph = export_graph(
        memory, inputs, ("image", "wanted"), ("tones",), axes={}, stored="int8", halved=("answers", "lengths")
    )
    write_atomically(path, graph, overwrite=overwrite)


class StylePair(NamedTuple):
    """Pictures (3, SIDE, SIDE) in [0, 1] before and after, and the request."""

    before: np.ndarray
    after: np.ndarray
    request: str


class FeatureSpace(NamedTuple):
    """A linear map of features: rows minus `centre`, times `map`."""

    centre: np.ndarray
    map: np.ndarray


def build_style_memory(pairs: Iterable[StylePair]) -> StyleMemoryNetwork:
    """Fit a memory to pairs."""
    features, before, after = _measure_pairs(pairs)
    space = _fit_space(features)
    points = (features - space.centre) @ space.map
    kernel, change = _gaussian_kernel(points, points), after - before
    weights = _weigh_pairs(kernel, change, before)
    middle, answers = _solve_ridge(kernel, change, weights)
    memory = StyleMemoryNetwork(len(points), points.shape[1])
    buffers = {
        "centre": space.centre,
        "map": space.map,
        "anchors": points,
        "lengths": (points**2).sum(1),
        "answers": answers,
        "middle": middle,
    }
    for name, values in buffers.items():
        getattr(memory, name).copy_(torch.from_numpy(values))
    return memory.eval()


def _measure_pairs(pairs: Iterable[StylePair]) -> tuple[Rows, Rows, Rows]:
    """The features of each photo, and its tones before and after."""
    memory = StyleMemoryNetwork(0, 0).eval()
    batches: list[tuple[Rows, ...]] = []
    with torch.inference_mode():
        for batch in _batches(pairs):
            before, after = (
                torch.from_numpy(np.stack(pictures).astype(np.float32))
                for pictures in ([pair.before for pair in batch], [pair.after for pair in batch])
            )
            wanted = torch.from_numpy(np.stack([measure_wanted(pair.request) for pair in batch]))
            rows = (
                memory.features(before, wanted),
                channel_quantiles(before).flatten(1),
                channel_quantiles(after).flatten(1),
            )
            batches.append(tuple(row.double().numpy() for row in rows))
    if sum(len(rows) for rows, *_ in batches) < MIN_PAIRS:
        raise DataError(f"a style memory needs at least {MIN_PAIRS} pairs; give a larger dataset")
    features, tones_before, tones_after = (np.concatenate(rows) for rows in zip(*batches, strict=True))
    return features, tones_before, tones_after


def _batches(pairs: Iterable[StylePair]) -> Iterator[list[StylePair]]:
    remaining = iter(pairs)
    while batch := list(islice(remaining, _BATCH_SIZE)):
        yield batch


def _fit_space(features: Rows) -> FeatureSpace:
    """The map after which squared distances are weighted by `FEATURE_WEIGHTS`."""
    centre, blocks = features.mean(0), []
    for name, part in feature_slices().items():
        values = features[:, part] - centre[part]
        axes = _principal_directions(values) if name in BLOCK_FEATURES else np.eye(values.shape[1])
        blocks.append(axes * np.sqrt(FEATURE_WEIGHTS[name] / _median_squared_distance(values @ axes)))
    return FeatureSpace(centre, _block_diagonal(blocks))


def _principal_directions(values: Rows) -> np.ndarray:
    """The first principal directions of standardized values."""
    spread = values.std(0) + 1e-6
    *_, directions = np.linalg.svd(values / spread, full_matrices=False)
    return np.asarray(directions[:_MAX_COMPONENTS].T / spread[:, None])


def _median_squared_distance(values: Rows) -> float:
    """The median squared distance between two of the first rows; 1 if most rows are equal."""
    sample = values[:_SAMPLED_ROWS]
    distances = _squared_distances(sample, sample)[np.triu_indices(len(sample), 1)]
    return float(np.median(distances)) or 1.0


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


def _weigh_pairs(kernel: np.ndarray, change: Rows, before: Rows) -> np.ndarray:
    """(N,) of mean 1: the weight of each pair, smaller the worse the other folds predict it."""
    errors = np.zeros(len(kernel))
    for fold in _split_folds(len(kernel)):
        rest = np.setdiff1d(np.arange(len(kernel)), fold)
        middle, answers = _solve_ridge(kernel[np.ix_(rest, rest)], change[rest], np.ones(len(rest)))
        predicted = before[fold] + middle + kernel[np.ix_(fold, rest)] @ answers
        errors[fold] = np.abs(np.clip(predicted, 0, 1) - before[fold] - change[fold]).mean(1)
    weights = 1 / (errors + _ERROR_OFFSET)
    return np.asarray(weights / weights.mean())


def _split_folds(count: int) -> Iterator[np.ndarray]:
    yield from np.array_split(np.random.default_rng(0).permutation(count), _FOLDS)


def _solve_ridge(kernel: np.ndarray, change: Rows, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean change, and what each anchor adds to it."""
    mean = np.average(change, axis=0, weights=weights)
    return mean, np.linalg.solve(kernel + np.diag(RIDGE / weights), change - mean)

"""The shipped network: it reads a request, looks at a photo and fills in a recipe, operation by operation.

The operations stand in one fixed order. `Retoucher.begin` encodes the request and the photo once; then, for
each operation, `step` sees statistics of the picture as it is by then and predicts whether the operation is
used, with which parameters, and which words asked for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..image.colour import srgb_to_lab
from ..language.grams import BUCKETS, LONGEST, spelt
from ..metrics.attributes import ATTRIBUTE_INDEX as ATTRIBUTES
from ..metrics.attributes import measure_lab_attributes
from ..operations import PAPER, Operation, get_published_operation, sort_by_position
from ..options import MODES

OPERATION_ORDER = sort_by_position(PAPER)
"""The order in which operations are decided: brightness, color, saturation, tone, contrast, sharpness."""
RETOUCHER_MODES = MODES
RETOUCHER_SIDE = 128
"""Pixels a side of the picture it sees."""
OUTPUT_GAIN = 0.25
"""Raw outputs near 0 move a parameter by this share of its range: training starts with small edits."""
HISTOGRAM_BINS = 24
_PIXEL_STRIDE = 4
"""Histograms count every fourth pixel in each direction."""
_ATTRIBUTE_SCALES = (50.0, 20.0, 25.0, 15.0, 15.0, 1.0)
_ATTRIBUTE_CENTRES = (50.0, 20.0, 20.0, 5.0, 2.0, -1.5)
"""Roughly the spread and mean of each attribute over photos, to bring them near -1 to 1."""
_HISTOGRAM_CHANNELS = 6
"""R, G, B, L*, a* and b*."""
STATISTICS_SIZE = _HISTOGRAM_CHANNELS * HISTOGRAM_BINS + len(ATTRIBUTES)


@dataclass(frozen=True)
class RetoucherConfig:
    """Sizes of the network."""

    words: int = 192
    layers: int = 3
    heads: int = 4
    width: int = 384
    dropout: float = 0.1
    photo_dropout: float = 0.3
    """Dropout of what is seen in the photo."""
    channels: tuple[int, ...] = (32, 32, 64, 128, 256)
    """Channels of the photo encoder's layers."""
    verdicts: int = 2
    """Kinds of answer: 0 is an edit, the others name what cannot be done."""


class OperationHeads(nn.Module):
    """Two layers per operation, side by side in one tensor: an exported graph picks them by number."""

    default: Tensor
    up: Tensor
    down: Tensor
    octaves: Tensor
    curved: Tensor

    def __init__(self, order: Sequence[Operation], size_in: int, width: int) -> None:
        super().__init__()
        self.size = max(operation.size for operation in order)
        count, size_out = len(order), self.size + 1
        self.first = nn.Parameter(torch.randn(count, size_in, width) / size_in**0.5)
        self.bend = nn.Parameter(torch.zeros(count, width))
        self.second = nn.Parameter(torch.randn(count, width, size_out) * 0.01)
        self.shift = nn.Parameter(torch.zeros(count, size_out))
        for name, rows in _parameter_ranges(order, self.size).items():
            self.register_buffer(name, torch.tensor(rows), persistent=False)

    def forward(self, states: Tensor, number: Tensor) -> tuple[Tensor, Tensor]:
        """(B, size_in) -> a logit of use (B,), and parameters (B, size), those of the operation first."""
        with torch.autocast(states.device.type, enabled=False):
            hidden = functional.gelu(states.float() @ self.first[number][0] + self.bend[number])
            raw = hidden @ self.second[number][0] + self.shift[number]
        return raw[:, 0], self.to_parameters(raw[:, 1:], number)

    def to_parameters(self, raw: Tensor, number: Tensor) -> Tensor:
        """(B, size) any numbers -> (B, size) within the declared ranges; 0 is the default.

        Increments of curves change by a factor, so that they stay positive; other parameters change linearly.
        """
        bounded = torch.tanh(OUTPUT_GAIN * raw)
        distance = torch.where(bounded > 0, self.up[number], self.down[number])
        curve = torch.exp(self.octaves[number] * bounded)
        return torch.where(self.curved[number], curve, self.default[number] + bounded * distance)


def _parameter_ranges(
    order: Sequence[Operation], size: int
) -> dict[str, list[list[float]] | list[list[bool]]]:
    """The ranges of all parameters, padded to the same number for each operation."""

    def rows(values: Sequence[Sequence[float]]) -> list[list[float]]:
        return [[*row, *[0.0] * (size - len(row))] for row in values]

    slots = [operation.slots for operation in order]
    return {
        "default": rows([[slot.default for slot in row] for row in slots]),
        "up": rows([[slot.high - slot.default for slot in row] for row in slots]),
        "down": rows([[slot.default - slot.low for slot in row] for row in slots]),
        "octaves": rows([[math.log(slot.high) if len(row) > 1 else 0.0 for slot in row] for row in slots]),
        "curved": [[len(row) > 1] * size for row in slots],
    }


class PictureStatistics(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, STATISTICS_SIZE): soft histograms of R, G, B, L*, a*, b*; attributes."""

    def forward(self, image: Tensor) -> Tensor:
        lab = srgb_to_lab(image)
        light, red, warm = _subsample(lab).unbind(-3)
        planes = torch.stack([light / 100, red / 120 + 0.5, warm / 120 + 0.5], -3)
        attributes = [
            (value - centre) / scale
            for value, centre, scale in zip(
                measure_lab_attributes(lab).unbind(-1), _ATTRIBUTE_CENTRES, _ATTRIBUTE_SCALES, strict=True
            )
        ]
        values = torch.cat([_subsample(image), planes], -3).flatten(-2)
        return torch.cat([_soft_histograms(values).flatten(1), torch.stack(attributes, -1)], -1)


def _subsample(image: Tensor) -> Tensor:
    return image[..., _PIXEL_STRIDE // 2 :: _PIXEL_STRIDE, _PIXEL_STRIDE // 2 :: _PIXEL_STRIDE]


def _soft_histograms(values: Tensor) -> Tensor:
    """(B, C, N) in [0, 1] -> (B, C, BINS): roots of shares; a value counts in its two nearest bins."""
    centres = torch.arange(HISTOGRAM_BINS, device=values.device, dtype=values.dtype) / (HISTOGRAM_BINS - 1)
    overlap = (1 - (values[..., None] - centres).abs() * (HISTOGRAM_BINS - 1)).clamp(min=0)
    return (overlap.mean(-2) + 1e-4) ** 0.5


class PhotoEncoder(nn.Module):
    """A small residual network, averaged over the picture: (B, 3, H, W) in [0, 1] -> (B, channels[-1])."""

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        first = channels[0]
        layers: list[nn.Module] = [nn.Conv2d(3, first, 5, 2, 2, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
        for before, after in pairwise(channels):
            layers.append(PhotoEncoderBlock(before, after, 1 if before == after else 2))
        self.layers = nn.Sequential(*layers)

    def forward(self, image: Tensor) -> Tensor:
        features: Tensor = self.layers(2 * image - 1)
        return features.mean((-2, -1))


class PhotoEncoderBlock(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, states: Tensor) -> Tensor:
        return torch.relu(self.path(states) + self.shortcut(states))


class RequestEncoder(nn.Module):
    """A small transformer over words, each the sum of its hashed pieces.

    Distinct words (W, PIECES) and requests (B, T) as rows of them -> (B, T, width), and a mask (B, T) that is
    true where there is a word; row 0 stands for none.
    """

    def __init__(self, width: int, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(BUCKETS, width)
        self.places = nn.Parameter(torch.randn(LONGEST, width) * 0.02)
        self.blocks = nn.ModuleList(TransformerBlock(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.pieces.weight, std=0.05)

    def forward(self, pieces: Tensor, requests: Tensor) -> tuple[Tensor, Tensor]:
        mask = requests > 0
        present = (pieces > 0)[..., None]
        words = (self.pieces(pieces) * present).sum(-2) / present.sum(-2).clamp(min=1) ** 0.5
        states = words[requests] + self.places[: requests.shape[1]]
        for block in self.blocks:
            states = block(states, mask)
        return self.norm(states), mask


class TransformerBlock(nn.Module):
    """A pre-norm transformer layer."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attend = MultiHeadAttention(width, heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normed = self.first(states)
        states = states + self.drop(self.attend(normed, normed, mask)[0])
        out: Tensor = states + self.drop(self.think(self.second(states)))
        return out


class MultiHeadAttention(nn.Module):
    """Queries (B, Q, width), words (B, T, width) -> values (B, Q, width), and mean weights (B, Q, T)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, queries: Tensor, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        query, key, value = (
            self._split(self.query(queries)),
            self._split(self.key(words)),
            self._split(self.value(words)),
        )
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], -1e4)
        weights = scores.softmax(-1)
        values = (weights @ value).transpose(1, 2).flatten(2)
        return self.out(values), weights.mean(1)

    def _split(self, states: Tensor) -> Tensor:
        batch, count, _ = states.shape
        return states.reshape(batch, count, self.heads, -1).transpose(1, 2)


class RetoucherContext(NamedTuple):
    """The encoded request and photo."""

    words: Tensor
    """(B, T, words): a vector per word."""
    mask: Tensor
    """(B, T) bool: where there is a word."""
    whole: Tensor
    """(B, width): request, photo and mode together; the state before the first step."""
    verdict: Tensor
    """(B, verdicts) logits."""
    sense: Tensor
    """(B, attributes): the changes that the words ask for, without the photo, as signed roots of amounts."""


class RetoucherStepOutput(NamedTuple):
    """The prediction for one operation."""

    used: Tensor
    """(B,) logits."""
    parameters: Tensor
    """(B, size): the operation's first, then padding."""
    state: Tensor
    """(B, width): for the next step."""
    attention: Tensor
    """(B, T) over the words."""


class Retoucher(nn.Module):
    """The network; `manner` in its weights and exported graphs is the mode, a number of `RETOUCHER_MODES`."""

    def __init__(self, settings: RetoucherConfig | None = None) -> None:
        super().__init__()
        self.settings = settings or RetoucherConfig()
        width, words, dropout = self.settings.width, self.settings.words, self.settings.photo_dropout
        self.order: tuple[Operation, ...] = tuple(map(get_published_operation, OPERATION_ORDER))
        self.reading = RequestEncoder(words, self.settings.layers, self.settings.heads, self.settings.dropout)
        self.manner = nn.Embedding(len(RETOUCHER_MODES), words)
        self.gist = nn.Sequential(nn.Linear(2 * words, width), nn.GELU())
        self.verdict = nn.Sequential(
            nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, self.settings.verdicts)
        )
        self.sense = nn.Sequential(nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, len(ATTRIBUTES)))
        self.glance, self.study = PictureStatistics(), PhotoEncoder(self.settings.channels)
        self.glanced = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(STATISTICS_SIZE, width), nn.GELU(), nn.Linear(width, width)
        )
        self.seen = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(STATISTICS_SIZE + self.settings.channels[-1], width), nn.GELU()
        )
        self.whole = nn.Sequential(
            nn.Dropout(self.settings.dropout),
            nn.Linear(2 * width + words + len(ATTRIBUTES), width),
            nn.GELU(),
            nn.Dropout(self.settings.dropout),
            nn.Linear(width, width),
            nn.LayerNorm(width),
        )
        self.slots = nn.Parameter(torch.randn(len(OPERATION_ORDER), words) * 0.1)
        self.ask = nn.Linear(width, words)
        self.attend = MultiHeadAttention(words, self.settings.heads)
        self.cell = nn.GRUCell(width + 2 * words, width)
        self.heads = OperationHeads(self.order, 2 * width + words, width)

    def begin(
        self, pieces: Tensor, requests: Tensor, image: Tensor, statistics: Tensor, mode: Tensor
    ) -> RetoucherContext:
        """Encode a batch.

        Distinct words as pieces (W, PIECES), requests as rows of them (B, T), pictures (B, 3, SIDE, SIDE) in
        [0, 1] with their statistics (B, STATISTICS_SIZE), and modes (B,).
        """
        words, mask = self.reading(pieces, requests)
        mode_code = self.manner(mode)
        present = mask[..., None].to(words.dtype)
        mean = (words * present).sum(1) / present.sum(1).clamp(min=1)
        largest = words.masked_fill(~mask[..., None], -10.0).amax(1)
        pooled = torch.cat([mean, largest], -1)
        photo = self.seen(torch.cat([statistics, self.study(image)], -1))
        sense = self.sense(pooled)
        whole = self.whole(torch.cat([self.gist(pooled), photo, mode_code, sense], -1))
        return RetoucherContext(
            words + mode_code[:, None], mask, whole, self.verdict(pooled).float(), sense.float()
        )

    def step(
        self, context: RetoucherContext, statistics: Tensor, number: Tensor, state: Tensor
    ) -> RetoucherStepOutput:
        """Decide on operation `number` (1,), given the statistics of the pictures as they are now."""
        query = self.slots[number] + self.ask(context.whole)
        summary, attention = self.attend(query[:, None], context.words, context.mask)
        inputs = torch.cat([self.glanced(statistics), summary[:, 0], query], -1)
        state = self.cell(inputs, state)
        used, parameters = self.heads(torch.cat([state, context.whole, summary[:, 0]], -1), number)
        return RetoucherStepOutput(used, parameters, state, attention[:, 0])


class RetoucherRequests(NamedTuple):
    """A batch of requests and the pictures they are about."""

    pieces: Tensor
    """(W, PIECES): the distinct words."""
    requests: Tensor
    """(B, T): the requests, as rows of `pieces`."""
    image: Tensor
    """(B, 3, H, W) in [0, 1]."""
    mode: Tensor
    """(B,): numbers of `RETOUCHER_MODES`."""


def encode_requests(requests: Sequence[str], pictures: Tensor, modes: Sequence[str]) -> RetoucherRequests:
    """Encode requests for pictures (B, 3, H, W), on the pictures' device."""
    pieces, rows = (torch.from_numpy(part).long().to(pictures.device) for part in spelt(list(requests)))
    numbers = torch.tensor([RETOUCHER_MODES.index(mode) for mode in modes], device=pictures.device)
    return RetoucherRequests(pieces, rows, pictures, numbers)


class RetoucherOutput(NamedTuple):
    """The result of decoding a batch."""

    image: Tensor
    """(B, 3, H, W)."""
    used: Tensor
    """(B, operations) logits."""
    verdict: Tensor
    """(B, verdicts) logits."""
    sense: Tensor
    """(B, attributes)."""
    parameters: tuple[Tensor, ...]
    """Those of each operation, (B, its size)."""


class RetoucherRuntime:
    """The functions that decoding calls, compiled on request.

    `compiled` fuses the arithmetic, which pays on a GPU; `bfloat16` concerns the network, never the pictures.
    """

    def __init__(self, network: Retoucher, *, compiled: bool = False, bfloat16: bool = False) -> None:
        wrap = compile_if(compiled)
        self.measure = wrap(_without_gradient(network.glance))
        self.begin, self.step = wrap(network.begin), wrap(network.step)
        self.apply = [wrap(_apply_where_used(operation)) for operation in network.order]
        self.bfloat16 = bfloat16


def compile_if(compiled: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`torch.compile`, or a function that returns its argument."""
    return torch.compile if compiled else (lambda function: function)


def _without_gradient(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def run(image: Tensor) -> Tensor:
        with torch.no_grad():
            return function(image)

    return run


def _apply_where_used(operation: Operation) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def apply(image: Tensor, parameters: Tensor, used: Tensor) -> Tensor:
        return torch.where(used[:, None, None, None], operation.run(image, parameters), image)

    return apply


def merge_declined_logits(verdict: Tensor) -> Tensor:
    """(B, verdicts) logits -> (B, 2): an edit, or any kind of refusal."""
    return torch.stack([verdict[:, 0], verdict[:, 1:].logsumexp(-1)], -1)


def decode_recipes(
    network: Retoucher,
    runtime: RetoucherRuntime,
    requests: RetoucherRequests,
    used: Tensor | None = None,
) -> RetoucherOutput:
    """Decide on all operations in order; `used` (B, operations) overrides which of them are applied.

    Not `decode_steps`: each step applies one operation to all rows, without the choice of rows and the early
    end that would make a compiled loop wait for the device.
    """
    image = requests.image
    precision = torch.autocast(image.device.type, torch.bfloat16, enabled=runtime.bfloat16)
    numbers = torch.arange(len(network.order), device=image.device)
    statistics = runtime.measure(image)
    with precision:
        context = runtime.begin(requests.pieces, requests.requests, image, statistics, requests.mode)
    is_edit = merge_declined_logits(context.verdict).argmax(-1) == 0
    state, logits, parameters = context.whole, [], []
    for number, operation in enumerate(network.order):
        with precision:
            output = runtime.step(context, statistics, numbers[number : number + 1], state)
        state = output.state
        applied = (output.used > 0) & is_edit if used is None else used[:, number] > 0.5
        logits.append(output.used)
        parameters.append(output.parameters[:, : operation.size])
        image = runtime.apply[number](image, parameters[-1], applied)
        if number + 1 < len(network.order):
            statistics = runtime.measure(image.detach())
    return RetoucherOutput(image, torch.stack(logits, -1), context.verdict, context.sense, tuple(parameters))

"""The shipped network: it reads a request, looks at a photo and fills in a recipe, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from .. import operations
from ..image.colour import srgb_to_lab
from ..language.grams import BUCKETS, LONGEST
from ..metrics.attributes import ATTRIBUTE_INDEX as ATTRIBUTES
from ..metrics.attributes import measure_lab_attributes
from ..operations import Operation
from ..options import MODES

# The shipped network: it reads a request, looks at a photo and fills in a recipe, operation by operation.


# For each operation of an order, from a vector to whether it is used and with which parameters.

OUTPUT_GAIN = 0.25
"""Free numbers near 0 move a parameter by this share of its range: a network begins with small edits."""


class OperationHeads(nn.Module):
    """Two layers for each operation, side by side in one tensor, so that a graph picks them by number."""

    default: Tensor
    up: Tensor
    down: Tensor
    octaves: Tensor
    curved: Tensor

    def __init__(self, order: Sequence[Operation], inside: int, width: int) -> None:
        super().__init__()
        self.size = max(operation.size for operation in order)
        count, outside = len(order), self.size + 1
        self.first = nn.Parameter(torch.randn(count, inside, width) / inside**0.5)
        self.bend = nn.Parameter(torch.zeros(count, width))
        self.second = nn.Parameter(torch.randn(count, width, outside) * 0.01)
        self.shift = nn.Parameter(torch.zeros(count, outside))
        for name, rows in _parameter_ranges(order, self.size).items():
            self.register_buffer(name, torch.tensor(rows), persistent=False)

    def forward(self, states: Tensor, number: Tensor) -> tuple[Tensor, Tensor]:
        """(B, inside) -> a logit of use (B,), and parameters (B, size), of which its own come first."""
        with torch.autocast(states.device.type, enabled=False):
            hidden = functional.gelu(states.float() @ self.first[number][0] + self.bend[number])
            free = hidden @ self.second[number][0] + self.shift[number]
        return free[:, 0], self.bounded(free[:, 1:], number)

    def bounded(self, free: Tensor, number: Tensor) -> Tensor:
        """(B, size) any numbers -> (B, size) within the declared ranges; 0 is the default.

        Rises of curves are multiplied, so that they stay positive; other parameters move on a straight line.
        """
        bounded = torch.tanh(OUTPUT_GAIN * free)
        way = torch.where(bounded > 0, self.up[number], self.down[number])
        curve = torch.exp(self.octaves[number] * bounded)
        return torch.where(self.curved[number], curve, self.default[number] + bounded * way)


def _parameter_ranges(
    order: Sequence[Operation], size: int
) -> dict[str, list[list[float]] | list[list[bool]]]:
    """The ranges of all parameters, filled up to the same number for each operation."""

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


# What a picture looks like: at a glance its tones and colours, and at leisure what is in it.

HISTOGRAM_BINS = 24
_PIXEL_STRIDE = 4
"""Every fourth pixel in each direction is counted."""
_ATTRIBUTE_SCALES = (50.0, 20.0, 25.0, 15.0, 15.0, 1.0)
_ATTRIBUTE_CENTRES = (50.0, 20.0, 20.0, 5.0, 2.0, -1.5)
"""Roughly the spread and middle of each attribute over photos, to bring them near -1 to 1."""
STATISTICS_SIZE = 6 * HISTOGRAM_BINS + 6


class PictureStatistics(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, FEATURES): soft histograms of R, G, B, L*, a*, b*, and the attributes."""

    def forward(self, image: Tensor) -> Tensor:
        whole = srgb_to_lab(image)
        light, red, warm = whole[
            ..., _PIXEL_STRIDE // 2 :: _PIXEL_STRIDE, _PIXEL_STRIDE // 2 :: _PIXEL_STRIDE
        ].unbind(-3)
        few = image[..., _PIXEL_STRIDE // 2 :: _PIXEL_STRIDE, _PIXEL_STRIDE // 2 :: _PIXEL_STRIDE]
        planes = torch.stack([light / 100, red / 120 + 0.5, warm / 120 + 0.5], -3)
        attributes = [
            (value - middle) / spread
            for value, middle, spread in zip(
                measure_lab_attributes(whole).unbind(-1), _ATTRIBUTE_CENTRES, _ATTRIBUTE_SCALES, strict=True
            )
        ]
        values = torch.cat([few, planes], -3).flatten(-2)
        return torch.cat([_soft_histograms(values).flatten(1), torch.stack(attributes, -1)], -1)


def _soft_histograms(values: Tensor) -> Tensor:
    """(B, C, N) in [0, 1] -> (B, C, BINS): shares, as roots, each value shared by its two nearest bins."""
    centres = torch.arange(HISTOGRAM_BINS, device=values.device, dtype=values.dtype) / (HISTOGRAM_BINS - 1)
    near = (1 - (values[..., None] - centres).abs() * (HISTOGRAM_BINS - 1)).clamp(min=0)
    return (near.mean(-2) + 1e-4) ** 0.5


class PhotoEncoder(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, channels[-1]): a small residual network, averaged over the picture."""

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        first = channels[0]
        layers: list[nn.Module] = [nn.Conv2d(3, first, 5, 2, 2, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
        for before, after in pairwise(channels):
            layers.append(PhotoEncoderBlock(before, after, 1 if before == after else 2))
        self.layers = nn.Sequential(*layers)

    def forward(self, image: Tensor) -> Tensor:
        seen: Tensor = self.layers(2 * image - 1)
        return seen.mean((-2, -1))


class PhotoEncoderBlock(nn.Module):
    """Two convolutions beside a shortcut."""

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


# The request as vectors: hashed pieces of words through a small transformer.


class RequestEncoder(nn.Module):
    """Distinct words (W, PIECES) and requests (B, T) as rows of them -> (B, T, width) and a mask (B, T).

    The mask is true where there is a word; row 0 stands for none.
    """

    def __init__(self, width: int, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(BUCKETS, width)
        self.places = nn.Parameter(torch.randn(LONGEST, width) * 0.02)
        self.blocks = nn.ModuleList(TransformerBlock(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.pieces.weight, std=0.05)

    def forward(self, pieces: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        mask = told > 0
        shown = (pieces > 0)[..., None]
        words = (self.pieces(pieces) * shown).sum(-2) / shown.sum(-2).clamp(min=1) ** 0.5
        states = words[told] + self.places[: told.shape[1]]
        for block in self.blocks:
            states = block(states, mask)
        return self.norm(states), mask


class TransformerBlock(nn.Module):
    """A transformer layer, normalised first."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attend = MultiHeadAttention(width, heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normal = self.first(states)
        states = states + self.drop(self.attend(normal, normal, mask)[0])
        thought: Tensor = states + self.drop(self.think(self.second(states)))
        return thought


class MultiHeadAttention(nn.Module):
    """Queries (B, Q, width) to words (B, T, width) -> what they found, and their mean weights (B, Q, T)."""

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
        found = (weights @ value).transpose(1, 2).flatten(2)
        return self.out(found), weights.mean(1)

    def _split(self, states: Tensor) -> Tensor:
        batch, count, _ = states.shape
        return states.reshape(batch, count, self.heads, -1).transpose(1, 2)


# The network: a request, a photo and a manner in, one operation after the other out.
#
# The operations stand in one order. `begin` reads the request and studies the photo once; then, for each
# operation, `step` takes a glance at the picture as it is by now and says whether the operation is used, with
# which parameters, and which words asked for it. What has been done so far is in the picture and in the
# state.

OPERATION_ORDER = operations.sort_by_position(operations.PAPER)
"""The order in which operations are decided: brightness, color, saturation, tone, contrast, sharpness."""
RETOUCHER_MODES = MODES
RETOUCHER_SIDE = 128
"""Pixels a side of the picture it sees."""


@dataclass(frozen=True)
class RetoucherConfig:
    """Sizes of the network."""

    words: int = 192
    layers: int = 3
    heads: int = 4
    width: int = 384
    dropout: float = 0.1
    blink: float = 0.3
    """Share of what was seen in the photo that is left out at random in training."""
    channels: tuple[int, ...] = (32, 32, 64, 128, 256)
    """Of the layers that study the photo."""
    verdicts: int = 2
    """Kinds of answer: 0 is an edit, the others say what cannot be done."""


class RetoucherContext(NamedTuple):
    """What `begin` found: words (B, T, words), their mask (B, T), the whole (B, width), verdict logits.

    `sense` (B, attributes) is what the words ask for, apart from the photo: signed roots of amounts.
    """

    words: Tensor
    mask: Tensor
    whole: Tensor
    verdict: Tensor
    sense: Tensor


class RetoucherStepOutput(NamedTuple):
    """Whether the operation is used (B,) as a logit, its parameters (B, size), the next state, attention.

    Of the parameters the first are those of the operation, as many as it has.
    """

    used: Tensor
    parameters: Tensor
    state: Tensor
    attention: Tensor


class Retoucher(nn.Module):
    """See the module."""

    def __init__(self, settings: RetoucherConfig | None = None) -> None:
        super().__init__()
        self.settings = settings or RetoucherConfig()
        width, words, blink = self.settings.width, self.settings.words, self.settings.blink
        self.order: tuple[Operation, ...] = tuple(operations.get_operation(name) for name in OPERATION_ORDER)
        self.reading = RequestEncoder(words, self.settings.layers, self.settings.heads, self.settings.dropout)
        self.manner = nn.Embedding(len(RETOUCHER_MODES), words)
        self.gist = nn.Sequential(nn.Linear(2 * words, width), nn.GELU())
        self.verdict = nn.Sequential(
            nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, self.settings.verdicts)
        )
        self.sense = nn.Sequential(nn.Linear(2 * words, words), nn.GELU(), nn.Linear(words, len(ATTRIBUTES)))
        self.glance, self.study = PictureStatistics(), PhotoEncoder(self.settings.channels)
        self.glanced = nn.Sequential(
            nn.Dropout(blink), nn.Linear(STATISTICS_SIZE, width), nn.GELU(), nn.Linear(width, width)
        )
        self.seen = nn.Sequential(
            nn.Dropout(blink), nn.Linear(STATISTICS_SIZE + self.settings.channels[-1], width), nn.GELU()
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
        self, pieces: Tensor, told: Tensor, image: Tensor, look: Tensor, manner: Tensor
    ) -> RetoucherContext:
        """Distinct words as pieces (W, PIECES), requests as rows of them (B, T), pictures (B, 3, SIDE, SIDE)
        in [0, 1] and the glance at them (B, FEATURES), manners (B,).
        """
        words, mask = self.reading(pieces, told)
        manners = self.manner(manner)
        shown = mask[..., None].to(words.dtype)
        mean = (words * shown).sum(1) / shown.sum(1).clamp(min=1)
        most = words.masked_fill(~mask[..., None], -10.0).amax(1)
        gist = torch.cat([mean, most], -1)
        seen = self.seen(torch.cat([look, self.study(image)], -1))
        sense = self.sense(gist)
        whole = self.whole(torch.cat([self.gist(gist), seen, manners, sense], -1))
        return RetoucherContext(
            words + manners[:, None], mask, whole, self.verdict(gist).float(), sense.float()
        )

    def step(
        self, context: RetoucherContext, look: Tensor, number: Tensor, state: Tensor
    ) -> RetoucherStepOutput:
        """The decision on operation `number` (1,), after a glance at pictures as they are by now.

        The state before the first operation is the context's `whole`.
        """
        query = self.slots[number] + self.ask(context.whole)
        found, attention = self.attend(query[:, None], context.words, context.mask)
        heard = torch.cat([found[:, 0], query], -1)
        state = self.cell(torch.cat([self.glanced(look), heard], -1), state)
        used, parameters = self.heads(torch.cat([state, context.whole, found[:, 0]], -1), number)
        return RetoucherStepOutput(used, parameters, state, attention[:, 0])


# The network at work: operation after operation, each on the picture that the one before left.


class RetoucherInput(Protocol):
    """Distinct words (W, PIECES), requests (B, T), pictures (B, 3, H, W) and manners (B,)."""

    @property
    def pieces(self) -> Tensor: ...
    @property
    def told(self) -> Tensor: ...
    @property
    def before(self) -> Tensor: ...
    @property
    def manner(self) -> Tensor: ...


class RetoucherOutput(NamedTuple):
    """Pictures (B, 3, H, W), logits of use (B, operations) and of verdict, and what was understood.

    `parameters` are those of each operation.
    """

    image: Tensor
    used: Tensor
    verdict: Tensor
    sense: Tensor
    parameters: tuple[Tensor, ...]


class RetoucherRuntime:
    """Glances, and carries out operations where they are taken.

    `compiled` fuses the arithmetic; `narrow` lets the network, not the pictures, compute in bfloat16.
    """

    def __init__(self, network: Retoucher, *, compiled: bool = False, narrow: bool = False) -> None:
        make: Callable[..., Callable[..., Any]] = torch.compile if compiled else (lambda run: run)
        self.look = make(_without_gradient(network.glance))
        self.begin, self.step = make(network.begin), make(network.step)
        self.apply = [make(_apply_where_used(operation)) for operation in network.order]
        self.narrow = narrow


def _without_gradient(glance: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def look(image: Tensor) -> Tensor:
        with torch.no_grad():
            return glance(image)

    return look


def _apply_where_used(operation: Operation) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def apply(image: Tensor, parameters: Tensor, taken: Tensor) -> Tensor:
        return torch.where(taken[:, None, None, None], operation.run(image, parameters, 1.0), image)

    return apply


def merge_declined_logits(verdict: Tensor) -> Tensor:
    """(B, verdicts) logits -> (B, 2): an edit, or any of the matters."""
    return torch.stack([verdict[:, 0], verdict[:, 1:].logsumexp(-1)], -1)


def decode_recipes(
    network: Retoucher, hands: RetoucherRuntime, asked: RetoucherInput, used: Tensor | None = None
) -> RetoucherOutput:
    """All operations in turn. `used` (B, operations) says which are taken; without, the network decides."""
    image = asked.before
    narrow = torch.autocast(image.device.type, torch.bfloat16, enabled=hands.narrow)
    numbers = torch.arange(len(network.order), device=image.device)
    look = hands.look(image)
    with narrow:
        context = hands.begin(asked.pieces, asked.told, image, look, asked.manner)
    edits = merge_declined_logits(context.verdict).argmax(-1) == 0
    state, logits, parameters = context.whole, [], []
    for number, operation in enumerate(network.order):
        with narrow:
            step = hands.step(context, look, numbers[number : number + 1], state)
        state = step.state
        taken = (step.used > 0) & edits if used is None else used[:, number] > 0.5
        logits.append(step.used)
        parameters.append(step.parameters[:, : operation.size])
        image = hands.apply[number](image, parameters[-1], taken)
        if number + 1 < len(network.order):
            look = hands.look(image.detach())
    return RetoucherOutput(image, torch.stack(logits, -1), context.verdict, context.sense, tuple(parameters))

"""T2ONet, the paper's network: an LSTM decoder that looks at the photo again before each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ..operations import PAPER, get_operation
from .text import LSTMTextEncoder

# Operations as a decoder sees them: numbers to choose from, and one row of all their parameters.


class ActionSpace(nn.Module):
    """Operations are 0 .. n-1 in the order given; `end` follows; `start` is only ever an input.

    The parameters of all operations lie side by side in a row of `width` numbers, those of operation k at
    `places[k]`. Without `ends` the end cannot be chosen while an operation is left. Nothing here is learned.
    """

    low: Tensor
    high: Tensor
    half_range: Tensor
    belongs: Tensor
    """(n + 1, width) bool: which numbers of a row are an operation's; none are the end's."""
    _centre: Tensor

    def __init__(self, names: Sequence[str] | None = None, *, ends: bool = True) -> None:
        super().__init__()
        self.ends = ends
        self.names = tuple(PAPER if names is None else names)
        self.operations = tuple(get_operation(name) for name in self.names)
        starts = [sum(o.size for o in self.operations[:k]) for k in range(len(self.names) + 1)]
        self.places = tuple(slice(a, b) for a, b in pairwise(starts))
        self.width = starts[-1]
        slots = [slot for operation in self.operations for slot in operation.slots]
        shares = torch.tensor([(slot.default - slot.low) / (slot.high - slot.low) for slot in slots])
        belongs = torch.zeros(len(self.names) + 1, self.width, dtype=torch.bool)
        for number, place in enumerate(self.places):
            belongs[number, place] = True
        self._constant("low", torch.tensor([slot.low for slot in slots]))
        self._constant("high", torch.tensor([slot.high for slot in slots]))
        self._constant("half_range", torch.tensor([slot.half_range for slot in slots]))
        self._constant("belongs", belongs)
        self._constant("_centre", torch.logit(shares))

    def _constant(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    @property
    def end(self) -> int:
        return len(self.names)

    @property
    def start(self) -> int:
        return len(self.names) + 1

    def allowed(self, used: Tensor, ended: Tensor) -> Tensor:
        """(B, n + 1) bool: what may come next, given the operations `used` (B, n) and who has `ended` (B,).

        Nothing comes twice, and after the end only the end.
        """
        free = ~(used | ended[:, None])
        end = torch.ones_like(ended) if self.ends else ~free.any(1)
        return torch.cat([free, end[:, None]], 1)

    def squashed(self, raw: Tensor) -> Tensor:
        """Any numbers (..., width) -> parameters inside their ranges; zeros become the defaults."""
        return self.low + (self.high - self.low) * torch.sigmoid(raw.float() + self._centre)

    def clamped(self, parameters: Tensor) -> Tensor:
        """The nearest allowed parameters (..., width)."""
        return torch.minimum(torch.maximum(parameters, self.low), self.high)

    def perform(self, images: Tensor, choices: Tensor, parameters: Tensor) -> Tensor:
        """Each image (B, 3, H, W) after its operation (B,) with its part of `parameters` (B, width).

        Images that chose the end stay as they are. The formulas run in float32, whatever the network does.
        """
        with torch.autocast(images.device.type, enabled=False):
            for number, (operation, place) in enumerate(zip(self.operations, self.places, strict=True)):
                rows = torch.nonzero(choices == number).flatten()
                if len(rows):
                    edited = operation(images[rows], parameters[rows, place].float())
                    images = images.index_copy(0, rows, edited)
        return images


# What every network that turns a request into steps can do: one exporter and one runtime serve all.


class DecoderContext(NamedTuple):
    """What is known before the first step."""

    words: Tensor
    """(B, L, D): the request, word by word."""
    mask: Tensor
    """(B, L) bool: where there is a word."""
    state: Tensor
    """(B, S): the memory that the first step begins with."""


class StepOutput(NamedTuple):
    """What one step says."""

    logits: Tensor
    """(B, n + 1): over the operations and the end."""
    parameters: Tensor
    """(B, P): of all operations, side by side as in `Actions`, inside their ranges."""
    state: Tensor
    """(B, S): the memory for the next step."""
    attention: Tensor
    """(B, L): over the words of the request, summing to one."""


class StepDecoder(Protocol):
    """A request and a photo -> the next step, given the photo as it is now."""

    actions: ActionSpace
    max_steps: int

    def begin(
        self, tokens: Tensor, mask: Tensor | None, image: Tensor, manner: Tensor | None = None
    ) -> DecoderContext:
        """Read a request (B, L) of word ids; without a mask there is no padding.

        `image` (B, 3, H, W) is the photo as it came, `manner` (B,) 0 for literal and 1 for expert.
        """

    def look(self, image: Tensor) -> Tensor:
        """The photo as it is now, (B, 3, H, W) in [0, 1] -> features (B, F)."""

    def step(self, context: DecoderContext, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        """What to do next; `previous` (B,) is the last operation's number, `actions.start` at first."""


# ResNet-18 (He et al., 2016) for photos of any size, trained from scratch.


class ResNetBlock(nn.Module):
    """Two 3x3 convolutions and the way around them."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(inside, outside, 3, stride)
        self.second = _convolution(outside, outside, 3, 1)
        same = stride == 1 and inside == outside
        self.around = nn.Identity() if same else _convolution(inside, outside, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return relu(self.second(relu(self.first(x))) + self.around(x))


class ResNet18(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, features); `width` is the channels of the first stage."""

    def __init__(self, features: int = 512, width: int = 64) -> None:
        super().__init__()
        self.stem = _convolution(3, width, 7, 2)
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = (width, 2 * width, 4 * width, 8 * width)
        self.stages = nn.Sequential(
            *(_stage(a, b, 1 if a == b else 2) for a, b in zip((width, *widths), widths, strict=False))
        )
        self.out = nn.Linear(widths[-1], features)

    def forward(self, image: Tensor) -> Tensor:
        seen: Tensor = self.stages(self.pool(relu(self.stem(image))))
        told: Tensor = self.out(seen.mean((-2, -1)))
        return told


def _convolution(inside: int, outside: int, size: int, stride: int) -> nn.Sequential:
    layer = nn.Conv2d(inside, outside, size, stride, size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(layer, nn.BatchNorm2d(outside))


def _stage(inside: int, outside: int, stride: int) -> nn.Sequential:
    return nn.Sequential(ResNetBlock(inside, outside, stride), ResNetBlock(outside, outside, 1))


# T2ONet, the paper's network: an LSTM decoder that looks at the photo again before each step.


@dataclass(frozen=True)
class T2ONetConfig:
    """Sizes as published; `image`, `operation` and `attention` off are the paper's ablations."""

    operations: tuple[str, ...] = PAPER
    max_steps: int = 6
    ends: bool = True
    """Whether it may end before its last step; without, an episode is as long as it can be."""
    image: bool = True
    operation: bool = True
    attention: bool = True
    word_size: int = 300
    operation_size: int = 300
    image_size: int = 512
    hidden: int = 512
    layers: int = 2
    width: int = 64
    """Channels of the first stage of the ResNet."""

    def __post_init__(self) -> None:
        if not (self.image or self.operation):
            raise ValueError("a decoder needs the image, the operation before, or both; both are off")
        if not self.operations or self.max_steps < 1:
            raise ValueError("a network needs at least one operation and one step")
        if self.hidden % 2:
            raise ValueError(f"hidden is {self.hidden}; both directions take half of it, so it is even")


class T2ONet(nn.Module):
    """The network for a vocabulary of `words` words."""

    def __init__(self, config: T2ONetConfig, words: int) -> None:
        super().__init__()
        self.config = config
        self.max_steps = config.max_steps
        self.actions = ActionSpace(config.operations, ends=config.ends)
        self.reader = LSTMTextEncoder(words, config.word_size, config.hidden, config.layers)
        inputs = config.image_size * config.image + config.operation_size * config.operation
        if config.image:
            self.eye = ResNet18(config.image_size, config.width)
        if config.operation:  # the end is never an input, so the start takes its place
            self.embedding = nn.Embedding(len(self.actions.names) + 1, config.operation_size)
        self.decoder = nn.LSTM(inputs, config.hidden, config.layers, batch_first=True)
        if config.attention:
            self.mix = nn.Linear(2 * config.hidden, config.hidden)
        self.chooser = nn.Linear(config.hidden, len(self.actions.names) + 1)
        self.heads = nn.ModuleList(_parameter_head(config.hidden, o.size) for o in self.actions.operations)

    def begin(
        self, tokens: Tensor, mask: Tensor | None, image: Tensor, manner: Tensor | None = None
    ) -> DecoderContext:
        """The request, read once; this network has one manner and waits with the photo until `look`."""
        states, hidden, cell = self.reader(tokens, mask)
        there = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        return DecoderContext(states, there, torch.stack([hidden, cell], 1).flatten(1))

    def look(self, image: Tensor) -> Tensor:
        """v_t, (B, image_size); nothing, (B, 0), without the image."""
        if not self.config.image:
            return image.new_zeros(len(image), 0)
        seen: Tensor = self.eye(image)
        return seen.relu()

    def step(self, context: DecoderContext, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        """h_t, s_t and what they say (Sec. 3.3)."""
        hidden, state = self._decoded(features, previous, state)
        mixed, attention = self._attended(context, hidden)
        raw = torch.cat([head(mixed) for head in self.heads], -1)
        return StepOutput(self.chooser(mixed), self.actions.squashed(raw), state, attention)

    def _decoded(self, features: Tensor, previous: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The decoder one step on: its output (B, hidden), and hidden and cell states in a row."""
        parts = [features]
        if self.config.operation:
            parts.insert(0, self.embedding(previous.clamp(max=self.actions.end)))
        memory = state.reshape(-1, 2, self.config.layers, self.config.hidden).permute(1, 2, 0, 3)
        hidden, cell = memory.contiguous()
        out, ends = self.decoder(torch.cat(parts, -1)[:, None], (hidden, cell))
        return out[:, 0], torch.stack(ends).permute(2, 0, 1, 3).flatten(1)

    def _attended(self, context: DecoderContext, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """s_t = tanh(W [c_t; h_t]) and the weights over words; without attention h_t and equal weights."""
        if not self.config.attention:
            return hidden, context.mask / context.mask.sum(1, keepdim=True)
        scores = torch.einsum("bld,bd->bl", context.words, hidden).float()
        weights = torch.softmax(scores.masked_fill(~context.mask, float("-inf")), -1)
        read = torch.einsum("bld,bl->bd", context.words, weights.to(context.words.dtype))
        mixed: Tensor = self.mix(torch.cat([read, hidden], -1))
        return torch.tanh(mixed), weights


def _parameter_head(hidden: int, size: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, size))

"""T2ONet, the paper's network: an LSTM decoder that looks at the photo again before each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ..operations import PAPER, get_published_operation
from .text import LSTMTextEncoder


class ActionSpace(nn.Module):
    """The operations a decoder chooses from, and the layout of their parameters. Nothing here is learned.

    Operations are 0 .. n-1 in the order given; `end` follows; `start` is only ever an input. The parameters
    of all operations lie side by side in a row of `width` numbers, those of operation k at `slices[k]`. With
    `ends` false the end cannot be chosen while an operation is left.
    """

    low: Tensor
    high: Tensor
    half_range: Tensor
    parameter_mask: Tensor
    """(n + 1, width) bool: the numbers of a row that are an operation's; none for the end."""
    _default_logits: Tensor

    def __init__(self, names: Sequence[str] | None = None, *, ends: bool = True) -> None:
        super().__init__()
        self.ends = ends
        self.names = tuple(PAPER if names is None else names)
        self.operations = tuple(get_published_operation(name) for name in self.names)
        starts = [sum(o.size for o in self.operations[:k]) for k in range(len(self.names) + 1)]
        self.slices = tuple(slice(a, b) for a, b in pairwise(starts))
        self.width = starts[-1]
        slots = [slot for operation in self.operations for slot in operation.slots]
        defaults = torch.tensor([(slot.default - slot.low) / (slot.high - slot.low) for slot in slots])
        mask = torch.zeros(len(self.names) + 1, self.width, dtype=torch.bool)
        for number, place in enumerate(self.slices):
            mask[number, place] = True
        self._register("low", torch.tensor([slot.low for slot in slots]))
        self._register("high", torch.tensor([slot.high for slot in slots]))
        self._register("half_range", torch.tensor([slot.half_range for slot in slots]))
        self._register("parameter_mask", mask)
        self._register("_default_logits", torch.logit(defaults))

    def _register(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    @property
    def end(self) -> int:
        return len(self.names)

    @property
    def start(self) -> int:
        return len(self.names) + 1

    def find_allowed(self, used: Tensor, ended: Tensor) -> Tensor:
        """(B, n + 1) bool: what may come next, given the operations `used` (B, n) and rows that `ended` (B,).

        No operation comes twice, and after the end only the end.
        """
        free = ~(used | ended[:, None])
        end = torch.ones_like(ended) if self.ends else ~free.any(1)
        return torch.cat([free, end[:, None]], 1)

    def squash(self, raw: Tensor) -> Tensor:
        """Map any numbers (..., width) to parameters inside their ranges; zeros become the defaults."""
        return self.low + (self.high - self.low) * torch.sigmoid(raw.float() + self._default_logits)

    def clamp(self, parameters: Tensor) -> Tensor:
        """The nearest parameters (..., width) inside their ranges."""
        return torch.minimum(torch.maximum(parameters, self.low), self.high)

    def apply_choices(self, images: Tensor, choices: Tensor, parameters: Tensor) -> Tensor:
        """Apply to each image (B, 3, H, W) its operation (B,) with its part of `parameters` (B, width).

        Images that chose the end stay unchanged. The formulas run in float32, also under autocast.
        """
        with torch.autocast(images.device.type, enabled=False):
            for number, (operation, place) in enumerate(zip(self.operations, self.slices, strict=True)):
                rows = torch.nonzero(choices == number).flatten()
                if len(rows):
                    edited = operation(images[rows], parameters[rows, place].float())
                    images = images.index_copy(0, rows, edited)
        return images


class DecoderContext(NamedTuple):
    """The encoded request."""

    words: Tensor
    """(B, L, D): a vector per word."""
    mask: Tensor
    """(B, L) bool: where there is a word."""
    state: Tensor
    """(B, S): the decoder's state before the first step."""


class StepOutput(NamedTuple):
    """The prediction for one step."""

    logits: Tensor
    """(B, n + 1): over the operations and the end."""
    parameters: Tensor
    """(B, P): of all operations, laid out as in `ActionSpace`, inside their ranges."""
    state: Tensor
    """(B, S): the decoder's state for the next step."""
    attention: Tensor
    """(B, L): over the words of the request, summing to one."""


class StepDecoder(Protocol):
    """A network that predicts the next step from a request and the picture as it is now."""

    actions: ActionSpace
    max_steps: int

    def begin(self, tokens: Tensor, mask: Tensor | None) -> DecoderContext:
        """Encode requests, word ids (B, L); `mask` (B, L) is None without padding."""

    def encode_image(self, image: Tensor) -> Tensor:
        """The picture as it is now, (B, 3, H, W) in [0, 1] -> features (B, F)."""

    def step(self, context: DecoderContext, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        """Predict the next step; `previous` (B,) is the last operation, `actions.start` at first."""


class ResNetBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.first = _conv_norm(channels_in, channels_out, 3, stride)
        self.second = _conv_norm(channels_out, channels_out, 3, 1)
        same = stride == 1 and channels_in == channels_out
        self.around = nn.Identity() if same else _conv_norm(channels_in, channels_out, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return relu(self.second(relu(self.first(x))) + self.around(x))


class ResNet18(nn.Module):
    """ResNet-18 (He et al., 2016) for photos of any size: (B, 3, H, W) in [0, 1] -> (B, features).

    `width` is the number of channels of the first stage.
    """

    def __init__(self, features: int = 512, width: int = 64) -> None:
        super().__init__()
        self.stem = _conv_norm(3, width, 7, 2)
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = (width, 2 * width, 4 * width, 8 * width)
        self.stages = nn.Sequential(
            *(_stage(a, b, 1 if a == b else 2) for a, b in zip((width, *widths), widths, strict=False))
        )
        self.out = nn.Linear(widths[-1], features)

    def forward(self, image: Tensor) -> Tensor:
        maps: Tensor = self.stages(self.pool(relu(self.stem(image))))
        features: Tensor = self.out(maps.mean((-2, -1)))
        return features


def _conv_norm(channels_in: int, channels_out: int, size: int, stride: int) -> nn.Sequential:
    layer = nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(layer, nn.BatchNorm2d(channels_out))


def _stage(channels_in: int, channels_out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        ResNetBlock(channels_in, channels_out, stride), ResNetBlock(channels_out, channels_out, 1)
    )


@dataclass(frozen=True)
class T2ONetConfig:
    """Sizes as published; `image`, `operation` and `attention` off are the paper's ablations."""

    operations: tuple[str, ...] = PAPER
    max_steps: int = 6
    ends: bool = True
    """Whether it may end before its last step; else every episode has `max_steps` steps."""
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
            raise ValueError("a decoder needs the image, the previous operation, or both; both are off")
        if not self.operations or self.max_steps < 1:
            raise ValueError("a network needs at least one operation and one step")
        if self.hidden % 2:
            raise ValueError(f"hidden is {self.hidden}; each direction takes half of it, so it must be even")


class T2ONet(nn.Module):
    """The paper's network for a vocabulary of `words` words (Sec. 3.3)."""

    def __init__(self, config: T2ONetConfig, words: int) -> None:
        super().__init__()
        self.config = config
        self.max_steps = config.max_steps
        self.actions = ActionSpace(config.operations, ends=config.ends)
        self.reader = LSTMTextEncoder(words, config.word_size, config.hidden, config.layers)
        inputs = config.image_size * config.image + config.operation_size * config.operation
        if config.image:
            self.eye = ResNet18(config.image_size, config.width)
        if config.operation:  # the end is never an input: its row is the start's
            self.embedding = nn.Embedding(len(self.actions.names) + 1, config.operation_size)
        self.decoder = nn.LSTM(inputs, config.hidden, config.layers, batch_first=True)
        if config.attention:
            self.mix = nn.Linear(2 * config.hidden, config.hidden)
        self.chooser = nn.Linear(config.hidden, len(self.actions.names) + 1)
        self.heads = nn.ModuleList(_parameter_head(config.hidden, o.size) for o in self.actions.operations)

    def begin(self, tokens: Tensor, mask: Tensor | None) -> DecoderContext:
        """Encode requests (B, L) of word ids."""
        states, hidden, cell = self.reader(tokens, mask)
        if mask is None:
            mask = torch.ones_like(tokens, dtype=torch.bool)
        return DecoderContext(states, mask, torch.stack([hidden, cell], 1).flatten(1))

    def encode_image(self, image: Tensor) -> Tensor:
        """v_t, (B, image_size); (B, 0) in the ablation without the image."""
        if not self.config.image:
            return image.new_zeros(len(image), 0)
        features: Tensor = self.eye(image)
        return features.relu()

    def step(self, context: DecoderContext, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
        """h_t and s_t, and the operation and parameters predicted from them."""
        hidden, state = self._run_decoder(features, previous, state)
        mixed, attention = self._attend(context, hidden)
        raw = torch.cat([head(mixed) for head in self.heads], -1)
        return StepOutput(self.chooser(mixed), self.actions.squash(raw), state, attention)

    def _run_decoder(self, features: Tensor, previous: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One step of the LSTM: its output (B, hidden), and hidden and cell states in a row."""
        parts = [features]
        if self.config.operation:
            parts.insert(0, self.embedding(previous.clamp(max=self.actions.end)))
        states = state.reshape(-1, 2, self.config.layers, self.config.hidden).permute(1, 2, 0, 3)
        hidden, cell = states.contiguous()
        out, last = self.decoder(torch.cat(parts, -1)[:, None], (hidden, cell))
        return out[:, 0], torch.stack(last).permute(2, 0, 1, 3).flatten(1)

    def _attend(self, context: DecoderContext, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """s_t = tanh(W [c_t; h_t]) and the weights over words; h_t and equal weights without attention."""
        if not self.config.attention:
            return hidden, context.mask / context.mask.sum(1, keepdim=True)
        scores = torch.einsum("bld,bd->bl", context.words, hidden).float()
        weights = torch.softmax(scores.masked_fill(~context.mask, float("-inf")), -1)
        summary = torch.einsum("bld,bl->bd", context.words, weights.to(context.words.dtype))
        mixed: Tensor = self.mix(torch.cat([summary, hidden], -1))
        return torch.tanh(mixed), weights


def _parameter_head(hidden: int, size: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, size))

"""T2ONet, the paper's network: an LSTM decoder that looks at the photo again before each step."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..operations import operations
from .actions import Actions
from .network import Context, StepOutput
from .reader import Reader
from .resnet import ResNet18


@dataclass(frozen=True)
class T2ONetConfig:
    """Sizes as published; `image`, `operation` and `attention` off are the paper's ablations."""

    operations: tuple[str, ...] = field(default_factory=lambda: tuple(operations()))
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
        self.actions = Actions(config.operations, ends=config.ends)
        self.reader = Reader(words, config.word_size, config.hidden, config.layers)
        inputs = config.image_size * config.image + config.operation_size * config.operation
        if config.image:
            self.eye = ResNet18(config.image_size, config.width)
        if config.operation:  # the end is never an input, so the start takes its place
            self.embedding = nn.Embedding(len(self.actions.names) + 1, config.operation_size)
        self.decoder = nn.LSTM(inputs, config.hidden, config.layers, batch_first=True)
        if config.attention:
            self.mix = nn.Linear(2 * config.hidden, config.hidden)
        self.chooser = nn.Linear(config.hidden, len(self.actions.names) + 1)
        self.heads = nn.ModuleList(_head(config.hidden, o.size) for o in self.actions.operations)

    def begin(
        self, tokens: Tensor, mask: Tensor | None, image: Tensor, manner: Tensor | None = None
    ) -> Context:
        """The request, read once; this network has one manner and waits with the photo until `look`."""
        states, hidden, cell = self.reader(tokens, mask)
        there = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        return Context(states, there, torch.stack([hidden, cell], 1).flatten(1))

    def look(self, image: Tensor) -> Tensor:
        """v_t, (B, image_size); nothing, (B, 0), without the image."""
        if not self.config.image:
            return image.new_zeros(len(image), 0)
        seen: Tensor = self.eye(image)
        return seen.relu()

    def step(self, context: Context, features: Tensor, previous: Tensor, state: Tensor) -> StepOutput:
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

    def _attended(self, context: Context, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """s_t = tanh(W [c_t; h_t]) and the weights over words; without attention h_t and equal weights."""
        if not self.config.attention:
            return hidden, context.mask / context.mask.sum(1, keepdim=True)
        scores = torch.einsum("bld,bd->bl", context.words, hidden).float()
        weights = torch.softmax(scores.masked_fill(~context.mask, float("-inf")), -1)
        read = torch.einsum("bld,bl->bd", context.words, weights.to(context.words.dtype))
        mixed: Tensor = self.mix(torch.cat([read, hidden], -1))
        return torch.tanh(mixed), weights


def _head(hidden: int, size: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, size))

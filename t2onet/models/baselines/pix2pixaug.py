"""Pix2pixAug: pix2pix (Isola et al., CVPR 2017) with language, as in Wang, Williams and Kang (2018).

A U-Net whose narrowest features have the request laid over them, and a discriminator of 70 x 70 patches
that sees the photo, the picture and the request. The U-Net halves photos six times, not seven, so that 128
x 128 leaves 2 x 2 places; the discriminator is `Discriminator` at one scale, which has no batch norm.
Dropout is off in evaluation, where pix2pix keeps it on.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..discriminator import Discriminator, DiscriminatorConfig
from ..sentence import Sentence
from .game import Drawn, Game, Given, Painter
from .layers import LEAK, cross_entropy, laid_over, started

_DROPPED = 3
"""Layers of the way up, from the narrowest, that drop half of their features."""


@dataclass(frozen=True)
class Pix2pixAugConfig:
    """Sizes of pix2pix."""

    word_size: int = 300
    hidden: int = 256
    width: int = 64
    """Channels at half the size; at most eight times as many below."""
    depth: int = 6
    """How often the photo is halved."""


class Pix2pixAugGenerator(Painter):
    def __init__(self, config: Pix2pixAugConfig, words: int) -> None:
        super().__init__()
        self.multiple = 2**config.depth
        widths = [config.width * min(2**k, 8) for k in range(config.depth)]
        self.down = nn.ModuleList(
            _down(a, b, first=k == 0, last=k == config.depth - 1)
            for k, (a, b) in enumerate(zip((3, *widths), widths, strict=False))
        )
        inputs = [2 * width for width in widths]
        inputs[-1] = widths[-1] + config.hidden
        self.up = nn.ModuleList(
            _up(inputs[k], widths[k - 1] if k else 3, last=not k, drop=k > config.depth - 1 - _DROPPED)
            for k in reversed(range(config.depth))
        )
        self.sentence = Sentence(words, config.word_size, config.hidden)
        started(self)

    def paint(self, image: Tensor, tokens: Tensor) -> Drawn:
        features, passed = image, []
        for layer in self.down:
            features = layer(features)
            passed.append(features)
        features = self.up[0](laid_over(self.sentence(tokens).whole, passed.pop()))
        for layer, skipped in zip(self.up[1:], reversed(passed), strict=True):
            features = layer(torch.cat([features, skipped], 1))
        return Drawn((features,), {})


class Pix2pixAug(Game):
    """Cross-entropy over patches."""

    def __init__(self, config: Pix2pixAugConfig, words: int) -> None:
        self.generator = Pix2pixAugGenerator(config, words)
        patches = DiscriminatorConfig(
            scales=1,
            patch_width=config.width,
            vector_size=config.word_size,
            request_size=config.hidden,
        )
        self.discriminator = Discriminator(patches, words)

    def persuade(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        (logits,) = self.discriminator(given.image, pictures[-1], given.tokens)
        return {"adversarial": cross_entropy(logits, True)}

    def judge(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        (real,) = self.discriminator(given.image, given.target, given.tokens)
        (fake,) = self.discriminator(given.image, pictures[-1], given.tokens)
        return {"real": cross_entropy(real, True) / 2, "fake": cross_entropy(fake, False) / 2}


def _down(inside: int, outside: int, *, first: bool, last: bool) -> nn.Sequential:
    """Batch norm neither at the first layer nor at the narrowest."""
    bare = first or last
    layer = nn.Conv2d(inside, outside, 4, 2, 1, bias=bare)
    before = [] if first else [nn.LeakyReLU(LEAK)]
    return nn.Sequential(*before, layer, *([] if bare else [nn.BatchNorm2d(outside)]))


def _up(inside: int, outside: int, *, last: bool, drop: bool) -> nn.Sequential:
    layer = nn.ConvTranspose2d(inside, outside, 4, 2, 1, bias=last)
    after: list[nn.Module] = [nn.Tanh()] if last else [nn.BatchNorm2d(outside)]
    return nn.Sequential(nn.ReLU(), layer, *after, *([nn.Dropout(0.5)] if drop and not last else []))

"""SISGAN: Semantic Image Synthesis via Adversarial Learning (Dong, Yu, Wu and Guo, ICCV 2017).

An encoder takes the photo to a quarter of its size, the request's code is laid over every place, residual
blocks change what is there and a decoder paints it; the discriminator sees a picture and the request, not
the photo. The paper has the request encoded by a GRU trained to match captions and offers VGG features for
the photo; neither is to be had here, so `Sentence` is trained with each side and the encoder is the paper's
own plain one. Pairs of photos and wrong captions are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import leaky_relu, relu

from ..sentence import Sentence
from .game import Drawn, Game, Given, Painter
from .layers import (
    LEAK,
    Augmented,
    Residual,
    at_least,
    convolved,
    cross_entropy,
    doubled,
    laid_over,
    normed,
    started,
)


@dataclass(frozen=True)
class SISGANConfig:
    """Sizes as published."""

    word_size: int = 300
    hidden: int = 300
    code: int = 128
    width: int = 128
    """Channels at full size; four times as many at the smallest."""
    blocks: int = 4


class SISGANGenerator(Painter):
    multiple = 4

    def __init__(self, config: SISGANConfig, words: int) -> None:
        super().__init__()
        width, deep = config.width, 4 * config.width
        self.encoder = encoder(width)
        blocks = (Rectified(deep) for _ in range(config.blocks))
        self.change = nn.Sequential(convolved(deep + config.code, deep), *blocks)
        self.decoder = decoder(width)
        self.cloud = Augmented(config.hidden, config.code)
        self.sentence = Sentence(words, config.word_size, config.hidden)
        started(self)

    def paint(self, image: Tensor, tokens: Tensor) -> Drawn:
        code, divergence = self.cloud(self.sentence(tokens).whole)
        changed = self.change(laid_over(code, self.encoder(image)))
        return Drawn((self.decoder(changed),), {"divergence": divergence})


class SISGANDiscriminator(nn.Module):
    """A picture (B, 3, H, W) in [0, 1] and the request -> logits (B, 1, h, w)."""

    def __init__(self, config: SISGANConfig, words: int) -> None:
        super().__init__()
        narrow, deep = config.width // 2, 4 * config.width
        self.encoder = nn.Sequential(
            nn.Conv2d(3, narrow, 4, 2, 1),
            nn.LeakyReLU(LEAK),
            convolved(narrow, 2 * narrow, 4, 2, leak=LEAK),
            convolved(2 * narrow, 4 * narrow, 4, 2, leak=LEAK),
            *normed(4 * narrow, deep, 4, 2),
        )
        self.around = nn.Sequential(
            convolved(deep, 2 * narrow, 1, leak=LEAK),
            convolved(2 * narrow, 2 * narrow, leak=LEAK),
            *normed(2 * narrow, deep),
        )
        self.told = nn.Sequential(nn.Linear(config.hidden, config.code), nn.LeakyReLU(LEAK))
        self.joint = convolved(deep + config.code, deep, 1, leak=LEAK)
        self.out = nn.Conv2d(deep, 1, 4)
        self.sentence = Sentence(words, config.word_size, config.hidden)
        started(self)

    def forward(self, picture: Tensor, tokens: Tensor) -> Tensor:
        seen = self.encoder(2 * picture - 1)
        seen = leaky_relu(seen + self.around(seen), LEAK)
        joint = self.joint(laid_over(self.told(self.sentence(tokens).whole), seen))
        logits: Tensor = self.out(at_least(joint, 4))
        return logits


class SISGAN(Game):
    """Cross-entropy, and the divergence of the request's cloud."""

    def __init__(self, config: SISGANConfig, words: int) -> None:
        self.generator = SISGANGenerator(config, words)
        self.discriminator = SISGANDiscriminator(config, words)

    def persuade(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {"adversarial": cross_entropy(self.discriminator(pictures[-1], given.tokens), True)}

    def judge(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {
            "real": cross_entropy(self.discriminator(given.target, given.tokens), True),
            "fake": cross_entropy(self.discriminator(pictures[-1], given.tokens), False),
        }


class Rectified(Residual):
    """A residual block with a ReLU after the sum."""

    def forward(self, x: Tensor) -> Tensor:
        return relu(super().forward(x))


def encoder(width: int) -> nn.Sequential:
    """(B, 3, H, W) -> (B, 4 width, H / 4, W / 4)."""
    first = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU())
    return nn.Sequential(first, convolved(width, 2 * width, 4, 2), convolved(2 * width, 4 * width, 4, 2))


def decoder(width: int) -> nn.Sequential:
    """The way back, to [-1, 1]."""
    last = nn.Conv2d(width, 3, 3, padding=1)
    return nn.Sequential(doubled(4 * width, 2 * width), doubled(2 * width, width), last, nn.Tanh())

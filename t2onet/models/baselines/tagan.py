"""TAGAN: Text-Adaptive Generative Adversarial Networks (Nam, Kim and Kim, NeurIPS 2018).

SISGAN's kind of generator, one halving deeper and with the encoder's features added to what the residual
blocks make of them. The discriminator is the paper's idea: every word makes a small discriminator of its
own for features at three scales, and the answers multiply, each weighed by how much its word matters. The
paper's words come from fastText; here from GloVe. It trains the words' discriminators on wrong captions,
which are left out: pictures take their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from ..text import GRUTextEncoder, SentenceEncoding
from .common import (
    LEAK,
    AdversarialBatch,
    BaselineGAN,
    ConditioningAugmentation,
    GeneratorOutput,
    PictureGenerator,
    ResidualBlock,
    concatenate_code,
    conv_norm_relu,
    gan_cross_entropy,
    init_dcgan_weights,
    pad_to_side,
    upsample_conv,
)

_TEXT_WEIGHT, _DIVERGENCE_WEIGHT = 10.0, 0.5
"""As published: of the words' discriminators, and of the divergence."""


@dataclass(frozen=True)
class TAGANConfig:
    """Sizes as published."""

    word_size: int = 300
    hidden: int = 512
    code: int = 128
    width: int = 64
    """Channels at full size; eight times as many at the smallest."""
    blocks: int = 4


class TAGANGenerator(PictureGenerator):
    multiple = 8

    def __init__(self, config: TAGANConfig, words: int) -> None:
        super().__init__()
        widths = [config.width * 2**k for k in range(4)]
        deep = widths[-1]
        first = nn.Sequential(nn.Conv2d(3, config.width, 3, padding=1), nn.ReLU())
        pairs = list(pairwise(widths))
        self.encoder = nn.Sequential(first, *(conv_norm_relu(a, b, 4, 2) for a, b in pairs))
        blocks = (ResidualBlock(deep) for _ in range(config.blocks))
        self.change = nn.Sequential(conv_norm_relu(deep + config.code, deep), *blocks)
        last = nn.Conv2d(config.width, 3, 3, padding=1)
        self.decoder = nn.Sequential(*(upsample_conv(b, a) for a, b in reversed(pairs)), last, nn.Tanh())
        self.cloud = ConditioningAugmentation(config.hidden, config.code)
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        init_dcgan_weights(self)

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        code, divergence = self.cloud(self.sentence(tokens).mean)
        seen = self.encoder(image)
        picture = self.decoder(seen + self.change(concatenate_code(code, seen)))
        return GeneratorOutput((picture,), {"divergence": _DIVERGENCE_WEIGHT * divergence})


class TAGANDiscriminator(nn.Module):
    """A picture (B, 3, H, W) in [0, 1] and the request -> logits (B, 1, h, w), log-probabilities (B,).

    The first say whether the picture is real, the second whether it fits the request.
    """

    def __init__(self, config: TAGANConfig, words: int) -> None:
        super().__init__()
        width = config.width
        scales = (4 * width, 8 * width, 8 * width)
        below = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1),
            nn.LeakyReLU(LEAK),
            conv_norm_relu(width, 2 * width, 4, 2, leak=LEAK),
        )
        inputs = (2 * width, *scales)
        stages = [conv_norm_relu(a, b, 4, 2, leak=LEAK) for a, b in zip(inputs, scales, strict=False)]
        self.stages = nn.ModuleList([nn.Sequential(below, stages[0]), *stages[1:]])
        self.pooled = nn.ModuleList(conv_norm_relu(scale, scale, leak=LEAK) for scale in scales)
        self.experts = nn.ModuleList(nn.Linear(config.hidden, scale + 1) for scale in scales)
        self.levels = nn.Linear(config.hidden, len(scales))
        self.out = nn.Conv2d(scales[-1], 1, 4)
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        init_dcgan_weights(self)

    def forward(self, picture: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        features, means = 2 * picture - 1, []
        for stage, pooled in zip(self.stages, self.pooled, strict=True):
            features = stage(features)
            means.append(pooled(features).mean((-2, -1)))
        return self.out(pad_to_side(features, 4)), self._fits(means, self.sentence(tokens))

    def _fits(self, means: list[Tensor], heard: SentenceEncoding) -> Tensor:
        """log of the product over words of (sum over scales of level times answer) to the word's weight."""
        levels = torch.softmax(self.levels(heard.states).float(), -1)
        found = torch.zeros_like(levels[..., 0])
        for at, (expert, mean) in enumerate(zip(self.experts, means, strict=True)):
            made = expert(heard.states).float()
            answer = torch.einsum("bld,bd->bl", made[..., :-1], mean.float()) + made[..., -1]
            found = found + levels[..., at] * torch.sigmoid(answer)
        scores = torch.einsum("bld,bd->bl", heard.states, heard.mean).float()
        matters = torch.softmax(scores.masked_fill(~heard.mask, float("-inf")), -1)
        return (matters * found.clamp(1e-6, 1 - 1e-6).log()).sum(-1)


class TAGAN(BaselineGAN):
    """Cross-entropy of both answers of the discriminator, and the divergence of the request's cloud."""

    def __init__(self, config: TAGANConfig, words: int) -> None:
        self.generator = TAGANGenerator(config, words)
        self.discriminator = TAGANDiscriminator(config, words)

    def persuade(self, given: AdversarialBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        logits, fits = self.discriminator(pictures[-1], given.tokens)
        return {"adversarial": gan_cross_entropy(logits, True), "fits": -_TEXT_WEIGHT * fits.mean()}

    def judge(self, given: AdversarialBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        real, target_fits = self.discriminator(given.target, given.tokens)
        fake, fits = self.discriminator(pictures[-1], given.tokens)
        told_apart = -target_fits.mean() - torch.log1p(-fits.exp().clamp(max=1 - 1e-6)).mean()
        return {
            "real": gan_cross_entropy(real, True),
            "fake": gan_cross_entropy(fake, False),
            "words": _TEXT_WEIGHT / 2 * told_apart,
        }

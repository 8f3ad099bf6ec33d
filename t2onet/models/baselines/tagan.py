"""TAGAN: Text-Adaptive Generative Adversarial Networks (Nam, Kim and Kim, NeurIPS 2018).

A generator like SISGAN's, one halving deeper and with the encoder's features added to the output of the
residual blocks. The discriminator is the paper's idea: every word predicts a small discriminator of its own
for features at three scales, and their outputs are multiplied, each weighted by the attention to its word.
The paper's word vectors are fastText's; here they are GloVe's. The paper trains the words' discriminators on
wrong captions; here on generated pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from ..decoding import RequestBatch
from ..text import GRUTextEncoder, SentenceEncoding
from .common import (
    LEAK,
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
"""As published: weights of the words' discriminators and of the divergence."""


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
        features = self.encoder(image)
        picture = self.decoder(features + self.change(concatenate_code(code, features)))
        return GeneratorOutput((picture,), {"divergence": _DIVERGENCE_WEIGHT * divergence})


class TAGANDiscriminator(nn.Module):
    """A picture (B, 3, H, W) in [0, 1] and the request -> logits (B, 1, h, w), log-probabilities (B,).

    The logits are for being real, the log-probabilities for matching the request.
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
        return self.out(pad_to_side(features, 4)), self._match(means, self.sentence(tokens))

    def _match(self, means: list[Tensor], sentence: SentenceEncoding) -> Tensor:
        """Log of the product over words of (sum over scales of level times output) to the word's weight."""
        levels = torch.softmax(self.levels(sentence.states).float(), -1)
        outputs = torch.zeros_like(levels[..., 0])
        for at, (expert, mean) in enumerate(zip(self.experts, means, strict=True)):
            weights = expert(sentence.states).float()
            output = torch.einsum("bld,bd->bl", weights[..., :-1], mean.float()) + weights[..., -1]
            outputs = outputs + levels[..., at] * torch.sigmoid(output)
        scores = torch.einsum("bld,bd->bl", sentence.states, sentence.mean).float()
        attention = torch.softmax(scores.masked_fill(~sentence.mask, float("-inf")), -1)
        return (attention * outputs.clamp(1e-6, 1 - 1e-6).log()).sum(-1)


class TAGAN(BaselineGAN):
    """Cross-entropy of both outputs of the discriminator."""

    def __init__(self, config: TAGANConfig, words: int) -> None:
        self.generator = TAGANGenerator(config, words)
        self.discriminator = TAGANDiscriminator(config, words)

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        logits, match = self.discriminator(pictures[-1], requests.tokens)
        return {"adversarial": gan_cross_entropy(logits, True), "fits": -_TEXT_WEIGHT * match.mean()}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        real, target_match = self.discriminator(target, requests.tokens)
        fake, match = self.discriminator(pictures[-1], requests.tokens)
        match_loss = -target_match.mean() - torch.log1p(-match.exp().clamp(max=1 - 1e-6)).mean()
        return {
            "real": gan_cross_entropy(real, True),
            "fake": gan_cross_entropy(fake, False),
            "words": _TEXT_WEIGHT / 2 * match_loss,
        }

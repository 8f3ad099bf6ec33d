"""Bilinear GAN: Bilinear Representation for Language-based Image Editing (Mao et al., ICASSP 2019).

SISGAN's encoder, decoder and discriminator with another conditioning on the request: every residual block
starts with a bilinear residual layer, which learns low-rank products of photo and request features. The
adversarial loss is least squares. VGG features and caption matching are left out, as in SISGAN.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ..decoding import RequestBatch
from ..text import GRUTextEncoder
from .common import (
    BaselineGAN,
    ConditioningAugmentation,
    GeneratorOutput,
    PictureGenerator,
    ResidualBlock,
    conv_norm,
    init_dcgan_weights,
)
from .sisgan import SISGANConfig, SISGANDiscriminator, build_decoder, build_encoder


@dataclass(frozen=True)
class BilinearConfig(SISGANConfig):
    """SISGAN's sizes, and the rank of the products."""

    rank: int = 256


class BilinearResidual(nn.Module):
    """x + F(P (relu(U x) * relu(V t))): features (B, C, h, w) and a request's code (B, code)."""

    def __init__(self, config: BilinearConfig) -> None:
        super().__init__()
        deep = 4 * config.width
        self.of_photo = nn.Conv2d(deep, config.rank, 1, bias=False)
        self.of_request = nn.Linear(config.code, config.rank, bias=False)
        self.product = nn.Conv2d(config.rank, deep, 1)
        self.inner = ResidualBlock(deep).inner

    def forward(self, x: Tensor, code: Tensor) -> Tensor:
        request = relu(self.of_request(code))[..., None, None]
        fused = relu(self.product(relu(self.of_photo(x)) * request))
        return relu(x + self.inner(fused))


class BilinearGenerator(PictureGenerator):
    multiple = 4

    def __init__(self, config: BilinearConfig, words: int) -> None:
        super().__init__()
        deep = 4 * config.width
        self.encoder = build_encoder(config.width)
        self.first = nn.Sequential(*conv_norm(deep, deep))
        self.blocks = nn.ModuleList(BilinearResidual(config) for _ in range(config.blocks))
        self.decoder = build_decoder(config.width)
        self.cloud = ConditioningAugmentation(config.hidden, config.code)
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        init_dcgan_weights(self)

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        code, divergence = self.cloud(self.sentence(tokens).whole)
        features = self.first(self.encoder(image))
        for block in self.blocks:
            features = block(features, code)
        return GeneratorOutput((self.decoder(features),), {"divergence": divergence})


class BilinearGAN(BaselineGAN):
    """Least squares on probabilities; a picture counts half as much as a target."""

    def __init__(self, config: BilinearConfig, words: int) -> None:
        self.generator = BilinearGenerator(config, words)
        self.discriminator = SISGANDiscriminator(config, words)

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {"adversarial": ((1 - self._probability(pictures[-1], requests)) ** 2).mean()}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        return {
            "real": ((1 - self._probability(target, requests)) ** 2).mean(),
            "fake": (self._probability(pictures[-1], requests) ** 2).mean() / 2,
        }

    def _probability(self, picture: Tensor, requests: RequestBatch) -> Tensor:
        return torch.sigmoid(self.discriminator(picture, requests.tokens).float())

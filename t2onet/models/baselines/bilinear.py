"""Bilinear GAN: Bilinear Representation for Language-based Image Editing (Mao et al., ICASSP 2019).

SISGAN's encoder, decoder and discriminator with another way to bring the request in: every residual block
begins with a bilinear residual layer, which learns products of photo and request features at a low rank.
Its adversarial loss is of least squares. VGG features and the caption matching are left out as in SISGAN.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ..sentence import Sentence
from .game import Drawn, Game, Given, Painter
from .layers import Augmented, Residual, normed, started
from .sisgan import SISGANConfig, SISGANDiscriminator, decoder, encoder


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
        self.inner = Residual(deep).inner

    def forward(self, x: Tensor, code: Tensor) -> Tensor:
        request = relu(self.of_request(code))[..., None, None]
        fused = relu(self.product(relu(self.of_photo(x)) * request))
        return relu(x + self.inner(fused))


class BilinearGenerator(Painter):
    multiple = 4

    def __init__(self, config: BilinearConfig, words: int) -> None:
        super().__init__()
        deep = 4 * config.width
        self.encoder = encoder(config.width)
        self.first = nn.Sequential(*normed(deep, deep))
        self.blocks = nn.ModuleList(BilinearResidual(config) for _ in range(config.blocks))
        self.decoder = decoder(config.width)
        self.cloud = Augmented(config.hidden, config.code)
        self.sentence = Sentence(words, config.word_size, config.hidden)
        started(self)

    def paint(self, image: Tensor, tokens: Tensor) -> Drawn:
        code, divergence = self.cloud(self.sentence(tokens).whole)
        features = self.first(self.encoder(image))
        for block in self.blocks:
            features = block(features, code)
        return Drawn((self.decoder(features),), {"divergence": divergence})


class BilinearGAN(Game):
    """Least squares on probabilities, a picture counting half as much as a target."""

    def __init__(self, config: BilinearConfig, words: int) -> None:
        self.generator = BilinearGenerator(config, words)
        self.discriminator = SISGANDiscriminator(config, words)

    def persuade(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {"adversarial": ((1 - self._probability(pictures[-1], given)) ** 2).mean()}

    def judge(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {
            "real": ((1 - self._probability(given.target, given)) ** 2).mean(),
            "fake": (self._probability(pictures[-1], given) ** 2).mean() / 2,
        }

    def _probability(self, picture: Tensor, given: Given) -> Tensor:
        return torch.sigmoid(self.discriminator(picture, given.tokens).float())

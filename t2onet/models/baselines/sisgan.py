"""SISGAN: Semantic Image Synthesis via Adversarial Learning (Dong, Yu, Wu and Guo, ICCV 2017).

An encoder reduces the photo to a quarter of its size, the request's code is concatenated at every place,
residual blocks transform the features and a decoder makes the picture; the discriminator sees a picture and
the request, not the photo. The paper encodes the request by a GRU pretrained to match captions and offers VGG
features for the photo; here generator and discriminator train a `GRUTextEncoder` each, and the encoder is the
paper's plain one. Pairs of photos and wrong captions are left out.

Bilinear GAN (Bilinear Representation for Language-based Image Editing, Mao et al., ICASSP 2019) is SISGAN but
for its conditioning: every residual block starts with a bilinear residual layer, which learns low-rank
products of photo and request features. Its adversarial loss is least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, relu

from ..decoding import RequestBatch
from ..text import GRUTextEncoder
from .common import (
    LEAK,
    BaselineGAN,
    ConditioningAugmentation,
    GeneratorOutput,
    PictureGenerator,
    ResidualBlock,
    concatenate_code,
    conv_norm,
    conv_norm_relu,
    gan_cross_entropy,
    init_dcgan_weights,
    pad_to_side,
    upsample_conv,
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


class SISGANGenerator(PictureGenerator):
    multiple = 4

    def __init__(self, config: SISGANConfig, words: int) -> None:
        super().__init__()
        width, deep = config.width, 4 * config.width
        self.encoder = build_encoder(width)
        blocks = (RectifiedResidualBlock(deep) for _ in range(config.blocks))
        self.change = nn.Sequential(conv_norm_relu(deep + config.code, deep), *blocks)
        self.decoder = build_decoder(width)
        self.cloud = ConditioningAugmentation(config.hidden, config.code)
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        init_dcgan_weights(self)

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        code, divergence = self.cloud(self.sentence(tokens).whole)
        changed = self.change(concatenate_code(code, self.encoder(image)))
        return GeneratorOutput((self.decoder(changed),), {"divergence": divergence})


class SISGANDiscriminator(nn.Module):
    """A picture (B, 3, H, W) in [0, 1] and the request -> logits (B, 1, h, w)."""

    def __init__(self, config: SISGANConfig, words: int) -> None:
        super().__init__()
        narrow, deep = config.width // 2, 4 * config.width
        self.encoder = nn.Sequential(
            nn.Conv2d(3, narrow, 4, 2, 1),
            nn.LeakyReLU(LEAK),
            conv_norm_relu(narrow, 2 * narrow, 4, 2, leak=LEAK),
            conv_norm_relu(2 * narrow, 4 * narrow, 4, 2, leak=LEAK),
            *conv_norm(4 * narrow, deep, 4, 2),
        )
        self.around = nn.Sequential(
            conv_norm_relu(deep, 2 * narrow, 1, leak=LEAK),
            conv_norm_relu(2 * narrow, 2 * narrow, leak=LEAK),
            *conv_norm(2 * narrow, deep),
        )
        self.told = nn.Sequential(nn.Linear(config.hidden, config.code), nn.LeakyReLU(LEAK))
        self.joint = conv_norm_relu(deep + config.code, deep, 1, leak=LEAK)
        self.out = nn.Conv2d(deep, 1, 4)
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        init_dcgan_weights(self)

    def forward(self, picture: Tensor, tokens: Tensor) -> Tensor:
        features = self.encoder(2 * picture - 1)
        features = leaky_relu(features + self.around(features), LEAK)
        joint = self.joint(concatenate_code(self.told(self.sentence(tokens).whole), features))
        logits: Tensor = self.out(pad_to_side(joint, 4))
        return logits


class SISGAN(BaselineGAN):
    """Cross-entropy."""

    def __init__(self, config: SISGANConfig, words: int) -> None:
        self.generator = SISGANGenerator(config, words)
        self.discriminator = SISGANDiscriminator(config, words)

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {"adversarial": gan_cross_entropy(self.discriminator(pictures[-1], requests.tokens), True)}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        return {
            "real": gan_cross_entropy(self.discriminator(target, requests.tokens), True),
            "fake": gan_cross_entropy(self.discriminator(pictures[-1], requests.tokens), False),
        }


class RectifiedResidualBlock(ResidualBlock):
    """A residual block with a ReLU after the sum."""

    def forward(self, x: Tensor) -> Tensor:
        return relu(super().forward(x))


def build_encoder(width: int) -> nn.Sequential:
    """(B, 3, H, W) -> (B, 4 width, H / 4, W / 4)."""
    first = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU())
    return nn.Sequential(
        first, conv_norm_relu(width, 2 * width, 4, 2), conv_norm_relu(2 * width, 4 * width, 4, 2)
    )


def build_decoder(width: int) -> nn.Sequential:
    """(B, 4 width, H / 4, W / 4) -> (B, 3, H, W) in [-1, 1]."""
    last = nn.Conv2d(width, 3, 3, padding=1)
    return nn.Sequential(
        upsample_conv(4 * width, 2 * width), upsample_conv(2 * width, width), last, nn.Tanh()
    )


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

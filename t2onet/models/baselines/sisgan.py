"""SISGAN: Semantic Image Synthesis via Adversarial Learning (Dong, Yu, Wu and Guo, ICCV 2017).

An encoder reduces the photo to a quarter of its size, the request's code is concatenated at every place,
residual blocks transform the features and a decoder makes the picture; the discriminator sees a picture and
the request, not the photo. The paper encodes the request by a GRU pretrained to match captions and offers VGG
features for the photo; here generator and discriminator train a `GRUTextEncoder` each, and the encoder is the
paper's plain one. Pairs of photos and wrong captions are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

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

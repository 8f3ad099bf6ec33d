"""Pix2pixAug: pix2pix (Isola et al., CVPR 2017) with language, as in Wang, Williams and Kang (2018).

A U-Net with the request concatenated to its bottleneck, and a discriminator of 70 x 70 patches that sees the
photo, the picture and the request. The U-Net halves photos six times, not seven, so that 128 x 128 leaves 2 x
2 places; the discriminator is `Discriminator` at one scale, which has no batch norm. Dropout is off in
evaluation, where pix2pix keeps it on.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..decoding import RequestBatch
from ..discriminator import Discriminator, DiscriminatorConfig
from ..text import GRUTextEncoder
from .common import (
    LEAK,
    BaselineGAN,
    GeneratorOutput,
    PictureGenerator,
    concatenate_code,
    gan_cross_entropy,
    init_dcgan_weights,
)

_DROPOUT_LAYERS = 3
"""Layers of the decoder, from the bottleneck, with dropout."""


@dataclass(frozen=True)
class Pix2pixAugConfig:
    """Sizes of pix2pix."""

    word_size: int = 300
    hidden: int = 256
    width: int = 64
    """Channels at half the size; up to eight times as many at smaller sizes."""
    depth: int = 6
    """How many times the photo is halved."""


class Pix2pixAugGenerator(PictureGenerator):
    def __init__(self, config: Pix2pixAugConfig, words: int) -> None:
        super().__init__()
        self.multiple = 2**config.depth
        widths = [config.width * min(2**k, 8) for k in range(config.depth)]
        self.down = nn.ModuleList(
            _down_layer(a, b, first=k == 0, last=k == config.depth - 1)
            for k, (a, b) in enumerate(zip((3, *widths), widths, strict=False))
        )
        inputs = [2 * width for width in widths]
        inputs[-1] = widths[-1] + config.hidden
        self.up = nn.ModuleList(
            _up_layer(
                inputs[k], widths[k - 1] if k else 3, last=not k, drop=k > config.depth - 1 - _DROPOUT_LAYERS
            )
            for k in reversed(range(config.depth))
        )
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        init_dcgan_weights(self)

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        features, skips = image, []
        for layer in self.down:
            features = layer(features)
            skips.append(features)
        features = self.up[0](concatenate_code(self.sentence(tokens).whole, skips.pop()))
        for layer, skip in zip(self.up[1:], reversed(skips), strict=True):
            features = layer(torch.cat([features, skip], 1))
        return GeneratorOutput((features,), {})


class Pix2pixAug(BaselineGAN):
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

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        (logits,) = self.discriminator(requests.image, pictures[-1], requests.tokens)
        return {"adversarial": gan_cross_entropy(logits, True)}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        (real,) = self.discriminator(requests.image, target, requests.tokens)
        (fake,) = self.discriminator(requests.image, pictures[-1], requests.tokens)
        return {"real": gan_cross_entropy(real, True) / 2, "fake": gan_cross_entropy(fake, False) / 2}


def _down_layer(channels_in: int, channels_out: int, *, first: bool, last: bool) -> nn.Sequential:
    """No batch norm at the first layer and at the bottleneck."""
    bare = first or last
    layer = nn.Conv2d(channels_in, channels_out, 4, 2, 1, bias=bare)
    before = [] if first else [nn.LeakyReLU(LEAK)]
    return nn.Sequential(*before, layer, *([] if bare else [nn.BatchNorm2d(channels_out)]))


def _up_layer(channels_in: int, channels_out: int, *, last: bool, drop: bool) -> nn.Sequential:
    layer = nn.ConvTranspose2d(channels_in, channels_out, 4, 2, 1, bias=last)
    after: list[nn.Module] = [nn.Tanh()] if last else [nn.BatchNorm2d(channels_out)]
    return nn.Sequential(nn.ReLU(), layer, *after, *([nn.Dropout(0.5)] if drop and not last else []))

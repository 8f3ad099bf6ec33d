"""What the GAN baselines share: their base classes, layers and losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, interpolate, pad

from ..decoding import RequestBatch

LEAK = 0.2
"""Slope of the leaky ReLUs."""


class GeneratorOutput(NamedTuple):
    """What a generator makes in training."""

    pictures: tuple[Tensor, ...]
    """(B, 3, h, w) in [0, 1], the finished one last; intermediate ones may be smaller."""
    penalties: dict[str, Tensor]
    """Terms that its paper adds to the generator's loss."""


class PictureGenerator(nn.Module, ABC):
    """A generator: image (B, 3, H, W) in [0, 1] and word ids (B, L) -> the edited photo, of the same shape.

    It is random in training only; in evaluation mode noise is replaced by its mean.
    """

    multiple: int
    """Photos are padded with their last pixels to sides divisible by this, and cropped afterwards."""

    def forward(self, image: Tensor, tokens: Tensor) -> Tensor:
        return self.generate(image, tokens).pictures[-1]

    def generate(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        """Pictures of all stages in [0, 1], and penalties."""
        height, width = image.shape[-2:]
        padding = (0, -width % self.multiple, 0, -height % self.multiple)
        padded = pad(2 * image - 1, padding, mode="replicate")
        output = self.paint(padded, tokens)
        pictures = []
        for picture in output.pictures:
            scale = padded.shape[-1] // picture.shape[-1]
            cropped = picture[..., : height // scale, : width // scale]
            pictures.append((cropped.float() + 1) / 2)
        return GeneratorOutput(tuple(pictures), output.penalties)

    @abstractmethod
    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        """The same for photos in [-1, 1] with divisible sides, without padding."""


class Adversary(ABC):
    """A discriminator and both adversarial losses."""

    discriminator: nn.Module
    pace: float = 1.0
    """Learning rate of the discriminator, as a multiple of the generator's."""

    @abstractmethod
    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """The generator's loss for pictures that the discriminator recognizes as generated."""

    @abstractmethod
    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        """The discriminator's loss for confusing targets with pictures."""


class BaselineGAN(Adversary):
    """A generator, its discriminator, and the adversarial losses of both; L1 is added by the task."""

    generator: PictureGenerator


def resize_like(photo: Tensor, like: Tensor) -> Tensor:
    """The photo at the size of `like`, by averaging areas."""
    if photo.shape == like.shape:
        return photo
    return interpolate(photo, like.shape[-2:], mode="area")


def conv_norm(channels_in: int, channels_out: int, size: int = 3, stride: int = 1) -> list[nn.Module]:
    """Convolution and batch norm, at the same size; at half the size with size 4 and stride 2."""
    layer = nn.Conv2d(channels_in, channels_out, size, stride, (size - 1) // 2, bias=False)
    return [layer, nn.BatchNorm2d(channels_out)]


def conv_norm_relu(
    channels_in: int, channels_out: int, size: int = 3, stride: int = 1, *, leak: float = 0
) -> nn.Sequential:
    """Convolution, batch norm and (leaky) ReLU."""
    return nn.Sequential(*conv_norm(channels_in, channels_out, size, stride), nn.LeakyReLU(leak))


def upsample_conv(channels_in: int, channels_out: int) -> nn.Sequential:
    """Nearest-neighbour upsampling by two, then a convolution."""
    return nn.Sequential(nn.Upsample(scale_factor=2), conv_norm_relu(channels_in, channels_out))


class ResidualBlock(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(conv_norm_relu(width, width), *conv_norm(width, width))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.inner(x)
        return x + changed


class ConditioningAugmentation(nn.Module):
    """Conditioning augmentation (StackGAN, Zhang et al., 2017): a request as a normal distribution of codes.

    (B, size_in) -> a sample (B, size_out), in evaluation mode the mean, and the divergence from a standard
    normal.
    """

    def __init__(self, size_in: int, size_out: int) -> None:
        super().__init__()
        self.middle = nn.Sequential(nn.Linear(size_in, size_out), nn.LeakyReLU(LEAK))
        self.log_spread = nn.Sequential(nn.Linear(size_in, size_out), nn.LeakyReLU(LEAK))

    def forward(self, request: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = self.middle(request).float(), self.log_spread(request).float()
        divergence = (((2 * log_std).exp() + mean**2 - 1) / 2 - log_std).mean()
        code = mean + log_std.exp() * torch.randn_like(mean) if self.training else mean
        return code, divergence


def concatenate_code(code: Tensor, features: Tensor) -> Tensor:
    """Features (B, C, h, w), and the same code (B, D) at every place -> (B, C + D, h, w)."""
    repeated = code[..., None, None].expand(-1, -1, *features.shape[-2:])
    return torch.cat([features, repeated.to(features.dtype)], 1)


def resize_seed(seed: Tensor, height: int, width: int) -> Tensor:
    """A learned map (B, C, 4, 4), the seed for photos of 128 x 128, resized for other photos."""
    if seed.shape[-2:] == (height, width):
        return seed
    return interpolate(seed, (height, width), mode="bilinear", align_corners=False)


def pad_to_side(features: Tensor, side: int) -> Tensor:
    """Features padded with their last row and column to at least `side` x `side`."""
    height, width = features.shape[-2:]
    padding = (0, max(0, side - width), 0, max(0, side - height))
    return pad(features, padding, mode="replicate") if any(padding) else features


def init_dcgan_weights(network: nn.Module) -> None:
    """Initialize as DCGAN (Radford et al., 2016): convolutions and linear layers from N(0, .02)."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
            nn.init.normal_(layer.weight, 0.0, 0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def gan_cross_entropy(logits: Tensor, real: bool) -> Tensor:
    """The original GAN's loss, as a mean."""
    target = torch.ones_like(logits) if real else torch.zeros_like(logits)
    return binary_cross_entropy_with_logits(logits, target)

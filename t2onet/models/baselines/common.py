"""Parts shared by the GAN baselines: layers, generators, and the adversarial game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, interpolate, pad

# What the GAN baselines share: generators that paint on photos of any size, and the two sides of a game.


class AdversarialBatch(NamedTuple):
    """A batch to learn from; photos (B, 3, H, W) in [0, 1]."""

    image: Tensor
    tokens: Tensor
    """(B, L) word ids, zeros after the last."""
    target: Tensor


class GeneratorOutput(NamedTuple):
    """What a generator makes."""

    pictures: tuple[Tensor, ...]
    """(B, 3, h, w) in [0, 1], the finished one last; those on the way to it may be smaller."""
    penalties: dict[str, Tensor]
    """What its paper adds to its loss for the way it was made."""


class PictureGenerator(nn.Module, ABC):
    """A generator: `painter(image, tokens)` is the edited photo, (B, 3, H, W) in [0, 1] like the image.

    Chance has a part in it while training only; in evaluation mode noise is at its mean.
    """

    multiple: int
    """Photos are continued, by their last pixels, to sides that this divides, and cut back afterwards."""

    def forward(self, image: Tensor, tokens: Tensor) -> Tensor:
        return self.draw(image, tokens).pictures[-1]

    def draw(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        height, width = image.shape[-2:]
        frame = (0, -width % self.multiple, 0, -height % self.multiple)
        whole = pad(2 * image - 1, frame, mode="replicate")
        painted = self.paint(whole, tokens)
        pictures = []
        for picture in painted.pictures:
            scale = whole.shape[-1] // picture.shape[-1]
            cut = picture[..., : height // scale, : width // scale]
            pictures.append((cut.float() + 1) / 2)
        return GeneratorOutput(tuple(pictures), painted.penalties)

    @abstractmethod
    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        """The same with photos in [-1, 1] whose sides fit."""


class BaselineGAN(ABC):
    """A generator, its discriminator, and what each of them loses by; L1 is for whoever trains them."""

    generator: PictureGenerator
    discriminator: nn.Module
    pace: float = 1.0
    """How fast the discriminator learns, as a multiple of the generator's learning rate."""

    @abstractmethod
    def persuade(self, given: AdversarialBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """What the generator loses by pictures that the discriminator sees through."""

    @abstractmethod
    def judge(self, given: AdversarialBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """What the discriminator loses by taking targets and pictures for each other."""


def resize_like(photo: Tensor, like: Tensor) -> Tensor:
    """The photo at the size of `like`, by the mean over areas."""
    if photo.shape == like.shape:
        return photo
    return interpolate(photo, like.shape[-2:], mode="area")


# Pieces that several of the GAN baselines are made of.

LEAK = 0.2


def conv_norm(inside: int, outside: int, size: int = 3, stride: int = 1) -> list[nn.Module]:
    """Convolution and batch norm; sides stay or, with a size of 4 and a stride of 2, are halved."""
    layer = nn.Conv2d(inside, outside, size, stride, (size - 1) // 2, bias=False)
    return [layer, nn.BatchNorm2d(outside)]


def conv_norm_relu(
    inside: int, outside: int, size: int = 3, stride: int = 1, *, leak: float = 0
) -> nn.Sequential:
    """The same, and ReLU."""
    return nn.Sequential(*conv_norm(inside, outside, size, stride), nn.LeakyReLU(leak))


def upsample_conv(inside: int, outside: int) -> nn.Sequential:
    """Sides doubled by repeating pixels, then a convolution."""
    return nn.Sequential(nn.Upsample(scale_factor=2), conv_norm_relu(inside, outside))


class ResidualBlock(nn.Module):
    """Two convolutions and the way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(conv_norm_relu(width, width), *conv_norm(width, width))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.inner(x)
        return x + changed


class ConditioningAugmentation(nn.Module):
    """Conditioning augmentation (StackGAN, Zhang et al., 2017): a request becomes a cloud around a code.

    (B, inside) -> a draw from the cloud (B, outside), its middle in evaluation mode, and the divergence of
    the cloud from a standard normal one.
    """

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.middle = nn.Sequential(nn.Linear(inside, outside), nn.LeakyReLU(LEAK))
        self.log_spread = nn.Sequential(nn.Linear(inside, outside), nn.LeakyReLU(LEAK))

    def forward(self, request: Tensor) -> tuple[Tensor, Tensor]:
        middle, log_spread = self.middle(request).float(), self.log_spread(request).float()
        divergence = (((2 * log_spread).exp() + middle**2 - 1) / 2 - log_spread).mean()
        code = middle + log_spread.exp() * torch.randn_like(middle) if self.training else middle
        return code, divergence


def concatenate_code(code: Tensor, features: Tensor) -> Tensor:
    """Features (B, C, h, w) and, at every place, the same code (B, D) -> (B, C + D, h, w)."""
    everywhere = code[..., None, None].expand(-1, -1, *features.shape[-2:])
    return torch.cat([features, everywhere.to(features.dtype)], 1)


def resize_seed(seed: Tensor, height: int, width: int) -> Tensor:
    """A learned map (B, C, 4, 4), which is what photos of 128 x 128 begin with, at another size."""
    if seed.shape[-2:] == (height, width):
        return seed
    return interpolate(seed, (height, width), mode="bilinear", align_corners=False)


def pad_to_side(features: Tensor, side: int) -> Tensor:
    """Features continued by their last row and column to no fewer than `side` of each."""
    height, width = features.shape[-2:]
    frame = (0, max(0, side - width), 0, max(0, side - height))
    return pad(features, frame, mode="replicate") if any(frame) else features


def init_dcgan_weights(network: nn.Module) -> None:
    """Begin as DCGAN (Radford et al., 2016) does: convolutions and linear layers at N(0, .02)."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
            nn.init.normal_(layer.weight, 0.0, 0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def gan_cross_entropy(logits: Tensor, real: bool) -> Tensor:
    """The original GAN's loss, a mean."""
    wanted = torch.ones_like(logits) if real else torch.zeros_like(logits)
    return binary_cross_entropy_with_logits(logits, wanted)

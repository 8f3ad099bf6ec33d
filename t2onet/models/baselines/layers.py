"""Pieces that several of the GAN baselines are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, interpolate, pad

LEAK = 0.2


def normed(inside: int, outside: int, size: int = 3, stride: int = 1) -> list[nn.Module]:
    """Convolution and batch norm; sides stay or, with a size of 4 and a stride of 2, are halved."""
    layer = nn.Conv2d(inside, outside, size, stride, (size - 1) // 2, bias=False)
    return [layer, nn.BatchNorm2d(outside)]


def convolved(inside: int, outside: int, size: int = 3, stride: int = 1, *, leak: float = 0) -> nn.Sequential:
    """The same, and ReLU."""
    return nn.Sequential(*normed(inside, outside, size, stride), nn.LeakyReLU(leak))


def doubled(inside: int, outside: int) -> nn.Sequential:
    """Sides doubled by repeating pixels, then a convolution."""
    return nn.Sequential(nn.Upsample(scale_factor=2), convolved(inside, outside))


class Residual(nn.Module):
    """Two convolutions and the way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(convolved(width, width), *normed(width, width))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.inner(x)
        return x + changed


class Augmented(nn.Module):
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


def laid_over(code: Tensor, features: Tensor) -> Tensor:
    """Features (B, C, h, w) and, at every place, the same code (B, D) -> (B, C + D, h, w)."""
    everywhere = code[..., None, None].expand(-1, -1, *features.shape[-2:])
    return torch.cat([features, everywhere.to(features.dtype)], 1)


def seed_map(seed: Tensor, height: int, width: int) -> Tensor:
    """A learned map (B, C, 4, 4), which is what photos of 128 x 128 begin with, at another size."""
    if seed.shape[-2:] == (height, width):
        return seed
    return interpolate(seed, (height, width), mode="bilinear", align_corners=False)


def at_least(features: Tensor, side: int) -> Tensor:
    """Features continued by their last row and column to no fewer than `side` of each."""
    height, width = features.shape[-2:]
    frame = (0, max(0, side - width), 0, max(0, side - height))
    return pad(features, frame, mode="replicate") if any(frame) else features


def started(network: nn.Module) -> None:
    """Begin as DCGAN (Radford et al., 2016) does: convolutions and linear layers at N(0, .02)."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
            nn.init.normal_(layer.weight, 0.0, 0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def cross_entropy(logits: Tensor, real: bool) -> Tensor:
    """The original GAN's loss, a mean."""
    wanted = torch.ones_like(logits) if real else torch.zeros_like(logits)
    return binary_cross_entropy_with_logits(logits, wanted)

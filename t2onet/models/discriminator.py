"""D(I0, I, Q): how much an edit looks like one that was asked for and made by a person.

The paper's figure of it is missing; it names pix2pixHD (Wang et al., 2018), so this is that network's patch
discriminator at two scales, on both photos side by side, with the encoded request laid over the patches. Its
instance norm is left out: it takes away the mean and the contrast of every feature, and these are what a
global edit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from .text import GRUTextEncoder


@dataclass(frozen=True)
class DiscriminatorConfig:
    """Sizes of pix2pixHD, and of what is read."""

    scales: int = 2
    """1 looks at the photos as they are; each one more halves them once again."""
    patch_width: int = 64
    """Channels of the first layer."""
    patch_layers: int = 3
    """Layers that halve the picture; three make patches of 70 x 70 pixels."""
    vector_size: int = 300
    """Of the word vectors."""
    request_size: int = 256
    told_size: int = 64
    """Channels with which the request reaches the patches."""


class Discriminator(nn.Module):
    """(before, after, word ids) -> for each scale what it thinks of every patch, (B, 1, h, w).

    Trained by least squares, 1 stands for a target and 0 for an answer.
    """

    def __init__(self, config: DiscriminatorConfig, words: int) -> None:
        super().__init__()
        self.config = config
        self.sentence = GRUTextEncoder(words, config.vector_size, config.request_size)
        self.patches = nn.ModuleList(PatchDiscriminator(config) for _ in range(config.scales))

    def forward(self, before: Tensor, after: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
        pair, request = 2 * torch.cat([before, after], 1) - 1, self.sentence(tokens).whole
        opinions = []
        for patches in self.patches:
            opinions.append(patches(pair, request))
            pair = avg_pool2d(pair, 3, 2, 1, count_include_pad=False)
        return tuple(opinions)

    def score(self, before: Tensor, after: Tensor, tokens: Tensor) -> Tensor:
        """One number in (0, 1) for each edit, (B,): above .5 for what looks more like a target.

        It rises with the mean opinion everywhere, so that planning never stands on a plateau.
        """
        opinions = [opinion.float().mean((1, 2, 3)) for opinion in self(before, after, tokens)]
        return torch.sigmoid(4 * (torch.stack(opinions).mean(0) - 0.5))


class PatchDiscriminator(nn.Module):
    """One scale: photos (B, 6, H, W) in [-1, 1] and a request (B, request_size) -> (B, 1, h, w)."""

    def __init__(self, config: DiscriminatorConfig) -> None:
        super().__init__()
        widths = [config.patch_width * min(2**k, 8) for k in range(config.patch_layers + 1)]
        *below, top = zip((6, *widths), widths, strict=False)
        self.told = nn.Sequential(nn.Linear(config.request_size, config.told_size), nn.LeakyReLU(0.2))
        self.seen = nn.Sequential(*(_layer(a, b, 2) for a, b in below))
        self.joint = _layer(top[0] + config.told_size, top[1], 1)
        self.out = nn.Conv2d(top[1], 1, 4, 1, 2)

    def forward(self, pair: Tensor, request: Tensor) -> Tensor:
        seen = self.seen(pair)
        told = self.told(request)[..., None, None].expand(-1, -1, *seen.shape[-2:])
        opinion: Tensor = self.out(self.joint(torch.cat([seen, told], 1)))
        return opinion


def _layer(inside: int, outside: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inside, outside, 4, stride, 2), nn.LeakyReLU(0.2))


def least_squares_loss(opinions: Sequence[Tensor], wanted: float) -> Tensor:
    """Mean squared distance from what is wanted, over patches, then over scales."""
    return torch.stack([((opinion.float() - wanted) ** 2).mean() for opinion in opinions]).mean()

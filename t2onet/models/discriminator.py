"""D(I0, I, Q): how much an edit looks like one that a person made for the request; also as a cost to plan by.

The paper's figure of the network is missing; the text names pix2pixHD (Wang et al., 2018), so this is that
network's patch discriminator at two scales, on both photos side by side, with the encoded request repeated
over the patches. Instance norm is left out: it removes the mean and contrast of every feature, which is what
a global edit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, avg_pool2d

from ..errors import PlanError
from ..image import Image, open_image
from ..language import Vocabulary
from .text import GRUTextEncoder

if TYPE_CHECKING:
    from ..executor import PhotoLike


@dataclass(frozen=True)
class DiscriminatorConfig:
    """Sizes of pix2pixHD, and of the text encoder."""

    scales: int = 2
    """1 sees the photos at full size; each further scale halves them again."""
    patch_width: int = 64
    """Channels of the first layer."""
    patch_layers: int = 3
    """Layers that halve the picture; three make patches of 70 x 70 pixels."""
    vector_size: int = 300
    """Size of the word vectors."""
    request_size: int = 256
    request_channels: int = 64
    """Channels of the request at each patch."""


class Discriminator(nn.Module):
    """(before, after, word ids) -> for each scale a score of every patch, (B, 1, h, w).

    Trained by least squares: 1 for a target, 0 for an answer.
    """

    def __init__(self, config: DiscriminatorConfig, words: int) -> None:
        super().__init__()
        self.config = config
        self.sentence = GRUTextEncoder(words, config.vector_size, config.request_size)
        self.patches = nn.ModuleList(PatchDiscriminator(config) for _ in range(config.scales))

    def forward(self, before: Tensor, after: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
        pair, request = 2 * torch.cat([before, after], 1) - 1, self.sentence(tokens).whole
        scores = []
        for patches in self.patches:
            scores.append(patches(pair, request))
            pair = avg_pool2d(pair, 3, 2, 1, count_include_pad=False)
        return tuple(scores)

    def score(self, before: Tensor, after: Tensor, tokens: Tensor) -> Tensor:
        """One number in (0, 1) per edit, (B,): above .5 for what looks more like a target.

        Strictly increasing in the mean patch score, so that planning never gets stuck on a plateau.
        """
        scores = [score.float().mean((1, 2, 3)) for score in self(before, after, tokens)]
        return torch.sigmoid(4 * (torch.stack(scores).mean(0) - 0.5))


class PatchDiscriminator(nn.Module):
    """One scale: photos (B, 6, H, W) in [-1, 1] and a request (B, request_size) -> (B, 1, h, w)."""

    def __init__(self, config: DiscriminatorConfig) -> None:
        super().__init__()
        widths = [config.patch_width * min(2**k, 8) for k in range(config.patch_layers + 1)]
        *lower, top = zip((6, *widths), widths, strict=False)
        self.told = nn.Sequential(nn.Linear(config.request_size, config.request_channels), nn.LeakyReLU(0.2))
        self.seen = nn.Sequential(*(_conv_layer(a, b, 2) for a, b in lower))
        self.joint = _conv_layer(top[0] + config.request_channels, top[1], 1)
        self.out = nn.Conv2d(top[1], 1, 4, 1, 2)

    def forward(self, pair: Tensor, request: Tensor) -> Tensor:
        features = self.seen(pair)
        code = self.told(request)[..., None, None].expand(-1, -1, *features.shape[-2:])
        score: Tensor = self.out(self.joint(torch.cat([features, code], 1)))
        return score


def _conv_layer(channels_in: int, channels_out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(channels_in, channels_out, 4, stride, 2), nn.LeakyReLU(0.2))


def least_squares_loss(scores: Sequence[Tensor], target: float) -> Tensor:
    """Mean squared distance from `target`, over patches, then over scales."""
    return torch.stack([((score.float() - target) ** 2).mean() for score in scores]).mean()


class DiscriminatorCost:
    """1 - D(I0, I, Q) of pictures I made from one photo for one request; a cost for `t2onet.plan`.

    Pictures (3, H, W), NumPy arrays or tensors, are averaged to `size` x `size` pixels first, the size of the
    photos in training.
    """

    def __init__(
        self,
        discriminator: Discriminator,
        vocabulary: Vocabulary,
        photo: PhotoLike,
        request: str,
        *,
        size: int = 128,
    ) -> None:
        self.discriminator = discriminator.eval().requires_grad_(False)
        self.size = size
        self._photo: Image = open_image(photo)
        self._tokens = torch.tensor([vocabulary.encode(request)])
        self._before = torch.empty(0)
        self._shape: tuple[int, ...] = ()

    def __call__(self, picture: Any, /) -> Any:
        if isinstance(picture, np.ndarray):
            return float(self(torch.from_numpy(np.array(picture, np.float32))))
        return (
            1 - self.discriminator.score(self._resized_photo(picture), self._resize(picture), self._tokens)[0]
        )

    def _resize(self, picture: Tensor) -> Tensor:
        return adaptive_avg_pool2d(picture[None], self.size)

    def _resized_photo(self, picture: Tensor) -> Tensor:
        """The photo at the size of the picture, then averaged like it; computed once per size."""
        if self._shape != picture.shape:
            from ..planning.pictures import to_working_picture

            photo = to_working_picture(self._photo, *picture.shape[1:])
            self._shape, self._before = tuple(picture.shape), self._resize(torch.from_numpy(photo))
        return self._before


def load_discriminator_cost(
    path: Path, photo: PhotoLike, request: str, *, size: int = 128
) -> DiscriminatorCost:
    """The cost by the discriminator in a file of weights."""
    from .files import load_network  # which imports this module

    loaded = load_network(path)
    if not isinstance(loaded.network, Discriminator):
        raise PlanError(
            f"{path} holds a {loaded.metadata['network']}; give the discriminator.safetensors of a run with "
            "image_loss=adversarial or both"
        )
    return DiscriminatorCost(loaded.network, loaded.vocabulary, photo, request, size=size)

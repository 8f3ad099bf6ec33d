"""GeNeVa-GAN: Tell, Draw, and Repeat (El-Nouby et al., ICCV 2019), for one turn of its dialogue.

A GRU over turns takes one step from an empty history. Its state conditions every batch norm of a residual
generator that starts from noise; features of the photo join at an eighth of its size. The discriminator
subtracts the features of the photo from those of the picture, applies self-attention and projects the state
(Miyato and Koyama, 2018); hinge loss with a zero-centred gradient penalty. The auxiliary loss of object
detection and wrong instructions are left out. Generator and discriminator have a sentence encoder each.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate, relu
from torch.nn.utils.parametrizations import spectral_norm

from ..decoding import RequestBatch
from ..text import GRUTextEncoder
from .common import BaselineGAN, ConditioningAugmentation, GeneratorOutput, PictureGenerator, resize_seed

_GRADIENT_PENALTY_WEIGHT = 1.0
"""Weight of the discriminator's squared gradient at targets."""


@dataclass(frozen=True)
class GeNeVaConfig:
    """Sizes as published, except the seed: 12 times `width` channels instead of 16."""

    word_size: int = 300
    hidden: int = 512
    state: int = 256
    noise: int = 100
    code: int = 256
    width: int = 64
    """Channels at full size."""


class DialogueState(nn.Module):
    """A request and no history -> the dialogue's state (B, state).

    One step of a GRU from zeros, (1 - update) * new; the weights for the history would have nothing to learn.
    """

    def __init__(self, config: GeNeVaConfig, words: int) -> None:
        super().__init__()
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        self.update = nn.Linear(config.hidden, config.state)
        self.new = nn.Linear(config.hidden, config.state)

    def forward(self, tokens: Tensor) -> Tensor:
        request = self.sentence(tokens).whole
        return torch.sigmoid(-self.update(request)) * torch.tanh(self.new(request))


class ConditionalBatchNorm(nn.Module):
    """Batch norm with scale and shift predicted from the state."""

    def __init__(self, width: int, state: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(width, affine=False)
        self.scale, self.shift = nn.Linear(state, width), nn.Linear(state, width)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        scale, shift = (layer(state)[..., None, None] for layer in (self.scale, self.shift))
        scaled: Tensor = self.norm(x) * (1 + scale) + shift
        return scaled


class UpBlock(nn.Module):
    """A residual block that doubles the sides."""

    def __init__(self, channels_in: int, channels_out: int, state: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(
            ConditionalBatchNorm(width, state) for width in (channels_in, channels_out)
        )
        self.first = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.around = nn.Conv2d(channels_in, channels_out, 1, bias=False)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        changed = self.first(interpolate(relu(self.norms[0](x, state)), scale_factor=2.0))
        changed = self.second(relu(self.norms[1](changed, state)))
        doubled: Tensor = changed + interpolate(self.around(x), scale_factor=2.0)
        return doubled


class DownBlock(nn.Module):
    """A residual block that halves the sides; the `first` block takes pixels and has no ReLU before it."""

    def __init__(
        self, channels_in: int, channels_out: int, *, first: bool = False, spectral: bool = False
    ) -> None:
        super().__init__()
        sizes = ((channels_in, 3), (channels_out, 3), (channels_in, 1))
        layers = (
            nn.Conv2d(width, channels_out, size, padding=size // 2, bias=False) for width, size in sizes
        )
        self.layers = nn.ModuleList(spectral_norm(layer) if spectral else layer for layer in layers)
        self.rectified = not first

    def forward(self, x: Tensor) -> Tensor:
        first, second, around = self.layers
        changed = second(relu(first(relu(x) if self.rectified else x)))
        halved: Tensor = avg_pool2d(changed, 2, ceil_mode=True) + around(avg_pool2d(x, 2, ceil_mode=True))
        return halved


class SelfAttention(nn.Module):
    """Self-attention over places (SAGAN, Zhang et al., 2019); starts as the identity."""

    def __init__(self, width: int, *, spectral: bool = False) -> None:
        super().__init__()
        layers = [nn.Conv2d(width, size, 1, bias=False) for size in (width // 8, width // 8, width)]
        self.layers = nn.ModuleList(spectral_norm(layer) if spectral else layer for layer in layers)
        self.share = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (layer(x).flatten(2) for layer in self.layers)
        weights = torch.softmax(query.transpose(1, 2) @ key, -1)
        attended: Tensor = (value @ weights.transpose(1, 2)).reshape(x.shape)
        return x + self.share * attended


class GeNeVaGenerator(PictureGenerator):
    multiple = 32

    def __init__(self, config: GeNeVaConfig, words: int) -> None:
        super().__init__()
        width, state = config.width, config.state
        self.noise, self.seed_width = config.noise, 12 * width
        self.turn = DialogueState(config, words)
        self.cloud = ConditioningAugmentation(state, config.code)
        self.seed = nn.Linear(config.noise + config.code, self.seed_width * 16)
        self.looked = nn.Sequential(
            DownBlock(3, width, first=True),
            nn.BatchNorm2d(width),
            DownBlock(width, 2 * width),
            nn.BatchNorm2d(2 * width),
            DownBlock(2 * width, 8 * width),
            nn.BatchNorm2d(8 * width),
        )
        self.imagined = nn.ModuleList(
            [UpBlock(self.seed_width, self.seed_width, state), UpBlock(self.seed_width, 8 * width, state)]
        )
        self.attention = SelfAttention(16 * width)
        self.painted = nn.ModuleList(
            UpBlock(a * width, b * width, state) for a, b in ((16, 4), (4, 2), (2, 1))
        )
        self.out = nn.Sequential(
            nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, 3, 3, padding=1), nn.Tanh()
        )

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        state = self.turn(tokens)
        code, divergence = self.cloud(state)
        noise = code.new_zeros(len(code), self.noise)
        seed = self.seed(torch.cat([noise.normal_() if self.training else noise, code], 1))
        height, width = (side // self.multiple for side in image.shape[-2:])
        features = resize_seed(seed.reshape(-1, self.seed_width, 4, 4), height, width)
        for block in self.imagined:
            features = block(features, state)
        features = self.attention(torch.cat([features, self.looked(image)], 1))
        for block in self.painted:
            features = block(features, state)
        return GeneratorOutput((self.out(features),), {"divergence": divergence})


class GeNeVaDiscriminator(nn.Module):
    """(photo, picture, word ids), photos in [0, 1] -> a score (B,)."""

    def __init__(self, config: GeNeVaConfig, words: int) -> None:
        super().__init__()
        width = config.width
        self.turn = DialogueState(config, words)
        self.looked = nn.Sequential(
            DownBlock(3, width, first=True, spectral=True),
            DownBlock(width, 2 * width, spectral=True),
            DownBlock(2 * width, 4 * width, spectral=True),
        )
        self.compared = nn.Sequential(
            SelfAttention(4 * width, spectral=True),
            DownBlock(4 * width, 8 * width, spectral=True),
            DownBlock(8 * width, 16 * width, spectral=True),
        )
        self.score = spectral_norm(nn.Linear(16 * width, 1))
        self.projected = nn.Sequential(
            nn.Linear(config.state, 16 * width), nn.ReLU(), nn.Linear(16 * width, 16 * width)
        )

    def forward(self, photo: Tensor, picture: Tensor, tokens: Tensor) -> Tensor:
        change = self.looked(2 * picture - 1) - self.looked(2 * photo - 1)
        features = relu(self.compared(change)).sum((-2, -1))
        match = (self.projected(self.turn(tokens)) * features).sum(1)
        score: Tensor = self.score(features)[:, 0] + match
        return score.float()


class GeNeVa(BaselineGAN):
    """Hinge loss; the discriminator has four times the learning rate of the generator."""

    pace = 4.0

    def __init__(self, config: GeNeVaConfig, words: int) -> None:
        self.generator = GeNeVaGenerator(config, words)
        self.discriminator = GeNeVaDiscriminator(config, words)

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {"adversarial": -self.discriminator(requests.image, pictures[-1], requests.tokens).mean()}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        target = target.detach().requires_grad_()
        real = self.discriminator(requests.image, target, requests.tokens)
        fake = self.discriminator(requests.image, pictures[-1], requests.tokens)
        (gradient,) = torch.autograd.grad(real.sum(), target, create_graph=True)
        return {
            "real": relu(1 - real).mean(),
            "fake": relu(1 + fake).mean(),
            "slope": _GRADIENT_PENALTY_WEIGHT * (gradient.float() ** 2).sum((1, 2, 3)).mean(),
        }

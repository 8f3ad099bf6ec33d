"""ManiGAN: Text-Guided Image Manipulation (Li, Qi, Lukasiewicz and Torr, CVPR 2020).

Pictures are generated from noise and the sentence in stages, here the first two of the paper's three (half
size, then full: 64 and 128 pixels, as in the paper). At each stage words attend to places and to channels,
and the photo's features enter by affine combination: a scale and a shift for every feature of the picture
(ACM). A detail correction module (DCM) generates the last picture again from fine features of the photo.
There is no skip connection for the photo's detail, which is why its pictures are blurred.

Differences: two small encoders, trained with the rest, replace Inception's features (of the stages) and VGG's
(of the correction), and the text encoder is trained with the rest instead of being pretrained by DAMSM.
Attention over channels compares places on a grid of fixed size, resized to the picture's, so that any size
works. Main module and correction are trained together. Caption matching and perceptual losses are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import glu, interpolate

from ..decoding import RequestBatch
from ..text import GRUTextEncoder, SentenceEncoding
from .common import (
    LEAK,
    BaselineGAN,
    ConditioningAugmentation,
    GeneratorOutput,
    PictureGenerator,
    concatenate_code,
    conv_norm_relu,
    gan_cross_entropy,
    pad_to_side,
    resize_like,
    resize_seed,
)


@dataclass(frozen=True)
class ManiGANConfig:
    """Sizes as published, except `grid`."""

    word_size: int = 300
    hidden: int = 256
    noise: int = 100
    code: int = 100
    width: int = 32
    """Channels of a picture's features."""
    critic_width: int = 64
    """Channels of the discriminators' first layer."""
    grid: int = 32


class GatedLinearUnit(nn.Module):
    """Half of the channels, each gated by one of the other half."""

    def forward(self, x: Tensor) -> Tensor:
        return glu(x, 1)


def gated_conv(channels_in: int, channels_out: int, *, double: bool = False) -> nn.Sequential:
    """Convolution, instance norm and gate, at twice the size if `double`."""
    before = [nn.Upsample(scale_factor=2)] if double else []
    layer = nn.Conv2d(channels_in, 2 * channels_out, 3, padding=1, bias=False)
    return nn.Sequential(*before, layer, nn.InstanceNorm2d(2 * channels_out), GatedLinearUnit())


class GatedResidualBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        last = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.inner = nn.Sequential(gated_conv(width, width), last, nn.InstanceNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        changed: Tensor = self.inner(x)
        return x + changed


class AffineCombination(nn.Module):
    """ACM: features of a picture (B, width, h, w), scaled and shifted by features of the photo."""

    def __init__(self, photo_width: int, width: int) -> None:
        super().__init__()
        inner = 4 * photo_width
        self.inner = nn.Conv2d(photo_width, inner, 3, padding=1, bias=False)
        self.scale, self.shift = (nn.Conv2d(inner, width, 3, padding=1, bias=False) for _ in range(2))

    def forward(self, x: Tensor, photo: Tensor) -> Tensor:
        features = self.inner(photo)
        combined: Tensor = x * self.scale(features) + self.shift(features)
        return combined


class WordAttention(nn.Module):
    """Features (B, width, h, w) -> these, with the words that each place and each channel attends to."""

    def __init__(self, config: ManiGANConfig) -> None:
        super().__init__()
        self.grid = config.grid
        self.words = nn.Linear(config.hidden, config.width, bias=False)
        self.places = nn.Linear(config.hidden, config.grid**2, bias=False)

    def forward(self, x: Tensor, sentence: SentenceEncoding) -> Tensor:
        words = self.words(sentence.states)
        scores = torch.einsum("bcxy,blc->bxyl", x, words).float()
        padding = ~sentence.mask[:, None, None]
        weights = torch.softmax(scores.masked_fill(padding, float("-inf")), -1).to(words.dtype)
        context = torch.einsum("bxyl,blc->bcxy", weights, words)
        return torch.cat([x, context, self._attend_by_channel(context, sentence)], 1)

    def _attend_by_channel(self, context: Tensor, sentence: SentenceEncoding) -> Tensor:
        """A mean over places, not the paper's sum, so that weights do not depend on the picture's size."""
        places = self.places(sentence.states).unflatten(-1, (self.grid, self.grid))
        maps = interpolate(places, context.shape[-2:], mode="bilinear", align_corners=False)
        scores = torch.einsum("bcxy,blxy->bcl", context, maps).float() / maps[0, 0].numel()
        weights = torch.softmax(scores.masked_fill(~sentence.mask[:, None], float("-inf")), -1)
        return torch.einsum("bcl,blxy->bcxy", weights.to(maps.dtype), maps)


class ManiGANStage(nn.Module):
    """Transforms features of a picture by words and by the photo; doubles the size if `double`."""

    def __init__(self, config: ManiGANConfig, *, double: bool) -> None:
        super().__init__()
        wide = 3 * config.width
        self.attention = WordAttention(config)
        self.affine = AffineCombination(config.width, wide)
        blocks = (GatedResidualBlock(wide) for _ in range(2))
        self.change = nn.Sequential(*blocks, gated_conv(wide, config.width, double=double))

    def forward(self, x: Tensor, sentence: SentenceEncoding, photo: Tensor) -> Tensor:
        changed: Tensor = self.change(self.affine(self.attention(x, sentence), photo))
        return changed


class PictureHead(nn.Module):
    """Features and the photo's -> a picture in [-1, 1]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.affine = AffineCombination(width, width)
        self.out = nn.Sequential(nn.Conv2d(width, 3, 3, padding=1, bias=False), nn.Tanh())

    def forward(self, x: Tensor, photo: Tensor) -> Tensor:
        picture: Tensor = self.out(self.affine(x, photo))
        return picture


class ManiGANGenerator(PictureGenerator):
    multiple = 32

    def __init__(self, config: ManiGANConfig, words: int) -> None:
        super().__init__()
        width, deep = config.width, 16 * config.width
        self.noise, self.seed_width = config.noise, deep
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        self.cloud = ConditioningAugmentation(config.hidden, config.code)
        self.regions = _photo_encoder(config.hidden, 3)
        self.overall = nn.Linear(config.hidden, config.hidden)
        self.details = _photo_encoder(config.hidden // 2, 1)
        self.seed = nn.Linear(config.noise + config.code + config.hidden, 2 * deep * 16, bias=False)
        self.seed_norm = nn.BatchNorm1d(2 * deep * 16)
        self.grown = nn.Sequential(*(gated_conv(deep >> k, deep >> (k + 1), double=True) for k in range(4)))
        self.known = nn.ModuleList(
            [
                gated_conv(config.hidden, width),
                gated_conv(width, width, double=True),
                gated_conv(config.hidden // 2, width, double=True),
            ]
        )
        self.stage, self.correction = ManiGANStage(config, double=True), ManiGANStage(config, double=False)
        self.paints = nn.ModuleList(PictureHead(width) for _ in range(3))

    def paint(self, image: Tensor, tokens: Tensor) -> GeneratorOutput:
        sentence, regions = self.sentence(tokens), self.regions(image)
        code, divergence = self.cloud(sentence.whole)
        half = self.grown(self._seed(code, self.overall(regions.mean((-2, -1))), image))
        coarse = self.known[0](interpolate(regions, half.shape[-2:]))
        fine, detail = self.known[1](coarse), self.known[2](self.details(image))
        full = self.stage(half, sentence, coarse)
        corrected = self.correction(full, sentence, detail)
        pairs = ((half, coarse), (full, fine), (corrected, detail))
        pictures = tuple(paint(*pair) for paint, pair in zip(self.paints, pairs, strict=True))
        return GeneratorOutput(pictures, {"divergence": divergence})

    def _seed(self, code: Tensor, overall: Tensor, image: Tensor) -> Tensor:
        noise = code.new_zeros(len(code), self.noise)
        inputs = torch.cat([code, noise.normal_() if self.training else noise, overall], 1)
        seed = glu(self.seed_norm(self.seed(inputs)), 1).reshape(-1, self.seed_width, 4, 4)
        return resize_seed(seed, *(side // self.multiple for side in image.shape[-2:]))


class ManiGANCritic(nn.Module):
    """A picture in [0, 1] and a request (B, hidden) -> logits without and with the request.

    `full` is for full-size pictures.
    """

    def __init__(self, config: ManiGANConfig, *, full: bool) -> None:
        super().__init__()
        width = config.critic_width
        deep = 8 * width
        first = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1, bias=False), nn.LeakyReLU(LEAK))
        below = (conv_norm_relu(width << k, width << (k + 1), 4, 2, leak=LEAK) for k in range(3))
        more = (conv_norm_relu(deep, 2 * deep, 4, 2, leak=LEAK), conv_norm_relu(2 * deep, deep, leak=LEAK))
        self.seen = nn.Sequential(first, *below, *(more if full else ()))
        self.joint = conv_norm_relu(deep + config.hidden, deep, leak=LEAK)
        self.real, self.fits = (nn.Conv2d(deep, 1, 4, 4) for _ in range(2))

    def forward(self, picture: Tensor, request: Tensor) -> tuple[Tensor, Tensor]:
        features = self.seen(2 * picture - 1)
        joint = self.joint(concatenate_code(request, features))
        return self.real(pad_to_side(features, 4)), self.fits(pad_to_side(joint, 4))


class ManiGANDiscriminator(nn.Module):
    """One critic for half-size pictures, one for full-size ones."""

    def __init__(self, config: ManiGANConfig, words: int) -> None:
        super().__init__()
        self.sentence = GRUTextEncoder(words, config.word_size, config.hidden)
        self.critics = nn.ModuleList(ManiGANCritic(config, full=full) for full in (False, True))

    def forward(self, pictures: tuple[Tensor, ...], tokens: Tensor) -> list[Tensor]:
        """The logits of all pictures, of which the first is the small one."""
        request = self.sentence(tokens).whole
        return [
            logits
            for number, picture in enumerate(pictures)
            for logits in self.critics[min(number, 1)](picture, request)
        ]


class ManiGAN(BaselineGAN):
    """Cross-entropy of pictures alone and with the request, over all stages."""

    def __init__(self, config: ManiGANConfig, words: int) -> None:
        self.generator = ManiGANGenerator(config, words)
        self.discriminator = ManiGANDiscriminator(config, words)

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        return {"adversarial": self._loss(pictures, requests.tokens, True)}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        targets = (resize_like(target, pictures[0]), target)
        return {
            "real": self._loss(targets, requests.tokens, True),
            "fake": self._loss(pictures, requests.tokens, False),
        }

    def _loss(self, pictures: tuple[Tensor, ...], tokens: Tensor, real: bool) -> Tensor:
        losses = [gan_cross_entropy(logits, real) for logits in self.discriminator(pictures, tokens)]
        return torch.stack(losses).mean()


def _photo_encoder(channels_out: int, halvings: int) -> nn.Sequential:
    """Features of the photo: (B, 3, H, W) -> (B, channels_out, H / 2^n, W / 2^n)."""
    narrow = channels_out >> halvings
    first = nn.Sequential(nn.Conv2d(3, narrow, 3, padding=1), nn.ReLU())
    down = (conv_norm_relu(narrow << k, narrow << (k + 1), 4, 2) for k in range(halvings))
    return nn.Sequential(first, *down, conv_norm_relu(channels_out, channels_out))

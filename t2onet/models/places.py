"""The place network: soft masks of sky, subject, people and so on, and whether each of them is there.

The encoder is EfficientNet-Lite0 up to its block 14, the decoder a small U-Net of separable convolutions
that gives logits at half the size of the picture.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..image import write_atomically
from ..inference import CHANNELS, STRIDE
from ..metrics.distances import load_lite0_network
from .files import WeightFormat, export_graph

_STAGES = (
    (1, 16, 3, 1, 1),
    (6, 24, 3, 2, 2),
    (6, 40, 5, 2, 2),
    (6, 80, 3, 2, 3),
    (6, 112, 5, 1, 3),
    (6, 192, 5, 2, 4),
)
"""Expansion, channels, kernel, stride and blocks of each stage of EfficientNet-Lite0 but its last."""
_STEM = 32
FROZEN = 3
"""The stem and this many blocks, which see edges and textures, keep their pretrained weights."""
_SKIPS = {0: 16, 2: 24, 4: 40, 10: 112}
"""Blocks whose outputs the decoder takes, finest first, and their channels."""
_WIDTHS = (16, 32, 64, 96, 128)
"""Channels of the decoder, finest first."""


def _pad_for(kernel: int, stride: int) -> nn.ZeroPad2d:
    """Padding as TensorFlow has it for sides that are multiples of the stride."""
    total = kernel - stride
    return nn.ZeroPad2d((total // 2, total - total // 2, total // 2, total - total // 2))


class InvertedResidual(nn.Module):
    """Expand, convolve each channel, project (Sandler et al. 2018); added to its input where shapes agree.

    Normalization is part of the weights, as in a network that is only run.
    """

    def __init__(self, before: int, expansion: int, after: int, kernel: int, stride: int) -> None:
        super().__init__()
        inner = before * expansion
        self.is_residual = stride == 1 and before == after
        self.expand: nn.Module = nn.Identity()
        if expansion != 1:
            self.expand = nn.Sequential(nn.Conv2d(before, inner, 1), nn.ReLU6())
        self.depthwise = nn.Sequential(
            _pad_for(kernel, stride), nn.Conv2d(inner, inner, kernel, stride, groups=inner), nn.ReLU6()
        )
        self.project = nn.Conv2d(inner, after, 1)

    def forward(self, states: Tensor) -> Tensor:
        result: Tensor = self.project(self.depthwise(self.expand(states)))
        return states + result if self.is_residual else result


class SeparableConvolution(nn.Sequential):
    """3x3 of each channel, then 1x1 across channels, each normalized and rectified."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__(
            nn.Conv2d(before, before, 3, padding=1, groups=before, bias=False),
            nn.BatchNorm2d(before),
            nn.ReLU(),
            nn.Conv2d(before, after, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
        )


class PlaceNetwork(nn.Module):
    """Pictures (B, 3, H, W) in sRGB from 0 to 1, sides multiples of STRIDE -> logits.

    Returns those of masks (B, CHANNELS, H/2, W/2) and of presence (B, CHANNELS).
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(_pad_for(3, 2), nn.Conv2d(3, _STEM, 3, 2), nn.ReLU6())
        self.blocks = nn.ModuleList()
        before = _STEM
        for expansion, after, kernel, stride, count in _STAGES:
            for number in range(count):
                self.blocks.append(
                    InvertedResidual(before, expansion, after, kernel, stride if number == 0 else 1)
                )
                before = after
        self.deepest = nn.Sequential(
            nn.Conv2d(before, _WIDTHS[-1], 1, bias=False), nn.BatchNorm2d(_WIDTHS[-1]), nn.ReLU()
        )
        self.context = nn.Sequential(
            nn.Linear(before, _WIDTHS[-1]), nn.ReLU(), nn.Linear(_WIDTHS[-1], _WIDTHS[-1])
        )
        self.laterals = nn.ModuleList(
            nn.Sequential(nn.Conv2d(skip, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
            for skip, width in zip(_SKIPS.values(), _WIDTHS, strict=False)
        )
        self.mixers = nn.ModuleList(
            SeparableConvolution(width + coarser, width) for width, coarser in pairwise(_WIDTHS)
        )
        self.masks = nn.Conv2d(_WIDTHS[0], len(CHANNELS), 1)
        self.dropout = nn.Dropout(0.2)
        self.presence = nn.Linear(_WIDTHS[-1] + 2 * len(CHANNELS), len(CHANNELS))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        states, *skips = self._encode(pictures)
        context = self.context(states.mean((2, 3)))
        states = functional.relu(self.deepest(states) + context[:, :, None, None])
        deepest = states.mean((2, 3))
        for skip, lateral, mixer in zip(
            reversed(skips), reversed(self.laterals), reversed(self.mixers), strict=True
        ):
            states = functional.interpolate(states, skip.shape[2:], mode="bilinear", align_corners=False)
            states = mixer(torch.cat([lateral(skip), states], 1))
        masks: Tensor = self.masks(states)
        chance = masks.detach().sigmoid()
        seen = torch.cat([self.dropout(deepest), chance.mean((2, 3)), chance.amax((2, 3))], 1)
        return masks, self.presence(seen)

    def _encode(self, pictures: Tensor) -> list[Tensor]:
        """The deepest states, then those of `_SKIPS`."""
        skips = []
        with torch.no_grad():
            states = self.stem((255 * pictures - 127) / 128)
            for number, block in enumerate(self.blocks[:FROZEN]):
                states = block(states)
                if number in _SKIPS:
                    skips.append(states)
        for number, block in enumerate(self.blocks[FROZEN:], FROZEN):
            states = block(states)
            if number in _SKIPS:
                skips.append(states)
        return [states, *skips]


def load_pretrained(network: PlaceNetwork) -> None:
    """Take over the ImageNet weights of EfficientNet-Lite0 (Apache-2.0, from a package)."""
    lite0 = load_lite0_network()
    _take_over(network.stem[1], lite0._conv_stem, lite0._bn0)
    for ours, theirs in zip(network.blocks, lite0._blocks, strict=False):
        assert isinstance(ours, InvertedResidual)
        if isinstance(ours.expand, nn.Sequential):
            _take_over(ours.expand[0], theirs._expand_conv, theirs._bn0)
        _take_over(ours.depthwise[1], theirs._depthwise_conv, theirs._bn1)
        _take_over(ours.project, theirs._project_conv, theirs._bn2)


@torch.no_grad()
def _take_over(convolution: nn.Module, source: Any, norm: Any) -> None:
    """Weights that do what `source` followed by its normalization does."""
    assert isinstance(convolution, nn.Conv2d)
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    convolution.weight.copy_(source.weight * scale[:, None, None, None])
    assert convolution.bias is not None
    convolution.bias.copy_(norm.bias - norm.running_mean * scale)


class PlaceGraph(nn.Module):
    """The network as it is exported: chances from 0 to 1, from a picture and its mirror image."""

    def __init__(self, network: PlaceNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        masks, presence = self.network(pictures)
        mirrored_masks, mirrored_presence = self.network(pictures.flip(3))
        masks, presence = masks + mirrored_masks.flip(3), presence + mirrored_presence
        return (masks / 2).sigmoid(), (presence / 2).sigmoid()


def export_places(network: PlaceNetwork, path: Path, *, stored: WeightFormat = "int8") -> None:
    """Write the network as one file that takes pictures of any size whose sides are multiples of STRIDE."""
    example = torch.rand(1, 3, 2 * STRIDE, 3 * STRIDE)
    axes = {"picture": {2: "height", 3: "width"}, "masks": {2: "mask height", 3: "mask width"}}
    graph = export_graph(
        PlaceGraph(network.eval()), (example,), ["picture"], ["masks", "presence"], axes=axes, stored=stored
    )
    write_atomically(path, graph, overwrite=True)

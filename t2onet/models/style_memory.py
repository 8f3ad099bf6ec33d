"""An expert's memory as a network: distances to remembered photos, and the tones those were given."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..editor.styles import TONE_LEVELS
from ..errors import TrainingError
from ..metrics.attributes import ATTRIBUTE_INDEX
from ..metrics.features import load_lite0_network
from .files import read_tensors, write_tensors
from .retoucher import RETOUCHER_SIDE

# An expert's memory as a network: how far a photo is from each remembered one, and what those were given.
#
# Kernel ridge regression: a photo is seen as its tones, a coarse picture, what the first blocks of
# EfficientNet-Lite0 make of it and what is wanted of it; one linear map brings these into a space in which
# the
# remembered photos lie as anchors, and each has a say that fades with its distance.

STYLE_MEMORY_KIND = "memory"
"""What a file of weights says it holds."""

BLOCK_CHANNELS = {2: 24, 4: 40, 7: 80, 10: 112}
"""Blocks of EfficientNet-Lite0 whose states are looked at, and how many channels each has."""
BLOCK_FEATURES = tuple(f"states {block}" for block in BLOCK_CHANNELS)
_COARSE_SIDE = 4
"""Fields a side of the coarse picture."""
_TONES_SIZE = (3 * TONE_LEVELS + 1) // 2
FEATURE_SIZES = {
    "tones": _TONES_SIZE,
    "shadows": _TONES_SIZE,
    "coarse": 3 * _COARSE_SIDE**2,
    **{name: 2 * count for name, count in zip(BLOCK_FEATURES, BLOCK_CHANNELS.values(), strict=True)},
    "wanted": len(ATTRIBUTE_INDEX),
}
"""How many numbers there are of each part of what is seen, in order."""
_LOG_OFFSET = 0.03
"""Added to tones before their logarithm is taken, which tells dark ones apart."""


class EfficientNetFeatures(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, all STATES): means and spreads of what the first blocks see."""

    def __init__(self) -> None:
        super().__init__()
        lite0 = load_lite0_network()
        self.stem = nn.Sequential(lite0._conv_stem, lite0._bn0, lite0._swish)
        self.blocks = nn.ModuleList(lite0._blocks[: max(BLOCK_CHANNELS) + 1])

    def forward(self, image: Tensor) -> Tensor:
        states, found = self.stem((255 * image - 127) / 128), []
        for number, block in enumerate(self.blocks):
            states = block(states)
            if number in BLOCK_CHANNELS:
                flat = states.flatten(2)
                found += [flat.mean(-1), flat.std(-1)]
        return torch.cat(found, -1)


class StyleMemoryNetwork(nn.Module):
    """Pictures (B, 3, SIDE, SIDE) and what is wanted (B, 6) -> tones (B, 3, LEVELS) they would be given."""

    centre: Tensor
    map: Tensor
    anchors: Tensor
    lengths: Tensor
    answers: Tensor
    middle: Tensor

    def __init__(self, anchors: int, size: int) -> None:
        super().__init__()
        self.eyes = EfficientNetFeatures()
        seen = sum(FEATURE_SIZES.values())
        for name, shape in {
            "centre": (seen,),
            "map": (seen, size),
            "anchors": (anchors, size),
            "lengths": (anchors,),
            "answers": (anchors, 3 * TONE_LEVELS),
            "middle": (3 * TONE_LEVELS,),
        }.items():
            self.register_buffer(name, torch.zeros(shape))

    def forward(self, image: Tensor, wanted: Tensor) -> Tensor:
        now = channel_quantiles(image)
        place = (self.seen(image, wanted) - self.centre) @ self.map
        along = functional.linear(place, self.anchors)
        apart = (place**2).sum(-1, keepdim=True) + self.lengths - 2 * along
        change = self.middle + torch.exp(-apart.clamp(min=0)) @ self.answers
        given: Tensor = now + change.reshape(-1, 3, TONE_LEVELS)
        return given

    def seen(self, image: Tensor, wanted: Tensor) -> Tensor:
        """(B, sum of PARTS): the parts beside each other."""
        coarse = functional.avg_pool2d(image, RETOUCHER_SIDE // _COARSE_SIDE).flatten(1)
        few = channel_quantiles(image).flatten(1)[:, ::2]
        return torch.cat([few, torch.log(few + _LOG_OFFSET), coarse, self.eyes(image), wanted], -1)


def channel_quantiles(image: Tensor) -> Tensor:
    """(B, 3, H, W) -> (B, 3, LEVELS): each channel from dark to light."""
    ordered = image.flatten(2).sort(-1).values
    places = torch.linspace(0, ordered.shape[-1] - 1, TONE_LEVELS, dtype=torch.float64)
    below = places.floor().long()
    above = places.ceil().long()
    return torch.lerp(ordered[..., below], ordered[..., above], (places - below).to(image.dtype))


def feature_slices() -> dict[str, slice]:
    """Where each part of what is seen lies."""
    ends = [0]
    for count in FEATURE_SIZES.values():
        ends.append(ends[-1] + count)
    return dict(zip(FEATURE_SIZES, (slice(*pair) for pair in pairwise(ends)), strict=True))


def save_style_memory(
    path: Path, memory: StyleMemoryNetwork, metadata: Mapping[str, str], *, overwrite: bool = False
) -> None:
    """To a file of weights that `load_memory` opens."""
    write_tensors(path, memory.state_dict(), {"network": STYLE_MEMORY_KIND, **metadata}, overwrite=overwrite)


def load_style_memory(path: Path) -> StyleMemoryNetwork:
    """The memory of a file that `t2o remember` wrote."""
    tensors, metadata = read_tensors(path)
    if metadata.get("network") != STYLE_MEMORY_KIND:
        raise TrainingError(f"{path} holds no memory; make one by t2o remember DATASET -o {path.name}")
    memory = StyleMemoryNetwork(*tensors["anchors"].shape)
    memory.load_state_dict(tensors)
    return memory.eval()

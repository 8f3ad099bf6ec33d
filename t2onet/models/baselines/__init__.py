"""The GANs that the paper compares with, each after its own paper, adapted as T2ONet's says.

Each is trained on pairs, with L1 between picture and target and without caption matching. Where a paper uses
pretrained networks (VGG, Inception, text encoders), these are trained from scratch; the module says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .common import Adversary, BaselineGAN, GeneratorOutput, PictureGenerator, resize_like
from .geneva import GeNeVa, GeNeVaConfig, GeNeVaGenerator
from .manigan import ManiGAN, ManiGANConfig, ManiGANGenerator
from .pix2pixaug import Pix2pixAug, Pix2pixAugConfig, Pix2pixAugGenerator
from .sisgan import SISGAN, BilinearConfig, BilinearGAN, BilinearGenerator, SISGANConfig, SISGANGenerator
from .tagan import TAGAN, TAGANConfig, TAGANGenerator


@dataclass(frozen=True)
class Baseline:
    """`gan(config, words)` makes generator and discriminator for a vocabulary of `words` words."""

    title: str
    config: type[Any]
    gan: Callable[[Any, int], BaselineGAN]
    generator: Callable[[Any, int], PictureGenerator]


BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {
        "pix2pixaug": Baseline("Pix2pixAug", Pix2pixAugConfig, Pix2pixAug, Pix2pixAugGenerator),
        "geneva": Baseline("GeNeVa", GeNeVaConfig, GeNeVa, GeNeVaGenerator),
        "sisgan": Baseline("SISGAN", SISGANConfig, SISGAN, SISGANGenerator),
        "tagan": Baseline("TAGAN", TAGANConfig, TAGAN, TAGANGenerator),
        "bilinear": Baseline("Bilinear GAN", BilinearConfig, BilinearGAN, BilinearGenerator),
        "manigan": Baseline("ManiGAN", ManiGANConfig, ManiGAN, ManiGANGenerator),
    }
)
"""By the name of their training config."""

__all__ = [
    "BASELINES",
    "Adversary",
    "Baseline",
    "BaselineGAN",
    "GeneratorOutput",
    "PictureGenerator",
    "resize_like",
]

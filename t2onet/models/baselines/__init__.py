"""GANs that the paper compares with, each as its own paper has it, adapted as T2ONet's says.

Each is trained on pairs: L1 between picture and target, no matching of captions. What a paper takes from
networks trained elsewhere (VGG, Inception, text encoders) is learned from nothing; its module says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .bilinear import BilinearConfig, BilinearGAN, BilinearGenerator
from .common import AdversarialBatch, BaselineGAN, GeneratorOutput, PictureGenerator, resize_like
from .geneva import GeNeVa, GeNeVaConfig, GeNeVaGenerator
from .manigan import ManiGAN, ManiGANConfig, ManiGANGenerator
from .pix2pixaug import Pix2pixAug, Pix2pixAugConfig, Pix2pixAugGenerator
from .sisgan import SISGAN, SISGANConfig, SISGANGenerator
from .tagan import TAGAN, TAGANConfig, TAGANGenerator


@dataclass(frozen=True)
class Baseline:
    """`game(config, words)` makes both sides for a vocabulary of so many words, `generator` one of them."""

    title: str
    config: type[Any]
    game: Callable[[Any, int], BaselineGAN]
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
"""By the names they are trained by."""

__all__ = [
    "BASELINES",
    "AdversarialBatch",
    "Baseline",
    "BaselineGAN",
    "GeneratorOutput",
    "PictureGenerator",
    "resize_like",
]

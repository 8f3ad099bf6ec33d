"""Networks to train, decoding with them, and their files. Needs the extra `train`.

The names below are those that the documentation shows; all others are imported from their modules.
"""

from .decoding import RequestBatch, decode_steps, decode_variants
from .discriminator import load_discriminator_cost
from .files import load_network
from .t2onet import StepDecoder

__all__ = [
    "RequestBatch",
    "StepDecoder",
    "decode_steps",
    "decode_variants",
    "load_discriminator_cost",
    "load_network",
]

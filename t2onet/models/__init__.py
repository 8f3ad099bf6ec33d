"""The networks, and decoding with them: tokens and features in, steps out. Needs the extra `train`."""

from .decoding import (
    DecodedSteps,
    DecodedVariant,
    DecodingStrategy,
    GreedyDecoding,
    ParameterNoise,
    RequestBatch,
    Rollout,
    SampledDecoding,
    StepChoice,
    TeacherForcing,
    decode_steps,
    decode_variants,
    extract_steps,
)
from .discriminator import Discriminator, DiscriminatorConfig, least_squares_loss
from .discriminator_cost import DiscriminatorCost, load_discriminator_cost
from .files import LoadedNetwork, NetworkKind, describe_network, load_network
from .t2onet import ActionSpace, DecoderContext, StepDecoder, StepOutput, T2ONet, T2ONetConfig

__all__ = [
    "ActionSpace",
    "DecodedSteps",
    "DecodedVariant",
    "DecoderContext",
    "DecodingStrategy",
    "Discriminator",
    "DiscriminatorConfig",
    "DiscriminatorCost",
    "GreedyDecoding",
    "LoadedNetwork",
    "NetworkKind",
    "ParameterNoise",
    "RequestBatch",
    "Rollout",
    "SampledDecoding",
    "StepChoice",
    "StepDecoder",
    "StepOutput",
    "T2ONet",
    "T2ONetConfig",
    "TeacherForcing",
    "decode_steps",
    "decode_variants",
    "describe_network",
    "extract_steps",
    "least_squares_loss",
    "load_discriminator_cost",
    "load_network",
]

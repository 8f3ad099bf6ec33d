"""Networks to train, decoding with them, and their files. Needs the extra `train`."""

from .decoding import (
    DecodedVariant,
    DecodingStrategy,
    GreedyDecoding,
    NamedSteps,
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
from .discriminator import (
    Discriminator,
    DiscriminatorConfig,
    DiscriminatorCost,
    least_squares_loss,
    load_discriminator_cost,
)
from .files import LoadedNetwork, NetworkKind, describe_network, load_network
from .t2onet import ActionSpace, DecoderContext, StepDecoder, StepOutput, T2ONet, T2ONetConfig

__all__ = [
    "ActionSpace",
    "DecodedVariant",
    "DecoderContext",
    "DecodingStrategy",
    "Discriminator",
    "DiscriminatorConfig",
    "DiscriminatorCost",
    "GreedyDecoding",
    "LoadedNetwork",
    "NamedSteps",
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

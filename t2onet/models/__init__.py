"""The networks, and decoding with them: tokens and features in, steps out. Needs the extra `train`."""

from .actions import Actions
from .discriminator import Discriminator, DiscriminatorConfig, least_squares
from .files import Kind, Loaded, description, load_network
from .judging import DiscriminatorCost, discriminator_cost
from .network import Context, Network, StepOutput
from .paper import T2ONet, T2ONetConfig
from .rollout import Asked, Choice, Chooser, Greedy, Noise, Rollout, Sampled, Teacher, rollout
from .several import Answer, Steps, several, steps_of

__all__ = [
    "Actions",
    "Answer",
    "Asked",
    "Choice",
    "Chooser",
    "Context",
    "Discriminator",
    "DiscriminatorConfig",
    "DiscriminatorCost",
    "Greedy",
    "Kind",
    "Loaded",
    "Network",
    "Noise",
    "Rollout",
    "Sampled",
    "StepOutput",
    "Steps",
    "T2ONet",
    "T2ONetConfig",
    "Teacher",
    "description",
    "discriminator_cost",
    "least_squares",
    "load_network",
    "rollout",
    "several",
    "steps_of",
]

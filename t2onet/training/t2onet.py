"""Train T2ONet: teacher forcing on plans and free running on photos, or reinforcement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax

from ..data.packed import PackedSet
from ..data.words import WordVectors
from ..errors import DataError
from ..models import (
    ActionSpace,
    Discriminator,
    DiscriminatorConfig,
    GreedyDecoding,
    ParameterNoise,
    RequestBatch,
    Rollout,
    SampledDecoding,
    StepDecoder,
    T2ONet,
    T2ONetConfig,
    TeacherForcing,
    decode_steps,
    describe_network,
    least_squares_loss,
)
from .settings import LoopSettings
from .task import Learner, ProcessInfo
from .triplets import HELD_OUT_PAIRS, TripletBatch, TripletTask, l1_distance

# The paper's losses (Sec. 3.5, Appx. B) as means, so that they do not depend on the size of a batch.


def operation_loss(done: Rollout, planned: Tensor) -> Tensor:
    """L_o: cross-entropy of the planned operations (B, T), up to and with the end."""
    active = done.active
    return cross_entropy(done.logits[active].float(), planned[:, : active.shape[1]][active])


def parameter_loss(done: Rollout, operations: Tensor, parameters: Tensor, actions: ActionSpace) -> Tensor:
    """L_alpha: squared error of the planned operations' parameters (B, T, P), a mean over numbers."""
    steps = done.predicted.shape[1]
    belongs = actions.belongs[operations[:, :steps]]
    errors = (done.predicted - parameters[:, :steps]) ** 2
    return (errors * belongs).sum() / belongs.sum().clamp(min=1)


def image_loss(done: Rollout, target: Tensor) -> Tensor:
    """L_L1: mean absolute difference of the final photo from the target (B, 3, H, W)."""
    return attach_gradient((done.final - target).abs().mean(), done)


def attach_gradient(loss: Tensor, done: Rollout) -> Tensor:
    """A loss on the final photo as it is, with a gradient of zero where every photo was left as it came."""
    if not loss.requires_grad and torch.is_grad_enabled():
        loss = loss + 0 * done.logits.sum()
    return loss


def step_rewards(done: Rollout, target: Tensor) -> Tensor:
    """(B, T): r_1 .. r_T, by how much each step brings the photo nearer to the target (B, 3, H, W)."""
    costs = torch.stack([l1_distance(image, target) for image in done.images], 1)
    return costs[:, :-1] - costs[:, 1:]


def cumulative_returns(rewards: Tensor) -> Tensor:
    """(B, T) twice: G_1 .. G_T, each reward with all that follow it (gamma is one)."""
    return rewards.flip(1).cumsum(1).flip(1)


def reinforce_loss(done: Rollout, target: Tensor) -> Tensor:
    """REINFORCE: minus the sum over steps of G_{t+1} log pi(o_t), a mean over photos.

    pi is over what was allowed. What earlier steps made of the photo bears on later choices, so gradients
    reach parameters, too: with them the sum of this and the image loss has the gradient of the expected cost.
    """
    odds = log_softmax(done.logits.float().masked_fill(~done.allowed, float("-inf")), -1)
    taken = odds.gather(-1, done.operations[..., None])[..., 0]
    return -(cumulative_returns(step_rewards(done, target)).detach() * taken).sum(1).mean()


# What every way to train the paper's network shares: its triplets and the figures of its answers.


@dataclass(frozen=True)
class T2ONetSettings:
    """Of any of them."""

    network: T2ONetConfig = field(default_factory=T2ONetConfig)
    loop: LoopSettings = field(default_factory=LoopSettings)
    held: int = HELD_OUT_PAIRS
    """Pairs of the train split that are kept back, to choose weights by."""
    sigma_photos: int = 64
    """Photos that the variance over ten requests is measured on."""


class T2ONetTask(TripletTask):
    """T2ONet on the triplets of a packed set; `follows` says whether plans are read."""

    follows: bool

    def __init__(
        self, settings: T2ONetSettings, data: PackedSet, words: WordVectors, place: ProcessInfo
    ) -> None:
        super().__init__(settings, words, place, settings.network.word_size)
        self.network = T2ONet(settings.network, len(words.vocabulary))
        self.network.reader.load_vectors(torch.from_numpy(words.vectors))
        self.take(data, self.network.actions if self.follows else None, self.network.max_steps)

    def validate(self, network: nn.Module) -> dict[str, float]:
        """On the pairs kept back, decoding greedily: l1, ssim, sigma, steps."""
        steps: list[Tensor] = []

        def answer(asked: RequestBatch) -> Tensor:
            done = decode_steps(cast(StepDecoder, network), asked, GreedyDecoding())
            steps.append((done.operations != self.network.actions.end).sum(1).float())
            return done.final

        if figures := self.figures(answer):
            figures["steps"] = torch.cat(steps)[: len(self.held)].mean().item()
        return figures

    def metadata(self) -> Mapping[str, str]:
        return describe_network("t2onet", self.network.config, self.words.vocabulary)


# D(I0, I, Q) as an opponent: it learns to tell answers from targets, and its opinion is an image loss.


class DiscriminatorTraining:
    """Hears answers in the turn of whoever gives them, and learns from the last of them in its own."""

    def __init__(self, config: DiscriminatorConfig, words: WordVectors, pace: float) -> None:
        self.network = Discriminator(config, len(words.vocabulary))
        self.network.sentence.load_vectors(torch.from_numpy(words.vectors))
        facts = describe_network("discriminator", config, words.vocabulary)
        self.player = Learner("discriminator", self.network, self.loss, pace, facts)
        self._heard: tuple[TripletBatch, Tensor] | None = None

    def unconvinced(self, batch: TripletBatch, answers: Tensor) -> Tensor:
        """L_adv of answers (B, 3, H, W): how far they are from being taken for targets."""
        self._heard = batch, answers.detach()
        return least_squares_loss(self._opinions(batch, answers), 1.0)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Targets should be taken for what they are, and so should answers; without any it waits."""
        if self._heard is None:
            return {}
        (batch, answers), self._heard = self._heard, None
        return {
            "target_missed": least_squares_loss(self._opinions(batch, batch.target), 1.0),
            "answer_missed": least_squares_loss(self._opinions(batch, answers), 0.0),
        }

    def _opinions(self, batch: TripletBatch, photos: Tensor) -> tuple[Tensor, ...]:
        opinions: tuple[Tensor, ...] = self.network(batch.asked.image, photos, batch.asked.tokens)
        return opinions


# Training the paper's network: plans by teacher forcing and photos by free running, in turns.


@dataclass(frozen=True)
class PaperSettings(T2ONetSettings):
    """The paper's, by default: Adam at 1e-3, batches of 64, L1 on the final photo, no sampling."""

    image_loss: Literal["none", "l1", "adversarial", "both"] = "l1"
    h: float = 0.0
    """How wide parameters are sampled for the image loss: a third of h times their half-range."""
    discriminator: DiscriminatorConfig = field(default_factory=DiscriminatorConfig)
    """Of the adversarial loss; it reads the same word vectors as the network."""
    discriminator_pace: float = 0.2
    """Its learning rate, as a multiple of the network's."""


class PaperTask(T2ONetTask):
    """T2ONet, taught by plans and by targets."""

    follows = True

    def __init__(
        self, settings: PaperSettings, data: PackedSet, words: WordVectors, place: ProcessInfo
    ) -> None:
        super().__init__(settings, data, words, place)
        self.settings = settings
        self.opponent: DiscriminatorTraining | None = None
        if settings.image_loss in ("adversarial", "both"):
            reads = replace(settings.discriminator, vector_size=settings.network.word_size)
            self.opponent = DiscriminatorTraining(reads, words, settings.discriminator_pace)
        self._planned = torch.nonzero(self.train.planned).flatten().cpu()
        if not len(self._planned):
            raise DataError("no sample of the train split has a plan to learn from; plan the dataset first")

    @property
    def others(self) -> tuple[Learner, ...]:
        return () if self.opponent is None else (self.opponent.player,)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Odd iterations follow plans, even ones go freely; without an image loss all follow plans."""
        if self.settings.image_loss == "none":
            return self.follow(self.batch(self._planned, iteration - 1, 0))
        if iteration % 2:
            return self.follow(self.batch(self._planned, iteration // 2, 0))
        return self.go_freely(self.batch(torch.arange(len(self.train)), iteration // 2 - 1, 1), generator)

    def follow(self, batch: TripletBatch) -> dict[str, Tensor]:
        """L_o and L_alpha, the plan choosing every step."""
        actions = self.network.actions
        teacher = TeacherForcing(batch.operations, batch.parameters)
        done = decode_steps(self.network, batch.asked, teacher, batch.operations.shape[1])
        return {
            "operation": operation_loss(done, batch.operations),
            "parameter": parameter_loss(done, batch.operations, batch.parameters, actions),
        }

    def go_freely(self, batch: TripletBatch, generator: torch.Generator) -> dict[str, Tensor]:
        """L_L1, L_adv or both of the final photo, the network choosing every step."""
        noise = ParameterNoise(self.network.actions, self.settings.h, generator)
        done = decode_steps(self.network, batch.asked, GreedyDecoding(noise))
        parts: dict[str, Tensor] = {}
        if self.settings.image_loss != "adversarial":
            parts["image"] = image_loss(done, batch.target)
        if self.opponent is not None:
            parts["unconvinced"] = attach_gradient(self.opponent.unconvinced(batch, done.final), done)
        return parts


# Training the paper's network by trial and reward (Appx. B): targets alone, no plans.
#
# REINFORCE teaches which operation to choose and the deterministic policy gradient its parameters, with the
# return G in place of a learned Q. By the paper's theorem the latter is the gradient of the image loss.


@dataclass(frozen=True)
class ReinforcementSettings(T2ONetSettings):
    """The paper's: episodes of five steps, none of them the end."""

    network: T2ONetConfig = field(default_factory=lambda: T2ONetConfig(max_steps=5, ends=False))
    epsilon: float = 0.05
    """Share of operations that are drawn evenly, whatever the network thinks of them."""
    h: float = 0.1
    """How wide parameters are sampled: a third of h times their half-range."""


class ReinforcementTask(T2ONetTask):
    """T2ONet, taught by what its own tries come to."""

    follows = False

    def __init__(
        self, settings: ReinforcementSettings, data: PackedSet, words: WordVectors, place: ProcessInfo
    ) -> None:
        super().__init__(settings, data, words, place)
        self.settings = settings

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        return self.episode(self.batch(torch.arange(len(self.train)), iteration - 1, 0), generator)

    def episode(self, batch: TripletBatch, generator: torch.Generator) -> dict[str, Tensor]:
        """One try at each photo: minus the gradients of J are those of `choice` and of `image` (Alg. 3)."""
        noise = ParameterNoise(self.network.actions, self.settings.h, generator)
        choose = SampledDecoding(generator, explore=self.settings.epsilon, noise=noise)
        done = decode_steps(self.network, batch.asked, choose)
        return {"choice": reinforce_loss(done, batch.target), "image": image_loss(done, batch.target)}

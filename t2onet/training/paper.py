"""The paper's tasks: T2ONet, and the GANs that it compares with.

T2ONet is trained by teacher forcing on plans and free running on photos, or by reinforcement, alone or beside
a discriminator. The paper's losses (Sec. 3.5, Appx. B) are means here, so that they do not depend on the size
of a batch. The GANs are adapted as the paper says: pairs at 128 x 128, batches of 64, L1 between picture and
target, no augmentation, no caption matching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax

from ..data.packed import PackedSet
from ..errors import DataError
from ..language.vocabulary import WordVectors
from ..models.baselines import BASELINES, Adversary, resize_like
from ..models.decoding import (
    GreedyDecoding,
    ParameterNoise,
    RequestBatch,
    Rollout,
    SampledDecoding,
    TeacherForcing,
    decode_steps,
)
from ..models.discriminator import Discriminator, DiscriminatorConfig, least_squares_loss
from ..models.files import describe_network
from ..models.t2onet import ActionSpace, StepDecoder, T2ONet, T2ONetConfig
from .task import Learner, LoopSettings, ProcessInfo
from .triplets import TripletBatch, TripletSettings, TripletTask, l1_distance, load_text_encoders

Pictures = tuple[Tensor, ...]
"""(B, 3, h, w) in [0, 1], the finished ones last."""


class AdversarialTraining:
    """Trains a discriminator on the pictures that its generator was last penalized for."""

    def __init__(
        self, adversary: Adversary, words: WordVectors, metadata: Mapping[str, str] | None = None
    ) -> None:
        self.adversary = adversary
        load_text_encoders(adversary.discriminator, words)
        self.learner = Learner("discriminator", adversary.discriminator, self.loss, adversary.pace, metadata)
        self._last: tuple[TripletBatch, Pictures] | None = None

    def generator_loss(self, batch: TripletBatch, pictures: Pictures) -> dict[str, Tensor]:
        """The generator's loss for pictures, from which the discriminator learns next."""
        self._last = batch, tuple(picture.detach() for picture in pictures)
        return self.adversary.generator_loss(batch.requests, pictures)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The discriminator's; empty, so that it skips the iteration, if the generator made no pictures."""
        if self._last is None:
            return {}
        (batch, pictures), self._last = self._last, None
        return self.adversary.discriminator_loss(batch.requests, batch.target, pictures)


@dataclass(frozen=True)
class AdversarialSettings(TripletSettings):
    """`network` is the config of a baseline, whose type says which one it is."""

    network: Any
    loop: LoopSettings = field(default_factory=lambda: LoopSettings(learning_rate=2e-4, beta1=0.5))
    l1: float = 100.0
    """Weight of the distance from the target; other losses have the weights of their papers."""


BASELINE_LOOPS: Mapping[str, LoopSettings] = {
    "geneva": LoopSettings(learning_rate=1e-4, beta1=0.0, beta2=0.9)
}
"""Loop settings of the baselines whose papers differ from the default."""


def get_baseline_settings(name: str) -> AdversarialSettings:
    """The default settings of a baseline."""
    network = BASELINES[name].config()
    if name in BASELINE_LOOPS:
        return AdversarialSettings(network, BASELINE_LOOPS[name])
    return AdversarialSettings(network)


class AdversarialTask(TripletTask):
    """A baseline on the triplets of a packed set; plans are not needed."""

    def __init__(
        self, settings: AdversarialSettings, data: PackedSet, words: WordVectors, process: ProcessInfo
    ) -> None:
        super().__init__(settings, words, process, settings.network.word_size)
        self.settings = settings
        self.name = next(
            name for name, baseline in BASELINES.items() if baseline.config is type(settings.network)
        )
        gan = BASELINES[self.name].gan(settings.network, len(words.vocabulary))
        self.network = gan.generator
        load_text_encoders(self.network, words)
        self.adversarial = AdversarialTraining(gan, words)
        self.others = (self.adversarial.learner,)
        self.load(data)

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """The generator's: distance from the target, penalties of its paper, and the adversarial loss."""
        batch = self.batch(torch.arange(len(self.train)), iteration - 1, 0)
        output = self.network.generate(batch.requests.image, batch.requests.tokens)
        errors = [(picture - resize_like(batch.target, picture)).abs().mean() for picture in output.pictures]
        distance = self.settings.l1 * torch.stack(errors).mean()
        adversarial = self.adversarial.generator_loss(batch, output.pictures)
        return {"l1": distance, **output.penalties, **adversarial}

    def validate(self, network: nn.Module) -> dict[str, float]:
        """l1, ssim and sigma on the validation pairs."""
        return self.measure(lambda requests: network(requests.image, requests.tokens))

    def metadata(self) -> Mapping[str, str]:
        return describe_network(self.name, self.settings.network, self.words.vocabulary)


def operation_loss(rollout: Rollout, planned: Tensor) -> Tensor:
    """L_o: cross-entropy of the planned operations (B, T), up to and including the end."""
    active = rollout.active
    return cross_entropy(rollout.logits[active].float(), planned[:, : active.shape[1]][active])


def parameter_loss(rollout: Rollout, operations: Tensor, parameters: Tensor, actions: ActionSpace) -> Tensor:
    """L_alpha: squared error of the planned operations' parameters (B, T, P), a mean over numbers."""
    steps = rollout.predicted.shape[1]
    mask = actions.parameter_mask[operations[:, :steps]]
    errors = (rollout.predicted - parameters[:, :steps]) ** 2
    return (errors * mask).sum() / mask.sum().clamp(min=1)


def image_loss(rollout: Rollout, target: Tensor) -> Tensor:
    """L_L1: mean absolute difference of the final photo from the target (B, 3, H, W)."""
    return attach_gradient((rollout.final - target).abs().mean(), rollout)


def attach_gradient(loss: Tensor, rollout: Rollout) -> Tensor:
    """Give a loss on the final photos a gradient of zero where no photo was changed, so that it has one."""
    if not loss.requires_grad and torch.is_grad_enabled():
        loss = loss + 0 * rollout.logits.sum()
    return loss


def step_rewards(rollout: Rollout, target: Tensor) -> Tensor:
    """(B, T): r_1 .. r_T, the decrease of the distance to the target (B, 3, H, W) by each step."""
    costs = torch.stack([l1_distance(image, target) for image in rollout.images], 1)
    return costs[:, :-1] - costs[:, 1:]


def cumulative_returns(rewards: Tensor) -> Tensor:
    """(B, T) -> (B, T): G_1 .. G_T, each the sum of a reward and all later ones (gamma is one)."""
    return rewards.flip(1).cumsum(1).flip(1)


def reinforce_loss(rollout: Rollout, target: Tensor) -> Tensor:
    """REINFORCE: minus the sum over steps of G_{t+1} log pi(o_t), a mean over photos.

    pi is over the allowed operations. Later choices depend on the photo that earlier steps made, so gradients
    reach parameters too: with them the sum of this and the image loss has the gradient of the expected cost.
    """
    odds = log_softmax(rollout.logits.float().masked_fill(~rollout.allowed, float("-inf")), -1)
    taken = odds.gather(-1, rollout.operations[..., None])[..., 0]
    return -(cumulative_returns(step_rewards(rollout, target)).detach() * taken).sum(1).mean()


@dataclass(frozen=True)
class T2ONetSettings(TripletSettings):
    """Settings of any way to train T2ONet."""

    network: T2ONetConfig = field(default_factory=T2ONetConfig)


class T2ONetTask(TripletTask):
    """T2ONet on the triplets of a packed set; `reads_plans` says whether plans are read."""

    reads_plans: bool

    def __init__(
        self, settings: T2ONetSettings, data: PackedSet, words: WordVectors, process: ProcessInfo
    ) -> None:
        super().__init__(settings, words, process, settings.network.word_size)
        self.network = T2ONet(settings.network, len(words.vocabulary))
        load_text_encoders(self.network, words)
        self.load(data, self.network.actions if self.reads_plans else None, self.network.max_steps)

    def validate(self, network: nn.Module) -> dict[str, float]:
        """l1, ssim, sigma and steps on the validation pairs, decoding greedily."""
        steps: list[Tensor] = []

        def answer(requests: RequestBatch) -> Tensor:
            rollout = decode_steps(cast(StepDecoder, network), requests, GreedyDecoding())
            steps.append((rollout.operations != self.network.actions.end).sum(1).float())
            return rollout.final

        if figures := self.measure(answer):
            figures["steps"] = torch.cat(steps)[: len(self.validation)].mean().item()
        return figures

    def metadata(self) -> Mapping[str, str]:
        return describe_network("t2onet", self.network.config, self.words.vocabulary)


@dataclass(frozen=True)
class PaperSettings(T2ONetSettings):
    """Defaults as published: Adam at 1e-3, batches of 64, L1 on the final photo, no sampling."""

    image_loss: Literal["none", "l1", "adversarial", "both"] = "l1"
    h: float = 0.0
    """Parameters are sampled for the image loss with standard deviation h / 3 times their half-range."""
    discriminator: DiscriminatorConfig = field(default_factory=DiscriminatorConfig)
    """Of the adversarial loss; its word vectors are those of the network."""
    discriminator_pace: float = 0.2
    """Its learning rate, as a multiple of the network's."""


class LeastSquaresAdversary(Adversary):
    """D(I0, I, Q), which learns to score targets 1 and answers 0; its score is an image loss."""

    def __init__(self, config: DiscriminatorConfig, words: int, pace: float) -> None:
        self.discriminator = Discriminator(config, words)
        self.pace = pace

    def generator_loss(self, requests: RequestBatch, pictures: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """L_adv of answers: their distance from being scored as targets."""
        return {"unconvinced": least_squares_loss(self._scores(requests, pictures[-1]), 1.0)}

    def discriminator_loss(
        self, requests: RequestBatch, target: Tensor, pictures: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        return {
            "target_missed": least_squares_loss(self._scores(requests, target), 1.0),
            "answer_missed": least_squares_loss(self._scores(requests, pictures[-1]), 0.0),
        }

    def _scores(self, requests: RequestBatch, pictures: Tensor) -> tuple[Tensor, ...]:
        scores: tuple[Tensor, ...] = self.discriminator(requests.image, pictures, requests.tokens)
        return scores


class PaperTask(T2ONetTask):
    """T2ONet as published: teacher forcing on plans and free running on photos, in alternation."""

    reads_plans = True

    def __init__(
        self, settings: PaperSettings, data: PackedSet, words: WordVectors, process: ProcessInfo
    ) -> None:
        super().__init__(settings, data, words, process)
        self.settings = settings
        self.adversarial: AdversarialTraining | None = None
        self.others: tuple[Learner, ...] = ()
        if settings.image_loss in ("adversarial", "both"):
            config = replace(settings.discriminator, vector_size=settings.network.word_size)
            adversary = LeastSquaresAdversary(config, len(words.vocabulary), settings.discriminator_pace)
            metadata = describe_network("discriminator", config, words.vocabulary)
            self.adversarial = AdversarialTraining(adversary, words, metadata)
            self.others = (self.adversarial.learner,)
        self._planned = torch.nonzero(self.train.planned).flatten().cpu()
        if not len(self._planned):
            raise DataError("no sample of the train split has a plan to learn from; plan the dataset first")

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Odd iterations follow plans, even ones run freely; without an image loss all follow plans."""
        if self.settings.image_loss == "none":
            return self.plan_loss(self.batch(self._planned, iteration - 1, 0))
        if iteration % 2:
            return self.plan_loss(self.batch(self._planned, iteration // 2, 0))
        batch = self.batch(torch.arange(len(self.train)), iteration // 2 - 1, 1)
        return self.photo_loss(batch, generator)

    def plan_loss(self, batch: TripletBatch) -> dict[str, Tensor]:
        """L_o and L_alpha, with every step chosen by the plan."""
        actions = self.network.actions
        teacher = TeacherForcing(batch.operations, batch.parameters)
        rollout = decode_steps(self.network, batch.requests, teacher, batch.operations.shape[1])
        return {
            "operation": operation_loss(rollout, batch.operations),
            "parameter": parameter_loss(rollout, batch.operations, batch.parameters, actions),
        }

    def photo_loss(self, batch: TripletBatch, generator: torch.Generator) -> dict[str, Tensor]:
        """L_L1, L_adv or both of the final photo, with every step chosen by the network."""
        noise = ParameterNoise(self.network.actions, self.settings.h, generator)
        rollout = decode_steps(self.network, batch.requests, GreedyDecoding(noise))
        parts: dict[str, Tensor] = {}
        if self.settings.image_loss != "adversarial":
            parts["image"] = image_loss(rollout, batch.target)
        if self.adversarial is not None:
            adversarial = self.adversarial.generator_loss(batch, (rollout.final,))
            parts |= {name: attach_gradient(part, rollout) for name, part in adversarial.items()}
        return parts


@dataclass(frozen=True)
class ReinforcementSettings(T2ONetSettings):
    """Defaults as published: episodes of five steps, none of them the end."""

    network: T2ONetConfig = field(default_factory=lambda: T2ONetConfig(max_steps=5, ends=False))
    epsilon: float = 0.05
    """Share of operations that are drawn uniformly."""
    h: float = 0.1
    """Parameters are sampled with standard deviation h / 3 times their half-range."""


class ReinforcementTask(T2ONetTask):
    """T2ONet by reinforcement (Appx. B), from targets without plans.

    REINFORCE trains the choice of operations; the deterministic policy gradient, with the return G in place
    of a learned Q, their parameters. By the paper's theorem the latter is the gradient of the image loss.
    """

    reads_plans = False

    def __init__(
        self, settings: ReinforcementSettings, data: PackedSet, words: WordVectors, process: ProcessInfo
    ) -> None:
        super().__init__(settings, data, words, process)
        self.settings = settings

    def loss(self, iteration: int, generator: torch.Generator) -> dict[str, Tensor]:
        return self.episode_loss(self.batch(torch.arange(len(self.train)), iteration - 1, 0), generator)

    def episode_loss(self, batch: TripletBatch, generator: torch.Generator) -> dict[str, Tensor]:
        """One episode per photo: `choice` and `image` have minus the gradients of J (Alg. 3)."""
        noise = ParameterNoise(self.network.actions, self.settings.h, generator)
        choose = SampledDecoding(generator, explore=self.settings.epsilon, noise=noise)
        rollout = decode_steps(self.network, batch.requests, choose)
        return {"choice": reinforce_loss(rollout, batch.target), "image": image_loss(rollout, batch.target)}

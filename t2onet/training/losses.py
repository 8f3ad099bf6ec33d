"""The paper's losses (Sec. 3.5, Appx. B) as means, so that they do not depend on the size of a batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax

from ..models import Actions, Rollout
from .figures import distance


def operation_loss(done: Rollout, planned: Tensor) -> Tensor:
    """L_o: cross-entropy of the planned operations (B, T), up to and with the end."""
    active = done.active
    return cross_entropy(done.logits[active].float(), planned[:, : active.shape[1]][active])


def parameter_loss(done: Rollout, operations: Tensor, parameters: Tensor, actions: Actions) -> Tensor:
    """L_alpha: squared error of the planned operations' parameters (B, T, P), a mean over numbers."""
    steps = done.predicted.shape[1]
    belongs = actions.belongs[operations[:, :steps]]
    errors = (done.predicted - parameters[:, :steps]) ** 2
    return (errors * belongs).sum() / belongs.sum().clamp(min=1)


def image_loss(done: Rollout, target: Tensor) -> Tensor:
    """L_L1: mean absolute difference of the final photo from the target (B, 3, H, W)."""
    return reached((done.final - target).abs().mean(), done)


def reached(loss: Tensor, done: Rollout) -> Tensor:
    """A loss on the final photo as it is, with a gradient of zero where every photo was left as it came."""
    if not loss.requires_grad and torch.is_grad_enabled():
        loss = loss + 0 * done.logits.sum()
    return loss


def rewards(done: Rollout, target: Tensor) -> Tensor:
    """(B, T): r_1 .. r_T, by how much each step brings the photo nearer to the target (B, 3, H, W)."""
    costs = torch.stack([distance(image, target) for image in done.images], 1)
    return costs[:, :-1] - costs[:, 1:]


def returns(rewards: Tensor) -> Tensor:
    """(B, T) twice: G_1 .. G_T, each reward with all that follow it (gamma is one)."""
    return rewards.flip(1).cumsum(1).flip(1)


def choice_loss(done: Rollout, target: Tensor) -> Tensor:
    """REINFORCE: minus the sum over steps of G_{t+1} log pi(o_t), a mean over photos.

    pi is over what was allowed. What earlier steps made of the photo bears on later choices, so gradients
    reach parameters, too: with them the sum of this and the image loss has the gradient of the expected cost.
    """
    odds = log_softmax(done.logits.float().masked_fill(~done.allowed, float("-inf")), -1)
    taken = odds.gather(-1, done.operations[..., None])[..., 0]
    return -(returns(rewards(done, target)).detach() * taken).sum(1).mean()

"""The paper's losses (Sec. 3.5) as means, so that they do not depend on the batch or the length of plans."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..models import Actions, Rollout


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
    loss = (done.final - target).abs().mean()
    if not loss.requires_grad and torch.is_grad_enabled():  # every photo was left as it is
        loss = loss + 0 * done.logits.sum()
    return loss

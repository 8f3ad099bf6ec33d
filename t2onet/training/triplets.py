"""A packed set as tensors: (photo, request, target) with the plan as numbers, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.packed import PackedSample, PackedSet
from ..errors import DataError
from ..language import Vocabulary
from ..models import Actions, Asked


class Batch(NamedTuple):
    """Some triplets."""

    asked: Asked
    target: Tensor
    """(B, 3, S, S) in [0, 1]."""
    operations: Tensor
    """(B, T + 1) of the plan, filled up with the end."""
    parameters: Tensor
    """(B, T + 1, P) of the plan, defaults where there is none."""


@dataclass(frozen=True)
class Triplets:
    """Some triplets, one for each request, on a device."""

    photos: Tensor
    """(N, 3, S, S) uint8, each once."""
    before: Tensor
    after: Tensor
    tokens: Tensor
    operations: Tensor
    parameters: Tensor
    planned: Tensor
    """(E,) bool: which have a plan."""

    def __len__(self) -> int:
        return len(self.before)

    def batch(self, rows: Tensor) -> Batch:
        """The triplets with these numbers."""
        rows = rows.to(self.before.device)
        tokens = self.tokens[rows]
        before, after = (self.photos[side[rows]].float() / 255 for side in (self.before, self.after))
        asked = Asked(tokens, tokens != 0, before)
        return Batch(asked, after, self.operations[rows], self.parameters[rows])


def photos_of(data: PackedSet, device: torch.device) -> Tensor:
    """(N, 3, S, S) uint8."""
    return torch.from_numpy(np.ascontiguousarray(data.photos.transpose(0, 3, 1, 2))).to(device)


def triplets(
    data: PackedSet,
    numbers: NDArray[np.int64],
    photos: Tensor,
    *,
    vocabulary: Vocabulary,
    actions: Actions | None = None,
    max_steps: int = 0,
) -> Triplets:
    """Those of the samples with these numbers; plans are left alone where no `actions` are given.

    Plans must keep to the operations and steps that the network may use.
    """
    samples = [data.samples[number] for number in numbers]
    entries = [(sample, request) for sample in samples for request in sample.requests]
    plans = [_plan_rows(sample, actions, max_steps) for sample, _ in entries]
    columns = zip(*plans, strict=True) if plans else ([], [])
    operations, parameters = (np.array(column) for column in columns)

    def column(values: Any, kind: torch.dtype = torch.int64) -> Tensor:
        return torch.as_tensor(np.asarray(values), dtype=kind, device=photos.device)

    return Triplets(
        photos=photos,
        before=column([sample.before for sample, _ in entries]),
        after=column([sample.after for sample, _ in entries]),
        tokens=column([vocabulary.encode(request) for _, request in entries]),
        operations=column(operations),
        parameters=column(parameters, torch.float32),
        planned=column([bool(actions and sample.plan) for sample, _ in entries], torch.bool),
    )


def _plan_rows(
    sample: PackedSample, actions: Actions | None, max_steps: int
) -> tuple[list[int], list[list[float]]]:
    """Numbers of operations and rows of parameters, one more than steps so that the end always fits."""
    if actions is None:
        return [], []
    steps: Sequence[dict[str, Any]] = sample.plan["steps"] if sample.plan else []
    if len(steps) > max_steps:
        raise DataError(
            f"{sample.name}: its plan has {len(steps)} steps and the network takes at most {max_steps}; "
            "plan the dataset with that maximum"
        )
    defaults = [value for operation in actions.operations for value in operation.defaults]
    chosen = [actions.end] * (max_steps + 1)
    rows = [list(defaults) for _ in chosen]
    for at, step in enumerate(steps):
        if step["operation"] not in actions.names:
            raise DataError(
                f"{sample.name}: its plan uses {step['operation']}, and the network has "
                f"{', '.join(actions.names)}; plan the dataset with these operations"
            )
        number = actions.names.index(step["operation"])
        operation = actions.operations[number]
        chosen[at] = number
        rows[at][actions.places[number]] = operation.canonical(operation.check(step["parameters"]))
    return chosen, rows

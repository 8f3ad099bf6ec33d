"""The shipped network: what it says, within which limits, and that it can learn."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from t2onet.models.retoucher import OPERATION_ORDER, Retoucher, RetoucherRuntime, decode_recipes
from tests.models.made_retoucher import network, question


def test_parameters_stay_in_their_ranges_and_begin_at_the_defaults() -> None:
    heads = network().heads
    for number, operation in enumerate(network().order):
        at = torch.tensor([number])
        for free in (-1e6, 0.0, 1e6):
            values = heads.to_parameters(torch.full((1, heads.size), free), at)[0, : operation.size]
            assert all(
                slot.allows(round(float(v), 4)) for slot, v in zip(operation.slots, values, strict=True)
            )
        defaults = heads.to_parameters(torch.zeros(1, heads.size), at)[0, : operation.size]
        np.testing.assert_allclose(defaults, operation.defaults)


def test_every_part_learns_from_the_picture() -> None:
    learner = network().train()
    done = decode_recipes(
        learner,
        RetoucherRuntime(learner),
        question("brighter", "less red"),
        torch.ones(2, len(OPERATION_ORDER)),
    )
    (done.image.mean() + done.used.sum() + done.verdict.sum()).backward()
    silent = [name for name, p in learner.named_parameters() if p.grad is None or not p.grad.isfinite().all()]
    assert silent == []


def test_answers_do_not_depend_on_the_company() -> None:
    answering = network()
    both = decode_recipes(
        answering,
        RetoucherRuntime(answering),
        question("much brighter please", "warm"),
        torch.ones(2, len(OPERATION_ORDER)),
    )
    alone = question("much brighter please")
    asked = alone._replace(image=question("x", "y").image[:1])
    one = decode_recipes(answering, RetoucherRuntime(answering), asked, torch.ones(1, len(OPERATION_ORDER)))
    torch.testing.assert_close(both.image[:1], one.image, atol=1e-5, rtol=1e-5)


def test_what_is_not_used_changes_nothing() -> None:
    answering = network()
    asked = question("sharper", "cooler")
    assert torch.equal(
        decode_recipes(
            answering, RetoucherRuntime(answering), asked, torch.zeros(2, len(OPERATION_ORDER))
        ).image,
        asked.image,
    )


@pytest.mark.parametrize(("verdict", "changes"), [(0, True), (1, False)])
def test_what_cannot_be_answered_is_left_alone(verdict: int, changes: bool) -> None:
    answering = network()
    _lean(answering, verdict)
    asked = question("brighter")
    done = decode_recipes(answering, RetoucherRuntime(answering), asked)
    assert torch.equal(done.image, asked.image) is not changes


def _lean(answering: Retoucher, verdict: int) -> None:
    """Towards one verdict, and towards using every operation."""
    with torch.no_grad():
        answering.verdict[-1].bias[verdict] += 100.0
        answering.heads.shift[:, 0] += 100.0
        answering.heads.shift[:, 1] += 1.0


def test_mode_and_words_are_heard() -> None:
    answering = network()
    used = torch.ones(1, len(OPERATION_ORDER))
    images = [
        decode_recipes(answering, RetoucherRuntime(answering), question(text, mode=mode), used).image
        for text, mode in (("brighter", "literal"), ("brighter", "expert"), ("darker", "literal"))
    ]
    assert not torch.equal(images[0], images[1])
    assert not torch.equal(images[0], images[2])

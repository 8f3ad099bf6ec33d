"""Lessons follow from their numbers, and their pixels from the lessons."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import torch

from t2onet.data.simulation.echoes import echoes
from t2onet.data.simulation.mining import mine
from t2onet.data.simulation.strengths import edited
from t2onet.models.retoucher import RetoucherRuntime
from t2onet.training.retoucher import LossWeights, RetoucherLoss
from t2onet.training.retoucher_data import (
    EXPERT_MODE,
    LITERAL_MODE,
    BatchRenderer,
    CollatedSamples,
    ExpertSampler,
    ExpertSampling,
    LiteralSampler,
    RetoucherDataset,
    collate_samples,
    group_paraphrases,
    list_expert_pairs,
    move_to_device,
)
from tests.models.made_retoucher import SMALL, network
from tests.training.helpers import make_packed_set

SAID = ("make it brighter", "darker please", "more contrast", "warmer", "increase saturation a lot")


def lessons(seed: int = 0) -> RetoucherDataset:
    data = make_packed_set()
    train = data.split("train")
    phrases = mine([(text, None) for text in SAID])
    return RetoucherDataset(
        LiteralSampler(data.before[train], data.after[train], echoes(phrases)),
        ExpertSampler(list_expert_pairs(data, train), ExpertSampling(vague=0.5), group_paraphrases(phrases)),
        (24, 8),
        512,
        10,
        seed,
    )


def columns(lesson: CollatedSamples) -> dict[str, np.ndarray]:
    return {field.name: getattr(lesson, field.name) for field in fields(lesson)}


def test_a_lesson_follows_from_its_seed_and_number() -> None:
    first, again, other = columns(lessons()[3]), columns(lessons()[3]), columns(lessons()[4])
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name])
    assert not np.array_equal(first["strengths"], other["strengths"])


def test_simulated_items_come_first_and_real_ones_are_asked_in_both_modes() -> None:
    first = lessons()[0]
    assert not first.real[:24].any()
    assert first.real[24:].all()
    assert (first.mode[:24] == LITERAL_MODE).all()
    assert set(np.concatenate([lessons()[n].mode[24:] for n in range(4)])) == {LITERAL_MODE, EXPERT_MODE}


def test_real_items_go_from_the_photo_to_the_experts() -> None:
    data, lesson = make_packed_set(), lessons()[0]
    pairs = {(sample.before, sample.after) for sample in data.samples if sample.split == "train"}
    assert set(zip(lesson.photo[24:], lesson.target[24:], strict=True)) <= pairs
    assert lesson.spoils[24:].all()


def test_pixels_are_those_of_the_edits_row_by_row() -> None:
    data, lesson = make_packed_set(), lessons()[1]
    renderer = BatchRenderer(torch.from_numpy(data.photos).permute(0, 3, 1, 2).contiguous())
    batch = renderer.render(move_to_device(lesson, torch.device("cpu")))
    for row in range(24):
        photo = data.photos[lesson.photo[row]].transpose(2, 0, 1)[None].astype(np.float32) / 255
        photo = photo[..., ::-1] if lesson.frame[row, 3] < 0 else photo
        made = edited(np.ascontiguousarray(photo), lesson.strengths[row : row + 1])
        before, after = (made, photo) if lesson.spoils[row] else (photo, made)
        np.testing.assert_allclose(batch.requests.image[row : row + 1], before, atol=2e-3)
        np.testing.assert_allclose(batch.after[row : row + 1], after, atol=2e-3)


def test_an_input_may_lie_on_the_way_to_the_experts_picture() -> None:
    data = make_packed_set()
    pairs = list_expert_pairs(data, data.split("train"))
    chances = ExpertSampling(varied=0.0, crop=0.0, vague=0.0, between=1.0)
    items = list(ExpertSampler(pairs, chances).sample(np.random.default_rng(0), 6))
    renderer = BatchRenderer(torch.from_numpy(data.photos).permute(0, 3, 1, 2).contiguous())
    batch = renderer.render(move_to_device(collate_samples(items), torch.device("cpu")))
    for row, item in enumerate(items):
        photo, target = (
            torch.from_numpy(data.photos[at].transpose(2, 0, 1)).float() / 255
            for at in (item.photo, item.target)
        )
        expected = torch.lerp(photo, target, item.blend).clamp(0, 1)
        expected = expected.flip(-1) if item.frame[3] < 0 else expected
        torch.testing.assert_close(batch.requests.image[row], expected, atol=2e-3, rtol=0)


def test_words_may_be_left_out_of_what_an_expert_is_told() -> None:
    data = make_packed_set()
    pairs = list_expert_pairs(data, data.split("train"))
    said = {
        dropped: {
            item.text
            for item in ExpertSampler(pairs, ExpertSampling(silent=0.0, vague=0.0, dropped=dropped)).sample(
                np.random.default_rng(0), 40
            )
        }
        for dropped in (0.0, 0.5, 1.0)
    }
    assert said[1.0] == {""}
    assert max(map(len, said[0.0])) == max(map(len, said[0.5] | said[0.0]))
    assert len(said[0.5]) > len(said[0.0])


def test_what_a_literal_item_asks_for_carries_its_amount() -> None:
    data = make_packed_set()
    train = data.split("train")
    items = LiteralSampler(data.before[train], data.after[train]).sample(np.random.default_rng(0), 200)
    sizes = {round(abs(value), 2) for item in items for value in item.asked if value}
    assert len(sizes) > 20
    assert min(sizes) >= 0.4
    assert max(sizes) <= 2.0


def test_what_cannot_be_seen_does_not_count() -> None:
    data, lesson = make_packed_set(), lessons()[1]
    black = torch.zeros(len(data.photos), 3, 32, 32, dtype=torch.uint8)
    batch = BatchRenderer(black).render(move_to_device(lesson, torch.device("cpu")))
    wished = torch.from_numpy((lesson.asked != 0).any(1) & ~lesson.real)
    assert wished.any()
    assert not batch.weight[wished].any()
    assert batch.weight[torch.from_numpy(lesson.real)].all()


@pytest.mark.slow
def test_the_loss_falls_when_a_lesson_is_repeated() -> None:
    assert SMALL.verdicts == 3
    data = make_packed_set()
    learner = network().train()
    lesson = lessons()[2]
    batch = BatchRenderer(torch.from_numpy(data.photos).permute(0, 3, 1, 2).contiguous()).render(
        {
            **move_to_device(lesson, torch.device("cpu")),
            "verdict": torch.from_numpy(lesson.verdict.clip(-1, 2)),
        }
    )
    losses, optimizer = (
        RetoucherLoss(LossWeights(), RetoucherRuntime(learner)),
        torch.optim.AdamW(learner.parameters(), 1e-2),
    )
    totals = []
    for _ in range(12):
        parts = losses(learner, batch)
        total = torch.stack(list(parts.values())).sum()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        totals.append(total.item())
    assert np.isfinite(totals).all()
    assert totals[-1] < 0.8 * totals[0]

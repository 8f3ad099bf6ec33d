"""A packed set as tensors."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from t2onet import DataError
from t2onet.data.packed import PackedSet
from t2onet.language import Vocabulary
from t2onet.models.decoding import TeacherForcing, decode_steps
from t2onet.models.t2onet import ActionSpace
from t2onet.training.triplets import Triplets, build_triplets, photos_to_tensor
from tests.models.helpers import Scripted
from tests.training.helpers import REQUESTS, STEPS, make_packed_set, plan_of

VOCABULARY = Vocabulary.of(REQUESTS, minimum=1)


def make_triplets(
    data: PackedSet, names: list[str] | None = None, most: int = 6, split: str = "train"
) -> Triplets:
    photos = photos_to_tensor(data, torch.device("cpu"))
    numbers = data.split(split)
    return build_triplets(
        data, numbers, photos, vocabulary=VOCABULARY, actions=ActionSpace(names), max_steps=most
    )


def test_a_batch_holds_photos_words_and_plans() -> None:
    data = make_packed_set()
    batch = make_triplets(data).batch(torch.tensor([1, 3]))
    assert torch.equal(
        (batch.requests.image * 255).round().byte(),
        torch.from_numpy(data.photos[[2, 6]].transpose(0, 3, 1, 2)),
    )
    length = batch.requests.tokens.shape[1]
    assert batch.requests.tokens[0].tolist() == VOCABULARY.encode(REQUESTS[1], length)
    assert batch.requests.mask.sum(1).tolist() == [len(REQUESTS[1].split()) + 2, len(REQUESTS[3].split()) + 2]
    names = (*ActionSpace().names, "end")
    planned = [names[k] for k in batch.operations[1].tolist()]
    assert planned == ["contrast", "sharpness", "color", *["end"] * 4]
    brightness = ActionSpace().slices[ActionSpace().names.index("brightness")]
    assert batch.parameters[0, 0, brightness].tolist() == pytest.approx([-0.4])


def test_following_a_plan_gives_the_target() -> None:
    """Photos are kept in 8 bits, which sharpening and curves magnify a little."""
    batch = make_triplets(make_packed_set()).batch(torch.arange(8))
    done = decode_steps(
        Scripted(torch.zeros(7)), batch.requests, TeacherForcing(batch.operations, batch.parameters), 7
    )
    assert (done.final - batch.target).abs().max().item() < 4 / 255


def test_curves_are_taught_in_their_one_form() -> None:
    """Only ratios of rises matter, so the plan's are brought to a mean of one."""
    place = ActionSpace().slices[ActionSpace().names.index("tone")]
    rises = make_triplets(make_packed_set()).batch(torch.tensor([2])).parameters[0, 0, place]
    given = np.array(STEPS[2][0][1])
    assert rises.tolist() == pytest.approx((given / given.mean()).tolist())


def test_each_request_of_a_sample_counts() -> None:
    data = make_packed_set(2, 1)
    first = dataclasses.replace(data.samples[0], requests=("lift it", "brighter"))
    silent = dataclasses.replace(data.samples[1], requests=())
    found = make_triplets(dataclasses.replace(data, samples=(first, silent, *data.samples[2:])))
    assert found.before.tolist() == [0, 0]
    assert len(make_triplets(make_packed_set(2, 0), split="val")) == 0


def test_samples_without_a_plan_are_told_apart() -> None:
    data = make_packed_set(2, 0)
    samples = (data.samples[0], dataclasses.replace(data.samples[1], plan=None))
    assert make_triplets(dataclasses.replace(data, samples=samples)).planned.tolist() == [True, False]


def test_plans_are_left_alone_where_nobody_follows_them() -> None:
    data = make_packed_set(2, 0)
    photos = photos_to_tensor(data, torch.device("cpu"))
    found = build_triplets(data, data.split("train"), photos, vocabulary=VOCABULARY)
    assert found.planned.tolist() == [False, False]
    assert found.batch(torch.tensor([1])).operations.shape == (1, 0)


def test_plans_for_other_operations_or_more_steps_are_refused() -> None:
    with pytest.raises(DataError, match="s0: its plan uses brightness, and the network has tone, color"):
        make_triplets(make_packed_set(), ["tone", "color"])
    with pytest.raises(DataError, match="s1: its plan has 2 steps and the network allows at most 1"):
        make_triplets(make_packed_set(), most=1)
    one = dataclasses.replace(make_packed_set(1, 0).samples[0], plan=plan_of((("brightness", [9.0]),)))
    with pytest.raises(Exception, match="brightness: p is 9"):
        make_triplets(dataclasses.replace(make_packed_set(1, 0), samples=(one,)))

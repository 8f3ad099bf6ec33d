"""The paper's task: plans and photos in turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator

from t2onet import DataError, TrainingError
from t2onet.models.files import load_network
from t2onet.training import LoopSettings, ProcessInfo, TrainingRun, WordVectors
from t2onet.training.loop import SilentReporter, freeze_weights
from t2onet.training.paper import PaperSettings, PaperTask
from t2onet.training.task import apply_assignments, make_generator
from tests.training.helpers import OPPONENT, REQUESTS, SMALL, make_packed_set

CPU = ProcessInfo(torch.device("cpu"))
WORDS = WordVectors.without_vectors(REQUESTS * 2, 12)


def task_of(*changes: str, place: ProcessInfo = CPU) -> PaperTask:
    return PaperTask(apply_assignments(PaperSettings(), (*SMALL, *changes)), make_packed_set(), WORDS, place)


def test_odd_iterations_follow_plans_and_even_ones_go_freely() -> None:
    task = task_of()
    parts = [set(task.loss(at, make_generator(at))) for at in (1, 2, 3, 4)]
    assert parts == [{"operation", "parameter"}, {"image"}] * 2
    plans_only = task_of("image_loss=none")
    assert all(set(plans_only.loss(at, make_generator(at))) == {"operation", "parameter"} for at in (1, 2))


def test_an_opponent_judges_photos_that_were_made_freely_and_learns_from_them() -> None:
    task = task_of("image_loss=adversarial", *OPPONENT)
    (opponent,) = task.others
    assert set(task.loss(1, make_generator(1))) == {"operation", "parameter"}
    assert opponent.loss(1, make_generator(1)) == {}
    assert set(task.loss(2, make_generator(2))) == {"unconvinced"}
    assert set(opponent.loss(2, make_generator(2))) == {"target_missed", "answer_missed"}
    assert opponent.loss(3, make_generator(3)) == {}
    both = task_of("image_loss=both", *OPPONENT)
    assert set(both.loss(2, make_generator(2))) == {"image", "unconvinced"}
    assert task_of().others == ()


def test_the_opponents_opinion_teaches_the_network_even_where_no_photo_changed() -> None:
    task = task_of("image_loss=adversarial", *OPPONENT)
    weights = list(task.network.parameters())
    for bias in (-99.0, 99.0):  # of the end
        task.network.chooser.bias.data[task.network.actions.end] = bias
        with freeze_weights([task.others[0].network]):
            loss = task.photo_loss(task.train.batch(torch.arange(4)), make_generator(0))["unconvinced"]
        slopes = torch.autograd.grad(loss, weights, allow_unused=True)
        assert any(slope is not None and slope.any() for slope in slopes) == (bias < 0)


def test_the_opponent_is_kept_with_the_weights(tmp_path: Path) -> None:
    task = task_of("image_loss=both", *OPPONENT)
    settings = LoopSettings(iterations=2, validate_every=2)
    TrainingRun(task, settings, tmp_path, Accelerator(cpu=True), SilentReporter(), settings_json="{}").run()
    loaded = load_network(tmp_path / "discriminator.safetensors")
    assert loaded.vocabulary == WORDS.vocabulary
    batch = task.validation.batch(torch.arange(2))
    score = loaded.network.score(batch.requests.image, batch.target, batch.requests.tokens)
    assert ((score > 0) & (score < 1)).all()


def test_teacher_forcing_shows_the_photos_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the network looks at comes from the plan, whatever it would have chosen itself."""
    task = task_of("batch=8", "validation_pairs=0")
    batch = task.train.batch(torch.arange(8))
    seen: list[torch.Tensor] = []
    encode_image = task.network.encode_image

    def watched(image: torch.Tensor) -> torch.Tensor:
        seen.append(image)
        return encode_image(image)

    monkeypatch.setattr(task.network, "encode_image", watched)
    task.plan_loss(batch)
    assert len(seen) == 4  # the longest plan has three steps, and then comes the end
    assert torch.equal(seen[0], batch.requests.image)
    assert (seen[-1] - batch.target).abs().max().item() < 4 / 255


def test_losses_are_the_same_for_the_same_iteration() -> None:
    one, other = task_of("h=0.5"), task_of("h=0.5")
    for at in (1, 2):
        first, second = (task.loss(at, make_generator(7, at)) for task in (one, other))
        assert {k: v.item() for k, v in first.items()} == {k: v.item() for k, v in second.items()}


def test_processes_share_a_batch() -> None:
    whole = task_of().batch(torch.arange(4), 3, 0)
    places = [ProcessInfo(torch.device("cpu"), rank, 2) for rank in (0, 1)]
    parts = [task_of(place=place).batch(torch.arange(4), 3, 0) for place in places]
    assert torch.equal(torch.stack([part.target for part in parts], 1).flatten(0, 1), whole.target)


def test_both_losses_together_reach_every_parameter() -> None:
    task = task_of("batch=8", "validation_pairs=0")
    for at in (1, 2):
        sum(task.loss(at, make_generator(at)).values(), torch.tensor(0.0)).backward()
    silent = [name for name, p in task.network.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == []


@pytest.mark.slow
def test_validation_measures_distance_steps_and_variance() -> None:
    task = task_of()
    task.network.eval()
    with torch.no_grad():
        task.network.chooser.bias[task.network.actions.end] = 99.0
        figures = task.validate(task.network)
        assert (figures["steps"], figures["sigma"]) == (0.0, 0.0)
        batch = task.validation.batch(torch.arange(len(task.validation)))
        given = (batch.requests.image - batch.target).abs().mean().item()
        assert figures["l1"] == pytest.approx(given, abs=1e-6)
        task.network.chooser.bias[task.network.actions.end] = -99.0
        assert task.validate(task.network)["steps"] == 6.0


def test_weights_are_chosen_by_pairs_that_nothing_is_learned_from() -> None:
    """Of ten pairs of train and two of val, three are kept back and seven learned from."""
    data = make_packed_set(10, 2)
    task = PaperTask(apply_assignments(PaperSettings(), (*SMALL, "validation_pairs=3")), data, WORDS, CPU)
    learned, held = (set(side.before.tolist()) for side in (task.train, task.validation))
    assert (len(learned), len(held)) == (7, 3)
    assert learned | held == set(data.before[data.split("train")].tolist())
    other = PaperTask(
        apply_assignments(PaperSettings(), (*SMALL, "validation_pairs=3", "seed=1")), data, WORDS, CPU
    )
    assert set(other.validation.before.tolist()) != held
    assert task_of("validation_pairs=0").validate(task.network) == {}


def test_what_cannot_be_trained_is_refused() -> None:
    with pytest.raises(DataError, match="no sample of the train split has a plan"):
        PaperTask(apply_assignments(PaperSettings(), SMALL), make_packed_set(plans=False), WORDS, CPU)
    data = make_packed_set()
    silent = replace(data, samples=tuple(replace(sample, requests=()) for sample in data.samples))
    with pytest.raises(DataError, match="no pair of the train split has a request"):
        PaperTask(apply_assignments(PaperSettings(), SMALL), silent, WORDS, CPU)
    with pytest.raises(DataError, match="fewer than two pairs"):
        PaperTask(apply_assignments(PaperSettings(), SMALL), make_packed_set(1), WORDS, CPU)
    with pytest.raises(TrainingError, match="word vectors have 12 numbers; set word_size=12"):
        PaperTask(PaperSettings(), make_packed_set(), WORDS, CPU)


@pytest.mark.slow
def test_losses_go_down_on_eight_samples(tmp_path: Path) -> None:
    task = task_of("batch=8", "validation_pairs=0", "hidden=64", "learning_rate=0.003")
    batch = task.train.batch(torch.arange(8))

    def measured() -> dict[str, float]:
        torch.manual_seed(0)
        with torch.no_grad():
            parts = {**task.plan_loss(batch), **task.photo_loss(batch, make_generator(0))}
        return {name: part.item() for name, part in parts.items()}

    before = measured()
    settings = LoopSettings(iterations=100, validate_every=100, learning_rate=0.003)
    TrainingRun(task, settings, tmp_path, Accelerator(cpu=True), SilentReporter(), settings_json="{}").run()
    task.network.train()
    after = measured()
    assert after["operation"] < 0.3 * before["operation"]
    assert after["parameter"] < 0.5 * before["parameter"]
    assert after["image"] < 0.6 * before["image"]

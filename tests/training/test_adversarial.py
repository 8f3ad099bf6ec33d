"""The GAN baselines on one loop: two players, pairs of photos, L1 and an opinion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from t2onet import TrainingError
from t2onet.data.records import CHECKPOINT_FILE
from t2onet.models.baselines import BASELINES
from t2onet.models.files import read_tensors
from t2onet.models.text import GRUTextEncoder
from t2onet.training import LoopSettings, ProcessInfo, WordVectors
from t2onet.training.paper import AdversarialTask, get_baseline_settings
from t2onet.training.task import apply_assignments, list_learners, make_generator, setting_names
from tests.models.baselines.helpers import SMALL
from tests.training.helpers import REQUESTS, make_packed_set
from tests.training.toy import make_run

CPU = ProcessInfo(torch.device("cpu"))
WORDS = WordVectors.without_vectors(REQUESTS * 2, 12)
NAMES = list(BASELINES)


def task_of(name: str, *changes: str, words: WordVectors = WORDS) -> AdversarialTask:
    given = (*(f"{key}={value}" for key, value in SMALL[name].items()), "batch=4", "sigma_photos=2")
    settings = apply_assignments(get_baseline_settings(name), (*given, *changes))
    return AdversarialTask(settings, make_packed_set(plans=False), words, CPU)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_one_setting(name: str) -> None:
    every = list(setting_names(get_baseline_settings(name)))
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", NAMES)
def test_losses_are_the_same_for_the_same_iteration(name: str) -> None:
    found = []
    for task in (task_of(name), task_of(name)):
        torch.manual_seed(3)
        mine, theirs = (player.loss(2, make_generator(2)) for player in list_learners(task))
        assert "l1" in mine
        assert not mine.keys() & theirs.keys()
        assert task.others[0].loss(2, make_generator(2)) == {}  # it has learned from all that was shown
        found.append({key: part.item() for key, part in (mine | theirs).items()})
    assert found[0] == found[1]


def test_the_distance_is_weighed() -> None:
    parts = []
    for weight in (1, 50):
        torch.manual_seed(3)
        parts.append(task_of("sisgan", f"l1={weight}").loss(1, make_generator(1)))
    assert parts[1]["l1"].item() == pytest.approx(50 * parts[0]["l1"].item())
    assert parts[1]["adversarial"].item() == parts[0]["adversarial"].item()


def test_the_val_split_is_never_seen() -> None:
    task = task_of("sisgan", "validation_pairs=3")
    learned, held = (set(side.before.tolist()) for side in (task.train, task.validation))
    assert (len(learned), len(held), learned & held) == (5, 3, set())
    assert learned | held == {2 * number for number in range(8)}


@pytest.mark.slow
def test_validation_measures_the_answers_to_the_pairs_kept_back() -> None:
    task = task_of("sisgan")
    shown: list[torch.Tensor] = []

    class Brighter(torch.nn.Module):
        def forward(self, image: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
            shown.append(image)
            return (image + 0.1).clamp(0, 1)

    figures = task.validate(Brighter())
    batch = task.validation.batch(torch.arange(len(task.validation)))
    expected = ((batch.requests.image + 0.1).clamp(0, 1) - batch.target).abs().mean().item()
    assert figures["l1"] == pytest.approx(expected, abs=1e-6)
    assert figures["sigma"] == 0.0
    assert len(shown) == 1 + 10


def test_both_sides_begin_with_known_word_vectors() -> None:
    words = WordVectors(WORDS.vocabulary, WORDS.vectors.copy())
    words.vectors[5] = 0.25
    task = task_of("geneva", words=words)
    readers = [
        part
        for player in list_learners(task)
        for part in player.network.modules()
        if isinstance(part, GRUTextEncoder)
    ]
    assert len(readers) == 2
    assert all((reader.embedding.weight[5] == 0.25).all() for reader in readers)
    with pytest.raises(TrainingError, match="word vectors have 12 numbers; set word_size=12"):
        task_of("geneva", "word_size=300")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_trains(name: str, tmp_path: Path) -> None:
    settings = LoopSettings(iterations=2, validate_every=2, precision="bfloat16")
    task = task_of(name)
    before = [[weight.clone() for weight in player.network.parameters()] for player in list_learners(task)]
    assert 0 < make_run(tmp_path, settings, task).run().figures["l1"] < 1
    for player, old in zip(list_learners(task), before, strict=True):
        moved = [
            (weight - was).abs().max() for weight, was in zip(player.network.parameters(), old, strict=True)
        ]
        assert torch.stack(moved).isfinite().all()
        assert max(moved) > 0


@pytest.mark.slow
def test_a_resumed_game_is_the_same_to_the_bit(tmp_path: Path) -> None:
    """GeNeVa has noise, batch norms, and spectral norms whose state moves at every look."""
    settings = LoopSettings(iterations=4, validate_every=2, learning_rate=1e-3, ema=0.9)
    make_run(tmp_path / "straight", settings, task_of("geneva")).run()
    stopped = make_run(tmp_path / "twice", settings, task_of("geneva"))
    for _ in range(2):
        stopped.progress.iteration += 1
        stopped.step()
    stopped._validate()
    stopped._save()
    torch.manual_seed(12345)
    again = make_run(tmp_path / "twice", settings, task_of("geneva"))
    again.resume()
    assert again.run().progress.iteration == 4
    straight, twice = (read_tensors(tmp_path / run / CHECKPOINT_FILE)[0] for run in ("straight", "twice"))
    assert any(key.startswith("discriminator.network.") for key in straight)
    assert straight.keys() == twice.keys()
    assert all(torch.equal(straight[key], twice[key]) for key in straight)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_losses_go_down_on_eight_samples(name: str, tmp_path: Path) -> None:
    task = task_of(name, "batch=8", "validation_pairs=0")
    task.train = replace(task.train, tokens=task.train.tokens[:, :7])  # the longest request, for speed
    batch = task.train.batch(torch.arange(8))
    requests = batch.requests

    def missed() -> float:
        torch.manual_seed(0)
        with torch.no_grad():
            answers = task.network.train()(requests.image, requests.tokens)
            return (answers - batch.target).abs().mean().item()

    before = missed()
    settings = LoopSettings(iterations=40, validate_every=40, learning_rate=2e-3, beta1=0.5)
    make_run(tmp_path, settings, task).run()
    assert missed() < 0.65 * before

"""The loop: exact, resumable, and done when it should be."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from t2onet import TrainingError
from t2onet.data.records import BEST_WEIGHTS_FILE, CHECKPOINT_FILE, RUN_RECORD_FILE
from t2onet.models.files import read_tensors
from t2onet.training import Learner, LoopSettings, ProcessInfo, TrainingTask, WordVectors, loop
from t2onet.training.loop import freeze_weights
from t2onet.training.paper import PaperSettings, PaperTask
from t2onet.training.task import apply_assignments, list_learners
from tests.training.helpers import OPPONENT, REQUESTS, SMALL, make_packed_set
from tests.training.toy import Duel, Line, make_run

SETTINGS = LoopSettings(
    iterations=6, validate_every=3, learning_rate=0.05, ema=0.9, clip=1.0, schedule="cosine"
)


def weights(folder: Path) -> dict[str, Tensor]:
    return read_tensors(folder / CHECKPOINT_FILE)[0]


def same(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def paper() -> PaperTask:
    return paper_with("h=0.5")


def adversarial() -> PaperTask:
    return paper_with("image_loss=both", "h=0.5", *OPPONENT)


def paper_with(*changes: str) -> PaperTask:
    settings = apply_assignments(PaperSettings(), (*SMALL, *changes))
    return PaperTask(
        settings,
        make_packed_set(),
        WordVectors.without_vectors(REQUESTS * 2, 12),
        ProcessInfo(torch.device("cpu")),
    )


@pytest.mark.slow
@pytest.mark.parametrize("task", [Line, paper, Duel, adversarial])
def test_a_resumed_run_is_the_same_to_the_bit(
    task: Callable[[], TrainingTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six iterations at once, or three, a stop, and three more in a process that has drawn other numbers."""
    make_run(tmp_path / "straight", SETTINGS, task()).run()
    stopped = make_run(tmp_path / "twice", SETTINGS, task())
    monkeypatch.setattr(loop.time, "monotonic", lambda: 20.0 * stopped.progress.iteration)
    assert stopped.run(minutes=1).reason == "minutes"
    assert stopped.progress.iteration == 3
    monkeypatch.undo()
    again = make_run(tmp_path / "twice", SETTINGS, task())
    torch.manual_seed(12345)
    again.resume()
    assert again.run().progress.iteration == 6
    straight, twice = weights(tmp_path / "straight"), weights(tmp_path / "twice")
    others = {player.name for player in list_learners(task())[1:]}
    assert {key.split(".")[0] for key in straight} == {"network", "average", "optimizer"} | others
    assert same(straight, twice)
    for file in (BEST_WEIGHTS_FILE, *(f"{name}.safetensors" for name in others)):
        assert same(*(read_tensors(tmp_path / folder / file)[0] for folder in ("straight", "twice")))


@pytest.mark.slow
def test_another_seed_is_another_run(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path / str(seed), replace(SETTINGS, seed=seed)).run()
    assert not same(weights(tmp_path / "0"), weights(tmp_path / "1"))


@pytest.mark.slow
def test_other_settings_do_not_resume(tmp_path: Path) -> None:
    make_run(tmp_path, SETTINGS).run()
    with pytest.raises(TrainingError, match=r"other settings \(iterations: 6 there, 9 here\)"):
        make_run(tmp_path, replace(SETTINGS, iterations=9)).resume()


def test_the_best_weights_are_kept(tmp_path: Path) -> None:
    task = Line(script=(3.0, 1.0, 2.0))
    outcome = make_run(tmp_path, replace(SETTINGS, iterations=9), task).run()
    assert (outcome.progress.best, outcome.progress.best_iteration) == (1.0, 6)
    _, metadata = read_tensors(tmp_path / BEST_WEIGHTS_FILE)
    assert metadata == {"network": "line", "iteration": "6", "iterations": "9", "figures": '{"loss": 1.0}'}
    lines = (tmp_path / "figures.jsonl").read_text().splitlines()
    assert [json.loads(line)["loss"] for line in lines] == [3.0, 1.0, 2.0]


def test_it_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    task = Line(script=(1.0, 2.0, 3.0, 4.0))
    outcome = make_run(tmp_path, replace(SETTINGS, iterations=99, patience=6), task).run()
    assert (outcome.reason, outcome.progress.iteration) == ("patience", 9)


def test_no_time_at_all_still_leaves_a_run_to_resume(tmp_path: Path) -> None:
    outcome = make_run(tmp_path, SETTINGS).run(minutes=0)
    assert (outcome.reason, outcome.progress.iteration) == ("minutes", 0)
    again = make_run(tmp_path, SETTINGS)
    again.resume()
    assert again.run().reason == "iterations"


def test_the_average_is_what_is_validated(tmp_path: Path) -> None:
    averaged, plain = Line(), Line()
    make_run(tmp_path / "a", SETTINGS, averaged).run()
    make_run(tmp_path / "b", replace(SETTINGS, ema=0.0), plain).run()
    assert averaged.validated[0] is not averaged.network
    assert plain.validated == [plain.network] * 2


def test_a_turn_changes_the_weights_of_its_player_alone(tmp_path: Path) -> None:
    """The critic's losses reach the line's answers, and the line's the critic's opinion."""
    task = Duel()
    run = make_run(tmp_path, replace(SETTINGS, learning_rate=0.1), task)
    for turn, learner, still in ((0, task.network, task.critic), (1, task.critic, task.network)):
        before = [[p.clone() for p in network.parameters()] for network in (learner, still)]
        with freeze_weights([still]):
            assert run.trainers[turn].step(2)
        changed_, kept = (
            [not torch.equal(p, q) for p, q in zip(network.parameters(), old, strict=True)]
            for network, old in zip((learner, still), before, strict=True)
        )
        assert any(changed_)
        assert not any(kept)
        assert all(p.requires_grad for p in still.parameters())


def test_frozen_weights_stay_frozen() -> None:
    network = Line().network
    network[0].weight.requires_grad_(False)
    with freeze_weights([network]):
        assert not any(p.requires_grad for p in network.parameters())
    assert [name for name, p in network.named_parameters() if not p.requires_grad] == ["0.weight"]


def test_a_player_without_losses_sits_the_iteration_out(tmp_path: Path) -> None:
    task = Duel()
    run = make_run(tmp_path, SETTINGS, task)
    before = [p.clone() for p in task.critic.parameters()]
    run.trainers[0].step(1)
    assert run.trainers[1].step(1) == {}
    assert all(torch.equal(p, q) for p, q in zip(task.critic.parameters(), before, strict=True))
    assert set(run.trainers[1].step(2)) == {"gullible"}


def test_each_player_has_its_own_pace(tmp_path: Path) -> None:
    run = make_run(tmp_path, replace(SETTINGS, schedule="constant"), Duel())
    for turn in run.trainers:
        turn.step(2)
    assert [turn.state.optimizer.param_groups[0]["lr"] for turn in run.trainers] == [0.05, 0.1]


def test_players_are_kept_with_the_best_weights(tmp_path: Path) -> None:
    said = io.StringIO()
    settings = replace(SETTINGS, iterations=20, validate_every=10)
    make_run(tmp_path, settings, Duel(script=(1.0, 2.0)), said).run()
    assert "  gullible " in said.getvalue()
    _, metadata = read_tensors(tmp_path / "critic.safetensors")
    figures = {"iteration": "10", "iterations": "20", "figures": '{"loss": 1.0}'}
    assert metadata == {"network": "critic", **figures}


@pytest.mark.parametrize("name", ["critic", "", "best"])
def test_learners_need_unique_names(name: str) -> None:
    task = Duel()
    task.others = (*task.others, Learner(name, task.critic, task.judge))
    with pytest.raises(ValueError, match="names must be unique"):
        list_learners(task)


@pytest.mark.slow
def test_it_learns_a_line(tmp_path: Path) -> None:
    figures = make_run(tmp_path, replace(SETTINGS, iterations=150, validate_every=150)).run().figures
    assert figures["loss"] < 0.5


def test_losses_are_told_and_one_that_is_no_number_ends_it(tmp_path: Path) -> None:
    said = io.StringIO()
    make_run(tmp_path / "a", replace(SETTINGS, iterations=10), said=said).run()
    assert "10/10  odd " in said.getvalue()
    broken = Line()
    broken.loss = lambda iteration, generator: {  # type: ignore[method-assign]
        "odd": broken.network(torch.zeros(2, 2)).sum() * float("nan")
    }
    with pytest.raises(TrainingError, match="odd is nan at iteration 10"):
        make_run(tmp_path / "b", replace(SETTINGS, iterations=20, validate_every=20), broken).run()


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    make_run(tmp_path, SETTINGS).run()
    with pytest.raises(TrainingError, match="holds a run already"):
        loop.open_run_folder(tmp_path, resume=False)
    loop.open_run_folder(tmp_path, resume=True)


def test_weights_without_a_checkpoint_are_not_overwritten(tmp_path: Path) -> None:
    make_run(tmp_path, SETTINGS).run()
    (tmp_path / CHECKPOINT_FILE).unlink()
    for resume in (False, True):
        with pytest.raises(TrainingError, match="no checkpoint to resume from"):
            loop.open_run_folder(tmp_path, resume=resume)


def test_how_far_it_got_is_kept_beside_the_weights(tmp_path: Path) -> None:
    make_run(tmp_path, SETTINGS).run(minutes=0)
    record = json.loads((tmp_path / RUN_RECORD_FILE).read_text())
    assert (record["ended"], record["progress"]["iteration"]) == ("minutes", 0)
    make_run(tmp_path, SETTINGS).run()
    record = json.loads((tmp_path / RUN_RECORD_FILE).read_text())
    assert (record["ended"], record["progress"]["iteration"]) == ("iterations", 6)

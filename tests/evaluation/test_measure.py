"""Figures of systems whose worth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from t2onet.evaluation.measure import (
    MAX_PSNR,
    Evaluation,
    MeasurementOptions,
    TargetFeatures,
    evaluate_system,
)
from t2onet.evaluation.systems import IdentitySystem, Question, SystemAnswer
from t2onet.metrics.distances import FeatureExtractor, l1_distance, read_lpips
from t2onet.metrics.statistics import estimate_interval
from tests.evaluation.helpers import SENTENCES, Scripted, brighten, follow_words, some_cases
from tests.metrics.test_distances_lpips import random_weights

CASES = some_cases(5)
MEANS = FeatureExtractor("Frechet distance (mean colours)", lambda pictures: pictures.mean((-2, -1)))


def oracle(question: Question) -> SystemAnswer:
    """What the expert did, whatever is asked."""
    return SystemAnswer(next(case.after for case in CASES if case.before is question.picture))


def values(evaluation: Evaluation) -> dict[str, float]:
    return {name: estimate_interval(figure).value for name, figure in evaluation.figures.items()}


def test_identity_has_the_figures_of_the_inputs() -> None:
    found = values(evaluate_system(IdentitySystem(), CASES, SENTENCES, MeasurementOptions(each=2)))
    assert found["expert: L1"] == pytest.approx(np.mean([l1_distance(c.before, c.after) for c in CASES]))
    for name in ("literal: following", "expert: unrequested change", "sigma x 100", "amounts in order"):
        assert found[name] == 0
    assert found["of the paper's ten requests right"] == 0
    assert found["expert: steps"] == 0
    assert found["literal: unanswerable flagged"] == 0


def test_the_expert_is_perfectly_near_and_deaf() -> None:
    found = values(evaluate_system(Scripted(oracle), CASES, SENTENCES, MeasurementOptions(each=2)))
    assert (found["expert: L1"], found["expert: delta-E 2000"]) == (0, 0)
    assert found["expert: SSIM"] == pytest.approx(1)
    assert found["expert: PSNR"] == MAX_PSNR
    assert found["sigma x 100"] == 0
    assert found["literal: a vague request nearer the expert"] == 1
    assert 0 < found["of the paper's ten requests right"] < 10
    assert "expert: steps" not in found  # it has no recipe


def test_lpips_is_measured_pair_by_pair(tmp_path: Path) -> None:
    random_weights(tmp_path / "alexnet.ckpt")
    lpips = read_lpips(tmp_path / "alexnet.ckpt")
    found = values(evaluate_system(IdentitySystem(), CASES, {}, MeasurementOptions(lpips=lpips)))
    expected = np.mean([lpips(case.before, case.after) for case in CASES])
    assert found["expert: LPIPS"] == pytest.approx(expected)
    assert (
        values(evaluate_system(Scripted(oracle), CASES, {}, MeasurementOptions(lpips=lpips)))["expert: LPIPS"]
        == 0
    )
    assert "expert: LPIPS" not in values(evaluate_system(IdentitySystem(), CASES, {}, MeasurementOptions()))


def test_a_system_follows_plain_words() -> None:
    found = values(evaluate_system(Scripted(follow_words), CASES, SENTENCES, MeasurementOptions(each=2)))
    assert found["of the paper's ten requests right"] == 10
    assert found["literal: following"] > 0.5
    assert found["literal: unanswerable flagged"] == 1


def test_systems_without_modes_are_asked_once_and_count_for_both() -> None:
    system = Scripted(oracle)
    measured = evaluate_system(system, CASES, SENTENCES, MeasurementOptions(each=2))
    assert len([row for row in measured.rows if row.part == "requests"]) == 2 * len(SENTENCES)
    assert {row.mode for row in measured.rows} == {"any"}
    found = values(measured)
    assert found["literal: following"] == found["expert: following"]


def test_modes_are_measured_apart() -> None:
    def literally(question: Question) -> SystemAnswer:
        done = question.mode == "expert" or "brighter" in question.request
        return SystemAnswer(brighten(question.picture, 0.2)) if done else SystemAnswer(question.picture)

    found = values(
        evaluate_system(Scripted(literally, has_modes=True), CASES, SENTENCES, MeasurementOptions(each=2))
    )
    assert found["literal: a vague request answered"] == 0
    assert found["expert: a vague request answered"] == 1


def test_classes_are_told_one_by_one() -> None:
    measured = evaluate_system(Scripted(follow_words), CASES, SENTENCES, MeasurementOptions(each=2))
    assert list(measured.classes) == [
        f"{mode}: {name}"
        for mode in ("literal", "expert")
        for name in ("more lightness", "less lightness", "more warmth")
    ]


def test_without_labelled_requests_the_rest_is_measured() -> None:
    found = evaluate_system(IdentitySystem(), CASES, {}, MeasurementOptions())
    assert not found.classes
    assert not any("following" in name for name in found.figures)
    assert "expert: L1" in found.figures


def test_less_can_be_asked() -> None:
    system = Scripted(lambda question: SystemAnswer(question.picture))
    found = evaluate_system(system, CASES, {}, MeasurementOptions(few=2, amounts=False))
    assert not any(row.part == "amounts" for row in found.rows)
    assert [row.photo for row in found.rows if row.part == "ten requests"] == [
        "photo 0",
        "photo 2",
        "photo 4",
    ]
    assert len(system.asked) == len(CASES) + 3 * 10


def test_crowds_are_compared_with_the_targets() -> None:
    targets = [TargetFeatures.from_cases(MEANS, CASES)]
    name = f"expert: {MEANS.title}"
    assert values(evaluate_system(Scripted(oracle), CASES, {}, MeasurementOptions(), targets=targets))[
        name
    ] == pytest.approx(0, abs=1e-9)
    assert (
        values(evaluate_system(IdentitySystem(), CASES, {}, MeasurementOptions(), targets=targets))[name]
        > 0.01
    )


def test_it_is_told_how_far_it_is() -> None:
    said: list[tuple[str, int, int]] = []
    evaluate_system(
        IdentitySystem(),
        CASES,
        SENTENCES,
        MeasurementOptions(each=1),
        progress=lambda *told: said.append(told),
    )
    assert said[0] == ("pairs", 5, 5)
    assert {what for what, _, _ in said} == {
        "pairs",
        "labelled requests, literal",
        "amounts",
        "the paper's ten requests",
    }
    assert all(done <= count for _, done, count in said)

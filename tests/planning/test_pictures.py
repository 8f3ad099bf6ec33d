"""What is said of the difference that a plan leaves."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import Recipe, apply, open_image
from t2onet.operations import get_operation
from t2onet.planning import Plan
from t2onet.planning.pictures import describe_remainder, to_working_picture
from t2onet.planning.report import PlanReport
from tests.conftest import EXAMPLES
from tests.planning.scenes import scene


def test_an_invisible_difference_is_not_described() -> None:
    assert describe_remainder(scene(), np.clip(scene() + 0.002, 0, 1).astype(np.float32)) == ""


def test_dark_corners_look_like_a_vignette() -> None:
    start = np.full((3, 64, 64), 0.5, np.float32)
    target = get_operation("vignette")(start, -60.0)
    assert "vignette" in describe_remainder(start, target)


def test_a_patch_looks_like_a_local_edit() -> None:
    start = np.full((3, 64, 64), 0.5, np.float32)
    target = start.copy()
    target[:, 4:16, 40:56] += np.float32(0.3)
    assert "local edit" in describe_remainder(start, target)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (("sharpness", 0.8), "detail: looks like sharpening"),
        (("sharpness", -0.25), "detail: looks like blur"),
        (("denoise", (100, 100)), "detail: looks like blur or noise reduction"),
        (("clarity", 100), "detail: looks like clarity"),
        (("grain", (80, 40)), "detail: looks like noise or grain"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_detail_is_named(step: tuple[str, object], words: str) -> None:
    before = open_image(EXAMPLES / "trail.jpg").resize(256)
    pictures = [
        to_working_picture(one, before.height, before.width)
        for one in (before, apply(Recipe.from_steps([step]), before))
    ]
    assert words in describe_remainder(*pictures)


def test_the_report_says_it_in_its_head() -> None:
    start = np.full((3, 64, 64), 0.5, np.float32)
    target = get_operation("vignette")(start, -60.0)
    plan = Plan(Recipe(), 0.1, 0.1, (0.1,), (start,), target)
    assert PlanReport.from_plan(plan).costs.endswith("What remains is radial: looks like a vignette.")


def test_noise_looks_like_fine_detail() -> None:
    start = np.full((3, 96, 96), 0.5, np.float32)
    noise = np.random.default_rng(0).normal(0, 0.05, (1, 96, 96)).astype(np.float32)
    assert "fine detail" in describe_remainder(start, start + noise)

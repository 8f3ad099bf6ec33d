"""`t2o plan`: arguments -> a recipe, a report, or one line that says why not."""

from __future__ import annotations

import inspect
import json
import sys
from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Recipe
from t2onet.cli.plan import plan_recipe
from t2onet.planning.planner import PlanningMethod
from t2onet.planning.solvers import SOLVER_NAMES
from tests.cli.helpers import T2O, contents, pixels, process
from tests.conftest import open_example

EDIT = Recipe.from_steps([("brightness", 0.15), ("saturation", -0.4)])


@cache
def small_photo() -> np.ndarray:
    return np.asarray(open_example("fig", 120))


@pytest.fixture
def pair(folder: Path) -> Path:
    """The folder with `before.png` and `after.png`, a small photo and an edit of it."""
    PIL.Image.fromarray(small_photo()).save("before.png")
    PIL.Image.fromarray(np.asarray(t2onet.apply(EDIT, small_photo()))).save("after.png")
    return folder


def test_the_recipe_reproduces_the_edit(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "after.png", "-o", "found.json")
    assert (answer.code, answer.err) == (0, "")
    again = np.asarray(t2onet.apply("found.json", "before.png"), int)
    off = np.abs(again - pixels("after.png")).mean()
    assert off < 1
    assert np.abs(again - pixels("before.png")).mean() > 10 * off


@pytest.mark.slow
def test_it_prints_the_steps_and_the_costs(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "after.png", "--report", "plan.html")
    plan = t2onet.plan("before.png", "after.png")
    head, *rows = [line.split() for line in answer.out.splitlines()]
    height, width = plan.target.shape[1:]
    assert head == ["step", "operation", "what", "it", "does", "cost", "at", str(width), "x", str(height)]
    for number, (step, cost, row) in enumerate(
        zip(plan.recipe.steps, plan.costs[1:], rows, strict=False), start=1
    ):
        assert row == [str(number), step.operation, *step.describe().split(), f"{cost:.4f}"]
    summary = answer.out.splitlines()[1 + len(plan.recipe.steps) :]
    assert summary == [
        f"Mean difference from the edited photo, on the photos themselves: {plan.start_cost:.4f} -> "
        f"{plan.cost:.4f}, in levels of 255: {255 * plan.start_cost:.1f} -> {255 * plan.cost:.1f}",
        plan.recipe.describe(),
        plan.recipe.format_settings(),
        "-> plan.html",
    ]
    assert plan.recipe.describe() in Path("plan.html").read_text(encoding="utf-8")


def test_json(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "after.png", "-o", "found.json", "--json")
    assert (answer.code, answer.err) == (0, "")
    data = json.loads(answer.out)
    recipe = Recipe.from_data(data["recipe"])
    assert recipe == Recipe.load("found.json")
    assert data["description"] == recipe.describe()
    assert data["cost"] < 0.1 * data["start_cost"]
    assert len(data["costs"]) == len(recipe.steps) + 1


def test_options_reach_the_planner(t2o: T2O, pair: Path) -> None:
    options = {
        "way": "beam",
        "operations": ["saturation", "tone"],
        "steps": 1,
        "beam": 1,
        "random_beam": 2,
        "tolerance": 0.5,
        "solver": "fast",
        "refine": False,
        "size": 50,
        "seed": 3,
    }
    with pytest.MonkeyPatch.context() as patch:
        told: dict[str, object] = {}
        real = t2onet.planning.plan
        patch.setattr(
            "t2onet.planning.plan", lambda *photos, **given: told.update(given) or real(*photos, **given)
        )
        arguments = [
            f"--{name.replace('_', '-')}={value}"
            for name, value in options.items()
            if isinstance(value, str | int | float)
        ]
        arguments.remove("--refine=False")
        t2o(
            "plan",
            "before.png",
            "after.png",
            *arguments,
            "--operations",
            "saturation, tone",
            "--no-refine",
            "--repeats",
        )
    assert told == {**options, "repeats": True}


def test_defaults_are_those_of_python() -> None:
    ours, python = (inspect.signature(f).parameters for f in (plan_recipe, t2onet.plan))
    shared = {name: p.default for name, p in python.items() if name not in ("after", "cost")}
    assert {name: ours[name].default for name in shared} == shared
    annotated = get_type_hints(plan_recipe, include_extras=True)
    assert all(way in get_args(annotated["way"])[1].help for way in get_args(PlanningMethod))
    assert all(solver in get_args(annotated["solver"])[1].help for solver in SOLVER_NAMES)


@pytest.mark.parametrize("way", ["beam", "fixed", "epsilon-greedy"])
def test_the_ways_of_the_paper(t2o: T2O, pair: Path, way: str) -> None:
    data = json.loads(t2o("plan", "before.png", "after.png", "--way", way, "--json").out)
    assert data["cost"] < 0.5 * data["start_cost"]


def test_only_the_operations_that_were_named(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "after.png", "--operations", "tone, color", "--json")
    used = {step["operation"] for step in json.loads(answer.out)["recipe"]["steps"]}
    assert used
    assert used <= {"tone", "color"}


def test_a_photo_that_was_not_edited(t2o: T2O, pair: Path) -> None:
    assert t2o("plan", "before.png", "before.png", "--report", "plan.html") == (
        0,
        "Mean difference from the edited photo, on the photos themselves: 0.0000 -> 0.0000, "
        "in levels of 255: 0.0 -> 0.0\n"
        "Changes nothing.\n"
        "-> plan.html\n",
        "",
    )


@pytest.mark.slow
def test_a_report_as_a_picture(t2o: T2O, pair: Path) -> None:
    assert t2o("plan", "before.png", "after.png", "--report", "plan.png").code == 0
    assert pixels("plan.png").shape[1] > 1000


@pytest.mark.slow
def test_several_reports(t2o: T2O, pair: Path) -> None:
    places = ("--report", "plan.html", "--report", "plan.png")
    answer = t2o("plan", "before.png", "after.png", *places)
    assert answer.out.endswith("-> plan.html\n-> plan.png\n")
    assert Path("plan.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert pixels("plan.png").shape[1] > 1000


@pytest.mark.slow
def test_a_plan_that_explains_little_says_so(t2o: T2O, pair: Path) -> None:
    noisy = small_photo().copy()
    noisy[30:90, 30:90] = np.random.default_rng(0).integers(0, 256, (60, 60, 3))
    PIL.Image.fromarray(noisy).save("noisy.png")
    remains = "note: most of the difference remains; "
    answer = t2o("plan", "before.png", "noisy.png")
    assert (answer.code, answer.err) == (
        0,
        f"{remains}if only a part of the photo was edited, try --local\n",
    )
    local = t2o("plan", "before.png", "noisy.png", "--local", "--no-removals", "--steps", "1")
    assert local.err == f"{remains}what was moved, added, blurred or shifted in hue cannot be explained\n"
    assert t2o("plan", "before.png", "after.png").err == ""


@pytest.mark.slow
def test_a_turned_and_cropped_photo_is_planned(t2o: T2O, pair: Path) -> None:
    turned = np.rot90(pixels("after.png"), -1)[10:-20, 5:]
    PIL.Image.fromarray(np.ascontiguousarray(turned)).save("turned.png")
    answer = t2o("plan", "before.png", "turned.png", "-o", "found.json")
    assert [step.operation for step in Recipe.load("found.json").steps[:2]] == ["rotate", "crop"]
    assert "turned right" in answer.out
    assert np.asarray(t2onet.apply("found.json", "before.png")).shape == turned.shape


def test_overwrite(t2o: T2O, pair: Path) -> None:
    for name in ("found.json", "plan.html"):
        Path(name).write_text("mine")
    places = ("-o", "found.json", "--report", "plan.html")
    assert t2o("plan", "before.png", "after.png", *places).code == 2
    assert t2o("plan", "before.png", "after.png", *places, "--overwrite").code == 0
    assert Recipe.load("found.json").steps
    assert Path("plan.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


LONG = "x" * 300 + ".json"

# (the arguments after BEFORE, how the line begins, what it tells the user to do)
REFUSED: dict[str, tuple[list[str], str, str]] = {
    "another photo": (["other.png"], "the second picture", "give a photo and an edit of that photo"),
    "missing file": (["aftr.png"], "aftr.png does not exist", "perhaps after.png was meant"),
    "not a photo": (["look.json"], "look.json", "photo"),
    "existing output": (["after.png", "-o", "look.json"], "look.json exists already", "--overwrite"),
    "existing report": (["after.png", "--report", "mine.html"], "mine.html exists already", "--overwrite"),
    "report in an unknown format": (
        ["after.png", "--report", "plan.pdf"],
        "plan.pdf: a report is written as .html or .png",
        "give one of those endings",
    ),
    "output in no folder": (
        ["after.png", "-o", "no/a.json"],
        "no/a.json: there is no folder no",
        "create it",
    ),
    "output with an endless name": (["after.png", "-o", LONG], f"{LONG} cannot be used", "check the name"),
    "output over the photo": (
        ["after.png", "-o", "before.png", "--overwrite"],
        "before.png is given twice",
        "give every file a name of its own",
    ),
    "report over the output": (
        ["after.png", "-o", "a.html", "--report", "./a.html"],
        "a.html is given twice",
        "give every file a name of its own",
    ),
    "unknown operation": (
        ["after.png", "--operations", "tone,satration"],
        "there is no operation 'satration'",
        "did you mean 'saturation'?",
    ),
    "no operation": (["after.png", "--operations", " , "], "no operations to plan with", "name at least one"),
    "unknown way": (["after.png", "--way", "backwards"], "there is no way 'backwards'", "there are joint"),
    "unknown solver": (
        ["after.png", "--solver", "nelder-mad"],
        "there is no solver 'nelder-mad'",
        "did you mean 'nelder-mead'?",
    ),
    "no steps": (["after.png", "--steps", "0"], "steps is 0", "at least 1"),
    "no size": (["after.png", "--size", "0"], "size is 0", "at least 1"),
    "tolerance below zero": (["after.png", "--tolerance", "-1"], "tolerance is -1", "0 or more"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refusals(t2o: T2O, pair: Path, case: tuple[list[str], str, str]) -> None:
    arguments, begins, advice = case
    PIL.Image.fromarray(np.asarray(open_example("trail", 90))[:90, :90]).save("other.png")
    Path("mine.html").write_text("mine")
    before = contents(pair)
    answer = t2o("plan", "before.png", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"t2o: {begins}")
    assert advice in answer.err
    assert answer.err.count("\n") == 1
    assert contents(pair) == before


@pytest.mark.parametrize(("option", "value"), [("--seed", "-1"), ("--beam", "wide")])
def test_wrong_usage(t2o: T2O, pair: Path, option: str, value: str) -> None:
    answer = t2o("plan", "before.png", "after.png", option, value)
    assert answer.code == 2
    assert option in answer.err


@pytest.mark.slow
def test_in_a_process_of_its_own(pair: Path) -> None:
    done = process("plan", "before.png", "after.png", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["recipe"]["steps"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("arguments", [["loop", "before.png"], ["before.png", "loop"]])
def test_a_link_to_itself_is_refused(t2o: T2O, pair: Path, arguments: list[str]) -> None:
    Path("loop").symlink_to("loop")
    for output in ("plan.json", "loop"):
        answer = t2o("plan", *arguments, "-o", output)
        assert (answer.code, answer.out) == (2, "")
        assert "loop" in answer.err
        assert answer.err.count("\n") == 1

"""`t2o plan --local`: masked steps and removals, or one line that says why not."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Mask, Recipe
from t2onet.cli.plan import GLOBAL_ONLY_OPTIONS, LOCAL_ONLY_OPTIONS, plan_recipe
from t2onet.planning import plan_local
from t2onet.planning.segments import Normalisation
from tests.cli.helpers import T2O, contents, pixels
from tests.conftest import open_example


def scene() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """A small photo (H, W, 3) and masks of it."""
    photo = np.asarray(open_example("fig", 120))
    rows, columns = np.mgrid[: len(photo), : photo.shape[1]] / np.array(photo.shape[:2])[:, None, None]
    disc = (rows - 0.5) ** 2 + (columns - 0.3) ** 2 < 0.2**2
    return photo, {"disc": disc, "sky": rows < 0.2, "right": columns > 0.7}


@pytest.fixture
def pair(folder: Path) -> Path:
    """The folder with a photo, an edit of its disc, a folder of masks, and panoptic files."""
    photo, masks = scene()
    PIL.Image.fromarray(photo).save("before.png")
    edit = Recipe.from_steps([("saturation", -0.7, Mask.from_array(masks["disc"]))])
    PIL.Image.fromarray(np.asarray(t2onet.apply(edit, photo))).save("after.png")
    Path("masks").mkdir()
    for name, mask in masks.items():
        PIL.Image.fromarray(mask * np.uint8(255)).save(f"masks/{name}.png")
    ids = np.zeros_like(photo)
    ids[masks["disc"], 0], ids[masks["sky"], 1] = 7, 1
    PIL.Image.fromarray(ids).save("ids.png")
    entry = {"file_name": "ids.png", "segments_info": [{"id": 7}, {"id": 256}]}
    Path("ids.json").write_text(json.dumps({"annotations": [entry]}), encoding="utf-8")
    return folder


WAYS = {
    "folder": ["--masks", "masks"],
    "panoptic": ["--masks", "ids.png", "--panoptic", "ids.json"],
    "default": [],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_recipe_reproduces_the_edit(t2o: T2O, pair: Path, way: list[str]) -> None:
    if not way:
        pytest.importorskip("skimage")
    answer = t2o("plan", "before.png", "after.png", "--local", *way, "-o", "found.json")
    assert (answer.code, answer.err) == (0, "")
    recipe = Recipe.load("found.json")
    assert [step.operation for step in recipe.steps] == ["saturation"]
    assert recipe.steps[0].mask is not None
    again = np.asarray(t2onet.apply("found.json", "before.png"), int)
    off = [np.abs(one - pixels("after.png").astype(int)).mean() for one in (again, pixels("before.png"))]
    assert off[0] < 0.25 * off[1]


def test_a_network_of_ones_own(t2o: T2O, pair: Path) -> None:
    from tests.planning.networks import write_network

    _, masks = scene()
    marked = np.where(masks["disc"][..., None], [200, 60, 40], [40, 60, 200]).astype(np.uint8)
    PIL.Image.fromarray(marked).save("before.png")
    edit = Recipe.from_steps([("brightness", -0.4, Mask.from_array(masks["disc"]))])
    PIL.Image.fromarray(np.asarray(t2onet.apply(edit, marked))).save("after.png")
    write_network(Path("net.onnx"), weights=np.array([[1, 0, -1], [-1, 0, 1]]))
    arguments = ["--local", "--segmenter", "net.onnx", "--normalise", "unit", "--json"]
    data = json.loads(t2o("plan", "before.png", "after.png", *arguments).out)
    share = 100 * masks["disc"].mean()
    assert len(data["where"]) == 1
    assert float(data["where"][0].split()[0]) == pytest.approx(share, abs=2)


def test_it_prints_where_each_step_works(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "after.png", "--local", "--masks", "masks", "--report", "plan.html")
    plan = plan_local("before.png", "after.png", masks=t2onet.planning.segments.masks_from_folder("masks"))
    head, row, *summary = answer.out.splitlines()
    height, width = plan.target.shape[1:]
    heads = ["step", "operation", "what", "it", "does", "where", "cost", "at", str(width), "x", str(height)]
    assert head.split() == heads
    (step,) = plan.recipe.steps
    share = f"{100 * scene()[1]['disc'].mean():.0f} % of the picture, left"
    assert " ".join(row.split()) == f"1 saturation {step.describe()} {share} {plan.costs[1]:.4f}"
    assert summary[1:] == [plan.recipe.describe(), plan.recipe.format_settings(), "-> plan.html"]
    assert share in Path("plan.html").read_text(encoding="utf-8")


def test_json_says_where(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "after.png", "--local", "--masks", "masks", "--json")
    data = json.loads(answer.out)
    assert len(data["where"]) == len(data["recipe"]["steps"]) == 1
    assert data["where"][0].endswith("of the picture, left")
    assert "where" not in json.loads(t2o("plan", "before.png", "after.png", "--json").out)


def test_a_removal(t2o: T2O, pair: Path) -> None:
    pytest.importorskip("cv2")
    _, masks = scene()
    rows, columns = np.mgrid[: len(masks["disc"]), : masks["disc"].shape[1]]
    smooth = np.stack([90 + columns / 3, 100 + rows / 4, np.full(rows.shape, 120.0)], axis=-1)
    stripes = np.where(columns // 4 % 2, 230, 30)[..., None]
    PIL.Image.fromarray(np.where(masks["disc"][..., None], stripes, smooth).astype(np.uint8)).save("with.png")
    PIL.Image.fromarray(smooth.astype(np.uint8)).save("without.png")
    arguments = ["plan", "with.png", "without.png", "--local", "--masks", "masks", "--json"]
    data = json.loads(t2o(*arguments, "--report", "removed.png").out)
    assert [step["operation"] for step in data["recipe"]["steps"]] == ["inpaint"]
    assert data["cost"] < 0.3 * data["start_cost"]
    kept = json.loads(t2o(*arguments, "--no-removals").out)
    assert "inpaint" not in [step["operation"] for step in kept["recipe"]["steps"]]


def test_identical_photos_need_nothing(t2o: T2O, pair: Path) -> None:
    answer = t2o("plan", "before.png", "before.png", "--local", "--masks", "masks", "--report", "plan.png")
    assert answer.code == 0
    assert "Changes nothing." in answer.out
    assert Path("plan.png").stat().st_size > 1000


def test_options_reach_the_planner_and_defaults_are_its_own(
    t2o: T2O, pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, object]] = []
    monkeypatch.setattr(
        "t2onet.planning.plan_local",
        lambda *photos, **given: told.append(given) or plan_local(*photos, **given),
    )
    arguments = ("plan", "before.png", "after.png", "--local", "--masks", "masks")
    t2o(*arguments)
    t2o(
        *arguments,
        "--steps=1",
        "--beam=1",
        "--tolerance=.5",
        "--size=60",
        "--mask-limit=2",
        "--operations=tone",
        "--no-removals",
    )
    plain, full = ({k: v for k, v in one.items() if k != "masks"} for one in told)
    assert plain == {"operations": None}
    numbers = {"steps": 1, "beam": 1, "tolerance": 0.5, "size": 60, "mask_limit": 2}
    assert full == {"operations": ["tone"], "repair": None, **numbers}


def test_the_help_tells_the_defaults_of_python() -> None:
    annotated = get_type_hints(plan_recipe, include_extras=True)
    python = {name: p.default for name, p in inspect.signature(plan_local).parameters.items()}
    told = get_args(annotated["local"])[1].help
    assert inspect.signature(plan_recipe).parameters["mask_limit"].default == python["mask_limit"]
    assert "{steps} steps, beam {beam}, tolerance {tolerance}, size {size}.".format(**python) in told
    assert all(name in get_args(annotated["normalise"])[1].help for name in get_args(Normalisation))


GIVEN = {
    "way": ["--way", "joint"],
    "random_beam": ["--random-beam", "3"],
    "repeats": ["--repeats"],
    "solver": ["--solver", "fast"],
    "refine": ["--refine"],
    "seed": ["--seed", "0"],
    "masks": ["--masks", "masks"],
    "panoptic": ["--panoptic", "ids.json"],
    "segmenter": ["--segmenter", "net.onnx"],
    "normalise": ["--normalise", "imagenet"],
    "mask_limit": ["--mask-limit", "8"],
    "removals": ["--removals"],
}


@pytest.mark.parametrize("name", GLOBAL_ONLY_OPTIONS)
def test_options_for_the_whole_picture_are_refused_with_local(t2o: T2O, pair: Path, name: str) -> None:
    answer = t2o("plan", "before.png", "after.png", "--local", *GIVEN[name])
    option = GIVEN[name][0]
    expected = f"t2o: {option} belongs to plans for the whole picture; leave out {option} or --local\n"
    assert answer == (2, "", expected)


@pytest.mark.parametrize("name", LOCAL_ONLY_OPTIONS)
def test_options_for_masks_are_refused_without_local(t2o: T2O, pair: Path, name: str) -> None:
    answer = t2o("plan", "before.png", "after.png", *GIVEN[name])
    option = GIVEN[name][0]
    assert answer == (2, "", f"t2o: {option} belongs to plans with masks; add --local or leave it out\n")


# (the arguments after --local, how the line begins, what it tells the user to do)
REFUSED: dict[str, tuple[list[str], str, str]] = {
    "two sources": (
        ["--masks", "masks", "--segmenter", "net.onnx"],
        "--masks and --segmenter both say where masks come from",
        "give one of them",
    ),
    "panoptic alone": (["--panoptic", "ids.json"], "--panoptic explains a PNG of ids", "with --masks"),
    "normalise alone": (["--normalise", "unit"], "--normalise is about the network", "name that network"),
    "a file of masks": (["--masks", "ids.png"], "ids.png is a file; give a folder", "--panoptic"),
    "no masks there": (["--masks", "absent"], "absent is not a folder", "give one with mask pictures"),
    "an empty folder": (["--masks", "empty"], "empty has no masks", ".png"),
    "a mask that is no picture": (["--masks", "broken"], "broken/a.png", "photo"),
    "black masks": (["--masks", "black"], "black has only black masks", "white where"),
    "a folder of ids": (
        ["--masks", "masks", "--panoptic", "ids.json"],
        "the panoptic annotations do not list masks",
        "give the JSON",
    ),
    "ids of another photo": (
        ["--masks", "masks/disc.png", "--panoptic", "ids.json"],
        "the panoptic annotations do not list disc.png",
        "give the JSON",
    ),
    "ids that are no picture": (
        ["--masks", "text.png", "--panoptic", "text.json"],
        "text.png cannot be read as a panoptic PNG",
        "",
    ),
    "absent annotations": (
        ["--masks", "ids.png", "--panoptic", "absent.json"],
        "absent.json cannot be read as panoptic annotations",
        "",
    ),
    "annotations of another kind": (
        ["--masks", "ids.png", "--panoptic", "look.json"],
        "look.json has no panoptic annotations",
        "segments_info",
    ),
    "annotations that are odd": (
        ["--masks", "ids.png", "--panoptic", "odd.json"],
        "odd.json has no panoptic annotations",
        "segments_info",
    ),
    "no network": (["--segmenter", "absent.onnx"], "absent.onnx is not a file", "ONNX format"),
    "text as a network": (["--segmenter", "look.json"], "look.json cannot be loaded as an ONNX network", ""),
    "no steps": (["--masks", "masks", "--steps", "0"], "steps is 0", "at least 1"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refusals(t2o: T2O, pair: Path, case: tuple[list[str], str, str]) -> None:
    arguments, begins, advice = case
    for name in ("empty", "broken", "black"):
        Path(name).mkdir()
    Path("broken/a.png").write_text("no picture")
    PIL.Image.fromarray(np.zeros((20, 30), np.uint8)).save("black/a.png")
    Path("text.png").write_text("no picture")
    Path("text.json").write_text('{"annotations": [{"file_name": "text.png", "segments_info": []}]}')
    Path("odd.json").write_text('{"annotations": [{"file_name": "ids.png", "segments_info": [{"id": "x"}]}]}')
    before = contents(pair)
    answer = t2o("plan", "before.png", "after.png", "--local", "-o", "new.json", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"t2o: {begins}")
    assert advice in answer.err
    assert answer.err.count("\n") == 1
    assert contents(pair) == before

"""A new operation is one file: dropped beside the others, it is found everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from t2onet.operations import PAPER
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

DECLARATION = '''
"""Two numbers with wide ranges, zero defaults, a phrase and no kernel."""

from ..image.pixels import array_namespace
from . import Attribute, Operation, Parameter, Phrase, register


def glow(image, parameters, frame):
    red = 2.0 ** (parameters[..., 0] / 100)
    green = 2.0 ** (-parameters[..., 1] / 100)
    gains = (red, green, 1 / red)
    planes = [image[..., c, :, :] * gain[..., None, None] for c, gain in enumerate(gains)]
    return array_namespace(image).stack(planes, -3)


register(
    Operation(
        name="glow",
        group="colour",
        position=5,
        attribute=Attribute.WARMTH,
        help="Warms or cools.",
        parameters=(
            Parameter("temperature", -100, 100, 0, unit="mired", step=1, help="above 0 is warmer"),
            Parameter("tint", -100, 100, 0, unit="share", step=1, help="above 0 is magenta"),
        ),
        phrase=Phrase(more="warmer", less="cooler", amount="{temperature:g} mired"),
        formula=glow,
    )
)
'''

USE = """
import json
import numpy as np
from fastapi.testclient import TestClient
from typer.testing import CliRunner

import t2onet
from docs.generate import make_operations_page, make_recipe_schema
from t2onet.cli import app
from t2onet.models.t2onet import ActionSpace
from t2onet.planning.planner import check_operation_names
from t2onet.server.app import create_app

look = t2onet.Recipe.from_steps([("glow", [40, -20])])
rng = np.random.default_rng(0)
before = (0.1 + 0.4 * rng.random((24, 24, 3))).astype(np.float32)
after = np.asarray(t2onet.apply(look, before))
narrow = (255 * before).astype(np.uint8)


def planned(**settings):
    plan = t2onet.plan(before, after, **settings)
    return [(step.operation, step.parameters) for step in plan.recipe.steps], plan.cost


print(json.dumps({
    "ops": CliRunner().invoke(app, ["ops"]).output,
    "ops_json": json.loads(CliRunner().invoke(app, ["ops", "--json"]).output),
    "schema": make_recipe_schema(),
    "sliders": TestClient(create_app(), base_url="http://127.0.0.1").get("/api/v1/operations").json(),
    "sentence": look.describe(),
    "table": make_operations_page(),
    "pixels": [np.asarray(t2onet.apply(look, narrow, kernels=k)).tolist() for k in (False, True)],
    "joint": planned(operations=["glow"]),
    "beam": planned(operations=["glow"], way="beam", refine=False),
    "paper": [check_operation_names(None), ActionSpace().names],
}))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a package with one more file says of the new operation."""
    folder = tmp_path_factory.mktemp("checkout")
    package = folder / "t2onet"
    package.mkdir()
    for path in (ROOT / "t2onet").iterdir():
        if path.name != "operations":
            (package / path.name).symlink_to(path)
    shutil.copytree(ROOT / "t2onet" / "operations", package / "operations")
    (folder / "docs").symlink_to(ROOT / "docs")
    (package / "operations" / "glow.py").write_text(DECLARATION, encoding="utf-8")
    return run(folder)


def run(folder: Path) -> dict[str, Any]:
    # Small pictures: interpreting the kernels is faster than compiling them for another path.
    settings = {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_command_lists_it(report: dict[str, Any]) -> None:
    assert "glow" in report["ops"]
    entry = next(one for one in report["ops_json"] if one["name"] == "glow")
    assert [parameter["name"] for parameter in entry["parameters"]] == ["temperature", "tint"]


def test_the_schema_of_a_recipe_has_its_ranges(report: dict[str, Any]) -> None:
    steps = report["schema"]["$defs"]["Step"]["oneOf"]
    (own,) = [one for one in steps if one["properties"]["operation"]["const"] == "glow"]
    first, numbers, *_ = own["properties"]["parameters"]["anyOf"]
    assert first["maxItems"] == 1, "the tint may be left out"
    assert (numbers["minItems"], numbers["items"]["minimum"], numbers["items"]["maximum"]) == (2, -100, 100)


def test_the_page_makes_sliders_of_it(report: dict[str, Any]) -> None:
    entry = next(one for one in report["sliders"] if one["name"] == "glow")
    assert (entry["group"], entry["repair"]) == ("colour", False)
    assert [(p["low"], p["high"], p["step"], p["count"]) for p in entry["parameters"]] == [
        (-100, 100, 1, 1)
    ] * 2


def test_a_recipe_says_what_it_does(report: dict[str, Any]) -> None:
    assert report["sentence"] == "40 mired warmer."


def test_the_docs_table_has_it(report: dict[str, Any]) -> None:
    assert "| **glow** | colour | | | | | Warms or cools. |" in report["table"]
    assert "| | | tint | -100 .. 100 | 0 | share | above 0 is magenta |" in report["table"]


def test_it_is_applied_without_a_kernel(report: dict[str, Any]) -> None:
    plain, compiled = report["pixels"]
    assert plain == compiled


@pytest.mark.parametrize("way", ["joint", "beam"])
def test_a_pair_made_with_it_is_planned(report: dict[str, Any], way: str) -> None:
    (((name, values),), cost) = report[way]
    assert name == "glow"
    assert values == pytest.approx([40, -20], abs=1)
    assert cost < 1e-3


def test_the_papers_set_stays_the_papers(report: dict[str, Any]) -> None:
    assert report["paper"] == [list(PAPER)] * 2

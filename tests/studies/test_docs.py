"""The page about studies: its examples run with what is here, from nothing to the exported files."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import PIL.Image
import pytest

from t2onet.data import open_dataset
from tests.cli.helpers import COMMAND, environment
from tests.conftest import EXAMPLES, PATIENCE, ROOT
from tests.studies.served import Served

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
RATING, REQUESTS = re.findall(r"```sh\n(.*?)```", PAGE.partition("## From nothing")[2], re.DOTALL)
DATABASE = "out/studies.db"
Answer = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]
"""A page to where the answer goes, and its body."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with smaller photos, which are edited sooner."""
    (tmp_path / "examples").mkdir()
    for path in EXAMPLES.iterdir():
        if path.suffix == ".jpg":
            with PIL.Image.open(path) as photo:
                photo.thumbnail((800, 800))
                photo.save(tmp_path / "examples" / path.name)
        else:
            (tmp_path / "examples" / path.name).symlink_to(path)
    return tmp_path


def walk_script(script: str, clone: Path, answer: Answer) -> int:
    """Run the lines of a script, and answer all pages of the study that it serves; how many there were."""
    before, serving, after = re.split(r"^(t2o study (?:rate|annotate) .*)\n", script, flags=re.MULTILINE)
    _, _, *arguments = shlex.split(serving, comments=True)
    _run(before.replace("pip install '.[study]'", ""), clone)
    with Served(*arguments, database=DATABASE, cwd=clone) as served:
        pages = _answer_pages(served, answer)
        served.stop()
    _run(after, clone)
    return pages


def _run(lines: str, clone: Path) -> None:
    script = f't2o() {{ {shlex.join(COMMAND)} "$@"; }}\n{lines}'
    told = environment(T2O_DATABASE=DATABASE)
    done = subprocess.run(
        ["sh", "-ec", script],
        cwd=clone,
        env=told,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _answer_pages(served: Served, answer: Answer) -> int:
    with httpx2.Client(base_url=f"{served.base}/api/v1/study/") as web:
        me = f"people/{web.post(f'join/{served.token}', json={}).json()['person']}"
        pages = 0
        while (page := web.post(f"{me}/next").json()["page"]) is not None:
            path, body = answer(page)
            assert web.put(f"{me}/pages/{page['page']}/{path}", json=body).status_code == 204
            pages += 1
    return pages


def _stars(page: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "stars", {"stars": dict.fromkeys(page["pictures"], 4)}


def _request(page: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "request", {"text": "a little warmer"}


def test_the_rating_runs_from_nothing_to_its_table(clone: Path) -> None:
    assert f"export T2O_DATABASE={DATABASE}" in RATING
    assert walk_script(RATING, clone, _stars) == 5
    with (clone / "out" / "ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {(row["sample"], row["system"], row["request"]) for row in rows if row["kind"] == "sample"}
    asked = re.search(r'asked="(.*)"', RATING)
    assert asked, "the table asks for what the edits were asked for"
    names, systems = ("dogs", "meadow", "trail"), ("literal", "expert")
    assert found == {(name, system, asked[1]) for name in names for system in systems}


def test_requests_are_collected_from_nothing_to_a_dataset(clone: Path) -> None:
    (clone / "out").mkdir()
    assert walk_script(REQUESTS, clone, _request) == 6
    samples = open_dataset(clone / "out" / "asked").samples
    assert [sample.requests for sample in samples] == [("a little warmer",)] * 6

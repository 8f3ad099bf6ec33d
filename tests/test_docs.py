"""Documentation that cannot drift: generated pages, working links, working examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import make_pages
from docs.picture import REQUEST, SHOWN
from t2onet import Recipe
from t2onet.studies.database import PRESETS, RatingSettings
from tests.conftest import EXAMPLES, ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *EXAMPLES.glob("*.md")])


def test_generated_pages_are_current() -> None:
    old = [path.name for path, text in make_pages().items() if path.read_text(encoding="utf-8") != text]
    assert old == [], "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_local_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_readme_gives_the_command_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert commands[-1] == "make test"
    assert "make test" in readme
    assert "make demo" in readme


def test_the_demo_is_what_the_readme_shows() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    demo = re.search(
        r'edit examples/(\w+)\.jpg "(.*)" -o out', (ROOT / "Makefile").read_text(encoding="utf-8")
    )
    assert demo
    assert demo.groups() == (SHOWN, REQUEST)
    assert f'before and after "{REQUEST}"](docs/images/before-after.jpg)' in readme
    assert f"edits examples/{SHOWN}.jpg as shown above -> out/{SHOWN}.jpg" in readme


def test_figures_of_the_readme_are_those_of_their_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+ \| (.*\d.*) \|$", readme, re.MULTILINE)
    figures = [figure for row in rows for figure in re.findall(r"[\d.]+ (?:ms|s|MB|%)(?: of \d+)?", row)]
    assert 4 <= len(rows) <= 8
    assert len(figures) >= len(rows)
    assert [figure for figure in figures if figure not in page] == []


def test_edits_of_the_examples_are_written_elsewhere() -> None:
    """Where no place is given, a result lies beside its photo."""
    edits = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    found = [line for line in edits if line.startswith("t2o edit examples/")]
    assert len(found) >= 3
    assert [line for line in found if " -o " not in line] == []


def test_the_settings_of_a_rating_study_are_those_in_use() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    usual, paper = RatingSettings(), PRESETS["paper"]
    for name in ("samples", "ratings", "checks", "repeats"):
        (row,) = re.findall(rf"^\| `--{name}` \| .* \| (\S+) \| (\S+) \|$", page, re.MULTILINE)
        assert row == tuple(
            str(getattr(one, name) or ("all" if name == "samples" else 0)) for one in (usual, paper)
        )


@pytest.mark.parametrize("path", sorted((EXAMPLES / "looks").glob("*.json")), ids=lambda path: path.stem)
def test_shipped_looks_load_and_do_something(path: Path) -> None:
    look = Recipe.load(path)
    assert look.name
    assert not look.is_identity
    assert look.to_json() == path.read_text(encoding="utf-8")


def test_every_example_photo_is_credited_and_small() -> None:
    credits = (EXAMPLES / "CREDITS.md").read_text(encoding="utf-8")
    photos = sorted(EXAMPLES.glob("*.jpg"))
    assert 6 <= len(photos) <= 10
    for photo in photos:
        assert f"`{photo.name}`" in credits
        assert photo.stat().st_size <= 2_000_000

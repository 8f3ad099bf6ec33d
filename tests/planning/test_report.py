"""Reports of plans: a page that stands alone, and a picture."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
import t2onet.executor
from t2onet import Mask, OutputError, Recipe
from t2onet.planning import Plan
from t2onet.planning.local import LocalPlan
from t2onet.planning.masked import dilate_region
from t2onet.planning.pictures import render_intermediates
from t2onet.planning.report import (
    REPORT_CELL,
    REPORT_COLUMNS,
    REPORT_GAP,
    REPORT_WIDTH,
    PlanReport,
    Slider,
    write_report,
)
from tests.conftest import open_example

LOOK = Recipe.from_steps(
    [
        ("brightness", 0.2),
        ("tone", [1, 1, 1.2, 1.1, 1, 1, 0.9, 0.8]),
        ("color", [1.3, 1, 1, 1, 1, 1, 1, 0.7, *[1] * 8, 0.7, 1, 1, 1, 1, 1, 1, 1.3]),
        ("sharpness", 0.1),
    ]
)


@cache
def small_photo() -> np.ndarray:
    """(3, H, W), and not so light that steps cut much off."""
    pixels = np.asarray(open_example("fig", 80))
    return np.ascontiguousarray(pixels.transpose(2, 0, 1), np.float32) / 255 * np.float32(0.6)


def make_plan(recipe: Recipe, off: float = 0.0) -> Plan:
    """A plan that came to `recipe` and misses its target by `off` everywhere."""
    series = render_intermediates(recipe.steps, small_photo())
    target = series[-1] - np.float32(off)
    costs = tuple(float(np.abs(picture - target).mean()) for picture in series)
    return Plan(recipe, 0.0123, 0.2, costs, tuple(series), target)


class Page(HTMLParser):
    """A page read tag by tag: every tag that opens must close."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(self.source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def all(self, wanted: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == wanted]


def write_page(plan: Plan, path: Path) -> Page:
    assert write_report(plan, path) == path
    return Page(path)


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return write_page(make_plan(LOOK, off=0.03), tmp_path / "plan.html")


def pixels_of(source: str | None) -> np.ndarray:
    assert source is not None
    coded = source.partition(";base64,")[2]
    return np.asarray(PIL.Image.open(io.BytesIO(base64.b64decode(coded, validate=True))), int)


# ---- the page


def test_the_page_says_everything_in_words(page: Page) -> None:
    assert LOOK.describe() in page.text
    for step in LOOK.steps:
        assert step.describe() in page.text
    for cost in make_plan(LOOK, off=0.03).costs:
        assert f"{255 * cost:.1f} of 255 levels ({cost:.4f})" in page.text
    assert "51.0 of 255 levels (0.2000) before, 3.1 of 255 levels (0.0123) after" in page.text


def test_the_page_shows_every_picture(page: Page) -> None:
    kinds = [a["class"] for a in page.all("figure")]
    assert kinds.count("photo") == len(LOOK.steps) + 3
    assert len(kinds) == len(LOOK.steps) + 4, "and the residual"
    plan = make_plan(LOOK, off=0.03)
    shown = (plan.pictures[0], plan.pictures[-1], plan.target, *plan.pictures[1:])
    *photos, residual = page.all("img")
    for image, picture in zip(photos, shown, strict=True):
        # JPEG changes a little, less than what tells these pictures apart.
        assert np.abs(pixels_of(image["src"]) - 255 * picture.transpose(1, 2, 0)).mean() < 4
        assert image["alt"]
    assert np.abs(pixels_of(residual["src"]) - 153).max() <= 1, "0.03 everywhere, shown 20 times as strong"


def test_the_page_stands_alone(page: Page) -> None:
    assert "http:" not in page.source
    assert "https:" not in page.source
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "iframe", "object", "a", "base"})
    addresses = [v for _, attrs in page.tags for k, v in attrs.items() if k in ("src", "href", "srcset")]
    assert addresses
    assert all(address is not None and address.startswith("data:image/") for address in addresses)
    assert "url(" not in page.source
    assert "@import" not in page.source


def test_the_page_suits_a_phone_and_a_screen_reader(page: Page) -> None:
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    assert page.all("html") == [{"lang": "en"}]
    drawings = page.all("svg")
    assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in drawings)
    assert [drawing["class"] for drawing in drawings] == ["slider", "plot", "plot", "slider"]


def test_a_curve_is_drawn_through_its_corners(tmp_path: Path) -> None:
    # Rises 2 and 0 on average: half of the picture's range climbs twice as fast, the rest hardly at all.
    recipe = Recipe.from_steps([("tone", [1, 1, 1, 1, 0.02, 0.02, 0.02, 0.02])])
    (line,) = write_page(make_plan(recipe), tmp_path / "plan.html").all("polyline")
    points = [tuple(map(float, point.split(","))) for point in (line["points"] or "").split()]
    assert points[0] == (0, 100)
    assert points[4] == (50, pytest.approx(100 - 100 / 1.02, abs=0.01))
    assert points[-1] == (100, 0)


def test_color_is_three_named_curves(page: Page) -> None:
    red, green, blue = page.all("polyline")[1:]
    assert len({line["stroke"] for line in (red, green, blue)}) == 3
    assert len({line.get("stroke-dasharray") for line in (red, green, blue)}) == 3, "not by colour alone"
    assert all(name in page.text for name in ("red", "green", "blue"))
    diagonal = " ".join(f"{x:.2f},{100 - x:.2f}" for x in np.linspace(0, 100, 9))
    assert green["points"] == diagonal, "its rises are all one"
    assert red["points"] != diagonal != blue["points"]


def test_a_slider_stands_where_its_number_is_in_the_range() -> None:
    contents = PlanReport.from_plan(make_plan(Recipe.from_steps([("brightness", 0.5)])))
    (slider,) = contents.steps[0].sliders
    assert slider == Slider("brightness +0.5 (relative change)", -1, 2, 0, 0.5)
    assert slider.share(slider.value) == 0.5
    assert (slider.share(-1), slider.share(2)) == (0, 1)


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    name = "</title><script>alert(1)</script><img src=\"http://x\" onerror='alert(2)'>&amp;"
    recipe = Recipe.from_steps([("contrast", 0.2)], name=name)
    hostile = write_page(make_plan(recipe), tmp_path / "plan.html")
    plain = write_page(make_plan(recipe.model_copy(update={"name": ""})), tmp_path / "plain.html")
    assert hostile.text.count(name) == 2, "the title and the line above the headline"
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert "<script" not in hostile.source


def test_a_plan_that_changes_nothing(tmp_path: Path) -> None:
    page = write_page(make_plan(Recipe()), tmp_path / "plan.html")
    assert "Changes nothing." in page.text
    assert "Step by step" not in page.text
    assert len(page.all("img")) == 4
    assert write_report(make_plan(Recipe()), tmp_path / "plan.png").stat().st_size > 1000


# ---- plans with masks


def make_local_plan(recipe: Recipe, regions: tuple[np.ndarray | None, ...]) -> LocalPlan:
    """A plan with masks that came to `recipe`; its pictures are those of the executor."""
    start = np.ascontiguousarray(small_photo().transpose(1, 2, 0))
    later = [np.asarray(one).transpose(2, 0, 1) for one in t2onet.executor.intermediates(recipe, start)]
    series = (small_photo(), *later)
    return LocalPlan(recipe, 0.01, 0.2, (0.1,) * len(series), series, series[-1], regions)


@pytest.fixture
def local_plan() -> LocalPlan:
    """A darker left third, everything paler, and something removed at the lower right."""
    height, width = small_photo().shape[1:]
    rows, columns = np.mgrid[:height, :width]
    left, corner = columns < width // 3, (rows > 0.8 * height) & (columns > 0.8 * width)
    steps = [
        ("brightness", -0.5, Mask.from_array(left)),
        ("saturation", -0.5),
        ("inpaint", [], Mask.from_array(corner)),
    ]
    return make_local_plan(Recipe.from_steps(steps), (left, None, corner))


@pytest.mark.usefixtures("opencv")
def test_each_step_says_and_shows_where_it_works(local_plan: LocalPlan, tmp_path: Path) -> None:
    page = write_page(local_plan, tmp_path / "plan.html")
    for words in ("33 % of the picture, left", "Everywhere", "4 % of the picture, lower right"):
        assert words in page.text
    cards = [a["class"] for a in page.all("li")]
    assert cards == ["card masked"] * 3
    places = [pixels_of(image["src"]) for image in page.all("img")[3:-1:2]]
    before = [255 * picture.transpose(1, 2, 0) for picture in local_plan.pictures]
    for place, picture, region in zip(places, before, local_plan.regions, strict=False):
        inside = np.ones(picture.shape[:2], bool) if region is None else erode(region)
        assert np.abs(place - picture)[inside].mean() < 4, "inside the mask it is the picture before the step"
        outside = ~np.ones_like(inside) if region is None else erode(~region)
        if outside.any():
            assert place[outside].mean() < 0.5 * picture[outside].mean(), "outside it is dark"
            assert np.ptp(place[outside], axis=-1).mean() < 3, "and grey"


def erode(region: np.ndarray) -> np.ndarray:
    """Two pixels smaller, so that neither the line nor JPEG's blocks count."""
    return ~dilate_region(dilate_region(~region))


@pytest.mark.usefixtures("opencv")
def test_a_removal_has_neither_curve_nor_slider(local_plan: LocalPlan) -> None:
    *_, removal = PlanReport.from_plan(local_plan).steps
    assert (removal.curves, removal.sliders) == ((), ())
    assert removal.result.caption == "3. something removed"


@pytest.mark.usefixtures("opencv")
def test_the_sheet_shows_where_beside_what(local_plan: LocalPlan, tmp_path: Path) -> None:
    with PIL.Image.open(write_report(local_plan, tmp_path / "plan.png")) as sheet:
        pixels = np.asarray(sheet)
    cell = round(small_photo().shape[1] * REPORT_CELL / max(small_photo().shape[1:]))
    assert len(pixels) > 3 * (cell + REPORT_GAP), (
        "the overview, and two rows for three steps with their places"
    )
    assert ((pixels == 235).all(axis=-1)).sum() > 100, "the outlines"


@pytest.fixture
def opencv() -> None:
    pytest.importorskip("cv2")


# ---- the residual


@pytest.mark.parametrize(
    ("off", "gain", "white"), [(0.004, 50, "5.1"), (0.045, 20, "12.8"), (0.19, 5, "51"), (0.6, 1, "255")]
)
def test_the_residual_is_scaled_up_and_says_so(off: float, gain: int, white: str) -> None:
    plan = make_plan(Recipe.from_steps([("contrast", 0.2)]), off)
    shot = PlanReport.from_plan(plan).residual
    assert shot.detail == (
        f"Off by {255 * off:.1f} of 255 levels on average; 95 % of all values are off by at most "
        f"{255 * off:.1f}. Shown {gain} times as strong: full brightness is a difference of {white} levels "
        "or more."
    )
    assert np.abs(np.asarray(shot.picture, int) - 255 * gain * off).max() <= 1


def test_the_95th_percentile_is_not_the_mean() -> None:
    plan = make_plan(Recipe())
    target = plan.target.copy()
    target[:, :8] += np.float32(0.2)  # a tenth of the rows
    assert 8 / target.shape[1] == pytest.approx(0.1)
    detail = PlanReport.from_plan(replace(plan, target=target)).residual.detail
    assert detail.startswith(
        "Off by 5.1 of 255 levels on average; 95 % of all values are off by at most 51.0."
    )


# ---- the picture


@pytest.mark.parametrize("count", [1, 4, 5])
def test_the_sheet_is_a_picture_of_cells(tmp_path: Path, count: int) -> None:
    recipe = Recipe.from_steps([("contrast", 0.1)] * count)
    plan = make_plan(recipe)
    path = write_report(plan, tmp_path / "plan.png")
    with PIL.Image.open(path) as sheet:
        sheet.load()
    height, width = plan.target.shape[1:]
    cell = round(height * REPORT_CELL / max(height, width))
    rows = 1 + -(-count // REPORT_COLUMNS)
    assert (sheet.format, sheet.mode, sheet.width) == ("PNG", "RGB", REPORT_WIDTH)
    assert rows * (cell + REPORT_GAP) < sheet.height < rows * (cell + REPORT_GAP + 220) + 300
    # The target, the third cell of the first row, is there as it is.
    first = np.asarray(
        PIL.Image.fromarray(to_bytes(plan.target)).resize((REPORT_CELL, cell), PIL.Image.Resampling.BICUBIC)
    )
    left = REPORT_GAP + 2 * (REPORT_CELL + REPORT_GAP)
    columns = np.asarray(sheet)[:, left : left + REPORT_CELL]
    assert any(np.array_equal(columns[top : top + cell], first) for top in range(60, 300))


def to_bytes(picture: np.ndarray) -> np.ndarray:
    return np.floor(picture.transpose(1, 2, 0) * 255 + 0.5).astype(np.uint8)


def test_the_sheet_draws_the_curves_in_their_colours(tmp_path: Path) -> None:
    sheet = np.asarray(PIL.Image.open(write_report(make_plan(LOOK), tmp_path / "plan.png")))
    for colour in ((0xFF, 0x7B, 0x72), (0x63, 0xD4, 0x89), (0x79, 0xB4, 0xFF)):
        assert (sheet == colour).all(axis=-1).sum() > 50


@pytest.mark.parametrize("shape", [(3, 400, 8), (3, 8, 400), (3, 2, 2)])
@pytest.mark.parametrize("ending", [".html", ".png"])
def test_pictures_of_odd_shapes(tmp_path: Path, shape: tuple[int, int, int], ending: str) -> None:
    picture = np.full(shape, 0.5, np.float32)
    plan = Plan(Recipe(name="Märzlicht 月"), 0.0, 0.0, (0.0,), (picture,), picture)
    assert write_report(plan, tmp_path / f"plan{ending}").stat().st_size > 500


# ---- files


@pytest.mark.parametrize("name", ["plan.pdf", "plan", "plan.html.gz"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"a report is written as \.html or \.png; give one of those"):
        write_report(make_plan(Recipe()), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_kept_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "Plan.HTML"
    path.write_text("mine")
    with pytest.raises(OutputError, match="already exists"):
        write_report(make_plan(Recipe()), path)
    assert path.read_text() == "mine"
    write_report(make_plan(Recipe()), str(path), overwrite=True)
    assert "Changes nothing." in path.read_text(encoding="utf-8")

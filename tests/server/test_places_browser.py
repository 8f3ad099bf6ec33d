"""Parts of a photo in the page: chips, masks over the photo, tools that mark, and where a step applies."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.server.live import Table, on_a_desktop

pytestmark = pytest.mark.slow


@pytest.fixture
def discs(tmp_path: Path) -> Path:
    """A photo of two red discs on grey; no place has a name there."""
    y, x = np.mgrid[:160, :240]
    pixels = np.full((160, 240, 3), 128, np.uint8)
    for centre in (60, 180):
        pixels[(x - centre) ** 2 + (y - 80) ** 2 < 40**2] = (200, 40, 40)
    PIL.Image.fromarray(pixels).save(tmp_path / "discs.png")
    return tmp_path / "discs.png"


def open_photo(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
    table.page.wait_for_selector("#more-places option[value=reds]", state="attached")


def read_mask(table: Table) -> np.ndarray:
    """The mask that is shown (H, W), 0 to 1; zeros where none is."""
    table.rest()
    rows = table.page.evaluate("""() => {
        const canvas = document.getElementById("mask");
        if (document.getElementById("marked").hidden) return [[0]];
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return Array.from({ length: canvas.height }, (_, y) =>
            Array.from({ length: canvas.width }, (_, x) => data[4 * (y * canvas.width + x) + 3]));
    }""")
    return np.array(rows) / (0.55 * 255)


def read_mask_colour(table: Table, x: int, y: int) -> list[int]:
    """Red, green and blue of the mask that is shown."""
    find = "(one, [x, y]) => [...one.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)"
    return list(table.page.locator("#mask").evaluate(find, [x, y]))


def point_at(table: Table, x: float, y: float) -> tuple[float, float]:
    """A point of the photo, in shares, on the screen."""
    box = table.page.locator("#picture").bounding_box()
    assert box is not None
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def press(table: Table, words: str) -> None:
    table.page.locator("#tools").get_by_role("button", name=words, exact=True).click()
    table.rest()


def tools_fit(table: Table) -> bool:
    """Whether all of the marking tools is on the screen, and every button has a name."""
    table.page.wait_for_selector("#tools:not([hidden])")
    return bool(
        table.page.locator("#tools button").evaluate_all("""all => all.every((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            const inside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
            return inside && one.innerText.trim();
        })""")
    )


def get_wheres(table: Table) -> list[object]:
    return [one.get("where") for one in table.state()["recipe"]["steps"]]


def test_chips_say_where_a_request_applies(table: Table, discs: Path) -> None:
    open_photo(table, discs)
    table.page.select_option("#more-places", "reds")
    assert read_mask(table)[80, [60, 120]] == pytest.approx([1, 0], abs=0.02), "shown for a moment"
    table.say("a stop darker")
    table.page.click("[data-word=reds]")
    assert table.page.inner_text("[data-word=reds]") == "Not reds"
    table.say("a stop brighter")
    table.page.click("#whole")
    table.say("more contrast")
    assert sorted(map(str, get_wheres(table))) == ["None", "not reds", "reds"]
    table.page.click("#undo")
    table.rest()
    assert len(get_wheres(table)) == 2
    assert table.fits()


def test_a_step_is_put_elsewhere_and_its_mask_refined(table: Table, discs: Path) -> None:
    open_photo(table, discs)
    table.say("a stop darker")
    menu = table.page.locator(".card .where")
    menu.locator("select").select_option("reds")
    table.rest()
    menu.get_by_label("Show where").click()
    inside = read_mask(table).sum()
    assert read_mask(table)[80, 60] == pytest.approx(1, abs=0.02)
    menu.get_by_label("Soften or grow").click()
    menu.get_by_label("Grow the mask of exposure, number").fill("40")
    table.page.keyboard.press("Tab")
    table.rest()
    assert read_mask(table).sum() > 1.1 * inside
    menu.get_by_label("everywhere else").click()
    assert read_mask(table)[80, [60, 120]] == pytest.approx([0, 1], abs=0.02)
    assert get_wheres(table) == [{"of": "reds", "grow": 40, "invert": True}]
    panel = "(one) => one.scrollWidth <= one.clientWidth"
    assert table.page.locator("#panel").evaluate(panel), "nothing sticks out of the panel"
    menu.locator("select").select_option("")
    table.rest()
    assert get_wheres(table) == [None]
    assert not read_mask(table).any()


def test_what_has_no_name_is_clicked_on(table: Table, discs: Path) -> None:
    open_photo(table, discs)
    table.say("brighten the car")
    assert "nothing was changed" in table.page.inner_text("#answer")
    table.page.click("#point")
    assert tools_fit(table)
    table.page.mouse.click(*point_at(table, 0.25, 0.5))
    assert read_mask(table)[80, [60, 180, 120]] == pytest.approx([1, 0, 0], abs=0.1), "one disc alone"
    with table.page.expect_response(lambda answer: answer.url.endswith("/requests")):
        press(table, "Done")
    table.rest()
    steps = table.state()["recipe"]["steps"]
    assert steps
    assert all(one["mask"]["png"] for one in steps)
    menu = table.page.locator(".card .where").first
    menu.get_by_label("Show where").click()
    inside = read_mask(table).sum()
    menu.get_by_label("Soften or grow").click()
    with table.page.expect_response(lambda answer: answer.url.endswith("/recipe")):
        menu.get_by_role("button", name=re.compile("^Grow the mask")).click()
    assert read_mask(table).sum() > 1.02 * inside
    assert table.fits()


@on_a_desktop
def test_brush_eraser_and_gradient(table: Table, discs: Path) -> None:
    open_photo(table, discs)
    table.page.click("#mark-brush")
    press(table, "Done")
    assert "Nothing is marked yet" in table.page.inner_text("#notices")

    def stroke(start: tuple[float, float], end: tuple[float, float]) -> None:
        table.page.mouse.move(*point_at(table, *start))
        table.page.mouse.down()
        table.page.mouse.move(*point_at(table, *end), steps=4)
        table.page.mouse.up()

    stroke((0.2, 0.5), (0.8, 0.5))
    assert read_mask(table)[[80, 80, 10], [60, 120, 120]] == pytest.approx([1, 1, 0], abs=0.02)
    table.page.keyboard.press("e")
    stroke((0.5, 0.2), (0.5, 0.8))
    assert read_mask(table)[80, [60, 120]] == pytest.approx([1, 0], abs=0.02)
    table.page.keyboard.press("Control+z")
    assert read_mask(table)[80, 120] == pytest.approx(1, abs=0.02)
    table.page.keyboard.press("i")
    assert read_mask(table)[[80, 10], [120, 120]] == pytest.approx([0, 1], abs=0.02)
    press(table, "Gradient")
    stroke((0.5, 0.25), (0.5, 0.75))
    mask = read_mask(table)
    assert mask[[20, 80, 140], 120] == pytest.approx([1, 0.5, 0], abs=0.05)
    table.page.keyboard.press("Enter")
    assert table.page.is_hidden("#tools")
    table.say("a stop darker")
    (where,) = get_wheres(table)
    assert isinstance(where, dict)
    assert where["linear"]["from"] == pytest.approx([0.5, 0.25], abs=0.01)


@on_a_desktop
def test_a_mask_has_another_colour_than_what_it_covers(table: Table, discs: Path) -> None:
    open_photo(table, discs)
    table.page.click("#mark-gradient")
    press(table, "Brush")
    table.page.mouse.click(*point_at(table, 0.5, 0.5))
    red, *others = read_mask_colour(table, 120, 80)
    assert red > max(others) + 100, "red on grey"
    press(table, "Cancel")
    table.page.select_option("#more-places", "reds")
    table.page.click("#show-mask")
    assert read_mask(table)[80, 60] == pytest.approx(1, abs=0.02)
    red, *others = read_mask_colour(table, 60, 80)
    assert red + 100 < min(others), "cyan on red"


@on_a_desktop
def test_a_part_is_painted_by_keyboard(table: Table, discs: Path) -> None:
    open_photo(table, discs)
    table.page.locator("#divider, body").last.focus()
    table.page.keyboard.press("p")
    assert table.page.evaluate("() => document.activeElement.id") == "surface"
    table.page.keyboard.down(" ")
    for _ in range(3):
        table.page.keyboard.press("Shift+ArrowRight")
    table.page.keyboard.up(" ")
    assert read_mask(table)[80, [120, 180, 40]] == pytest.approx([1, 1, 0], abs=0.1)
    table.page.keyboard.press("Enter")
    assert table.page.inner_text("#marked-part").startswith("Marked part")
    table.page.keyboard.press("p")
    table.page.wait_for_selector("#tools:not([hidden])")
    table.page.keyboard.press("Escape")
    assert table.page.is_hidden("#tools")
    assert table.page.locator("#marked-part").count() == 1, "what was marked before stays"

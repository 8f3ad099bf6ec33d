"""The darkroom's page in a real browser: asking for an edit, seeing it and adjusting it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import t2onet
from t2onet import Recipe
from t2onet.looks import looks
from t2onet.server.photos import encode_preview
from tests.server.browser import PHONE
from tests.server.helpers import decode
from tests.server.live import Table, on_a_desktop, photo_file

pytestmark = pytest.mark.slow


def test_a_photo_is_brought_asked_about_and_taken_back(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    assert table.page.inner_text("#answer").startswith("The photo is as it came. Say in your own words")
    was = table.light()
    table.say("brighter and warmer")
    assert {name for name, _ in table.steps()} >= {"white_balance", "exposure"}
    assert table.page.locator(".card .does q").all_inner_texts() == ["warmer", "brighter"]
    assert table.light() > was + 10
    bright = table.light()
    table.say("a bit less")
    assert was < table.light() < bright - 1
    for expected in (bright, was):
        table.page.click("#undo")
        table.rest()
        assert table.light() == pytest.approx(expected, abs=1e-9)
    assert table.page.is_disabled("#undo")
    table.page.click("#redo")
    table.rest()
    assert table.light() == pytest.approx(bright, abs=1e-9)
    table.say("remove the tree")
    assert "nothing was changed" in table.page.inner_text("#answer")
    assert table.light() == pytest.approx(bright, abs=1e-9)
    table.say("make it darker and remove the tree")
    reply, _, declined = table.page.inner_text("#answer").partition("Not done, “")
    assert reply.removeprefix("make it darker and remove the tree").strip()
    assert re.fullmatch("[^”]*tree[^”]*”: things cannot be removed from a photo.", declined)
    assert table.light() < bright - 1
    assert table.fits()


def unfold(table: Table, *titles: str) -> None:
    """Open these parts of the sliders, one inside the other."""
    for title in titles:
        summary = table.page.locator("#adjust summary:visible").get_by_text(title, exact=True).first
        if not summary.evaluate("one => one.parentElement.open"):
            summary.click()


def locate(table: Table, selector: str) -> tuple[float, float]:
    box = table.page.locator(selector).bounding_box()
    assert box is not None
    return box["x"], box["y"]


def test_sliders_and_curves_are_dragged(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    was = table.light()
    unfold(table, "Light", "More")
    table.drag("#adjust [aria-label=Brightness]", (40, 0), start=(1 / 3, 0.5))
    ((name, (amount,)),) = table.steps()
    assert name == "brightness"
    assert amount > 0.1
    assert table.light() > was + 5
    assert table.page.locator(".card .does").inner_text() == f"{amount:.0%} brighter".replace("%", " %")
    assert table.page.locator(".card .controls .number").input_value() == f"{amount:+.2f}"
    unfold(table, "Tone")
    lit = table.light()
    table.drag("#adjust .tool[open] .knot:nth-child(4)", (0, -40))
    rises = np.array(table.steps()[1][1])
    heights = np.cumsum(rises) / rises.sum()
    assert heights[3] > 0.6
    assert (np.diff(heights) > 0).all()
    assert table.light() > lit + 3
    table.page.locator(".card .name:not(:disabled)").click()
    table.page.locator(".card .curve .knot").nth(3).focus()
    table.page.keyboard.press("ArrowDown")
    table.rest()
    lower = np.array(table.steps()[1][1])
    assert np.cumsum(lower)[3] / lower.sum() == pytest.approx(heights[3] - 0.01, abs=1e-3)
    assert table.state()["revision"] == 3, "one change for each thing that was let go"


def test_a_slider_changes_the_step_that_is_there(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    table.say("more saturated and sharper")
    asked = table.steps()
    unfold(table, "Light")
    exposure = "#adjust [aria-label=Exposure]"
    table.page.locator(exposure).evaluate("one => one.scrollIntoView({ block: 'center' })")
    place = locate(table, exposure)
    table.page.fill("#adjust [aria-label='Exposure, number']", "0.5")
    table.page.keyboard.press("Tab")
    table.rest()
    assert table.steps() == [("exposure", [0.5]), *asked]
    assert table.page.locator("#adjust [aria-label='Exposure, number']").input_value() == "+0.50 EV"
    assert locate(table, exposure) == pytest.approx(place, abs=1), "nothing moves away while one adjusts"
    table.page.fill("#adjust [aria-label='Exposure, number']", "-1")
    table.page.keyboard.press("Tab")
    table.rest()
    assert table.steps() == [("exposure", [-1]), *asked], "no second step"
    table.page.locator(".card:nth-child(1) .controls input[type=range]").fill("1")
    table.rest()
    assert table.page.input_value(exposure) == "1", "both show the same step"
    table.page.locator(exposure).dblclick()
    table.rest()
    assert table.steps() == asked, "at rest it is no step"
    unfold(table, "Colour", "Mixer")
    table.page.locator("#adjust [aria-label='Red saturation']").fill("20")
    table.rest()
    does = table.page.locator(".card .does").all_inner_texts()
    assert does.count("Richer reds (red saturation +20)") == 1
    assert table.fits()


def test_steps_are_switched_moved_and_removed(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    was = table.light()
    table.say("sharper, and brighten it by half a stop")
    table.page.locator(".card .switch").first.click()
    table.rest()
    assert [name for name, _ in table.steps()] == ["sharpness"]
    assert table.page.locator(".card.off .name").inner_text() == "Exposure"
    assert table.light() == pytest.approx(was, abs=1)
    table.page.locator(".card .switch").first.click()
    table.rest()
    table.page.locator(".card .grip").first.focus()
    table.page.keyboard.press("ArrowDown")
    table.rest()
    assert [name for name, _ in table.steps()] == ["sharpness", "exposure"]
    table.drag(".card:last-child .grip", (0, -130))
    assert [name for name, _ in table.steps()] == ["exposure", "sharpness"]
    table.page.click("[aria-label='Remove exposure']")
    table.rest()
    assert [name for name, _ in table.steps()] == ["sharpness"]
    table.page.click("#reset")
    table.rest()
    assert table.steps() == []


def test_the_history_is_shown_and_gone_through(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    assert table.page.is_hidden("#history"), "nothing was done yet"
    table.say("half a stop brighter")
    bright = table.light()
    table.say("warmer")
    table.page.keyboard.press("Escape")
    table.page.keyboard.press("h")
    lines = table.page.locator("#done button")
    table.page.wait_for_selector("#done li:nth-child(3)")
    assert lines.all_inner_texts() == ["“warmer”", "“half a stop brighter”", "As it came"]
    table.page.keyboard.press("Tab")
    table.page.keyboard.press("Tab")
    table.page.keyboard.press("Enter")
    table.page.wait_for_selector("#done [aria-current]:has-text('brighter')")
    table.rest()
    assert table.page.locator("#done .undone").all_inner_texts() == ["“warmer”"]
    assert table.page.evaluate("document.activeElement.textContent") == "“half a stop brighter”", (
        "one can go on from here"
    )
    assert [name for name, _ in table.steps()] == ["exposure"]
    assert table.light() == pytest.approx(bright, abs=1e-9)
    lines.last.click()
    table.page.wait_for_selector("#done [aria-current]:has-text('As it came')")
    assert table.steps() == []
    lines.first.click()
    table.page.wait_for_selector("#done [aria-current]:has-text('warmer')")
    assert {name for name, _ in table.steps()} == {"white_balance", "exposure"}
    assert table.fits()


TELL = "async (words) => { const { notice } = await import('/js/notices.js'); notice(words); }"
COVERED = """() => {
    const notices = [...document.querySelectorAll(".notice")].map((one) => one.getBoundingClientRect());
    const handle = ({ left, width, top, height }) => ({
        left, right: left + width, top: top + height / 2 - 18, bottom: top + height / 2 + 18,
    });
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll("button, input, select, summary, [role=slider]")]
        .filter((one) => one.checkVisibility() && !one.closest(".notice"))
        .filter((one) => {
            const whole = one.getBoundingClientRect();
            const box = one.id === "divider" ? handle(whole) : whole;
            return box.bottom > 0 && box.top < innerHeight && notices.some((notice) => meet(box, notice));
        }).map((one) => one.outerHTML);
}"""


def test_what_is_said_covers_nothing_that_can_be_pressed(table: Table, sea: Path, tmp_path: Path) -> None:
    table.enter()
    table.page.evaluate(TELL, "The server cannot be reached; is it still running?")
    assert table.page.evaluate(COVERED) == []
    table.bring(sea, photo_file(tmp_path / "other.png", seed=1))
    table.say("brighter and warmer")
    for _ in range(3):
        table.page.evaluate(TELL, "This photo was changed elsewhere meanwhile; this is how it stands now.")
    assert table.page.locator("#notices .notice").count() == 2
    assert table.page.evaluate(COVERED) == []
    table.page.click("#match")
    table.page.evaluate(TELL, "The server cannot be reached; is it still running?")
    assert table.page.locator("dialog .notice").count() == 1, "behind a dialog nobody would read it"
    table.page.click("dialog [aria-label=Dismiss]")
    assert table.page.locator("dialog .notice").count() == 0


def test_strength_and_variants(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    was = table.light()
    table.say("half a stop brighter")
    full = table.light()
    table.page.locator("#strength input[type=range]").fill("0.5")
    table.rest()
    assert was < table.light() < full
    assert table.state()["strength"] == 0.5
    table.page.click("#want-variants")
    table.page.wait_for_selector("#variants .thumb:nth-child(3) img[src^=blob]")
    table.rest()
    before = table.steps()
    table.page.locator("#variants .thumb").nth(2).click()
    table.rest()
    assert table.steps() != before
    assert [name for name, _ in table.steps()] == ["exposure"]
    table.page.fill("#request", "save it")
    table.page.click("#want-variants")
    table.page.wait_for_selector(".notice")
    assert "Save it with the button" in table.page.inner_text(".notice"), "there is nothing to choose from"
    assert table.fits()


def test_a_named_look_is_put_on_the_photo(table: Table, sea: Path) -> None:
    table.enter()
    table.page.click("#looks")
    assert table.page.locator("dialog").count() == 0, "there is nothing to put it on"
    table.bring(sea)
    was = table.light()
    table.page.click("#looks")
    table.page.wait_for_selector("dialog .choice")
    assert table.page.locator("dialog .choice:not(:has(#own-looks)) button").count() == len(looks())
    assert table.fits()
    table.page.click("dialog button:text-is('High key')")
    table.page.wait_for_selector("#notices .notice")
    table.rest()
    expected = [step.operation for step in looks()["high key"].recipe.steps]
    assert [name for name, _ in table.steps()] == expected
    assert table.light() > was + 10
    assert table.state()["request"] == ""


LISTENING = """(local) => {
    window.SpeechRecognition = class {
        static available() { return Promise.resolve(local ? "available" : "unavailable"); }
        start() {
            window.processedHere = this.processLocally ?? false;
            this.onresult({ results: [Object.assign([{ transcript: "more contrast" }], { isFinal: true })] });
            this.onend();
        }
    };
}"""


@on_a_desktop
@pytest.mark.parametrize("local", [True, False])
def test_a_request_is_spoken(table: Table, sea: Path, local: bool) -> None:
    table.page.add_init_script(f"({LISTENING})({str(local).lower()})")
    table.enter()
    table.bring(sea)
    if not local:
        table.page.click("#speak")
        assert "Press again" in table.page.inner_text(".notice"), "what leaves this machine is said before"
        assert table.steps() == []
    table.page.click("#speak")
    table.page.wait_for_selector(".card")
    table.rest()
    assert [name for name, _ in table.steps()] == ["contrast"]
    assert table.page.evaluate("() => window.processedHere") is local


def test_the_line_between_before_and_after(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    assert table.page.is_hidden("#divider"), "there is nothing to compare yet"
    table.say("brighter")
    clip = "() => parseFloat(document.getElementById('after').style.clipPath.split(' ').at(-1))"
    middle = table.page.evaluate(clip)
    table.drag("#divider", (-50, 0))
    assert table.page.evaluate(clip) == pytest.approx(middle - 50, abs=2)
    table.page.focus("#divider")
    table.page.keyboard.press("End")
    assert table.page.get_attribute("#divider", "aria-valuenow") == "100"
    table.page.click("#compare")
    assert table.page.is_hidden("#divider")


def test_zoom_shows_the_pixels_of_the_file(table: Table, tmp_path: Path) -> None:
    table.enter()
    table.bring(photo_file(tmp_path / "large.png", side=2400))
    widths = "() => { const one = document.getElementById('picture'); return [one.width, one.clientWidth] }"
    assert table.page.evaluate(widths)[0] < 2000
    for key in ("1", "+", "+"):
        table.page.keyboard.press(key)
    table.page.wait_for_function("() => document.getElementById('picture').width === 2400")
    shown = table.page.evaluate(widths)[1]
    assert shown == pytest.approx(2400 * 1.25**2, rel=0.01)
    begun = table.page.locator("#picture").bounding_box()
    table.drag("#stage", (-60, -30))
    moved = table.page.locator("#picture").bounding_box()
    assert begun is not None
    assert moved is not None
    assert (moved["x"] - begun["x"], moved["y"] - begun["y"]) == pytest.approx((-60, -30), abs=1)
    table.page.keyboard.press("0")
    assert table.page.evaluate(widths)[1] < 1280


@pytest.mark.parametrize("monitored_page", [PHONE], ids=["phone"], indirect=True)
def test_two_fingers_zoom(table: Table, tmp_path: Path) -> None:
    table.enter()
    table.bring(photo_file(tmp_path / "large.png", side=1200))
    width = "() => document.getElementById('picture').clientWidth"
    fitted = table.page.evaluate(width)
    fingers = table.page.context.new_cdp_session(table.page)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchEnd", None)):
        points = [] if apart is None else [{"x": 195 + way * apart / 2, "y": 250} for way in (-1, 1)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert table.page.evaluate(width) == pytest.approx(2 * fitted, rel=0.05)


@on_a_desktop
def test_keys_are_explained_and_do_not_disturb_typing(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    table.page.keyboard.press("?")
    assert "Say what should change" in table.page.inner_text("dialog")
    table.page.keyboard.press("Escape")
    table.page.keyboard.press("/")
    table.page.keyboard.type("save more contrast")
    assert table.page.locator("dialog").count() == 0
    table.page.keyboard.press("Enter")
    table.page.wait_for_selector(".card")
    table.rest()
    table.page.keyboard.press("Escape")
    table.page.keyboard.press("Control+z")
    table.rest()
    assert table.steps() == []


def test_everything_can_be_named(table: Table, sea: Path) -> None:
    """Whoever does not see the page is told what each control is."""
    table.enter()
    table.bring(sea)
    table.say("brighter and warmer")
    unfold(table, "Light", "More", "Tone")
    table.drag("#adjust .tool[open] .knot:nth-child(4)", (0, -40))
    table.page.locator(".card .name:not(:disabled)").click()
    assert table.page.locator(".card .knot").count() > 0
    nameless = table.page.evaluate("""() => [...document.querySelectorAll(
        "button, input, select, [role=slider], canvas, img")].filter((one) => {
            const words = one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent;
            return one.checkVisibility() && one.id !== "original" && !(words || one.alt || "").trim();
        }).map((one) => one.outerHTML)""")
    assert nameless == []
    if table.page.viewport_size == dict(zip(("width", "height"), PHONE, strict=True)):
        small = table.page.evaluate("""() => [...document.querySelectorAll("#bar button, #ask button, .chip")]
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 36)
            .map((one) => one.outerHTML)""")
        assert small == []


@on_a_desktop
def test_a_conflict_is_told_and_resolved(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    table.page.evaluate("""async () => {
        const { address } = await import("/js/room.js");
        const recipe = { steps: [{ operation: "contrast", parameters: [0.3] }] };
        const headers = { "Content-Type": "application/json" };
        const body = JSON.stringify({ recipe, revision: 0 });
        await fetch(`/api/v1${address()}/recipe`, { method: "PUT", headers, body });
    }""")
    table.say("brighter")
    assert "changed elsewhere" in table.page.inner_text(".notice")
    assert table.page.locator(".card .name").all_inner_texts() == ["Contrast"]
    table.say("brighter")
    assert {name for name, _ in table.steps()} >= {"contrast", "exposure"}
    table.monitored_page.wrong.clear()  # the browser notes the conflict, too


def test_the_stage_follows_a_crop_and_a_turn(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    height, width = table.state()["height"], table.state()["width"]
    table.page.evaluate("""async () => {
        const { use } = await import("/js/recipe.js");
        await use({ steps: [
            { operation: "rotate", parameters: [90] }, { operation: "crop", parameters: [0, 0, 1, 0.5] },
        ] });
    }""")
    table.rest()
    assert table.page.inner_text("#photo-facts") == f"{height} × {round(width / 2)}"
    assert table.steps() == [("rotate", [90]), ("crop", [0, 0, 1, 0.5])]
    for layer in ("#picture", "#original"):
        box = table.page.locator(layer).bounding_box()
        assert box is not None
        assert box["width"] / box["height"] == pytest.approx(height / round(width / 2), rel=0.02)
    table.page.wait_for_function("() => document.getElementById('original').complete")
    before = table.page.evaluate("() => document.getElementById('original').naturalWidth")
    assert before == table.page.evaluate("() => document.getElementById('picture').width")
    table.page.click("#save")
    assert f"{height} × {round(width / 2)}" in table.page.inner_text("dialog")


PICTURE = """() => {
    const canvas = document.getElementById("picture");
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    return [canvas.width, canvas.height, [...copy.getImageData(0, 0, canvas.width, canvas.height).data]];
}"""


def shown_pixels(table: Table) -> np.ndarray:
    """The picture on the stage, (H, W, 3)."""
    width, height, data = table.page.evaluate(PICTURE)
    return np.array(data, np.uint8).reshape(height, width, 4)[..., :3]


GEOMETRY_MOVES = [
    ("Rotate", "90", ("rotate", [90])),
    ("Horizontal flip", "1", ("flip", [1, 0])),
    ("Vertical flip", "1", ("flip", [0, 1])),
    ("Straighten", "10", ("straighten", [10])),
    ("Crop left", "0.5", ("crop", [0.5, 0, 1, 1])),
    ("Crop bottom", "0.25", ("crop", [0, 0, 1, 0.25])),
]


@on_a_desktop
def test_sliders_of_geometry_move_the_picture(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    unfold(table, "Geometry", "Crop")
    before = t2onet.open_image(sea)
    for label, value, (name, values) in GEOMETRY_MOVES:
        slider = table.page.locator(f"#adjust [aria-label='{label}']")
        rest = slider.input_value()
        slider.fill(value)
        table.rest()
        assert table.steps() == [(name, values)]
        expected = np.asarray(t2onet.apply(Recipe.from_steps([(name, values)]), before))
        picture = shown_pixels(table)
        assert picture.shape == expected.shape
        assert np.abs(picture.astype(int) - decode(encode_preview(expected))).mean() < 1
        assert table.page.inner_text("#photo-facts") == f"{expected.shape[1]} × {expected.shape[0]}"
        slider.fill(rest)
        table.rest()
        assert table.steps() == []
    np.testing.assert_array_equal(shown_pixels(table).shape, before.shape)


def test_the_name_of_a_slider_is_one_line(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    table.page.evaluate("() => { for (const one of document.querySelectorAll('details')) one.open = true; }")
    for label in ("Color denoise", "Horizontal flip"):
        table.page.locator(f"#adjust [aria-label='{label}']").fill("1")
        table.rest()
    assert table.page.locator(".card .controls .label").count() == 4
    wrapped = table.page.locator(".label").evaluate_all("""labels => labels.filter((one) => {
        const line = parseFloat(getComputedStyle(one).lineHeight);
        return one.getBoundingClientRect().height > 1.5 * line || one.scrollWidth > one.clientWidth;
    }).map((one) => one.textContent)""")
    assert wrapped == []
    assert table.fits()

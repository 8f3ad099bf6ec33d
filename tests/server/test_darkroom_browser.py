"""The darkroom's page in a real browser: from a photo that is brought to a file that is saved."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet.server.app import STATIC
from tests.editor.made import Scripted
from tests.planning.scenes import scene

from .browser import DESKTOP, PHONE, Noted
from .live import Table, served

pytestmark = pytest.mark.slow
FIRST_LOAD = 300_000
on_a_desktop = pytest.mark.parametrize("noted", [DESKTOP], ids=["desktop"], indirect=True)
HOSTILE = "<img src=x onerror=\"document.title='taken'\"> 🏔"


@pytest.fixture
def table(noted: Noted, tmp_path: Path) -> Iterator[Table]:
    """The page of a new darkroom, on a desktop and on a phone."""
    with served(tmp_path / "server", Scripted()) as base:
        yield (found := Table(noted, base))
        found.went_well()


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    return photo_file(tmp_path / "sea.png")


def photo_file(path: Path, side: int = 240, seed: int = 0) -> Path:
    picture = np.uint8(255 * scene(side, seed).transpose(1, 2, 0)[: side * 2 // 3])
    PIL.Image.fromarray(picture).save(path)
    return path


def fits(table: Table) -> bool:
    """Nothing sticks out to the right."""
    return bool(table.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_the_first_load_is_small_and_all_from_here(table: Table) -> None:
    table.enter()
    taken = table.page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".reduce((sum, one) => sum + one.transferSize, 0)"
    )
    held = sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file())
    assert held / 2 < taken < FIRST_LOAD
    assert held < FIRST_LOAD
    assert fits(table)


def test_a_photo_is_brought_asked_about_and_taken_back(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
    was = table.light()
    table.say("brighter and warmer")
    assert [name for name, _ in table.steps()] == ["brightness", "color"]
    assert table.page.locator(".card .does q").all_inner_texts() == ["brighter", "warmer"]
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
    table.say("crop the left side")
    assert "nothing was changed" in table.page.inner_text("#answer")
    assert table.light() == pytest.approx(bright, abs=1e-9)
    assert fits(table)


def test_sliders_and_curves_are_dragged(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
    was = table.light()
    table.page.select_option("#operation", "brightness")
    table.rest()
    table.drag(".card input[type=range]", (40, 0), start=(1 / 3, 0.5))
    ((name, (amount,)),) = table.steps()
    assert name == "brightness"
    assert amount > 0.1
    assert table.light() > was + 5
    assert table.page.locator(".card .does").inner_text() == f"Brightens by {amount:.0%}".replace("%", " %")
    table.page.select_option("#operation", "tone")
    table.rest()
    lit = table.light()
    table.drag(".curve .knot:nth-child(4)", (0, -40))
    rises = np.array(table.steps()[1][1])
    heights = np.cumsum(rises) / rises.sum()
    assert heights[3] > 0.6
    assert (np.diff(heights) > 0).all()
    assert table.light() > lit + 3
    table.page.locator(".curve .knot").nth(3).focus()
    table.page.keyboard.press("ArrowDown")
    table.rest()
    lower = np.array(table.steps()[1][1])
    assert np.cumsum(lower)[3] / lower.sum() == pytest.approx(heights[3] - 0.01, abs=1e-3)
    assert table.state()["revision"] == 5, "one change for each thing that was let go"


def test_steps_are_switched_moved_and_removed(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
    was = table.light()
    table.say("brighter and sharper")
    table.page.locator(".card .switch").first.click()
    table.rest()
    assert [name for name, _ in table.steps()] == ["sharpness"]
    assert table.page.locator(".card.off .name").inner_text() == "Brightness"
    assert table.light() == pytest.approx(was, abs=1)
    table.page.locator(".card .switch").first.click()
    table.rest()
    table.page.locator(".card .grip").first.focus()
    table.page.keyboard.press("ArrowDown")
    table.rest()
    assert [name for name, _ in table.steps()] == ["sharpness", "brightness"]
    table.drag(".card:last-child .grip", (0, -130))
    assert [name for name, _ in table.steps()] == ["brightness", "sharpness"]
    table.page.click("[aria-label='Remove brightness']")
    table.rest()
    assert [name for name, _ in table.steps()] == ["sharpness"]
    table.page.click("#reset")
    table.rest()
    assert table.steps() == []


@on_a_desktop
def test_strength_and_variants(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
    was = table.light()
    table.say("brighter")
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
    assert [name for name, _ in table.steps()] == ["brightness"]
    assert fits(table)


@on_a_desktop
def test_a_look_is_matched(table: Table, photo: Path, tmp_path: Path) -> None:
    look = t2onet.Recipe.from_steps([("brightness", 0.2), ("saturation", -0.5)])
    before = photo_file(tmp_path / "before.png", seed=3)
    after = tmp_path / "after.png"
    t2onet.apply(look, before).save(after)
    table.enter()
    table.bring(photo)
    table.page.click("#match")
    table.page.set_input_files("#look-before", str(before))
    table.page.set_input_files("#look-after", str(after))
    table.page.click("#find-look")
    table.page.click("#use-look")
    table.page.wait_for_selector(".card")
    table.rest()
    found = dict(table.steps())
    assert found["brightness"][0] == pytest.approx(0.2, abs=0.05)
    assert found["saturation"][0] == pytest.approx(-0.5, abs=0.05)
    session = table.page.evaluate("async () => (await import('/js/room.js')).room.session")
    kept = table.page.evaluate("session => fetch('/api/v1' + session).then(one => one.json())", session)
    assert [one["name"] for one in kept["photos"]] == ["sea.png"], "the pair was only needed for the look"


@on_a_desktop
def test_what_is_saved_is_what_was_seen(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
    untouched = table.saved("Save photo")
    assert Path(untouched.path()).read_bytes() == photo.read_bytes()
    table.say("brighter and warmer")
    picture, recipe, cube = (table.saved(one) for one in ("Save photo", "Save recipe", "Save .cube"))
    assert [one.suggested_filename for one in (picture, recipe, cube)] == [
        "sea-edited.png",
        "sea-edited.json",
        "sea.cube",
    ]
    made = t2onet.apply(t2onet.Recipe.from_json(Path(recipe.path()).read_text()), photo)
    with PIL.Image.open(picture.path()) as file:
        assert np.array_equal(np.asarray(file), np.asarray(made))
    assert table.light() == pytest.approx(float(np.mean(made)), abs=2)
    assert "LUT_3D_SIZE 33" in Path(cube.path()).read_text()


@on_a_desktop
def test_an_edit_is_applied_to_many(table: Table, photo: Path, tmp_path: Path) -> None:
    table.enter()
    table.bring(photo, *(photo_file(tmp_path / f"{name}.png", seed=name) for name in (1, 2)))
    table.say("brighter")
    table.page.click("#many")
    table.page.click("#many-start")
    with table.page.expect_download() as download:
        table.page.click("#many-save")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert len(archive.namelist()) == 3
    assert "3 of 3 done" in table.page.inner_text("dialog")


@on_a_desktop
def test_a_folder_is_picked_and_a_batch_of_it_is_cancelled(table: Table, tmp_path: Path) -> None:
    (folder := tmp_path / "trip").mkdir()
    for number in range(4):
        photo_file(folder / f"{number}.png", side=900, seed=number)
    (folder / "notes.txt").write_text("no photo")
    table.enter()
    table.page.set_input_files("#folder-input", str(folder))
    table.page.wait_for_selector("#strip > div:nth-child(4)")
    table.rest()
    table.page.click("#many")
    table.page.fill("#many-request", "brighter and sharper")
    table.page.click("#many-start")
    table.page.click("#many-cancel")
    table.page.wait_for_selector("dialog .cancelled")
    assert ", cancelled" in table.page.inner_text("dialog [role=status]")


@on_a_desktop
def test_a_photo_is_dropped(table: Table, photo: Path) -> None:
    table.enter()
    table.page.evaluate(
        """numbers => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([new Uint8Array(numbers)], "dropped.png", { type: "image/png" }));
            for (const kind of ["dragenter", "dragover", "drop"]) {
                document.getElementById("stage").dispatchEvent(
                    new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
            }
        }""",
        list(photo.read_bytes()),
    )
    table.page.wait_for_selector("#picture[data-shown]")
    assert table.page.text_content("#photo-name") == "dropped.png"
    assert table.page.is_hidden("#dropping")


@on_a_desktop
def test_names_and_requests_are_text(table: Table, tmp_path: Path) -> None:
    table.enter()
    table.bring(photo_file(tmp_path / f"{HOSTILE.replace('/', '')}.png"))
    assert HOSTILE in table.page.title()
    assert table.page.text_content("#photo-name") == f"{HOSTILE}.png"
    table.say(f"brighter {HOSTILE}")
    table.say(f"</q><script>document.title='taken'</script>{HOSTILE}")
    assert HOSTILE in table.page.inner_text("#answer")
    table.page.click("#many")
    assert HOSTILE in table.page.inner_text("dialog")
    table.page.keyboard.press("Escape")
    assert table.page.locator("[onerror], [src=x], main script").count() == 0
    assert table.page.title().startswith("<img")


def test_the_line_between_before_and_after(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
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


@pytest.mark.parametrize("noted", [PHONE], ids=["phone"], indirect=True)
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
def test_keys_are_explained_and_do_not_disturb_typing(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
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


@on_a_desktop
def test_a_file_that_is_no_photo_is_refused_in_words(table: Table, tmp_path: Path) -> None:
    table.enter()
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no photo")
    table.page.set_input_files("#photos-input", str(broken))
    table.page.wait_for_selector(".notice")
    assert "broken.png" in table.page.inner_text(".notice")
    assert table.page.is_visible("#welcome")
    table.noted.wrong.clear()  # the browser notes the refusal, too


def test_everything_can_be_named(table: Table, photo: Path) -> None:
    """Whoever does not see the page is told what each control is."""
    table.enter()
    table.bring(photo)
    table.say("brighter and warmer")
    table.page.locator(".card .name:not(:disabled)").click()
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
def test_a_conflict_is_told_and_resolved(table: Table, photo: Path) -> None:
    table.enter()
    table.bring(photo)
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
    assert [name for name, _ in table.steps()] == ["contrast", "brightness"]
    table.noted.wrong.clear()  # the browser notes the conflict, too

"""The darkroom's page in a real browser: what comes in and what goes out."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet.image import READABLE_SUFFIXES
from t2onet.server.app import STATIC
from t2onet.server.schemas import OUTPUT_FORMATS
from tests.server.live import Table, on_a_desktop, photo_file

pytestmark = pytest.mark.slow
FIRST_LOAD = 300_000
HOSTILE = "<img src=x onerror=\"document.title='taken'\"> 🏔"


def test_the_first_load_is_small_and_all_from_here(table: Table) -> None:
    table.enter()
    taken = table.page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".reduce((sum, one) => sum + one.transferSize, 0)"
    )
    held = sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file())
    assert held / 2 < taken < FIRST_LOAD
    assert held < FIRST_LOAD
    assert table.fits()


def test_the_start_offers_what_the_device_can_do(table: Table) -> None:
    table.enter()
    table.page.click("#match")
    zones = " ".join(table.page.locator(".zone").all_inner_texts())
    table.page.keyboard.press("Escape")
    words = table.page.inner_text("#welcome")
    phone = table.page.evaluate("() => matchMedia('(pointer: coarse)').matches")
    assert ("Drop" not in words + zones) == phone
    assert table.page.is_hidden("#choose-folder") == phone
    assert ("stay on this machine" not in words) == phone, "they go to the one that serves the page"
    assert table.page.is_visible("#choose-photos")


@on_a_desktop
def test_pickers_and_formats_are_those_of_the_server(table: Table, sea: Path) -> None:
    table.enter()
    expected = ",".join(["image/*", *READABLE_SUFFIXES])
    assert table.page.get_attribute("#photos-input", "accept") == expected
    table.bring(sea)
    table.page.click("#match")
    assert table.page.get_attribute("#look-before", "accept") == expected
    table.page.keyboard.press("Escape")
    table.page.click("#save")
    options = table.page.locator("#save-format option")
    assert [option.get_attribute("value") for option in options.all()] == ["", *OUTPUT_FORMATS]
    assert options.all_inner_texts() == ["As it came", *OUTPUT_FORMATS.values()]


@on_a_desktop
def test_a_look_is_matched(table: Table, sea: Path, tmp_path: Path) -> None:
    look = t2onet.Recipe.from_steps([("exposure", 0.5), ("saturation", -0.5)])
    before = photo_file(tmp_path / "before.png", seed=3)
    after = tmp_path / "after.png"
    t2onet.apply(look, before).save(after)
    table.enter()
    table.bring(sea)
    table.say("brighter")
    table.page.click("#match")
    table.page.set_input_files("#look-before", str(before))
    table.page.set_input_files("#look-after", str(sea))
    table.page.click("#find-look")
    table.page.wait_for_selector("#found:has-text('do not show the same scene')")
    table.monitored_page.wrong.clear()
    table.page.set_input_files("#look-after", str(after))
    table.page.click("#find-look:enabled")
    table.page.click("#use-look")
    table.page.wait_for_selector(".card:nth-child(2)")
    table.rest()
    assert "because of" not in table.page.inner_text("#steps"), "no words led to a look"
    found = dict(table.steps())
    assert found["exposure"][0] == pytest.approx(0.5, abs=0.05)
    assert found["saturation"][0] == pytest.approx(-0.5, abs=0.05)
    session = table.page.evaluate("async () => (await import('/js/room.js')).room.session")
    kept = table.page.evaluate("session => fetch('/api/v1' + session).then(one => one.json())", session)
    assert [one["name"] for one in kept["photos"]] == ["sea.png"], "the pair was only needed for the look"


@on_a_desktop
def test_what_is_saved_is_what_was_seen(table: Table, sea: Path) -> None:
    table.enter()
    table.bring(sea)
    untouched = table.saved("Save photo")
    assert Path(untouched.path()).read_bytes() == sea.read_bytes()
    table.say("brighter and warmer")
    picture, recipe, cube = (table.saved(one) for one in ("Save photo", "Save recipe", "Save .cube"))
    assert [one.suggested_filename for one in (picture, recipe, cube)] == [
        "sea-edited.png",
        "sea-edited.png.t2o.json",
        "sea.cube",
    ]
    made = t2onet.apply(t2onet.Recipe.from_json(Path(recipe.path()).read_text()), sea, kernels=True)
    with PIL.Image.open(picture.path()) as file:
        assert np.array_equal(np.asarray(file), np.asarray(made))
    assert table.light() == pytest.approx(float(np.mean(made)), abs=2)
    assert "LUT_3D_SIZE 33" in Path(cube.path()).read_text()


@on_a_desktop
@pytest.mark.parametrize(
    ("button", "name"), [("RawTherapee (.pp3)", "sea.pp3"), ("darktable (.xmp)", "sea.xmp")]
)
def test_settings_for_other_programs_are_saved(table: Table, sea: Path, button: str, name: str) -> None:
    table.enter()
    table.bring(sea)
    table.say("brighter and warmer")
    saved = table.saved(button)
    assert saved.suggested_filename == f"{name}.zip"
    with zipfile.ZipFile(saved.path()) as archive:
        assert archive.namelist() == [name, "sea.png"]
    assert f"{name} applies sea.png: move that to " in table.page.inner_text(".notice")


@on_a_desktop
def test_an_edit_is_applied_to_many(table: Table, sea: Path, tmp_path: Path) -> None:
    table.enter()
    table.bring(sea, *(photo_file(tmp_path / f"{name}.png", seed=name) for name in (1, 2)))
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
def test_a_photo_is_dropped(table: Table, sea: Path) -> None:
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
        list(sea.read_bytes()),
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


@on_a_desktop
def test_a_file_that_is_no_photo_is_refused_in_words(table: Table, tmp_path: Path) -> None:
    table.enter()
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no photo")
    table.page.set_input_files("#photos-input", str(broken))
    table.page.wait_for_selector(".notice")
    assert "broken.png" in table.page.inner_text(".notice")
    assert table.page.is_visible("#welcome")
    table.monitored_page.wrong.clear()  # the browser notes the refusal, too

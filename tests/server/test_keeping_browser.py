"""The darkroom's page in a real browser: what is there again after restarts and removals, or from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from t2onet import Recipe
from t2onet.server import ServerSettings, create_app
from t2onet.server.running import bind_socket, build_server_url
from tests.server.browser import MonitoredPage
from tests.server.live import Table, on_a_desktop, photo_file, running

pytestmark = pytest.mark.slow

LOOK = Recipe.from_steps([("exposure", 0.5), ("contrast", 0.2)], name="Evening")


@dataclass
class Darkroom:
    """A server that keeps things, and can be started again at the same address."""

    place: Path
    photos: Path
    port: int = 0
    link: str = ""
    _run: ExitStack = field(default_factory=ExitStack)

    def start(self, *, serve: bool = False, sidecars: bool = True) -> None:
        settings = ServerSettings(folder=self.place / "server", keep=self.place / "data", sidecars=sidecars)
        with bind_socket("127.0.0.1", self.port) as listening:
            self.port = listening.getsockname()[1]
            app = create_app(settings)
            fragment = ""
            if serve:
                session = app.state.darkroom.preload(sorted(self.photos.glob("*.png")), [str(self.photos)])
                fragment = f"session={session.id}"
            self.link = build_server_url(listening, fragment=fragment)
        self._run.enter_context(running(app, settings, self.port))

    def stop(self) -> None:
        self._run.close()

    def restart(self, *, serve: bool = False) -> None:
        self.stop()
        self.start(serve=serve)


@pytest.fixture
def darkroom(tmp_path: Path) -> Iterator[Darkroom]:
    """A darkroom, and a folder with two photos that it may serve."""
    photos = tmp_path / "trip"
    photos.mkdir()
    for seed, name in enumerate(("a.png", "b.png")):
        photo_file(photos / name, seed=seed)
    found = Darkroom(tmp_path, photos)
    yield found
    found.stop()


NOTICES_STAY = """(() => {
    const begin = window.setTimeout;
    window.setTimeout = (work, delay = 0) => begin(work, delay < 6000 ? delay : 100 * delay);
})()"""
"""Notices are gone after 6 or 12 seconds, which a slow machine may take to look at them."""


@pytest.fixture
def visit(darkroom: Darkroom, monitored_page: MonitoredPage) -> Iterator[Table]:
    """The page of a darkroom that is not started yet."""
    monitored_page.page.context.add_init_script(NOTICES_STAY)
    table = Table(monitored_page, "")
    yield table
    table.went_well()


def enter(table: Table, darkroom: Darkroom, link: str = "") -> None:
    table.base = f"http://127.0.0.1:{darkroom.port}/"
    table.page.goto(link or darkroom.link)
    table.page.wait_for_selector("body[data-ready]")


def reload(table: Table) -> None:
    table.page.reload()
    table.page.wait_for_selector("body[data-ready]")
    table.rest()


def read_notices(table: Table) -> list[str]:
    return table.page.locator(".notice p").all_inner_texts()


def list_photos(table: Table) -> list[str]:
    names: list[str] = table.page.evaluate(
        "async () => (await import('/js/room.js')).room.photos.map((one) => one.name)"
    )
    return names


def test_uploads_and_edits_are_there_after_a_restart(
    visit: Table, darkroom: Darkroom, sea: Path, tmp_path: Path
) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea, photo_file(tmp_path / "tree.png", seed=1))
    visit.say("half a stop brighter")
    bright, edit = visit.light(), visit.steps()
    darkroom.restart()
    visit.say("a bit warmer")  # the page was not loaded again
    assert [name for name, _ in visit.steps()] == ["white_balance", *[name for name, _ in edit]]
    visit.page.keyboard.press("Control+z")
    visit.rest()
    assert visit.steps() == edit
    assert visit.light() == pytest.approx(bright, abs=1)
    darkroom.restart()
    reload(visit)
    assert list_photos(visit) == ["sea.png", "tree.png"]
    assert visit.steps() == edit
    assert visit.page.locator(".card .does q").count() > 0, "reasons too"
    context = visit.page.context
    visit.page.close()
    visit.monitored_page.page = context.new_page()
    darkroom.restart()
    enter(visit, darkroom)
    assert list_photos(visit) == ["sea.png", "tree.png"], "in another tab"
    assert visit.steps() == edit
    assert visit.fits()


def test_a_served_folder_has_sidecars_and_its_link_still_leads_there(
    visit: Table, darkroom: Darkroom
) -> None:
    darkroom.start(serve=True)
    enter(visit, darkroom)
    link, sidecar = darkroom.link, darkroom.photos / "a.png.t2o.json"
    visit.say("half a stop brighter")
    assert Recipe.load(sidecar) == Recipe.from_steps(visit.steps())
    visit.page.click("#save")
    assert visit.page.inner_text("#kept").endswith("as a.png.t2o.json.")
    visit.page.keyboard.press("Escape")
    darkroom.restart(serve=True)
    assert darkroom.link == link
    reload(visit)
    assert visit.steps() == [("exposure", [0.5])]
    LOOK.save(sidecar, overwrite=True)
    visit.say("warmer")
    assert visit.steps() == [(step.operation, list(step.stored_parameters)) for step in LOOK.steps]
    assert "changed elsewhere meanwhile" in " ".join(read_notices(visit))
    visit.page.click("#undo")
    visit.rest()
    assert visit.steps() == [("exposure", [0.5])]
    forget_refusals(visit, 409)


def forget_refusals(table: Table, status: int) -> None:
    """Browsers report every refused request in the console."""
    wrong = table.monitored_page.wrong
    wrong[:] = [one for one in wrong if f"the server responded with a status of {status}" not in one]


def test_a_photo_is_opened_with_its_sidecar(visit: Table, darkroom: Darkroom) -> None:
    LOOK.save(darkroom.photos / "b.png.t2o.json")
    darkroom.start(serve=True)
    enter(visit, darkroom)
    assert read_notices(visit) == []
    visit.page.keyboard.press("ArrowRight")
    wait_for_photo(visit, "b.png")
    assert [name for name, _ in visit.steps()] == ["exposure", "contrast"]
    assert read_notices(visit) == [
        "This photo was opened with the edit that is saved beside it; Undo shows it without."
    ]
    visit.page.click("#undo")
    visit.rest()
    assert visit.steps() == []


def test_a_sidecar_that_cannot_be_used_is_said_once(visit: Table, darkroom: Darkroom) -> None:
    sidecar = darkroom.photos / "a.png.t2o.json"
    sidecar.write_text("{")
    darkroom.start(serve=True)
    enter(visit, darkroom)
    visit.page.wait_for_selector(".notice")
    before = visit.page.locator("#picture").bounding_box()
    (said,) = read_notices(visit)
    assert said.startswith("a.png.t2o.json cannot be used: it is not JSON")
    visit.page.click(".notice button")
    assert visit.page.locator("#picture").bounding_box() == before, "the photo does not move"
    visit.say("half a stop brighter")
    assert read_notices(visit) == []
    assert sidecar.read_text() == "{"
    darkroom.restart(serve=True)
    reload(visit)
    assert visit.steps() == [("exposure", [0.5])]


def test_a_photo_is_removed_and_brought_back(
    visit: Table, darkroom: Darkroom, sea: Path, tmp_path: Path
) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea, photo_file(tmp_path / "tree.png", seed=1))
    visit.say("half a stop brighter")
    visit.page.hover("#strip > div:first-child")
    visit.page.click("#strip > div:first-child .away")
    wait_for_photo(visit, "tree.png")
    assert read_notices(visit) == ["sea.png is removed."]
    assert list_photos(visit) == ["tree.png"]
    visit.page.click(".notice >> text=Undo")
    wait_for_photo(visit, "sea.png")
    assert list_photos(visit) == ["sea.png", "tree.png"], "where it was"
    assert visit.steps() == [("exposure", [0.5])]
    assert read_notices(visit) == []
    for key in ("Control+z", "u"):
        visit.page.evaluate("document.activeElement.blur()")
        visit.page.keyboard.press("Delete")
        wait_for_photo(visit, "tree.png")
        assert list_photos(visit) == ["tree.png"]
        visit.page.wait_for_selector(".notice")
        assert visit.page.evaluate("document.activeElement.id") == "open", "the keyboard goes on from here"
        visit.page.keyboard.press(key)
        wait_for_photo(visit, "sea.png")
        assert list_photos(visit) == ["sea.png", "tree.png"]
    visit.page.keyboard.press("Control+z")
    visit.rest()
    assert visit.steps() == [], "then Ctrl+Z is about the edit again"
    visit.page.focus("#strip > div:last-child .thumb")
    visit.page.keyboard.press("Delete")
    visit.page.wait_for_selector("#strip", state="hidden")
    assert list_photos(visit) == ["sea.png"], "the one that the keyboard is on"
    visit.page.keyboard.press("Control+z")
    wait_for_photo(visit, "tree.png")
    visit.page.keyboard.press("ArrowLeft")
    wait_for_photo(visit, "sea.png")
    visit.page.keyboard.press("Delete")
    wait_for_photo(visit, "tree.png")
    visit.page.keyboard.press("Delete")
    visit.page.wait_for_selector("body.empty")
    visit.page.keyboard.press("Control+z")
    visit.page.wait_for_selector("body:not(.empty)")
    darkroom.restart()
    reload(visit)
    assert len(list_photos(visit)) == 1
    visit.page.keyboard.press("u")
    visit.rest()
    assert len(list_photos(visit)) == 1, "what a tab removed is forgotten with it"
    forget_refusals(visit, 404)  # small pictures that were on their way


@on_a_desktop
def test_a_photo_that_is_gone_cannot_be_removed_again(visit: Table, darkroom: Darkroom, sea: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea)
    visit.page.evaluate("async () => (await import('/js/removal.js')).remove('gone')")
    assert list_photos(visit) == ["sea.png"]
    assert read_notices(visit) == []


@on_a_desktop
def test_what_is_adjusted_is_put_before_a_photo_goes(visit: Table, darkroom: Darkroom, sea: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea, photo_file(sea.with_name("tree.png"), seed=1))
    visit.page.locator("#adjust input[type=range]").first.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Delete")
    assert len(list_photos(visit)) == 2, "on a slider the key is not about photos"
    visit.page.focus("#strip > div:first-child .thumb")
    visit.page.keyboard.press("Delete")
    wait_for_photo(visit, "tree.png")
    assert visit.steps() == []
    visit.page.keyboard.press("u")
    wait_for_photo(visit, "sea.png")
    assert len(visit.steps()) == 1
    forget_refusals(visit, 404)  # small pictures that were on their way


def wait_for_photo(table: Table, name: str) -> None:
    """Until this photo is on the table."""
    table.page.wait_for_function(
        "name => document.getElementById('photo-name').textContent === name", arg=name
    )
    table.rest()


@pytest.mark.parametrize("link", ["#session=unknown", "#session=..", f"#session={'x' * 200}"])
def test_a_link_that_leads_nowhere_says_so(visit: Table, darkroom: Darkroom, sea: Path, link: str) -> None:
    darkroom.start()
    enter(visit, darkroom, darkroom.link + link)
    (said,) = read_notices(visit)
    assert said.startswith("This link leads to no photos here")
    assert visit.page.is_visible("#welcome")
    visit.page.click(".notice button")
    visit.bring(sea)
    reload(visit)
    assert list_photos(visit) == ["sea.png"]
    assert read_notices(visit) == []
    for status in (404, 422):
        forget_refusals(visit, status)


def test_photos_that_are_no_longer_kept_are_said(visit: Table, darkroom: Darkroom, sea: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea)
    darkroom.stop()
    darkroom.place = darkroom.place / "another"
    darkroom.start()
    visit.say("warmer")
    assert read_notices(visit)[0].startswith("This photo is no longer kept here")
    visit.page.goto(visit.base)
    visit.page.wait_for_selector("body[data-ready]")
    assert read_notices(visit) == [
        "Your photos of last time are no longer kept here. Add them again to go on."
    ]
    visit.page.goto(visit.base)
    visit.page.wait_for_selector("body[data-ready]")
    assert read_notices(visit) == [], "said once"
    forget_refusals(visit, 404)


def test_a_recipe_is_picked_and_dropped(visit: Table, darkroom: Darkroom, sea: Path, tmp_path: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    LOOK.save(tmp_path / "evening.t2o.json")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "strange.json").write_text('{"steps": [{"operation": "blur", "parameters": [1]}]}')
    drop(visit, tmp_path / "evening.t2o.json")
    visit.page.wait_for_selector(".notice")
    assert read_notices(visit) == ["Add a photo first, then open the recipe on it."]
    visit.page.click(".notice button")
    visit.bring(sea)
    visit.page.click("#looks")
    with visit.page.expect_file_chooser() as chooser:
        visit.page.click("#open-recipe")
    chooser.value.set_files(str(tmp_path / "evening.t2o.json"))
    visit.page.wait_for_selector(".notice")
    visit.rest()
    assert visit.steps() == [(step.operation, list(step.stored_parameters)) for step in LOOK.steps]
    assert read_notices(visit)[0].startswith("evening.t2o.json: Evening")
    for name, said in (("broken.json", "is not a recipe: it is not JSON"), ("strange.json", "no operation")):
        visit.page.click(".notice button")
        drop(visit, tmp_path / name)
        visit.page.wait_for_selector(".notice")
        assert said in read_notices(visit)[0]
    assert len(visit.steps()) == 2
    visit.page.click(".notice button")
    visit.page.evaluate("document.getElementById('recipe-input').dispatchEvent(new Event('change'))")
    visit.rest()
    assert read_notices(visit) == [], "nothing was picked"
    forget_refusals(visit, 422)


def drop(table: Table, *paths: Path) -> None:
    """Drop text files on the page."""
    table.page.evaluate(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, bytes, type] of files) {
                transfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
            }
            const options = { bubbles: true, cancelable: true, dataTransfer: transfer };
            document.getElementById("stage").dispatchEvent(new DragEvent("drop", options));
        }""",
        [[one.name, list(one.read_bytes()), "image/png" if one.suffix == ".png" else ""] for one in paths],
    )


@on_a_desktop
def test_a_photo_is_dropped_with_its_sidecar(visit: Table, darkroom: Darkroom, sea: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    sidecar = LOOK.save(f"{sea}.t2o.json")
    drop(visit, sea, sidecar, photo_file(sea.with_name("hill.png"), seed=1))
    visit.page.wait_for_function("() => document.querySelectorAll('#strip > div').length === 2")
    visit.rest()
    assert list_photos(visit) == ["hill.png", "sea.png"]
    visit.page.keyboard.press("ArrowRight")
    wait_for_photo(visit, "sea.png")
    assert [name for name, _ in visit.steps()] == ["exposure", "contrast"]


def test_own_looks_are_saved_used_removed_and_kept(visit: Table, darkroom: Darkroom, sea: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea)
    visit.page.click("#looks")
    assert visit.page.is_disabled("text=Save this edit")
    visit.page.keyboard.press("Escape")
    visit.say("half a stop brighter")
    visit.page.click("#looks")
    visit.page.fill("#look-name", "My evening")
    visit.page.click("text=Save this edit")
    visit.page.wait_for_selector("#own-looks >> text=My evening")
    assert read_notices(visit) == ["My evening is saved."]
    assert visit.fits()
    visit.page.fill("#look-name", "my Evening")
    visit.page.click("text=Save this edit")
    visit.page.wait_for_selector(".notice.bad")
    assert "already" in visit.page.inner_text(".notice.bad p")
    visit.page.keyboard.press("Escape")
    visit.page.click("#reset")
    visit.rest()
    darkroom.restart()
    reload(visit)
    visit.page.click("#looks")
    visit.page.click("#own-looks >> text=My evening")
    visit.page.wait_for_selector(".card")
    visit.rest()
    assert visit.steps() == [("exposure", [0.5])]
    visit.page.click("#looks")
    visit.page.click("[aria-label='Remove My evening']")
    visit.page.wait_for_selector("#own-looks >> text=None yet")
    visit.page.click("dialog .notice >> text=Undo")
    visit.page.wait_for_selector("#own-looks >> text=My evening")
    saved = json.loads((darkroom.place / "data" / "looks" / "my-evening.json").read_text())
    assert saved["name"] == "My evening"
    forget_refusals(visit, 409)


@on_a_desktop
def test_the_empty_request_recalls_and_undoes(visit: Table, darkroom: Darkroom, sea: Path) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.bring(sea)
    for request in ("half a stop brighter", "more contrast"):
        visit.say(request)
    page, before = visit.page, visit.steps()
    page.focus("#request")
    for key, expected in [
        ("ArrowUp", "more contrast"),
        ("ArrowUp", "half a stop brighter"),
        ("ArrowUp", "half a stop brighter"),
        ("ArrowDown", "more contrast"),
        ("ArrowDown", ""),
        ("ArrowDown", ""),
    ]:
        page.keyboard.press(key)
        assert page.input_value("#request") == expected
    page.keyboard.press("Control+z")
    visit.rest()
    assert len(visit.steps()) == len(before) - 1
    page.keyboard.press("Control+Shift+z")
    visit.rest()
    assert visit.steps() == before
    page.keyboard.type("warm")
    page.keyboard.press("ArrowUp")
    assert page.input_value("#request") == "warm", "what is being typed is not lost"
    page.keyboard.press("Control+z")
    visit.rest()
    assert visit.steps() == before, "there Ctrl+Z is about the text"


@on_a_desktop
@pytest.mark.parametrize("stored", ["{", "{}", "null"])
def test_stored_requests_that_are_none_are_left_out(visit: Table, darkroom: Darkroom, stored: str) -> None:
    darkroom.start()
    enter(visit, darkroom)
    visit.page.evaluate("stored => sessionStorage.setItem('t2o-requests', stored)", stored)
    reload(visit)
    visit.page.focus("#request")
    visit.page.keyboard.press("ArrowUp")
    assert visit.page.input_value("#request") == ""

"""Studies in a real browser, from the link to the exported file."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from t2onet.data import open_dataset
from t2onet.studies.database import StudyDatabase
from t2onet.studies.results import ExportedPairs, export_pairs
from tests.server.browser import PHONE, MonitoredPage
from tests.studies.photos import REQUEST, photo_pairs, photo_table
from tests.studies.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
SCREENSHOTS = "T2O_SCREENSHOTS"
"""A folder for pictures of every page, where someone wants to look at them."""


def screenshot(page: Page, name: str) -> None:
    if folder := os.environ.get(SCREENSHOTS):
        page.wait_for_load_state("networkidle")
        size = page.viewport_size or {"width": 0}
        page.screenshot(path=Path(folder) / f"{name}-{size['width']}.png", full_page=True)


def wait_for_change(page: Page, was: str) -> None:
    page.wait_for_function("was => document.getElementById('count').textContent !== was", arg=was)


def fits(page: Page) -> bool:
    """Nothing sticks out to the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def only_from(monitored_page: MonitoredPage, served: Served) -> None:
    """Nothing was fetched from elsewhere, and nothing failed, such as for the content policy."""
    assert [
        address for address in monitored_page.asked if not address.startswith((served.base, "blob:"))
    ] == []
    assert monitored_page.wrong == []


def test_rating_to_the_exported_file(monitored_page: MonitoredPage, tmp_path: Path) -> None:
    page = monitored_page.page
    arguments = ("rate", photo_table(tmp_path, 3), "--checks", 0, "--repeats", 0, "--ratings", 1)
    with Served(*arguments, database=str(tmp_path / "studies.db")) as served:
        page.goto(served.join)
        screenshot(page, "join")
        page.fill("#name", "Ann")
        page.click("text=Begin")
        page.wait_for_selector("#page:not([hidden])")
        assert page.inner_text("#request") == REQUEST, "as it is, not as markup"
        assert page.locator(".rated").count() == 4
        assert fits(page)
        for key in "54":  # by keys: stars, and on to the next picture
            page.keyboard.press(key)
        screenshot(page, "rate")
        assert page.is_disabled("#send")
        for key in "32":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        wait_for_change(page, "0 done, 3 to go")
        assert page.locator("input:checked").count() == 0
        for place, stars in enumerate((1, 2, 3, 4)):  # by hand
            page.locator(".rated").nth(place).locator(f".stars label:nth-child({stars})").click()
        page.click("#send")
        wait_for_change(page, "1 done, 2 to go")
        mine = page.url
        page.goto("about:blank")
        page.goto(mine)  # the link goes on where one stopped
        page.wait_for_selector("#page:not([hidden])")
        assert page.inner_text("#count") == "2 done, 1 to go"
        for key in "5555":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("#end:not([hidden])")
        screenshot(page, "end")
        page.goto(served.owner)
        page.wait_for_selector("#means tr")
        screenshot(page, "owner-rating")
        assert fits(page)
        assert page.inner_text("#count") == "3 of 3 answers"
        with page.expect_download() as download:
            page.click("#export")
        download.value.save_as(tmp_path / "ratings.csv")
        only_from(monitored_page, served)
    with (tmp_path / "ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    by_page = [[row["stars"] for row in rows if row["page"] == number] for number in "123"]
    assert by_page == [list("5432"), list("1234"), list("5555")]
    assert {row["rater"] for row in rows} == {"Ann"}
    assert {row["request"] for row in rows} == {REQUEST}


@pytest.mark.parametrize("monitored_page", [(1280, 720), PHONE], ids=["laptop", "phone"], indirect=True)
def test_stars_are_saved_without_scrolling(monitored_page: MonitoredPage, tmp_path: Path) -> None:
    page = monitored_page.page
    with Served("rate", photo_table(tmp_path, 1), database=str(tmp_path / "studies.db")) as served:
        begin(page, served)
        page.wait_for_load_state("networkidle")
        assert page.inner_text("#open") == "4 without stars"
        assert is_reachable(page, "#send")
        for place in range(4):
            page.keyboard.press("5")
            assert is_reachable(page, "#send")
            assert place == 3 or is_reachable(page, f".rated:nth-child({place + 2}) .stars label")
        assert page.inner_text("#open") == ""
        assert page.is_enabled("#send")


def begin(page: Page, served: Served) -> None:
    """As a rater without a name, up to the first page."""
    page.goto(served.join)
    page.click("text=Begin")
    page.wait_for_selector("#page:not([hidden])")


def is_reachable(page: Page, selector: str) -> bool:
    """Whether it lies on the screen as it is scrolled, and nothing lies over it."""
    return bool(
        page.locator(selector).first.evaluate("""one => {
            const { left, width, top, height, bottom } = one.getBoundingClientRect();
            const seen = document.elementFromPoint(left + width / 2, top + height / 2);
            return top >= 0 && bottom <= innerHeight && one.contains(seen);
        }""")
    )


def test_a_picture_gives_way_to_the_original_while_it_is_pressed(
    monitored_page: MonitoredPage, tmp_path: Path
) -> None:
    page = monitored_page.page
    with Served("rate", photo_table(tmp_path, 1), database=str(tmp_path / "studies.db")) as served:
        begin(page, served)
        source = "() => document.querySelector('.picture img').getAttribute('src')"
        own, original = page.evaluate(source), page.evaluate("document.getElementById('input').src")
        page.locator(".picture").first.dispatch_event("pointerdown")
        assert page.evaluate(source) == original
        page.locator(".picture").first.dispatch_event("pointerup")
        assert page.evaluate(source).endswith(own)
        page.keyboard.press("ArrowRight")
        page.keyboard.down("o")
        assert page.evaluate(source) == original
        page.keyboard.up("o")
        assert page.evaluate(source).endswith(own)


def test_what_was_not_saved_is_said_and_can_be_sent_again(
    monitored_page: MonitoredPage, tmp_path: Path
) -> None:
    page = monitored_page.page
    with Served("rate", photo_table(tmp_path, 2), database=str(tmp_path / "studies.db")) as served:
        begin(page, served)
        was = page.inner_text("#count")
        page.route("**/stars", lambda route: route.abort())
        for key in "5432":
            page.keyboard.press(key)
        page.click("#send")
        page.wait_for_selector("#message:not(:empty)")
        assert "not saved yet" in page.inner_text("#message")
        assert page.locator("input:checked").count() == 4, "the stars are still there"
        page.unroute("**/stars")
        page.click("#send")
        wait_for_change(page, was)
        assert page.inner_text("#message") == ""


def test_annotating_to_the_exported_dataset(monitored_page: MonitoredPage, tmp_path: Path) -> None:
    page, database = monitored_page.page, str(tmp_path / "studies.db")
    folder = photo_pairs(tmp_path / "pairs", 3)
    with Served("annotate", folder, "--qualification", 1, "--requests", 1, database=database) as served:
        begin(page, served)
        mine = page.url
        assert page.is_visible("#qualifying")
        assert page.is_disabled("#send")
        page.fill("#text", 'brighter <img src=x onerror=alert(1)> & "warmer"')
        screenshot(page, "annotate")
        assert fits(page)
        page.keyboard.press("Enter")
        page.wait_for_selector("#waiting:not([hidden])")
        screenshot(page, "waiting")
        page.goto(served.owner)
        page.wait_for_selector("#requests img")
        screenshot(page, "owner-annotation")
        assert fits(page)
        assert page.inner_text("#requests .text") == 'brighter <img src=x onerror=alert(1)> & "warmer"'
        assert "Known before: much brighter" in page.inner_text("#requests li")
        page.click("#requests >> text=Reject")
        page.wait_for_selector("#requests [aria-pressed=true]")
        page.click("[aria-label='Accept annotator-1']")
        page.wait_for_selector("td:text-is('accepted')")
        page.goto(mine)
        page.wait_for_selector("#page:not([hidden])")
        for number, text in enumerate(("more light, please", "a little brighter")):
            assert page.inner_text("#count") == f"{number + 1} done, {2 - number} to go"
            assert not page.is_visible("#qualifying")
            page.fill("#text", text)
            page.click("#send")
            wait_for_change(page, f"{number + 1} done, {2 - number} to go")
        page.wait_for_selector("#end:not([hidden])")
        only_from(monitored_page, served)
    with StudyDatabase(database) as store:
        assert export_pairs(store, 1, tmp_path / "set") == ExportedPairs(2, 2)
    said = {request for sample in open_dataset(tmp_path / "set").samples for request in sample.requests}
    assert said == {"more light, please", "a little brighter"}


def test_the_owner_invites_and_blocks(monitored_page: MonitoredPage, tmp_path: Path) -> None:
    page = monitored_page.page
    with Served("rate", photo_table(tmp_path, 1), database=str(tmp_path / "studies.db")) as served:
        page.goto(served.owner)
        page.fill("#name", "Zoë")
        page.click("#invite button")
        page.wait_for_selector("td:text-is('Zoë')")
        link = page.get_attribute("td a", "href")
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("[aria-label='Block Zoë']")
        page.wait_for_selector("td:text-is('blocked')")
        page.goto(str(link))
        page.wait_for_selector("#message:not(:empty)")
        assert "has ended your participation" in page.inner_text("#message")
        page.goto(served.owner.partition("#")[0] + "#wrong")
        page.reload()
        page.wait_for_selector("#message:not(:empty)")
        assert "for the owner of the study" in page.inner_text("#message")
        assert not page.is_visible("#owner")
        page.goto(f"{served.base}/study/nobody")
        assert page.inner_text("h1") == "This link leads nowhere"


def test_who_joins_too_late_is_told_when_to_come_back(monitored_page: MonitoredPage, tmp_path: Path) -> None:
    page, database = monitored_page.page, str(tmp_path / "studies.db")
    with Served("rate", photo_table(tmp_path, 1), "--joins-per-address", 1, database=database) as served:
        begin(page, served)
        page.goto(served.join)
        page.fill("#name", "Ben")
        page.click("text=Begin")
        page.wait_for_selector("#message:not(:empty)")
        screenshot(page, "join-later")
        said = page.inner_text("#message")
        assert re.search(
            r"from your network within the last hour; try again in \d+ minutes, at \d+:\d+", said
        )
        assert page.is_disabled("#begin")
        assert page.input_value("#name") == "Ben"
        assert fits(page)


def test_the_owner_frees_places(monitored_page: MonitoredPage, tmp_path: Path) -> None:
    page, database = monitored_page.page, str(tmp_path / "studies.db")
    with Served("rate", photo_table(tmp_path, 1), database=database) as served:
        page.goto(served.owner)
        for name in ("Ann", "Ben", "Cid"):
            page.fill("#name", name)
            page.click("#invite button")
            page.wait_for_selector(f"td:text-is('{name}')")
        assert page.inner_text("#places").startswith("3 of 1000 places are taken, 3 by people who")
        page.click("[aria-label='Remove Ann']")
        page.wait_for_selector("td:text-is('Ann')", state="detached")
        screenshot(page, "owner-places")
        assert fits(page)
        page.click("#free button")
        page.wait_for_selector("#places:has-text('0 places were freed.')")
        page.fill("#idle", "0")
        page.click("#free button")
        page.wait_for_selector("#places:has-text('2 places were freed.')")
        assert page.locator("#people tr").count() == 0
        only_from(monitored_page, served)

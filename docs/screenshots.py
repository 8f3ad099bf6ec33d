"""Pictures of the darkroom's page and of the rating study's for their documentation.

`python -m docs.screenshots` makes them; it needs Chromium.
"""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import get_args

import PIL.Image
from playwright.sync_api import Browser, Page

from docs.picture import REQUEST, SHOWN
from t2onet import Recipe, apply, edit, open_image
from t2onet.editor import Mode
from tests.server.browser import PHONE, MonitoredPage, looking, running
from tests.server.live import Table, serve_darkroom
from tests.server.test_darkroom_browser import unfold
from tests.studies.served import Served

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PHOTOS = [ROOT / "examples" / f"{name}.jpg" for name in ("meadow", "stream", "sunset", "trail")]
DESKTOP, LAPTOP = (1440, 900), (1280, PHONE[1])
GAP = 24


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, serve_darkroom(Path(folder)) as base, running() as browser:
        desktop(begun(browser, base, DESKTOP)).save(IMAGES / "darkroom.jpg", quality=82)
        phone(begun(browser, base, PHONE)).save(IMAGES / "darkroom-phone.jpg", quality=82)
        rating(browser, Path(folder)).save(IMAGES / "study-rate.jpg", quality=82)
    print("images/darkroom.jpg, images/darkroom-phone.jpg, images/study-rate.jpg")


def begun(browser: Browser, base: str, size: tuple[int, int]) -> Table:
    """The page with photos, and a first edit."""
    context = looking(browser, size, 1.5 if size == PHONE else 1)
    table = Table(MonitoredPage(context.new_page()), base)
    table.enter()
    table.bring(*PHOTOS)
    table.page.click(f".thumb[title='{SHOWN}.jpg']")
    table.rest()
    table.say(REQUEST)
    table.page.wait_for_function(
        "() => [...document.querySelectorAll('#strip img')].every((one) => one.naturalWidth)"
    )
    return table


def desktop(table: Table) -> PIL.Image.Image:
    page = table.page
    page.click("#want-variants")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#variants img')].filter((one) => one.naturalWidth).length === 6"
    )
    table.drag("#divider", (-120, 0))
    page.locator("#panel").evaluate("one => one.scrollTo(0, 0)")
    page.mouse.move(0, 0)
    return seen(table)


def phone(table: Table) -> PIL.Image.Image:
    """The edit, a curve below the photo, and matching a look."""
    first = seen(table)
    unfold(table, "Light", "More")
    unfold(table, "Tone")
    table.drag("#adjust .tool[open] .knot:nth-child(4)", (0, -14))
    table.page.locator("#adjust .tool[open] .curve").evaluate("one => one.scrollIntoView({ block: 'end' })")
    second = seen(table)
    table.page.click("#save")
    return in_a_row([first, second, seen(table)])


def seen(table: Table) -> PIL.Image.Image:
    table.rest()
    return shot(table.page)


def rating(browser: Browser, folder: Path) -> PIL.Image.Image:
    """A page of the rating study, on a laptop and on a phone."""
    table = outputs(folder)
    with Served("rate", table, "--checks", 0, "--repeats", 0, database=f"{folder}/studies.db") as study:
        return in_a_row([rated(browser, study.join, size) for size in (LAPTOP, PHONE)])


def outputs(folder: Path) -> Path:
    """A table of what four systems made of one photo."""
    photo = open_image(ROOT / "examples" / "dogs.jpg").resize(1000)
    made = {mode: edit(photo, REQUEST, mode=mode).image for mode in get_args(Mode)}
    for look in ("golden-evening", "faded-film"):
        made[look] = apply(Recipe.load(ROOT / "examples" / "looks" / f"{look}.json"), photo)
    for name, image in {"input": photo, **made}.items():
        image.save(folder / f"{name}.jpg")
    with (folder / "editors.csv").open("w", newline="", encoding="utf-8") as file:
        files = [f"{name}.jpg" for name in ("input", *made)]
        csv.writer(file).writerows([["input", "request", *made], [files[0], REQUEST, *files[1:]]])
    return folder / "editors.csv"


def rated(browser: Browser, link: str, size: tuple[int, int]) -> PIL.Image.Image:
    """Two pictures have stars; the page is scrolled to its top."""
    page = looking(browser, size).new_page()
    page.goto(link)
    page.click("text=Begin")
    page.wait_for_load_state("networkidle")
    for key in "45":
        page.keyboard.press(key)
    page.evaluate("scrollTo(0, 0)")
    return shot(page)


def shot(page: Page) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def in_a_row(shots: list[PIL.Image.Image]) -> PIL.Image.Image:
    width = sum(one.width + GAP for one in shots) - GAP
    whole = PIL.Image.new("RGB", (width, shots[0].height), (255, 255, 255))
    left = 0
    for one in shots:
        whole.paste(one, (left, 0))
        left += one.width + GAP
    return whole


if __name__ == "__main__":
    main()

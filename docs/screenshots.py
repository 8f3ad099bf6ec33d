"""Pictures of the darkroom's page for its documentation: `python -m docs.screenshots` (needs Chromium)."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import PIL.Image
from playwright.sync_api import Browser

from tests.server.browser import PHONE, Noted, looking, running
from tests.server.live import Table, served

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PHOTOS = [ROOT / "examples" / f"{name}.jpg" for name in ("meadow", "stream", "sunset", "trail")]
DESKTOP = (1440, 900)
GAP = 24


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as base, running() as browser:
        desktop(begun(browser, base, DESKTOP)).save(IMAGES / "darkroom.jpg", quality=82)
        phone(begun(browser, base, PHONE)).save(IMAGES / "darkroom-phone.jpg", quality=82)
    print("images/darkroom.jpg, images/darkroom-phone.jpg")


def begun(browser: Browser, base: str, size: tuple[int, int]) -> Table:
    """The page with photos, and a first edit."""
    context = looking(browser, size, 1.5 if size == PHONE else 1)
    table = Table(Noted(context.new_page()), base)
    table.enter()
    table.bring(*PHOTOS)
    table.say("brighter and warmer, with more contrast")
    table.page.wait_for_function(
        "() => [...document.querySelectorAll('#strip img')].every((one) => one.naturalWidth)"
    )
    return table


def desktop(table: Table) -> PIL.Image.Image:
    page = table.page
    page.locator(".card .name:not(:disabled)").first.click()
    page.click("#want-variants")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#variants img')].filter((one) => one.naturalWidth).length === 6"
    )
    table.drag("#divider", (-120, 0))
    page.mouse.move(0, 0)
    return seen(table)


def phone(table: Table) -> PIL.Image.Image:
    """The edit, a curve below the photo, and matching a look."""
    first = seen(table)
    table.page.locator(".card .name:not(:disabled)").first.click()
    table.drag(".curve:visible .knot:nth-child(4)", (0, -14))
    table.page.locator(".curve:visible").evaluate("one => one.scrollIntoView({ block: 'end' })")
    second = seen(table)
    table.page.click("#save")
    shots = [first, second, seen(table)]
    whole = PIL.Image.new("RGB", (sum(one.width + GAP for one in shots) - GAP, first.height), (255, 255, 255))
    for place, one in enumerate(shots):
        whole.paste(one, (place * (one.width + GAP), 0))
    return whole


def seen(table: Table) -> PIL.Image.Image:
    table.rest()
    return PIL.Image.open(io.BytesIO(table.page.screenshot())).convert("RGB")


if __name__ == "__main__":
    main()

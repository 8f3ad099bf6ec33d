"""The darkroom's page in Chromium: its first load, and the time from a slider that moves to the picture."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

from bench.scene import EXAMPLES
from tests.server.browser import MonitoredPage, find_chromium, looking, running
from tests.server.live import Table, serve_darkroom

SIZES = ((1440, 900), (2560, 1440))
STEPS = ("Exposure", "Saturation", "Contrast", "Sharpness")
MOVES = 40
MAX_MILLISECONDS = 50
"""From a slider to the picture, in the first of the sizes."""
_WATCHED = """() => {
    const canvas = document.getElementById("picture");
    const drawn = () => { window.took.push(performance.now() - window.begun); window.next?.(); };
    new MutationObserver(drawn).observe(canvas, { attributes: true, attributeFilter: ["data-shown"] });
}"""
_ADDED = """(name) => {
    const range = document.querySelector(`#adjust input[aria-label="${name}"]`);
    range.value = 0.1;
    for (const event of ["input", "change"]) range.dispatchEvent(new Event(event));
}"""
_MOVED = """async ([name, moves]) => {
    const range = document.querySelector(`#adjust input[aria-label="${name}"]`);
    window.took = [];
    for (let move = 1; move <= moves; move++) {
        await new Promise((resolve) => {
            window.next = resolve;
            range.value = move / 100;
            window.begun = performance.now();
            range.dispatchEvent(new Event("input"));
        });
        await (await import("/js/newest.js")).idle();
    }
    return window.took;
}"""
_LOADED = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const all = [page, ...performance.getEntriesByType("resource")];
    return [all.length, all.reduce((sum, one) => sum + one.transferSize, 0)];
}"""


def main() -> None:
    if find_chromium() is None:
        print("  there is no browser here: apt-get install chromium")
        return
    with tempfile.TemporaryDirectory() as folder, serve_darkroom(Path(folder)) as base, running() as browser:
        for size in SIZES:
            _measured(browser, base, size)


def _measured(browser: Browser, base: str, size: tuple[int, int]) -> None:
    table = Table(MonitoredPage(looking(browser, size).new_page()), base)
    table.enter()
    files, taken = table.page.evaluate(_LOADED)
    print(f"  {size[0]} x {size[1]}: first load {taken / 1000:.0f} kB in {files} files (bar: below 300 kB)")
    table.bring(EXAMPLES / "trail.jpg")
    for step in STEPS:
        table.page.evaluate(_ADDED, step)
        table.rest()
    table.page.evaluate(_WATCHED)
    for at in (0, len(STEPS) - 1):
        took = table.page.evaluate(_MOVED, [STEPS[at], MOVES])
        width = table.page.evaluate("() => document.getElementById('picture').width")
        median, late = np.percentile(took, [50, 95])
        bar = f" (bar: at most {MAX_MILLISECONDS})" if size == SIZES[0] else ""
        print(
            f"    {STEPS[at]:<12} step {at + 1} of {len(STEPS)}, picture {width} px wide: "
            f"slider to picture {median:.0f} ms{bar}, p95 {late:.0f} ms"
        )

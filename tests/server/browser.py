"""Fixtures: a real browser, Debian's Chromium without a window, and pages that note what they do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

DESKTOP, PHONE = (1280, 860), (390, 844)


@dataclass
class MonitoredPage:
    """What a page asked for, and what went wrong in it."""

    page: Page
    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "console",
            lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None,
        )


def find_chromium() -> str | None:
    """Where Chromium is."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def running() -> Iterator[Browser]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    as_root = ["--no-sandbox"] if os.name == "posix" and os.getuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=find_chromium(), args=as_root)
        yield started
        started.close()


def looking(browser: Browser, size: tuple[int, int], sharp: float = 1) -> BrowserContext:
    """A window of that size, on a phone where it is one's."""
    phone = size == PHONE
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        is_mobile=phone,
        has_touch=phone,
        device_scale_factor=sharp,
        accept_downloads=True,
    )
    context.set_default_timeout(1000 * PATIENCE)
    return context


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A running browser, or a skip that says what is missing."""
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
    if find_chromium() is None:
        pytest.skip("there is no browser here: apt-get install chromium")
    with running() as started:
        yield started


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def monitored_page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[MonitoredPage]:
    """An empty page of a desktop or a phone."""
    context = looking(browser, request.param)
    yield MonitoredPage(context.new_page())
    context.close()

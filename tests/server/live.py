"""A darkroom on a real port, and someone who uses its page in a browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import PIL.Image
import pytest
from fastapi import FastAPI

from t2onet.server import ServerSettings, create_app
from t2onet.server.running import LimitedServer, bind_socket, build_server_url
from tests.conftest import PATIENCE
from tests.planning.scenes import scene
from tests.server.browser import DESKTOP, MonitoredPage

if TYPE_CHECKING:
    from playwright.sync_api import Download, Page


@contextmanager
def serve_darkroom(folder: Path) -> Iterator[str]:
    """The address of a darkroom."""
    settings = ServerSettings(folder=folder)
    with running(create_app(settings), settings) as (_, listening):
        yield build_server_url(listening)


@contextmanager
def running(
    app: FastAPI, settings: ServerSettings, port: int = 0
) -> Iterator[tuple[LimitedServer, socket.socket]]:
    """A server in a thread, and where it listens."""
    begun = threading.Event()
    with bind_socket("127.0.0.1", port) as listening:
        server = LimitedServer(app, begun.set, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        assert begun.wait(PATIENCE)
        try:
            yield server, listening
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@dataclass
class Table:
    """The page, in the hands of someone."""

    monitored_page: MonitoredPage
    base: str

    @property
    def page(self) -> Page:
        return self.monitored_page.page

    def enter(self) -> None:
        self.page.goto(self.base)
        self.page.wait_for_selector("body[data-ready]")

    def bring(self, *photos: Path) -> None:
        """Choose files; the first is shown."""
        before = self.page.locator("#strip > div").count()
        self.page.set_input_files("#photos-input", [str(one) for one in photos])
        self.page.wait_for_function(
            "all => document.querySelectorAll('#strip > div').length >= all", arg=before + len(photos)
        )
        self.page.wait_for_selector("#picture[data-shown]")
        self.rest()

    def say(self, request: str) -> None:
        self.page.fill("#request", request)
        with self.page.expect_response(lambda answer: answer.url.endswith("/requests")):
            self.page.click("#send")
        self.rest()

    def rest(self) -> None:
        """Until what was adjusted is put, changes are answered and the picture is drawn."""
        self.page.evaluate("""async () => {
            const { quiet } = await import("/js/room.js");
            const { idle } = await import("/js/newest.js");
            await quiet();
            await idle();
        }""")

    def light(self) -> float:
        """Mean level of the picture that is shown, 0 to 255."""
        return float(
            self.page.evaluate("""() => {
                const canvas = document.getElementById("picture");
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
                copy.drawImage(canvas, 0, 0);
                const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
                const sum = data.reduce((all, one, at) => all + (at % 4 === 3 ? 0 : one), 0);
                return sum / (0.75 * data.length);
            }""")
        )

    def drag(self, selector: str, to: tuple[float, float], start: tuple[float, float] | None = None) -> None:
        """From the middle of something (or from shares of its box) by so many pixels."""
        self.page.locator(selector).evaluate("one => one.scrollIntoView({ block: 'nearest' })")
        box = self.page.locator(selector).bounding_box()
        assert box is not None
        across, down = start or (0.5, 0.5)
        x, y = box["x"] + across * box["width"], box["y"] + down * box["height"]
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + to[0], y + to[1], steps=4)
        self.page.mouse.up()
        self.rest()

    def state(self) -> dict[str, Any]:
        """What the server has of the photo on the table."""
        found: dict[str, Any] = self.page.evaluate("""async () => {
            const { address } = await import("/js/room.js");
            return (await fetch("/api/v1" + address())).json();
        }""")
        return found

    def steps(self) -> list[tuple[str, list[float]]]:
        return [(one["operation"], one["parameters"]) for one in self.state()["recipe"]["steps"]]

    def saved(self, button: str) -> Download:
        """What a button of the dialog that saves brings."""
        self.page.click("#save")
        with self.page.expect_download() as download:
            self.page.click(f"dialog >> text='{button}'")
        return download.value

    def fits(self) -> bool:
        """Nothing sticks out to the right of the screen; phones widen a page that does not fit."""
        assert self.page.viewport_size is not None
        wide = self.page.evaluate("() => document.documentElement.scrollWidth")
        return bool(wide <= self.page.viewport_size["width"])

    def went_well(self) -> None:
        """Nothing was fetched from elsewhere, and nothing failed, such as for the content policy."""
        strange = [one for one in self.monitored_page.asked if not one.startswith((self.base, "blob:"))]
        assert strange == []
        assert not self.monitored_page.wrong, self.monitored_page.wrong


def photo_file(path: Path, side: int = 240, seed: int = 0) -> Path:
    """A photo, half as wide again as high."""
    picture = np.uint8(255 * scene(side, seed).transpose(1, 2, 0)[: side * 2 // 3])
    PIL.Image.fromarray(picture).save(path)
    return path


@pytest.fixture
def table(monitored_page: MonitoredPage, tmp_path: Path) -> Iterator[Table]:
    """The page of a new darkroom, on a desktop and on a phone."""
    with serve_darkroom(tmp_path / "server") as base:
        yield (found := Table(monitored_page, base))
        found.went_well()


on_a_desktop = pytest.mark.parametrize("monitored_page", [DESKTOP], ids=["desktop"], indirect=True)

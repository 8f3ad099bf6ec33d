"""Work for a client that has left is dropped: what waits for its turn, and what is under way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from fastapi import FastAPI

from t2onet.errors import Cancelled
from t2onet.image import Image
from t2onet.image.codecs import count_cores
from t2onet.recipe import Recipe
from t2onet.server import ServerSettings, create_app, results
from t2onet.server.running import DisconnectMiddleware, get_disconnect_event, raise_if_disconnected
from t2onet.server.sessions import DarkroomService
from tests.conftest import PATIENCE
from tests.server.helpers import API, files, picture

Message = dict[str, Any]


async def call(app: Any, method: str, path: str, *bodies: bytes, leaves: asyncio.Event) -> list[Message]:
    """The messages that answer a request whose client is gone once `leaves` is set."""
    heard: list[Message] = []
    sent: list[Message] = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
    sent.append({"type": "http.request", "body": b"", "more_body": False})
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    if bodies:
        headers.append((b"transfer-encoding", b"chunked"))
    scope = {
        **{"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers},
        **{"scheme": "http", "root_path": "", "http_version": "1.1"},
    }

    async def receive() -> Message:
        if sent:
            return sent.pop(0)
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        heard.append(message)

    await asyncio.wait_for(app(scope, receive, send), PATIENCE)
    return heard


@contextmanager
def busy(room: DarkroomService) -> Iterator[None]:
    """All places where something can be computed are taken."""
    for _ in range(count_cores()):
        assert room._slots.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        for _ in range(count_cores()):
            room._slots.release()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(ServerSettings(folder=tmp_path / "server"))
    yield made
    made.state.darkroom.sessions.close_all()


def make_left_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def test_an_upload_does_not_wait_for_its_turn_when_the_client_has_left(app: FastAPI, tmp_path: Path) -> None:
    room: DarkroomService = app.state.darkroom
    address = f"{API}/sessions/{room.sessions.create().id}/photos"
    with busy(room):
        heard = asyncio.run(_upload(app, address))
    assert heard[0]["status"] == 409, "cancelled, which nobody hears"
    assert files(tmp_path) == []


async def _upload(app: FastAPI, address: str) -> list[Message]:
    return await call(app, "POST", address, picture(32), leaves=make_left_event())


def test_a_picture_that_is_fetched_does_not_wait_either(app: FastAPI) -> None:
    room: DarkroomService = app.state.darkroom

    async def asked() -> list[Message]:
        session = room.sessions.create()
        await call(app, "POST", f"{API}/sessions/{session.id}/photos", picture(32), leaves=asyncio.Event())
        (photo,) = session.photos
        path = f"{API}/sessions/{session.id}/photos/{photo}/preview.jpg"
        with busy(room):
            return await call(app, "GET", path, leaves=make_left_event())

    assert asyncio.run(asked())[0]["status"] == 409


def test_an_export_that_is_under_way_stops(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    room: DarkroomService = app.state.darkroom
    begun = threading.Event()

    def endless(recipe: Recipe, image: Image, *, cancel: threading.Event, **rest: Any) -> Image:
        begun.set()
        assert cancel.wait(PATIENCE)
        raise Cancelled("stopped")

    async def exported() -> Sequence[Message]:
        monkeypatch.setattr(results, "apply", endless)
        session = room.sessions.create()
        await call(app, "POST", f"{API}/sessions/{session.id}/photos", picture(32), leaves=asyncio.Event())
        (photo,) = session.photos
        path, leaves = f"{API}/sessions/{session.id}/photos/{photo}/exports", asyncio.Event()
        running = asyncio.create_task(call(app, "POST", path, b"{}", leaves=leaves))
        await asyncio.to_thread(begun.wait, PATIENCE)
        leaves.set()
        return await running

    assert asyncio.run(exported())[0]["status"] == 409


def test_a_client_that_stays_is_answered_and_forgotten() -> None:
    seen: list[threading.Event | None] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(get_disconnect_event())
        raise_if_disconnected()
        body = b""
        while (message := await receive())["body"]:
            body += message["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def asked() -> list[Message]:
        return await call(DisconnectMiddleware(app), "POST", "/", b"one", b"two", leaves=asyncio.Event())

    heard = asyncio.run(asked())
    assert heard[-1]["body"] == b"onetwo"
    assert seen[0] is not None
    assert not seen[0].is_set()
    assert get_disconnect_event() is None
    raise_if_disconnected()


@pytest.mark.slow
def test_about_is_answered_while_every_thread_waits(app: FastAPI) -> None:
    """The threads for requests are all taken by uploads that wait for their turn."""
    room: DarkroomService = app.state.darkroom

    async def asked() -> list[Message]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = 2
        address = f"{API}/sessions/{room.sessions.create().id}/photos"
        leaves = asyncio.Event()
        uploads = [
            asyncio.create_task(call(app, "POST", address, picture(32), leaves=leaves)) for _ in range(4)
        ]
        async with asyncio.timeout(PATIENCE):
            while anyio.to_thread.current_default_thread_limiter().statistics().tasks_waiting < 2:
                await asyncio.sleep(0.01)
        heard = await call(app, "GET", f"{API}/about", leaves=asyncio.Event())
        leaves.set()
        await asyncio.gather(*uploads)
        return heard

    with busy(room):
        assert asyncio.run(asked())[0]["status"] == 200

"""What a session may store and receive: counted exactly, at a cost that does not grow with what it holds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from t2onet.server import ServerSettings, create_app
from t2onet.server.session import Session
from tests.conftest import PATIENCE
from tests.server.conftest import Serve
from tests.server.helpers import API, Visitor, files, picture, read_refusal, recipe
from tests.server.test_disconnects import call


def session_of(visitor: Visitor) -> Session:
    room = visitor.client.app.state.darkroom  # type: ignore[attr-defined]
    found = room.sessions.get(visitor.session.rsplit("/", 1)[-1])
    assert isinstance(found, Session)
    return found


def finish_batch(visitor: Visitor, **body: Any) -> dict[str, Any]:
    """A batch, once it has ended."""
    begun = visitor.post(f"{visitor.session}/batches", **body).json()
    session_of(visitor).batches[begun["batch"]]._thread.join(PATIENCE)  # type: ignore[union-attr]
    state: dict[str, Any] = visitor.client.get(f"{visitor.session}/batches/{begun['batch']}").json()
    return state


def test_the_count_is_the_size_of_all_files(serve: Serve) -> None:
    visitor = serve(exports=2, batches=1)
    session = session_of(visitor)

    def check() -> None:
        assert session.usage.stored == sum(path.stat().st_size for path in files(session.folder))

    photos = [visitor.bring(picture(side)) for side in (32, 48)]
    check()
    assert visitor.upload(b"no photo").status_code == 422
    check()
    for kind in ("photo", "recipe", "cube"):
        assert visitor.post(f"{photos[0]}/exports", kind=kind).status_code == 201
        check()
    for _ in range(2):
        finish_batch(visitor, recipe=recipe(("brightness", 0.2)))
        check()
    visitor.client.delete(photos[0])
    check()
    assert session.usage.stored > 0


def test_a_batch_writes_nothing_that_has_no_room(serve: Serve) -> None:
    visitor = serve(session_mb=1)
    session = session_of(visitor)
    visitor.bring(picture(96, "JPEG", quality=30))
    session.usage.add(session.folder, 2**20 - session.usage.stored - 2000)
    (item,) = finish_batch(visitor, recipe=recipe(("brightness", 0.2)), format="png")["items"]
    assert (item["outcome"], item["url"]) == ("refused", None)
    assert "a session holds 1 MiB" in item["error"]
    assert [path.suffix for path in files(session.folder)] == [".png"], "the upload, and no result"


def test_an_upload_costs_the_same_in_a_full_session(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that other requests are just removing are not looked into either."""
    visitor = serve()
    looks: list[Any] = []
    scandir = os.scandir

    def counted(path: Any = ".") -> Any:
        looks.append(path)
        return scandir(path)

    def looks_of_an_upload() -> int:
        looks.clear()
        visitor.bring(picture(32))
        return len(looks)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", counted)
        first = looks_of_an_upload()
        for _ in range(8):
            visitor.bring(picture(32))
        assert looks_of_an_upload() == first


@asynccontextmanager
async def upload_under_way(app: FastAPI, session: Session) -> AsyncIterator[None]:
    """An upload that sent its first byte, and hangs up in the end."""
    begun, leaves = asyncio.Event(), asyncio.Event()
    sent: list[dict[str, Any]] = [{"type": "http.request", "body": b"x", "more_body": True}]

    async def receive() -> dict[str, Any]:
        if sent:
            return sent.pop()
        begun.set()
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        pass

    scope = {
        **{"type": "http", "method": "POST", "path": f"{API}/sessions/{session.id}/photos"},
        **{"query_string": b"", "headers": [(b"host", b"127.0.0.1")], "scheme": "http", "root_path": ""},
    }
    task = asyncio.create_task(app(scope, receive, send))  # type: ignore[arg-type]
    await asyncio.wait_for(begun.wait(), PATIENCE)
    try:
        yield
    finally:
        leaves.set()
        await asyncio.wait_for(task, PATIENCE)


async def upload_whole(app: FastAPI, session: Session) -> int:
    """The status of an upload."""
    heard = await call(
        app, "POST", f"{API}/sessions/{session.id}/photos", picture(32), leaves=asyncio.Event()
    )
    status: int = heard[0]["status"]
    return status


@pytest.mark.parametrize("limits", [{"uploads": 2}, {"photos": 2}])
def test_uploads_under_way_are_limited_in_each_session(tmp_path: Path, limits: dict[str, int]) -> None:
    app = create_app(ServerSettings(folder=tmp_path, **limits))  # type: ignore[arg-type]
    sessions = app.state.darkroom.sessions

    async def visit() -> None:
        slow, other = sessions.create(), sessions.create()
        async with upload_under_way(app, slow), upload_under_way(app, slow):
            assert await upload_whole(app, slow) == 429
            assert await upload_whole(app, other) == 201
        assert slow.usage.stored == 0, "nothing is left of what did not arrive"
        assert await upload_whole(app, slow) == 201, "those that ended do not count any more"

    try:
        asyncio.run(visit())
    finally:
        sessions.close_all()


def test_the_refusal_says_what_to_do(serve: Serve) -> None:
    visitor = serve(uploads=1)
    with session_of(visitor).usage.uploading(0):
        answer = visitor.upload(picture(32))
    assert read_refusal(answer) == (429, "too_many")
    assert (
        answer.json()["error"]["message"] == "a session takes 1 uploads at a time; wait until one has ended"
    )
    visitor.bring(picture(32))

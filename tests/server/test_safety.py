"""Who may ask, and for how much; what stays inside."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from t2onet import ServerError
from t2onet.server import ServerSettings, create_app
from t2onet.server.photos import to_display_name
from t2onet.server.running import bind_socket, build_server_url
from t2onet.server.security import SECURITY_HEADERS
from tests.conftest import EXAMPLES
from tests.server.conftest import Serve
from tests.server.helpers import API, Visitor, files, picture, read_refusal, recipe, session_folders

TOKEN = "open sesame and more"
SCRIPT = "<script>alert(1)</script>"
OTHERS = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8642", "", "["]
MARKUP = [SCRIPT, '"><img src=x onerror=alert(1)>', "\x00\x1b[31m brighter", "\ud800 warmer", "{0} %s %n"]
PATHS = [
    *("/../settings.py", "/..%2fsettings.py", "/%2e%2e/settings.py", "/static/../../app.py", "//etc/passwd"),
    *("/..\\app.py", "/index.html%00.js", f"{API}/sessions/..%2f..%2fetc", f"{API}/sessions/%2e%2e/x"),
]


# ---- hosts, origins, tokens


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "[::1]:8642", "127.0.0.1"])
def test_local_names_are_answered(visitor: Visitor, host: str) -> None:
    assert visitor.client.get(f"{API}/about", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", OTHERS)
def test_other_names_for_this_machine_are_not(visitor: Visitor, host: str) -> None:
    for path in ("/", f"{API}/about"):
        assert read_refusal(visitor.client.get(path, headers={"Host": host})) == (403, "forbidden")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1:8642.evil.example"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages_cannot_change_anything(visitor: Visitor, photo: str, headers: dict[str, str]) -> None:
    for method, path in [("POST", f"{API}/sessions"), ("DELETE", photo), ("PUT", f"{photo}/recipe")]:
        assert read_refusal(visitor.client.request(method, path, headers=headers)) == (403, "forbidden")
    assert visitor.state(photo)["revision"] == 0


def test_other_pages_cannot_embed_anything(visitor: Visitor, photo: str) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert read_refusal(visitor.client.get(f"{photo}/preview.jpg", headers=elsewhere)) == (403, "forbidden")
    assert visitor.client.get("/", headers=elsewhere).status_code == 200, "a link to the page may be followed"


def test_the_page_itself_may(visitor: Visitor) -> None:
    own = {"Origin": "http://127.0.0.1:8642", "Sec-Fetch-Site": "same-origin"}
    assert visitor.client.post(f"{API}/sessions", headers=own).status_code == 201


def test_without_the_token_nothing_is_answered(serve: Serve) -> None:
    client = serve(token=TOKEN, begun=False).client
    for path in ("/", f"{API}/about", "/api/docs", "/?token=wrong", f"{API}/about?token={TOKEN}"):
        assert read_refusal(client.get(path)) == (401, "unauthorized")
    for given in ("Bearer wrong", f"Basic {TOKEN}", "Bearer", "Bearer ü"):
        headers = {"Authorization": given.encode("latin-1")}
        assert read_refusal(client.get(f"{API}/about", headers=headers)) == (401, "unauthorized")  # type: ignore[arg-type]


def test_with_the_token_everything_is(serve: Serve) -> None:
    client = serve(token=TOKEN, begun=False).client
    bearer = {"Authorization": f"Bearer {TOKEN}", "Host": "darkroom.example"}
    assert client.get(f"{API}/about", headers=bearer).status_code == 200
    entrance = client.get("/", params={"token": TOKEN}, follow_redirects=False)
    assert (entrance.status_code, entrance.headers["location"]) == (303, "/")
    cookie = entrance.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get(f"{API}/about").status_code == 200, "the cookie is enough from now on"


ODD_TOKENS = [
    "a b&c#d+e?",
    "100%41 sure",
    "größer als",
    "пароль для всех",
    "写真を明るく日本",
    "🌞🌞🌞🌞🌞🌞🌞🌞",
    '"quoted"; a=b',
]


@pytest.mark.parametrize("token", ODD_TOKENS)
def test_any_token_opens_the_page_by_its_printed_link(serve: Serve, token: str) -> None:
    client = serve(token=token, begun=False).client
    with bind_socket("127.0.0.1", 0) as listening:
        link = build_server_url(listening, token)
    assert link.isascii()
    _, _, shown = link.partition("/?")
    assert " " not in shown
    assert client.get(f"/?{shown}", follow_redirects=False).status_code == 303
    assert client.get(f"{API}/about").status_code == 200, "the cookie is enough from now on"
    client.cookies.clear()
    assert read_refusal(client.get(f"/?{shown}x")) == (401, "unauthorized")


@pytest.mark.parametrize("token", ODD_TOKENS)
def test_programs_send_any_token_as_it_is_or_as_in_the_link(serve: Serve, token: str) -> None:
    client = serve(token=token, begun=False).client
    for sent in (token.encode(), quote(token, safe="").encode()):
        assert client.get(f"{API}/about", headers={"Authorization": b"Bearer " + sent}).status_code == 200  # type: ignore[arg-type]
        wrong = {"Authorization": b"Bearer " + sent[:-1]}
        assert read_refusal(client.get(f"{API}/about", headers=wrong)) == (401, "unauthorized")  # type: ignore[arg-type]


@pytest.mark.parametrize("token", ["1234567", "\udcff2345678", "1234\n5678", "1234\0 5678"])
def test_a_token_is_long_and_can_be_sent(token: str) -> None:
    with pytest.raises(ServerError, match="token"):
        ServerSettings(token=token)


def test_every_answer_has_the_headers(visitor: Visitor, photo: str) -> None:
    for path in ("/", "/nothing", f"{API}/about", "/api/docs", f"{photo}/preview.jpg"):
        answer = visitor.client.get(path)
        assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


# ---- text from outside is data


@pytest.mark.parametrize("text", MARKUP)
def test_text_is_echoed_as_data_only(visitor: Visitor, text: str) -> None:
    answer = visitor.upload(picture(32), text.encode("utf-8", "replace").decode())
    assert answer.headers["content-type"] == "application/json"
    photo = f"{visitor.session}/photos/{answer.json()['photo']}"
    request = f"flip it. {text}"
    body = json.dumps({"request": request, "revision": 0})
    told = visitor.client.post(
        f"{photo}/requests", content=body, headers={"Content-Type": "application/json"}
    )
    assert told.headers["content-type"] == "application/json"
    assert told.json()["state"]["request"] == request
    exported = visitor.post(f"{photo}/exports", kind="recipe").json()
    fetched = visitor.client.get(exported["url"])
    assert fetched.headers["content-disposition"].startswith("attachment; filename")
    assert fetched.headers["content-type"] == "application/octet-stream"


def test_refusals_do_not_repeat_markup_as_markup(visitor: Visitor, photo: str) -> None:
    for answer in (
        visitor.client.get(f"/{SCRIPT}"),
        visitor.client.get(f"{API}/sessions/{SCRIPT}"),
        visitor.client.post(f"{photo}/requests", json={SCRIPT: SCRIPT}),
        visitor.put(photo, 0, (SCRIPT, 1)),
    ):
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("sea.jpg", "sea.jpg"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/absolute.png", "absolute.png"),
        ("a\x00b\nc\u202e.png", "abc.png"),
        ("..", "photo"),
        ("", "photo"),
        ("\ud800x.png", "x.png"),
        ("x" * 500 + ".png", "x" * 96 + ".png"),
    ],
)
def test_names_are_only_shown(given: str, shown: str) -> None:
    assert to_display_name(given) == shown


@pytest.mark.parametrize("path", PATHS)
def test_paths_lead_nowhere(visitor: Visitor, path: str) -> None:
    answer = visitor.client.get(path)
    assert answer.status_code in (400, 404)
    assert "import" not in answer.text


def test_nothing_is_written_outside_the_session(visitor: Visitor, tmp_path: Path) -> None:
    absolute = tmp_path / "absolute.png"
    names = ["../../up.png", str(absolute), "..\\win.png", "a/b/c.png", "x.png\x00.exe", "con.png"]
    for name in names:
        photo = visitor.bring(picture(32), name)
        visitor.post(f"{photo}/exports")
        visitor.post(f"{photo}/exports", kind="recipe")
    (server,) = (tmp_path / "server").iterdir()
    (session,) = session_folders(server)
    everything = files(tmp_path)
    assert len(everything) == 3 * len(names)
    assert all(path.is_relative_to(session) for path in everything)
    assert not absolute.exists()


def test_refusals_do_not_tell_paths_of_the_server(visitor: Visitor, tmp_path: Path) -> None:
    for data in (b"", b"no photo at all", picture()[:200], b"\x89PNG\r\n\x1a\n"):
        answer = visitor.upload(data, "broken.png")
        assert read_refusal(answer) == (422, "image")
        assert "broken.png" in answer.json()["error"]["message"]
        assert str(tmp_path) not in answer.text
        assert "/" not in answer.json()["error"]["message"].replace("and/or", "")


# ---- limits


@pytest.mark.slow
def test_large_bodies_are_refused_before_they_are_read(serve: Serve) -> None:
    visitor = serve(upload_mb=1, json_mb=1)
    photo = visitor.bring(picture(32))
    assert read_refusal(visitor.upload(bytes(2**20 + 1))) == (413, "too_large")
    assert read_refusal(visitor.post(f"{photo}/requests", request="x" * 2**20, revision=0)) == (
        413,
        "too_large",
    )

    def endless() -> Any:
        for _ in range(40):
            yield bytes(2**16)

    chunked = visitor.client.post(f"{visitor.session}/photos", content=endless())
    assert read_refusal(chunked) == (413, "too_large")
    lying = visitor.client.post(f"{visitor.session}/photos", content=b"x", headers={"Content-Length": "-5"})
    assert lying.status_code == 413


def test_a_request_is_not_a_book(visitor: Visitor, photo: str) -> None:
    answer = visitor.post(f"{photo}/requests", request="brighter " * 500, revision=0)
    assert read_refusal(answer) == (413, "too_large")


def test_large_photos_are_refused_by_their_header(serve: Serve) -> None:
    visitor = serve(megapixels=0.005)
    answer = visitor.upload(picture(96))
    assert read_refusal(answer) == (413, "too_large")
    assert "96 x 96 pixels, more than the 0.005 megapixels" in answer.json()["error"]["message"]
    visitor.bring(picture(64))


def test_sessions_photos_and_space_are_limited(serve: Serve, tmp_path: Path) -> None:
    visitor = serve(sessions=2, photos=2, session_mb=1)
    visitor.client.post(f"{API}/sessions")
    assert read_refusal(visitor.client.post(f"{API}/sessions")) == (429, "too_many")
    visitor.bring(picture(32))
    photo = visitor.bring(picture(32))
    assert read_refusal(visitor.upload(picture(32))) == (429, "too_many")
    visitor.client.delete(photo)
    kept = files(tmp_path)
    assert read_refusal(visitor.upload((EXAMPLES / "drum.jpg").read_bytes() + bytes(2**20))) == (
        413,
        "too_large",
    )
    assert set(files(tmp_path)) < set(kept), "what was refused is gone, and what was removed made room"


def test_an_upload_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    async def slow() -> dict[str, Any]:
        app = create_app(ServerSettings(upload_seconds=0.01, folder=tmp_path))
        session = app.state.darkroom.sessions.create()
        heard: list[dict[str, Any]] = []
        scope = {
            **{"type": "http", "method": "POST", "path": f"{API}/sessions/{session.id}/photos"},
            **{"query_string": b"", "headers": [(b"host", b"127.0.0.1")], "scheme": "http", "root_path": ""},
        }

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            heard.append(message)

        await app(scope, receive, send)  # type: ignore[arg-type]
        app.state.darkroom.sessions.close_all()
        return heard[0]

    assert asyncio.run(slow())["status"] == 408
    assert files(tmp_path) == []


def test_idle_sessions_expire_with_their_folders(serve: Serve, tmp_path: Path) -> None:
    visitor = serve(idle_minutes=10)
    sessions = visitor.client.app.state.darkroom.sessions  # type: ignore[attr-defined]
    now = sessions.clock()
    visitor.bring(picture(32))
    lasting = sessions.create(permanent=True)
    sessions.clock = lambda: now + 9 * 60
    other = Visitor(visitor.client)
    other.begin()
    sessions.clock = lambda: now + 11 * 60
    assert read_refusal(visitor.client.get(visitor.session)) == (404, "not_found")
    assert visitor.client.get(other.session).status_code == 200
    assert sessions.get(lasting.id) is lasting
    assert files(tmp_path) == []
    assert len(session_folders(sessions.folder)) == 2


def test_everything_is_gone_with_the_server(serve: Serve, tmp_path: Path) -> None:
    visitor = serve()
    photo = visitor.bring(picture())
    visitor.post(f"{photo}/exports")
    visitor.post(f"{visitor.session}/batches", recipe=recipe(("brightness", 0.1)))
    visitor.client.__exit__(None, None, None)
    assert list((tmp_path / "server").iterdir()) == []


def test_photos_that_were_not_uploaded_stay(serve: Serve, tmp_path: Path) -> None:
    visitor = serve()
    own = tmp_path / "own.png"
    own.write_bytes(picture(32))
    session = visitor.client.app.state.darkroom.preload([own, tmp_path / "gone.png"])  # type: ignore[attr-defined]
    address = f"{API}/sessions/{session.id}"
    first, second = visitor.client.get(address).json()["photos"]
    assert (first["name"], first["opened"]) == ("own.png", False)
    assert visitor.client.get(f"{address}/photos/{first['photo']}").json()["width"] == 32
    missing = visitor.client.get(f"{address}/photos/{second['photo']}")
    assert read_refusal(missing) == (422, "image")
    assert str(tmp_path) not in missing.text
    assert visitor.client.delete(f"{address}/photos/{first['photo']}").status_code == 204
    visitor.client.delete(address)
    assert own.read_bytes() == picture(32)


def test_a_session_that_is_closed_meanwhile_is_no_failure(visitor: Visitor, photo: str) -> None:
    """Whatever is still asked of it finds its folder gone."""
    sessions = visitor.client.app.state.darkroom.sessions  # type: ignore[attr-defined]
    shutil.rmtree(sessions.get(visitor.session.rsplit("/", 1)[-1]).folder)
    assert read_refusal(visitor.upload(picture(32))) == (404, "not_found")
    assert read_refusal(visitor.post(f"{photo}/exports")) == (404, "not_found")
    large = visitor.client.get(f"{photo}/preview.jpg?size=1601")
    assert read_refusal(large) == (422, "image")


# ---- pages


def test_further_routes_are_guarded_like_the_others() -> None:
    router = APIRouter()
    router.add_api_route("/api/v1/more", lambda: {"more": True})
    app = create_app(more=[router])
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.get("/api/v1/more")
        assert answer.json() == {"more": True}
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert client.get("/api/v1/more", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.slow
def test_the_api_describes_itself_without_help_from_elsewhere(visitor: Visitor) -> None:
    page = visitor.client.get("/api/docs").text
    schema = visitor.client.get("/api/openapi.json").json()
    assert all(path in page for path in schema["paths"])
    assert "<script" not in page
    assert "http://" not in page.replace("http://127", "")
    assert "https://" not in page
    for kinds in schema["paths"].values():
        assert all(one["description"] for one in kinds.values()), "every route says what it does"

"""Connections that keep a server waiting: they cannot keep visitors out, nor fill the log."""

from __future__ import annotations

import errno
import http.client
import logging
import os
import re
import select
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from t2onet.errors import OutputError
from t2onet.server import ServerSettings, create_app
from t2onet.server.running import LimitedConnection, LimitedServer, RepeatFilter, compute_connection_limits
from tests.cli.helpers import COMMAND, environment
from tests.conftest import PATIENCE
from tests.server.helpers import API
from tests.server.live import running

resource = pytest.importorskip("resource", reason="open files are limited otherwise there")

HALF_A_HEADER = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_A_BODY = (
    b"POST /api/v1/sessions/none/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n"
    b"Content-Type: application/json\r\n\r\n{"
)
REFUSED_AND_HALF_A_BODY = HALF_A_BODY.replace(b"/batches", b"/nothing")
SOON = 0.1
"""Seconds without progress after which a client has to be gone; for clients that are idle by then."""
BEGINNINGS = pytest.mark.parametrize(
    "begins", [b"", HALF_A_HEADER, HALF_A_BODY, REFUSED_AND_HALF_A_BODY], ids=["no", "header", "body", "rest"]
)


class Crowd:
    """Clients on real sockets."""

    def __init__(self, server: LimitedServer, port: int, stack: ExitStack) -> None:
        self.server, self.port, self.stack = server, port, stack

    def connect(self, begins: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port), PATIENCE, source_address=(source, 0))
        self.stack.enter_context(line)
        line.sendall(begins)
        return line

    def visit(self, path: str = f"{API}/about") -> int:
        return visit(self.port, path)

    @property
    def held(self) -> list[LimitedConnection]:
        """The connections of the server."""
        return [one for one in self.server.server_state.connections if isinstance(one, LimitedConnection)]

    def set_stall(self, seconds: float) -> None:
        """Change how long the server waits for clients that stall."""
        protocol = self.server.config.http_protocol_class
        assert issubclass(protocol, LimitedConnection)
        protocol.limits = replace(protocol.limits, stall_seconds=seconds)


Gathering = Callable[..., Crowd]


@pytest.fixture
def gather(tmp_path: Path) -> Iterator[Gathering]:
    """`gather(connections=3)`: clients of a server with such limits; `more` are further routes.

    The server waits for stalled clients as long as any test does; `Crowd.set_stall` ends that.
    """
    with ExitStack() as stack:

        def begin(more: APIRouter | None = None, **limits: float) -> Crowd:
            settings = ServerSettings(folder=tmp_path, stall_seconds=PATIENCE, **limits)  # type: ignore[arg-type]
            app = create_app(settings, more=[more] if more else [])
            server, listening = stack.enter_context(running(app, settings))
            return Crowd(server, listening.getsockname()[1], stack.enter_context(ExitStack()))

        yield begin


def visit(port: int, path: str = f"{API}/about") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def is_closed(line: socket.socket) -> bool:
    """Whether the server has closed a connection, which is waited for."""
    try:
        while line.recv(2**16):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def get(path: str) -> bytes:
    return f"GET {API}/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.01)


@BEGINNINGS
def test_a_visitor_gets_in_however_many_never_finish_a_request(gather: Gathering, begins: bytes) -> None:
    crowd = gather(connections=10)
    for _ in range(30):
        crowd.connect(begins)
    assert crowd.visit() == 200
    wait_until(lambda: len(crowd.held) <= 10)


@contextmanager
def few_files(count: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The real command where only so many files may be open; the process and its port."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONUNBUFFERED="1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)),  # noqa: PLW1509
    )
    assert process.stdout is not None
    try:
        found = re.search(r":(\d+)/", process.stdout.readline())
        assert found
        yield process, int(found.group(1))
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("begins", [HALF_A_HEADER, HALF_A_BODY], ids=["header", "body"])
def test_more_connections_than_open_files_lock_nobody_out_and_log_nothing(begins: bytes) -> None:
    with few_files(128) as (process, port):
        with ExitStack() as crowd:
            for _ in range(160):
                line = crowd.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
                line.sendall(begins)
            assert [visit(port) for _ in range(3)] == [200, 200, 200]
        process.terminate()
        _, log = process.communicate(timeout=PATIENCE)
    assert log == ""


def test_a_visitor_gets_in_though_the_crowd_has_another_address(gather: Gathering) -> None:
    crowd = gather(connections=10)
    try:
        visitor = crowd.connect(b"GET /api/v1/about HTTP/1.1\r\n", source="127.0.0.2")
    except OSError:
        pytest.skip("this system has one local address")
    for _ in range(30):
        crowd.connect(HALF_A_HEADER)
    assert crowd.visit() == 200, "everybody before was met"
    visitor.sendall(b"Host: 127.0.0.1\r\n\r\n")
    assert visitor.recv(2**16).startswith(b"HTTP/1.1 200 "), "though it was there first and is the slowest"


@pytest.mark.slow
def test_a_header_that_does_not_come_ends_the_connection(gather: Gathering) -> None:
    crowd = gather()
    lines = [crowd.connect(begins) for begins in (b"", HALF_A_HEADER)]
    crowd.set_stall(SOON)
    assert all(is_closed(line) for line in lines)


@pytest.mark.slow
def test_a_header_that_trickles_ends_the_connection(gather: Gathering) -> None:
    crowd = gather()
    line = crowd.connect(HALF_A_HEADER)
    crowd.set_stall(SOON)
    wait_until(lambda: not still_takes(line, b"x"))


def still_takes(line: socket.socket, data: bytes) -> bool:
    try:
        line.sendall(data)
        return not select.select([line], [], [], 0)[0]  # the end of a connection can be read
    except ConnectionError:
        return False


@pytest.mark.slow
def test_the_rest_of_a_refused_body_ends_the_connection(gather: Gathering) -> None:
    crowd = gather()
    line = crowd.connect(REFUSED_AND_HALF_A_BODY)
    assert line.recv(2**16).startswith(b"HTTP/1.1 405 ")
    crowd.set_stall(SOON)
    assert is_closed(line)


@pytest.mark.slow
def test_an_answer_that_is_not_read_ends_the_connection(gather: Gathering) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield bytes(2**20)

    router = APIRouter()
    router.add_api_route(f"{API}/endless", lambda: StreamingResponse(endless()))
    crowd = gather(router)
    crowd.connect(get("endless"))
    wait_until(lambda: any(one.transport.get_write_buffer_size() for one in crowd.held))
    crowd.set_stall(SOON)
    wait_until(lambda: not crowd.held and not crowd.server.server_state.tasks)
    crowd.set_stall(PATIENCE)
    assert crowd.visit() == 200


def test_a_download_is_not_cut_off_by_newcomers(gather: Gathering) -> None:
    """All of it is in the server's buffer, and the client still reads."""
    size = 30_000_000
    router = APIRouter()
    router.add_api_route(f"{API}/large", lambda: Response(bytes(size)))
    crowd = gather(router, connections=10)
    reader = crowd.connect(get("large"))
    start = reader.recv(2**16)
    wait_until(lambda: any(one.waiting and one.transport.get_write_buffer_size() for one in crowd.held))
    newcomers = [crowd.connect() for _ in range(12)]
    wait_until(lambda: any(select.select(newcomers, [], [], 0)))
    wait_until(lambda: len(crowd.held) <= 10)
    head, _, body = start.partition(b"\r\n\r\n")
    assert f"content-length: {size}".encode() in head
    received = len(body)
    while received < size and (data := reader.recv(2**20)):
        received += len(data)
    assert received == size


class Work:
    """A route that answers when `go` is set."""

    def __init__(self) -> None:
        self.go, self.begun = Event(), 0
        self.router = APIRouter()
        self.router.add_api_route(f"{API}/work", self.answer)

    def answer(self) -> str:
        self.begun += 1
        assert self.go.wait(PATIENCE)
        return "done"


def test_room_is_made_by_connections_of_one_address_alone(gather: Gathering) -> None:
    work = Work()
    crowd = gather(work.router, connections=18)
    crowd.stack.callback(work.go.set)
    try:
        others = [crowd.connect(b"GET /api/v1/about HTTP/1.1\r\n", source="127.0.0.2") for _ in range(8)]
    except OSError:
        pytest.skip("this system has one local address")
    working = [crowd.connect(get("work")) for _ in range(9)]
    wait_until(lambda: work.begun == 9)
    idle = crowd.connect()
    wait_until(lambda: len(crowd.held) == 18)
    crowd.connect()
    assert is_closed(idle)
    for line in others:
        line.sendall(b"Host: 127.0.0.1\r\n\r\n")
        assert line.recv(2**16).startswith(b"HTTP/1.1 200 ")
    work.go.set()
    assert all(line.recv(2**16).startswith(b"HTTP/1.1 200 ") for line in working)


@pytest.mark.slow
def test_what_is_being_answered_stays_and_newcomers_are_told_to_wait(gather: Gathering) -> None:
    work = Work()
    crowd = gather(work.router, connections=3)
    crowd.stack.callback(work.go.set)
    lines = [crowd.connect(get("work")) for _ in range(2)]
    wait_until(lambda: work.begun == 2)
    stalled = crowd.connect()
    crowd.set_stall(SOON)
    assert is_closed(stalled), "long after the others began"
    crowd.set_stall(PATIENCE)
    lines.append(crowd.connect(get("work")))
    wait_until(lambda: work.begun == 3)
    refusal = crowd.connect().recv(2**16)
    assert refusal.startswith(b"HTTP/1.1 503 ")
    assert b'"kind":"busy"' in refusal
    work.go.set()
    assert all(line.recv(2**16).startswith(b"HTTP/1.1 200 ") for line in lines)


@pytest.mark.parametrize(("files", "most"), [(20_000, 512), (256, 128), (64, 32), (1, 1)])
def test_limits_leave_files_for_photos(monkeypatch: pytest.MonkeyPatch, files: int, most: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    limits = compute_connection_limits(ServerSettings())
    assert limits.open == most
    assert limits.open + 4 * limits.accepted <= max(files, 5)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert compute_connection_limits(ServerSettings(connections=50)).open == 50


def test_the_log_does_not_repeat_itself() -> None:
    now = 0.0
    once = RepeatFilter(clock=lambda: now)

    def passes(message: str, line: int = 7) -> str | None:
        record = logging.LogRecord("uvicorn.error", logging.WARNING, "x.py", line, message, None, None)
        return record.getMessage() if once.filter(record) else None

    assert passes("Invalid HTTP request received.") == "Invalid HTTP request received."
    assert [passes("Invalid HTTP request received.") for _ in range(500)] == [None] * 500
    assert passes("something else", line=8) == "something else"
    now = 61.0
    assert passes("again") == "again (500 more of these before)"
    assert passes("again") is None


def test_the_log_tells_errors_of_the_system_apart() -> None:
    """One line of the server logs all of them, and one of a library raises them."""
    once = RepeatFilter(clock=lambda: 0.0)

    def passes(error: Exception, *, raised: bool = False) -> bool:
        info = (type(error), error, None) if raised else None
        args = ("it failed",) if raised else (error,)
        return once.filter(logging.LogRecord("x", logging.ERROR, "x.py", 7 + raised, "%s", args, info))

    def wrapped(number: int) -> Exception:
        error = OutputError("a.png cannot be written")
        error.__cause__ = OSError(number, os.strerror(number))
        return error

    for raised in (False, True):
        assert passes(OSError(errno.EMFILE, "too many open files", "/a"), raised=raised)
        assert passes(OSError(errno.ENOSPC, "no space left", "/a"), raised=raised)
        assert not passes(OSError(errno.ENOSPC, "no space left", "/b"), raised=raised)
        assert passes(wrapped(errno.EMFILE), raised=raised)
        assert passes(wrapped(errno.ENOSPC), raised=raised)
        assert not passes(wrapped(errno.ENOSPC), raised=raised)


@pytest.mark.slow
def test_nonsense_fills_no_log() -> None:
    with few_files(256) as (process, port):
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as line:
                line.sendall(b"nonsense\r\n\r\n")
                assert line.recv(2**16).startswith(b"HTTP/1.1 400 ")
        process.terminate()
        _, log = process.communicate(timeout=PATIENCE)
    assert log.count("Invalid HTTP request") == 1

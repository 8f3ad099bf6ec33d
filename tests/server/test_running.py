"""How a server ends."""

from __future__ import annotations

import signal
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from t2onet.server import ServerSettings, create_app, sessions
from t2onet.server.running import bind_socket, run_server
from t2onet.server.sessions import DarkroomService
from tests.conftest import PATIENCE


def test_a_request_that_was_sent_before_the_stop_is_answered(tmp_path: Path) -> None:
    """The loop does not run between the request and the signal, as on a machine that is too busy."""
    with bind_socket("127.0.0.1", 0) as listening, socket.socket() as client:

        def ask_and_stop() -> None:
            client.connect(listening.getsockname())
            client.sendall(b"GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            signal.raise_signal(signal.SIGINT)

        with suppress(KeyboardInterrupt):
            run_server(create_app(ServerSettings(folder=tmp_path)), listening, ask_and_stop)
        assert client.recv(2**16).startswith(b"HTTP/1.1 200 ")


def test_a_stop_ends_the_warm_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    monkeypatch.setattr(DarkroomService, "warm_up", lambda _, stopping: told.append(stopping.wait(PATIENCE)))
    with TestClient(create_app(ServerSettings(folder=tmp_path))):
        pass
    assert told == [True]


def test_no_kernels_are_compiled_for_a_server_that_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(sessions, "render_stages", lambda *_, **__: compiled.append(1))
    room, stopping = DarkroomService.create(ServerSettings()), threading.Event()
    room.warm_up(stopping)
    assert len(compiled) == 1
    stopping.set()
    room.warm_up(stopping)
    assert len(compiled) == 1

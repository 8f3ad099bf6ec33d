"""How a server ends."""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from pathlib import Path

from t2onet.server import Settings, create_app
from t2onet.server.running import listen, run


def test_a_request_that_was_sent_before_the_stop_is_answered(tmp_path: Path) -> None:
    """The loop does not run between the request and the signal, as on a machine that is too busy."""
    with listen("127.0.0.1", 0) as listening, socket.socket() as client:

        def ask_and_stop() -> None:
            client.connect(listening.getsockname())
            client.sendall(b"GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            signal.raise_signal(signal.SIGINT)

        with suppress(KeyboardInterrupt):
            run(create_app(Settings(folder=tmp_path)), listening, ask_and_stop)
        assert client.recv(2**16).startswith(b"HTTP/1.1 200 ")

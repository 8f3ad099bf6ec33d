"""A visitor among 1,100 connections that never finish a request, on a server that may open 1,024 files."""

from __future__ import annotations

import http.client
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 1100
FILES = 1024
SECONDS = 20
_T2O = "from t2onet.cli import main; main()"
_PATH = "/api/v1/about"


def main() -> None:
    """Each crowd meets a server of its own; a visitor asks four times a second while the crowd stays."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    post = b"POST /api/v1/sessions/none/batches HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for name, begins in {
        "silent": b"",
        "half a header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        "half a body": post + b"Content-Length: 99\r\n\r\n{",
    }.items():
        with _served() as (port, log):
            answers = _visit(port, begins)
            times = sorted(seconds for _, seconds in answers)
            statuses = dict(Counter(status for status, _ in answers))
            size = log.stat().st_size
        print(f"  {name:<14} {CONNECTIONS} connections: the visitor got {statuses}, ", end="")
        print(f"median {times[len(times) // 2]:.3f} s, slowest {times[-1]:.3f} s; log {size} bytes")


@contextmanager
def _served() -> Iterator[tuple[int, Path]]:
    """A darkroom that may open few files: its port and its log."""
    command = [sys.executable, "-c", _T2O, "serve", "--no-browser", "--no-keep", "--port", "0"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),  # noqa: PLW1509
            )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            address = next(word for word in line.split() if word.startswith("http://"))
            yield urlsplit(address).port or 0, log
        finally:
            process.terminate()
            process.communicate(timeout=60)


def _visit(port: int, begins: bytes) -> list[tuple[str, float]]:
    """Statuses and seconds of a visitor's requests while the crowd is there."""
    end = time.monotonic() + SECONDS
    crowd = threading.Thread(target=_crowd, args=(port, begins, end))
    crowd.start()
    answers = []
    while time.monotonic() < end:
        begun = time.monotonic()
        answers.append((_asked(port), time.monotonic() - begun))
        time.sleep(0.25)
    crowd.join()
    return answers


def _asked(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", _PATH)
        return str(connection.getresponse().status)
    except OSError as error:
        return type(error).__name__
    finally:
        connection.close()


def _crowd(port: int, begins: bytes, end: float) -> None:
    """Keep that many connections open; of those that are closed, a hundred a second connect again."""
    with ExitStack() as stack:
        waiting = stack.enter_context(selectors.DefaultSelector())
        stack.callback(lambda: [key.fileobj.close() for key in list(waiting.get_map().values())])  # type: ignore[union-attr]
        for _ in range(CONNECTIONS):
            _join(waiting, port, begins)
        while time.monotonic() < end:
            time.sleep(0.1)
            for key, _ in waiting.select(timeout=0)[:10]:
                line = key.fileobj
                assert isinstance(line, socket.socket)
                with line:
                    waiting.unregister(line)
                _join(waiting, port, begins)


def _join(waiting: selectors.BaseSelector, port: int, begins: bytes) -> None:
    line = socket.socket()
    line.settimeout(1)
    try:
        line.connect(("127.0.0.1", port))
        line.sendall(begins)
        waiting.register(line, selectors.EVENT_READ)
    except OSError:
        line.close()

"""`t2o serve` ends when it is stopped, however busy its threads are."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import environment, photo
from tests.cli.test_serve import SIGNALS, port_of
from tests.conftest import PATIENCE

BUSY = """
import sys, threading, time
from t2onet.cli import main
from t2onet.server import photos, running, sessions

def never_ends(photo):
    print("busy", flush=True)
    time.sleep(3600)

running._GRACE_SECONDS = 1
sessions.DarkroomService.warm_up = lambda room, stopping: None
photos.SessionPhoto.open = never_ends
sys.argv[0] = "t2o"
main()
"""
"""A server that does not come to an end with any photo."""


@SIGNALS
@pytest.mark.slow
@pytest.mark.parametrize(("work", "status"), [("photos", b"503"), ("batches", b"202")])
def test_it_ends_while_a_thread_is_busy(folder: Path, work: str, status: bytes) -> None:
    data = photo(folder / "sea.png").read_bytes()
    command = [sys.executable, "-c", BUSY, "serve", "sea.png", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        [*command, "--folder", "uploads"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONUNBUFFERED="1"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as running:
        assert running.stdout is not None
        try:
            address = running.stdout.readline()
            port, session = port_of(address), address.partition("#session=")[2].split()[0]
            body = data if work == "photos" else b'{"recipe": {"steps": []}}'
            head = f"POST /api/v1/sessions/{session}/{work} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
                line.sendall(head.encode() + body)
                assert running.stdout.readline() == "busy\n"
                running.send_signal(signal.SIGINT)
                out, err = running.communicate(timeout=PATIENCE)
                answer = line.recv(2**16)
        finally:
            running.kill()
    assert (running.returncode, out) == (0, "stopped\n")
    assert "Traceback" not in err, err
    assert answer.split()[1] == status, "whoever waits is told"
    assert list((folder / "uploads").iterdir()) == [], "what it stored is gone, as always"

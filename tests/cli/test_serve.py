"""`t2o serve`: where it listens, what it prints, and how it stops."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.helpers import COMMAND, T2O, environment, photo
from tests.cli.test_process import RUN, list_loaded_modules
from tests.conftest import PATIENCE
from tests.server.helpers import files

SIGNALS = pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to one process there")


@contextmanager
def serving(*arguments: object, guard: Sequence[str] = ()) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, perhaps started by `guard`, and the address it printed."""
    running = subprocess.Popen(
        [*guard, *COMMAND, "serve", "--no-browser", "--port", "0", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONUNBUFFERED="1"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert running.stdout is not None
    try:
        line = running.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, (line, running.stderr and running.stderr.read())
        yield running, found.group()
    finally:
        running.kill()
        running.communicate()


def send_request(
    port: int, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def port_of(address: str) -> int:
    found = re.search(r":(\d+)/", address)
    assert found
    return int(found.group(1))


@SIGNALS
@pytest.mark.slow
def test_it_serves_photos_until_ctrl_c_and_leaves_nothing(folder: Path) -> None:
    own = photo(folder / "sea.png")
    with serving("sea.png", "--folder", "uploads", "--no-keep") as (running, address):
        port = port_of(address)
        session = address.partition("#session=")[2]
        status, told = send_request(port, "GET", f"/api/v1/sessions/{session}")
        assert (status, [one["name"] for one in json.loads(told)["photos"]]) == (200, ["sea.png"])
        assert send_request(port, "POST", f"/api/v1/sessions/{session}/photos", own.read_bytes())[0] == 201
        assert len(files(folder / "uploads")) == 1
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err) == (0, "stopped\n", "")
    assert list((folder / "uploads").iterdir()) == []
    assert own.exists()


@SIGNALS
@pytest.mark.slow
def test_another_reader_is_served(folder: Path) -> None:
    photo(folder / "sea.png")
    with serving("sea.png", "--reader", "free") as (running, address):
        port, session = port_of(address), address.partition("#session=")[2]
        assert json.loads(send_request(port, "GET", "/api/v1/about")[1])["reader"] == "free"
        place = f"/api/v1/sessions/{session}"
        (one,) = json.loads(send_request(port, "GET", place)[1])["photos"]
        body = json.dumps({"request": "brighter", "revision": 0}).encode()
        kind = {"Content-Type": "application/json"}
        status, told = send_request(port, "POST", f"{place}/photos/{one['photo']}/requests", body, **kind)
        assert (status, json.loads(told)["answered"]) == (200, True)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=PATIENCE)


@SIGNALS
@pytest.mark.slow
def test_a_photo_that_is_on_its_way_arrives_before_it_stops(folder: Path) -> None:
    data = photo(folder / "sea.png").read_bytes()
    with serving("sea.png") as (running, address):
        port, session = port_of(address), address.partition("#session=")[2]
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
            head = f"POST /api/v1/sessions/{session}/photos HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            line.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data[:100])
            running.send_signal(signal.SIGTERM)
            wait_until_closed(port)
            line.sendall(data[100:])
            assert line.recv(2**16).startswith(b"HTTP/1.1 201 ")
        running.communicate(timeout=PATIENCE)


def wait_until_closed(port: int) -> None:
    """Until nobody new is let in."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return
        time.sleep(0.01)
    raise AssertionError("it is still open")


@SIGNALS
@pytest.mark.slow
def test_elsewhere_than_on_this_machine_it_asks_for_a_token(folder: Path) -> None:
    with serving("--host", "0.0.0.0") as (running, address):
        port, token = port_of(address), address.partition("?token=")[2]
        assert len(token) >= 20
        assert send_request(port, "GET", "/api/v1/about")[0] == 401
        assert send_request(port, "GET", "/api/v1/about", Authorization=f"Bearer {token}")[0] == 200
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=PATIENCE)


def test_a_port_that_is_taken_is_one_line(t2o: T2O, folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = t2o("serve", "--port", port, "--no-browser")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"t2o: port {port} at 127.0.0.1 cannot be used (address already in use)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "no.such.host.invalid"], "no.such.host.invalid is no address of this machine"),
        (["--token", "short"], "a token of fewer than 8 characters is too easy to guess"),
        (["nowhere/*.jpg"], "no file matches nowhere/*.jpg"),
        (
            ["--folder", "look.json"],
            "look.json cannot hold uploads: it is not a folder; give another --folder",
        ),
        (["--folder", "look.json/below"], "look.json/below cannot hold uploads (not a directory)"),
        (["--folder", "a" * 300], "aaa cannot hold uploads (file name too long); give another --folder"),
        (["--folder", ""], "--folder is empty; give a folder, or leave it out for a temporary one"),
        (["--token", " leading-blank"], "a token neither begins nor ends with a blank"),
        (["--token", "trailing-blank "], "a token neither begins nor ends with a blank"),
    ],
)
def test_refusals(t2o: T2O, folder: Path, arguments: list[str], said: str) -> None:
    answer = t2o("serve", "--no-browser", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_a_folder_is_checked_before_a_port_is_taken_and_gone_when_that_fails(t2o: T2O, folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        bad = t2o("serve", "--no-browser", "--port", port, "--folder", "look.json")
        good = t2o("serve", "--no-browser", "--port", port, "--folder", "uploads")
    assert "not a folder" in bad.err
    assert f"port {port}" in good.err
    assert list((folder / "uploads").iterdir()) == []


def test_its_help_loads_no_server() -> None:
    found = list_loaded_modules(RUN.format(arguments=["serve", "--help"]))
    assert not {"fastapi", "starlette", "uvicorn", "numpy", "onnxruntime", "numba"} & found

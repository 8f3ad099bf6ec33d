"""A server that is killed while it edits and saves: every acknowledged edit is there, and no half file."""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from t2onet import Recipe
from tests.cli.test_serve import SIGNALS, port_of, send_request, serving
from tests.conftest import PATIENCE
from tests.server.helpers import API, files, picture, recipe
from tests.server.live import photo_file

KIND = {"Content-Type": "application/json"}
TEMPORARY = re.compile(r"\.t2o-[0-9a-f]{16}\.tmp")
"""Hidden files that a kill may leave; they never have the name of a result."""


def ask(port: int, method: str, path: str, body: Any = None) -> Any:
    """The JSON of an answer that must be good."""
    is_json = isinstance(body, dict)
    data = json.dumps(body).encode() if is_json else body
    status, told = send_request(port, method, path, data, **(KIND if is_json else {}))
    assert status < 300, told
    return json.loads(told)


@contextmanager
def editing(port: int, photos: list[str], known: dict[str, tuple[float, float]]) -> Iterator[None]:
    """Change the photos again and again, each by a thread of its own, until the server is gone.

    `known` has the amount that was acknowledged last for each, and the one that was sent last. It begins when
    an edit of each photo was acknowledged; what fails in a thread fails the test at the end.
    """
    stop = threading.Event()
    begun = {photo: threading.Event() for photo in photos}

    def edit(photo: str) -> None:
        try:
            change(photo)
        finally:
            begun[photo].set()

    def change(photo: str) -> None:
        revision = ask(port, "GET", photo)["revision"]
        for number in range(1, 10_000):
            if stop.is_set():
                return
            amount = round(number / 10_000, 4)
            known[photo] = (known[photo][0], amount)
            body = {"recipe": recipe(("contrast", [amount])), "revision": revision}
            try:
                status, told = send_request(port, "PUT", f"{photo}/recipe", json.dumps(body).encode(), **KIND)
            except (OSError, http.client.HTTPException):
                return
            assert status == 200, told
            revision = json.loads(told)["revision"]
            known[photo] = (amount, amount)
            begun[photo].set()

    with ThreadPoolExecutor(len(photos)) as pool:
        running = [pool.submit(edit, photo) for photo in photos]
        try:
            for one in begun.values():
                assert one.wait(PATIENCE)
            yield
        finally:
            stop.set()
    for one in running:
        one.result()


@SIGNALS
@pytest.mark.slow
def test_a_kill_loses_no_acknowledged_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T2O_DATA_DIR", str(tmp_path / "data"))
    place = tmp_path / "trip"
    place.mkdir()
    for seed in range(2):
        photo_file(place / f"{seed}.png", side=240 + 1200 * seed, seed=seed)  # one takes a while to save
    wait = random.Random(5)
    known: dict[str, tuple[float, float]] = {}
    uploads: list[str] = []
    session, address = "", ""
    for run in range(4):
        with serving(place, "--folder", tmp_path / "uploads") as (running, link):
            port = port_of(link)
            assert session in ("", link.partition("#session=")[2]), "the link leads there in every run"
            session = link.partition("#session=")[2]
            address = f"{API}/sessions/{session}"
            told = ask(port, "GET", address)
            photos = [f"{address}/photos/{one['photo']}" for one in told["photos"]]
            assert {one["name"] for one in told["photos"]} >= {"0.png", "1.png"}
            assert set(uploads) <= set(photos), "uploads are there"
            for photo in photos:
                check_edit(ask(port, "GET", photo), known.get(photo, (0, 0)))
            uploads.append(upload(port, address, run))
            photos.append(uploads[-1])
            known = {photo: known.get(photo, (0.0, 0.0)) for photo in photos}
            with editing(port, photos, known):
                ask(port, "POST", f"{address}/batches", {"recipe": recipe(("brightness", [0.1]))})
                threading.Event().wait(0.2 + wait.random())
                running.send_signal(signal.SIGKILL)
                running.wait(PATIENCE)
        assert all(acknowledged > 0 for acknowledged, _ in known.values())
        for path in files(place):
            if path.name.endswith(".t2o.json"):
                Recipe.load(path)
            else:
                assert path.suffix == ".png" or TEMPORARY.fullmatch(path.name), path
    with serving(place, "--folder", tmp_path / "uploads") as (running, link):
        port = port_of(link)
        for photo, amounts in known.items():
            check_edit(ask(port, "GET", photo), amounts)
        assert files(tmp_path / "uploads") == [], "half results of the killed server are gone"
        running.send_signal(signal.SIGINT)
        running.wait(PATIENCE)
    assert sorted(path.name for path in files(place) if path.name.endswith(".json")) == [
        "0.png.t2o.json",
        "1.png.t2o.json",
    ]


def upload(port: int, address: str, number: int) -> str:
    """The address of a new photo."""
    path = f"{address}/photos"
    return f"{path}/{ask(port, 'POST', f'{path}?name=up{number}.png', picture(32 + number))['photo']}"


def check_edit(state: dict[str, Any], amounts: tuple[float, float]) -> None:
    """The edit is the one that was acknowledged last, or the one that was on its way."""
    found = [step["parameters"][0] for step in state["recipe"]["steps"]] or [0]
    assert found[0] in amounts
    assert state["remarks"] == []

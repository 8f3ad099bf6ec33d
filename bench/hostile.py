"""Hostile files: seconds and memory until each is opened or refused, and how long /about waits meanwhile."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from bench.serving import serving
from t2onet.image import image_from_array
from tests.hostile import FILES, long_recipe, masked_recipe

_ABOUT = "/api/v1/about"
_EVERY = 0.05
"""Seconds between two calls of `/about`."""
_OPEN = """
import pathlib, sys, time
from t2onet import ImageError, Recipe, RecipeError, open_image
begun = time.perf_counter()
try:
    Recipe.load(sys.argv[1]) if sys.argv[1].endswith(".json") else open_image(sys.argv[1])
    verdict = "opened"
except (ImageError, RecipeError):
    verdict = "refused"
status = pathlib.Path("/proc/self/status").read_text()
print(verdict, time.perf_counter() - begun, int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name, serving() as port:
        client = _Client(port)
        print(f"  {'file':<26} {'MB':>6}  {'':>8} {'alone':>8} {'memory':>8}   {'served':>8}  /about")
        for kind, make in {**FILES, "steps.json": long_recipe}.items():
            path = Path(name) / kind
            path.write_bytes(make())
            verdict, seconds, memory = _alone(path)
            size = path.stat().st_size / 1e6
            print(f"  {kind:<26} {size:6.1f}  {verdict:>8} {seconds:6.2f} s {memory:5.0f} MB", end="")
            print(f"   {_upload(client, path)}" if kind in FILES else "")
            path.unlink()
        print(f"  {'32 masked steps on 8 MP':<26} {'':>32}   {_masked(client)}")


def _alone(path: Path) -> tuple[str, float, float]:
    """In a process of its own: what became of the file, seconds, and peak memory in MB."""
    command = [sys.executable, "-c", _OPEN, str(path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return told[0], float(told[1]), float(told[2])


class _Client:
    """A session on a server, and someone who asks what it is all the time."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.session = f"/api/v1/sessions/{json.loads(self.call('POST', '/api/v1/sessions')[1])['session']}"

    def call(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        line.request(method, path, body, {"Content-Type": "application/json"})
        answer = line.getresponse()
        return answer.status, answer.read()

    def timed(self, method: str, path: str, body: bytes) -> str:
        """Status and seconds of a call, and the longest that `/about` took meanwhile."""
        waits: list[float] = []
        done = threading.Event()
        asking = threading.Thread(target=self._ask, args=(done, waits))
        asking.start()
        begun = time.perf_counter()
        status, _ = self.call(method, path, body)
        seconds = time.perf_counter() - begun
        done.set()
        asking.join()
        return f"{status} {seconds:6.2f} s  {1000 * max(waits):5.0f} ms"

    def _ask(self, done: threading.Event, waits: list[float]) -> None:
        while not waits or not done.wait(_EVERY):
            begun = time.perf_counter()
            self.call("GET", _ABOUT)
            waits.append(time.perf_counter() - begun)


def _upload(client: _Client, path: Path) -> str:
    return client.timed("POST", f"{client.session}/photos?name={path.name}", path.read_bytes())


def _masked(client: _Client) -> str:
    """An export of a photo of 8 megapixels through 32 masks."""
    noise = np.random.default_rng(0).integers(0, 256, (2448, 3264, 3), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as name:
        image_from_array(noise).save(Path(name) / "photo.jpg")
        status, told = client.call(
            "POST", f"{client.session}/photos", (Path(name) / "photo.jpg").read_bytes()
        )
    assert status == 201, told
    asked = json.dumps({"recipe": masked_recipe(side=200)}).encode()
    return client.timed("POST", f"{client.session}/photos/{json.loads(told)['photo']}/exports", asked)

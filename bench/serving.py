"""The web darkroom: a preview of 1600 pixels against its JPEG encode alone, and twenty visitors at a time."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.scene import CURVES, EXAMPLES, photo
from bench.timing import in_turns
from t2onet import Recipe, open_image
from t2onet.image.codecs import count_cores
from t2onet.server.photos import PreviewCache, PreviewRenderer, encode_preview

SIDE = 1600
VISITORS = 20
ROUNDS = 15
SECONDS = float(os.environ.get("T2O_BENCH_SECONDS", "60"))
_T2O = "from t2onet.cli import main; main()"
_SAID = ("brighter and warmer", "a bit more", "less warm", "also sharpen it", "undo that")
_STEPS = [("brightness", 0.1), ("saturation", 0.2), ("contrast", 0.2), ("color", CURVES)]
_SHARP = [*_STEPS[:3], ("sharpness", 0.3)]


def main() -> None:
    _slider()
    _load()


def _slider() -> None:
    """Every render moves one slider a little, as a hand does: the first of four steps, or the last."""
    image = open_image(np.asarray(photo()))
    previews = PreviewRenderer(PreviewCache(2**29), SIDE, count_cores())
    moved = itertools.count(1)

    def rendered(steps: list[tuple[str, Any]], at: int) -> bytes:
        """Of a photo of its own, as each visitor has one."""
        name, values = steps[at]
        nudged = np.asarray(values) + 1e-6 * next(moved)
        look = Recipe.from_steps([*steps[:at], (name, nudged), *steps[at + 1 :]])
        return encode_preview(previews.render(f"{name} {at}", lambda: image, look, SIDE))

    picture = previews.render("alone", lambda: image, Recipe.from_steps(_STEPS), SIDE)
    taken = in_turns(
        {
            "encode alone": lambda: encode_preview(picture),
            "the first of four steps moved": lambda: rendered(_STEPS, 0),
            "the last moved, color": lambda: rendered(_STEPS, 3),
            "the first moved, with sharpness": lambda: rendered(_SHARP, 0),
            "the last moved, sharpness": lambda: rendered(_SHARP, 3),
        },
        rounds=ROUNDS,
    )
    alone = taken.pop("encode alone")
    height, width = picture.shape[:2]
    print(f"  {f'JPEG encode alone, {width} x {height}':<34} {1000 * alone:6.1f} ms")
    for name, each in taken.items():
        ratio = f"{each / alone:.1f} encodes (bar: at most 8)"
        print(f"  {name:<34} {1000 * each:6.1f} ms to render and encode = {ratio}")


@dataclass
class _Visitor:
    """Someone who edits: says things, drags sliders, goes back, and looks at the result each time."""

    port: int
    number: int
    taken: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    def edit(self, end: float) -> None:
        self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        session = self._call("begin", "POST", "/api/v1/sessions")["session"]
        place = f"/api/v1/sessions/{session}"
        files = sorted(EXAMPLES.glob("*.jpg"))
        state = self._call("upload", "POST", f"{place}/photos", files[self.number % len(files)].read_bytes())
        at = f"{place}/photos/{state['photo']}"
        requests = itertools.cycle(_SAID)
        while time.monotonic() < end:
            said = {"request": next(requests), "revision": state["revision"]}
            state = self._call("request", "POST", f"{at}/requests", said)["state"]
            self._call("preview", "GET", f"{at}/preview.jpg")
            state = self._drag(at, state)

    def _drag(self, at: str, state: dict[str, Any]) -> dict[str, Any]:
        """Eight frames of a slider of the last step, and then the recipe as it was let go."""
        *first, last = state["recipe"]["steps"] or [{"operation": "contrast", "parameters": [0.1]}]
        for frame in range(8):
            last = {**last, "parameters": [0.999 * value + 1e-4 * frame for value in last["parameters"]]}
            self._call("slider", "POST", f"{at}/renders", {"recipe": {"steps": [*first, last]}})
        put = {"recipe": {"steps": [*first, last]}, "revision": state["revision"]}
        return self._call("put", "PUT", f"{at}/recipe", put)

    def _call(self, kind: str, method: str, path: str, body: Any = None) -> Any:
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        begun = time.perf_counter()
        self.line.request(method, path, sent, {"Content-Type": "application/json"})
        answer = self.line.getresponse()
        data = answer.read()
        self.taken[kind].append(time.perf_counter() - begun)
        if answer.status >= 300:
            self.errors.append(f"{method} {path}: {answer.status} {data[:200]!r}")
        return json.loads(data) if answer.headers["content-type"] == "application/json" else data


def _load() -> None:
    with serving() as port:
        end = time.monotonic() + SECONDS
        visitors = [_Visitor(port, number) for number in range(VISITORS)]
        with ThreadPoolExecutor(VISITORS) as pool:
            list(pool.map(lambda visitor: visitor.edit(end), visitors))
    errors = [error for visitor in visitors for error in visitor.errors]
    print(f"  {VISITORS} visitors editing for {SECONDS:g} s on {count_cores()} cores: {len(errors)} errors")
    for error in errors[:5]:
        print(f"    {error}")
    for kind in visitors[0].taken:
        times = sorted(each for visitor in visitors for each in visitor.taken[kind])
        half, most = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
        print(f"  {kind:<10} {len(times):6} calls, median {half:7.0f} ms, p95 {most:7.0f} ms")


@contextmanager
def serving() -> Iterator[int]:
    """A real server in a process of its own; its port."""
    command = [sys.executable, "-c", _T2O, "serve", "--no-browser", "--no-keep", "--port", "0"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    found = re.search(r":(\d+)/", running.stdout.readline())
    assert found, "the server does not start"
    try:
        yield int(found.group(1))
    finally:
        running.terminate()
        running.wait(60)

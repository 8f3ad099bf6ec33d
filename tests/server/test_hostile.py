"""Uploads that mean harm, and calls that mean nothing: no failure of the server, and no trace."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import PIL.PngImagePlugin
import pytest

from tests import hostile
from tests.cli.helpers import png_header
from tests.server.conftest import Serve
from tests.server.helpers import API, files, picture, session_folders

resource = pytest.importorskip("resource", reason="memory is only measured where the system tells")
SMALL = {"megapixels": 4.0, "upload_mb": 4}


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    header = struct.pack(">LLBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), *chunks, (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(name, data) for name, data in parts)


def many_frames() -> bytes:
    frame = b"\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0"
    return b"GIF89a\x02\0\x02\0\x80\0\0\0\0\0\xff\xff\xff" + frame * 100_000 + b";"


def with_text(size: int) -> bytes:
    told = PIL.PngImagePlugin.PngInfo()
    told.add_text("comment", "x" * size, zip=True)
    return picture(32, pnginfo=told)


def looping_tiff() -> bytes:
    return b"II*\0\x08\0\0\0" + struct.pack("<HHHLLL", 1, 256, 4, 1, 99, 8)


def compress(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("../../up.png", data)
    return stream.getvalue()


SIZES = [(100_000, 100_000), (2**31 - 1, 2**31 - 1), (50_000, 2), (3000, 3000), (0, 0), (1, 1)]
BMP = struct.pack("<LLLLllHHLLllLL", 99, 0, 54, 40, 60_000, 60_000, 1, 24, 0, 0, 0, 0, 0, 0)
GIF = b"GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\xff\xff\xff\xff\0\x02\x02\x44\x01\0;"
TIFF = b"II*\0\x08\0\0\0" + struct.pack("<HHHLLHHLLL", 2, 256, 4, 1, 65_000, 257, 4, 1, 65_000, 0)


def bombs() -> Iterator[tuple[str, bytes]]:
    """Files that claim or unfold to far more than they are."""
    for width, height in SIZES:
        yield "bomb.png", png_header(width, height)
    yield "deflated.png", png(3000, 3000, (b"IDAT", zlib.compress(bytes(3001 * 3000), 9)))
    yield "long.png", png(8, 8, (b"IDAT", zlib.compress(bytes(30_000_000), 9)))
    yield "twice.png", png(8, 8, (b"IHDR", struct.pack(">LLBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)))
    yield "text.png", with_text(20_000_000)
    yield "profile.png", png(8, 8, (b"iCCP", b"x\0\0" + zlib.compress(bytes(20_000_000), 9)))
    yield "scans.jpg", hostile.many_scans_jpeg()
    yield "frames.gif", many_frames()
    yield "huge.bmp", b"BM" + BMP
    yield "huge.gif", GIF
    yield "huge.tif", TIFF
    yield "loop.tif", looping_tiff()
    yield "packed.gz", gzip.compress(bytes(10_000_000))
    yield "packed.zip", compress(bytes(10_000_000))


def strangers() -> Iterator[tuple[str, bytes]]:
    """Files that are something else, or whose name says so."""
    yield "empty.jpg", b""
    yield "page.jpg", b"<html><script>alert(1)</script></html>"
    yield "drawing.svg", b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    yield "both.gif", b"GIF89a/*" + b"*/=alert(1)//"
    yield "shell.php.jpg", b"<?php system($_GET[0]); ?>"
    yield "program.png", b"\x7fELF" + bytes(500)
    yield "script.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) run"
    yield "list.txt", b"../../etc/passwd\n"
    for ending in (".heic", ".avif", ".nef", ".dng", ".cr2", ".raw", ".webp", ".tif", ".bmp"):
        yield f"junk{ending}", bytes(range(256)) * 4
    yield "brand.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(200)
    yield "brand.avif", b"\0\0\0\x18ftypavif\0\0\0\0mif1avif" + bytes(200)
    yield "../../../up.png", picture(32)[:-40]
    yield "x" * 900 + ".png", b"\x89PNG\r\n\x1a\n"
    yield "\x00\n\r.png", b"\xff\xd8\xff"


def mutants(count: int) -> Iterator[tuple[str, bytes]]:
    """Real photos with some bytes changed, or the end missing."""
    rng = random.Random(7)
    kinds = ("JPEG", "PNG", "TIFF", "WEBP", "GIF", "BMP", "AVIF")
    for number in range(count):
        kind = kinds[number % len(kinds)]
        data = bytearray(picture(32, kind))
        for _ in range(rng.randrange(1, 30)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        cut = len(data) if rng.random() < 0.6 else rng.randrange(len(data))
        yield f"mutant.{kind.lower()}", bytes(data[:cut])


@pytest.mark.slow
def test_hostile_uploads_leave_nothing_behind(serve: Serve, tmp_path: Path) -> None:
    visitor = serve(**SMALL)
    everything = [*bombs(), *strangers(), *mutants(21)]
    assert len(everything) >= 50
    before = _memory()
    taken = 0
    for name, data in everything:
        answer = visitor.upload(data, name)
        assert answer.status_code < 500, (name, answer.text)
        assert str(tmp_path) not in answer.text
        taken += answer.status_code == 201
    assert _memory() - before < 300, "MiB more at the most than before"
    (server,) = (tmp_path / "server").iterdir()
    (session,) = session_folders(server)
    kept = files(tmp_path)
    assert len(kept) == taken, "what was refused is gone"
    assert all(path.is_relative_to(session) for path in kept)
    visitor.bring(picture(32))


def _memory() -> float:
    """The most that this process ever held, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 33, 1e308, -1e-9, 10**30, float("nan"), float("inf")),
    *("", "x", "brighter", "less warm", "undo that", "\ud800", "../x", "A" * 3000, "png", "photo", "expert"),
    *([], [[]], {}, {"x": 1}, [1, 2, 3]),
)
TEXTS = ("x", "-1", "99999999999999999999", "%00", "%ff%fe", "..%2f..", "%3Cscript%3E", "1e9", "🌞")
KINDS = (*["application/json"] * 30, "text/plain", "multipart/form-data", "image/png", "")
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
NAMES = (*["brightness", "tone", "color", "sharpness", "contrast"] * 3, "inpaint", "nothing", "", 7, None)
SAID = ("brighter", "less warm", "more", "start over", "undo that", "redo", "crop it", "\ud800 warmer", "🌞")
MASKS = ({"png": "iVBORw0KGgo="}, {"file": "/etc/passwd"}, {"png": 7}, {"png": "x", "feather": -1}, {})
WHERES = (
    *(
        "shadows",
        "(reds or top) except skin",
        "shadow",
        "((((",
        "not " * 99,
        "\ud800",
        "top " * 999,
        {},
        {"of": {}},
    ),
    *(
        {"of": "top", "soften": 9},
        {"of": "top", "grow": 1e308},
        {"of": "top", "grow": 10**400},
        {"and": ["top"]},
    ),
    *(
        {"linear": {"from": [0, 0], "to": [1, 1]}},
        {"linear": [1]},
        {"radial": {"centre": [0, 0], "radius": 0.5}},
    ),
    {"or": ["top"] * 999},
)
PHOTO = {
    "requests": ("POST", ("request", "revision", "mode", "fresh")),
    "variants": ("POST", ("request", "manner", "count", "seed")),
    "recipe": ("PUT", ("recipe", "revision", "aside")),
    "strength": ("POST", ("strength", "revision")),
    "undo": ("POST", ("revision",)),
    "redo": ("POST", ("revision",)),
    "renders": ("POST", ("recipe", "size")),
    "histogram": ("POST", ("recipe", "size")),
    "exports": ("POST", ("kind", "format", "quality", "recipe")),
    "preview.jpg": ("GET", ()),
    "": ("GET", ()),
}
SESSION = {
    "plans": ("POST", ("before", "after")),
    "batches": ("POST", ("recipe", "photos")),
    "photos": ("POST", ("request",)),
    "results/x": ("GET", ()),
    "batches/x/cancel": ("POST", ()),
}
QUERIES = ("size", "original", "name", "more")


class Fuzzer:
    """Calls of the API that are nearly right, as people and programs get them wrong."""

    def __init__(self, seed: int, session: str, photos: list[str]) -> None:
        self.rng = random.Random(seed)
        self.session, self.photos = session, photos
        self.revisions: dict[str, int] = {}

    def call(self) -> tuple[str, str, bytes, dict[str, str]]:
        photo = self.rng.choice(self.photos)
        below, routes = (self.session, SESSION) if self.chance(0.25) else (photo, PHOTO)
        end = self.rng.choice(list(routes))
        method, keys = routes[end]
        path = f"{below}/{end}".rstrip("/")
        if self.chance(0.07):
            path = f"{self.rng.choice([below, f'{API}/sessions', ''])}/{self.text()}"
        if self.chance(0.2):
            path += f"?{self.rng.choice(QUERIES)}={self.text()}"
        if self.chance(0.05):
            method = self.rng.choice(METHODS)
        kind = self.rng.choice(KINDS)
        return method, path, self.body(keys, photo), {"Content-Type": kind} if kind else {}

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def text(self) -> str:
        return self.rng.choice(TEXTS)

    def body(self, keys: tuple[str, ...], photo: str) -> bytes:
        if self.chance(0.03):
            return self.rng.choice([self.rng.randbytes(200), b"[" * 50_000, b"{", b"null", b"7"])
        made = {key: self.right(key, photo) for key in keys if not self.chance(0.05)}
        if made and self.chance(0.3):
            made[self.rng.choice(list(made))] = self.rng.choice(VALUES)
        if self.chance(0.03):
            made["more"] = 1
        return json.dumps(made).encode()

    def right(self, key: str, photo: str) -> Any:
        """A value that belongs there."""
        own = [address.rsplit("/", 1)[-1] for address in self.photos]
        values: dict[str, Any] = {
            "request": self.rng.choice(SAID),
            "revision": self.revisions.get(photo, 0),
            "mode": self.rng.choice(["literal", "expert"]),
            "manner": self.rng.choice(["literal", "expert"]),
            "fresh": self.chance(0.5),
            "count": self.rng.randrange(1, 4),
            "seed": self.rng.randrange(100),
            "recipe": self.recipe(),
            "aside": [{"position": self.rng.randrange(3), "step": self.step()}] if self.chance(0.2) else [],
            "strength": self.rng.uniform(0, 4),
            "size": self.rng.choice([16, 40, 1600, 5000]),
            "kind": self.rng.choice(["photo", "recipe", "cube"]),
            "format": self.rng.choice([None, "jpg", "png", "webp"]),
            "quality": self.rng.choice([None, 50]),
            "before": self.rng.choice(own),
            "after": self.rng.choice(own),
            "photos": self.rng.choice([None, own]),
        }
        return values[key]

    def recipe(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "steps": [self.step() for _ in range(self.rng.choice([0, 1, 1, 1, 2, 2, 3, 40]))]
        }
        if self.chance(0.1):
            made["name"] = self.rng.choice(VALUES)
        return made

    def step(self) -> Any:
        if self.chance(0.03):
            return self.rng.choice(VALUES)
        name = self.rng.choice(NAMES)
        count = {"tone": 8, "color": 24}.get(str(name), 1)
        values = [self.rng.uniform(0.03, 1.5) for _ in range(count)]
        made = {"operation": name, "parameters": self.rng.choice(VALUES) if self.chance(0.05) else values}
        if self.chance(0.1):
            made["mask"] = self.rng.choice(MASKS)
        if self.chance(0.2):
            made["where"] = self.rng.choice(VALUES) if self.chance(0.3) else self.rng.choice(WHERES)
        return made

    def hear(self, path: str, answer: httpx2.Response) -> None:
        """The revision of a photo, from wherever an answer tells it."""
        told = answer.json() if answer.headers.get("content-type") == "application/json" else {}
        for photo in self.photos:
            if path.startswith(photo) and isinstance(told, dict):
                state = told.get("state", told)
                self.revisions[photo] = state.get("revision", self.revisions.get(photo, 0))


@pytest.mark.parametrize(("seed", "count"), [(1, 100), pytest.param(2, 250, marks=pytest.mark.slow)])
def test_fuzzed_calls_never_fail_the_server(serve: Serve, tmp_path: Path, seed: int, count: int) -> None:
    visitor = serve(**SMALL)
    fuzzer = Fuzzer(seed, visitor.session, [visitor.bring(picture(side)) for side in (32, 48)])
    statuses: Counter[int] = Counter()
    before = _memory()
    for _ in range(count):
        method, path, body, headers = fuzzer.call()
        answer = visitor.client.request(method, path, content=body, headers=headers)
        assert answer.status_code < 500, (method, path, body[:500], answer.text)
        assert str(tmp_path) not in answer.text
        if answer.status_code >= 400 and method != "HEAD":
            assert answer.json()["error"]["message"], (method, path)
        statuses[answer.status_code] += 1
        if answer.content:
            fuzzer.hear(path, answer)
        if method == "DELETE" and answer.status_code == 204:
            gone = path.partition("?")[0]
            fuzzer.photos = [*(one for one in fuzzer.photos if one != gone), visitor.bring(picture(32))]
    assert statuses[200] > count / 5, "much of it was understood"
    assert statuses[422] > count / 10, "and much was not"
    assert _memory() - before < 300
    (server,) = (tmp_path / "server").iterdir()
    (session,) = session_folders(server)
    assert all(path.is_relative_to(session) for path in files(tmp_path))

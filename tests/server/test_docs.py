"""The page about the server: its examples work, and it knows every route and limit."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from t2onet.server import ServerSettings, create_app
from tests.cli.test_serve import SIGNALS, serving
from tests.conftest import EXAMPLES, PATIENCE, ROOT
from tests.server.helpers import decode

PAGE = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")


def test_every_route_is_on_the_page() -> None:
    paths = create_app().openapi()["paths"]
    listed = set(re.findall(r"`(GET|POST|PUT|DELETE) ([^\s`?]+)", PAGE))
    for path, kinds in paths.items():
        short = path.removeprefix("/api/v1").replace("/sessions/{session}/photos/{photo}", "P")
        short = short.replace("/sessions/{session}", "S")
        assert {(method.upper(), short) for method in kinds} <= listed


def test_limits_on_the_page_are_those_in_use() -> None:
    limits = {field.name: field.default for field in fields(ServerSettings)}
    for name, words in [
        ("upload_mb", "{} MiB, 100 megapixels"),
        ("upload_seconds", "within {:g} s"),
        ("photos", "{} uploads"),
        ("idle_minutes", "{:g} idle minutes"),
        ("request_characters", "{} characters"),
        ("steps", "{} steps"),
        ("cache_mb", "{} MiB; the least recently used"),
        ("largest", "up to {}"),
    ]:
        assert words.format(limits[name]) in PAGE


@SIGNALS
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_walk_with_curl_works(tmp_path: Path) -> None:
    walk = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert walk
    (tmp_path / "examples").symlink_to(EXAMPLES)
    with serving() as (_, address):
        script = walk.group(1).replace("http://127.0.0.1:8642", address.rstrip("/"))
        done = subprocess.run(
            ["sh", "-ec", script.replace("curl -sS", "curl -sSf")],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert max(decode((tmp_path / "preview.jpg").read_bytes()).shape) in (1599, 1600)
    assert max(decode((tmp_path / "tried.jpg").read_bytes()).shape) in (799, 800)
    assert decode((tmp_path / "dogs-edited.jpg").read_bytes()).shape == (3088, 2056, 3)

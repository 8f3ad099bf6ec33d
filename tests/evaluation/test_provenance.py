"""Which code figures were made by."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from t2onet import __version__
from t2onet.evaluation import compare


def repository(folder: Path, monkeypatch: pytest.MonkeyPatch, *, tracked: bool) -> Path:
    """A repository with one commit, and a module in it."""
    module = folder / "module.py"
    module.write_text("")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    if tracked:
        subprocess.run([*git, "add", "module.py"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    monkeypatch.setattr(compare, "_HERE", module)
    return module


def test_a_checkout_says_its_commit_and_whether_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = repository(tmp_path, monkeypatch, tracked=True)
    assert re.fullmatch(r"[0-9a-f]{12}", compare.get_code_version())
    module.write_text("changed")
    assert re.fullmatch(r"[0-9a-f]{12}\+", compare.get_code_version())


def test_an_installed_package_says_its_release_even_in_somebodys_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path, monkeypatch, tracked=False)
    assert compare.get_code_version() == f"release {__version__}"


def test_without_git_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_HERE", tmp_path / "module.py")
    monkeypatch.setenv("PATH", "")
    assert compare.get_code_version() == f"release {__version__}"


def test_what_stands_beside_results() -> None:
    told = json.loads(compare.encode_provenance("t2o reproduce", data="0123", seed=4))
    assert told == {"data": "0123", "seed": 4, "code": compare.get_code_version(), "command": "t2o reproduce"}

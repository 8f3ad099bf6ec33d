"""Where figures come from: the code they were made by."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .. import __version__

_HERE = Path(__file__)


def code() -> str:
    """The commit of this checkout, `+` if files have changed since; the release where it is installed."""
    tracked = _git("ls-files", _HERE.name)
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not tracked or not commit:
        return f"release {__version__}"
    return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no", ":/") else "")


def about(command: str, **facts: object) -> bytes:
    """What stands beside results: how they were made, as JSON."""
    return (json.dumps({**facts, "code": code(), "command": command}, indent=2) + "\n").encode()


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(_HERE.parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()

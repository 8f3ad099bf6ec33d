"""A plan as one file to look at: a page that needs nothing else, or a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import OutputError
from ...image import write_atomically
from ..planner import Plan
from . import html, sheet
from .contents import Contents

__all__ = ["checked_ending", "write_report"]

_WRITERS: dict[str, Callable[[Contents], bytes]] = {".html": html.page, ".png": sheet.picture}


def write_report(plan: Plan, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write what `plan` found as `.html` or `.png`; only `overwrite` lets it replace a file."""
    path = Path(path)
    data = _WRITERS[checked_ending(path)](Contents.of(plan))
    write_atomically(path, data, overwrite=overwrite)
    return path


def checked_ending(path: Path) -> str:
    """The ending that decides how a report is written, or why there can be none."""
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        raise OutputError(
            f"{path}: a report is written as {' or '.join(_WRITERS)}; give one of those endings"
        )
    return ending

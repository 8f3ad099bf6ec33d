"""Text made from the declarations and the command itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from t2onet.cli import app
from t2onet.operations import Operation, operations

FOLDER = Path(__file__).parent
_NOTE = "<!-- Written by `make docs`; edit the source, not this page. -->\n"


def pages() -> dict[Path, str]:
    """Every generated page and its text."""
    return {FOLDER / "cli.md": cli(), FOLDER / "operations-table.md": operations_table()}


def cli() -> str:
    """The help of every command."""
    commands = _commands(get_command(app))
    return f"{_NOTE}# The command `t2o`\n\n" + "\n".join(_help(command) for command in commands)


def _commands(group: Any, name: str = "") -> Iterator[str]:
    """The name of a group, and those of the commands in it."""
    yield name
    for inner, command in getattr(group, "commands", {}).items():
        yield from _commands(command, f"{name} {inner}".strip())


def _help(command: str) -> str:
    arguments = [*command.split(), "--help"]
    environment = {"TERMINAL_WIDTH": "100", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with patch.dict(os.environ, environment):
        text = CliRunner().invoke(app, arguments, prog_name="t2o").output
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"## `{' '.join(['t2o', command]).strip()}`\n\n```text\n{lines}\n```\n"


def operations_table() -> str:
    """Operations, parameters and ranges, as `t2o ops` lists them."""
    rows = [row for operation in operations().values() for row in _rows(operation)]
    head = "| operation | parameter | range | default | unit | meaning |\n|---|---|---|---|---|---|\n"
    return f"{_NOTE}# Operations and ranges\n\n{head}" + "\n".join(rows) + "\n"


def _rows(operation: Operation) -> list[str]:
    rows = [f"| **{operation.name}** | | | | | {operation.help} |"]
    for p in operation.parameters:
        name = p.name if p.count == 1 else f"{p.name} (x{p.count})"
        rows.append(f"| | {name} | {p.low:g} .. {p.high:g} | {p.default:g} | {p.unit} | {p.help} |")
    return rows

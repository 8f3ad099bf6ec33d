"""Text made from the declarations and the command itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel
from typer.main import get_command
from typer.testing import CliRunner

from t2onet.cli import app
from t2onet.cli.edit_json import ErrorEntry, PhotoEntry, VariantEntry
from t2onet.cli.edit_json import make_edit_json_schema as edit_schema
from t2onet.editor import DeclinedEntry, LimitEntry, StepEntry
from t2onet.operations import Operation, operations

FOLDER = Path(__file__).parent
_NOTE = "<!-- Written by `make docs`; edit the source, not this page. -->\n"
_ENTRIES = (PhotoEntry, VariantEntry, StepEntry, DeclinedEntry, LimitEntry, ErrorEntry)
_ABOUT_EDIT_JSON = """A list with one `PhotoEntry` for each photo, in the order in which they were given, in
ASCII. It is printed whole also where photos were refused (exit code 2) or the run was interrupted (130); then
the photos that are left are not in it. Notes about photos that were left out go to stderr.

Programs may rely on it: later releases add fields and take none away. The JSON schema is
[edit.schema.json](edit.schema.json); `recipe` is as in a [recipe file](recipes.md)."""


def pages() -> dict[Path, str]:
    """Every generated page and its text."""
    return {
        FOLDER / "cli.md": cli(),
        FOLDER / "edit-json.md": edit_json(),
        FOLDER / "edit.schema.json": json.dumps(edit_schema(), indent=2) + "\n",
        FOLDER / "operations-table.md": operations_table(),
    }


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


def edit_json() -> str:
    """The fields of `t2o edit --json`."""
    sections = "\n".join(_fields(entry) for entry in _ENTRIES)
    return f"{_NOTE}# What `t2o edit --json` prints\n\n{_ABOUT_EDIT_JSON}\n\n{sections}"


def _fields(entry: type[BaseModel]) -> str:
    properties = entry.model_json_schema(mode="serialization")["properties"]
    rows = [f"| `{name}` | {_kind(told)} | {told['description']} |" for name, told in properties.items()]
    head = f"## {entry.__name__}\n\n{entry.__doc__}\n\n| field | type | meaning |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _kind(told: dict[str, Any]) -> str:
    """The type of a field, as a reader would put it."""
    if "anyOf" in told:
        return " or ".join(_kind(one) for one in told["anyOf"])
    if "$ref" in told:
        name = told["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "items" in told:
        return f"list of {_kind(told['items'])}"
    if "enum" in told or "const" in told:
        return ", ".join(json.dumps(value) for value in told.get("enum", [told.get("const")]))
    return str(told["type"])


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

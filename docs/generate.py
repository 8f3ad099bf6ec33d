"""Pages made from the declarations and from the command itself; `make docs` writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel
from typer.main import get_command
from typer.testing import CliRunner

from t2onet.cli import app
from t2onet.cli.edit_json import ErrorEntry, PhotoEntry, VariantEntry, make_edit_json_schema
from t2onet.editor import DeclinedEntry, LimitEntry, StepEntry, WishEntry
from t2onet.looks import Look, looks
from t2onet.operations import Declaration, declarations
from t2onet.recipe import Recipe

FOLDER = Path(__file__).parent
_NOTE = "<!-- Written by `make docs`; edit the source, not this page. -->\n"
_ENTRIES = (PhotoEntry, VariantEntry, StepEntry, DeclinedEntry, LimitEntry, WishEntry, ErrorEntry)
_ABOUT_EDIT_JSON = """A list with one `PhotoEntry` for each photo, in the order given, in ASCII. The list is
complete JSON even if photos were refused (exit code 2) or the run was interrupted (130); an interrupted run
leaves out the remaining photos. Notes about photos that were left out go to stderr.

The format is stable: later releases may add fields but remove none. The JSON schema is
[edit.schema.json](edit.schema.json); `recipe` is as in a [recipe file](recipes.md)."""


def make_pages() -> dict[Path, str]:
    """Every generated file and its text."""
    return {
        FOLDER / "cli.md": make_cli_page(),
        FOLDER / "edit-json.md": make_edit_json_page(),
        FOLDER / "edit.schema.json": _format_json(make_edit_json_schema()),
        FOLDER / "looks-table.md": make_looks_page(),
        FOLDER / "operations-table.md": make_operations_page(),
        FOLDER / "recipe.schema.json": _format_json(make_recipe_schema()),
    }


def make_cli_page() -> str:
    """The help of every command."""
    commands = _walk_commands(get_command(app))
    return f"{_NOTE}# The command `t2o`\n\n" + "\n".join(_make_help_section(command) for command in commands)


def _walk_commands(group: Any, name: str = "") -> Iterator[str]:
    """The name of a group and those of the commands in it."""
    yield name
    for inner, command in getattr(group, "commands", {}).items():
        yield from _walk_commands(command, f"{name} {inner}".strip())


def _make_help_section(command: str) -> str:
    arguments = [*command.split(), "--help"]
    environment = {"TERMINAL_WIDTH": "100", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with patch.dict(os.environ, environment):
        text = CliRunner().invoke(app, arguments, prog_name="t2o").output
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"## `{' '.join(['t2o', command]).strip()}`\n\n```text\n{lines}\n```\n"


def make_edit_json_page() -> str:
    """The fields of `t2o edit --json`."""
    sections = "\n".join(_make_fields_section(entry) for entry in _ENTRIES)
    return f"{_NOTE}# What `t2o edit --json` prints\n\n{_ABOUT_EDIT_JSON}\n\n{sections}"


def _make_fields_section(entry: type[BaseModel]) -> str:
    whole = entry.model_json_schema(mode="serialization")
    choices = {name: schema for name, schema in whole.get("$defs", {}).items() if "enum" in schema}
    rows = [
        f"| `{name}` | {_describe_type(schema, choices)} | {schema['description']} |"
        for name, schema in whole["properties"].items()
    ]
    head = f"## {entry.__name__}\n\n{entry.__doc__}\n\n| field | type | meaning |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _describe_type(schema: dict[str, Any], choices: dict[str, Any]) -> str:
    """The type of a field in words; `choices` are the schemas of enumerations by name."""
    if "anyOf" in schema:
        return " or ".join(_describe_type(one, choices) for one in schema["anyOf"])
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return _describe_type(choices[name], {}) if name in choices else f"[{name}](#{name.lower()})"
    if "items" in schema:
        return f"list of {_describe_type(schema['items'], choices)}"
    if "enum" in schema or "const" in schema:
        return ", ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    return str(schema["type"])


def make_recipe_schema() -> dict[str, Any]:
    """The JSON schema of a recipe file, with the ranges of every operation."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Recipe.model_json_schema()}


def make_looks_page() -> str:
    """The named looks with their settings, by family."""
    sections = [
        f"## {family.capitalize()}\n\n| look | the picture | settings |\n|---|---|---|\n"
        + "".join(_make_look_row(look) for look in members)
        for family, members in groupby(looks().values(), key=lambda look: look.family)
    ]
    return f"{_NOTE}# All named looks\n\n" + "\n".join(sections)


def _make_look_row(look: Look) -> str:
    return f"| **{look.name}** | {look.description} | {look.recipe.format_settings()} |\n"


def make_operations_page() -> str:
    """Operations, parameters and ranges, as `t2o ops` lists them."""
    rows = [row for operation in declarations().values() for row in _make_operation_rows(operation)]
    head = "| operation | group | parameter | range | default | unit | meaning |"
    return f"{_NOTE}# Operations and ranges\n\n" + "\n".join([head, "|---" * 7 + "|", *rows]) + "\n"


def _make_operation_rows(operation: Declaration) -> list[str]:
    return [
        f"| **{operation.name}** | {operation.group} | | | | | {operation.help} |",
        *(
            f"| | | {p.label} | {p.low:g} .. {p.high:g} | {p.default:g} | {p.unit} | {p.help} |"
            for p in operation.parameters
        ),
    ]


def _format_json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2) + "\n"

"""What a tool is to clients, derived from its method: name, help, arguments, and what it changes.

Wrong arguments are refused in one sentence, also names that a tool does not know.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from ..errors import RequestError, suggest

ToolData = dict[str, Any]
Tool = TypeVar("Tool", bound=Callable[..., Any])


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool gives: data, and perhaps a picture, encoded."""

    data: ToolData
    picture: bytes | None = None
    media_type: str = ""


@dataclass(frozen=True)
class ToolKind:
    """What a tool changes: files are written only by those with `writes`."""

    reads_only: bool = True
    writes: bool = False


def tool(*, reads_only: bool = False, writes: bool = False) -> Callable[[Tool], Tool]:
    """Decorator: makes a method a tool."""

    def mark(method: Tool) -> Tool:
        method.__dict__["tool_kind"] = ToolKind(reads_only, writes)
        return method

    return mark


def read_json(given: object) -> object:
    """An object or list that a client sent as its JSON text; anything else as it is."""
    if not isinstance(given, str) or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


@dataclass(frozen=True)
class ToolDeclaration:
    """A tool as clients see it: its name, help, arguments, and what it changes."""

    name: str
    help: str
    arguments: type[BaseModel]
    kind: ToolKind

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name; raises RequestError, in one sentence, for wrong ones."""
        try:
            checked = self.arguments.model_validate(given)
        except ValidationError as error:
            raise RequestError(self._explain(error)) from None
        return {name: getattr(checked, name) for name in self.arguments.model_fields}

    def _explain(self, error: ValidationError) -> str:
        errors = error.errors(include_url=False)
        first = min(
            errors, key=lambda one: one["type"] != "extra_forbidden"
        )  # a slip also leaves one missing
        name = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "missing":
            about = self.arguments.model_fields[name].description or ""
            return f"{self.name} needs {name}: {about[:1].lower()}{about[1:]}"
        if first["type"] == "extra_forbidden":
            hint = suggest(name, self.arguments.model_fields)
            return f"{self.name} has no argument {name[:60]!r}; {hint}"
        message = first["msg"].replace("Input", "it", 1)
        return f"{name} {first['input']!r:.60} is refused: {message[:1].lower()}{message[1:]}"


def declare_tool(name: str, method: Callable[..., Any]) -> ToolDeclaration:
    """A tool from the signature and docstring of its method."""
    hints = get_type_hints(method, include_extras=True)
    _, *parameters = inspect.signature(method).parameters.values()
    fields: dict[str, Any] = {
        one.name: (hints[one.name], ... if one.default is one.empty else one.default) for one in parameters
    }
    arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return ToolDeclaration(
        name, inspect.cleandoc(method.__doc__ or ""), arguments, method.__dict__["tool_kind"]
    )


def list_tools(kind: type) -> list[ToolDeclaration]:
    """The tools among the methods of a class, in the order of their definition."""
    marked = {name: method for name, method in vars(kind).items() if hasattr(method, "tool_kind")}
    return [declare_tool(name, method) for name, method in marked.items()]

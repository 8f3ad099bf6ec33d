"""Extras that error messages name: installing one brings every package whose absence the message is about."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "t2onet"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HINT = re.compile(r"t2onet\[([^\]]*)\]")
INDIRECT = {
    "image/reading.py": {"files": {"pillow_heif", "rawpy"}},
    "image/writing.py": {"files": {"pillow_heif"}},
    "planning/segments.py": {"local": {"scipy", "skimage"}},
    "planning/solvers.py": {"local": {"scipy"}, "train": {"torch"}},
    "studies/database.py": {"study": {"psycopg"}},
}
"""What is imported out of sight of the `try`, by the module of the message and the extra it names."""


class Message(NamedTuple):
    """A handler of ImportError that names an extra; `imports` are the modules whose absence leads there."""

    module: str
    line: int
    extra: str
    imports: frozenset[str]

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


@cache
def parse_module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def list_imports(nodes: Iterable[ast.stmt], path: Path) -> Iterator[str]:
    """Full names of modules that statements import, also inside `if` and `try` but not inside functions."""
    parts = ("t2onet", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from list_imports([*node.body, *node.orelse], path)
        elif isinstance(node, ast.Try | ast.With):
            yield from list_imports(node.body, path)


def file_of(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


@cache
def list_loaded_packages(module: str) -> frozenset[str]:
    """Packages of others that importing a module of ours loads."""
    found: set[str] = set()
    seen: set[Path] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if top != "t2onet":
            found |= {top} - sys.stdlib_module_names
        elif (path := file_of(name)) is not None and path not in seen:
            seen.add(path)
            waiting += [".".join(name.split(".")[:end]) for end in range(1, name.count(".") + 1)]
            waiting += list_imports(parse_module(path).body, path)
    return frozenset(found)


@cache
def messages() -> list[Message]:
    return list(find_messages())


def find_messages() -> Iterator[Message]:
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(parse_module(path)):
            if isinstance(node, ast.With) and (extra := find_needed_extra(node)):
                there = frozenset().union(*map(list_loaded_packages, list_imports(node.body, path)))
                yield Message(module, node.lineno, extra, there | INDIRECT.get(module, {}).get(extra, set()))
            for handler in node.handlers if isinstance(node, ast.Try) else ():
                for extra in HINT.findall(ast.unparse(handler)):
                    there = frozenset().union(*map(list_loaded_packages, list_imports(node.body, path)))
                    indirect = INDIRECT.get(module, {})
                    for named in indirect if "{" in extra else [extra]:
                        yield Message(module, handler.lineno, named, there | indirect.get(named, set()))


def find_needed_extra(node: ast.With) -> str:
    """The extra that `with needs_extra(Error, what, extra)` names; empty for other contexts."""
    call = node.items[0].context_expr
    if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("needs_extra"):
        return str(ast.literal_eval(call.args[2]))
    return ""


def distributions(requirements: Iterable[str]) -> set[str]:
    """Names of requirements, in the form that metadata compare them by."""
    return {normal(re.match(r"[\w.-]+", one)[0]) for one in requirements}  # type: ignore[index]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


packages_distributions = cache(metadata.packages_distributions)


def providers(module: str) -> set[str]:
    return {normal(name) for name in packages_distributions().get(module, [module])}


@pytest.mark.slow
def test_no_message_is_overlooked() -> None:
    """As many as there are hints in the code, but for those that say which of two extras by a variable."""
    others = [path for path in PACKAGE.rglob("*.py") if path.name != "errors.py"]
    hints = sum(
        len(HINT.findall(text := path.read_text(encoding="utf-8"))) + text.count("with needs_extra(")
        for path in others
    )
    assert len({(message.module, message.line) for message in messages()}) == hints


def test_the_extra_brings_what_is_missing() -> None:
    core = distributions(PROJECT["dependencies"]) | {"starlette", "click"}  # of FastAPI and Typer
    for message in messages():
        extra = distributions(PROJECT["optional-dependencies"][message.extra])
        missing = {name for name in message.imports if not providers(name) & core}
        assert missing, f"{message}: all of it is installed with the package itself, so no extra helps"
        assert {name for name in missing if not providers(name) & extra} == set(), str(message)

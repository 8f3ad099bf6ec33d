"""Names on the pages exist: paths and functions of the map, and what Python examples import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import t2onet
from tests.conftest import ROOT

PACKAGE = ROOT / "t2onet"
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TREE = MAP.split("```")[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
ONE_KIND = ("models/baselines/",)
"""Folders whose modules need no line of their own."""
OTHER_FOLDERS = ("tests/", "bench/", "docs/", "examples/", "results/", "scripts/")


@cache
def list_defined_names(path: Path) -> dict[str, ast.AST]:
    """Top-level names of a module, imported ones included."""
    return dict(definitions(ast.parse(path.read_text(encoding="utf-8"))))


def definitions(node: ast.Module | ast.ClassDef | ast.If) -> Iterator[tuple[str, ast.AST]]:
    for statement in node.body:
        match statement:
            case ast.If():
                yield from definitions(statement)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name, statement
            case ast.Assign():
                targets = (part for target in statement.targets for part in ast.walk(target))
                yield from ((part.id, statement) for part in targets if isinstance(part, ast.Name))
            case ast.AnnAssign(target=ast.Name(name)):
                yield name, statement
            case ast.Import() | ast.ImportFrom():
                yield from ((name.asname or name.name, statement) for name in statement.names)


def is_defined(path: Path, dotted: str) -> bool:
    first, *rest = dotted.split(".")
    node = list_defined_names(path).get(first)
    for name in rest:
        node = dict(definitions(node)).get(name) if isinstance(node, ast.ClassDef) else None
    return node is not None


def in_tree() -> Iterator[str]:
    """Paths of the tree: indentation says which folder an entry belongs to."""
    folders: list[str] = []
    for line in TREE.strip("\n").splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        for name in re.match(r"\s*((?:\w+(?:\.py|/)(?=\s|$) *)*)", line)[1].split():  # type: ignore[index]
            yield "".join([*folders[:depth], name])
            if name.endswith("/"):
                folders[depth:] = [name]


def list_quoted_paths() -> list[str]:
    """Paths in backticks outside of the tree, perhaps with a name in them."""
    return re.findall(r"`([\w./]+(?:/|\.py|\.js)(?::[\w.]+)?)`", MAP.replace(TREE, ""))


def locate(path: str) -> Path:
    return (ROOT if path.startswith((*OTHER_FOLDERS, "t2onet/")) else PACKAGE) / path


def test_the_map_is_read() -> None:
    assert "planning/planner.py" in set(in_tree())
    assert "data/plans/store.py" in set(in_tree())
    assert "executor.py:apply" in list_quoted_paths()
    assert is_defined(PACKAGE / "recipe" / "recipe.py", "Recipe.to_json")
    assert not is_defined(PACKAGE / "recipe" / "recipe.py", "Recipe.to_toml")


def test_every_path_of_the_map_exists() -> None:
    paths = [*in_tree(), *(one.split(":")[0] for one in list_quoted_paths())]
    assert [path for path in paths if not locate(path).exists()] == []


@pytest.mark.slow
def test_every_name_on_the_map_is_defined() -> None:
    named = [one.split(":") for one in list_quoted_paths() if ":" in one]
    assert [f"{path}:{name}" for path, name in named if not is_defined(locate(path), name)] == []


def test_every_package_and_module_is_on_the_map() -> None:
    listed = set(in_tree())
    packages = {f"{path.parent.relative_to(PACKAGE)}/" for path in PACKAGE.glob("*/**/__init__.py")}
    modules = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if path.stem[:2] != "__"}
    assert {path for path in packages - listed if not path.startswith(ONE_KIND)} == set()
    assert {path for path in modules - listed if not path.startswith(ONE_KIND)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_import_what_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^from (t2onet[\w.]*) import ([\w, ]+)", text, re.MULTILINE)
    names = [(module, name.strip()) for module, given in found for name in given.split(",")]
    assert [f"{module}.{name}" for module, name in names if not exists(module, name)] == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["bench", "docs", "scripts"])
def test_scripts_import_what_exists(folder: str) -> None:
    """Neither type checker nor tests run them."""
    found = [
        (node.module, name.name)
        for path in sorted((ROOT / folder).glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("t2onet")
        for name in node.names
    ]
    assert [f"{module}.{name}" for module, name in found if not exists(str(module), name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_and_files_on_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [path for path in re.findall(r"\bt2onet/[\w/]+\.\w+", text) if not (ROOT / path).exists()] == []
    assert [name for name in re.findall(r"`(t2onet(?:\.\w+)+)", text) if not is_documented(name)] == []
    assert [name for name in re.findall(r"python -m\s+(t2onet[\w.]*)", text) if not is_runnable(name)] == []


def is_runnable(module: str) -> bool:
    path = module_file(module)
    return path is not None and (path.name != "__init__.py" or (path.parent / "__main__.py").is_file())


def is_documented(dotted: str) -> bool:
    """A module, or a name in one."""
    module, _, name = dotted.rpartition(".")
    return module_file(dotted) is not None or exists(module, name)


def exists(module: str, name: str) -> bool:
    path = module_file(module)
    known = path is not None and (name in list_defined_names(path) or name in lazy_names(path))
    return known or module_file(f"{module}.{name}") is not None


def lazy_names(path: Path) -> set[str]:
    """Public names of the package itself, which are imported at their first use."""
    return set(t2onet.__all__) if path == PACKAGE / "__init__.py" else set()


def module_file(dotted: str) -> Path | None:
    path = ROOT.joinpath(*dotted.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in candidates if one.is_file()), None)

"""The rooms and the door: who may import whom, and what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import t2onet
from t2onet import errors
from tests.conftest import ROOT

PACKAGE = ROOT / "t2onet"

ROOMS = (
    *(
        "errors",
        "options",
        "inference",
        "image",
        "operations",
        "kernels",
        "recipe",
        "bands",
        "places",
        "executor",
    ),
    *("looks", "planning", "language", "metrics", "editor", "data", "models", "training", "evaluation"),
    *("studies", "server", "mcp", "cli"),
)
"""Each may import only from those before it."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def list_imported_rooms(path: Path) -> Iterator[str]:
    """Rooms of this package that a module names in an import, wherever in the module that stands."""
    parts = ("t2onet", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "t2onet" else [module]
        else:
            continue
        for name in names:
            if name.startswith("t2onet.") and (room := name.split(".")[1]) != "__version__":
                yield room


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def test_every_module_stands_in_a_room() -> None:
    assert {room_of(path) for path in MODULES} == set(ROOMS)


def test_a_room_imports_only_from_those_above_it() -> None:
    wrong = {
        str(path.relative_to(PACKAGE)): sorted(strange)
        for path in MODULES
        if (strange := set(list_imported_rooms(path)).difference(ROOMS[: ROOMS.index(room_of(path)) + 1]))
    }
    assert wrong == {}


def test_the_import_walk_sees_imports() -> None:
    assert {"errors", "image", "operations", "recipe", "kernels"} <= set(
        list_imported_rooms(PACKAGE / "executor.py")
    )


def test_all_is_what_is_visible() -> None:
    assert dir(t2onet) == sorted(t2onet.__all__)
    for name in t2onet.__all__:
        assert getattr(t2onet, name).__module__.startswith("t2onet.")
    with pytest.raises(AttributeError, match="no attribute 'crop'"):
        _ = t2onet.crop


def test_every_error_is_public() -> None:
    kinds = [value for value in vars(errors).values() if isinstance(value, type)]
    refusals = {kind.__name__ for kind in kinds if issubclass(kind, errors.T2OError)}
    assert refusals <= set(t2onet.__all__)


FORBIDDEN = {"torch", "scipy", "matplotlib", "ray", "onnxruntime", "numba"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import t2onet; [getattr(t2onet, name) for name in t2onet.__all__ if name not in ('plan', 'Plan')]",
        "import t2onet.looks, t2onet.cli",
        "import numpy, t2onet; t2onet.apply(t2onet.Recipe.from_steps([('tone', [1,2,1,1,1,1,1,1])]), "
        "numpy.zeros((64, 64, 3), 'uint8'))",
    ],
    ids=["everything public but planning", "looks and command", "a small photo"],
)
def test_the_runtime_stays_light(code: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert FORBIDDEN & set(told.stdout.split()) == set()

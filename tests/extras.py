"""Which packages the code imports, and which of them a plain installation with an extra brings."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PACKAGE = ROOT / "t2onet"
DISTRIBUTIONS = {"PIL": "pillow", "skimage": "scikit-image", "cv2": "opencv-python-headless"}
"""What is installed under another name than it is imported by."""


def list_imported_distributions(path: Path) -> Iterator[str]:
    """The distributions that a module imports from, wherever in the module that stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in (name.partition(".")[0] for name in names):
            if name not in sys.stdlib_module_names and name != "t2onet":
                yield DISTRIBUTIONS.get(name, name.replace("_", "-"))


def list_distributions(*extras: str) -> set[str]:
    """Distributions that `pip install 't2onet[EXTRAS]'` names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    named = [*project["dependencies"], *(one for extra in extras for one in optional[extra])]
    return {re.split(r"[\[<>=!~; ]", one, maxsplit=1)[0].lower() for one in named}


def find_requirements(requirements: Iterable[str]) -> set[str]:
    """Normalized names of the installed distributions that satisfy them, with all that those require in turn.

    Extras are left out.
    """
    found: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        one = waiting.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": ""}):
            continue
        name = canonicalize_name(one.name)
        assert one.specifier.contains(version(name), prereleases=True), f"{one}, but {version(name)} is here"
        if name not in found:
            found.add(name)
            waiting += map(Requirement, requires(name) or ())
    return found

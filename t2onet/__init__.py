"""A darkroom you talk to: short, adjustable recipes of named operations for photos.

`__init__.pyi` declares the public names; each is loaded at its first use, so that `t2o --help` is instant.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _read_public_names() -> dict[str, str]:
    """Public name -> module that defines it."""
    stub = ast.parse(Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


_MODULES = _read_public_names()
__all__ = sorted(_MODULES)  # noqa: PLE0605  computed, so that names are declared once


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

"""Print the shape of the package: modules, lines, functions, repeated class names, modules with one importer.

    python scripts/measure_code.py [CHECKOUT]     # by default the checkout this script is in

The second column leaves out the parts that read sentences (`language/`, the phrases in `data/`, and what
`editor/` does with sentences about an edit).
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

SENTENCES = (
    "language/",
    "data/clauses",
    "data/phrasing",
    "data/sentences",
    "editor/conversation",
)


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path, tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """Modules of the package that a module imports, wherever in it the import stands."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = (
                ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            )
            origin = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                name = f"{origin}.{alias.name}"
                yield name if name in modules else origin
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def measure(root: Path, *, sentences: bool) -> dict[str, object]:
    paths = sorted(path.relative_to(root) for path in (root / "t2onet").rglob("*.py"))
    trees = {path: ast.parse((root / path).read_text(encoding="utf-8")) for path in paths}
    modules = {module_name(path) for path in paths}
    importers: dict[str, set[str]] = {}
    for path, tree in trees.items():
        for name in imported_modules(path, tree, modules):
            importers.setdefault(name, set()).add(module_name(path))
    kept = [
        path for path in paths if sentences or not path.relative_to("t2onet").as_posix().startswith(SENTENCES)
    ]
    functions = [
        node.end_lineno - node.lineno + 1
        for path in kept
        for node in ast.walk(trees[path])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    classes = Counter(
        node.name for path in kept for node in ast.walk(trees[path]) if isinstance(node, ast.ClassDef)
    )
    lines = [len((root / path).read_text(encoding="utf-8").splitlines()) for path in kept]
    return {
        "modules": len(kept),
        "lines": sum(lines),
        "lines of a module, median": median(lines),
        "functions": len(functions),
        "lines of a function, median": median(functions),
        "class names defined more than once": sum(count > 1 for count in classes.values()),
        "modules with one importer": sum(len(importers.get(module_name(path), ())) == 1 for path in kept),
    }


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    whole, without = measure(root, sentences=True), measure(root, sentences=False)
    print(f"{'':38}{'whole package':>14}{'without sentences':>19}")
    for name, value in whole.items():
        print(f"{name:38}{value!s:>14}{without[name]!s:>19}")


if __name__ == "__main__":
    main()

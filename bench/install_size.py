"""What a runtime install without extras takes on disk, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "environment"
        venv.create(folder, with_pip=True)
        python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        before = _size(folder)
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
        print(f"  runtime install = {(_size(folder) - before) / 1e6:.1f} MB (bar: at most 450)")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())

"""How long the first `t2o apply` takes after an install, and the ones after it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.scene import EXAMPLES, SHARP, photo
from bench.timing import seconds

_COMMAND = [sys.executable, "-c", "from t2onet.cli import main; main()"]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        SHARP.save(folder / "look.json")
        photo().save(folder / "large.jpg", quality=92)
        environment = {**os.environ, "T2O_CACHE_DIR": str(folder / "cache")}

        def run(*arguments: object) -> None:
            command = [*_COMMAND, *map(str, arguments)]
            subprocess.run(command, check=True, capture_output=True, env=environment)

        def edit(source: Path) -> None:
            run("apply", folder / "look.json", source, "-o", folder / "out.jpg", "--overwrite")

        print(f"  t2o --help                                   {seconds(lambda: run('--help')):6.2f} s")
        for label, source in (
            ("4.5 MP", EXAMPLES / "fig.jpg"),
            ("24 MP", folder / "large.jpg"),
        ):
            first = seconds(lambda source=source: edit(source))
            again = seconds(lambda source=source: edit(source))
            print(f"  first t2o apply of {label:<24}  {first:6.2f} s, then {again:.2f} s")

"""A study served by the real command in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Self

from tests.cli.helpers import COMMAND, environment
from tests.conftest import PATIENCE


class Served:
    """`t2o study ...` at a free port; the links it printed."""

    def __init__(self, *arguments: object, database: str, cwd: Path | None = None) -> None:
        command = [*COMMAND, "study", *map(str, arguments), "--port", "0", "--database", database]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), cwd=cwd
        )
        assert self.process.stdout is not None
        printed = []
        while line := self.process.stdout.readline():
            printed.append(line)
            if "Ctrl-C" in line:
                break
        else:
            raise AssertionError(self.process.communicate())
        self.printed = "".join(printed)
        self.join, self.owner = (self._link(what) for what in ("to join", "for you"))
        self.base, _, self.token = self.join.rpartition("/join/")
        self.owner_token = self.owner.partition("#")[2]

    def _link(self, what: str) -> str:
        found = re.search(rf"^{what}: +(\S+)$", self.printed, re.MULTILINE)
        assert found, self.printed
        return found[1]

    def stop(self, how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """End it; its exit code and what it said last."""
        os.kill(self.process.pid, how)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

"""An agent: the SDK's own client, talking over real stdio to a server in a process of its own."""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import PIL.Image
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client, types

from tests.cli.helpers import environment
from tests.conftest import PATIENCE

SPY = """
import os, sys
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def spy(event, arguments):
    if event == "open" or event.startswith(("os.", "shutil.", "tempfile.")):
        for argument in arguments:
            if isinstance(argument, (str, bytes)) and {outside!r} in os.fsdecode(argument):
                os.write(log, f"{{event}} {{os.fsdecode(argument)}}\\n".encode())
sys.addaudithook(spy)
open({control!r}).close()
sys.argv[0] = "t2o"
from t2onet.cli import main
main()
"""
"""Runs `t2o`; writes a line for each file outside that Python opens, lists or changes. The first is ours."""


@dataclass(frozen=True)
class Reply:
    """What a tool answered; `error` is its sentence, empty if it did what was asked."""

    data: dict[str, Any]
    error: str
    picture: bytes | None

    def decode(self) -> np.ndarray:
        assert self.picture is not None
        with PIL.Image.open(io.BytesIO(self.picture)) as file:
            return np.asarray(file)


@dataclass(frozen=True)
class Agent:
    """Calls tools of a server that works in `folder`."""

    client: Client
    portal: BlockingPortal
    folder: Path
    outside: Path
    log: Path

    def try_tool(self, tool: str, /, **arguments: Any) -> Reply:
        result = self.portal.call(lambda: self.client.call_tool(tool, arguments, PATIENCE))
        assert isinstance(result, types.CallToolResult)
        text, *others = result.content
        assert isinstance(text, types.TextContent)
        if result.is_error:
            assert not others
            return Reply({}, text.text, None)
        assert json.loads(text.text) == result.structured_content
        pictures = [base64.b64decode(one.data) for one in others if isinstance(one, types.ImageContent)]
        return Reply(json.loads(text.text), "", pictures[0] if pictures else None)

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The data of an answer; fails the test if the tool refuses."""
        reply = self.try_tool(tool, **arguments)
        assert reply.error == ""
        return reply.data

    def refuse(self, tool: str, /, **arguments: Any) -> str:
        """Why a tool refuses; fails the test if it does not, or says more than a sentence or two."""
        reply = self.try_tool(tool, **arguments)
        assert reply.error
        assert "\n" not in reply.error
        assert "unexpectedly" not in reply.error
        assert len(reply.error) < 600
        assert str(self.folder.parent) not in reply.error, "paths of the machine are not for agents"
        return reply.error


@contextmanager
def serving(
    folder: Path, outside: Path, *options: str, mode: str = "auto", guard: Sequence[str] = ()
) -> Iterator[Agent]:
    """A server that watches itself for files below `outside`, and an agent that talks to it."""
    log, control = outside.with_name("spied.txt"), outside / "control.txt"
    control.touch()
    code = SPY.format(log=str(log), outside=str(outside), control=str(control))
    first, *rest = [*guard, sys.executable, "-c", code, "mcp", str(folder), *options]
    started = StdioServerParameters(command=first, args=rest, env=environment(), cwd=folder.parent)
    with start_blocking_portal() as portal, TemporaryFile("w+") as stderr:
        client = Client(stdio_client(started, errlog=stderr), mode=mode)  # type: ignore[arg-type]
        with portal.wrap_async_context_manager(client):
            yield Agent(client, portal, folder, outside, log)
        stderr.seek(0)
        assert not (told := stderr.read()), told

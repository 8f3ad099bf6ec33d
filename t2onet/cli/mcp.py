"""`t2o mcp`: the darkroom as tools for agents, over stdio."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from ..errors import ServerError, needs_extra
from ..options import DEFAULT_READER
from .apply import set_max_megapixels
from .common import ReaderOption, exit_on_error, print_line


@exit_on_error
def serve_agents(
    folders: Annotated[
        list[str],
        typer.Argument(metavar="FOLDER", help="Folders whose photos may be opened and where results may go."),
    ],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Leave out the tools that write files.")
    ] = False,
    reader: ReaderOption = DEFAULT_READER,
    max_megapixels: Annotated[float, typer.Option(help="Refuse larger photos.")] = 100.0,
) -> None:
    """Offer the darkroom to an agent as MCP tools over stdin and stdout; your MCP client starts this."""
    with needs_extra(ServerError, "serving agents needs an extra", "mcp"):
        from ..mcp.server import serve_stdio
    import asyncio

    from ..mcp.folders import AllowedFolders
    from ..mcp.tools import Darkroom
    from ..server import ServerSettings
    from ..server.running import end_busy_threads

    allowed = AllowedFolders.open(folders)
    set_max_megapixels(max_megapixels)
    settings = ServerSettings(reader=reader, megapixels=max_megapixels)
    darkroom = Darkroom(allowed, settings, read_only=read_only)
    if sys.stdin.isatty():
        print_line("t2o mcp waits for an MCP client on stdin; docs/agents.md shows how to configure one")
    # Reading stdin cannot be interrupted, and files are written atomically: the process may end at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve_stdio(darkroom))
    end_busy_threads()

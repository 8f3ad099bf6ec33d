"""Running an application on a socket, from listening to shutdown."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import time
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from ..errors import ServerError
from .connections import Connection, connection_limits
from .logs import limit_repetition
from .settings import Settings
from .tokens import encode_token

PORT = 8642
"""Where the darkroom is unless something else is there already."""
_GRACE = 10
"""Seconds that requests have to finish when the server is stopped."""
_LAST_WAIT = 1.0
"""Seconds that threads have to end after that."""
_TURNS = 10
"""Turns of the event loop before a shutdown; a waiting connection is accepted and read in four."""
_QUEUE = 1024
"""Connections that may wait to be accepted."""
DEFAULTS = Settings()


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port, or on a free one where none was asked for by number."""
    for tried in (PORT, 0) if port is None else (port,):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, tried, type=socket.SOCK_STREAM)[0]
        except (OSError, UnicodeError):
            raise ServerError(f"{host} is no address of this machine; give another --host") from None
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            return listening
        except OSError as error:
            listening.close()
            reason = (error.strerror or "it cannot be used").lower()
    raise ServerError(f"port {tried} at {host} cannot be used ({reason}); give another --port")


def address(listening: socket.socket, token: str | None = None, fragment: str = "") -> str:
    """What a visitor opens. The fragment is not sent to any server."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if ":" in host else host
    secret = f"?token={encode_token(token)}" if token else ""
    return f"http://{shown}:{port}/{secret}{f'#{fragment}' if fragment else ''}"


def run(
    app: FastAPI, listening: socket.socket, started: Callable[[], None], settings: Settings = DEFAULTS
) -> None:
    """Serve until a signal says stop; requests that are being answered then are finished first."""
    with limit_repetition():
        Server(app, started, settings).run(sockets=[listening])


def end_busy_threads() -> None:
    """End the process with code 0 if threads still compute for requests that were given up.

    Python would wait for them, however long they take. To be called last, when everything else is closed.
    """
    end = time.monotonic() + _LAST_WAIT
    others = [one for one in threading.enumerate() if one is not threading.current_thread()]
    waited_for = [one for one in others if not one.daemon]
    for thread in waited_for:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in waited_for):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


class Server(uvicorn.Server):
    """A uvicorn server that limits connections, reports its start and answers requests sent before a stop."""

    def __init__(self, app: FastAPI, started: Callable[[], None], settings: Settings = DEFAULTS) -> None:
        limits = connection_limits(settings)
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection.with_limits(limits),
                ws="none",
                backlog=limits.accepted,
                log_level="warning",
                access_log=False,  # addresses are keys
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACE,
            )
        )
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_QUEUE)  # the backlog above is how many are accepted at a time
        if not self.should_exit:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Read requests that have arrived: uvicorn resets connections that it has not read from yet."""
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, Connection):
                    connection.close_if_stalled(now)
        return await super().on_tick(counter)

"""Run an application on a socket, from listening to shutdown, with rate-limited logs."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from ..errors import ServerError
from .connections import LimitedConnection, compute_connection_limits
from .settings import ServerSettings, encode_token

# Rate limit for log messages, so that no client fills the log by provoking the same message.

_LOGGERS = (
    *("asyncio", "uvicorn.error"),
    *("t2onet.server.results", "t2onet.server.errors", "t2onet.server.security"),
)
_REPEAT_SECONDS = 60.0


class RepeatFilter(logging.Filter):
    """Passes a message of each kind once a minute, with the number of those that were dropped since.

    Messages are of one kind if they come from the same line of code and tell of the same kind of error: the
    type of exception, where it was raised, and its errno. Their texts may differ each time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (
            record.name,
            record.levelno,
            record.pathname,
            record.lineno,
            *map(_classify_error, _find_errors(record)),
        )
        now = self._clock()
        passed_at, dropped = self._last.get(kind, (-_REPEAT_SECONDS, 0))
        if now - passed_at < _REPEAT_SECONDS:
            self._last[kind] = passed_at, dropped + 1
            return False
        self._last[kind] = now, 0
        if dropped:
            record.msg, record.args = f"{record.getMessage()} ({dropped} more of these before)", None
        return True


def _find_errors(record: logging.LogRecord) -> list[BaseException]:
    """The exceptions that a message is about."""
    logged = [record.exc_info[1]] if record.exc_info else []
    arguments = record.args if isinstance(record.args, tuple) else ()
    return [one for one in (*logged, *arguments) if isinstance(one, BaseException)]


def _classify_error(error: BaseException) -> tuple[object, ...]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return type(error), place, _find_errno(error)


def _find_errno(error: BaseException) -> int | None:
    """Of an error of the system, or of the one that caused this error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__
    return None if cause is None else cause.errno


@contextmanager
def limit_log_repetition() -> Iterator[None]:
    """Filter the logs of a server while it runs."""
    once = RepeatFilter()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(once)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(once)


# Running an application on a socket, from listening to shutdown.

DEFAULT_PORT = 8642
"""Where the darkroom is unless something else is there already."""
_GRACE_SECONDS = 10
"""Seconds that requests have to finish when the server is stopped."""
_THREAD_WAIT_SECONDS = 1.0
"""Seconds that threads have to end after that."""
_SHUTDOWN_TURNS = 10
"""Turns of the event loop before a shutdown; a waiting connection is accepted and read in four."""
_BACKLOG = 1024
"""Connections that may wait to be accepted."""
DEFAULT_SETTINGS = ServerSettings()


def bind_socket(host: str, port: int | None) -> socket.socket:
    """A socket on the port, or on a free one where none was asked for by number."""
    for tried in (DEFAULT_PORT, 0) if port is None else (port,):
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


def build_server_url(listening: socket.socket, token: str | None = None, fragment: str = "") -> str:
    """What a visitor opens. The fragment is not sent to any server."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if ":" in host else host
    secret = f"?token={encode_token(token)}" if token else ""
    return f"http://{shown}:{port}/{secret}{f'#{fragment}' if fragment else ''}"


def run_server(
    app: FastAPI,
    listening: socket.socket,
    started: Callable[[], None],
    settings: ServerSettings = DEFAULT_SETTINGS,
) -> None:
    """Serve until a signal says stop; requests that are being answered then are finished first."""
    with limit_log_repetition():
        LimitedServer(app, started, settings).run(sockets=[listening])


def end_busy_threads() -> None:
    """End the process with code 0 if threads still compute for requests that were given up.

    Python would wait for them, however long they take. To be called last, when everything else is closed.
    """
    end = time.monotonic() + _THREAD_WAIT_SECONDS
    others = [one for one in threading.enumerate() if one is not threading.current_thread()]
    waited_for = [one for one in others if not one.daemon]
    for thread in waited_for:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in waited_for):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


class LimitedServer(uvicorn.Server):
    """A uvicorn server that limits connections, reports its start and answers requests sent before a stop."""

    def __init__(
        self, app: FastAPI, started: Callable[[], None], settings: ServerSettings = DEFAULT_SETTINGS
    ) -> None:
        limits = compute_connection_limits(settings)
        super().__init__(
            uvicorn.Config(
                app,
                http=LimitedConnection.with_limits(limits),
                ws="none",
                backlog=limits.accepted,
                log_level="warning",
                access_log=False,  # addresses are keys
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_BACKLOG)  # the backlog above is how many are accepted at a time
        if not self.should_exit:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Read requests that have arrived: uvicorn resets connections that it has not read from yet."""
        for _ in range(_SHUTDOWN_TURNS):
            await asyncio.sleep(0)
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, LimitedConnection):
                    connection.close_if_stalled(now)
        return await super().on_tick(counter)

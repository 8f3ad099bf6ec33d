"""Run an application on a socket: connection limits, disconnected clients, logs and shutdown."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import Cancelled, ServerError
from .errors import AsciiJSONResponse, make_error_response
from .settings import ServerSettings, encode_token

_DISCONNECT_EVENT: ContextVar[threading.Event | None] = ContextVar("disconnect_event", default=None)


def get_disconnect_event() -> threading.Event | None:
    """An event that is set when the client of the current request disconnects; None outside of a request."""
    return _DISCONNECT_EVENT.get()


def raise_if_disconnected() -> None:
    """Raise Cancelled if the client of the current request has disconnected."""
    gone = get_disconnect_event()
    if gone is not None and gone.is_set():
        raise Cancelled("the client disconnected before it was answered")


class DisconnectMiddleware:
    """ASGI middleware that detects clients which disconnect before they are answered.

    Code that works on the request calls `get_disconnect_event` or `raise_if_disconnected`, in any thread.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        listener = _DisconnectListener(receive)
        token = _DISCONNECT_EVENT.set(listener.gone)
        try:
            if not _has_body(scope):
                await listener.begin()
            await self.app(scope, listener, send)
        except asyncio.CancelledError:  # the server stops
            listener.gone.set()
            raise
        finally:
            _DISCONNECT_EVENT.reset(token)
            await listener.end()


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return declared or scope["method"] not in ("GET", "HEAD")


class _DisconnectListener:
    """Passes on the messages of a request; after the last one, waits for the client to disconnect."""

    def __init__(self, receive: Receive) -> None:
        self.gone = threading.Event()
        self._receive = receive
        self._first: Message | None = None
        self._waiting: asyncio.Task[Message] | None = None

    async def begin(self) -> None:
        """Listen at once: the application may never read a request that has no body."""
        self._first = await self()

    async def __call__(self) -> Message:
        if self._first is not None:
            message, self._first = self._first, None
            return message
        if self._waiting is not None:
            return await asyncio.shield(self._waiting)
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.gone.set()
        elif not message.get("more_body", False):
            self._waiting = asyncio.create_task(self._wait())
        return message

    async def _wait(self) -> Message:
        while (message := await self._receive())["type"] != "http.disconnect":
            pass
        self.gone.set()
        return message

    async def end(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            with suppress(asyncio.CancelledError):
                await self._waiting


_INITIAL_BYTES = 1000
"""Bytes credited to every connection, so that a new one does not count as slow."""
_FULL_MESSAGE = "there are as many connections as this server holds; try again in a moment"


@dataclass(frozen=True)
class ConnectionLimits:
    """At most `open` connections stay open; up to `accepted` are accepted in one turn of the event loop.

    The limits stay below the number of files that the process may open; beyond it nothing could be saved.
    """

    open: int
    accepted: int
    stall_seconds: float


def compute_connection_limits(settings: ServerSettings) -> ConnectionLimits:
    """The limits of the settings, lowered where the system allows too few open files.

    A connection is accepted a few turns of the event loop before it can be closed, so up to four times
    `accepted` may be open beyond `open`. A quarter of the files is left for photos.
    """
    files = _get_open_file_limit()
    return ConnectionLimits(
        open=max(1, min(settings.connections, files // 2)),
        accepted=max(1, min(64, files // 16)),
        stall_seconds=settings.stall_seconds,
    )


def _get_open_file_limit() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit on sockets
        return 4096
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**20 if allowed == resource.RLIM_INFINITY else allowed


class LimitedConnection(H11Protocol):
    """A connection of uvicorn that is closed if it stalls, or to make room for others if it is slow."""

    limits: ConnectionLimits
    closed = False

    @classmethod
    def with_limits(cls, limits: ConnectionLimits) -> type[LimitedConnection]:
        """A subclass with these limits, for one server; uvicorn creates the objects."""
        return type(cls.__name__, (cls,), {"limits": limits})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self.unsent = 0
        self._reset_progress()
        if len(self.connections) > self.limits.open:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._reset_progress()
        super().on_response_complete()

    def resume_writing(self) -> None:
        self.moved = self.loop.time()
        super().resume_writing()

    def _reset_progress(self) -> None:
        """Start counting for the next request."""
        self.began = self.moved = self.loop.time()
        self.received = 0

    @property
    def waiting(self) -> bool:
        """Whether no request is in progress: the header of the next one is not complete."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def answering(self) -> bool:
        """Whether a request has arrived in full and the client has not received all of its answer.

        uvicorn calls a response complete once it is in the buffer of the transport.
        """
        working = not self.waiting and not self.cycle.more_body
        return working or self.transport.get_write_buffer_size() > 0

    def pace(self, now: float) -> float:
        """Bytes per second at which the request arrives."""
        return (_INITIAL_BYTES + self.received) / max(now - self.began, 1e-6)

    def close_if_stalled(self, now: float) -> None:
        """Close it if no header arrives or the answer is not read; bodies have a limit of their own."""
        unsent = self.transport.get_write_buffer_size()
        if unsent < self.unsent or (unsent and not self.unsent):
            self.moved = now
        self.unsent = unsent
        if (self.waiting or unsent) and now - self.moved > self.limits.stall_seconds:
            self.close()

    def close(self) -> None:
        """Close the connection at once and drop what was not sent."""
        self.closed = True
        self.transport.abort()

    def _refuse(self) -> None:
        """Answer that the server is full, and close the connection."""
        self.closed = True
        self.transport.write(_to_raw_response(make_error_response(503, "busy", _FULL_MESSAGE)))
        self.transport.close()

    def _make_room(self) -> None:
        """Close the slowest connections of the address that has most of them.

        An eighth of that address's idle connections are closed at once, so that a flood of newcomers costs
        little. Requests that are being answered stay; if there is nothing else, this connection is refused.
        """
        open_ones = [one for one in self.connections if isinstance(one, LimitedConnection) and not one.closed]
        if len(open_ones) <= self.limits.open:
            return
        idle = [one for one in open_ones if one is not self and not one.answering]
        if not idle:
            self._refuse()
            return
        counts = Counter(one.address for one in open_ones)
        largest = max((one.address for one in idle), key=lambda address: counts[address])
        now = self.loop.time()
        slowest = sorted((one for one in idle if one.address == largest), key=lambda one: one.pace(now))
        for one in slowest[: 1 + len(slowest) // 8]:
            one.close()


def _to_raw_response(response: AsciiJSONResponse) -> bytes:
    """The bytes of a response, for a connection that has sent no request."""
    headers = b"".join(b"%s: %s\r\n" % pair for pair in response.raw_headers)
    body = bytes(response.body)
    return b"HTTP/1.1 %d \r\n%sconnection: close\r\n\r\n%s" % (response.status_code, headers, body)


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


DEFAULT_PORT = 8642
"""Default port of the darkroom; another one if it is taken."""
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
    """Bind a socket to a port; without a number to the default port, or to a free one."""
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
    """The address to open in a browser. The fragment is not sent to the server."""
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
    """Serve until a signal stops the server; requests in progress are finished first."""
    with limit_log_repetition():
        LimitedServer(app, started, settings).run(sockets=[listening])


def end_busy_threads() -> None:
    """End the process with code 0 if threads still work on abandoned requests.

    Python would wait for them, however long they take. Call it last, when everything else is closed.
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

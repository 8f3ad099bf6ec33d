"""Limits on open connections and stalling clients, and detection of clients that disconnect."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import Cancelled
from .errors import AsciiJSONResponse, make_error_response
from .settings import ServerSettings

# Middleware that detects clients which disconnect before they are answered, so that work for them can stop.
#
# It listens for the end of the connection once a request has arrived in full. Code that works on the request
# calls `client_gone` or `stop_if_gone`, in whatever thread the framework runs it.

_DISCONNECT_EVENT: ContextVar[threading.Event | None] = ContextVar("client_gone", default=None)


def get_disconnect_event() -> threading.Event | None:
    """An event that is set when the client of the current request disconnects; None outside of a request."""
    return _DISCONNECT_EVENT.get()


def raise_if_disconnected() -> None:
    """Raise Cancelled if the client of the current request has disconnected."""
    gone = get_disconnect_event()
    if gone is not None and gone.is_set():
        raise Cancelled("the client disconnected before it was answered")


class DisconnectMiddleware:
    """ASGI middleware that sets `client_gone` for each request."""

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


# Limits on the number of open connections, and on how long one may stall.
#
# A connection that neither sends a request nor reads its answer is closed after `stall_seconds`; one that
# sends
# no complete request is closed at once when the server is full and another client connects. The limits stay
# below the number of files that the process may open: beyond that nobody could connect and nothing be saved.

_INITIAL_BYTES = 1000
"""Bytes credited to every connection, so that a new one does not count as slow."""
_FULL_MESSAGE = "there are as many connections as this server holds; try again in a moment"


@dataclass(frozen=True)
class ConnectionLimits:
    """`most` connections stay open; up to `accepted` new ones are accepted in one turn of the event loop."""

    most: int
    accepted: int
    stall_seconds: float


def compute_connection_limits(settings: ServerSettings) -> ConnectionLimits:
    """The limits of the settings, lowered where the system allows too few open files.

    A connection is accepted a few turns of the event loop before it can be closed, so up to four times
    `accepted` may be open beyond `most`. A quarter of the files is left for photos.
    """
    files = _get_open_file_limit()
    return ConnectionLimits(
        most=max(1, min(settings.connections, files // 2)),
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
    """A connection of uvicorn that records its progress."""

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
        if len(self.connections) > self.limits.most:
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
        if len(open_ones) <= self.limits.most:
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

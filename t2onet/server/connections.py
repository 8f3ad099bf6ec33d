"""How many connections a server holds, and how long one may take.

A visitor sends a request in moments and reads its answer. A connection that does neither is closed after a
while, or at once where others need its place. The limits stay below the number of files that the process may
open: beyond that nobody could connect and nothing could be saved.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from uvicorn.protocols.http.h11_impl import H11Protocol

from .answers import Answer
from .errors import answer
from .settings import Settings

_HEAD_START = 1000
"""Bytes that a connection is credited with, so that one that has just begun does not count as slow."""
_FULL = "there are as many connections as this server holds; try again in a moment"


@dataclass(frozen=True)
class ConnectionLimits:
    """`most` connections are kept; up to `accepted` more are taken in at a time, and then weighed."""

    most: int
    accepted: int
    stall_seconds: float


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Those of the settings, as far as the open files that the system allows are enough for them.

    A connection is accepted a few rounds of the event loop before it can be closed, so up to four times
    `accepted` may be open beyond `most`. A quarter of the files is left for photos.
    """
    files = _open_files()
    return ConnectionLimits(
        most=max(1, min(settings.connections, files // 2)),
        accepted=max(1, min(64, files // 16)),
        stall_seconds=settings.stall_seconds,
    )


def _open_files() -> int:
    try:
        import resource
    except ImportError:  # Windows, which counts otherwise
        return 4096
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**20 if allowed == resource.RLIM_INFINITY else allowed


class Connection(H11Protocol):
    """One connection, as uvicorn handles it, with a record of how it gets on."""

    limits: ConnectionLimits
    closed = False

    @classmethod
    def limited(cls, limits: ConnectionLimits) -> type[Connection]:
        """The class for connections of one server; uvicorn makes the objects itself."""
        return type(cls.__name__, (cls,), {"limits": limits})

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self.unsent = 0
        self._begin()
        if len(self.connections) > self.limits.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._begin()
        super().on_response_complete()

    def resume_writing(self) -> None:
        self.moved = self.loop.time()
        super().resume_writing()

    def _begin(self) -> None:
        """Count anew, for the request that comes next."""
        self.began = self.moved = self.loop.time()
        self.received = 0

    @property
    def waiting(self) -> bool:
        """Whether no request is being read or answered: its header is not complete."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def answering(self) -> bool:
        """Whether all of a request is here, and its answer is not complete."""
        return not self.waiting and not self.cycle.more_body

    def pace(self, now: float) -> float:
        """Bytes a second at which the request comes in."""
        return (_HEAD_START + self.received) / max(now - self.began, 1e-6)

    def close_if_stalled(self, now: float) -> None:
        """Close it where no header comes, or nothing of the answer is read; bodies have their own limit."""
        unsent = self.transport.get_write_buffer_size()
        if unsent < self.unsent or (unsent and not self.unsent):
            self.moved = now
        self.unsent = unsent
        if (self.waiting or unsent) and now - self.moved > self.limits.stall_seconds:
            self.close()

    def close(self) -> None:
        """At once, whatever is on its way."""
        self.closed = True
        self.transport.abort()

    def _refuse(self) -> None:
        """Say that there is no room, and close it."""
        self.closed = True
        self.transport.write(_raw(answer(503, "busy", _FULL)))
        self.transport.close()

    def _make_room(self) -> None:
        """Close the slowest connections of the address that has most of them.

        An eighth of those that may be closed go at once, so that a flood of newcomers costs little. Requests
        that are being answered stay; where there is nothing else, this connection is refused.
        """
        held = [one for one in self.connections if isinstance(one, Connection) and not one.closed]
        if len(held) <= self.limits.most:
            return
        shares = Counter(one.address for one in held)
        now = self.loop.time()
        idle = [one for one in held if one is not self and not one.answering]
        idle.sort(key=lambda one: (-shares[one.address], one.pace(now)))
        for slow in idle[: 1 + len(idle) // 8]:
            slow.close()
        if not idle:
            self._refuse()


def _raw(response: Answer) -> bytes:
    """An answer as it is sent outside of any request."""
    headers = b"".join(b"%s: %s\r\n" % pair for pair in response.raw_headers)
    body = bytes(response.body)
    return b"HTTP/1.1 %d \r\n%sconnection: close\r\n\r\n%s" % (response.status_code, headers, body)

"""Clients that leave before they are answered: work for them can tell, and stop.

The middleware listens for the end of the connection once a request has arrived in full. What is computed for
the request, in whatever thread the framework runs it, asks `client_gone`.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Cancelled

_GONE: ContextVar[threading.Event | None] = ContextVar("client_gone", default=None)


def client_gone() -> threading.Event | None:
    """An event that is set when the client of the current request leaves; None outside of a request."""
    return _GONE.get()


def stop_if_gone() -> None:
    """Raise Cancelled where nobody waits for the answer any more."""
    gone = client_gone()
    if gone is not None and gone.is_set():
        raise Cancelled("the client left before it was answered")


class Disconnects:
    """The middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        listener = _Listener(receive)
        token = _GONE.set(listener.gone)
        try:
            if not _has_body(scope):
                await listener.begin()
            await self.app(scope, listener, send)
        except asyncio.CancelledError:  # the server stops
            listener.gone.set()
            raise
        finally:
            _GONE.reset(token)
            await listener.end()


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return declared or scope["method"] not in ("GET", "HEAD")


class _Listener:
    """Hands on what the client sends; after the last of it, waits for the client to leave."""

    def __init__(self, receive: Receive) -> None:
        self.gone = threading.Event()
        self._receive = receive
        self._first: Message | None = None
        self._waiting: asyncio.Task[Message] | None = None

    async def begin(self) -> None:
        """Listen at once, for a request without a body, which nobody may ask for."""
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

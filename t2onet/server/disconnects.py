"""Middleware that detects clients which disconnect before they are answered, so that work for them can stop.

It listens for the end of the connection once a request has arrived in full. Code that works on the request
calls `client_gone` or `stop_if_gone`, in whatever thread the framework runs it.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Cancelled

_CLIENT_GONE: ContextVar[threading.Event | None] = ContextVar("client_gone", default=None)


def client_gone() -> threading.Event | None:
    """An event that is set when the client of the current request disconnects; None outside of a request."""
    return _CLIENT_GONE.get()


def stop_if_gone() -> None:
    """Raise Cancelled if the client of the current request has disconnected."""
    gone = client_gone()
    if gone is not None and gone.is_set():
        raise Cancelled("the client disconnected before it was answered")


class Disconnects:
    """ASGI middleware that sets `client_gone` for each request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        listener = _Listener(receive)
        token = _CLIENT_GONE.set(listener.gone)
        try:
            if not _has_body(scope):
                await listener.begin()
            await self.app(scope, listener, send)
        except asyncio.CancelledError:  # the server stops
            listener.gone.set()
            raise
        finally:
            _CLIENT_GONE.reset(token)
            await listener.end()


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return declared or scope["method"] not in ("GET", "HEAD")


class _Listener:
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

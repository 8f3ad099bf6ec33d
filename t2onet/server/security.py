"""Access control and limits on requests: hosts, origins, token, size and duration of bodies, headers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import Refused, make_error_response, too_large
from .settings import MIB, ServerSettings, encode_token, is_token

TOKEN_COOKIE = "t2o-token"
API_PATH = "/api/"
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
}
_LOG = logging.getLogger(__name__)

IsUpload = Callable[[str, str], bool]
"""Whether a method and a path upload a photo, which may be larger than other bodies."""


def is_never_upload(method: str, path: str) -> bool:
    return False


class SecurityMiddleware:
    """Middleware that checks requests, limits bodies and adds security headers to every response."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, is_upload: IsUpload = is_never_upload) -> None:
        self.app, self.settings, self.is_upload = app, settings, is_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self._handle(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the server stops, and requests under way had time to end
            if not started:
                words = "the server was stopped before this was done; ask again when it runs"
                await make_error_response(503, "busy", words)(scope, receive, send_with_headers)
        except Exception:
            _LOG.exception("an error that should not happen")
            if started:
                raise
            words = "something went wrong in the server; its log says what"
            await make_error_response(500, "internal", words)(scope, receive, send_with_headers)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            _check_host(headers, self.settings)
            _check_origin(scope, headers)
            response = self._check_token(scope, headers)
            body = _LimitedBody(receive, self._get_max_bytes(scope), self.settings.upload_seconds)
            body.check_declared(headers)
        except Refused as refused:
            response = make_error_response(refused.status_code, refused.kind, str(refused))
        if response is not None:
            await response(scope, receive, send)
        else:
            await self.app(scope, body, send)

    def _get_max_bytes(self, scope: Scope) -> int:
        upload = self.is_upload(scope["method"], scope["path"])
        return MIB * (self.settings.upload_mb if upload else self.settings.json_mb)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Check the token: None if it is right, a redirect that sets a cookie if the URL has it."""
        token = self.settings.token
        if token is None:
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"), encoding="latin-1")
        if scope["path"] == "/" and any(is_token(one, token) for one in query.get("token", [])):
            redirect = RedirectResponse("/", 303)
            secure = scope.get("scheme") == "https"
            redirect.set_cookie(
                TOKEN_COOKIE, encode_token(token), httponly=True, samesite="strict", secure=secure
            )
            return redirect
        if any(is_token(one, token) for one in _read_tokens(headers)):
            return None
        words = (
            "this server asks for its token: open the address it printed, or send Authorization: Bearer TOKEN"
        )
        raise Refused(401, "unauthorized", words)


def _read_tokens(headers: Headers) -> list[str]:
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    found = [bearer.strip(" \t")] if scheme.lower() == "bearer" else []
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(TOKEN_COOKIE)
    except CookieError:
        cookie = None
    return [*found, cookie.value] if cookie else found


def _check_host(headers: Headers, settings: ServerSettings) -> None:
    """Refuse unknown host names, against DNS rebinding."""
    if settings.token is not None or settings.hosts is None:
        return
    if _parse_hostname(headers.get("host", "")) not in settings.hosts:
        raise Refused(403, "forbidden", "this server answers to local names only; use http://127.0.0.1")


def _parse_hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _check_origin(scope: Scope, headers: Headers) -> None:
    """Refuse requests of other sites: browsers send where a request comes from, other programs need not.

    Sec-Fetch-Site is preferred to a comparison of host names, which proxies may change.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    elsewhere = site not in (None, "same-origin", "none")
    changing = scope["method"] not in _SAFE_METHODS
    if changing and site is None and origin is not None:
        elsewhere = _parse_netloc(origin) != headers.get("host", "")
    if elsewhere and (changing or scope["path"].startswith(API_PATH)):
        raise Refused(403, "forbidden", "requests from other pages are not answered")


def _parse_netloc(origin: str) -> str | None:
    """Host and port of an origin; None for `null` and the like."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


class _LimitedBody:
    """The body of a request, limited in bytes and time."""

    def __init__(self, receive: Callable[[], Awaitable[Message]], max_bytes: int, seconds: float) -> None:
        self.receive, self.max_bytes = receive, max_bytes
        self.seconds, self.deadline = seconds, asyncio.get_running_loop().time() + seconds
        self.received, self.complete = 0, False

    def check_declared(self, headers: Headers) -> None:
        declared = headers.get("content-length", "0")
        if not declared.isascii() or not declared.isdigit() or int(declared[:20]) > self.max_bytes:
            raise self._too_large()

    async def __call__(self) -> Message:
        if self.complete:  # only the end of the connection is left to hear of
            return await self.receive()
        try:
            async with asyncio.timeout_at(self.deadline):
                message = await self.receive()
        except TimeoutError:
            words = f"the request was not here within {self.seconds:g} seconds"
            raise Refused(408, "timeout", words) from None
        self.received += len(message.get("body", b""))
        self.complete = not message.get("more_body", False)
        if self.received > self.max_bytes:
            raise self._too_large()
        return message

    def _too_large(self) -> Refused:
        return too_large(f"this is larger than the {self.max_bytes / MIB:g} MiB allowed here")

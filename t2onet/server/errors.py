"""Errors as JSON responses: {"error": {"kind", "message"}}. Tracebacks and paths are never sent."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from ..errors import Cancelled, OutputError, ServerError, T2OError


class AsciiJSONResponse(JSONResponse):
    """JSON in ASCII, in which unpaired surrogates in names and requests can be sent as well."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


UNPROCESSABLE = 422
OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_DISK_FULL = {errno.ENOSPC: "its disk is full", errno.EDQUOT: "its disk quota is used up"}
_UNWRITABLE = {
    errno.EROFS: "its disk is read-only",
    errno.EACCES: "its folder is not writable",
    errno.EPERM: "its folder is not writable",
    errno.ENOENT: "its folder is gone",
    errno.EIO: "its disk has an error",
}
_LOG = logging.getLogger(__name__)


class Refused(ServerError, HTTPException):
    """Refused by the server itself, with a status and a kind for programs."""

    def __init__(self, status: int, kind: str, message: str, **more: Any) -> None:
        HTTPException.__init__(self, status, message)
        self.kind, self.more = kind, more

    def __str__(self) -> str:
        return str(self.detail)


def not_found(what: str) -> Refused:
    return Refused(404, "not_found", f"there is no such {what} here; it may have expired or been removed")


def too_large(message: str) -> Refused:
    return Refused(413, "too_large", message)


def too_many(message: str) -> Refused:
    return Refused(429, "too_many", message)


def invalid_request(message: str) -> Refused:
    return Refused(UNPROCESSABLE, "invalid", message)


def to_resource_refusal(error: Exception) -> Refused | None:
    """The refusal for an OSError that means the same wherever it is raised; None for any other error."""
    if isinstance(error, OSError) and error.errno in OUT_OF_FILES | _DISK_FULL.keys():
        return _make_system_refusal(error.errno)
    return None


@contextmanager
def refuse_storage_errors(what: str = "this") -> Iterator[None]:
    """Around code that writes to the server's folder: turns system errors into refusals.

    The refusal says that nothing was changed, so the code must not leave partial changes.
    """
    try:
        yield
    except (OSError, OutputError) as error:
        cause = error.__cause__ if isinstance(error, OutputError) else error
        if not isinstance(cause, OSError) or cause.errno is None:  # such as a format that cannot be encoded
            raise
        _LOG.error("%s", error)
        raise _make_system_refusal(cause.errno, what) from error


def _make_system_refusal(number: int, what: str = "this") -> Refused:
    """The refusal for an errno that was raised while writing or opening files."""
    if number in OUT_OF_FILES:
        return Refused(503, "busy", "the server has too many files open; try again in a moment")
    reason = _DISK_FULL.get(number) or _UNWRITABLE.get(number) or os.strerror(number).lower()
    advice = "remove photos you no longer need, or ask" if number in _DISK_FULL else "ask"
    advice += " the operator of the server"
    return Refused(507, "storage", f"the server cannot store {what}: {reason}; nothing was changed; {advice}")


def get_error_kind(error: T2OError) -> str:
    """`image` for an ImageError, and so on."""
    return type(error).__name__.removesuffix("Error").lower()


def make_error_response(status: int, kind: str, message: str, **more: Any) -> AsciiJSONResponse:
    return AsciiJSONResponse({"error": {"kind": kind, "message": message}, **more}, status)


def install_error_handlers(app: FastAPI, hide_paths: Callable[[str], str] = str) -> None:
    """Send all errors in one shape; `hide_paths` removes paths of the server from messages."""

    def handle_error(request: Request, error: Exception) -> AsciiJSONResponse:
        assert isinstance(error, T2OError)
        status = 409 if isinstance(error, Cancelled) else UNPROCESSABLE
        return make_error_response(status, get_error_kind(error), hide_paths(str(error)))

    app.add_exception_handler(T2OError, handle_error)
    app.add_exception_handler(OSError, _handle_os_error)
    app.add_exception_handler(Refused, _handle_http_error)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)


def _handle_os_error(request: Request, error: Exception) -> AsciiJSONResponse:
    refusal = to_resource_refusal(error)
    if refusal is None:
        raise error
    _LOG.error("%s", error)
    return _to_refusal_response(refusal)


def _handle_http_error(request: Request, error: Exception) -> AsciiJSONResponse:
    if isinstance(error, Refused):
        return _to_refusal_response(error)
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "_")
    words = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return make_error_response(status, kind, words.get(status, "the request cannot be read"))


def _to_refusal_response(refusal: Refused) -> AsciiJSONResponse:
    return make_error_response(refusal.status_code, refusal.kind, str(refusal), **refusal.more)


def _handle_validation_error(request: Request, error: Exception) -> AsciiJSONResponse:
    """The first thing that is wrong with a body or a parameter; what was given is not repeated."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:80]
    message = f"{where}: {str(first['msg']).lower()[:200]}" if where else str(first["msg"]).lower()[:200]
    return make_error_response(
        UNPROCESSABLE, "invalid", f"the request is not as described in /api/docs ({message})"
    )

"""Refusals as JSON: {"error": {"kind", "message"}}. Tracebacks and paths of the server are not sent."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ..errors import Cancelled, OutputError, ServerError, T2OError
from .answers import Answer

UNPROCESSABLE = 422
OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_FULL = {errno.ENOSPC: "its disk is full", errno.EDQUOT: "its disk quota is used up"}
_UNWRITABLE = {
    errno.EROFS: "its disk is read-only",
    errno.EACCES: "its folder is not writable",
    errno.EPERM: "its folder is not writable",
    errno.ENOENT: "its folder is gone",
    errno.EIO: "its disk has an error",
}
_LOG = logging.getLogger(__name__)


class Refused(ServerError, HTTPException):
    """Refused by the server itself, with a status and a kind that a program can tell apart."""

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


def invalid(message: str) -> Refused:
    return Refused(UNPROCESSABLE, "invalid", message)


def resource_refusal(error: Exception) -> Refused | None:
    """The refusal for an OSError that means the same wherever it is raised; None for any other error."""
    if isinstance(error, OSError) and error.errno in OUT_OF_FILES | _FULL.keys():
        return _system_refusal(error.errno)
    return None


@contextmanager
def storing(what: str = "this") -> Iterator[None]:
    """Around code that writes below the server's folder: refuse what the system does not let it write.

    Whatever fails inside must leave nothing changed, as the refusal says so.
    """
    try:
        yield
    except (OSError, OutputError) as error:
        cause = error.__cause__ if isinstance(error, OutputError) else error
        if not isinstance(cause, OSError) or cause.errno is None:  # such as a format that cannot be encoded
            raise
        _LOG.error("%s", error)
        raise _system_refusal(cause.errno, what) from error


def _system_refusal(number: int, what: str = "this") -> Refused:
    """For an error number of the system, met while writing or in want of open files."""
    if number in OUT_OF_FILES:
        return Refused(503, "busy", "the server has too many files open; try again in a moment")
    reason = _FULL.get(number) or _UNWRITABLE.get(number) or os.strerror(number).lower()
    advice = "remove photos you no longer need, or ask" if number in _FULL else "ask"
    words = f"the server cannot store {what}: {reason}; nothing was changed; {advice} whoever runs the server"
    return Refused(507, "storage", words)


def kind_of(error: T2OError) -> str:
    """`image` for an ImageError, and so on."""
    return type(error).__name__.removesuffix("Error").lower()


def answer(status: int, kind: str, message: str, **more: Any) -> Answer:
    return Answer({"error": {"kind": kind, "message": message}, **more}, status)


def install(app: FastAPI, conceal: Callable[[str], str] = str) -> None:
    """Every refusal in one shape; `conceal` takes out of a message what is the server's own business."""

    def refused(request: Request, error: Exception) -> Answer:
        assert isinstance(error, T2OError)
        status = 409 if isinstance(error, Cancelled) else UNPROCESSABLE
        return answer(status, kind_of(error), conceal(str(error)))

    app.add_exception_handler(T2OError, refused)
    app.add_exception_handler(OSError, _os_error)
    app.add_exception_handler(Refused, _http)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)


def _os_error(request: Request, error: Exception) -> Answer:
    refusal = resource_refusal(error)
    if refusal is None:
        raise error
    _LOG.error("%s", error)
    return _refusal_answer(refusal)


def _http(request: Request, error: Exception) -> Answer:
    if isinstance(error, Refused):
        return _refusal_answer(error)
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "_")
    words = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return answer(status, kind, words.get(status, "the request cannot be read"))


def _refusal_answer(refusal: Refused) -> Answer:
    return answer(refusal.status_code, refusal.kind, str(refusal), **refusal.more)


def _invalid(request: Request, error: Exception) -> Answer:
    """The first thing that is wrong with a body or a parameter; what was given is not repeated."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:80]
    message = f"{where}: {str(first['msg']).lower()[:200]}" if where else str(first["msg"]).lower()[:200]
    return answer(UNPROCESSABLE, "invalid", f"the request is not as described in /api/docs ({message})")

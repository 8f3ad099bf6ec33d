"""What is refused, as JSON: {"error": {"kind", "message"}}. Tracebacks and paths of the server stay in."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ..errors import Cancelled, ServerError, T2OError
from .answers import Answer

UNPROCESSABLE = 422


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
    app.add_exception_handler(Refused, _http)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)


def _http(request: Request, error: Exception) -> Answer:
    if isinstance(error, Refused):
        return answer(error.status_code, error.kind, str(error), **error.more)
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "_")
    words = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return answer(status, kind, words.get(status, "the request cannot be read"))


def _invalid(request: Request, error: Exception) -> Answer:
    """The first thing that is wrong with a body or a parameter; what was given is not repeated."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:80]
    message = f"{where}: {str(first['msg']).lower()[:200]}" if where else str(first["msg"]).lower()[:200]
    return answer(UNPROCESSABLE, "invalid", f"the request is not as described in /api/docs ({message})")

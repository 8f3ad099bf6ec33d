"""Refusals of a study that a door may have to tell apart."""

from __future__ import annotations

from ..errors import StudyError


class NotFound(StudyError):
    """A link, page or name leads nowhere."""


class Forbidden(StudyError):
    """Someone may not do this (any more)."""


class TooMany(StudyError):
    """A rate limit was reached; there is room again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Conflict(StudyError):
    """It was answered otherwise before."""

"""Refusals of a study that a door may have to tell apart."""

from __future__ import annotations

from ..errors import StudyError


class NotFound(StudyError):
    """A link, page or name leads nowhere."""


class Forbidden(StudyError):
    """Someone may not do this (any more)."""


class Conflict(StudyError):
    """It was answered otherwise before."""

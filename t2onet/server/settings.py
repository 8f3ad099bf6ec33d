"""Settings of a server: what it allows, its token, and where it keeps files."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from ..errors import ServerError

# Tokens: validation, encoding for links, and comparison with what a client sends.

_MIN_TOKEN_LENGTH = 8


def check_token(token: str) -> None:
    """Refuse a token that is easy to guess, or that no link or header can carry."""
    if len(token) < _MIN_TOKEN_LENGTH:
        raise ServerError(
            f"a token of fewer than {_MIN_TOKEN_LENGTH} characters is too easy to guess; give a longer one"
        )
    if token != token.strip():
        raise ServerError("a token neither begins nor ends with a blank, which HTTP drops; give another one")
    if not token.isprintable():
        raise ServerError("a token holds printable characters only; give another one")


def encode_token(token: str) -> str:
    """For a link or a cookie: percent-encoded, so that nothing in it ends the token."""
    return quote(token, safe="")


def is_token(given: str, token: str) -> bool:
    """Whether a client sent the token: as its UTF-8 bytes, or percent-encoded as in the link.

    `given` is text in which each character stands for a byte, as headers are read. Takes as long for a wrong
    token as for the right one.
    """
    secret = token.encode()
    readings = (given.encode("latin-1"), unquote_to_bytes(given))
    return any([secrets.compare_digest(reading, secret) for reading in readings])  # noqa: C419  in constant time


# What a server allows, and where it keeps things.

MIB = 2**20
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine to itself."""


@dataclass(frozen=True)
class ServerSettings:
    """Limits, and who may come in.

    Without a `token` only requests that name one of `hosts` are answered, so that no page from elsewhere can
    reach the server under a name of its own.
    """

    token: str | None = None
    hosts: frozenset[str] | None = LOCAL_HOSTS
    """Host names that requests may use; None, or a token, for any."""
    folder: Path | None = None
    """Where session folders are made; by default a temporary folder, removed with the server."""

    upload_mb: int = 128
    """Of one photo, in MiB."""
    megapixels: float = 100.0
    """Of one photo."""
    upload_seconds: float = 120.0
    """Until the body of a request has to be here."""
    connections: int = 512
    """Open at the same time; at most half of the files that the process may open."""
    stall_seconds: float = 20.0
    """After which a connection is closed that sends no complete header, or reads nothing of its answer."""
    session_mb: int = 2048
    """Uploads and results of one session, in MiB."""
    sessions: int = 50
    photos: int = 500
    """In one session, uploaded."""
    uploads: int = 8
    """Of one session, under way at a time."""
    idle_minutes: float = 120.0
    """After which a session and its folder are removed."""
    cache_mb: int = 512
    """Preview pictures of all sessions that are kept in memory, in MiB."""

    json_mb: int = 4
    """Of a request that is not a photo, in MiB."""
    request_characters: int = 2000
    steps: int = 32
    """Of a recipe."""
    mask_megapixels: float = 4.0
    masked_megapixels: float = 200.0
    """Computed through masks for one picture, in all steps together; those of sharpness count twice more."""
    masks_mb: int = 32
    """Masks that the history of one session holds, in MiB."""
    preview: int = 1600
    """Long side of the preview, in pixels."""
    largest: int = 8192
    """Long side of the largest picture that is rendered for the screen, in pixels."""
    exports: int = 16
    """Files of one session that wait to be fetched; older ones go."""
    batches: int = 4
    """Of one session; older ones go."""

    def __post_init__(self) -> None:
        if self.token is not None:
            check_token(self.token)

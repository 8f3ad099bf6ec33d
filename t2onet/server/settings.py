"""Settings of a server: limits, token, hosts, folder and reader."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from ..errors import ServerError
from ..options import DEFAULT_READER, ReaderName, check_reader

_MIN_TOKEN_LENGTH = 8


def check_token(token: str) -> None:
    """Raise ServerError for a token that is easy to guess, or that no link or header can carry."""
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


MIB = 2**20
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
"""Host names of this machine."""


@dataclass(frozen=True)
class ServerSettings:
    """Limits and access control of a server.

    Without a `token`, only requests to one of `hosts` are answered, so that no other site can reach the
    server through a host name of its own (DNS rebinding).
    """

    token: str | None = None
    hosts: frozenset[str] | None = LOCAL_HOSTS
    """Allowed host names; None or a token allows any."""
    folder: Path | None = None
    """Parent of the folder for results, and for uploads that are not kept; by default a temporary folder.
    The server's folder in it is removed when the server stops."""
    keep: Path | None = None
    """Folder in which sessions and looks outlive the server; with None nothing does."""
    sidecars: bool = True
    """Whether the edit of a photo of this machine is read from its sidecar and written to it."""
    reader: ReaderName = DEFAULT_READER
    """What reads requests."""

    upload_mb: int = 128
    """Largest photo file, in MiB."""
    megapixels: float = 100.0
    """Largest photo, in megapixels."""
    upload_seconds: float = 120.0
    """Time limit for the body of a request."""
    connections: int = 512
    """Connections open at a time; at most half of the files that the process may open."""
    stall_seconds: float = 20.0
    """Time after which a connection is closed that sends no complete header or does not read its response."""
    session_mb: int = 2048
    """Uploads and results of a session, in MiB."""
    sessions: int = 50
    photos: int = 500
    """Uploaded photos in a session."""
    uploads: int = 8
    """Uploads of a session at a time."""
    idle_minutes: float = 120.0
    """Idle time after which a session is closed and its results are removed; its uploads too, unless it is
    kept."""
    cache_mb: int = 512
    """Previews of all sessions in memory, in MiB."""
    keep_days: float = 14.0
    """Days after its last edit after which a session that is kept is removed."""
    keep_mb: int = 4096
    """All sessions that are kept, in MiB; beyond it, the oldest are removed."""
    restore_minutes: float = 10.0
    """Time in which a photo that was removed from a session can be brought back."""
    looks: int = 200
    """Looks that users saved."""

    json_mb: int = 4
    """Largest body of a request that is not a photo, in MiB."""
    request_characters: int = 2000
    steps: int = 32
    """Steps of a recipe."""
    mask_megapixels: float = 4.0
    masked_megapixels: float = 200.0
    """Work through masks for one picture, in all steps together; sharpness counts more."""
    masks_mb: int = 32
    """Masks in the history of a session, in MiB."""
    preview: int = 1600
    """Long side of the preview, in pixels."""
    largest: int = 8192
    """Long side of the largest picture that is rendered for the screen, in pixels."""
    exports: int = 16
    """Result files of a session; older ones are removed."""
    batches: int = 4
    """Batches of a session; older ones are removed."""

    def __post_init__(self) -> None:
        check_reader(self.reader)
        if self.token is not None:
            check_token(self.token)

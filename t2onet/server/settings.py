"""What a server allows, and where it keeps things."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .tokens import check_token

MIB = 2**20
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine to itself."""


@dataclass(frozen=True)
class Settings:
    """Limits, and who may come in.

    Without a `token` only requests that name one of `hosts` are answered, so that no page from elsewhere can
    reach the server under a name of its own.
    """

    token: str | None = None
    hosts: frozenset[str] | None = LOCAL
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

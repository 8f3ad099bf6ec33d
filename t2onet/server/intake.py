"""Bytes from outside -> a photo in a session's folder, or one clear refusal. Names never become paths."""

from __future__ import annotations

from pathlib import Path

from ..errors import ImageError
from ..image import READABLE, Image, open_image, read_regular
from ..image.reading import declared_size
from .errors import OUT_OF_FILES, too_large
from .settings import Settings

NAMELESS = "photo"
_LONGEST_NAME = 100
_SCANS = 100
"""A progressive JPEG has about ten passes over its pixels; every one takes as long as the first."""
_FRAMES = 10_000
"""An animation's frames are counted one by one."""


def display_name(given: str) -> str:
    """The last part of a name, fit to be shown and to be given to a download; never a path."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(letter for letter in last if letter.isprintable() and not "\ud800" <= letter <= "\udfff")
    return shown.strip(" .")[-_LONGEST_NAME:] or NAMELESS


def stored_suffix(name: str) -> str:
    """The ending of a name if it is one of ours, which RAW files are told by; otherwise none."""
    ending = Path(name).suffix.lower()
    return ending if ending in READABLE else ""


def opened(path: Path, name: str, settings: Settings) -> Image:
    """The photo in a stored file; refusals speak of `name` and of no path."""
    try:
        _check(read_regular(path), name, settings)
        image = open_image(path)
    except ImageError as error:
        raise ImageError(str(error).replace(str(path), name)) from None
    except OSError as error:
        if error.errno in OUT_OF_FILES:
            raise
        raise ImageError(f"{name} cannot be read any more; was it moved or deleted?") from None
    _check_extent(image.width, image.height, name, settings)
    return image


def _check(data: bytes, name: str, settings: Settings) -> None:
    """Refuse, before anything is decoded, what would take too long or too much memory."""
    if size := declared_size(data):
        _check_extent(*size, name, settings)
    if data.startswith(b"\xff\xd8") and data.count(b"\xff\xda") > _SCANS:
        raise too_large(f"{name} draws its pixels more than {_SCANS} times over; save it anew")
    if data.startswith(b"GIF8") and data.count(b"\x21\xf9\x04") > _FRAMES:
        raise too_large(f"{name} has more than {_FRAMES} frames; give one of them")


def _check_extent(width: int, height: int, name: str, settings: Settings) -> None:
    if width * height > 1e6 * settings.megapixels:
        allowed = f"the {settings.megapixels:g} megapixels allowed here"
        raise too_large(f"{name} has {width} x {height} pixels, more than {allowed}")

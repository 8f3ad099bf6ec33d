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
        if size := declared_size(read_regular(path)):  # before anything is decoded
            _check_extent(*size, name, settings)
        image = open_image(path)
    except ImageError as error:
        raise ImageError(str(error).replace(str(path), name)) from None
    except OSError as error:
        if error.errno in OUT_OF_FILES:
            raise
        gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "; was it moved or deleted?" if gone else f": {(error.strerror or 'unknown error').lower()}"
        raise ImageError(f"{name} cannot be read any more{reason}") from None
    _check_extent(image.width, image.height, name, settings)
    return image


def _check_extent(width: int, height: int, name: str, settings: Settings) -> None:
    if width * height > 1e6 * settings.megapixels:
        allowed = f"the {settings.megapixels:g} megapixels allowed here"
        raise too_large(f"{name} has {width} x {height} pixels, more than {allowed}")

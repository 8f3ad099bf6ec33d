"""Bytes from outside -> a photo in a session's folder, or one clear refusal. Names never become paths."""

from __future__ import annotations

from pathlib import Path

from ..errors import ImageError
from ..image import READABLE, Image, open_image
from ..image.limits import TooLargeError
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
        return open_image(path, max_pixels=1e6 * settings.megapixels)
    except TooLargeError as error:
        size = "more pixels" if error.size is None else "{} x {} pixels, more".format(*error.size)
        raise too_large(
            f"{name} has {size} than the {settings.megapixels:g} megapixels allowed here"
        ) from None
    except ImageError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in OUT_OF_FILES:
            raise cause from None
        if isinstance(cause, OSError) and cause.errno is not None:  # from the system, not from a decoder
            gone = isinstance(cause, FileNotFoundError | NotADirectoryError)
            reason = (
                "; was it moved or deleted?" if gone else f": {(cause.strerror or 'unknown error').lower()}"
            )
            raise ImageError(f"{name} cannot be read any more{reason}") from None
        raise ImageError(str(error).replace(str(path), name)) from None

"""The door for results: an image and a path in, a whole file out, or one clear OutputError."""

from __future__ import annotations

from pathlib import Path

from ..errors import OutputError
from .atomic import write_atomically
from .encoding import encode
from .formats import Format, format_to_write
from .model import Image, Saved


def save(image: Image, path: Path, *, overwrite: bool, quality: int | None) -> Saved:
    """Write `image` to `path` in the format of its suffix; an untouched photo is copied as it is."""
    format_to_write(path)
    if quality is not None and not 1 <= quality <= 100:
        raise OutputError(f"A quality of {quality} is out of range; give 1 to 100.")
    if not overwrite and _is_source(image, path):
        raise OutputError(
            f"{path} is the photo itself; give another name, or ask to overwrite it (overwrite=True)."
        )
    data, notes = encoded(image, path, quality)
    write_atomically(path, data, overwrite=overwrite)
    return Saved(path, notes)


def encoded(image: Image, path: Path, quality: int | None = None) -> tuple[bytes, tuple[str, ...]]:
    """The bytes that `save` writes to `path`, and what they could not keep."""
    format = format_to_write(path)
    source = image.origin.encoded
    untouched = source is not None and image.origin.format == format.name
    if untouched and source is not None and (quality is None or not format.lossy):
        return source, ()
    data, notes = _encoded(image, path, format, quality)
    return data, (*image.notes, *notes)


def _is_source(image: Image, path: Path) -> bool:
    source = image.origin.path
    if source is None:
        return False
    try:
        return source.samefile(path)
    except (OSError, ValueError):
        return False


def _encoded(image: Image, path: Path, format: Format, quality: int | None) -> tuple[bytes, list[str]]:
    try:
        return encode(image, format, quality)
    except OutputError as error:
        raise OutputError(f"{path} cannot be written: {error}.") from error
    except ImportError as error:
        raise OutputError(f"{path} is HEIC, which needs an extra: pip install 't2onet[files]'.") from error
    except MemoryError as error:
        raise OutputError(
            f"{path} cannot be written: there is not enough memory for a photo this large."
        ) from error
    except Exception as error:  # encoders raise anything
        raise OutputError(f"{path} cannot be written as {format.name}; use .png or .tif instead.") from error

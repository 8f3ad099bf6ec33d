"""A ZIP of facts as JSON and of pictures as lossless WebP, which is the same bytes whenever it is made."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ...errors import DataError
from ...image import open_regular

FACTS = "about.json"
VERSION = 1
Levels = NDArray[np.uint8]
"""A picture (H, W, 3)."""


def levels(picture: np.ndarray) -> Levels:
    """A picture (3, H, W) in [0, 1] at 8 bits."""
    return np.ascontiguousarray(np.rint(255 * picture.clip(0, 1)).astype(np.uint8).transpose(1, 2, 0))


def floats(picture: Levels) -> np.ndarray:
    """(3, H, W) float32 in [0, 1]."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1).astype(np.float32) / 255)


def encoded(pictures: Iterable[Levels]) -> dict[str, bytes]:
    """By the names that they have in an archive."""
    with ThreadPoolExecutor() as pool:
        return {_picture(at): data for at, data in enumerate(pool.map(_encoded, pictures))}


def decoded(files: Mapping[str, bytes], count: int) -> tuple[Levels, ...]:
    """As many as `encoded` was given; raises what a damaged archive comes to."""
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(_decoded, [files[_picture(at)] for at in range(count)]))


def zipped(form: str, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """An archive of a form, which `unzipped` holds it against."""
    about = json.dumps({"format": form, "version": VERSION, **facts}, ensure_ascii=False).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(FACTS), about, zipfile.ZIP_DEFLATED)
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def unzipped(path: Path, form: str, made_by: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Facts and files; what is no archive of that form is refused, saying what makes one."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            facts = json.loads(archive.read(FACTS))
            files = {name: archive.read(name) for name in archive.namelist() if name != FACTS}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read as {form}, {made_by} writes them: {error}") from None
    if not isinstance(facts, dict) or facts.get("format") != form:
        raise DataError(f"{path} does not hold {form}; {made_by} writes them")
    if facts.get("version") != VERSION:
        raise DataError(f"{path} has {form} of version {facts.get('version')}; this release reads {VERSION}")
    return facts, files


def damaged(path: Path, form: str, error: Exception) -> DataError:
    return DataError(f"{path} is damaged, its {form} cannot be read ({error}); make or bring it again")


def _picture(at: int) -> str:
    return f"pictures/{at:05d}.webp"


def _encoded(picture: Levels) -> bytes:
    data = io.BytesIO()
    PIL.Image.fromarray(picture).save(data, "WEBP", lossless=True, quality=75, method=4)
    return data.getvalue()


def _decoded(data: bytes) -> Levels:
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))

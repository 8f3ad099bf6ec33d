"""Photos that agents work on: their conversations, small pictures, and what can be measured of them."""

from __future__ import annotations

import io
import math
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import PIL.ExifTags
import PIL.Image

from ..bands import CancelToken, Pixels
from ..errors import ImageError, ServerError
from ..executor import apply
from ..image.colour import srgb_to_lab
from ..image.photo import to_picture
from ..image.pixels import to_depth
from ..language import Attribute
from ..metrics.attributes import measure_lab_attributes
from ..places import OpenedPhoto, find_place, list_present
from ..recipe import Recipe
from ..server import ServerSettings
from ..server.keeping import EditKeeper
from ..server.photos import (
    JPEG_QUALITY,
    PreviewCache,
    PreviewRenderer,
    SessionPhoto,
    find_source_side,
    fit_long_side,
    to_screen_pixels,
)
from ..server.settings import MIB
from .folders import AllowedFolders

MAX_OPEN_PHOTOS = 16
"""Photos whose conversation is kept; of those used longer ago only the recipe is."""
MEASURED_SIDE = 1024
"""Long side of the picture that statistics are measured on, in pixels."""
_CACHE_MB = 256
_PREVIEW_SIDE = 1600
_LIGHTNESS_BINS = 10
_EXIF_NAMES = {
    "Make": "camera make",
    "Model": "camera",
    "LensModel": "lens",
    "DateTimeOriginal": "taken",
    "ExposureTime": "exposure time (s)",
    "FNumber": "aperture (f-number)",
    "ISOSpeedRatings": "ISO",
    "FocalLength": "focal length (mm)",
}
"""EXIF tags that agents are told, and their names there; never where a photo was taken, or by whom."""
_EXIF_DIRECTORY = 0x8769
_MAX_EXIF_LENGTH = 80


@dataclass
class OpenPhotos:
    """The photos that are open, by their paths; their pixels are not kept in memory, only small copies."""

    folders: AllowedFolders
    settings: ServerSettings
    _open: OrderedDict[Path, tuple[tuple[int, ...], SessionPhoto]] = field(default_factory=OrderedDict)
    _edits: dict[Path, Recipe] = field(default_factory=dict)
    """Recipes of photos that were edited and are not open."""
    _previews: PreviewRenderer = field(
        default_factory=lambda: PreviewRenderer(PreviewCache(_CACHE_MB * MIB), _PREVIEW_SIDE, threads=2)
    )

    def open(self, given: str) -> SessionPhoto:
        """The photo of a name, with its conversation so far."""
        path = self.folders.find_file(given)
        name = self.folders.name(path)
        try:
            found = path.stat()
        except OSError:
            raise ImageError(f"{name} does not exist; list_photos gives the names of photos") from None
        state = found.st_mtime_ns, found.st_size, found.st_ino
        if path in self._open and self._open[path][0] != state:
            raise ServerError(f"{name} was changed on disk since it was opened; call reset to open it anew")
        if path not in self._open:
            keeper = EditKeeper(self.settings, name)  # until the server ends
            photo = SessionPhoto(name, path, False, self.settings, self._previews, keeper)
            editor = photo.open_editor()
            if path in self._edits:
                editor.resume(self._edits.pop(path))
            self.folders.add_source(path)
            self._open[path] = state, photo
            if len(self._open) > MAX_OPEN_PHOTOS:
                self._put_aside(next(iter(self._open)))
        self._open.move_to_end(path)
        return self._open[path][1]

    def _put_aside(self, path: Path) -> None:
        """Close a photo, and remember its edit for when it is opened again."""
        if (recipe := self._open[path][1].recipe).steps:
            self._edits[path] = recipe
        self._drop(path)

    def forget(self, given: str) -> None:
        """Drop the conversation about a photo, if there is one, and its edit."""
        path = self.folders.find_file(given)
        self._edits.pop(path, None)
        self._drop(path)

    def _drop(self, path: Path) -> None:
        if path in self._open:
            self._previews.cache.drop(self._open.pop(path)[1].id)

    def render(self, photo: SessionPhoto, recipe: Recipe, side: int, cancel: CancelToken) -> Pixels:
        """(H, W, 3) uint8 in sRGB: the photo after a recipe, its long side at most `side` pixels."""
        photo.open_editor()
        assert photo.info is not None
        source = find_source_side(photo.info, recipe, side)
        if source <= _PREVIEW_SIDE:
            return self._previews.render(photo.id, photo.open, recipe, source)
        small = fit_long_side(photo.open(), source)
        return to_screen_pixels(apply(recipe, small, kernels=True, cancel=cancel, notes=[]))

    def open_small(self, photo: SessionPhoto, side: int) -> OpenedPhoto:
        """The photo as it was opened, to look for places on."""
        return OpenedPhoto(self._previews.get_base(photo.id, photo.open, min(side, _PREVIEW_SIDE)))

    def list_places(self, photo: SessionPhoto) -> list[dict[str, Any]]:
        """The named places that are in the photo, and how much of it each covers."""
        picture = self.open_small(photo, _PREVIEW_SIDE).small_picture
        return [
            {"name": name, "share": round(float(find_place(name, picture).mean()), 4)}
            for name in list_present(picture)
        ]


def measure_picture(picture: Pixels) -> dict[str, Any]:
    """Statistics of a picture (H, W, 3) uint8 in sRGB: attributes, clipping, lightness in bins."""
    lab = np.asarray(srgb_to_lab(to_depth(picture, np.float32).transpose(2, 0, 1)))
    attributes = zip(Attribute, measure_lab_attributes(lab), strict=True)
    counts, _ = np.histogram(lab[0], bins=_LIGHTNESS_BINS, range=(0, 100))
    return {
        **{attribute.value: _round(float(value)) for attribute, value in attributes},
        "clipped_shadows": _round(float((picture == 0).any(axis=2).mean()), 4),
        "clipped_highlights": _round(float((picture == 255).any(axis=2).mean()), 4),
        "lightness_histogram": [_round(float(share), 4) for share in counts / counts.sum()],
    }


def _round(value: float, digits: int = 2) -> float:
    return round(value, digits) + 0.0  # no minus zero


def read_exif(block: bytes | None) -> dict[str, str | float]:
    """What the camera wrote about a photo: EXIF of a bare TIFF structure; empty without."""
    exif = PIL.Image.Exif()
    try:
        exif.load(b"Exif\0\0" + (block or b""))
        tags = {**exif, **exif.get_ifd(_EXIF_DIRECTORY)}
    except Exception:  # Pillow raises many kinds on damaged data
        return {}
    named = {PIL.ExifTags.TAGS.get(tag, ""): value for tag, value in tags.items()}
    found = {label: _to_plain(named[tag]) for tag, label in _EXIF_NAMES.items() if tag in named}
    return {label: value for label, value in found.items() if value is not None}


def _to_plain(value: object) -> str | float | None:
    """A short text or a finite number; None for anything else."""
    if isinstance(value, str):
        shown = "".join(letter for letter in value if letter.isprintable()).strip()
        return shown[:_MAX_EXIF_LENGTH] or None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return float(f"{number:.6g}") if math.isfinite(number) else None


def encode_picture(picture: Pixels, kind: str) -> bytes:
    """A picture (H, W, 3) uint8 as "jpeg" or "png"."""
    stream = io.BytesIO()
    options = {"quality": JPEG_QUALITY} if kind == "jpeg" else {}
    to_picture(picture).convert("RGB").save(stream, kind.upper(), **options)
    return stream.getvalue()

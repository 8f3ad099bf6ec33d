"""Pictures as shown in a study: screen size, sRGB, and only the pixels of the file.

Names and metadata of a file could reveal which system wrote it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from sqlalchemy import select

from ..image import open_image
from .models import TARGET, NotFound, Page, Rating, StudyKind
from .pages import CheckPicture
from .storage import StudyDatabase

LONG_SIDE = 1600
"""Maximum size in pixels."""
_QUALITY = 95
_CACHED_PICTURES = 128
"""Encoded pictures kept in memory; about half a megabyte each."""
_BLOCKS = 24
"""Squares along the short side of a wrecked picture."""


@dataclass(frozen=True)
class StudyPicture:
    """A picture to show, unchanged or wrecked for an attention check."""

    path: Path
    wrecked: bool = False

    def jpeg(self) -> bytes:
        """The picture at screen size as JPEG."""
        return _encode_jpeg(self, self.path.stat().st_mtime_ns)


def find_rated_picture(store: StudyDatabase, token: str) -> StudyPicture:
    """The picture of a rating."""
    with store.reading() as session:
        rating = session.scalars(select(Rating).where(Rating.token == token)).first()
        if rating is None:
            raise NotFound("there is no such picture")
        sample = rating.page.sample
        file = sample.input if rating.output is None else rating.output.path
        return StudyPicture(Path(sample.study.root, file), rating.known == CheckPicture.WRECKED)


def find_page_picture(store: StudyDatabase, token: str, side: Literal["input", "target"]) -> StudyPicture:
    """The input of a page; its target in annotation studies only, since it would help raters."""
    with store.reading() as session:
        page = session.scalars(select(Page).where(Page.token == token)).first()
        if page is None or (side == TARGET and page.sample.study.kind != StudyKind.ANNOTATION):
            raise NotFound("there is no such picture")
        sample = page.sample
        file = sample.input if side == "input" else sample.outputs[0].path
        return StudyPicture(Path(sample.study.root, file))


@lru_cache(_CACHED_PICTURES)
def _encode_jpeg(picture: StudyPicture, _changed: int) -> bytes:
    image = open_image(picture.path)
    short, long = sorted((image.height, image.width))
    small = image.resized(max(short * LONG_SIDE // long, 1)) if long > LONG_SIDE else image
    pixels = small.to_srgb().pixels
    shown = PIL.Image.fromarray(wreck(pixels) if picture.wrecked else pixels)
    stream = io.BytesIO()
    shown.save(stream, "JPEG", quality=_QUALITY, subsampling=0)
    return stream.getvalue()


def wreck(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture in coarse squares of inverted, swapped colours."""
    height, width = pixels.shape[:2]
    side = max(min(height, width) // _BLOCKS, 1)
    coarse = 255 - pixels[side // 2 :: side, side // 2 :: side, [1, 2, 0]]
    blocks = coarse.repeat(side, axis=0).repeat(side, axis=1)
    missing = (max(height - blocks.shape[0], 0), max(width - blocks.shape[1], 0))
    return np.pad(blocks, ((0, missing[0]), (0, missing[1]), (0, 0)), mode="edge")[:height, :width]

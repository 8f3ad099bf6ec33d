"""How large a photo may be, and how elaborate its file.

The limit on pixels is Pillow's own, PIL.Image.MAX_IMAGE_PIXELS, doubled as Pillow does. The others are far
above what photos have, and low enough that a small file within all of them is read in a second or two.
"""

from __future__ import annotations

import math

import PIL.Image

from ..errors import ImageError

MIB = 2**20

LONGEST_SIDE = 1_000_000
"""Pixels: uncompressed rows are gathered piece by piece, and each piece copies what there is of the row."""
DIRECTORIES = 16
"""Directories of an EXIF block or TIFF file that pointers lead to; four are usual. Pages do not count."""
DIRECTORY_ENTRIES = 4096
"""Entries of one directory of an EXIF block or TIFF file."""
TAG_VALUES = 250_000
"""Numbers in one directory of a TIFF file: each becomes an object of its own."""
STRIPS = 100_000
"""Strips or tiles of a TIFF file: uncompressed ones are decoded one by one."""
PAGES = 10_000
"""Pages or frames that are counted; the first is read, the others are left out."""
SEGMENTS = 10_000
"""Segments of a JPEG file."""
JUNK = MIB // 4
"""Bytes between the segments of a JPEG file, and fill bytes in a row before a marker."""
SCANS = 32
"""Scans of a progressive JPEG, each over all pixels; ten are usual."""
CHUNKS = 100_000
"""Chunks of a PNG file."""
PROFILES = 16
"""Colour profiles of a PNG file, which should have one: each is unpacked."""
COMMENT_BLOCKS = 4096
"""Blocks of comments before the first frame of a GIF."""
GIF_BLOCKS = 500_000
"""Blocks of a GIF, of up to 255 bytes, that are walked to count its frames."""
RUN_LENGTH_BYTES = 4 * MIB
"""Of a run-length encoded BMP, which is decoded run by run."""
XMP_BYTES = 4 * MIB
"""Of an XMP packet."""


class TooLargeError(ImageError):
    """A photo has more pixels than allowed; `size` is its width and height where its header states them."""

    def __init__(self, message: str, size: tuple[int, int] | None) -> None:
        super().__init__(message)
        self.size = size


def check_size(width: int, height: int, max_pixels: float | None = None) -> None:
    """Refuse what Pillow would refuse, for the readers that do not ask Pillow, and more than `max_pixels`."""
    if width * height > min(_pillow_limit(), math.inf if max_pixels is None else max_pixels):
        raise TooLargeError(f"{width} x {height} pixels", (width, height))


def allowed_megapixels() -> str:
    """The limit in words."""
    return in_megapixels(_pillow_limit())


def in_megapixels(pixels: float) -> str:
    """A number of pixels as people say it, rounded up: "179", "0.52"."""
    millions = pixels / 1e6
    return str(math.ceil(millions)) if millions >= 10 else f"{math.ceil(millions * 1000) / 1000:g}"


def _pillow_limit() -> float:
    limit = PIL.Image.MAX_IMAGE_PIXELS
    return math.inf if limit is None else 2 * limit

"""How large a photo may be, and how elaborate its file.

The limit on pixels is Pillow's own, PIL.Image.MAX_IMAGE_PIXELS, doubled as Pillow does. The others are far
above what photos have, and low enough that a small file within all of them is read in a second or two.
"""

from __future__ import annotations

import PIL.Image

MIB = 2**20

LONGEST_SIDE = 1_000_000
"""Pixels: uncompressed rows are gathered piece by piece, and each piece copies what there is of the row."""
DIRECTORIES = 16
"""Directories of an EXIF block or TIFF file that pointers lead to; four are usual, pages are counted apart."""
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


class TooLargeError(Exception):
    """More pixels than allowed; holds width and height."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__(f"{width} x {height} pixels")
        self.size = width, height


def check_size(width: int, height: int) -> None:
    """Refuse what Pillow would refuse, for the readers that do not ask Pillow."""
    limit = PIL.Image.MAX_IMAGE_PIXELS
    if limit is not None and width * height > 2 * limit:
        raise TooLargeError(width, height)


def allowed_megapixels() -> str:
    """The limit in words."""
    return f"{2 * (PIL.Image.MAX_IMAGE_PIXELS or 0) / 1e6:.0f}"

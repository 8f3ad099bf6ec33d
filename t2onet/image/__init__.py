"""Reading and writing photos: pixels, depth, alpha, orientation, metadata and colour profile.

A photo is edited in its own RGB space: no colours are converted on the way in or out. What a format cannot
keep is reported in `notes`. This package is independent of operations and recipes.
"""

from .files import check_regular_file, check_writable, open_regular_file, read_regular_file, write_atomically
from .formats import (
    RAW_SUFFIXES,
    READABLE_SUFFIXES,
    WRITABLE_SUFFIXES,
    choose_output_suffix,
    has_readable_suffix,
)
from .photo import Image, SavedFile, image_from_array
from .reading import open_image

__all__ = [
    "RAW_SUFFIXES",
    "READABLE_SUFFIXES",
    "WRITABLE_SUFFIXES",
    "Image",
    "SavedFile",
    "check_regular_file",
    "check_writable",
    "choose_output_suffix",
    "has_readable_suffix",
    "image_from_array",
    "open_image",
    "open_regular_file",
    "read_regular_file",
    "write_atomically",
]

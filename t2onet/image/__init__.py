"""Files and arrays <-> photos: pixels, depth, alpha, orientation, metadata and colour profile.

This room knows nothing of operations or recipes. A photo is edited in its own RGB space; nothing is converted
on the way in or out, and what a format cannot keep is said in `notes`.
"""

from .files import check_regular_file, check_writable, open_regular_file, read_regular_file, write_atomically
from .photo import Image, SavedFile, image_from_array
from .reading import open_image
from .writing import RAW_SUFFIXES, READABLE_SUFFIXES, WRITABLE_SUFFIXES, choose_output_suffix

__all__ = [
    "RAW_SUFFIXES",
    "READABLE_SUFFIXES",
    "WRITABLE_SUFFIXES",
    "Image",
    "SavedFile",
    "check_regular_file",
    "check_writable",
    "choose_output_suffix",
    "image_from_array",
    "open_image",
    "open_regular_file",
    "read_regular_file",
    "write_atomically",
]

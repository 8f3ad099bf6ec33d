"""Files and arrays <-> photos: pixels, depth, alpha, orientation, metadata and colour profile.

This room knows nothing of operations or recipes. A photo is edited in its own RGB space; nothing is converted
on the way in or out, and what a format cannot keep is said in `notes`.
"""

from .atomic import check_writable, write_atomically
from .formats import RAW_SUFFIXES, READABLE, WRITABLE, default_suffix
from .model import Image, Saved, from_array
from .opening import open_image
from .regular import check_regular, open_regular, read_regular

__all__ = [
    "RAW_SUFFIXES",
    "READABLE",
    "WRITABLE",
    "Image",
    "Saved",
    "check_regular",
    "check_writable",
    "default_suffix",
    "from_array",
    "open_image",
    "open_regular",
    "read_regular",
    "write_atomically",
]

"""A dataset as a few files that a training run reads once into memory.

Reading needs only the standard library, NumPy and Pillow, so that it works on machines with nothing else.
"""

from .model import PackedSample, PackedSet, Text
from .reading import read_packed
from .repacking import repack
from .texts import texts_of
from .writing import Packed, pack

__all__ = ["Packed", "PackedSample", "PackedSet", "Text", "pack", "read_packed", "repack", "texts_of"]

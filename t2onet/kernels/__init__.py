"""Kernels: compiled versions of the formulas for full resolution, and the planner's inner loops.

Importing this package imports Numba, so import it only where the work justifies that. Kernels release the
GIL, so that threads run them in parallel.
"""

from .colour import measure_lab
from .light import decode_tile, encode_tile
from .operations import (
    GEOMETRY_KERNELS,
    KERNELS,
    load_integers,
    load_levels,
    load_words,
    map_words,
    split_words,
    store_integers,
    store_words,
)
from .places import weigh_tones

__all__ = [
    "GEOMETRY_KERNELS",
    "KERNELS",
    "decode_tile",
    "encode_tile",
    "load_integers",
    "load_levels",
    "load_words",
    "map_words",
    "measure_lab",
    "split_words",
    "store_integers",
    "store_words",
    "weigh_tones",
]

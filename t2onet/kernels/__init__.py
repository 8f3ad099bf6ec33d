"""Compiled code: twins of the formulas for full resolution, and the planner's inner loops.

Importing this room imports Numba, so it is imported where the work is worth that. Kernels release the GIL, so
that threads run them side by side.
"""

from .twins import KERNELS, load_integers, load_levels, store_integers

__all__ = ["KERNELS", "load_integers", "load_levels", "store_integers"]

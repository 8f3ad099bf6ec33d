"""Where a step may work, and the pixels that stand for it.

A place is a mask candidate over the working picture. Steps are solved and compared on a sample of its pixels,
each amid the neighbours that operations look at, so a large photo costs little more than a small one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .path import Picture
from .segments import Region, fitted

SAMPLE = 4096
"""Pixels that stand for a place."""
_RANKING_SIDE = 200
"""Short side, in pixels, at which places are compared with what changed."""

_SPANS = 0.6
"""Of a side of the picture: a mask with its middle four fifths spread further has no place along it."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some pixels of a picture (H, W), each in the middle of a square of its neighbours.

    `rows` and `columns` are (D, D K): K squares of D = 2 reach + 1 pixels, side by side. An operation that
    looks no further than `reach` finds around each middle what it finds in the picture.
    """

    rows: np.ndarray
    columns: np.ndarray
    reach: int

    @classmethod
    def inside(cls, region: Region, reach: int, size: int = SAMPLE) -> Sample:
        """At most about `size` pixels, spread evenly over a mask and without a pattern."""
        found = np.flatnonzero(region)
        if found.size > size:
            jittered = np.arange(size) + np.random.default_rng(0).random(size)
            found = found[(jittered * (found.size / size)).astype(int)]
        height, width = region.shape
        rows, columns = np.divmod(found, width)
        aside = np.arange(-reach, reach + 1)
        across = (columns[:, None] + aside).reshape(-1)
        down = np.repeat(rows, aside.size) + aside[:, None]
        return cls(
            np.clip(down, 0, height - 1), np.clip(np.broadcast_to(across, down.shape), 0, width - 1), reach
        )

    def of(self, picture: Picture) -> Picture:
        """(..., D, D K) of a picture or mask (..., H, W)."""
        return np.ascontiguousarray(picture[..., self.rows, self.columns])

    @cached_property
    def middle(self) -> Region:
        """(D, D K): which of its pixels are in the middle."""
        middle = np.zeros(self.rows.shape, bool)
        self.middles(middle)[...] = True
        return middle

    def middles(self, squares: np.ndarray) -> np.ndarray:
        """(..., R, K) of R rows of squares (..., R D, D K)."""
        side = 2 * self.reach + 1
        return squares[..., self.reach :: side, self.reach :: side]


@dataclass(frozen=True, eq=False)
class Place:
    """A candidate: its mask as given (None: everywhere), over a working picture (H, W)."""

    region: Region | None
    shape: tuple[int, int]

    @cached_property
    def inside(self) -> Region:
        """(H, W)."""
        return np.ones(self.shape, bool) if self.region is None else fitted(self.region, *self.shape)

    @cached_property
    def small(self) -> Region:
        """The same, thinned out."""
        return thinned(self.inside) if self.region is None else fitted(self.region, *_thin(self.shape))

    @cached_property
    def box(self) -> tuple[slice, slice]:
        """Rows and columns of the mask and, for operations that look aside, one more on each side."""
        rows, columns = np.flatnonzero(self.inside.any(axis=1)), np.flatnonzero(self.inside.any(axis=0))
        return (
            slice(max(0, rows[0] - 1), rows[-1] + 2),
            slice(max(0, columns[0] - 1), columns[-1] + 2),
        )

    @cached_property
    def area(self) -> float:
        """Share of the picture."""
        return float(self.inside.mean())

    @cached_property
    def sample(self) -> Sample:
        """Pixels that stand for it, with the neighbours next to them."""
        return Sample.inside(self.inside, reach=1)


def thinned(region: Region) -> Region:
    """Every so many rows and columns of a mask (H, W), enough to compare it with others."""
    stride = _stride(region.shape)
    return region[::stride, ::stride]


def _thin(shape: tuple[int, int]) -> tuple[int, int]:
    stride = _stride(shape)
    return -(-shape[0] // stride), -(-shape[1] // stride)


def _stride(shape: tuple[int, ...]) -> int:
    return max(1, min(shape) // _RANKING_SIDE)


def whereabouts(region: Region | None) -> str:
    """How much of the picture a mask covers and roughly where: "12 % of the picture, upper left"."""
    if region is None:
        return "everywhere"
    share = 100 * region.mean()
    size = f"{share:.0f} %" if share >= 1 else "less than 1 %"
    return f"{size} of the picture, {_corner(region)}"


def _corner(region: Region) -> str:
    vertical = _third(region.sum(axis=1), ("upper", "", "lower"))
    horizontal = _third(region.sum(axis=0), ("left", "", "right"))
    if vertical and horizontal:
        return f"{vertical} {horizontal}"
    if vertical is None and horizontal is None:
        return "all over"
    return {"upper": "top", "lower": "bottom"}.get(vertical or "", horizontal or "centre")


def _third(amounts: np.ndarray, names: tuple[str, str, str]) -> str | None:
    """Which third of an axis the middle of a mask is in; None where the mask spans most of the axis."""
    shares = np.cumsum(amounts) / amounts.sum()
    first, middle, last = np.searchsorted(shares, (0.1, 0.5, 0.9)) / amounts.size
    return None if last - first > _SPANS else names[min(int(3 * middle), 2)]

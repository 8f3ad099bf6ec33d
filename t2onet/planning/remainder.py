"""Say what the difference that a plan leaves looks like: a vignette, an edit of one part, detail or noise."""

from __future__ import annotations

import numpy as np

from .pictures import Picture, average_squares

_VISIBLE = 0.004
"""Mean difference below which nothing is said: one level of 255."""
_RADIAL_SHARE = 0.35
"""Share of the variance of smooth differences that distance from the centre must explain."""
_BLOCKS = 12
"""Blocks a side on which differences are smooth."""
_LOCAL_BLOCKS, _LOCAL_SHARE = 0.12, 0.5
"""A difference is local if this share of the blocks holds this share of it."""
_DETAIL_SHARE = 0.8
"""Share of a difference that averaging over blocks must cancel to call it fine detail."""

_CLARITY_RADIUS = 0.03
"""Radius of the squares around which clarity raises contrast, as a share of the short side."""
_SAME_DETAIL = 0.4
"""Correlation with the detail of the picture from which a difference is more or less of that detail."""


def describe_remainder(result: Picture, target: Picture) -> str:
    """What remains between two pictures (3, H, W), in words; empty if invisible or of no clear kind."""
    if np.abs(target - result).mean() < _VISIBLE or min(result.shape[1:]) < _BLOCKS:
        return ""
    difference = (target - result).mean(axis=0)
    blocks = _average_blocks(difference)
    if measure_radial_share(blocks) > _RADIAL_SHARE:
        return "what remains is radial: looks like a vignette"
    sizes = np.sort(_average_blocks(np.abs(target - result).mean(axis=0)).reshape(-1))[::-1]
    if sizes[: round(_LOCAL_BLOCKS * sizes.size)].sum() > _LOCAL_SHARE * sizes.sum():
        return "what remains is in one part of the picture: looks like a local edit"
    if np.abs(blocks).mean() < (1 - _DETAIL_SHARE) * np.abs(difference).mean():
        return f"what remains is fine detail: looks like {_name_detail(result.mean(axis=0), difference)}"
    return ""


def _name_detail(grey: np.ndarray, difference: np.ndarray) -> str:
    """What changed detail (H, W) so: more or less of what is there, or something of its own."""
    wide = max(round(min(grey.shape) * _CLARITY_RADIUS), 2)
    kinds = {("sharpening", "blur or noise reduction"): 1, ("clarity", "less clarity"): wide}
    shares = {names: _correlate(grey - average_squares(grey, r), difference) for names, r in kinds.items()}
    names, share = max(shares.items(), key=lambda item: abs(item[1]))
    return names[share < 0] if abs(share) > _SAME_DETAIL else "noise or grain"


def _correlate(one: np.ndarray, other: np.ndarray) -> float:
    deviations = float(one.std() * other.std())
    return float(((one - one.mean()) * (other - other.mean())).mean()) / max(deviations, 1e-12)


def measure_radial_share(differences: np.ndarray) -> float:
    """Share of the variance of (h, w) that the squared distance from the centre explains."""
    rows, columns = (np.linspace(-1, 1, size) ** 2 for size in differences.shape)
    distance = rows[:, None] + columns
    deviations = differences.std() * distance.std()
    if deviations < 1e-9:
        return 0.0
    covariance = ((differences - differences.mean()) * (distance - distance.mean())).mean()
    return float((covariance / deviations) ** 2)


def _average_blocks(picture: np.ndarray) -> np.ndarray:
    """(B, B): means of the blocks of a picture (H, W)."""
    rows = [part.mean(axis=0) for part in np.array_split(picture, _BLOCKS, axis=0)]
    return np.array([[cell.mean() for cell in np.array_split(row, _BLOCKS)] for row in rows])

"""How far two pictures are apart: mean absolute difference, PSNR, SSIM and delta-E.

Pictures are (3, H, W) float in [0, 1], NumPy. SSIM, with the Gaussian window of the original paper, and
delta-E are scikit-image's (the extra `local`).
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import DataError
from .colour import lab


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Mean absolute difference, the L1 of the tables."""
    return float(np.abs(one - other).mean(dtype=np.float64))


def psnr(one: np.ndarray, other: np.ndarray) -> float:
    """Peak signal-to-noise ratio in decibels; infinite for equal pictures."""
    squared = float(((one - other) ** 2).mean(dtype=np.float64))
    return math.inf if squared == 0 else -10 * math.log10(squared)


def ssim(one: np.ndarray, other: np.ndarray) -> float:
    """Structural similarity, averaged over the channels."""
    try:
        from skimage.metrics import structural_similarity
    except ImportError:
        raise DataError("SSIM needs scikit-image: pip install 't2onet[local]'") from None
    similarity = structural_similarity(  # type: ignore[no-untyped-call]
        one,
        other,
        channel_axis=0,
        data_range=1.0,
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
    )
    return float(similarity)


def delta_e(one: np.ndarray, other: np.ndarray) -> float:
    """CIEDE2000, the mean over pixels: how different the colours look; about 1 can just be told apart."""
    try:
        from skimage.color import deltaE_ciede2000
    except ImportError:
        raise DataError("delta-E needs scikit-image: pip install 't2onet[local]'") from None
    labs = (lab(picture.astype(np.float64)) for picture in (one, other))
    return float(deltaE_ciede2000(*labs, channel_axis=0).mean())  # type: ignore[no-untyped-call]


def variety(pictures: list[np.ndarray]) -> float:
    """The variance over answers to one photo, averaged over pixels and channels: the paper's sigma."""
    return float(np.stack(pictures).var(axis=0, dtype=np.float64).mean())

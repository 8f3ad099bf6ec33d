"""A style: what was learned from many pairs of one retoucher, and the retouch it predicts for a new photo.

What a retoucher did to a photo is a few numbers for each channel: a piecewise linear curve of every channel
is added to every channel. Such a change is linear in its numbers, so changes can be averaged and fitted by
least squares; it can express exposure, contrast, curves, white balance, saturation and black and white. A
style is the mean change of its pairs and what each pair adds to it, the more the nearer its photo is to the
new one (kernel ridge regression). Photos are compared by statistics of their tones, colours and texture.
`learning.py` makes styles.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import RequestError
from ..image import read_regular_file, write_atomically
from ..image.colour import srgb_to_lab
from ..operations.paper import CURVE_PIECES

STYLE_SUFFIX = ".style"
BASIS_SIZE = 3 * (CURVE_PIECES + 1)
"""Numbers of a change for each channel that it adds to."""
_TONES, _BINS, _CELLS = 17, 16, 4
"""Quantiles of a channel, bins of a histogram of L*, a* or b*, and cells a side of the coarse picture."""
_LOG_OFFSET = 0.03
"""Added to tones before taking their logarithm, which separates dark tones."""
_SCALES = {"tones": 0.43, "shadows": 0.152, "coarse": 0.00208, "histograms": 0.255, "texture": 0.245}
"""Of each kind of statistics: the root of its weight over its median squared distance (LOG.md)."""
POINT_SIZE = 2 * 3 * _TONES + 3 * _CELLS**2 + 3 * _BINS + 6
_VERSION = 1
_MAX_BYTES = 64 << 20
"""The largest style that is read; 5,000 pairs take 6 MB."""
_NAMES = ("version", "pairs", "width", "mean", "points", "answers")


def make_basis(picture: np.ndarray) -> np.ndarray:
    """(..., 3) in [0, 1] -> (..., BASIS_SIZE): how near each value is to each knot of the curves."""
    knots = np.arange(CURVE_PIECES + 1, dtype=np.float32)
    near = np.maximum(0, 1 - np.abs(picture[..., None] * CURVE_PIECES - knots))
    basis: np.ndarray = near.reshape(*picture.shape[:-1], BASIS_SIZE).astype(np.float32)
    return basis


def measure_squared_distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N, size), (M, size) -> (N, M)."""
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    return np.asarray(np.maximum(squares, 0))


def apply_change(picture: np.ndarray, change: np.ndarray) -> np.ndarray:
    """A picture (3, H, W) float32 after a change (BASIS_SIZE, 3)."""
    pixels = picture.transpose(1, 2, 0)
    after = np.clip(pixels + make_basis(pixels) @ change.astype(np.float32), 0, 1)
    return np.ascontiguousarray(after.transpose(2, 0, 1), np.float32)


def describe_photo(picture: np.ndarray) -> np.ndarray:
    """(POINT_SIZE,) float32: a picture (3, side, side) as a point; similar photos are near each other.

    The side is a multiple of 16, and at least 32.
    """
    lab = srgb_to_lab(picture.astype(float))
    tones = np.quantile(picture.reshape(3, -1), np.linspace(0, 1, _TONES), axis=1).T.astype(float)
    ranges = ((0, 100), (-60, 60), (-60, 60))
    counts = [np.histogram(one, _BINS, between)[0] for one, between in zip(lab, ranges, strict=True)]
    kinds = {
        "tones": tones,
        "shadows": np.log(tones + _LOG_OFFSET),
        "coarse": _average_blocks(lab, lab.shape[1] // _CELLS),
        "histograms": np.sqrt(np.array(counts) / lab[0].size),
        "texture": np.array([_measure_texture(lab[:1], size) for size in (1, 4, 16)]),
    }
    return np.concatenate(
        [scale * kinds[kind].reshape(-1) for kind, scale in _SCALES.items()], dtype=np.float32
    )


def _average_blocks(picture: np.ndarray, size: int) -> np.ndarray:
    """Means of squares of `size` pixels of a picture (C, H, W)."""
    channels, height, width = picture.shape
    means: np.ndarray = picture.reshape(channels, height // size, size, width // size, size).mean((2, 4))
    return means


def _measure_texture(lightness: np.ndarray, size: int) -> list[float]:
    """How much neighbouring squares of `size` pixels of (1, H, W) differ, down and across, as logarithms."""
    blocks = _average_blocks(lightness, size)[0]
    return [float(np.log(np.abs(np.diff(blocks, axis=axis)).mean() + 0.2)) for axis in (0, 1)]


@dataclass(frozen=True)
class Style:
    """The mean change (BASIS_SIZE, 3), and what each pair adds to it.

    `points` (N, size) are the photos of the pairs, `answers` (N, BASIS_SIZE, 3) what they add, `width` how
    fast that falls with distance. A style of one look has none. It was learned from so many `pairs`.
    """

    mean: np.ndarray
    points: np.ndarray
    answers: np.ndarray
    width: float
    pairs: int

    def predict(self, point: np.ndarray) -> np.ndarray:
        """(BASIS_SIZE, 3): the change of a photo at a point."""
        if not len(self.points):
            return self.mean
        nearness = np.exp(-self.width * measure_squared_distances(point[None].astype(float), self.points))
        change: np.ndarray = self.mean + np.tensordot(nearness[0], self.answers, 1)
        return change

    def retouch(self, picture: np.ndarray) -> np.ndarray:
        """A picture (3, side, side) float32 as the style would have it."""
        return apply_change(picture, self.predict(describe_photo(picture)))

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the style to a file, which holds no pictures."""
        stream = io.BytesIO()
        np.savez_compressed(
            stream,
            version=_VERSION,
            pairs=self.pairs,
            width=self.width,
            mean=self.mean.astype(np.float32),
            points=self.points.astype(np.float16),
            answers=self.answers.astype(np.float32),
        )
        write_atomically(path, stream.getvalue(), overwrite=overwrite)


def load_style_file(path: str | Path) -> Style:
    """Read a file of `t2o learn`."""
    path = Path(path)
    try:
        data = read_regular_file(path, _MAX_BYTES)
    except FileNotFoundError:
        raise RequestError(f"{path} does not exist; make a style by t2o learn PAIRS -o {path.name}") from None
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror or error}); give another file") from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > _MAX_BYTES:
                raise ValueError("too large")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            values = {name: arrays[name] for name in _NAMES}
        version = int(values["version"])
        style = _check_style(values) if version == _VERSION else None
    except Exception:  # zipfile, its decompressors and NumPy raise anything on bad bytes
        raise RequestError(
            f"{path} is not a style, or is damaged; make one by t2o learn PAIRS -o "
            f"{path.with_suffix(STYLE_SUFFIX).name}"
        ) from None
    if style is None:
        raise RequestError(
            f"{path} was learned by another release, which describes photos differently; learn it again by "
            f"t2o learn PAIRS -o {path.name} --overwrite"
        )
    return style


def _check_style(values: dict[str, np.ndarray]) -> Style:
    """The style in a file; ValueError where its arrays do not fit together."""
    mean, points, answers = (values[name].astype(float) for name in ("mean", "points", "answers"))
    fits = mean.shape == (BASIS_SIZE, 3) and answers.shape == (len(points), BASIS_SIZE, 3)
    if (
        not fits
        or points.shape != (len(answers), POINT_SIZE)
        or not all(np.isfinite(one).all() for one in (mean, points, answers))
    ):
        raise ValueError("arrays of other shapes")
    width = float(values["width"])
    if not 0 <= width < np.inf:
        raise ValueError("no width")
    return Style(mean, points, answers, width, int(values["pairs"]))

"""Learn a style from pairs of one retoucher, without torch.

Each pair becomes a sample: the photo as a point, and a few hundred pixels before and after. From the pixels
follow the change of each pair (see styles.py), the mean change, and by kernel ridge regression what nearness
to each photo adds to it. How wide and how strong that is, down to nothing, is chosen by what predicts pairs
that were held out. A journal of samples lets a run that was killed go on.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import Cancelled, DataError, OutputError, T2OError
from ..image import image_from_array, read_regular_file
from ..image.codecs import count_cores
from ..image.pixels import reuse_memory
from ..operations.paper import CURVE_PIECES
from ..planning.pictures import PhotoPair, check_same_scene, open_photo_pair
from .policy import THUMBNAIL_SIDE, make_thumbnail
from .styles import (
    BASIS_SIZE,
    POINT_SIZE,
    Style,
    describe_photo,
    make_basis,
    measure_squared_distances,
)

MIN_PAIRS, MAX_PAIRS = 5, 5000
"""Fewest and most pairs; the matrix of all distances takes .2 GB for the most."""
FEW_PAIRS = 20
"""Below, what is predicted still depends much on which pairs there are."""
_STRIDE = 4
"""Every so many rows and columns of a thumbnail are sampled."""
_SAMPLED = (THUMBNAIL_SIDE // _STRIDE) ** 2
_CHECKED = slice(None, None, 4)
"""The sampled pixels on which predictions are compared."""
_BATCH = 200
"""Pairs whose pixels are in memory as numbers at a time."""

_RIDGE, _ROUGHNESS = 1e-3, 3e-3
"""Weights that pull a change to nothing, and its curves straight, where a photo has few tones."""
_PULL = 0.1
"""Share of those weights that pulls the change of one photo to the mean change."""
_WIDTHS = (0.15, 0.5, 1.0)
_RIDGES = (0.1, 0.3, 1.0, 3.0, np.inf)
"""Tried in turn; with an infinite ridge every photo is given the mean change."""
_MAX_FOLDS, _MAX_CHECKED_PAIRS = 10, 1000
"""Parts of the pairs that are held out in turn, and the most pairs on which that is done."""
_HARDLY_BETTER, _ALIKE = 0.9, 0.97
"""Shares of a difference from which on a prediction is hardly better, or as good."""


class PairFiles(NamedTuple):
    """A photo and its edit."""

    name: str
    before: Path
    after: Path


@dataclass(frozen=True)
class PairSample:
    """What is kept of a pair: the photo as a point, and pixels (N, 3) uint8 of both pictures."""

    point: np.ndarray
    before: np.ndarray
    after: np.ndarray


class _Failure(NamedTuple):
    """Why a pair has no sample, and whether the system failed to read it."""

    reason: str
    may_be_readable_later: bool


@dataclass(frozen=True)
class HeldOut:
    """Mean differences in [0, 1] of held-out edits from what is predicted for them.

    `none` predicts the photo as it is, `mean` the mean change of the other pairs, `style` the style.
    """

    none: float
    mean: float
    style: float

    @property
    def is_contradictory(self) -> bool:
        """Whether a style predicts edits hardly better than no change at all."""
        return self.style > _HARDLY_BETTER * self.none

    @property
    def is_arbitrary(self) -> bool:
        """Whether edits differ much from one mean change, in ways that their photos do not explain."""
        return self.style > _ALIKE * self.mean and self.mean > _HARDLY_BETTER / 2 * self.none


@dataclass(frozen=True)
class LearnedStyle:
    """A style, how well it predicts held-out pairs, and reasons why pairs were left out, by name.

    `may_be_readable_later`: some were left out because the system failed to read them, not for what they are.
    """

    style: Style
    held_out: HeldOut
    left_out: dict[str, str] = field(default_factory=dict)
    may_be_readable_later: bool = False


def learn_style(
    pairs: Sequence[PairFiles],
    *,
    journal: Path | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> LearnedStyle:
    """Learn from pairs of files; those that cannot be read, or show different photos, are left out.

    `journal` keeps what was measured for a later run with the same files; the caller removes it. Without a
    sample in it, it is removed at once.
    """
    if len(pairs) > MAX_PAIRS:
        raise DataError(
            f"{len(pairs)} pairs were given, and each is compared with each, which takes too long for more "
            f"than {MAX_PAIRS}; give fewer"
        )
    left_out: dict[str, str] = {}
    samples = []
    may_be_readable_later = False
    with _open_journal(journal) as known:
        for pair, sample in _measure_pairs(pairs, known, jobs or count_cores(), progress):
            if isinstance(sample, PairSample):
                samples.append(sample)
            else:
                left_out[pair.name] = sample.reason
                may_be_readable_later |= sample.may_be_readable_later
    if len(samples) < MIN_PAIRS:
        reasons = f" ({next(iter(left_out.values()))})" if left_out else ""
        raise DataError(
            f"a style needs at least {MIN_PAIRS} pairs, and {len(samples)} of {len(pairs)} can be used"
            f"{reasons}; give more pairs of photos and their edits"
        )
    style, held_out = fit_style(samples)
    return LearnedStyle(style, held_out, left_out, may_be_readable_later)


def _may_be_readable_later(error: BaseException | None) -> bool:
    """Whether the system failed to read a file, such as on a drive that was unplugged.

    Decoders raise an OSError too, without a number, for files that are damaged.
    """
    if isinstance(error, OSError):
        return error.errno is not None
    return error is not None and _may_be_readable_later(error.__cause__)


# ---- samples


def measure_pair(files: PairFiles) -> PairSample:
    """Open a pair and measure it; PlanError if the photos are framed differently or show different scenes."""
    pair = open_photo_pair(files.before, files.after, same_scene=False)
    before, after = (make_thumbnail(photo, THUMBNAIL_SIDE) for photo in (pair.before, pair.after))
    small = ((255 * one.transpose(1, 2, 0) + 0.5).astype(np.uint8) for one in (before, after))
    check_same_scene(
        PhotoPair(*map(image_from_array, small))
    )  # on whole photos it would take most of the time
    return sample_pair(before, after)


def sample_pair(before: np.ndarray, after: np.ndarray) -> PairSample:
    """The sample of two thumbnails (3, side, side)."""
    inner = slice(_STRIDE // 2, None, _STRIDE)
    first, second = (
        (255 * one[:, inner, inner].reshape(3, -1).T + 0.5).astype(np.uint8) for one in (before, after)
    )
    return PairSample(describe_photo(before), first, second)


def _measure_pairs(
    pairs: Sequence[PairFiles], known: Journal, jobs: int, progress: Callable[[int, int], None]
) -> Iterator[tuple[PairFiles, PairSample | _Failure]]:
    """Each pair with its sample or the reason why it has none, in order, a few at a time."""
    stop = threading.Event()

    def measure(pair: PairFiles) -> PairSample | _Failure:
        if stop.is_set():
            raise Cancelled("stopped")
        try:
            key = _identify_pair(pair)
            if (sample := known.samples.get(key)) is None:
                sample = measure_pair(pair)
                known.add(key, sample)
        except OutputError:
            raise
        except T2OError as error:
            return _Failure(str(error), _may_be_readable_later(error))
        except OSError as error:
            return _Failure(f"{error.filename} cannot be read ({error.strerror})", True)
        return sample

    with reuse_memory(), ThreadPoolExecutor(jobs) as pool:
        try:
            for number, (pair, sample) in enumerate(zip(pairs, pool.map(measure, pairs), strict=True)):
                yield pair, sample
                progress(number + 1, len(pairs))
        finally:
            stop.set()


# ---- the journal


_KEY_SIZE, _HEAD_SIZE = 16, 20
"""Bytes of a record before its data: a key, and a CRC-32 of key and data."""
_POINT_BYTES, _PIXEL_BYTES = 4 * POINT_SIZE, 3 * _SAMPLED
_RECORD_SIZE = _HEAD_SIZE + _POINT_BYTES + 2 * _PIXEL_BYTES
_JOURNAL_HEADER = b"journal of t2o learn\n"
"""What the file begins with: any other file of that name is left alone."""
_JOURNAL_VERSION = 1
"""To be raised when samples are measured differently."""


def _identify_pair(pair: PairFiles) -> bytes:
    """A key that changes when one of the files does."""
    states = [(str(path.resolve()), path.stat()) for path in (pair.before, pair.after)]
    told = [_JOURNAL_VERSION, *((name, state.st_size, state.st_mtime_ns) for name, state in states)]
    return hashlib.sha256(repr(told).encode("utf-8", "surrogateescape")).digest()[:_KEY_SIZE]


class Journal:
    """Samples by key, and the file to which new ones are added: records of one size, each with a checksum.

    They follow a header.
    """

    def __init__(self, file: int | None = None) -> None:
        self.samples: dict[bytes, PairSample] = {}
        self._file = file

    def add(self, key: bytes, sample: PairSample) -> None:
        """Append a sample to the file, in one write."""
        if self._file is None:
            return
        body = sample.point.astype("<f4").tobytes() + sample.before.tobytes() + sample.after.tobytes()
        _write_to_journal(self._file, key + _check_sum(key, body) + body)

    def read(self, data: bytes) -> int:
        """Take over all whole records after the header; returns where they end."""
        begin = len(_JOURNAL_HEADER)
        for start in range(begin, len(data) - _RECORD_SIZE + 1, _RECORD_SIZE):
            key, body = data[start : start + _KEY_SIZE], data[start + _HEAD_SIZE : start + _RECORD_SIZE]
            if _check_sum(key, body) != data[start + _KEY_SIZE : start + _HEAD_SIZE]:
                return start
            point = np.frombuffer(body, "<f4", POINT_SIZE)
            pixels = np.frombuffer(body, np.uint8, 2 * _PIXEL_BYTES, _POINT_BYTES).reshape(2, -1, 3)
            self.samples[key] = PairSample(point, pixels[0], pixels[1])
        return begin + (len(data) - begin) // _RECORD_SIZE * _RECORD_SIZE


def _write_to_journal(file: int, data: bytes) -> None:
    """Append in one write, as several threads do; OutputError if not all of it was written."""
    try:
        written = os.write(file, data)
    except OSError as error:
        raise OutputError(f"the journal of pairs cannot be written: {error.strerror}") from None
    if written < len(data):
        raise OutputError("the journal of pairs cannot be written: the disk is full; free some space")


def _check_sum(key: bytes, body: bytes) -> bytes:
    return zlib.crc32(key + body).to_bytes(_HEAD_SIZE - _KEY_SIZE, "little")


@contextmanager
def _open_journal(path: Path | None) -> Iterator[Journal]:
    """A journal in a file, without what a killed run left half-written; without a file, it is empty.

    OutputError for a file that is something else.
    """
    if path is None:
        yield Journal()
        return
    try:
        data = read_regular_file(path) if path.exists() else b""
        if data[: len(_JOURNAL_HEADER)] != _JOURNAL_HEADER[: len(data)]:
            raise OutputError(f"{path} is not a journal of t2o learn; move it away, or give another name")
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise OutputError(f"{path} cannot be used as a journal: {error.strerror or error}") from None
    try:
        journal = Journal(file)
        if len(data) < len(_JOURNAL_HEADER):
            os.ftruncate(file, 0)
            _write_to_journal(file, _JOURNAL_HEADER)
        else:
            os.ftruncate(file, journal.read(data))
        yield journal
    finally:
        empty = os.fstat(file).st_size <= len(_JOURNAL_HEADER)
        os.close(file)
        if empty:
            path.unlink(missing_ok=True)


# ---- the fit


def fit_style(samples: Sequence[PairSample]) -> tuple[Style, HeldOut]:
    """Fit a style to samples, and measure how well such a fit predicts those that it does not know."""
    fit = _PairsFit.measure(samples)
    width, ridge, held_out = _choose_setting(fit)
    everything = np.arange(len(samples))
    mean = fit.find_mean(everything)
    points, answers = fit.points[:0], np.zeros((0, BASIS_SIZE, 3))
    if ridge < np.inf:
        points = fit.points
        own = fit.find_changes(everything, mean) - mean
        answers = _solve_ridge(np.exp(-width * fit.distances), own, ridge)
    return Style(mean, points, answers, width, len(samples)), held_out


def _solve_ridge(kernel: np.ndarray, values: np.ndarray, ridge: float) -> np.ndarray:
    damped = kernel + ridge * np.eye(len(kernel))
    return np.asarray(np.linalg.solve(damped, values.reshape(len(values), -1)).reshape(values.shape))


def _make_pull() -> np.ndarray:
    """(BASIS_SIZE, BASIS_SIZE): the quadratic form that large and rough changes cost."""
    bends = np.diff(np.eye(CURVE_PIECES + 1), 2, axis=0)
    return _RIDGE * np.eye(BASIS_SIZE) + _ROUGHNESS * np.kron(np.eye(3), bends.T @ bends)


_PULL_FORM = _make_pull()


@dataclass(frozen=True)
class _PairsFit:
    """Samples, and the normal equations of their changes: `grams` times a change gives `moments`."""

    samples: Sequence[PairSample]
    points: np.ndarray
    distances: np.ndarray
    grams: np.ndarray
    moments: np.ndarray

    @classmethod
    def measure(cls, samples: Sequence[PairSample]) -> _PairsFit:
        # Rounded as the file will have them.
        points = np.stack([sample.point for sample in samples]).astype(np.float16).astype(float)
        grams = np.empty((len(samples), BASIS_SIZE, BASIS_SIZE))
        moments = np.empty((len(samples), BASIS_SIZE, 3))
        for number, sample in enumerate(samples):
            before, after = _to_values(sample)
            basis = make_basis(before)
            grams[number] = basis.T @ basis / len(basis)
            moments[number] = basis.T @ (after - before) / len(basis)
        return cls(samples, points, measure_squared_distances(points, points), grams, moments)

    def find_mean(self, rows: np.ndarray) -> np.ndarray:
        """(BASIS_SIZE, 3): the change that fits all of these pairs best."""
        gram, moment = self.grams[rows].mean(0), self.moments[rows].mean(0)
        return np.asarray(np.linalg.solve(gram + _PULL_FORM, moment))

    def find_changes(self, rows: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """(N, BASIS_SIZE, 3): the change of each of these pairs, the mean where a photo has no such tones."""
        pull = _PULL * _PULL_FORM
        return np.asarray(np.linalg.solve(self.grams[rows] + pull, self.moments[rows] + pull @ mean))

    def measure_errors(self, rows: np.ndarray, changes: np.ndarray) -> np.ndarray:
        """(N,): the mean difference of each of these pairs after its change (BASIS_SIZE, 3)."""
        errors = []
        for at in range(0, len(rows), _BATCH):
            pairs = [_to_values(self.samples[row], _CHECKED) for row in rows[at : at + _BATCH]]
            before, after = (np.stack(side) for side in zip(*pairs, strict=True))
            moved = before + make_basis(before) @ changes[at : at + _BATCH].astype(np.float32)
            errors.append(np.abs(np.clip(moved, 0, 1) - after).mean((1, 2)))
        return np.concatenate(errors)


def _to_values(sample: PairSample, chosen: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    before, after = (pixels[chosen].astype(np.float32) / 255 for pixels in (sample.before, sample.after))
    return before, after


def _choose_setting(fit: _PairsFit) -> tuple[float, float, HeldOut]:
    """The width and the ridge that predict held-out pairs best, and how well.

    Each part of the pairs is measured with the setting that is best for the other parts.
    """
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(fit.samples))[:_MAX_CHECKED_PAIRS]
    folds = np.array_split(rows, min(_MAX_FOLDS, len(rows)))
    settings = [(width, ridge) for ridge in _RIDGES for width in _WIDTHS if ridge < np.inf]
    settings.append((0.0, np.inf))
    errors = [_check_fold(fit, fold, np.setdiff1d(rows, fold), settings) for fold in folds]
    means = np.array([error.mean(1) for error in errors])
    sizes = np.array([len(fold) for fold in folds])
    others = sizes @ means - sizes[:, None] * means
    style = sum(float(error[np.argmin(other)].sum()) for error, other in zip(errors, others, strict=True))
    no_change = np.zeros((len(rows), BASIS_SIZE, 3))
    best = sizes @ means
    held_out = HeldOut(
        float(fit.measure_errors(rows, no_change).mean()), float(best[-1] / len(rows)), style / len(rows)
    )
    return *settings[int(np.argmin(best))], held_out


def _check_fold(
    fit: _PairsFit, fold: np.ndarray, rest: np.ndarray, settings: Sequence[tuple[float, float]]
) -> np.ndarray:
    """(settings, pairs of the fold): the error of each pair as the rest predicts it."""
    mean = fit.find_mean(rest)
    own = fit.find_changes(rest, mean) - mean
    errors = []
    for width, ridge in settings:
        changes = np.broadcast_to(mean, (len(fold), *mean.shape))
        if ridge < np.inf:
            answers = _solve_ridge(np.exp(-width * fit.distances[np.ix_(rest, rest)]), own, ridge)
            changes = mean + np.tensordot(np.exp(-width * fit.distances[np.ix_(fold, rest)]), answers, 1)
        errors.append(fit.measure_errors(fold, changes))
    return np.array(errors)

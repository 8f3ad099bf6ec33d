"""A segmentation network of the user's own, in the ONNX format, as a segmenter.

ONNX Runtime is loaded at the first use, and runs on the processor. The network takes one
picture (1, 3, H, W) of float32 RGB; its first output is read by what it holds:

- integers (h, w), perhaps with leading ones: a label for each pixel;
- booleans, or numbers within [0, 1] that do not add up to one over K, of shape (K, h, w), perhaps with a
  leading one: K masks, which may overlap, true from one half on;
- any other numbers of that shape: scores of K classes, of which each pixel takes the highest.

Labels become connected regions, and each label as a whole. Nothing is known of what a class means.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import PIL.Image

from ..errors import PlanError
from .path import Picture
from .segments import Region, connected, distinct, large

Normalisation = Literal["imagenet", "unit"]
"""What a network takes: channels with ImageNet's mean and deviation taken out, or plain values in [0, 1]."""

_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_SHORT_SIDE = 512
"""Of the picture, in pixels, where the network takes any size."""
_MULTIPLE = 32
"""Sides are multiples of this then, since most networks halve them five times."""
_NOT_ONE = 0.01
"""Scores of a pixel that add up to one within this are shares of classes."""


class Network:
    """A loaded network; called with a picture (3, H, W) it answers with masks at its own resolution."""

    def __init__(self, path: str | Path, normalise: Normalisation = "imagenet") -> None:
        if normalise not in get_args(Normalisation):
            raise PlanError(
                f"there is no normalisation {normalise!r}; there are {', '.join(get_args(Normalisation))}"
            )
        self.path, self.normalise = Path(path), normalise
        self._session = _loaded(self.path)
        self._input, self._size = self._checked_input()

    def __call__(self, picture: Picture, /) -> list[Region]:
        return self._regions(self._answer(self._prepared(picture)))

    def _checked_input(self) -> tuple[str, tuple[int | None, int | None]]:
        """The name of the only input, and the height and width it asks for, None for any."""
        inputs = self._session.get_inputs()
        shapes = "; ".join(f"{one.name} {one.type} {list(one.shape)}" for one in inputs)
        fixed = [side if isinstance(side, int) else None for side in inputs[0].shape] if inputs else []
        fits = len(inputs) == 1 and len(fixed) == 4 and fixed[0] in (1, None) and fixed[1] in (3, None)
        if not fits or inputs[0].type != "tensor(float)":
            raise PlanError(
                f"{self.path} takes {shapes or 'nothing'}; a segmenter takes one picture, float32 of shape "
                "(1, 3, H, W)"
            )
        return inputs[0].name, (fixed[2], fixed[3])

    def _prepared(self, picture: Picture) -> np.ndarray:
        """(1, 3, H, W): stretched to the size the network asks for, and normalised."""
        height, width = (
            own or _rounded(side, min(picture.shape[1:]))
            for own, side in zip(self._size, picture.shape[1:], strict=True)
        )
        channels = np.stack([_resized(channel, height, width) for channel in picture])
        if self.normalise == "imagenet":
            mean, deviation = (np.array(v, np.float32)[:, None, None] for v in (_MEAN, _DEVIATION))
            channels = (channels - mean) / deviation
        return np.ascontiguousarray(channels[None], np.float32)

    def _answer(self, batch: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(self._session.run(None, {self._input: batch})[0])
        except Exception as error:  # ONNX Runtime has a class of its own for each kind of failure
            raise PlanError(
                f"{self.path} failed on a picture of {batch.shape[3]} x {batch.shape[2]} ({_brief(error)})"
            ) from None

    def _regions(self, answer: np.ndarray) -> list[Region]:
        if answer.dtype.kind in "iu" and answer.ndim >= 2 and answer.size == np.prod(answer.shape[-2:]):
            return _of_labels(answer.reshape(answer.shape[-2:]))
        scores = answer[0] if answer.ndim == 4 and len(answer) == 1 else answer
        if answer.dtype.kind not in "fb" or scores.ndim != 3 or 0 in scores.shape[1:]:
            raise PlanError(
                f"{self.path} answers with {answer.dtype} of shape {answer.shape}; a segmenter answers with "
                "scores or masks (1, K, h, w), or with integer labels (1, h, w)"
            )
        if not np.isfinite(scores).all():
            raise PlanError(f"{self.path} answers with values that are no numbers; try another normalisation")
        if _are_masks(scores):
            return distinct(large(list(scores >= 0.5)))
        if len(scores) == 1:
            raise PlanError(
                f"{self.path} answers with one mask of values beyond [0, 1]; end the network in a sigmoid"
            )
        return _of_labels(scores.argmax(axis=0))


def _are_masks(scores: np.ndarray) -> bool:
    """Whether scores (K, h, w) are probabilities of their own rather than of one class among K."""
    if not scores.size:
        return True
    within = scores.min() >= 0 and scores.max() <= 1
    shares = len(scores) > 1 and np.abs(scores.sum(axis=0) - 1).max() < _NOT_ONE
    return bool(within and not shares)


def _of_labels(labels: np.ndarray) -> list[Region]:
    """Each label as a whole and in its connected parts."""
    wholes = large([labels == label for label in np.unique(labels)])
    return distinct([part for whole in wholes for part in (whole, *connected(whole))])


def _rounded(side: int, short_side: int) -> int:
    return max(1, round(side * _SHORT_SIDE / short_side / _MULTIPLE)) * _MULTIPLE


def _resized(channel: np.ndarray, height: int, width: int) -> np.ndarray:
    picture = PIL.Image.fromarray(np.ascontiguousarray(channel))
    return np.asarray(picture.resize((width, height), PIL.Image.Resampling.BILINEAR))


def _loaded(path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise PlanError("a segmenter in ONNX needs ONNX Runtime: pip install onnxruntime") from None
    if not path.is_file():
        raise PlanError(f"{path} is no file; give a network in the ONNX format")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has a class of its own for each kind of failure
        raise PlanError(f"{path} cannot be loaded as an ONNX network ({_brief(error)})") from None


def _brief(error: Exception) -> str:
    """The first line of what ONNX Runtime says, which can be long."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__

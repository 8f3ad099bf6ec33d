"""The wheel, as a stranger gets it: pure, in an empty environment, from a folder it never writes to."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import EXAMPLES, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel and what it asks for; answers with its folder of commands."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    install = [commands / "python", "-m", "pip", "install", "--quiet", "--no-compile", wheel]
    subprocess.run(install, check=True)
    return commands


def test_the_wheel_is_pure_and_holds_only_the_package(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"t2onet"}
    assert {"t2onet/py.typed", "t2onet/__init__.pyi", "t2onet/recipe/looks.json"} <= set(names)


def test_it_edits_a_photo_without_writing_to_its_own_folder(environment: Path, tmp_path: Path) -> None:
    before = list_installed_files(environment)
    for photo, look in (("fig.jpg", "silver"), ("dandelion.jpg", "open-shadows")):  # formulas, kernels
        target = tmp_path / photo
        arguments = ["apply", EXAMPLES / "looks" / f"{look}.json", EXAMPLES / photo, "-o", target]
        caches = {"T2O_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
        subprocess.run(
            [environment / "t2o", *arguments], check=True, cwd=tmp_path, env={**os.environ, **caches}
        )
        edited, source = Image.open(target), Image.open(EXAMPLES / photo)
        assert edited.size == source.size
        small = [np.asarray(picture.reduce(8), int) for picture in (edited, source)]
        assert np.abs(small[0] - small[1]).mean() > 1
    assert list((tmp_path / "cache").rglob("*.nbc"))
    assert list_installed_files(environment) == before


def list_installed_files(environment: Path) -> set[Path]:
    return {
        path for path in environment.parent.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"
    }


def test_torch_is_not_asked_for(environment: Path) -> None:
    command = [environment / "python", "-m", "pip", "list", "--format", "freeze"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "torch" not in listed
    assert "scipy" not in listed

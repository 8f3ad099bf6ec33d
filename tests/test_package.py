"""The wheel, as a stranger gets it: pure, in an empty environment, from a folder it never writes to."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from t2onet.inference import MEMORY_FILE, WEIGHTS_FOLDER
from t2onet.language.reader import get_reader_file
from t2onet.options import READERS
from tests.conftest import EXAMPLES, ROOT
from tests.extras import find_requirements

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
    venv.create(folder)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", commands / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel], check=True)
    packages = packages_of(commands)
    (installed,) = distributions(path=[str(packages)])
    for name in find_requirements(installed.requires or ()):
        link_distribution(name, packages)
    return commands


def packages_of(commands: Path) -> Path:
    (packages,) = commands.parent.rglob("site-packages")
    return packages


def link_distribution(name: str, packages: Path) -> None:
    """Let an environment have a distribution that is installed here, much sooner than by installing it."""
    files = distribution(name).files or []
    for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
        (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))


def test_the_wheel_is_pure_and_holds_only_the_package(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"t2onet"}
    data = {"py.typed", "__init__.pyi", "recipe/looks.json", "data/phrases/frames.toml"}
    data |= {f"{WEIGHTS_FOLDER}/{name}" for name in (MEMORY_FILE, *map(get_reader_file, READERS))}
    data.add(f"{WEIGHTS_FOLDER}/reader-words.bin")  # the readers refer to it
    assert {f"t2onet/{name}" for name in data} <= set(names)
    only_for_training = {"data/judged.csv", "data/phrases/written.txt"}
    assert not {f"t2onet/{name}" for name in only_for_training} & set(names)


def test_it_edits_a_photo_without_writing_to_its_own_folder(environment: Path, tmp_path: Path) -> None:
    before = list_installed_files(environment)
    for photo, look in (("fig.jpg", "silver"), ("dandelion.jpg", "open-shadows")):  # formulas, kernels
        target = tmp_path / photo
        arguments = ["apply", EXAMPLES / "looks" / f"{look}.json", EXAMPLES / photo, "-o", target]
        told = {**os.environ, "T2O_CACHE_DIR": str(tmp_path / "cache")}
        subprocess.run([environment / "t2o", *arguments], check=True, cwd=tmp_path, env=told)
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
    listed = {one.name for one in distributions(path=[str(packages_of(environment))])}
    assert {"t2onet", "numba"} <= listed
    assert not {"torch", "scipy"} & listed

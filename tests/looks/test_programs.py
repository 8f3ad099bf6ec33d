"""Settings files for RawTherapee and darktable: their text, and what the programs themselves make of them."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import t2onet
from t2onet import OutputError, Recipe
from t2onet.errors import LookError
from t2onet.looks import Look, export_recipe, looks
from t2onet.looks.export import split_pointwise
from tests.conftest import EXAMPLES

pytestmark = pytest.mark.slow

LOOK = Recipe.from_steps([("exposure", 0.4), ("white_balance", {"temperature": 20})], name="Evening")
DARKTABLE = "{http://darktable.sf.net/}"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both files and their tables."""
    folder = tmp_path_factory.mktemp("exported")
    for ending in ("pp3", "xmp"):
        export_recipe(LOOK, folder / f"my {ending}.{ending}")
    return folder


def test_a_pp3_applies_the_table_beside_it(exported: Path) -> None:
    text = (exported / "my pp3.pp3").read_text(encoding="utf-8")
    assert "[Film Simulation]\nEnabled=true\nClutFilename=my pp3.png\nStrength=100\n" in text
    assert "WorkingProfile=sRGB\n" in text
    assert t2onet.open_image(exported / "my pp3.png").pixels.shape == (1728, 1728, 3)


def test_an_xmp_applies_the_table_beside_it(exported: Path) -> None:
    (item,) = ElementTree.parse(exported / "my xmp.xmp").getroot().findall(".//{*}li")
    assert item.get(f"{DARKTABLE}operation") == "lut3d"
    assert item.get(f"{DARKTABLE}modversion") == "3"
    parameters = bytes.fromhex(item.get(f"{DARKTABLE}params") or "")
    path, *numbers, compressed, name = struct.unpack("<512siii12288s128s", parameters)
    assert path.rstrip(b"\0") == b"my xmp.png"
    assert numbers == [0, 0, 0]
    assert not any(compressed + name)
    assert t2onet.open_image(exported / "my xmp.png").pixels.shape == (1728, 1728, 3)


def test_it_is_said_where_the_table_belongs(tmp_path: Path) -> None:
    done = export_recipe(LOOK, tmp_path / "a.pp3")
    assert (done.path, done.table, done.size) == (tmp_path / "a.pp3", tmp_path / "a.png", 144)
    assert done.notes == (
        "a.pp3 applies a.png: move that to RawTherapee's folder of HaldCLUTs "
        "(Preferences, Image Processing, Film Simulation)",
    )


@pytest.mark.parametrize("name", ["a.png", "a.pp3"])
def test_neither_file_is_replaced_unless_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(OutputError, match=f"{re.escape(name)} exists already"):
        export_recipe(LOOK, tmp_path / "a.pp3")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_the_table_is_as_fine_as_the_programs_need(tmp_path: Path) -> None:
    with pytest.raises(LookError, match=r"^a \.xmp has 144 entries a side, not 64$"):
        export_recipe(LOOK, tmp_path / "a.xmp", size=64)


# ---- the programs themselves

POINTWISE = [look for look in looks().values() if not split_pointwise(look.recipe)[1]][::2][:10]
"""Ten looks that a table holds completely, of different families."""


def test_ten_looks_are_tried() -> None:
    assert len(POINTWISE) == 10
    assert len({look.family for look in POINTWISE}) >= 4


def run_rawtherapee(settings: Path, photo: Path, folder: Path) -> Path:
    options = folder / ".config" / "RawTherapee" / "options"
    options.parent.mkdir(parents=True)
    options.write_text(f"[Color Management]\nClutsDirectory={settings.parent}\n")
    result = folder / "result.tif"
    run(["rawtherapee-cli", "-a", "-o", result, "-p", settings, "-t", "-b16", "-Y", "-c", photo], folder)
    return result


def run_darktable(settings: Path, photo: Path, folder: Path) -> Path:
    result = folder / "result.tif"
    run(
        [
            *("darktable-cli", photo, settings, result, "--core", "--disable-opencl"),
            *("--configdir", folder / "config", "--cachedir", folder / "cache"),
            *("--conf", f"plugins/darkroom/lut3d/def_path={settings.parent}"),
            *("--conf", "plugins/imageio/format/tiff/bpp=16"),
        ],
        folder,
    )
    return result


def run(command: list[str | Path], home: Path) -> None:
    """Run a program with a home of its own, so that it neither reads nor writes the user's settings."""
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    subprocess.run(command, check=True, env=environment, timeout=300, capture_output=True)


PROGRAMS: dict[str, tuple[str, Callable[[Path, Path, Path], Path]]] = {
    "rawtherapee-cli": (".pp3", run_rawtherapee),
    "darktable-cli": (".xmp", run_darktable),
}


def read_levels(path: Path) -> np.ndarray:
    pixels = t2onet.open_image(path).pixels
    levels: np.ndarray = pixels * (255 / np.iinfo(pixels.dtype).max)
    return levels


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("look", POINTWISE, ids=lambda look: look.slug)
def test_a_program_makes_the_picture_of_the_look(tmp_path: Path, program: str, look: Look) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed; Debian's package {program.removesuffix('-cli')} has it")
    ending, run_program = PROGRAMS[program]
    photo = tmp_path / "photo.png"
    t2onet.open_image(EXAMPLES / "trail.jpg").resize(450).save(photo)
    settings = export_recipe(look.recipe, tmp_path / f"look{ending}").path
    home = tmp_path / "home"
    home.mkdir()
    theirs = read_levels(run_program(settings, photo, home))
    ours = read_levels(t2onet.apply(look.recipe, photo).save(tmp_path / "ours.png").path)
    assert np.abs(theirs - ours).mean() <= 0.5
    assert np.abs(read_levels(photo) - ours).mean() > 2, "the look is no trifle"

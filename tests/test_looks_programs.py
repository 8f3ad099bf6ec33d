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
from t2onet.looks import SETTINGS_FORMATS, ExportedLook, export_recipe, looks, split_pointwise
from tests.conftest import EXAMPLES, PATIENCE

pytestmark = pytest.mark.slow

LOOK = Recipe.from_steps([("exposure", 0.4), ("white_balance", {"temperature": 20})], name="Evening")
DARKTABLE = "{http://darktable.sf.net/}"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ExportedLook]:
    """Both files and their tables, in one folder."""
    folder = tmp_path_factory.mktemp("exported")
    return {ending: export_recipe(LOOK, folder / f"my {ending[1:]}{ending}") for ending in SETTINGS_FORMATS}


@pytest.mark.parametrize("ending", SETTINGS_FORMATS)
def test_settings_apply_the_table_beside_them(exported: dict[str, ExportedLook], ending: str) -> None:
    done, name = exported[ending], f"my {ending[1:]}"
    assert (done.path.name, done.size) == (f"{name}{ending}", 144)
    assert done.table == done.path.with_name(f"{name}.png")
    assert done.path.read_text(encoding="utf-8") == SETTINGS_FORMATS[ending].format(f"{name}.png")
    assert t2onet.open_image(done.table).pixels.shape == (1728, 1728, 3)


def test_a_pp3_names_the_table() -> None:
    text = SETTINGS_FORMATS[".pp3"].format("my look.png")
    assert "[Film Simulation]\nEnabled=true\nClutFilename=my look.png\nStrength=100\n" in text
    assert "WorkingProfile=sRGB\n" in text


def test_an_xmp_names_the_table() -> None:
    (item,) = ElementTree.fromstring(SETTINGS_FORMATS[".xmp"].format("my look.png")).findall(".//{*}li")
    assert item.get(f"{DARKTABLE}operation") == "lut3d"
    assert item.get(f"{DARKTABLE}modversion") == "3"
    parameters = bytes.fromhex(item.get(f"{DARKTABLE}params") or "")
    path, *numbers, compressed, name = struct.unpack("<512siii12288s128s", parameters)
    assert path.rstrip(b"\0") == b"my look.png"
    assert numbers == [0, 0, 0]
    assert not any(compressed + name)


def test_it_is_said_where_the_table_belongs(exported: dict[str, ExportedLook]) -> None:
    assert exported[".pp3"].notes == (
        "my pp3.pp3 applies my pp3.png: move that to RawTherapee's folder of HaldCLUTs "
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


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the HaldCLUTs of the ten looks: those of both programs are the same."""
    folder = tmp_path_factory.mktemp("tables")
    for look in POINTWISE:
        export_recipe(look.recipe, folder / f"{look.slug}.png", size=144)
    return folder


def run_rawtherapee(photos: Path, tables: Path, results: Path, home: Path) -> None:
    options = home / ".config" / "RawTherapee" / "options"
    options.parent.mkdir(parents=True)
    options.write_text(f"[Color Management]\nClutsDirectory={tables}\n")
    run(["rawtherapee-cli", "-a", "-o", results, "-s", "-t", "-b16", "-Y", "-c", photos], home)


def run_darktable(photos: Path, tables: Path, results: Path, home: Path) -> None:
    run(
        [
            *("darktable-cli", photos, results, "--out-ext", "tif", "--core", "--disable-opencl"),
            *("--configdir", home / "config", "--cachedir", home / "cache"),
            *("--conf", f"plugins/darkroom/lut3d/def_path={tables}"),
            *("--conf", "plugins/imageio/format/tiff/bpp=16"),
        ],
        home,
    )


def run(command: list[str | Path], home: Path) -> None:
    """Run a program with a home of its own, so that it neither reads nor writes the user's settings."""
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    subprocess.run(command, check=True, env=environment, timeout=PATIENCE, capture_output=True)


PROGRAMS: dict[str, tuple[str, Callable[[Path, Path, Path, Path], None]]] = {
    "rawtherapee-cli": (".pp3", run_rawtherapee),
    "darktable-cli": (".xmp", run_darktable),
}
"""The ending of settings files, and how the program edits a folder of photos with such files beside them."""


def to_levels(pixels: np.ndarray) -> np.ndarray:
    levels: np.ndarray = pixels * (255 / np.iinfo(pixels.dtype).max)
    return levels


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_makes_the_pictures_of_ten_looks(tmp_path: Path, tables: Path, program: str) -> None:
    """One start for all of them: a copy of the photo for each look, with the look's settings beside it."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed; Debian's package {program.removesuffix('-cli')} has it")
    ending, run_program = PROGRAMS[program]
    photos, results, home = (tmp_path / name for name in ("photos", "results", "home"))
    for folder in (photos, results, home):
        folder.mkdir()
    photo = t2onet.open_image(EXAMPLES / "trail.jpg").resize(450)
    for look in POINTWISE:
        photo.save(photos / f"{look.slug}.png")
        settings = SETTINGS_FORMATS[ending].format(f"{look.slug}.png")
        (photos / f"{look.slug}.png{ending}").write_text(settings, encoding="utf-8")
    run_program(photos, tables, results, home)
    differences, effects = {}, {}
    for look in POINTWISE:
        theirs = to_levels(t2onet.open_image(results / f"{look.slug}.tif").pixels)
        ours = to_levels(t2onet.apply(look.recipe, photo).pixels)
        differences[look.slug] = np.abs(theirs - ours).mean()
        effects[look.slug] = np.abs(to_levels(photo.pixels) - ours).mean()
    assert {slug: size for slug, size in differences.items() if size > 0.5} == {}
    assert {slug: size for slug, size in effects.items() if size <= 2} == {}, "no look is a trifle"

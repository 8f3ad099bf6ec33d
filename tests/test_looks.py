"""Looks out to other tools: what they load is what the recipe does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageFilter
import pytest

import t2onet
from t2onet import Mask, Recipe
from t2onet.errors import LookError, OutputError
from t2onet.looks import (
    TABLE_FORMATS,
    ColourTable,
    ExportedLook,
    export_recipe,
    interpolate_colours,
    measure_fidelity,
    tabulate_recipe,
)

LOOK = Recipe.from_steps(
    [
        ("contrast", 0.4),
        ("saturation", 0.3),
        ("color", [[1.4, 1.2, 1, 1, 1, 0.9, 0.8, 0.7], [1] * 8, [0.8, 0.9, 1, 1, 1, 1, 1.1, 1.2]]),
    ],
    name="Evening",
)
SHARP = Recipe.from_steps([("sharpness", 0.3), *LOOK.steps], name=LOOK.name)


def read_cube(path: Path) -> tuple[dict[str, str], np.ndarray]:
    """The header, and colours (blue, green, red, 3): in a .cube the red input runs fastest."""
    header, rows = {}, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.match(r"[A-Z]", line):
            keyword, _, value = line.partition(" ")
            header[keyword] = value
        elif line and not line.startswith("#"):
            rows.append([float(part) for part in line.split()])
    size = int(header["LUT_3D_SIZE"])
    return header, np.array(rows).reshape(size, size, size, 3)


def colour_at(red: float, green: float, blue: float, recipe: Recipe = LOOK) -> np.ndarray:
    pixel = np.array([[[red, green, blue]]], np.float32)
    colour: np.ndarray = np.asarray(t2onet.apply(recipe, pixel))[0, 0]
    return colour


# ---- .cube


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, ExportedLook]:
    """One look at both sizes; writing and reading 65^3 lines takes a second."""
    folder = tmp_path_factory.mktemp("cubes")
    return {size: export_recipe(LOOK, folder / f"{size}.cube", size=size) for size in (33, 65)}


@pytest.mark.slow
@pytest.mark.parametrize("size", [33, 65])
def test_a_cube_holds_the_colours_of_the_recipe(cubes: dict[int, ExportedLook], size: int) -> None:
    done = cubes[size]
    header, table = read_cube(done.path)
    assert done.size == size == len(table)
    assert header == {
        "TITLE": '"Evening"',
        "LUT_3D_SIZE": str(size),
        "DOMAIN_MIN": "0 0 0",
        "DOMAIN_MAX": "1 1 1",
    }
    last = size - 1
    # Three inputs that differ in every channel, so that a swapped axis cannot go unseen.
    for red, green, blue in [(1, 2, 3), (last, 0, 5), (20, last, 11), (last, last, last), (0, 0, last)]:
        expected = colour_at(red / last, green / last, blue / last)
        np.testing.assert_allclose(table[blue, green, red], expected, atol=1e-6)


def test_the_second_line_of_a_table_is_one_step_of_red(tmp_path: Path) -> None:
    # Said of the file itself, in case the parser above and the writer agree on a mistake.
    export_recipe(Recipe(), tmp_path / "look.cube")
    lines = (tmp_path / "look.cube").read_text().splitlines()[4:]
    assert lines[0] == "0.000000 0.000000 0.000000"
    assert lines[1] == "0.031250 0.000000 0.000000"
    assert lines[33] == "0.000000 0.031250 0.000000"
    assert lines[33 * 33] == "0.000000 0.000000 0.031250"
    assert len(lines) == 33**3


def test_the_default_is_33_a_side(tmp_path: Path) -> None:
    assert export_recipe(LOOK, tmp_path / "look.cube").size == 33


@pytest.mark.slow
@pytest.mark.parametrize("steps", [[], [("brightness", 0), ("sharpness", 0)]])
def test_a_recipe_that_does_nothing_is_the_identity_table(
    tmp_path: Path, steps: list[tuple[str, float]]
) -> None:
    done = export_recipe(Recipe.from_steps(steps), tmp_path / "look.cube")
    _, table = read_cube(tmp_path / "look.cube")
    axis = np.linspace(0, 1, 33)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    np.testing.assert_allclose(table, np.stack([red, green, blue], axis=-1), atol=1e-6)
    assert done.fidelity.worst < 0.001
    assert done.notes == ()


@pytest.mark.slow
def test_another_tool_reproduces_the_edit(cubes: dict[int, ExportedLook]) -> None:
    _, table = read_cube(cubes[65].path)
    photo = np.random.default_rng(3).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    lut = PIL.ImageFilter.Color3DLUT(65, table.ravel().tolist())
    theirs = np.asarray(PIL.Image.fromarray(photo).filter(lut)).astype(int)
    ours = np.asarray(t2onet.apply(LOOK, photo)).astype(int)
    difference = np.abs(theirs - ours)
    # A level of rounding on either side, and interpolation where the recipe bends.
    assert difference.max() <= 3
    assert difference.mean() < 0.3
    # And the look is no trifle: without the table the pictures are far apart.
    assert np.abs(photo.astype(int) - ours).mean() > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ('Say "cheese"', "Say cheese"),
        ("two\nlines\r\x1b[31m", "twolines[31m"),
        ("Märzlicht 三月", "Märzlicht 三月"),
        ("", "my look"),
    ],
)
def test_titles_cannot_break_the_file(tmp_path: Path, name: str, title: str) -> None:
    recipe = Recipe.from_steps([("contrast", 0.2)], name=name)
    export_recipe(recipe, tmp_path / "my look.cube")
    header, table = read_cube(tmp_path / "my look.cube")
    assert header["TITLE"] == f'"{title}"'
    assert len(header) == 4
    assert len(table) == 33


# ---- HaldCLUT


def test_the_identity_hald_is_as_other_tools_make_it(tmp_path: Path) -> None:
    done = export_recipe(Recipe(), tmp_path / "identity.png")
    assert done.size == 64
    pixels = t2onet.open_image(tmp_path / "identity.png").pixels
    assert pixels.shape == (512, 512, 3)
    assert pixels.dtype == np.uint16
    # Entry n in reading order is red n % 64, green n / 64 % 64, blue n / 64^2, as `convert hald:8` has it.
    entry = np.arange(512 * 512)
    expected = np.stack([entry % 64, entry // 64 % 64, entry // 64**2], axis=-1) * (65535 / 63)
    assert np.abs(pixels.reshape(-1, 3) - expected).max() <= 0.51


def test_a_hald_is_a_16_bit_png(tmp_path: Path) -> None:
    export_recipe(LOOK, tmp_path / "look.png")
    header = (tmp_path / "look.png").read_bytes()[:33]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(header[16:20], "big") == int.from_bytes(header[20:24], "big") == 512
    assert header[24] == 16, "bits a channel"
    assert header[25] == 2, "RGB"


def test_a_hald_holds_the_colours_of_the_recipe(tmp_path: Path) -> None:
    export_recipe(LOOK, tmp_path / "look.png")
    pixels = t2onet.open_image(tmp_path / "look.png").pixels.reshape(64, 64, 64, 3)
    for red, green, blue in [(1, 2, 3), (63, 0, 5), (20, 63, 11), (63, 63, 63)]:
        expected = colour_at(red / 63, green / 63, blue / 63) * 65535
        assert np.abs(pixels[blue, green, red] - expected).max() <= 1


@pytest.mark.slow
def test_a_fine_hald(tmp_path: Path) -> None:
    # Three million entries: the largest table there is.
    done = export_recipe(Recipe(), tmp_path / "fine.png", size=144)
    assert done.size == 144
    pixels = t2onet.open_image(tmp_path / "fine.png").pixels
    assert pixels.shape == (1728, 1728, 3)
    entry = 5 + 144 * 7 + 144**2 * 9
    expected = np.array([5, 7, 9]) * 65535 / 143
    assert np.abs(pixels.reshape(-1, 3)[entry] - expected).max() <= 0.51


# ---- what a table cannot hold


@pytest.mark.slow
@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_sharpness_is_said_to_be_left_out(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"look{ending}"
    done = export_recipe(SHARP, path)
    assert done.notes == (
        "left out: sharpness (sharper) looks at neighbouring pixels, which a colour table cannot do",
    )
    export_recipe(LOOK, tmp_path / f"same{ending}")
    same = (tmp_path / f"same{ending}").read_bytes()
    assert path.read_bytes() == same, "the rest is as without sharpness"


MASK = Mask.from_array(np.eye(2, dtype=bool))


@pytest.mark.slow
@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_a_local_step_is_said_to_be_left_out(tmp_path: Path, ending: str) -> None:
    local = [("brightness", 0.2, MASK), ("exposure", 0.5, "shadows")]
    done = export_recipe(Recipe.from_steps([*LOOK.steps, *local], name=LOOK.name), tmp_path / f"look{ending}")
    assert done.notes == (
        "left out: brightness (20 % brighter locally) works through a mask, which a colour table cannot do",
        "left out: exposure (half a stop brighter shadows) applies to a part of the photo, "
        "which a colour table cannot do",
    )
    export_recipe(LOOK, tmp_path / f"same{ending}")
    assert done.path.read_bytes() == (tmp_path / f"same{ending}").read_bytes()


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_a_table_of_nothing_is_refused(tmp_path: Path, ending: str) -> None:
    local = [("brightness", 0.2, MASK), ("exposure", 1, "shadows")]
    recipe = Recipe.from_steps([*local, ("sharpness", 0.3), ("contrast", 0)])
    text = (
        "a colour table can hold none of its steps (brightness works through a mask, "
        "exposure applies to a part of the photo, sharpness looks at neighbouring pixels); "
        "keep the recipe as JSON"
    )
    with pytest.raises(LookError, match=f"^{re.escape(text)}$"):
        export_recipe(recipe, tmp_path / f"look{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["look.txt", "look", "look.3dl", "look.cube.bak", ".cube"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    text = f"{name}: a look is written as .cube, .png, .pp3 or .xmp; give one of those endings"
    with pytest.raises(LookError, match=f"^{re.escape(text)}$"):
        export_recipe(LOOK, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_ending_may_be_in_capitals(tmp_path: Path) -> None:
    export_recipe(LOOK, tmp_path / "LOOK.CUBE")
    assert read_cube(tmp_path / "LOOK.CUBE")[0]["TITLE"] == '"Evening"'


@pytest.mark.parametrize(
    ("ending", "size", "sizes"),
    [(".cube", 64, "33 or 65"), (".cube", 0, "33 or 65"), (".png", 33, "64 or 144")],
)
def test_other_sizes_are_refused(tmp_path: Path, ending: str, size: int, sizes: str) -> None:
    text = f"a {ending} has {sizes} entries a side, not {size}"
    with pytest.raises(LookError, match=f"^{re.escape(text)}$"):
        export_recipe(LOOK, tmp_path / f"look{ending}", size=size)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_an_existing_file_is_kept_unless_told(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"look{ending}"
    path.write_text("mine")
    text = f"{path} exists already; give another name, or ask to replace it (--overwrite, overwrite=True)"
    with pytest.raises(OutputError, match=f"^{re.escape(text)}$"):
        export_recipe(LOOK, path)
    assert path.read_text() == "mine"
    export_recipe(LOOK, path, overwrite=True)
    assert path.stat().st_size > 100_000
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_a_file_created_during_the_work_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path = tmp_path / f"look{ending}"

    def tabulate_slowly(recipe: Recipe, size: int) -> ColourTable:
        path.write_text("theirs")
        return tabulate_recipe(recipe, size)

    monkeypatch.setattr(sys.modules["t2onet.looks"], "tabulate_recipe", tabulate_slowly)
    with pytest.raises(OutputError, match="already exists"):
        export_recipe(LOOK, path)
    assert path.read_text() == "theirs"


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_a_missing_folder_is_named(tmp_path: Path, ending: str) -> None:
    with pytest.raises(OutputError, match=r"there is no folder .*gone; create it first"):
        export_recipe(LOOK, tmp_path / "gone" / f"look{ending}")


# ---- how faithful it is


@pytest.mark.slow
def test_the_reported_error_is_what_the_file_is_off_by(cubes: dict[int, ExportedLook]) -> None:
    done = cubes[33]
    _, table = read_cube(done.path)
    # Another look-up (along one axis at a time, in float64) and other colours than those it was measured on.
    colours = np.random.default_rng(99).random((50_000, 3))
    exact = np.asarray(t2onet.apply(LOOK, colours[None].astype(np.float32)))[0]
    error = 255 * np.abs(interpolate(table, colours) - exact)
    assert done.fidelity.mean == pytest.approx(error.mean(), rel=0.05)
    # The worst of a random sample is itself random; what matters is that it is neither hidden nor invented.
    assert done.fidelity.worst == pytest.approx(error.max(), rel=0.5)
    assert done.fidelity.worst > 5 * done.fidelity.mean > 0


def interpolate(table: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """(N, 3) red, green, blue through a table [blue, green, red]: red first, then green, then blue."""
    place = colours * (len(table) - 1)
    low = np.minimum(place.astype(int), len(table) - 2)
    r, g, b = (place - low).T[..., None]
    i, j, k = low.T
    flat = [
        [(1 - r) * table[k + dk, j + dj, i] + r * table[k + dk, j + dj, i + 1] for dj in (0, 1)]
        for dk in (0, 1)
    ]
    planes = [(1 - g) * near + g * far for near, far in flat]
    result: np.ndarray = (1 - b) * planes[0] + b * planes[1]
    return result


@pytest.mark.slow
def test_a_finer_table_is_more_faithful(cubes: dict[int, ExportedLook]) -> None:
    assert 0 < cubes[65].fidelity.mean < cubes[33].fidelity.mean
    for steps in ([("contrast", 0.6)], [("brightness", 0.5)], [("saturation", 0.8)]):
        recipe = Recipe.from_steps(steps)
        coarse, fine = (measure_fidelity(recipe, tabulate_recipe(recipe, size)).mean for size in (9, 17))
        assert fine < coarse


def test_a_wrong_table_is_measured_as_wrong() -> None:
    other = tabulate_recipe(Recipe.from_steps([("brightness", -0.5)]), 33)
    assert measure_fidelity(Recipe(), other).mean == pytest.approx(255 * 0.25, rel=0.01)


def test_looking_up_an_entry_gives_the_entry() -> None:
    table = tabulate_recipe(LOOK, 9)
    colours = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0.5], [0.25, 0.75, 1]])
    expected = [colour_at(*colour) for colour in colours]
    np.testing.assert_allclose(interpolate_colours(colours, table), expected, atol=1e-6)

"""`t2o apply`: arguments -> files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Mask, Recipe
from tests.cli.helpers import LOOK, T2O, apply_recipe, contents, files, noise, photo, pixels

RADII: list[Literal["scaled", "pixel"]] = ["scaled", "pixel"]


def test_the_result_lies_beside_the_photo_by_default(t2o: T2O, folder: Path) -> None:
    source = photo("trip/sea.png")
    before = source.read_bytes()
    assert t2o("apply", "look.json", source) == (0, "trip/sea.png -> trip/sea-look.png\n", "")
    assert files(folder / "trip") == ["sea-look.png", "sea.png"]
    assert source.read_bytes() == before
    np.testing.assert_array_equal(pixels("trip/sea-look.png"), apply_recipe(source))


def test_output_to_a_file(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    assert t2o("apply", "look.json", "sea.png", "-o", "out.png") == (0, "sea.png -> out.png\n", "")
    np.testing.assert_array_equal(pixels("out.png"), apply_recipe(source))


def test_output_to_a_file_in_a_new_folder(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    assert t2o("apply", "look.json", "sea.png", "-o", "new/deep/out.png").code == 0
    np.testing.assert_array_equal(pixels("new/deep/out.png"), apply_recipe(source))


def test_a_recipe_may_crop_and_turn(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    Recipe.from_steps([("crop", [0, 0, 0.5, 1]), ("rotate", 90)]).save("framed.json")
    assert t2o("apply", "framed.json", "sea.png", "-o", "out.png", "--strength", "0.5").code == 0
    before = pixels(source)
    expected = np.rot90(before[:, : round(before.shape[1] / 2)], -1)
    np.testing.assert_array_equal(pixels("out.png"), expected)
    assert "Cropped to 50 % of its width and turned right." in t2o("describe", "framed.json").out


@pytest.mark.parametrize("exists", [True, False])
def test_output_to_a_folder(t2o: T2O, folder: Path, exists: bool) -> None:
    source = photo("sea.png")
    if exists:
        (folder / "done").mkdir()
    assert t2o("apply", "look.json", "sea.png", "-o", "done") == (0, "sea.png -> done/sea.png\n", "")
    np.testing.assert_array_equal(pixels("done/sea.png"), apply_recipe(source))


def test_a_folder_with_a_dot_in_its_name_is_a_folder(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    (folder / "2026.png").mkdir()
    assert t2o("apply", "look.json", "sea.png", "-o", "2026.png").out == "sea.png -> 2026.png/sea.png\n"


@pytest.mark.parametrize("output", ["done.png/", "trip 2024.05.01", "v1.5", "new/2026.v2", ".png"])
def test_a_name_that_no_picture_has_is_a_folder(t2o: T2O, folder: Path, output: str) -> None:
    source = photo("sea.png")
    target = Path(output) / "sea.png"
    assert t2o("apply", "look.json", "sea.png", "-o", output) == (0, f"sea.png -> {target}\n", "")
    np.testing.assert_array_equal(pixels(target), apply_recipe(source))


@pytest.mark.parametrize("output", ["done", "done.png/", "v1.5", "st.moritz"])
def test_several_photos_or_a_folder_go_into_a_folder(t2o: T2O, folder: Path, output: str) -> None:
    photo("trip/a.png")
    photo("trip/b.png")
    for given in (["trip"], ["trip/a.png", "trip/b.png"]):
        assert t2o("apply", "look.json", *given, "-o", output, "--overwrite").code == 0
        assert files(folder / output) == ["a.png", "b.png"]


def test_a_folder_of_one_photo_is_still_a_folder(t2o: T2O, folder: Path) -> None:
    photo("trip/a.png")
    (folder / "done.png").mkdir()
    assert t2o("apply", "look.json", "trip", "-o", "done.png").out == "trip/a.png -> done.png/a.png\n"


def test_the_ending_decides_the_format(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    assert t2o("apply", "look.json", "sea.png", "-o", "sea.webp").code == 0
    with PIL.Image.open("sea.webp") as file:
        assert file.format == "WEBP"


def test_several_photos(t2o: T2O, folder: Path) -> None:
    photos = [photo(f"{name}.png", seed) for seed, name in enumerate("abc")]
    answer = t2o("apply", "look.json", *photos, "-o", "done")
    assert answer == (0, "a.png -> done/a.png\nb.png -> done/b.png\nc.png -> done/c.png\n", "")
    for source in photos:
        np.testing.assert_array_equal(pixels(Path("done") / source), apply_recipe(source))


def test_a_folder_of_photos(t2o: T2O, folder: Path) -> None:
    for name in ("b.png", "a.JPG", "c.TIFF", ".hidden.png", "below/d.png"):
        photo(folder / "trip" / name)
    (folder / "trip" / "notes.txt").write_text("no photo")
    assert t2o("apply", "look.json", "trip", "-o", "done").code == 0
    # Capital endings are photos as well and keep their spelling; hidden files and folders below are not.
    assert files(folder / "done") == ["a.JPG", "b.png", "c.TIFF"]


def test_recursive_keeps_the_structure(t2o: T2O, folder: Path) -> None:
    names = ["a.png", "day 1/a.png", "day 1/x/b.png"]
    sources = [photo(f"trip/{name}", seed) for seed, name in enumerate(names)]
    answer = t2o("apply", "look.json", "trip", "--recursive", "-o", "done")
    assert answer.code == 0
    assert files(folder / "done") == names
    for source in sources:
        np.testing.assert_array_equal(pixels("done" / source.relative_to("trip")), apply_recipe(source))


def test_a_folder_gets_a_folder_beside_it_by_default(t2o: T2O, folder: Path) -> None:
    a, old = photo("my/trip/a.png", 1), photo("my/trip/old.bmp", 2)
    photo("my/trip/day/b.png", 3)
    before = contents(folder / "my" / "trip")
    out = "my/trip/a.png -> my/trip-look/a.png\nmy/trip/old.bmp -> my/trip-look/old.png\n"
    assert t2o("apply", "look.json", "my/trip/") == (0, out, "")
    assert files(folder / "my" / "trip-look") == ["a.png", "old.png"]
    np.testing.assert_array_equal(pixels("my/trip-look/a.png"), apply_recipe(a))
    np.testing.assert_array_equal(pixels("my/trip-look/old.png"), apply_recipe(old))
    assert contents(folder / "my" / "trip") == before


def test_the_folder_beside_it_keeps_the_structure(t2o: T2O, folder: Path) -> None:
    names = ["a.png", "day 1/a.png", "day 1/x/b.png"]
    sources = [photo(f"trip/{name}", seed) for seed, name in enumerate(names)]
    before = contents(folder / "trip")
    assert t2o("apply", "look.json", "trip", "-r").code == 0
    assert files(folder / "trip-look") == names
    for source in sources:
        np.testing.assert_array_equal(pixels("trip-look" / source.relative_to("trip")), apply_recipe(source))
    assert contents(folder / "trip") == before


@pytest.mark.parametrize(("inside", "given"), [("trip", "."), ("trip/day", ".."), ("trip/day", "../day/..")])
def test_the_folder_one_is_in_gets_a_folder_beside_it(
    t2o: T2O, folder: Path, monkeypatch: pytest.MonkeyPatch, inside: str, given: str
) -> None:
    photo("trip/a.png")
    photo("trip/day/b.png")
    before = contents(folder / "trip")
    monkeypatch.chdir(folder / inside)
    assert t2o("apply", folder / "look.json", given, "-r").code == 0
    assert files(folder / "trip-look") == ["a.png", "day/b.png"]
    assert contents(folder / "trip") == before


def test_photos_and_folders_side_by_side(t2o: T2O, folder: Path) -> None:
    photo("trip/a.png")
    photo("home/a.png")
    photo("sea.png")
    answer = t2o("apply", "look.json", "trip", "sea.png", "home")
    assert answer == (
        0,
        "trip/a.png -> trip-look/a.png\nsea.png -> sea-look.png\nhome/a.png -> home-look/a.png\n",
        "",
    )


def test_a_pattern_the_shell_did_not_expand(t2o: T2O, folder: Path) -> None:
    # cmd.exe hands patterns to the program, and so does a shell with quotes.
    for name in ("a.png", "b.png", "c.jpg", "below/d.png"):
        photo(f"trip/{name}")
    assert t2o("apply", "look.json", "trip/*.png", "-o", "one").code == 0
    assert files(folder / "one") == ["a.png", "b.png"]
    assert t2o("apply", "look.json", "trip/**/*.png", "-o", "all").code == 0
    assert files(folder / "all") == ["a.png", "b.png", "d.png"]


def test_a_name_that_looks_like_a_pattern_is_a_name(t2o: T2O, folder: Path) -> None:
    photo("sea[1].png")
    photo("sea1.png")
    assert t2o("apply", "look.json", "sea[1].png") == (0, "sea[1].png -> sea[1]-look.png\n", "")


def test_a_pattern_without_matches(t2o: T2O, folder: Path) -> None:
    assert t2o("apply", "look.json", "*.gif") == (2, "", "t2o: no file matches *.gif; check the pattern\n")


def test_a_format_that_is_only_read_gets_a_writable_neighbour(t2o: T2O, folder: Path) -> None:
    photo("old.bmp")
    assert t2o("apply", "look.json", "old.bmp").out == "old.bmp -> old-look.png\n"


def test_jpeg_keeps_its_own_compression_unless_told(t2o: T2O, folder: Path) -> None:
    source = photo("sea.jpg", quality=60)
    for name, more in (("own", ()), ("best", ("--quality", 100)), ("worst", ("--quality", 5))):
        assert t2o("apply", "look.json", source, "-o", f"{name}.jpg", *more).code == 0
    size = {path.stem: path.stat().st_size for path in folder.glob("*.jpg")}
    assert size["worst"] < size["own"] < size["best"]


# ---- strength and radius


def test_strength_zero_copies_the_file(t2o: T2O, folder: Path) -> None:
    for source in (photo("sea.png"), photo("sea.jpg", quality=70), photo("sea.webp")):
        target = Path("same" + source.suffix)
        assert t2o("apply", "look.json", source, "-o", target, "--strength", 0).code == 0
        assert target.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("strength", [0.5, 1, 2])
def test_strength_blends_the_recipe(t2o: T2O, folder: Path, strength: float) -> None:
    source = photo("sea.png")
    assert t2o("apply", "look.json", source, "--strength", strength).code == 0
    np.testing.assert_array_equal(pixels("sea-look.png"), apply_recipe(source, LOOK.blend(strength)))


@pytest.mark.parametrize("strength", ["-1", "nan", "inf"])
def test_other_strengths_are_refused(t2o: T2O, folder: Path, strength: str) -> None:
    photo("sea.png")
    text = f"t2o: a strength is 0 or more (1 is the recipe as it is), and {strength} was given\n"
    assert t2o("apply", "look.json", "sea.png", "--strength", strength) == (2, "", text)


@pytest.mark.slow
def test_radius(t2o: T2O, folder: Path) -> None:
    # Only above a short side of 1000 pixels does a radius that grows differ from one that does not.
    PIL.Image.fromarray(noise(height=1060, width=1010)).save("large.png", compress_level=1)
    recipe = Recipe.from_steps([("sharpness", 0.5)])
    recipe.save("sharp.json")
    expected = {radius: np.asarray(t2onet.apply(recipe, "large.png", radius=radius)) for radius in RADII}
    assert not np.array_equal(expected["scaled"], expected["pixel"])
    for radius in RADII:
        assert t2o("apply", "sharp.json", "large.png", "-o", f"{radius}.png", "--radius", radius).code == 0
        np.testing.assert_array_equal(pixels(f"{radius}.png"), expected[radius])


def test_masks_are_applied(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    left = np.zeros((20, 30), bool)
    left[:, :15] = True
    recipe = Recipe.from_steps([("brightness", -1, Mask.from_array(left))])
    recipe.save("left.json")
    assert t2o("apply", "left.json", source, "-o", "out.png").code == 0
    assert pixels("out.png")[:, :15].max() == 0
    np.testing.assert_array_equal(pixels("out.png")[:, 15:], pixels(source)[:, 15:])


# ---- files that exist already


def test_an_existing_file_is_refused(t2o: T2O, folder: Path) -> None:
    photo("sea.png")
    (folder / "out.png").write_text("mine")
    text = "t2o: out.png exists already; give another -o, --overwrite or --skip-existing\n"
    assert t2o("apply", "look.json", "sea.png", "-o", "out.png") == (2, "", text)
    assert (folder / "out.png").read_text() == "mine"


def test_overwrite(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    (folder / "out.png").write_text("mine")
    assert t2o("apply", "look.json", "sea.png", "-o", "out.png", "--overwrite").code == 0
    np.testing.assert_array_equal(pixels("out.png"), apply_recipe(source))


def test_skip_existing(t2o: T2O, folder: Path) -> None:
    photo("trip/a.png")
    photo("trip/b.png")
    photo("done/a.png", seed=9)
    before = Path("done/a.png").read_bytes()
    answer = t2o("apply", "look.json", "trip", "-o", "done", "--skip-existing")
    assert answer == (0, "trip/a.png: skipped, done/a.png exists\ntrip/b.png -> done/b.png\n", "")
    assert Path("done/a.png").read_bytes() == before
    assert Path("done/b.png").exists()


@pytest.mark.parametrize("output", ["sea.png", "./sea.png", "."])
def test_in_place_only_with_overwrite(t2o: T2O, folder: Path, output: str) -> None:
    source = photo("sea.png")
    before, expected = source.read_bytes(), apply_recipe(source)
    answer = t2o("apply", "look.json", "sea.png", "-o", output)
    assert answer.code == 2
    assert answer.err.startswith("t2o: sea.png exists already; ")
    assert source.read_bytes() == before
    assert t2o("apply", "look.json", "sea.png", "-o", output, "--overwrite").code == 0
    np.testing.assert_array_equal(pixels(source), expected)


def test_a_link_to_the_photo_is_the_photo(t2o: T2O, folder: Path) -> None:
    source = photo("sea.png")
    before = source.read_bytes()
    (folder / "link.png").symlink_to("sea.png")
    assert t2o("apply", "look.json", "sea.png", "-o", "link.png").code == 2
    assert source.read_bytes() == before


def test_a_second_run_does_not_edit_the_results_of_the_first(t2o: T2O, folder: Path) -> None:
    # This is how an interrupted run goes on: the same command with --skip-existing.
    photo("trip/a.png")
    photo("trip/b.png")
    assert t2o("apply", "look.json", "trip/b.png").code == 0
    answer = t2o("apply", "look.json", "trip/*.png", "--skip-existing")
    assert answer.code == 0
    assert files(folder / "trip") == ["a-look.png", "a.png", "b-look.png", "b.png"]
    assert t2o("apply", "look.json", "trip/*.png", "--overwrite").code == 0
    assert files(folder / "trip") == ["a-look.png", "a.png", "b-look.png", "b.png"]
    np.testing.assert_array_equal(pixels("trip/b-look.png"), apply_recipe(Path("trip/b.png")))


@pytest.mark.parametrize("again", [["trip"], ["trip", "trip-look"]], ids=["trip", "*/"])
def test_a_second_run_over_a_folder_goes_on_in_the_folder_beside_it(
    t2o: T2O, folder: Path, again: list[str]
) -> None:
    photo("trip/a.png")
    photo("trip/b.png")
    photo("trip-look/b.png", seed=9)
    before = Path("trip-look/b.png").read_bytes()
    answer = t2o("apply", "look.json", "trip")
    text = "t2o: trip-look/b.png exists already; give another -o, --overwrite or --skip-existing"
    assert (answer.code, answer.err.splitlines()[0]) == (2, text)
    assert Path("trip-look/b.png").read_bytes() == before
    out = "".join(f"trip/{name}.png: skipped, trip-look/{name}.png exists\n" for name in "ab")
    # The shell makes both folders of `*/`, and the results of the first run are no photos of the second.
    assert t2o("apply", "look.json", *again, "--skip-existing") == (0, out, "")
    assert t2o("apply", "look.json", *again, "--overwrite").code == 0
    np.testing.assert_array_equal(pixels("trip-look/b.png"), apply_recipe(Path("trip/b.png")))
    assert files(folder) == ["look.json", *(f"{f}/{n}.png" for f in ("trip", "trip-look") for n in "ab")]


def test_results_inside_the_folder_they_come_from(t2o: T2O, folder: Path) -> None:
    photo("trip/a.png")
    photo("trip/day/b.png")
    for more in ((), ("--skip-existing",)):
        assert t2o("apply", "look.json", "trip", "-r", "-o", "trip/done", *more).code == 0
        assert files(folder / "trip") == ["a.png", "day/b.png", "done/a.png", "done/day/b.png"]


@pytest.mark.parametrize(
    ("sources", "target"),
    [(("one/sea.png", "two/sea.png"), "done/sea.png"), (("sea.png", "sea.bmp"), "done/sea.png")],
)
def test_two_photos_with_one_result_are_refused_at_once(
    t2o: T2O, folder: Path, sources: tuple[str, str], target: str
) -> None:
    photo("fine.png")
    for source in sources:
        photo(source)
    before = contents(folder)
    answer = t2o("apply", "look.json", "fine.png", *sources, "-o", "done", "--overwrite")
    assert answer == (
        2,
        "",
        f"t2o: {sources[0]} and {sources[1]} would both become {target}; "
        "give them in separate runs with separate output folders\n",
    )
    assert contents(folder) == before


# ---- what is printed


def test_json(t2o: T2O, folder: Path) -> None:
    photo("trip/a.png")
    photo("trip/b.png")
    PIL.Image.fromarray(np.dstack([noise(), noise()[..., :1]])).save("trip/c.png")
    (folder / "trip" / "d.png").write_text("no photo")
    photo("done/a.jpg")
    answer = t2o("apply", "look.json", "trip/c.png", "-o", "c.jpg", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out) == [
        {
            "source": "trip/c.png",
            "target": "c.jpg",
            "outcome": "done",
            "notes": ["the transparent parts were filled with white: JPEG holds no transparency"],
            "error": None,
        }
    ]
    photo("done/a.png")
    answer = t2o("apply", "look.json", "trip", "-o", "done", "--json", "--skip-existing")
    assert (answer.code, answer.err) == (2, "")
    reports = json.loads(answer.out)
    assert [report["outcome"] for report in reports] == ["skipped", "done", "done", "refused"]
    assert [report["target"] for report in reports] == [f"done/{name}.png" for name in "abcd"]
    assert reports[3]["error"].startswith("trip/d.png does not look like a photo")
    assert reports[0]["error"] is None


def test_notes_go_to_stderr(t2o: T2O, folder: Path) -> None:
    PIL.Image.fromarray(np.dstack([noise(), noise()[..., :1]])).save("c.png")
    note = "note: c.png: the transparent parts were filled with white: JPEG holds no transparency\n"
    assert t2o("apply", "look.json", "c.png", "-o", "c.jpg") == (0, "c.png -> c.jpg\n", note)
    assert t2o("apply", "look.json", "c.png", "-o", "d.jpg", "--quiet") == (0, "", note)


def test_quiet(t2o: T2O, folder: Path) -> None:
    photo("a.png")
    assert t2o("apply", "look.json", "a.png", "--quiet") == (0, "", "")
    assert t2o("apply", "look.json", "a.png", "-q", "--skip-existing") == (0, "", "")
    # Refusals are never quiet.
    assert t2o("apply", "look.json", "a.png", "-q").err.startswith("t2o: a-look.png exists already; ")


@pytest.mark.parametrize("jobs", [1, 4])
def test_one_bad_photo_does_not_stop_the_others(t2o: T2O, folder: Path, jobs: int) -> None:
    photo("trip/a.png")
    (folder / "trip" / "b.png").write_text("no photo")
    photo("trip/c.png")
    answer = t2o("apply", "look.json", "trip", "-o", "done", "--jobs", jobs)
    assert answer.code == 2
    assert answer.out == "trip/a.png -> done/a.png\ntrip/c.png -> done/c.png\n"
    first, second = answer.err.splitlines()
    assert first.startswith("t2o: trip/b.png does not look like a photo")
    assert second == "t2o: 1 of 3 photos refused; the others are done"
    assert files(folder / "done") == ["a.png", "c.png"]


def test_max_megapixels(t2o: T2O, folder: Path) -> None:
    PIL.Image.fromarray(noise(height=200, width=300)).save("sea.png")
    answer = t2o("apply", "look.json", "sea.png", "--max-megapixels", "0.05")
    assert answer.code == 2
    assert answer.err.startswith("t2o: sea.png claims to be 300 x 200 pixels")
    assert "--max-megapixels" in answer.err
    assert not (folder / "sea-look.png").exists()
    assert t2o("apply", "look.json", "sea.png", "--max-megapixels", "0.06").code == 0

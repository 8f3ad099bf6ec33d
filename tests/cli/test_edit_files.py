"""The files of `t2o edit`: sidecars, collisions, going on after an interruption, and results as photos."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Recipe, executor
from t2onet.cli import photos
from t2onet.recipe.recipe import derive_look_name, find_sidecar, sidecar_path
from tests.cli.helpers import COMMAND, LOOK, T2O, contents, environment, files
from tests.conftest import PATIENCE, open_example

SIDECAR = ".t2o.json"


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    return np.asarray(open_example("dogs", 120))


@pytest.fixture
def dogs(folder: Path, pixels: np.ndarray) -> Path:
    """The folder with `dogs.png`, small, and without a recipe."""
    Path("look.json").unlink()
    PIL.Image.fromarray(pixels).save("dogs.png")
    return folder


def copies(pixels: np.ndarray, *names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        PIL.Image.fromarray(pixels).save(name)


# ---- names of sidecars


def test_a_sidecar_is_called_after_the_whole_file_name() -> None:
    assert sidecar_path(Path("out/a.b.jpg")) == Path("out/a.b.jpg.t2o.json")


@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        ("silver.json", "silver"),
        ("v1.5.json", "v1.5"),
        ("out/a.jpg.t2o.json", "a"),
        ("a-edited.png", "a-edited"),
    ],
)
def test_results_are_called_after_a_look(recipe: str, name: str) -> None:
    assert derive_look_name(Path(recipe)) == name


def test_a_sidecar_of_an_earlier_release_is_found_if_it_is_a_recipe(folder: Path) -> None:
    assert find_sidecar(Path("a.jpg")) is None
    Path("a.json").write_text('{"camera": "mine"}')
    assert find_sidecar(Path("a.jpg")) is None
    LOOK.save("a.json", overwrite=True)
    assert find_sidecar(Path("a.jpg")) == Path("a.json")
    LOOK.save("a.jpg.t2o.json")
    assert find_sidecar(Path("a.jpg")) == Path("a.jpg.t2o.json")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sea.png.t2o.json", "sea.json"], ids=["new", "old"])
def test_a_picture_stands_for_its_sidecar(t2o: T2O, dogs: Path, name: str) -> None:
    Path("sea.png").write_bytes(Path("dogs.png").read_bytes())
    LOOK.save(name)
    assert t2o("describe", "sea.png") == t2o("describe", name)
    assert t2o("apply", "sea.png", "dogs.png", "-o", "a.png").code == 0
    assert t2o("apply", name, "dogs.png", "-o", "b.png").code == 0
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    assert t2o("export", "sea.png", "sea.cube").code == 0
    assert t2o("apply", name, "dogs.png") == (0, "dogs.png -> dogs-sea.png\n", "")


def test_who_asks_for_the_old_name_is_told_the_new_one(t2o: T2O, dogs: Path) -> None:
    LOOK.save("sea.png.t2o.json")
    for command in (["describe", "sea.json"], ["apply", "sea.json", "dogs.png"]):
        text = "t2o: sea.json does not exist; perhaps sea.png.t2o.json was meant\n"
        assert t2o(*command) == (2, "", text)


# ---- photos of one name


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_photos_of_one_name_keep_a_recipe_each(t2o: T2O, dogs: Path, pixels: np.ndarray, jobs: int) -> None:
    darker = (pixels // 3).astype(np.uint8)
    copies(pixels, "in/a.png", "in/b.png")
    copies(darker, "in/a.webp", "in/b.tif")
    answer = t2o("edit", "in", "fix the exposure, brighter", "-o", "out", "--jobs", jobs)
    assert (answer.code, answer.err) == (0, "")
    names = ["a.png", "a.webp", "b.png", "b.tif"]
    assert files(dogs / "out") == sorted([*names, *(name + SIDECAR for name in names)])
    for name in names:  # each recipe is that of its own picture
        again = t2onet.apply(Recipe.load(f"out/{name}{SIDECAR}"), f"in/{name}")
        again.save(f"again-{name}")
        assert Path(f"again-{name}").read_bytes() == Path(f"out/{name}").read_bytes()


@pytest.mark.parametrize(
    ("names", "options", "place"),
    [
        ("one/a.png two/a.png", "", "out/a.png"),
        ("a.png a.bmp", "", "out/a.png"),
        ("one/a.png two/a.png", "--variants 2", "out/a-1.png"),
        ("a.png a.bmp", "--overwrite", "out/a.png"),
    ],
)
def test_results_of_one_name_are_refused_before_any_work(
    t2o: T2O, dogs: Path, names: str, options: str, place: str
) -> None:
    one, other = names.split()
    copies(np.asarray(PIL.Image.open("dogs.png")), one, other)
    before = contents(dogs)
    answer = t2o("edit", "dogs.png", one, other, "brighter", "-o", "out", *options.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"t2o: {one} and {other} would both become {place}; ")
    assert contents(dogs) == before


def spell_as_one(monkeypatch: pytest.MonkeyPatch, *, shared: bool) -> None:
    """A file system that ignores upper and lower case, or one that does not."""
    monkeypatch.setattr(photos, "_is_one_file", lambda one, other: shared)


@pytest.mark.parametrize("options", ["", "--overwrite", "--variants 2"])
@pytest.mark.parametrize(
    "names", ["one/a.png two/A.png", "one/ä.png two/A\u0308.png", "in/x/a.png in/X/a.png"]
)
def test_names_that_are_one_to_the_file_system_collide(
    t2o: T2O, dogs: Path, monkeypatch: pytest.MonkeyPatch, names: str, options: str
) -> None:
    one, other = names.split()
    copies(np.asarray(PIL.Image.open("dogs.png")), one, other)
    given = ["in", "-r"] if one.startswith("in") else [one, other]
    command = ["edit", *given, "brighter", "-o", "out", *options.split()]
    before = contents(dogs)
    spell_as_one(monkeypatch, shared=True)
    answer = t2o(*command)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "would both become out/" in answer.err
    assert contents(dogs) == before
    spell_as_one(monkeypatch, shared=False)
    assert t2o(*command).code == 0
    assert len([name for name in files(dogs / "out") if name.endswith(".png")]) in (2, 4)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.jpg", "A.jpg"), ("new/folder/a.jpg", "new/folder/A.jpg"), ("x/a.jpg", "X/a.jpg"), ("é", "e\u0301")],
)
def test_the_file_system_is_asked_whether_names_are_one(folder: Path, one: str, other: str) -> None:
    before = contents(folder)
    said = photos._is_one_file(folder / one, folder / other)
    assert contents(folder) == before
    (folder / one).parent.mkdir(parents=True, exist_ok=True)
    (folder / one).touch()
    assert said == (folder / other).exists()


@pytest.mark.parametrize(
    "given",
    [
        "dogs.png dogs.png",
        "dogs.png ./dogs.png",
        "dogs.png trip/../dogs.png dogs.png",
        "dogs.png *.png",
        ". .",
    ],
)
@pytest.mark.parametrize("command", ["edit", "apply"])
def test_a_photo_that_is_given_twice_is_taken_once(t2o: T2O, dogs: Path, given: str, command: str) -> None:
    Path("trip").mkdir()
    LOOK.save("look.json")
    names = given.split()
    arguments = [*names, "brighter"] if command == "edit" else ["look.json", *names]
    answer = t2o(command, *arguments, "-o", "out")
    assert (answer.code, answer.err) == (0, "note: dogs.png: given more than once, and taken once\n")
    assert answer.out.count(" -> ") == 1
    assert Path("out/dogs.png").exists()


def test_a_photo_that_is_given_twice_can_be_given_a_name(t2o: T2O, dogs: Path) -> None:
    answer = t2o("edit", "dogs.png", "./dogs.png", "brighter", "-o", "new.png")
    assert (answer.code, answer.err) == (0, "note: dogs.png: given more than once, and taken once\n")


def test_two_names_of_one_photo_have_a_result_each(t2o: T2O, dogs: Path) -> None:
    Path("cats.png").symlink_to("dogs.png")
    assert t2o("edit", ".", "brighter", "-o", "out", "--no-sidecar").err == ""
    assert files(dogs / "out") == ["cats.png", "dogs.png"]


def test_a_photo_that_is_missing_twice_is_refused_once(t2o: T2O, dogs: Path) -> None:
    answer = t2o("edit", "none.png", "none.png", "brighter")
    assert (answer.code, answer.err.count("none.png does not exist")) == (2, 1)


def test_a_result_that_another_process_wrote_meanwhile_is_kept(
    t2o: T2O, dogs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = executor.apply

    def apply_after_another_process(*arguments: Any, **options: Any) -> t2onet.Image:
        Path("out/dogs.png").write_bytes(b"theirs")
        return apply(*arguments, **options)

    monkeypatch.setattr(executor, "apply", apply_after_another_process)
    answer = t2o("edit", "dogs.png", "brighter", "-o", "out")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("t2o: out/dogs.png already exists; ")
    assert contents(dogs / "out") == {"dogs.png": b"theirs"}


# ---- going on where a run was interrupted


REQUEST = "more contrast and warmer"


def run_variants(t2o: T2O, *more: str) -> dict[str, bytes | None]:
    """The files of a whole run with two variants, in `out`."""
    assert t2o("edit", "dogs.png", REQUEST, "--variants", "2", "-o", "out", *more).code == 0
    return contents(Path("out"))


@pytest.mark.parametrize(
    "missing",
    [
        ["dogs-1.png"],
        ["dogs-2.png"],
        ["dogs-2.png", "dogs-2.png.t2o.json"],
        ["dogs-1.png.t2o.json"],
        ["dogs-1.png.t2o.json", "dogs-2.png"],
        ["dogs-1.png", "dogs-1.png.t2o.json", "dogs-2.png", "dogs-2.png.t2o.json"],
    ],
    ids=" ".join,
)
def test_what_is_missing_is_made_and_the_rest_is_left_alone(t2o: T2O, dogs: Path, missing: list[str]) -> None:
    whole = run_variants(t2o)
    assert len(whole) == 4
    for name in missing:
        Path("out", name).unlink()
    kept = {path.name: path.stat().st_mtime_ns for path in Path("out").iterdir()}
    assert run_variants(t2o, "--skip-existing") == whole
    assert {name: Path("out", name).stat().st_mtime_ns for name in kept} == kept


def test_only_what_was_made_is_named(t2o: T2O, dogs: Path) -> None:
    run_variants(t2o)
    Path("out/dogs-2.png").unlink()
    again = ["edit", "dogs.png", REQUEST, "--variants", "2", "-o", "out", "--skip-existing"]
    answer = t2o(*again)
    assert [line for line in answer.out.splitlines() if line[0] != " "] == ["dogs.png -> out/dogs-2.png"]
    assert t2o(*again) == (0, "dogs.png: skipped, out/dogs-1.png, out/dogs-2.png exist\n", "")


def test_a_photo_that_is_as_asked_has_one_variant_and_is_skipped(t2o: T2O, dogs: Path) -> None:
    command = ["edit", "dogs.png", "brighter", "--strength", "0", "-o", "out", "--skip-existing"]
    assert t2o(*command).code == 0
    assert "skipped" in t2o(*command).out


def test_a_recipe_of_the_old_name_is_one(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "brighter")
    Path("dogs-edited.png.t2o.json").rename("dogs-edited.json")
    before = contents(dogs)
    answer = t2o("edit", "dogs.png", "brighter", "--skip-existing")
    assert answer == (0, "dogs.png: skipped, dogs-edited.png exists\n", "")
    assert contents(dogs) == before


def test_without_sidecars_none_is_missing(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "brighter", "--no-sidecar")
    assert "skipped" in t2o("edit", "dogs.png", "brighter", "--no-sidecar", "--skip-existing").out
    assert files(dogs) == ["dogs-edited.png", "dogs.png"]
    assert t2o("edit", "dogs.png", "brighter", "--skip-existing").code == 0
    assert files(dogs) == ["dogs-edited.png", "dogs-edited.png.t2o.json", "dogs.png"]


@pytest.mark.parametrize(
    ("missing", "left"), [("dogs.png.t2o.json", "dogs.png"), ("dogs.png", "dogs.png.t2o.json")]
)
def test_nothing_is_put_beside_a_file_of_another_edit(t2o: T2O, dogs: Path, missing: str, left: str) -> None:
    """A recipe that did not make the picture beside it would be a lie."""
    t2o("edit", "dogs.png", "brighter", "-o", "out")
    Path("out", missing).unlink()
    before = contents(dogs)
    answer = t2o("edit", "dogs.png", "darker", "-o", "out", "--skip-existing")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"t2o: out/{left} exists without its ")
    assert answer.err.count("\n") == 1
    assert contents(dogs) == before
    assert t2o("edit", "dogs.png", "darker", "-o", "out", "--overwrite").code == 0


def test_variants_of_another_request_are_not_completed(t2o: T2O, dogs: Path) -> None:
    """Else the variants to choose from would be answers to two requests."""
    run_variants(t2o)
    Path("out/dogs-2.png").unlink()
    Path("out/dogs-2.png.t2o.json").unlink()
    before = contents(dogs)
    answer = t2o("edit", "dogs.png", "darker", "--variants", "2", "-o", "out", "--skip-existing")
    recipe = "out/dogs-1.png.t2o.json"
    said = f"t2o: {recipe} is not what this request makes; give another -o, or --overwrite\n"
    assert answer == (2, "", said)
    assert contents(dogs) == before


@pytest.mark.slow
def test_killed_between_picture_and_recipe_no_wrong_pair_stands(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "darker", "-o", "whole")
    t2o("edit", "dogs.png", "brighter", "-o", "out")
    die = "import os; from t2onet import Recipe; Recipe.save = lambda *_, **__: os._exit(9); "
    arguments = ["edit", "dogs.png", "darker", "-o", "out", "--overwrite"]
    command = [*COMMAND[:-1], die + COMMAND[-1], *arguments]
    assert subprocess.run(command, env=environment(), timeout=PATIENCE, check=False).returncode == 9
    assert contents(dogs / "out") == {"dogs.png": Path("whole/dogs.png").read_bytes()}
    assert t2o("edit", "dogs.png", "darker", "-o", "out", "--skip-existing").code == 0
    assert contents(dogs / "out") == contents(dogs / "whole")


@pytest.mark.parametrize("locked", ["dogs.png", "dogs.png.t2o.json"])
def test_a_pair_that_cannot_be_replaced_stays_as_it_is(t2o: T2O, dogs: Path, locked: str) -> None:
    t2o("edit", "dogs.png", "brighter", "-o", "out")
    Path("out", locked).chmod(0o444)
    before = contents(dogs)
    answer = t2o("edit", "dogs.png", "darker", "-o", "out", "--overwrite")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"t2o: out/{locked} cannot be written: the file is read-only; give another name.\n"
    assert contents(dogs) == before


def test_a_recipe_behind_a_link_is_replaced_there(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "brighter", "-o", "out")
    sidecar, kept = Path("out/dogs.png.t2o.json"), Path("kept.json").absolute()
    sidecar.rename(kept)
    sidecar.symlink_to(kept)
    old = kept.read_bytes()
    assert t2o("edit", "dogs.png", "darker", "-o", "out", "--overwrite").code == 0
    assert sidecar.is_symlink()
    assert kept.read_bytes() != old


def test_a_recipe_that_no_longer_fits_is_said(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "brighter", "-o", "out")
    answer = t2o("edit", "dogs.png", "darker", "-o", "out", "--overwrite", "--no-sidecar")
    note = "out/dogs.png.t2o.json is there from an earlier edit and does not belong to the new one"
    assert answer.err == f"note: dogs.png: {note}\n"


# ---- results are not edited again


NOTE = "note: {}: left out, it is an edit of {}; name it alone to edit it further\n"


def test_a_result_beside_its_photo_is_left_out_of_the_next_folder_run(t2o: T2O, dogs: Path) -> None:
    Path("trip").mkdir()
    Path("dogs.png").rename("trip/dogs.png")
    t2o("edit", "trip/dogs.png", "brighter")
    for given in (["trip"], ["trip/*.png"], sorted(map(str, Path("trip").glob("*.png")))):
        answer = t2o("edit", *given, "warmer", "-o", "out", "--overwrite")
        assert (answer.code, answer.err) == (0, NOTE.format("trip/dogs-edited.png", "trip/dogs.png"))
        assert files(dogs / "out") == ["dogs.png", "dogs.png.t2o.json"]


def test_variants_are_results_too(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", REQUEST, "--variants", "2")
    answer = t2o("edit", ".", "brighter", "-o", "out")
    assert answer.err == "".join(NOTE.format(f"dogs-edited-{n}.png", "dogs.png") for n in (1, 2))
    assert files(dogs / "out") == ["dogs.png", "dogs.png.t2o.json"]
    again = t2o("edit", "dogs.png", "dogs-edited-1.png", "dogs-edited-2.png", REQUEST, "--variants", "2")
    assert "dogs-edited-1.png exists already" in again.err


def test_results_in_a_folder_beside_that_of_their_photos(t2o: T2O, dogs: Path, pixels: np.ndarray) -> None:
    copies(pixels, "all/trip/a.png")
    t2o("edit", "all/trip", REQUEST, "--variants", "2")
    assert files(dogs / "all" / "trip-edited")[0] == "a-1.png"
    answer = t2o("edit", "all", "brighter", "-r", "-o", "out")
    places = [f"all/trip-edited/a-{number}.png" for number in (1, 2)]
    assert answer.err == "".join(NOTE.format(place, "all/trip/a.png") for place in places)
    assert files(dogs / "out") == ["trip/a.png", "trip/a.png.t2o.json"]


def test_results_of_an_earlier_release_are_results(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "brighter")
    Path("dogs-edited.png.t2o.json").rename("dogs-edited.json")
    answer = t2o("edit", ".", "warmer", "-o", "out")
    assert answer.err == NOTE.format("dogs-edited.png", "dogs.png")


def test_what_others_called_edited_is_a_photo(t2o: T2O, dogs: Path, pixels: np.ndarray) -> None:
    # Some phones name their own edits so; without a recipe beside it, it is none of ours.
    copies(pixels, "trip/a.png", "trip/a-edited.png")
    assert t2o("edit", "trip", "warmer", "-o", "out", "--no-sidecar").err == ""
    assert files(dogs / "out") == ["a-edited.png", "a.png"]


def test_a_result_that_is_named_alone_is_edited(t2o: T2O, dogs: Path) -> None:
    t2o("edit", "dogs.png", "brighter")
    answer = t2o("edit", "dogs-edited.png", "warmer")
    assert answer.err == ""
    assert answer.out.startswith("dogs-edited.png -> dogs-edited-edited.png\n")


def test_a_folder_of_results_is_edited_further(t2o: T2O, dogs: Path, pixels: np.ndarray) -> None:
    copies(pixels, "trip/a.png", "trip/a-1.png")
    t2o("edit", "trip", "brighter", "-o", "one")
    assert t2o("edit", "one", "warmer", "-o", "two").err == ""
    assert files(dogs / "two") == files(dogs / "one")


def test_results_of_apply_are_told_by_the_name_of_the_look(t2o: T2O, dogs: Path, pixels: np.ndarray) -> None:
    LOOK.save("crisp-morning.json")
    copies(pixels, "trip/a.png")
    t2o("apply", "crisp-morning.json", "trip/a.png")
    answer = t2o("apply", "crisp-morning.json", "trip", "-o", "out")
    assert answer.err == NOTE.format("trip/a-crisp-morning.png", "trip/a.png")
    assert files(dogs / "out") == ["a.png"]

"""`t2o data pack`, `show` and `stats`: a dataset -> shards, sheets and counts."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from t2onet.cli.data import pack_folder
from t2onet.data.packed import pack_dataset, read_packed
from t2onet.data.plans import PlanSettings, plan_dataset
from t2onet.language.vocabulary import read_word_vectors
from tests.cli.helpers import T2O, pixels
from tests.data.small_set import SIDE, InThisProcess, open_small_set, small_set

PAIRS = 3
PLANNED = ("--plans", "plans", "--plan-size", str(SIDE))


@pytest.fixture
def photos(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small dataset, `photos`."""
    small_set(folder / "photos", PAIRS)
    monkeypatch.setattr("t2onet.data.open_dataset", open_small_set, raising=False)
    return folder


@pytest.fixture
def plans(photos: Path) -> Path:
    dataset = open_small_set(photos / "photos")
    plan_dataset(dataset, photos / "plans", engine=InThisProcess(), settings=PlanSettings(SIDE))
    return photos / "plans"


@pytest.mark.slow
def test_pack(t2o: T2O, plans: Path) -> None:
    small_set(Path("more"), 2)
    arguments = ("data", "pack", "photos", *PLANNED, "--texts", "photos", "--texts", "more", "--size", SIDE)
    answer = t2o(*arguments, "-o", "packed")
    assert (answer.code, answer.err) == (0, "")
    size = sum(path.stat().st_size for path in Path("packed").iterdir()) / 1e6
    counts = f"{PAIRS} samples ({PAIRS} with a plan), {2 * PAIRS} photos and 2 further requests"
    assert answer.out == f"{counts} -> packed, {size:.1f} MB\n"
    packed = read_packed("packed")
    assert packed.photos.shape == (2 * PAIRS, SIDE, SIDE, 3)
    assert all(sample.plan and sample.plan["steps"] for sample in packed.samples)
    assert len(packed.texts) == 2
    again = t2o(*arguments, "-o", "packed")
    assert (again.code, again.out) == (2, "")
    assert again.err == "t2o: packed exists already; give another name or --overwrite\n"
    assert t2o(*arguments, "-o", "packed", "--overwrite").code == 0


@pytest.mark.slow
def test_pack_other_plans_for_the_same_photos(t2o: T2O, plans: Path) -> None:
    assert t2o("data", "pack", "photos", *PLANNED, "--size", SIDE, "-o", "packed").code == 0
    settings = PlanSettings(SIDE, 1)
    plan_dataset(open_small_set(Path("photos")), plans, engine=InThisProcess(), settings=settings)
    told = ("data", "pack", "photos", "--photos-of", "packed", "-o", "one-step")
    answer = t2o(*told, *PLANNED, "--plan-steps", 1)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"{PAIRS} samples ({PAIRS} with a plan), 0 photos")
    assert len(read_packed("one-step").photos) == 2 * PAIRS
    assert t2o(*told, "--overwrite").err.startswith("t2o: with --photos-of only plans are packed")


def test_pack_with_word_vectors(t2o: T2O, photos: Path) -> None:
    Path("glove.txt").write_text("make 1 2\nbrighter 3 4\n")
    arguments = ("data", "pack", "photos", "--size", SIDE, "-o", "packed")
    assert t2o(*arguments, "--glove", "nowhere.txt").err.startswith("t2o: nowhere.txt cannot be read as word")
    assert t2o(*arguments, "--vocabulary", "words.json").err.startswith("t2o: --vocabulary is the word list")
    assert not Path("packed").exists()
    answer = t2o(*arguments, "--glove", "glove.txt")
    assert (answer.code, answer.err) == (0, "")
    words = read_word_vectors(Path("packed/words.npz"))
    assert answer.out.endswith(f" of them without a vector -> {Path('packed/words.npz')}\n")
    assert words.vectors.shape == (len(words.vocabulary), 2)


def test_pack_tells_what_it_leaves_out(t2o: T2O, photos: Path) -> None:
    Path("photos/001-after.png").write_bytes(b"no photo")
    answer = t2o("data", "pack", "photos", "-o", "packed", "--split", "train")
    assert answer.err.startswith("left out: pair-001: ")
    assert len(read_packed("packed").samples) == 2


def test_defaults_of_pack_are_those_of_python() -> None:
    ours, python = (inspect.signature(function).parameters for function in (pack_folder, pack_dataset))
    for name in ("size", "quality", "overwrite"):
        assert ours[name].default == python[name].default


@pytest.mark.slow
def test_plans_of_another_size_are_no_plans(t2o: T2O, plans: Path) -> None:
    answer = t2o("data", "pack", "photos", "--plans", "plans", "-o", "packed")
    assert (answer.code, answer.out) == (2, "")
    assert "no plan of these samples made with size 128, steps 6" in answer.err
    assert not Path("packed").exists()


def test_show(t2o: T2O, photos: Path) -> None:
    assert t2o("data", "show", "photos", "-o", "sheet.png", "--count", 2) == (
        0,
        f"2 of {PAIRS} samples -> sheet.png\n",
        "",
    )
    assert pixels("sheet.png").shape[1] > 1500
    first = Path("sheet.png").read_bytes()
    answer = t2o("data", "show", "photos", "-o", "sheet.png", "--seed", 1)
    assert (answer.code, answer.err) == (
        2,
        "t2o: sheet.png exists already; give another name or --overwrite\n",
    )
    t2o("data", "show", "photos", "-o", "sheet.png", "--overwrite")
    assert Path("sheet.png").read_bytes() != first


@pytest.mark.slow
def test_stats(t2o: T2O, plans: Path) -> None:
    answer = t2o("data", "stats", "photos", *PLANNED, "-o", "stats.png")
    assert (answer.code, answer.err) == (0, "")
    titles = ("Words in a request", "What is asked for", "Plans that use an operation", "Mean difference")
    assert all(title in answer.out for title in titles)
    assert [line.split() for line in answer.out.splitlines()][1] == ["4", str(PAIRS), "100.0", "%"]
    assert answer.out.endswith("-> stats.png\n")
    assert pixels("stats.png").shape[1] > 1000


def test_stats_without_a_picture(t2o: T2O, photos: Path) -> None:
    answer = t2o("data", "stats", "photos")
    assert (answer.code, "->" in answer.out) == (0, False)


@pytest.mark.parametrize("command", ["show", "stats"])
def test_pictures_that_cannot_be_written(t2o: T2O, photos: Path, command: str) -> None:
    for name, words in (("sheet.jpg", "is written as .png"), ("no/sheet.png", "there is no folder no")):
        answer = t2o("data", command, "photos", "-o", name)
        assert (answer.code, answer.out) == (2, "")
        assert words in answer.err

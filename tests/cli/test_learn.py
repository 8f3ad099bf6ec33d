"""`t2o learn` and `t2o edit --style`: pairs -> a style -> photos in it."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet import Recipe
from t2onet.cli.learn import list_doubts
from t2onet.editor import learning
from t2onet.editor.learning import MIN_PAIRS
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.editor.styles import BASIS_SIZE, Style
from tests.cli.helpers import T2O, contents, files, photo, pixels
from tests.planning.scenes import scene

HIDDEN = Recipe.from_steps([("exposure", 0.5), ("white_balance", (15, 0))])


@pytest.fixture
def pairs(folder: Path) -> Path:
    """Pairs under `mine`, each after the same recipe."""
    for side in ("before", "after"):
        Path("mine", side).mkdir(parents=True)
    for number in range(MIN_PAIRS):
        before = scene(128, number)
        for side, picture in (("before", before), ("after", apply_to_thumbnail(HIDDEN, before))):
            shown = np.uint8(255 * picture.transpose(1, 2, 0) + 0.5)
            PIL.Image.fromarray(shown).save(f"mine/{side}/{number}.png")
    return folder


def test_a_style_is_learned_and_used(t2o: T2O, pairs: Path) -> None:
    learned = t2o("learn", "mine", "-o", "mine.style")
    assert learned.code == 0
    assert learned.out.splitlines()[0] == f"{MIN_PAIRS} pairs learned -> mine.style"
    found = re.search(r"mean difference (\.\d+) -> (\.\d+) \((\.\d+) if all", learned.out)
    assert found is not None
    none, style, mean = map(float, found.groups())
    assert none > 0.05
    assert max(style, mean) < 0.02
    assert "5 pairs are few" in learned.err
    assert files(pairs) == ["look.json", *(n for n in files(pairs) if n.startswith("mine/")), "mine.style"]
    photo_new = np.uint8(255 * scene(128, 77).transpose(1, 2, 0) + 0.5)
    PIL.Image.fromarray(photo_new).save("new.png")
    done = t2o("edit", "new.png", "fix this", "--style", "mine.style", "-o", "out.png", "--json")
    assert done.code == 0, done.err
    entry = json.loads(done.out)[0]
    assert entry["mode"] == "expert"
    assert Recipe.load("out.png.t2o.json") == Recipe.model_validate(entry["recipe"])
    expected = 255 * apply_to_thumbnail(HIDDEN, photo_new.transpose(2, 0, 1) / np.float32(255))
    assert np.abs(pixels("out.png").transpose(2, 0, 1) - expected).mean() < 0.02 * 255


def test_the_answer_as_json(t2o: T2O, pairs: Path) -> None:
    Path("mine/before/junk.png").write_bytes(b"junk")
    Path("mine/after/junk.png").write_bytes(b"junk")
    photo("mine/before/alone.png")
    done = t2o("learn", "mine", "-o", "mine.style", "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["path"], answer["pairs"]) == (0, "mine.style", MIN_PAIRS)
    assert answer["held_out"]["style"] < answer["held_out"]["none"]
    assert [line.split(":")[0] for line in answer["left_out"]] == ["alone.png", "junk"]
    assert done.err.count("note: left out: ") == 2


def test_a_folder_of_junk_is_refused_in_one_line(t2o: T2O, folder: Path) -> None:
    for number in range(6):
        for name in (f"mine/{number}.jpg", f"mine/{number}-edited.jpg"):
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(b"junk")
    before = contents(folder)
    done = t2o("learn", "mine", "-o", "mine.style")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("t2o: a style needs at least 5 pairs, and 0 of 6 can be used (")
    assert contents(folder) == before
    photo("mine/a.jpg")
    none = t2o("learn", "look.json", "-o", "mine.style")
    assert (none.code, none.err.count("\n")) == (2, 1)


def test_it_is_refused_before_the_work_where_nothing_can_come_of_it(
    t2o: T2O, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "measure_pair", pytest.fail)
    Path("mine.style").write_text("mine")
    kept = t2o("learn", "mine", "-o", "mine.style")
    assert (kept.code, "exists already; give another name or --overwrite" in kept.err) == (2, True)
    assert Path("mine.style").read_text() == "mine"
    nowhere = t2o("learn", "mine", "-o", "absent/mine.style")
    assert (nowhere.code, "there is no folder absent" in nowhere.err) == (2, True)
    many = t2o("learn", "mine", "mine", "mine", "-o", "new.style")
    assert (many.code, "3 folders were given" in many.err) == (2, True)


def test_a_run_that_was_stopped_goes_on(t2o: T2O, pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, measured = learning.measure_pair, []

    def stop_at_the_third(pair: learning.PairFiles) -> learning.PairSample:
        measured.append(pair.name)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return measure(pair)

    monkeypatch.setattr(learning, "measure_pair", stop_at_the_third)
    stopped = t2o("learn", "mine", "-o", "mine.style", "--jobs", "1")
    assert (stopped.code, stopped.out) == (130, "")
    assert stopped.err == "t2o: stopped; the same command continues where it stopped\n"
    assert not Path("mine.style").exists()
    first = measured[:2]
    measured.extend(["", ""])  # the third has been
    assert t2o("learn", "mine", "-o", "mine.style", "--jobs", "1").code == 0
    assert not {*first} & {*measured[5:]}
    assert not Path("mine.style.journal").exists()


def test_what_was_measured_outlives_an_error(t2o: T2O, pairs: Path) -> None:
    journal = Path("mine.style.journal")
    Path("mine/after/0.png").rename("mine/0.png")  # four pairs are left
    assert t2o("learn", "mine", "-o", "mine.style", "--jobs", "1").code == 2
    kept = journal.read_bytes()
    assert t2o("learn", "mine", "-o", "mine.style", "--jobs", "1").code == 2
    assert journal.read_bytes() == kept
    Path("mine/0.png").rename("mine/after/0.png")
    assert t2o("learn", "mine", "-o", "mine.style", "--jobs", "1").code == 0
    assert not journal.exists()


def test_the_journal_is_kept_where_the_disk_failed(
    t2o: T2O, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side in ("before", "after"):
        PIL.Image.open(f"mine/{side}/0.png").save(f"mine/{side}/z.png")
    measure = learning.measure_pair

    def fail_for_one(pair: learning.PairFiles) -> learning.PairSample:
        if pair.name == "z":
            raise OSError(errno.EIO, "Input/output error", str(pair.before))
        return measure(pair)

    monkeypatch.setattr(learning, "measure_pair", fail_for_one)
    done = t2o("learn", "mine", "-o", "mine.style")
    assert done.code == 0
    assert "note: mine.style.journal is kept; the same command with --overwrite" in done.err
    measured: list[str] = []

    def note(pair: learning.PairFiles) -> learning.PairSample:
        measured.append(pair.name)
        return measure(pair)

    monkeypatch.setattr(learning, "measure_pair", note)
    again = t2o("learn", "mine", "-o", "mine.style", "--overwrite")
    assert (again.code, measured) == (0, ["z"])
    assert again.out.startswith(f"{MIN_PAIRS + 1} pairs learned")
    assert not Path("mine.style.journal").exists()


def test_a_file_named_like_the_journal_is_left_alone(t2o: T2O, pairs: Path) -> None:
    Path("trip.journal").write_text("Day one: rain.")
    done = t2o("learn", "mine", "-o", "trip")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert Path("trip.journal").read_text() == "Day one: rain."
    assert not Path("trip").exists()


def test_options_that_contradict_a_style_are_refused(t2o: T2O, folder: Path) -> None:
    photo("a.png")
    for options, reason in (
        (("--mode", "literal"), "--style retouches photos, and --mode literal does not"),
        (("--network", "folder"), "--style and --network both say what retouches"),
        ((), "mine.style does not exist; make a style by t2o learn PAIRS"),
    ):
        done = t2o("edit", "a.png", "warmer", "--style", "mine.style", *options)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert reason in done.err
    not_one = t2o("edit", "a.png", "warmer", "--style", "look.json")
    assert (not_one.code, "look.json is not a style" in not_one.err) == (2, True)


@pytest.mark.parametrize(
    ("held_out", "pairs", "doubts"),
    [
        (learning.HeldOut(0.06, 0.05, 0.031), 100, []),
        (learning.HeldOut(0.06, 0.004, 0.004), 100, []),  # one look for all photos
        (learning.HeldOut(0.06, 0.004, 0.004), 5, ["5 pairs are few"]),
        (learning.HeldOut(0.06, 0.07, 0.058), 100, ["these pairs contradict each other"]),
        (learning.HeldOut(0.06, 0.05, 0.05), 100, ["these pairs differ in ways that their photos do not"]),
    ],
)
def test_a_style_that_may_disappoint_is_doubted(
    held_out: learning.HeldOut, pairs: int, doubts: list[str]
) -> None:
    style = Style(np.zeros((BASIS_SIZE, 3)), np.zeros((0, 1)), np.zeros((0, BASIS_SIZE, 3)), 0.0, pairs)
    found = list_doubts(learning.LearnedStyle(style, held_out))
    assert [note[: len(doubt)] for note, doubt in zip(found, doubts, strict=True)] == doubts

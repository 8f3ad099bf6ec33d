"""Photographers' words: the checks on edits made by hand, the list itself, and how it is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from bench.word_checks import WordTurn, parse_check
from bench.words import (
    EXAMPLES,
    KINDS,
    PHOTOS,
    Entry,
    Photo,
    check_entry,
    format_failures,
    format_table,
    main,
    parse_entry,
    read_entries,
    run_list,
    share_met,
)
from t2onet.errors import DataError, RequestError
from t2onet.executor import apply
from t2onet.metrics.regions import View
from t2onet.options import ReaderName
from t2onet.recipe import Recipe
from t2onet.recipe.looks import find_look

Steps = Sequence[tuple[str, object]]


@cache
def photo_pixels() -> np.ndarray:
    """(120, 160, 3) uint8: every hue from dark to light, some greys, and a little texture."""
    rows, columns = np.mgrid[0:1:120j, 0:1:160j]
    hue = 6 * columns
    ramps = [np.clip(np.abs((hue + shift) % 6 - 3) - 1, 0, 1) for shift in (0.0, 4.0, 2.0)]
    light = (0.08 + 0.85 * rows)[..., None]
    colour = light * (1 - 0.55 * (rows[..., None] < 0.85) * (1 - np.stack(ramps, -1)))
    texture = np.random.default_rng(0).normal(0, 0.02, (120, 160, 1))
    return np.uint8(255 * np.clip(colour + texture, 0, 1))


def measure(check: str, steps: Steps, before: Steps = (), text: str = "", declined: bool = False) -> float:
    """The score of a check of an edit by these steps, after an edit by others."""
    photo = Photo("synthetic", photo_pixels())
    start, end = Recipe.from_steps(before), Recipe.from_steps([*before, *steps])
    views = [photo.view, photo.render(start), photo.render(end)]
    change = WordTurn(views[1], views[2], start, end, text, declined, answer, views)
    score = parse_check(check).measure(change)
    assert score is not None
    return score


def answer(sentence: str) -> View:
    """A stand-in for the editor that knows one kind of sentence: `contrast 0.2`."""
    operation, value = sentence.split()
    return Photo("synthetic", photo_pixels()).render(Recipe.from_steps([(operation, float(value))]))


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        ("L+", ("exposure", 0.3), ("exposure", -0.3)),
        ("L-", ("exposure", -0.3), ("exposure", 0.3)),
        ("C+", ("contrast", 0.2), ("contrast", -0.2)),
        ("S-", ("saturation", -0.2), ("saturation", 0.2)),
        ("W+", ("white_balance", {"temperature": 20}), ("white_balance", {"temperature": -20})),
        ("A-", ("white_balance", {"tint": -20}), ("white_balance", {"tint": 20})),
        ("X+", ("sharpness", 0.4), ("sharpness", -0.2)),
        ("shadows.L+", ("shadows", 30), ("shadows", -30)),
        ("blacks.L-", ("blacks", -25), ("blacks", 25)),
        ("highlights.L-", ("highlights", -30), ("highlights", 30)),
        ("whites.L-", ("whites", -30), ("whites", 30)),
        ("midtones.L+", ("exposure", 0.3), ("exposure", -0.3)),
        ("blues.S+", ("mixer", {"saturation": {"blue": 40}}), ("mixer", {"saturation": {"blue": -40}})),
        ("greens.L-", ("mixer", {"lightness": {"green": -40}}), ("mixer", {"lightness": {"green": 40}})),
        ("reds.hue>orange", ("mixer", {"hue": {"red": 50}}), ("mixer", {"hue": {"red": -50}})),
        ("towards blue", ("white_balance", {"temperature": -20}), ("white_balance", {"temperature": 20})),
        ("away from green", ("white_balance", {"tint": 20}), ("white_balance", {"tint": -20})),
        (
            "shadows.towards teal",
            ("grading", {"shadows": {"hue": 185, "strength": 30}}),
            ("grading", {"shadows": {"hue": 5, "strength": 30}}),
        ),
        ("ev -0.5", ("exposure", -0.5), ("exposure", 0.5)),
        ("vignette+", ("vignette", -30), ("vignette", 30)),
        ("clarity+", ("clarity", 60), ("clarity", -60)),
        ("haze-", ("dehaze", 50), ("dehaze", -50)),
    ],
)
def test_directions_are_met_and_their_opposites_seen(
    check: str, right: tuple[str, object], wrong: tuple[str, object]
) -> None:
    assert measure(check, [right]) >= 1
    assert measure(check, [wrong]) <= -1
    assert -1 < measure(check, []) < 1


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        ("ev +0.33", ("exposure", 0.36), ("exposure", 0.5)),
        ("set contrast 0.20", ("contrast", 0.2), ("contrast", 0.25)),
        ("set exposure -1", ("exposure", -1.0), ("exposure", -0.9)),
        ("set highlights -30", ("highlights", -30), ("shadows", -30)),
        (
            "set white_balance.tint 12",
            ("white_balance", {"tint": 12}),
            ("white_balance", {"temperature": 12}),
        ),
        (
            "set mixer.blue saturation -50",
            ("mixer", {"saturation": {"blue": -50}}),
            ("mixer", {"lightness": {"blue": -50}}),
        ),
        ("more C than contrast 0.05", ("contrast", 0.2), ("contrast", 0.05)),
        ("less L than exposure 1", ("exposure", 0.3), ("exposure", 1.2)),
        ("only shadows", ("shadows", 30), ("exposure", 0.3)),
        ("only highlights", ("highlights", -30), ("exposure", -0.3)),
        ("only blues", ("mixer", {"saturation": {"blue": 40}}), ("saturation", 0.3)),
        ("kept L", ("saturation", 0.0), ("exposure", 0.3)),
        ("kept highlights", ("shadows", 30), ("exposure", 0.5)),
        ("kept blues", ("mixer", {"saturation": {"orange": -60}}), ("saturation", -0.3)),
        ("kept skin", ("mixer", {"saturation": {"blue": 50}}), ("white_balance", {"temperature": 30})),
        ("not L-", ("exposure", 0.5), ("exposure", -0.5)),
        ("unblown", ("shadows", 30), ("whites", 100)),
        ("uncrushed", ("shadows", -10), ("blacks", -100)),
        ("grey", ("black_and_white", 100), ("saturation", -0.5)),
        ("grain+", ("grain", 40), ("exposure", 0.2)),
        ("noise-", ("denoise", {"luminance": 60}), ("sharpness", 0.3)),
        ("noise-", ("denoise", {"luminance": 60}), ("grain", 40)),
        ("shadows.L+ or C+", ("contrast", 0.2), ("exposure", -0.3)),
    ],
)
def test_other_measurements_are_met_or_not(
    check: str, right: tuple[str, object], wrong: tuple[str, object]
) -> None:
    assert measure(check, [right]) >= 1
    assert measure(check, [wrong]) < 1


def test_a_look_is_named_or_resembled() -> None:
    moody = [(step.operation, step.parameters) for step in find_look("moody").recipe.steps]
    assert measure("look noir|moody", moody) == 1
    assert measure("look noir|airy", moody) == 0
    assert measure("look moody", [("exposure", 0.5)], text="Your photo in the look Moody.") == 1
    assert measure("look moody", [("exposure", 0.5)], text="Brighter because of “moody”.") == 0
    assert measure("look moody", [], text="Moody it is.") == 0


def test_answers_without_an_edit() -> None:
    brighter = [("exposure", 0.5)]
    assert measure("declined", [], declined=True) == 1
    assert measure("declined", []) == 0
    assert measure("declined", brighter, declined=True) == 0
    assert measure("partly declined", brighter, declined=True) == 1
    assert measure("partly declined", [], declined=True) == 0
    assert measure("unchanged", [], brighter) == 1
    assert measure("unchanged", brighter) == 0
    assert measure("original", []) == 1
    assert measure("original", [], brighter) == 0
    assert measure("says warm|temperature", [], text="Temperature raised.") == 1
    assert measure("says warm|temperature", [], text="Brighter.") == 0


def test_pictures_of_other_turns() -> None:
    brighter = [("exposure", 0.5)]
    assert measure("same as 1", [], brighter) == 1
    assert measure("same as 0", [], brighter) == 0
    assert measure("stronger", brighter, brighter) >= 1
    assert measure("weaker", [("exposure", -0.5)], brighter) >= 1
    assert measure("weaker", brighter, brighter) <= -1


def test_a_hue_that_the_photo_lacks_is_not_measured() -> None:
    grey = View(np.full((3, 20, 20), 0.5, np.float32))
    for check in (
        "blues.S+",
        "only blues",
        "reds.hue>orange",
        "kept skin",
        "blues.towards teal",
        "blacks.L+",
    ):
        assert parse_check(check).measure(WordTurn(grey, grey)) is None
    assert parse_check("blues.S+ or L+").measure(WordTurn(grey, grey)) == 0


@pytest.mark.parametrize("check", ["", "L", "Q+", "shadows", "towards nowhere", "ev some", "L+ or Q+"])
def test_what_is_no_check_is_refused(check: str) -> None:
    with pytest.raises(DataError, match="no check"):
        parse_check(check)


@dataclass(frozen=True)
class FakeEdit:
    recipe: Recipe
    answered: bool = True

    def explain(self) -> str:
        return self.recipe.describe()


class FakeEditor:
    """Knows a few requests; the recipe after a follow-up is the one it names."""

    RECIPES: ClassVar[dict[str, Steps]] = {
        "brighter": [("exposure", 0.5)],
        "more": [("exposure", 1.0)],
        "darker": [("exposure", -0.5)],
        "undo": [],
    }

    def __init__(self, pixels: np.ndarray) -> None:
        self.current: FakeEdit | None = None

    def ask(self, request: str) -> FakeEdit:
        if request not in self.RECIPES:
            raise RequestError("the request has no words")
        self.current = FakeEdit(Recipe.from_steps(self.RECIPES[request]))
        return self.current

    follow = ask


@pytest.fixture
def photo() -> Photo:
    return Photo("synthetic", photo_pixels(), FakeEditor)


def run(photo: Photo, say: str | list[str], *expect: str) -> list[str]:
    """The checks that fail."""
    entry = parse_entry("conversation", {"say": say, "expect": list(expect)})
    return [text for text, _ in check_entry(entry, photo).failed]


def test_turns_are_compared_with_the_turn_before_and_with_the_start(photo: Photo) -> None:
    turns = ["brighter", "more", "darker", "undo"]
    assert run(photo, turns[:2], "turn 1: ev +0.5", "turn 2: ev +0.5", "ev +1") == []
    assert run(photo, turns[:3], "turn 3: L-", "L-", "turn 2: L-") == ["turn 2: L-"]
    assert run(photo, turns, "turn 4: L+", "original", "same as 0") == []
    assert run(photo, "darker", "L+", "less L than brighter") == ["L+"]


def test_an_error_is_an_answer_that_declines(photo: Photo) -> None:
    assert run(photo, ["brighter", "???"], "turn 2: declined", "turn 2: unchanged", "L+") == []
    assert run(photo, "???", "L+") == ["L+"]


def test_an_entry_that_cannot_be_measured_counts_for_nothing() -> None:
    entry = parse_entry("hues", {"say": "brighter", "expect": ["blues.S+", "L+"]})
    grey = Photo("grey", np.full((20, 20, 3), 120, np.uint8), FakeEditor)
    results = run_list([entry], [grey])
    assert results[0].skipped
    assert not results[0].met
    assert np.isnan(share_met(results))


def test_the_report_counts_opposites_and_names_failures(photo: Photo) -> None:
    entries = [
        parse_entry("amounts", {"say": "brighter", "expect": ["ev +0.5"]}),
        parse_entry("complaints", {"say": "darker", "expect": ["L+"]}),
    ]
    results = run_list(entries, [photo])
    assert [line.split() for line in format_table(results).splitlines()[1:]] == [
        ["amounts", "1", "1", "100.0%", "0"],
        ["complaints", "1", "1", "0.0%", "1"],
        ["all", "2", "2", "50.0%", "1"],
    ]
    assert format_failures(results) == "complaints: 0/1 'darker': L+ x1 OPPOSITE"


@pytest.mark.parametrize(
    "raw",
    [
        {"say": "brighter"},
        {"say": "brighter", "expect": []},
        {"say": "brighter", "expect": ["L+"], "note": "?"},
        {"say": ["brighter", "more"], "expect": ["turn 3: L+"]},
    ],
)
def test_an_entry_that_is_not_one_is_refused(raw: dict[str, object]) -> None:
    with pytest.raises(DataError):
        parse_entry("amounts", raw)


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text('poems = [{ say = "brighter", expect = ["L+"] }]')
    with pytest.raises(DataError, match="poems"):
        read_entries(path)


def test_the_list_has_forty_different_sentences_of_each_kind() -> None:
    entries = read_entries()
    assert min(Counter(entry.kind for entry in entries)[kind] for kind in KINDS) >= 40
    repeated = [say for say, count in Counter(entry.say for entry in entries).items() if count > 1]
    assert repeated == []
    single = [entry for entry in entries if entry.kind != "conversation"]
    assert all(len(entry.say) == 1 for entry in single)


def test_every_look_of_the_list_exists() -> None:
    checks = [check.text for entry in read_entries() for _, check in entry.expect]
    names = {name for text in checks if text.startswith("look ") for name in text[5:].split("|")}
    assert names
    for name in names:
        assert find_look(name).name == name


@pytest.mark.slow
def test_every_entry_can_be_measured_and_an_editor_that_does_nothing_fails_it() -> None:
    """All but those that ask for no change, or only for what must not change."""
    photos = [Photo.open(EXAMPLES / f"{name}.jpg") for name in PHOTOS]
    met_by_nothing = []
    for entry in read_entries():
        scores = [_score_idle(entry, photo) for photo in photos]
        measured = [one for one in scores if None not in one]
        assert measured, entry.title
        if any(all(score is not None and score >= 1 for score in one) for one in measured):
            met_by_nothing.append(entry)
    idle = ("unchanged", "original", "same as")
    assert all(check.text.startswith(idle) for entry in met_by_nothing for _, check in entry.expect)


def _score_idle(entry: Entry, photo: Photo) -> list[float | None]:
    views = [photo.view] * (len(entry.say) + 1)
    change = WordTurn(photo.view, photo.view, answer_to=lambda sentence: photo.view, views=views)
    return [check.measure(change) for _, check in entry.expect]


@pytest.mark.slow
def test_the_command_prints_failures_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.toml"
    path.write_text(
        'amounts = [{ say = "brighter", expect = ["L+"] }, { say = "warmer", expect = ["grey"] }]'
    )
    assert main(["--list", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "amounts: 0/6 'warmer': grey x6" in printed
    assert printed.splitlines()[-1].split() == ["all", "2", "12", "50.0%", "0"]


@pytest.mark.slow
def test_the_command_takes_another_reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], used_readers: list[ReaderName]
) -> None:
    path = tmp_path / "list.toml"
    path.write_text('amounts = [{ say = "brighter", expect = ["L+"] }]')
    assert main(["--list", str(path), "--reader", "free"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "1", "6", "100.0%", "0"]
    assert set(used_readers) == {"free"}
    with pytest.raises(SystemExit):
        main(["--reader", "other"])
    assert "invalid choice: 'other'" in capsys.readouterr().err


def test_a_list_that_cannot_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", str(tmp_path / "none.toml")]) == 2
    path = tmp_path / "list.toml"
    path.write_text("amounts = [")
    assert main(["--list", str(path)]) == 2
    assert "not TOML" in capsys.readouterr().err


def test_the_six_photos_are_among_the_examples() -> None:
    assert all((EXAMPLES / f"{name}.jpg").is_file() for name in PHOTOS)


def test_pictures_are_not_rounded(photo: Photo) -> None:
    recipe = Recipe.from_steps([("exposure", 0.01)])
    expected = np.asarray(apply(recipe, photo_pixels().astype(np.float32) / 255))
    assert np.allclose(photo.render(recipe).picture.transpose(1, 2, 0), expected)

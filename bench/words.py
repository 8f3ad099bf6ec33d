"""Photographers' words: sentences with measurable checks, and the share of them that the editor meets.

`python -m bench words` runs the list `photographers_words.toml` on six of the example photos. `word_checks`
documents the checks. Every picture is measured at 256 pixels; nothing is random.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import PIL.Image

from bench.word_checks import Check, WordTurn, parse_check
from t2onet.editor.editor import Editor
from t2onet.errors import DataError, T2OError
from t2onet.executor import apply
from t2onet.metrics.regions import View
from t2onet.options import DEFAULT_READER, READERS
from t2onet.recipe import Recipe

WORDS_FILE = Path(__file__).with_name("photographers_words.toml")
EXAMPLES = Path(__file__).parent.parent / "examples"
PHOTOS = ("brushes", "dogs", "fig", "meadow", "stream", "sunset")
"""Many colours; hardly any; red and grey; green below a cloudy sky; dark and grey; against the light."""
SIDE = 256
"""Pixels of the longer side."""
KINDS = ("amounts", "zones", "hues", "looks", "complaints", "limits", "compounds", "conversation")
_DECLINES = re.compile(
    r"\b(?:cannot|can ?not|can['’]t|could not|couldn['’]t|do not|don['’]t|did not|didn['’]t|only read|"
    r"nothing (?:was|has been)?\s*changed|not done|unable)\b",
    re.IGNORECASE,
)
"""Words of an answer that says that something was not done."""
_TURN = re.compile(r"turn (\d+): (.+)")


class ReadableEdit(Protocol):
    """What the list reads of an edit."""

    @property
    def recipe(self) -> Recipe: ...
    @property
    def answered(self) -> bool: ...
    def explain(self) -> str: ...


class Turns(Protocol):
    """What the list asks of an editor: `t2onet.Editor`, or a stand-in."""

    @property
    def current(self) -> ReadableEdit | None: ...
    def ask(self, request: str) -> ReadableEdit: ...
    def follow(self, request: str) -> ReadableEdit: ...


OpenEditor = Callable[[np.ndarray], Turns]


class TurnCheck(NamedTuple):
    """A check of one turn against the one before, or (turn 0) of the whole conversation."""

    turn: int
    check: Check


@dataclass(frozen=True)
class Entry:
    """A sentence, or the turns of a conversation, and what is expected of the answers."""

    kind: str
    say: tuple[str, ...]
    expect: tuple[TurnCheck, ...]

    @property
    def title(self) -> str:
        return " / ".join(self.say)


@dataclass(frozen=True)
class Result:
    """An entry on one photo: the checks that failed, with their scores; or that it cannot be measured."""

    entry: Entry
    photo: str
    failed: tuple[tuple[str, float], ...] = ()
    skipped: bool = False
    opposite: bool = False

    @property
    def met(self) -> bool:
        return not self.skipped and not self.failed


def read_entries(path: Path = WORDS_FILE) -> list[Entry]:
    """Read the list: a table of entries for each kind."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not TOML: {error}") from None
    if unknown := data.keys() - set(KINDS):
        raise DataError(f"{path} has the kinds {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    return [parse_entry(kind, raw) for kind, entries in data.items() for raw in entries]


def parse_entry(kind: str, raw: dict[str, Any]) -> Entry:
    """Check an entry of the list: `say` and `expect`, and nothing else."""
    if raw.keys() != {"say", "expect"} or not raw["expect"]:
        raise DataError(f"an entry has `say` and `expect`, and one of {kind} is {raw!r:.200}")
    say = (raw["say"],) if isinstance(raw["say"], str) else tuple(raw["say"])
    checks = []
    for text in raw["expect"]:
        match = _TURN.fullmatch(text)
        turn = int(match[1]) if match else 0
        if turn > len(say):
            raise DataError(f"{text!r} is about a turn that {' / '.join(say)!r:.100} does not have")
        checks.append(TurnCheck(turn, parse_check(match[2] if match else text)))
    return Entry(kind, say, tuple(checks))


class Photo:
    """A small photo, and the pictures that requests about it lead to."""

    def __init__(self, name: str, pixels: np.ndarray, open_editor: OpenEditor = Editor) -> None:
        self.name, self.pixels, self._open_editor = name, pixels, open_editor
        self._answers: dict[str, View] = {}

    @classmethod
    def open(cls, path: Path, open_editor: OpenEditor = Editor) -> Photo:
        with PIL.Image.open(path) as opened:
            image = opened.convert("RGB")
        image.thumbnail((SIDE, SIDE), PIL.Image.Resampling.BOX)
        return cls(path.stem, np.asarray(image), open_editor)

    @cached_property
    def view(self) -> View:
        return self.render(Recipe())

    def render(self, recipe: Recipe) -> View:
        """The picture after a recipe, not rounded to 8 bits."""
        pixels = self.pixels.astype(np.float32) / 255
        after = np.asarray(apply(recipe, pixels)) if recipe.steps else pixels
        return View(np.ascontiguousarray(after.transpose(2, 0, 1)))

    def answer_to(self, request: str) -> View:
        """The picture that a request leads to, remembered."""
        if request not in self._answers:
            self._answers[request] = self.hold_conversation([request])[-1].after
        return self._answers[request]

    def hold_conversation(self, turns: Sequence[str]) -> list[WordTurn]:
        """The change of each turn."""
        editor, changes, views = self._open_editor(self.pixels), [], [self.view]
        recipe = Recipe()
        for number, request in enumerate(turns):
            before = recipe
            text, declined = _take_turn(editor.ask if number == 0 else editor.follow, request)
            recipe = editor.current.recipe if editor.current else Recipe()
            views.append(views[-1] if recipe == before else self.render(recipe))
            changes.append(
                WordTurn(views[-2], views[-1], before, recipe, text, declined, self.answer_to, tuple(views))
            )
        return changes


def _take_turn(take: Callable[[str], ReadableEdit], request: str) -> tuple[str, bool]:
    """The answer in words, and whether it says that something was not done."""
    try:
        edit = take(request)
    except T2OError as error:
        return str(error), True
    text = edit.explain()
    return text, not edit.answered or bool(_DECLINES.search(_without_quotes(text)))


def _without_quotes(text: str) -> str:
    """An answer without the words of the request that it quotes."""
    return re.sub(r"“[^”]*”|\"[^\"]*\"", "", text)


def check_entry(entry: Entry, photo: Photo) -> Result:
    """Run an entry on a photo. It is skipped if one of its checks cannot be measured there."""
    changes = photo.hold_conversation(entry.say)
    last = changes[-1]
    whole = WordTurn(
        photo.view, last.after, Recipe(), last.recipe, last.text, last.declined, last.answer_to, last.views
    )
    scores = [(check.text, turn, check.measure([whole, *changes][turn])) for turn, check in entry.expect]
    if any(score is None for _, _, score in scores):
        return Result(entry, photo.name, skipped=True)
    failed = tuple(
        (f"turn {turn}: {text}" if turn else text, score)
        for text, turn, score in scores
        if score is not None and score < 1.0
    )
    return Result(entry, photo.name, failed, opposite=any(score <= -1.0 for _, score in failed))


def run_list(entries: Iterable[Entry], photos: Sequence[Photo]) -> list[Result]:
    """All entries on all photos."""
    return [check_entry(entry, photo) for entry in entries for photo in photos]


def share_met(results: Iterable[Result]) -> float:
    """Share of the measured results that were met; NaN if nothing was measured."""
    measured = [result.met for result in results if not result.skipped]
    return sum(measured) / len(measured) if measured else float("nan")


def format_table(results: Sequence[Result]) -> str:
    """A line for each kind: entries, measured answers, the share met, and opposites of what was asked."""
    lines = [f"{'kind':<14}{'entries':>8}{'measured':>10}{'met':>8}{'opposite':>10}"]
    for kind in (*KINDS, "all"):
        rows = [result for result in results if kind in (result.entry.kind, "all")]
        if rows:
            measured = [row for row in rows if not row.skipped]
            entries, opposite = len({row.entry for row in rows}), sum(row.opposite for row in rows)
            share = f"{share_met(rows):.1%}"
            lines.append(f"{kind:<14}{entries:>8}{len(measured):>10}{share:>8}{opposite:>10}")
    return "\n".join(lines)


def format_failures(results: Sequence[Result]) -> str:
    """Each entry that failed on some photo: how often, and which checks on how many photos."""
    by_entry: dict[Entry, list[Result]] = defaultdict(list)
    for result in results:
        if not result.skipped:
            by_entry[result.entry].append(result)
    lines = []
    for entry, rows in by_entry.items():
        failures = [row for row in rows if row.failed]
        if failures:
            counts = Counter(text for row in failures for text, _ in row.failed)
            checks = ", ".join(f"{text} x{count}" for text, count in counts.items())
            sign = " OPPOSITE" if any(row.opposite for row in failures) else ""
            lines.append(
                f"{entry.kind}: {len(rows) - len(failures)}/{len(rows)} {entry.title!r}: {checks}{sign}"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table and the failing entries; returns the exit code, 2 for refused input."""
    parser = argparse.ArgumentParser(prog="python -m bench words", description=__doc__)
    parser.add_argument("--photos", type=Path, default=EXAMPLES, metavar="DIR", help="folder of the photos")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; repeatable")
    parser.add_argument("--list", type=Path, default=WORDS_FILE, metavar="FILE", help="another list")
    parser.add_argument("--reader", choices=READERS, default=DEFAULT_READER, help="what reads the sentences")
    options = parser.parse_args(arguments)
    open_editor = partial(Editor, reader=options.reader)
    try:
        entries = [e for e in read_entries(options.list) if not options.kind or e.kind in options.kind]
        photos = [Photo.open(options.photos / f"{name}.jpg", open_editor) for name in PHOTOS]
        results = run_list(entries, photos)
    except (T2OError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{format_failures(results)}\n\n{format_table(results)}")
    return 0

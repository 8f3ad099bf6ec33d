"""Sentences about parts of a photo: whether the part changes as asked, and the rest stays.

`python -m bench local_words` runs `local_words.toml`, 120 sentences on example and MA5k-Req val photos. With
`--teachers DIR` the masks of subject, person and face are those of other networks (`DIR/face/0042.png`), as
in `python -m bench places`; skies of val photos are the dataset's. Other places are those of our own network,
and positions and ranges are what `docs/places.md` says. A check is `place: X+` or `place: X-` with X one of
L, C, S, W, A, X (the attributes of `docs/following.md`), or `place: +hue` or `-hue`. Inside, the change must
be a just-noticeable one in that direction. Outside of all places of a sentence and of a margin around them,
the means of L*, chroma, a* and b* must each move by less than half a just-noticeable amount.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL.Image
import PIL.ImageFilter

from bench.pairs import DATA, ROOT
from t2onet import open_image
from t2onet.editor.editor import Editor
from t2onet.editor.measures import HUE_ANGLES
from t2onet.errors import DataError, T2OError
from t2onet.executor import apply
from t2onet.image import Image
from t2onet.metrics.attributes import MIN_DETAIL
from t2onet.metrics.regions import View
from t2onet.operations.paper import laplacian
from t2onet.places import OpenedPhoto, resolve_where
from t2onet.recipe import Recipe

WORDS_FILE = Path(__file__).with_name("local_words.toml")
SIDE = 256
"""Pixels of the short side at most; val photos are 256 x 256."""
NOTICEABLE = {"L": 0.5, "C": 0.3, "S": 0.5, "W": 0.5, "A": 0.4, "X": 0.03}
NOTICEABLE_CAST = 0.5
MOST_OUTSIDE = 0.5
"""Just-noticeable amounts by which the rest may change."""
INSIDE_BAR, OUTSIDE_BAR = 0.95, 0.90
MARGIN = 0.03
"""Share of the short side around a place that counts neither as inside nor as outside."""
INSIDE_LEVEL, OUTSIDE_LEVEL = 128, 13
MIN_OUTSIDE = 0.01
"""Least share of a photo outside of all places on which a change is measured."""
_SAID_AS = {"foreground": "bottom except sky", "background": "not subject"}
_CHECK = re.compile(
    r"(?P<place>[a-z ]+): (?:(?P<attribute>[LCSWAX])(?P<sign>[+-])|(?P<way>[+-])(?P<hue>\w+))"
)


class LocalCheck(NamedTuple):
    """What should change where, and which way."""

    text: str
    place: str
    quantity: str
    """An attribute's letter, or a hue."""
    sign: int


@dataclass(frozen=True)
class LocalEntry:
    """A sentence, the photos it is said of, and what is expected."""

    kind: str
    say: str
    photos: tuple[str, ...]
    expect: tuple[LocalCheck, ...]


@dataclass(frozen=True)
class LocalResult:
    """A sentence on one photo: scores in just-noticeable amounts; `outside` is None where nothing is."""

    entry: LocalEntry
    photo: str
    inside: dict[str, float]
    outside: float | None
    answer: str
    masks: Counter[str] = field(default_factory=Counter)
    """How many masks came from where."""

    @property
    def is_right(self) -> bool:
        return min(self.inside.values()) >= 1.0

    @property
    def is_spared(self) -> bool | None:
        return None if self.outside is None else self.outside < MOST_OUTSIDE


def read_entries(path: Path = WORDS_FILE) -> list[LocalEntry]:
    """Read the list: a table of entries for each kind."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        LocalEntry(kind, raw["say"], tuple(raw["on"]), tuple(map(parse_check, raw["expect"])))
        for kind, entries in data.items()
        for raw in entries
    ]


def parse_check(text: str) -> LocalCheck:
    """`sky: L-` or `sky: +blue`."""
    match = _CHECK.fullmatch(text)
    if match is None or (match["hue"] and match["hue"] not in HUE_ANGLES):
        raise DataError(f"a check is 'place: L+' or 'place: +blue', and one is {text!r}")
    sign = 1 if (match["sign"] or match["way"]) == "+" else -1
    return LocalCheck(text, match["place"], match["attribute"] or match["hue"], sign)


class LocalPhoto:
    """A photo of the list, and where its places are."""

    def __init__(self, name: str, teachers: Path | None = None) -> None:
        self.name, self._teachers = name, teachers
        is_val = name.isdigit()
        path = DATA / "images" / f"{name}_O.webp" if is_val else ROOT / "examples" / f"{name}.jpg"
        self.image: Image = open_image(path).resize(SIDE)
        self._opened = OpenedPhoto(self.image)

    def find(self, place: str) -> tuple[np.ndarray, str]:
        """Levels (H, W) uint8 of a place, and where they come from."""
        place = _SAID_AS.get(place, place)
        if place.startswith("not "):
            levels, source = self.find(place.removeprefix("not "))
            return 255 - levels, source
        if " except " in place:
            (first, source), (other, _) = map(self.find, place.split(" except "))
            return np.minimum(first, 255 - other), source
        path = self._find_file(place)
        if path is None:
            try:
                return resolve_where(place, self._opened), "our own"
            except T2OError:
                return np.zeros(self.image.pixels.shape[:2], np.uint8), "our own"
        with PIL.Image.open(path) as opened:
            size = self.image.width, self.image.height
            return np.asarray(opened.convert("L").resize(size, PIL.Image.Resampling.BILINEAR)), "teacher"

    def _find_file(self, place: str) -> Path | None:
        """The mask of another network, where there is one with something in it."""
        if not self.name.isdigit():
            return None
        folder = DATA if place == "sky" else self._teachers
        path = None if folder is None else folder / place / f"{self.name}.png"
        return path if path is not None and path.is_file() else None

    def render(self, recipe: Recipe) -> View:
        """The photo after a recipe, not rounded to 8 bits."""
        pixels = self.image.pixels.astype(np.float32) / 255
        after = np.asarray(apply(recipe, pixels)) if recipe.steps else pixels
        return View(np.ascontiguousarray(after.transpose(2, 0, 1)))


def check_entry(entry: LocalEntry, photo: LocalPhoto) -> LocalResult:
    """Say a sentence about a photo, and measure the answer."""
    try:
        edit = Editor(photo.image).ask(entry.say)
        recipe, answer = edit.recipe, edit.explain()
    except T2OError as error:
        recipe, answer = Recipe(), str(error)
    before, after = photo.render(Recipe()), photo.render(recipe)
    masks = [photo.find(check.place) for check in entry.expect]
    inside = {
        check.text: check.sign * measure(before, after, levels >= INSIDE_LEVEL, check.quantity)
        for check, (levels, _) in zip(entry.expect, masks, strict=True)
    }
    rest = find_outside([levels for levels, _ in masks])
    outside = None
    if rest.mean() >= MIN_OUTSIDE:
        outside = max(abs(measure(before, after, rest, name)) for name in "LSWA")
    settings = recipe.format_settings() if recipe.steps else f"nothing: {answer}"
    return LocalResult(
        entry, photo.name, inside, outside, " ".join(settings.split()), Counter(source for _, source in masks)
    )


def find_outside(masks: Sequence[np.ndarray]) -> np.ndarray:
    """(H, W): the pixels farther than the margin from all places."""
    union = PIL.Image.fromarray(np.max(masks, axis=0))
    width = 2 * max(round(MARGIN * min(union.size)), 1) + 1
    return np.asarray(union.filter(PIL.ImageFilter.MaxFilter(width))) < OUTSIDE_LEVEL


def measure(before: View, after: View, chosen: np.ndarray, quantity: str) -> float:
    """By how many just-noticeable amounts a quantity rose on the chosen pixels."""
    if not chosen.any():
        return 0.0
    if quantity in HUE_ANGLES:
        angle = np.radians(HUE_ANGLES[quantity])
        _, red, warm = after.average(chosen) - before.average(chosen)
        return float(red * np.cos(angle) + warm * np.sin(angle)) / NOTICEABLE_CAST
    values = [_measure_attribute(view, chosen, quantity) for view in (before, after)]
    return (values[1] - values[0]) / NOTICEABLE[quantity]


def _measure_attribute(view: View, chosen: np.ndarray, name: str) -> float:
    if name == "S":
        return float(view.chroma[chosen].mean())
    if name == "C":
        return float(view.lab[0][chosen].std())
    if name == "X":
        detail = float(np.abs(np.asarray(laplacian(view.lab[0], 1.0)))[chosen].mean())
        return float(np.log(max(detail, MIN_DETAIL) / max(float(view.lab[0][chosen].std()), 1.0)))
    return float(view.average(chosen)["LAW".index(name)])


def run_list(entries: Sequence[LocalEntry], teachers: Path | None = None) -> Iterator[LocalResult]:
    """All sentences on their photos; val photos are left out where the data is absent."""
    photos: dict[str, LocalPhoto] = {}
    for entry in entries:
        for name in entry.photos:
            if name.isdigit() and not DATA.is_dir():
                continue
            if name not in photos:
                photos[name] = LocalPhoto(name, teachers)
            yield check_entry(entry, photos[name])


def share_right(results: Sequence[LocalResult]) -> float:
    """Share of the answers that changed what was asked, as it was asked."""
    return float(np.mean([result.is_right for result in results]))


def share_spared(results: Sequence[LocalResult]) -> float:
    """Share of the answers that left the rest alone, where there is a rest."""
    return float(np.mean([result.is_spared for result in results if result.is_spared is not None]))


def format_table(results: Sequence[LocalResult]) -> str:
    """A line for each kind of sentence, and one for all."""
    lines = [f"  {'kind':<12}{'answers':>8}{'inside':>9}{'outside':>9}"]
    kinds = dict.fromkeys(result.entry.kind for result in results)
    for kind in (*kinds, "all"):
        chosen = [result for result in results if kind in (result.entry.kind, "all")]
        shares = share_right(chosen), share_spared(chosen)
        lines.append(f"  {kind:<12}{len(chosen):>8}{shares[0]:>9.1%}{shares[1]:>9.1%}")
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> int:
    """Print both shares and the sentences that failed; returns 1 below a bar."""
    parser = argparse.ArgumentParser(prog="python -m bench local_words", description=__doc__)
    parser.add_argument("--teachers", type=Path, help="folder with masks of subject, person and face")
    parser.add_argument("--only", default="", help="sentences with these words alone")
    options = parser.parse_args(arguments)
    entries = [entry for entry in read_entries() if options.only in entry.say]
    results = [*run_list(entries, options.teachers)]
    for result in results:
        if not result.is_right or result.is_spared is False:
            scores = ", ".join(f"{text} {score:.1f}" for text, score in result.inside.items())
            outside = "none" if result.outside is None else f"{result.outside:.2f}"
            print(
                f"  {result.photo}: {result.entry.say}\n    {scores}; outside {outside}; {result.answer:.160}"
            )
    print(format_table(results))
    sources = sum((result.masks for result in results), Counter[str]())
    print(f"  masks: {', '.join(f'{count} {source}' for source, count in sources.items())}")
    right, spared = share_right(results), share_spared(results)
    print(f"  changed as asked inside {right:.1%} (bar: {INSIDE_BAR:.0%}), ", end="")
    print(f"spared outside {spared:.1%} (bar: {OUTSIDE_BAR:.0%})")
    return int(right < INSIDE_BAR or spared < OUTSIDE_BAR)

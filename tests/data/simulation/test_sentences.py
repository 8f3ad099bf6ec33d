"""Sentences that ask for edits: all there is to ask for can be said, and the words are true to it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bench.sentences import even_wish, normalised
from t2onet.data.simulation.grammar.degrees import Band
from t2onet.data.simulation.sentences import LONGEST, MATTERS, MOODS, request
from t2onet.data.simulation.wish import COLOUR, COLOURS, ChangeKind, DrawnWish, Flavour, PhotoChange
from t2onet.language import Attribute

CHANGES = [
    *(PhotoChange(kind, sign) for kind in ChangeKind if kind is not ChangeKind.COLOUR for sign in (1, -1)),
    *(PhotoChange(ChangeKind.COLOUR, sign, colour=colour) for colour in COLOURS for sign in (1, -1)),
]


def draw_sentences(wish: DrawnWish, count: int = 60, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [request(wish, rng) for _ in range(count)]


def many(count: int) -> list[tuple[DrawnWish, str]]:
    rng = np.random.default_rng(1)
    wishes = [even_wish(rng) for _ in range(count)]
    return [(wish, request(wish, rng)) for wish in wishes]


@pytest.mark.parametrize("flavour", [Flavour.ASK, Flavour.DEFECT])
@pytest.mark.parametrize(
    "change", CHANGES, ids=lambda change: f"{change.colour or change.kind}{change.sign:+d}"
)
def test_every_change_can_be_said_in_many_ways(change: PhotoChange, flavour: Flavour) -> None:
    assert len({normalised(text) for text in draw_sentences(DrawnWish(flavour, (change,)))}) > 30


@pytest.mark.parametrize("mood", [*MOODS, "psychedelic"])
def test_every_mood_can_be_said_and_an_unknown_one_by_its_name(mood: str) -> None:
    texts = draw_sentences(DrawnWish(Flavour.VAGUE, (PhotoChange(ChangeKind.CONTRAST, 1),), mood=mood))
    assert len(set(texts)) > 30
    if mood not in MOODS:
        assert sum("psych" in text.lower() for text in texts) > 50


@pytest.mark.parametrize("matter", MATTERS)
def test_every_unanswerable_matter_can_be_said(matter: str) -> None:
    assert len(set(draw_sentences(DrawnWish(Flavour.UNANSWERABLE, matter=matter)))) > 20


@pytest.mark.parametrize("attribute", Attribute)
def test_what_must_stay_is_said(attribute: Attribute) -> None:
    kind = ChangeKind.SHARPNESS if attribute is not Attribute.SHARPNESS else ChangeKind.EXPOSURE
    plain = set(draw_sentences(DrawnWish(Flavour.ASK, (PhotoChange(kind, 1),)), seed=2))
    kept = draw_sentences(DrawnWish(Flavour.ASK, (PhotoChange(kind, 1),), (attribute,)), seed=2)
    assert not plain & set(kept)
    hint = re.compile(
        r"with|keep|leav|leave|touch|don.?t|not|same|alone|untouched|change|hands|mess|like|wrong|happy|preserve"
        r"|maintain|while|lter",
        re.IGNORECASE,
    )
    assert sum(bool(hint.search(text)) for text in kept) >= 55


def test_all_that_makes_up_colour_is_one_word() -> None:
    kept = draw_sentences(DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.SHARPNESS, 1),), COLOUR), count=100)
    assert (
        sum(bool(re.search(r"colou?r|hue", text.lower())) for text in kept) >= 95
    )  # or a slip of the finger
    assert not [text for text in kept if re.search(r"\b(saturation|warmth|tint)\b", text.lower())]


def test_a_small_amount_may_be_said_as_one_that_is_not_too_much() -> None:
    limited = re.compile(r"not (by )?too|over(do|board)|too (extreme|far|heavy)|nothing")
    small, plain, large = (
        [
            text.lower()
            for text in draw_sentences(
                DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.EXPOSURE, 1, amount),)), count=300
            )
        ]
        for amount in (0.5, 1.0, 2.0)
    )
    assert 20 <= sum(bool(limited.search(text)) for text in small) <= 80
    assert sum(bool(limited.search(text)) for text in [*plain, *large]) <= 6


def test_the_same_seed_says_the_same() -> None:
    wish = DrawnWish(
        Flavour.ASK, (PhotoChange(ChangeKind.EXPOSURE, 1, 0.4), PhotoChange(ChangeKind.TEMPERATURE, -1))
    )
    assert draw_sentences(wish) == draw_sentences(wish)
    assert draw_sentences(wish) != draw_sentences(wish, seed=3)


def test_a_sentence_takes_one_draw_whatever_it_says() -> None:
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    request(DrawnWish(Flavour.UNANSWERABLE, matter="crop"), one)
    request(
        DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.TINT, 1), PhotoChange(ChangeKind.CHROMA, 1))),
        other,
    )
    assert one.integers(1000) == other.integers(1000)


def test_sentences_are_printable_of_one_line_and_without_marks_of_the_notation() -> None:
    for _, text in many(3000):
        assert 1 <= len(text) <= LONGEST
        assert text.isprintable()
        assert text == text.strip()
        assert not re.search(r"[<>\[\]|{}^_]|  |\bNone\b", text)


SMALL = (
    r"bit|little|slight|touch|tad|notch|subt|gent|modest|somewhat|small|few points|smidg|dash|lightly|margin"
    r"|shade|faint|too|over|extreme|crazy|drastic|only so"
)
TINY = (
    r"tin(y|iest)|hair|hint|ever so|barely|teen|smidg|whisper|dash|minimal|only just|slight|wee|small|faint"
)
LARGE = (
    r"lot|much|way|far|signif|consid|great|substan|dram|ton|load|big|heav|strong|real|serious|plenty|vast|very"
    r"|bunch|deal|large|lots"
)
HUGE = (
    r"mass|dras|extre|huge|radic|insan|brut|possible|max|far as|crazy|all the way|you can|times|enorm|ridic"
    r"|hell|so so|way way|hardly|barely|almost no|next to|as good as|practically"
)


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.3, TINY), (0.5, SMALL), (2.0, LARGE), (3.0, HUGE)],
    ids=["tiny", "small", "large", "huge"],
)
@pytest.mark.parametrize(
    "kind", [ChangeKind.EXPOSURE, ChangeKind.CHROMA, ChangeKind.TEMPERATURE, ChangeKind.SHARPNESS]
)
def test_amounts_are_said(amount: float, words: str, kind: ChangeKind) -> None:
    texts = [
        text.lower()
        for text in draw_sentences(DrawnWish(Flavour.ASK, (PhotoChange(kind, 1, amount),)), count=150)
    ]
    assert sum(bool(re.search(words, text)) for text in texts) >= 145  # the rest are slips of the finger


def test_a_plain_wish_is_said_without_strong_words() -> None:
    strong = re.compile(
        r"\b(slightly|a (?:little|tad|lot)|significantly|extremely|way|massively|drastically)\b"
    )
    texts = draw_sentences(DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.CONTRAST, 1),)), count=200)
    assert sum(bool(strong.search(text.lower())) for text in texts) <= 2


@pytest.mark.parametrize("kind", [ChangeKind.CONTRAST, ChangeKind.CHROMA, ChangeKind.EXPOSURE])
def test_much_less_is_not_said_as_nothing_left(kind: ChangeKind) -> None:
    nothing = re.compile(r"\b(hardly any|almost no|barely any|next to no|all the way|to the max)\b")
    texts = draw_sentences(DrawnWish(Flavour.ASK, (PhotoChange(kind, -1, 3.0),)), count=400)
    assert not [text for text in texts if nothing.search(text.lower())]


def test_figures_are_said() -> None:
    stops = draw_sentences(
        DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.EXPOSURE, 1, 2.0, spoken=(2.0, "stops")),)),
        count=100,
    )
    assert sum(bool(re.search(r"\b(2|two) ?(stop|ev)", text.lower())) for text in stops) >= 90
    percent = draw_sentences(
        DrawnWish(Flavour.ASK, (PhotoChange(ChangeKind.CHROMA, -1, spoken=(20.0, "percent")),)), count=100
    )
    assert sum("20" in text for text in percent) >= 95


def test_plain_comparatives_stand_before_measured_ones() -> None:
    wish = DrawnWish(
        Flavour.ASK, (PhotoChange(ChangeKind.EXPOSURE, 1, 0.5), PhotoChange(ChangeKind.TEMPERATURE, 1, 1.0))
    )
    unclear = re.compile(r"(a bit|slightly|a little) (brighter|lighter) (and|,|&) warmer")
    assert not [text for text in draw_sentences(wish, count=400) if unclear.search(text.lower())]


def test_every_amount_has_a_band() -> None:
    bands = [Band.of(amount) for amount in (0.1, 0.35, 0.4, 0.75, 1.0, 1.3, 2.0, 2.6, 9.0)]
    named = ["HINT", "HINT", "TOUCH", "TOUCH", "PLAIN", "FAIR", "LOT", "EXTREME", "EXTREME"]
    assert [band.name for band in bands] == named


@pytest.mark.slow
def test_there_are_more_than_twenty_thousand_sentences() -> None:
    assert len({normalised(text) for _, text in many(60_000)}) >= 20_000

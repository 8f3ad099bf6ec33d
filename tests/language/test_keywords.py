"""What the rules read in a request."""

from __future__ import annotations

import pytest

from t2onet.data.simulation.wish import COLOURS, ChangeKind, PhotoChange
from t2onet.language import Attribute
from t2onet.language.keywords import keywords
from t2onet.language.terms import COLOURS as MEANINGS

L, C, S = Attribute.LIGHTNESS, Attribute.CONTRAST, Attribute.COLOURFULNESS
W, R, X = Attribute.WARMTH, Attribute.REDNESS, Attribute.SHARPNESS

ASKED = {
    "Brighten the image": {(L, 1)},
    "make it less dark": {(L, 1)},
    "it's way too dark": {(L, 1)},
    "the photo is darker than I'd like": {(L, 1)},
    "can't see a thing": {(L, 1)},
    "Can you make this picture darker?": {(L, -1)},
    "it came out overexposed": {(L, -1)},
    "lift the shadows": {(L, 1)},
    "recover the highlights": {(L, -1)},
    "brighten the dark areas": {(L, 1)},
    "increase brightness and contrast": {(L, 1), (C, 1)},
    "raise the contrast but lower the saturation slightly": {(C, 1), (S, -1)},
    "brighter, warmer and a bit sharper": {(L, 1), (W, 1), (X, 1)},
    "it looks flat and washed out": {(C, 1)},
    "make the colours pop": {(S, 1)},
    "the colors are too dull": {(S, 1)},
    "desaturate it": {(S, -1)},
    "convert to black and white": {(S, -1)},
    "b&w please": {(S, -1)},
    "take all the colour out": {(S, -1)},
    "warm it up": {(W, 1)},
    "cool it down a bit": {(W, -1)},
    "take the yellow out": {(W, -1)},
    "there's a nasty yellow cast": {(W, -1)},
    "there's a green cast": {(R, 1)},
    "more magenta": {(R, 1)},
    "add a touch of teal": {(R, -1)},
    "less green": {(R, 1), (W, -1)},
    "make it more purple": {(R, 1), (W, -1)},
    "sharpen": {(X, 1)},
    "it's too blurry": {(X, 1)},
    "get rid of the blur": {(X, 1)},
    "soften it": {(X, -1)},
    "brigthen the photo and more saturaton": {(L, 1), (S, 1)},
    "turn the brightness down": {(L, -1)},
    "bring the contrast up": {(C, 1)},
    "lighten it so the grass is green, sharpen it": {(L, 1), (X, 1)},
    "remove the blue tint and make the colours more natural": {(W, 1)},
    "+contrast -saturation": {(C, 1), (S, -1)},
    "brighten it so that the red car shows": {(L, 1)},
}


@pytest.mark.parametrize("request_", ASKED)
def test_what_is_asked(request_: str) -> None:
    reading = keywords(request_)
    assert {(intent.attribute, intent.sign) for intent in reading.intents} == ASKED[request_]
    assert reading.confident
    assert not reading.unanswerable
    assert not reading.vague


@pytest.mark.parametrize(
    ("request_", "low", "high"),
    [
        ("a tiny bit brighter", 0.2, 0.4),
        ("slightly brighter", 0.4, 0.75),
        ("brighter", 1.0, 1.0),
        ("quite a bit brighter", 1.2, 1.45),
        ("a lot brighter", 1.6, 2.4),
        ("brighten it as much as possible", 2.5, 4.0),
        ("2 stops brighter", 2.0, 2.0),
        ("increase the contrast by 20%", 1.0, 1.0),
    ],
)
def test_how_much(request_: str, low: float, high: float) -> None:
    (intent,) = keywords(request_).intents
    assert low <= intent.amount <= high


@pytest.mark.parametrize(
    ("request_", "asked", "kept"),
    [
        ("brighten it but leave the colours alone", {(L, 1)}, {S}),
        ("sharpen it without changing the contrast", {(X, 1)}, {C}),
        ("warmer. Don't touch the exposure", {(W, 1)}, {L}),
        ("keep the sharpness, contrast as is, make it brighter", {(L, 1)}, {X, C}),
    ],
)
def test_what_must_stay(request_: str, asked: set[object], kept: set[Attribute]) -> None:
    reading = keywords(request_)
    assert {(intent.attribute, intent.sign) for intent in reading.intents} == asked
    assert set(reading.untouched) == kept


@pytest.mark.parametrize(
    "request_",
    [
        "crop it",
        "rotate 90 degrees",
        "remove the man in the background",
        "replace the sky",
        "blur the background",
        "add a rainbow",
        "brighten only her eyes",
        "make the car red",
        "straighten the horizon",
        "make the background white",
    ],
)
def test_what_cannot_be_answered(request_: str) -> None:
    reading = keywords(request_)
    assert reading.unanswerable
    assert reading.intents == ()


@pytest.mark.parametrize(
    "request_", ["make it better", "fix this", "give it a vintage look", "enhance please"]
)
def test_what_is_vague(request_: str) -> None:
    assert keywords(request_).vague


@pytest.mark.parametrize("request_", ["", "???", "my dog", "brighten it, no, darken it", "what time is it"])
def test_where_there_is_nothing_to_be_sure_of(request_: str) -> None:
    assert not keywords(request_).confident


@pytest.mark.parametrize("colour", COLOURS)
def test_colours_mean_what_they_do_in_simulation(colour: str) -> None:
    meant = {
        (intent.attribute, intent.sign) for intent in PhotoChange(ChangeKind.COLOUR, 1, colour=colour).intents
    }
    assert set(MEANINGS[colour]) == meant

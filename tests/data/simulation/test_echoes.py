"""Wishes that real requests could have been said for."""

from __future__ import annotations

from collections import Counter

import numpy as np

from t2onet.data.simulation.echoes import echoes
from t2onet.data.simulation.mining import mine
from t2onet.language.keywords import keywords

SAID = (
    *("make it a lot brighter", "darker", "more contrast please", "less saturation", "warmer and sharper"),
    *("less yellow", "convert to black and white", "lift the shadows", "add some green"),
)


def test_a_wish_asks_for_what_its_request_says() -> None:
    heard, rng, tally = echoes(mine([(text, None) for text in SAID])), np.random.default_rng(0), Counter()
    for _ in range(200):
        draw, text = heard.draw(rng, tally)
        read = {(intent.attribute, intent.sign) for intent in keywords(text).intents}
        assert {(intent.attribute, intent.sign) for intent in draw.wish.intents} == read
        assert bool(draw.before) != bool(draw.after)


def test_no_class_is_left_behind() -> None:
    heard, rng, tally = echoes(mine([(text, None) for text in SAID])), np.random.default_rng(0), Counter()
    for _ in range(300):
        heard.draw(rng, tally)
    assert min(tally.values()) >= 300 // len(tally)

"""How a request is typed: spelling, capitals, punctuation, shortcuts, slips. It knows no photography."""

from __future__ import annotations

import re
from random import Random

from . import typos

_AMERICAN = {
    "colour": "color", "grey": "gray", "favourite": "favorite", "neighbour": "neighbor", "centre": "center",
    "cosier": "cozier", "cosy": "cozy", "mum": "mom", "neutralise": "neutralize", "minimise": "minimize",
    "emphasise": "emphasize", "dramatise": "dramatize", "normalise": "normalize", "optimise": "optimize",
    "licence plate": "license plate", "moustache": "mustache", "sombre": "somber", "harbour": "harbor",
    "make-up": "makeup", "vectorise": "vectorize", "sabre": "saber", "burnt": "burned", "favour": "favor",
    "holiday": "vacation",
}  # fmt: skip
_TO_AMERICAN = re.compile("|".join(sorted(_AMERICAN, key=len, reverse=True)))
_SHORT = tuple(
    (re.compile(rf"\b{long}\b"), short)
    for long, short in (
        *(
            ("please", "pls"),
            ("please", "plz"),
            ("you", "u"),
            ("and", "&"),
            ("picture", "pic"),
            ("thanks", "thx"),
        ),
        *(("saturation", "sat"), ("because", "cuz"), ("image", "img"), ("a lot", "alot"), ("with", "w/")),
        *(("white balance", "WB"), ("going to", "gonna"), ("percent", "%"), ("contrast", "contr.")),
    )
)
_BARE_THE = re.compile(r"\bthe (?=[a-z])", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(a) (?=[aeio](?!ne\b))")
_CAPITAL = re.compile(r"(^|[.!?] +)([a-z])")


def typed(text: str, rng: Random) -> str:
    """`text`, written in British spelling and sentence by sentence in small letters, as somebody types it."""
    text = _spaced(text)
    if rng.random() < 0.72:
        text = _TO_AMERICAN.sub(lambda found: _AMERICAN[found[0]], text)
    if rng.random() < 0.07:
        pattern, short = _SHORT[int(rng.random() * len(_SHORT))]
        text = pattern.sub(short, text)
    if rng.random() < 0.1:
        text = text.replace("'", "")
    if rng.random() < 0.12:
        text = _BARE_THE.sub("", text)
    if rng.random() < typos.RATE:
        text = typos.slip(text, rng)
    return _cased(text, rng)


def _spaced(text: str) -> str:
    text = _ARTICLE.sub(r"\1n ", " ".join(text.split()))
    return text.replace(" ,", ",").replace(" .", ".").replace(" ?", "?")


def _cased(text: str, rng: Random) -> str:
    roll = rng.random()
    if roll < 0.35:
        return text.lower() if roll < 0.25 else text
    if roll < 0.37:
        return text.upper()
    if roll < 0.38:
        return text.title().replace("'S", "'s").replace("'T", "'t")
    return _CAPITAL.sub(lambda found: found[1] + found[2].upper(), text)


def ended(text: str, rng: Random, *, question: bool = False) -> str:
    """With the mark that ends a sentence, or none."""
    roll = rng.random()
    if question:
        return text + ("?" if roll < 0.8 else "??" if roll < 0.83 else "")
    if roll < 0.45:
        return f"{text}."
    return text + ("!" if roll < 0.51 else "!!" if roll < 0.53 else "..." if roll < 0.54 else "")

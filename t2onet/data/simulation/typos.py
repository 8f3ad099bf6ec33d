"""Slips of the finger and of spelling; none turns a word into another that asks for something else."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

RATE = 0.13
"""Share of requests with at least one slip."""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    letter: "".join(row[max(at - 1, 0) : at] + row[at + 1 : at + 2])
    for row in _ROWS
    for at, letter in enumerate(row)
}
_MISSPELT = {
    "brightness": "brigthness brightnes britness brighness brighteness brightnss",
    "brighten": "brigthen britten brighen brightn birghten",
    "brighter": "brigther briter brighetr brightter birghter",
    "saturation": "saturaton saturnation satuation saturtion saturarion",
    "saturated": "saturatd satured saturaded",
    "contrast": "contrats constrast contast contrat contarst",
    "colour": "colur collour coulour",
    "colours": "colurs coulors collours",
    "color": "colr collor",
    "colors": "colros collors",
    "exposure": "expossure exposre expsoure",
    "sharpen": "sharpan sharpin shapren sharpn",
    "sharpness": "sharpnes sharpnness shaprness",
    "sharper": "sharpper shaper",
    "picture": "pictur picure pictrue",
    "photo": "foto phto photto",
    "image": "imge iamge imagge",
    "background": "backround backgroud bakground",
    "temperature": "temprature temperture tempature",
    "vibrant": "vibrent vibrnt vibrand",
    "vibrance": "vibrence vibrace",
    "warmer": "warmr warmmer wrmer",
    "cooler": "coooler cooller",
    "slightly": "slighty slighlty slightely slightley",
    "little": "litle littl liitle",
    "please": "pleas plese pleaze pleease",
    "lighten": "ligthen lightin lihgten",
    "lighter": "ligther lightter",
    "darker": "darkr draker darkker",
    "darken": "darkn draken",
    "highlights": "highlites hilights highlighs",
    "shadows": "shaddows shadws shadwos",
    "increase": "incrase increse incease increaes",
    "decrease": "decrese decrase decreace",
    "enhance": "enhence inhance enhace",
    "yellow": "yelow yellwo yello",
    "visible": "visable visble",
    "significantly": "significanty signficantly significently",
    "desaturate": "desaturte desturate",
    "remove": "remvoe remoe",
    "black": "blak balck",
    "magenta": "magneta majenta",
    "purple": "purpel pruple",
    "dramatic": "dramtic dramatik",
    "definitely": "definately",
}
_ASKING = """
bright brighter brighten light lighter lighten dark darker darken dim dimmer contrast flat flatter flatten
fade faded haze hazy colour color colours colors saturate saturated saturation desaturate vivid vibrant
muted mute warm warmer warmth cool cooler cold colder yellow blue bluer red redder green greener pink pinker
purple orange teal magenta shadow shadows highlight highlights white whites black blacks sharp sharper
sharpen sharpness soft softer soften blur blurry crisp crisper smooth smoother more less lower raise reduce
increase decrease boost drop lift up down add remove cut crop lot bit little very grey gray tone tint hue
punch punchy pale paler rich richer deep deeper dull duller exposure brightness without keep leave only not
touch slight slightly much too
"""
ASKING = frozenset(_ASKING.split())
"""Words that decide what is asked for: no slip may end in, or one letter from, another of them."""


def slip(text: str, rng: Random) -> str:
    """`text` with one or two of its longer words misspelt, where that can be done safely."""
    for _ in range(1 if rng.random() < 0.75 else 2):
        text = _slip_once(text, rng)
    return text


def _slip_once(text: str, rng: Random) -> str:
    words = list(re.finditer(r"[A-Za-z]{4,}", text))
    if not words:
        return text
    found = words[int(rng.random() * len(words))]
    word = found[0]
    wrong = _misspelt(word, rng)
    if wrong == word or not is_safe(word.lower(), wrong.lower()):
        return text
    return text[: found.start()] + wrong + text[found.end() :]


def _misspelt(word: str, rng: Random) -> str:
    known = _MISSPELT.get(word.lower())
    if known and rng.random() < 0.5:
        options = known.split()
        wrong = options[int(rng.random() * len(options))]
        return wrong.capitalize() if word[0].isupper() else wrong
    at = 1 + int(rng.random() * (len(word) - 1))
    return _SLIPS[int(rng.random() * len(_SLIPS))](word, at, rng)


def _neighbour(word: str, at: int, rng: Random) -> str:
    near = _NEIGHBOURS.get(word[at].lower(), word[at])
    return word[:at] + near[int(rng.random() * len(near))] + word[at + 1 :]


def _swapped(word: str, at: int, rng: Random) -> str:
    return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] if at > 1 else word


def _doubled(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at] + word[at:]


def _dropped(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at + 1 :]


_SLIPS = (_neighbour, _swapped, _swapped, _doubled, _dropped, _dropped)


@lru_cache(maxsize=65536)
def is_safe(word: str, wrong: str) -> bool:
    """Whether `wrong` can still only be read as `word`."""
    if wrong in ASKING:
        return False
    others = (other for other in ASKING if other != word and abs(len(other) - len(wrong)) < 2)
    return not any(_one_apart(wrong, other) and not word.startswith(other) for other in others)


def _one_apart(first: str, second: str) -> bool:
    """Whether one letter put in, left out, replaced or swapped makes one of the other."""
    short, long = sorted((first, second), key=len)
    if len(short) < len(long):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    differ = [at for at in range(len(short)) if short[at] != long[at]]
    if len(differ) == 2 and differ[1] == differ[0] + 1:
        return short[differ[0]] == long[differ[1]] and short[differ[1]] == long[differ[0]]
    return len(differ) < 2

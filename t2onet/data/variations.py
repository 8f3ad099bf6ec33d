"""Vary marked sentences as people type them: slips of the finger, words run together, two requests in one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from copy import deepcopy

from ..language.wishes import COMMANDS, FOREIGN, Role, Verb
from .marks import MarkedSentence, MarkedWish

_KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_JOINTS = (
    ", ",
    ", ",
    " and ",
    " and ",
    ". ",
    "; ",
    ", and ",
    " then ",
    ", also ",
    ". Also, ",
    " plus ",
    " - ",
    "\n",
)
_TIGHT_JOINTS = ("/", "/", " / ", "+", " + ", " & ", "&", "->", " -> ", ",", " | ")
"""Joints of requests of a few words."""
_NUMBERINGS = (
    ("1. ", " 2. "),
    ("1) ", ", 2) "),
    ("1- ", "\n2- "),
    ("(a)", " (b)"),
    ("a) ", ", b) "),
    ("- ", "\n- "),
    ("* ", " * "),
)
"""What stands before each request of a list."""
_FEW_WORDS, _MANY_WORDS = 3, 14
"""The most words of a request that a tight joint joins, and of one that is joined at all."""
_TIGHT_SHARE = 0.6
_LIST_SHARE = 0.12
_END_MARKS = " .!?"
_SLIPS = ("drop", "drop", "swap", "double", "wrong", "stretch")
_VARIATIONS_ENDS = {"join": 0.45, "mistype": 0.85, "run together": 1.0}
"""The end of each variation's share of the interval from 0 to 1."""


def vary_sentence(
    sentence: MarkedSentence, others: Sequence[MarkedSentence], generator: random.Random
) -> MarkedSentence:
    """A variation of a sentence, perhaps with one of the others behind it; marks move along."""
    varied = deepcopy(sentence)
    kind = generator.random()
    if kind < _VARIATIONS_ENDS["join"] and is_joinable(varied):
        other = generator.choice(others)
        if is_joinable(other):
            return join_sentences(varied, deepcopy(other), generator)
    if kind < _VARIATIONS_ENDS["mistype"]:
        mistype(varied, generator)
    else:
        run_together(varied, generator)
    return varied


def is_joinable(sentence: MarkedSentence) -> bool:
    """Whether a sentence is a short request about a photo, to which another can be added."""
    return (
        len(sentence.wishes) > 0
        and len(sentence.text.split()) <= _MANY_WORDS
        and all(
            marked.wish.role is not Role.QUESTION
            and marked.wish.verb is Verb.CHANGE
            and marked.wish.what not in (*COMMANDS, FOREIGN)
            for marked in sentence.wishes
        )
    )


def join_sentences(first: MarkedSentence, second: MarkedSentence, generator: random.Random) -> MarkedSentence:
    """Two requests as one, joined by a word or a sign, or as a list."""
    if generator.random() < _LIST_SHARE:
        mark, joint = generator.choice(_NUMBERINGS)
        for marked in first.wishes:
            _move_spans(marked, lambda place: place + len(mark))
    else:
        is_tight = max(len(one.text.split()) for one in (first, second)) <= _FEW_WORDS
        joints = _TIGHT_JOINTS if is_tight and generator.random() < _TIGHT_SHARE else _JOINTS
        mark, joint = "", generator.choice(joints)
    begin = mark + first.text.rstrip(_END_MARKS) + joint
    for marked in second.wishes:
        _move_spans(marked, lambda place: place + len(begin))
    return MarkedSentence(begin + second.text, [*first.wishes, *second.wishes])


def mistype(sentence: MarkedSentence, generator: random.Random) -> None:
    """Mistype a letter of a word, not its last; the first may only be missing."""
    text = sentence.text
    words = list(re.finditer(r"[A-Za-z]{5,}", text))
    if not words:
        return
    match = generator.choice(words)
    kind = generator.choice(_SLIPS)
    begin, end = match.start() + (kind != "drop"), match.end() - (2 if kind == "swap" else 1)
    places = [at for at in range(begin, end) if kind != "swap" or text[at] != text[at + 1]]
    if not places:
        return
    at = generator.choice(places)
    new = {
        "drop": "",
        "swap": text[at + 1] + text[at],
        "double": text[at] * 2,
        "stretch": text[at] * generator.choice((3, 4, 5)),
        "wrong": generator.choice(_list_neighbours(text[at].lower())),
    }[kind]
    _replace(sentence, at, at + 2 if kind == "swap" else at + 1, new)


def _list_neighbours(letter: str) -> str:
    """The letters beside a letter on the keyboard and in the rows above and below."""
    row, column = next((row, keys.index(letter)) for row, keys in enumerate(_KEY_ROWS) if letter in keys)
    near = [keys[max(column - 1, 0) : column + 2] for keys in _KEY_ROWS[max(row - 1, 0) : row + 2]]
    return "".join(near).replace(letter, "")


def run_together(sentence: MarkedSentence, generator: random.Random) -> None:
    """Leave out the space between two words."""
    spaces = [match.start() + 1 for match in re.finditer(r"[a-z] [a-z]", sentence.text)]
    if spaces:
        at = generator.choice(spaces)
        _replace(sentence, at, at + 1, "")


def _replace(sentence: MarkedSentence, start: int, end: int, new: str) -> None:
    """Put other characters in the place of some, and move the marks along."""
    sentence.text = sentence.text[:start] + new + sentence.text[end:]
    shift = len(new) - (end - start)
    for marked in sentence.wishes:
        _move_spans(marked, lambda place: place + shift * (place > start))


def _move_spans(marked: MarkedWish, move: Callable[[int], int]) -> None:
    marked.head = (move(marked.head[0]), move(marked.head[1])) if marked.head else None
    marked.spans = [(move(start), move(end)) for start, end in marked.spans]

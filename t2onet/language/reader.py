"""Read a request: find its wishes by a reader's network, and the numbers that belong to them exactly.

A network is one ONNX file; its vocabulary and the names of the looks it knows are stored in it. The package
has several, by name (`options.READERS`), and each is opened at its first use. Words are split into pieces as
the pretrained encoder was taught them (WordPiece, lower case). Nothing is random.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

import numpy as np

from ..inference import WEIGHTS_FOLDER, open_session
from ..options import DEFAULT_READER, ReaderName, check_reader
from .quantities import Quantity, Unit, find_quantities
from .wishes import (
    DIRECTED_CHANGES,
    HUES,
    PLACES,
    WHATS,
    WHERES,
    WHOLE,
    Amount,
    Direction,
    Role,
    Verb,
    Wish,
)

SLOT_NAMES = ("what", "direction", "amount", "role", "where", "hue", "verb")
"""Outputs of the network that classify each piece, in order; `belongs` and `looks` follow."""
MAX_CHARACTERS = 2000
"""Longer requests are read up to here."""
MAX_PIECES = 126
"""The most pieces of a sentence that are read; what follows is left out."""
MAX_READINGS = 64
"""Requests whose readings are remembered."""
MAX_SHARED_MARGIN = 2.0
"""A word belongs to several wishes where its scores for them differ by less."""
MIN_NOISE = 4
"""Letters of a word from which on it is noise where no two of them are known together."""
MAX_WORD = 40
"""Words of more characters are unknown."""
_DIRECTIONS, _AMOUNTS, _ROLES, _VERBS = tuple(Direction), tuple(Amount), tuple(Role), tuple(Verb)
_LOOKS_NAMED = 3
_LAST_LATIN = 0xFF
MIN_HEAD_PROBABILITY = 0.4
"""What a wish's head must have at least; words that mean nothing have less."""
MAX_NO_HEAD_PROBABILITY, MIN_LONE_PROBABILITY = 0.5, 0.3
"""Where no word is a head by itself: how likely it is at most that there is none, and the best at least."""


@dataclass(frozen=True)
class Reading:
    """The wishes of a request, in the order of their heads, and the request itself."""

    request: str
    wishes: tuple[Wish, ...]


def clean_text(request: str) -> str:
    """A request without control and invisible characters and pictures, wide letters made ordinary."""
    apart = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", request)  # or 1½ becomes 11/2
    plain = unicodedata.normalize("NFKC", apart)
    spaced = (" " if one.isspace() or _is_picture(one) else one for one in plain)
    return "".join(one for one in spaced if one == " " or _is_visible(one))


def _is_picture(character: str) -> bool:
    """Whether a character is an emoji or another symbol beyond those of Western keyboards."""
    return ord(character) > _LAST_LATIN and unicodedata.category(character) == "So"


def _is_visible(character: str) -> bool:
    return not unicodedata.category(character).startswith("C")


@dataclass(frozen=True)
class Word:
    """A word, number or punctuation mark of a sentence, and where it stands."""

    text: str
    start: int
    end: int


def split_words(sentence: str) -> list[Word]:
    """Words and punctuation marks: letters and digits run on, every other sign stands alone."""
    words: list[Word] = []
    start: int | None = None
    for position, character in enumerate(sentence):
        inside = character.isalnum() or unicodedata.category(character) == "Mn"
        if inside and _is_ideograph(character):
            inside = False
        elif inside:
            start = position if start is None else start
            continue
        if start is not None:
            words.append(Word(sentence[start:position], start, position))
            start = None
        if not character.isspace() and not unicodedata.category(character).startswith("C"):
            words.append(Word(character, position, position + 1))
    if start is not None:
        words.append(Word(sentence[start:], start, len(sentence)))
    return words


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff"


def normalize_word(text: str) -> str:
    """In small letters and without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")


def split_pieces(word: str, vocabulary: Mapping[str, int]) -> Iterator[str]:
    """The longest known pieces from left to right; later ones begin with ##.

    An unknown word is [UNK], and so is one of which no two letters are known together ("zxcv").
    """
    pieces: list[str] = []
    start = 0
    while start < len(word) and len(word) <= MAX_WORD:
        prefix = "##" if start else ""
        end = next(
            (end for end in range(len(word), start, -1) if prefix + word[start:end] in vocabulary), start
        )
        if end == start:
            break
        pieces.append(prefix + word[start:end])
        start = end
    is_noise = word.isalpha() and len(word) == len(pieces) >= MIN_NOISE
    if start < len(word) or not word or is_noise:
        return iter(["[UNK]"])
    return iter(pieces)


def encode_words(words: list[Word], vocabulary: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Numbers of the pieces, between [CLS] and [SEP], and the position of each piece's word (-1: none)."""
    numbers, owners = [vocabulary["[CLS]"]], [-1]
    for position, word in enumerate(words):
        pieces = [vocabulary[piece] for piece in split_pieces(normalize_word(word.text), vocabulary)]
        if len(numbers) + len(pieces) > MAX_PIECES + 1:
            break
        numbers += pieces
        owners += [position] * len(pieces)
    return [*numbers, vocabulary["[SEP]"]], [*owners, -1]


class Reader:
    """Reads requests by a network."""

    def __init__(self, path: Path) -> None:
        self._session = open_session(path, optimize=False)  # a run takes 6 ms, and would take 2
        about: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        self._vocabulary = {piece: number for number, piece in enumerate(about["pieces"].split("\n"))}
        self._looks = tuple(about["looks"].split("\n"))
        self._readings = lru_cache(MAX_READINGS)(self._read)

    def read(self, request: str) -> Reading:
        """The wishes of a request; the last readings are remembered, for the photos of a folder."""
        return self._readings(request)

    def _read(self, request: str) -> Reading:
        text = clean_text(request)[:MAX_CHARACTERS]
        words = split_words(text)
        pieces, owners = encode_words(words, self._vocabulary)
        names = [*SLOT_NAMES, "belongs", "looks"]
        outputs = dict(zip(names, self._session.run(names, {"pieces": np.array([pieces])}), strict=True))
        single = {name: value[0] for name, value in outputs.items()}
        decoded = decode_wishes(single, words, owners, self._looks)
        return Reading(request, tuple(attach_quantities(decoded, words, text)))


@dataclass(frozen=True)
class DecodedWish:
    """A wish, and the positions of its head and of all its words in the sentence."""

    wish: Wish
    head: int
    members: frozenset[int]


def decode_wishes(
    outputs: dict[str, np.ndarray], words: Sequence[Word], owners: Sequence[int], looks: Sequence[str]
) -> list[DecodedWish]:
    """The wishes in the network's outputs (T, classes) for one sentence, one for each head."""
    found: list[DecodedWish] = []
    heads = find_heads(outputs["what"], owners)
    belongs_least = np.maximum(outputs["belongs"][:, heads].max(axis=1, initial=0) - MAX_SHARED_MARGIN, 0)
    for piece in heads:
        owner = owners[piece]
        wish = _decode_wish({name: value[piece] for name, value in outputs.items()}, words[owner], looks)
        pieces = np.flatnonzero(outputs["belongs"][:, piece] > belongs_least)
        belongs = {owners[at] for at in pieces.tolist()} | {owner}
        members = frozenset(member for member in belongs if member >= 0 and words[member].text[0].isalnum())
        if wish.where in PLACES and members == {owner}:  # a place is named by a word of its own
            wish = replace(wish, where=WHOLE)
        found.append(DecodedWish(wish, owner, members))
    return found


def find_heads(scores: np.ndarray, owners: Sequence[int]) -> list[int]:
    """The pieces at which wishes have their heads, from scores (T, classes) of what they are.

    Where no piece is one by itself, but some piece is more likely than not, the likeliest is taken.
    """
    starts = [at for at, owner in enumerate(owners) if owner >= 0 and owners[at - 1] != owner]
    if not starts:
        return []
    exponents = np.exp(scores[starts] - scores[starts].max(axis=1, keepdims=True))
    chances = exponents / exponents.sum(axis=1, keepdims=True)
    likeliest = chances[:, 1:].max(axis=1)
    is_head = (likeliest > chances[:, 0]) & (likeliest > MIN_HEAD_PROBABILITY)
    if is_head.any():
        return [starts[number] for number in np.flatnonzero(is_head)]
    best = int(likeliest.argmax())
    is_likely = chances[:, 0].prod() < MAX_NO_HEAD_PROBABILITY and likeliest[best] > MIN_LONE_PROBABILITY
    return [starts[best]] if is_likely else []


def _decode_wish(outputs: dict[str, np.ndarray], head: Word, looks: Sequence[str]) -> Wish:
    """The wish whose head is a word, from the outputs (classes,) at the word's first piece."""
    choice = {name: int(outputs[name].argmax()) for name in SLOT_NAMES}
    choice["what"] = int(outputs["what"][1:].argmax()) + 1
    what = WHATS[choice["what"] - 1]
    if what in DIRECTED_CHANGES:
        choice["direction"] = int(outputs["direction"][:-1].argmax())
    return Wish(
        what,
        _DIRECTIONS[choice["direction"]],
        _AMOUNTS[choice["amount"]],
        WHERES[choice["where"]],
        HUES[choice["hue"] - 1] if choice["hue"] and what in ("cast", "recolour") else "",
        _ROLES[choice["role"]],
        _VERBS[choice["verb"]],
        head=head.text,
        start=head.start,
        looks=_rank_looks(outputs["looks"], looks) if what == "look" else (),
    )


def _rank_looks(scores: np.ndarray, looks: Sequence[str]) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-scores, kind="stable")[:_LOOKS_NAMED]
    return tuple((looks[number], float(scores[number])) for number in order)


def attach_quantities(decoded: Sequence[DecodedWish], words: Sequence[Word], text: str) -> list[Wish]:
    """The wishes with their numbers and words: each has the first number among its words.

    A wish that is stated twice is one, unless each time has a number of its own.
    """
    places = [
        (
            quantity,
            {at for at, word in enumerate(words) if word.start < quantity.end and word.end > quantity.start},
        )
        for quantity in find_quantities(text)
    ]
    found: dict[tuple[object, ...], DecodedWish] = {}
    for one in decoded:
        own = [
            (_read_as(quantity, one.wish.what), inside) for quantity, inside in places if one.members & inside
        ]
        quantity = own[0][0] if own else None
        members = one.members.union(*(inside for _, inside in own))
        wish = one.wish
        key: tuple[object, ...] = (wish.what, wish.direction, wish.where, wish.hue, wish.role)
        same = found.get(key)
        if same is not None and quantity and same.wish.quantity not in (None, quantity):
            key = (*key, one.head)
            same = None
        first = same or DecodedWish(replace(wish, quantity=quantity), one.head, members)
        merged = replace(first.wish, quantity=first.wish.quantity or quantity)
        found[key] = DecodedWish(merged, first.head, first.members | members)
    return [replace(one.wish, words=_list_words(words, set(one.members))) for one in found.values()]


def _read_as(quantity: Quantity, what: str) -> Quantity:
    """A number of a wish: a large one without a unit is a colour temperature only beside warmth."""
    is_bare = quantity.unit is Unit.KELVIN and what not in ("warmth", "auto")
    return replace(quantity, unit=Unit.NONE) if is_bare else quantity


def _list_words(words: Sequence[Word], positions: set[int]) -> tuple[str, ...]:
    """The words at positions, without punctuation."""
    return tuple(words[at].text for at in sorted(positions) if re.search(r"\w|%", words[at].text))


def get_reader_file(name: ReaderName) -> str:
    """The name of a reader's file in the package."""
    return "reader.onnx" if name == DEFAULT_READER else f"reader-{name}.onnx"


_OPENING = threading.Lock()


def load_reader(name: ReaderName = DEFAULT_READER) -> Reader:
    """A reader in the package, opened once even if several threads ask for it."""
    check_reader(name)
    with _OPENING:
        return _open_reader(name)


@cache
def _open_reader(name: ReaderName) -> Reader:
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER / get_reader_file(name)) as path:
        return Reader(path)


def read(request: str, reader: Reader | ReaderName = DEFAULT_READER) -> Reading:
    """The wishes of a request, by a reader in the package or another."""
    return (reader if isinstance(reader, Reader) else load_reader(reader)).read(request)

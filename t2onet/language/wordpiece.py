"""Words and word pieces of a sentence, as the pretrained encoder was taught them (WordPiece, lower case)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_PIECES = 126
"""The most pieces of a sentence that are read; what follows is left out."""
MAX_WORD = 40
"""Words of more characters are unknown."""


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
    """The longest known pieces from left to right; later ones begin with ##. An unknown word is [UNK]."""
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
    if start < len(word) or not word:
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

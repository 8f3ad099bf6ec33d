"""Words of requests for networks with word lists: the published rule for words, and their ids.

A list has four special tokens, then words.
"""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

from ..errors import DataError
from ..image import read_regular_file, write_atomically

NONE, START, END, UNK = range(4)
SPECIAL = ("<NONE>", "<START>", "<END>", "<UNK>")
"""Padding, begin, end, and any word that is not in the list; their ids are their places here."""
PUBLISHED_LENGTH = 17
"""Ids a request in the published annotations: begin, fifteen words, end."""
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_STOP_WORDS = frozenset(
    """
    a an the this that these those it its it's i i'd i'm me my we us our you your he she they them his her
    their there here now photo photograph picture image pic img shot make makes making made get give put do
    does did done doing don't be is are was were am been being have has had look looks looking please pls plz
    just can could would should will may might must shall want need needs like and or but then also plus so
    as at by for from in into of on to with hi hello hey thanks thank thx if ok okay
    """.split()  # noqa: SIM905
)
"""Words that are in every request and say nothing about what it asks for."""


def tokens(text: str) -> list[str]:
    """Words between blanks, in lower case, ASCII punctuation deleted; only those of two or more letters.

    Deleting joins: "brightness/contrast" is one word and "isn't" is "isnt". A curly apostrophe is not ASCII,
    so "don’t" is no word at all.
    """
    words = (word.lower().translate(_WITHOUT_PUNCTUATION) for word in text.split())
    return [word for word in words if len(word) > 1 and word.isalpha()]


def says(word: str) -> bool:
    """Whether a word (in small letters) can be a reason for anything; signs cannot either."""
    return word[:1].isalnum() and word not in _STOP_WORDS


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids, the special tokens first."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.words[: len(SPECIAL)] != SPECIAL:
            raise DataError(f"a vocabulary begins with {', '.join(SPECIAL)}; this one with {self.words[:4]}.")
        if len(self._ids) < len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise DataError(f"the word {twice!r} is in the vocabulary twice; a word has one id.")

    @classmethod
    def of(cls, texts: Iterable[str], minimum: int = 3) -> Self:
        """The words that occur at least `minimum` times, the most frequent first."""
        counts = Counter(word for text in texts for word in tokens(text))
        return cls((*SPECIAL, *(word for word, count in counts.most_common() if count >= minimum)))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """From JSON in the published form: {word: id}, ids without gaps from 0."""
        try:
            ids = json.loads(read_regular_file(path))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{path} cannot be read as a vocabulary: {error}.") from error
        if not isinstance(ids, dict) or not all(type(number) is int for number in ids.values()):
            raise DataError(f'{path} is no vocabulary: that is a JSON object {{"word": id, ...}}.')
        if sorted(ids.values()) != list(range(len(ids))):
            raise DataError(f"{path} is no vocabulary: its ids are not 0 to {len(ids) - 1}, each once.")
        try:
            return cls(tuple(sorted(ids, key=ids.__getitem__)))
        except DataError as error:
            raise DataError(f"{path}: {error}") from error

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """As JSON in the published form."""
        write_atomically(Path(path), json.dumps(self._ids).encode("ascii"), overwrite=overwrite)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: Any) -> bool:
        return word in self._ids

    def id(self, word: str) -> int:
        """Of a word, or of <UNK>."""
        return self._ids.get(word, UNK)

    def without(self, words: Collection[str]) -> Self:
        """The vocabulary less some words; those behind them move up."""
        return type(self)(tuple(word for word in self.words if word not in words))

    def encode(self, text: str, length: int = PUBLISHED_LENGTH) -> list[int]:
        """`length` ids: <START>, words as far as they fit, <END>, and <NONE> to the end."""
        if length < 2:
            raise ValueError(f"length is {length}; <START> and <END> alone need 2")
        ids = [START, *(self.id(word) for word in tokens(text)[: length - 2]), END]
        return ids + [NONE] * (length - len(ids))

    def decode(self, ids: Sequence[int]) -> str:
        """The words between <START> and <END>, an unknown one as <UNK>."""
        kept = [self.words[number] for number in ids if number not in {NONE, START, END}]
        return " ".join(kept)

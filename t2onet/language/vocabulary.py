"""Words as numbers, for networks with word lists: the published rule for words, their ids, GloVe's vectors.

A list has four special tokens, then words. The words of a packed set and their vectors are one file beside
it, so that a machine that trains needs neither the GloVe files nor h5py.
"""

from __future__ import annotations

import io
import json
import string
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..image import open_regular_file, read_regular_file, write_atomically

NONE, START, END, UNK = range(4)
SPECIAL = ("<NONE>", "<START>", "<END>", "<UNK>")
"""Padding, begin, end, and any word that is not in the list; their ids are their places here."""
PUBLISHED_LENGTH = 17
"""Ids a request in the published annotations: begin, fifteen words, end."""
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def tokens(text: str) -> list[str]:
    """Words between blanks, in lower case, ASCII punctuation deleted; only those of two or more letters.

    Deleting joins: "brightness/contrast" is one word and "isn't" is "isnt". A curly apostrophe is not ASCII,
    so "don’t" is no word at all.
    """
    words = (word.lower().translate(_WITHOUT_PUNCTUATION) for word in text.split())
    return [word for word in words if len(word) > 1 and word.isalpha()]


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

    def encode(self, text: str, length: int = PUBLISHED_LENGTH) -> list[int]:
        """`length` ids: <START>, words as far as they fit, <END>, and <NONE> to the end."""
        if length < 2:
            raise ValueError(f"length is {length}; <START> and <END> alone need 2")
        ids = [START, *(self.id(word) for word in tokens(text)[: length - 2]), END]
        return ids + [NONE] * (length - len(ids))


_HDF5 = b"\x89HDF\r\n\x1a\n"
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class Embeddings:
    """A row for each id, (len(vocabulary), D) float32; zeros for special tokens and missing words."""

    vectors: NDArray[np.float32]
    missing: tuple[str, ...] = ()


def read_glove(path: str | PathLike[str], vocabulary: Vocabulary) -> Embeddings:
    """The vectors of a vocabulary's words; which words the file does not know is in `missing`."""
    source = Path(path)
    try:
        with open_regular_file(source) as file:
            head = file.read(8)
        if head == _HDF5:
            return _from_hdf5(source, vocabulary)
        if head.startswith(_ZIP):
            raise DataError(f"{source} is a zip file; unpack it and give one of the text files in it.")
        return _from_text(source, vocabulary)
    except OSError as error:
        raise DataError(f"{source} cannot be read as word vectors: {error.strerror or error}.") from error


def _from_hdf5(path: Path, vocabulary: Vocabulary) -> Embeddings:
    """The published form: a dataset `glove` whose first row is the first word after the special tokens."""
    try:
        import h5py
    except ImportError as error:
        raise DataError(f"{path} is an HDF5 file, which needs h5py: pip install 't2onet[train]'.") from error
    with h5py.File(path, "r") as file:
        found = file.get("glove")
        if not isinstance(found, h5py.Dataset) or found.ndim != 2 or found.dtype.kind != "f":
            raise DataError(f"{path} has no table of numbers named 'glove'; it has {sorted(file)}.")
        rows = _narrowed(found[()])
    words = len(vocabulary) - len(SPECIAL)
    if len(rows) != words:
        raise DataError(
            f"{path} has {len(rows)} rows and the vocabulary {words} words beside its special tokens; "
            "give the word list that belongs to the file."
        )
    if not np.isfinite(rows).all():
        raise DataError(f"{path} has values that are not finite; download it again.")
    return Embeddings(np.concatenate([np.zeros((len(SPECIAL), rows.shape[1]), np.float32), rows]))


def _from_text(path: Path, vocabulary: Vocabulary) -> Embeddings:
    """Lines of a word and its D values between blanks, read one at a time."""
    wanted = {word.encode(): number for number, word in enumerate(vocabulary) if word not in SPECIAL}
    dimension, rows = 0, np.zeros((len(vocabulary), 0), np.float32)
    for place, line in _lines(path):
        if not dimension:
            dimension = line.count(b" ")
            rows = np.zeros((len(vocabulary), dimension), np.float32)
        # The word may hold blanks itself ("at name@domain.com" in the 840B file), the values do not.
        word, *values = line.rsplit(b" ", dimension)
        if not dimension or len(values) != dimension:
            raise DataError(
                f"{place} is not a word and {dimension or 'its'} values; download the file again."
            )
        if (number := wanted.pop(word, None)) is not None:
            rows[number] = _values(values, place)
    if not dimension:
        raise DataError(f"{path} is empty; give a GloVe text file.")
    return Embeddings(rows, tuple(vocabulary.words[number] for number in sorted(wanted.values())))


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Where and what, without the line of two counts that some tools put first."""
    with open_regular_file(path) as file:
        for number, line in enumerate(file, start=1):
            fields = line.rstrip()
            if not (number == 1 and len(fields.split()) == 2 and fields.replace(b" ", b"").isdigit()):
                yield f"{path}, line {number},", fields


def _values(fields: list[bytes], place: str) -> NDArray[np.float32]:
    try:
        values = _narrowed(np.array([float(field) for field in fields]))
    except ValueError as error:
        raise DataError(
            f"{place} has a value that is no number: {error}; download the file again."
        ) from error
    if not np.isfinite(values).all():
        raise DataError(f"{place} has a value that is not finite; download it again.")
    return values


def _narrowed(values: NDArray[Any]) -> NDArray[np.float32]:
    """As float32; what does not fit becomes infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


WORDS_FILE = "words.npz"
MIN_WORD_COUNT = 2
"""How often a word must occur in the requests to be part of the vocabulary."""


@dataclass(frozen=True)
class WordVectors:
    """A vocabulary and a vector for each word, (len(vocabulary), D); zeros where none is known."""

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]

    @classmethod
    def without_vectors(cls, texts: Iterable[str], size: int) -> WordVectors:
        """The words of some requests, with zeros for vectors that are still to be learned."""
        vocabulary = Vocabulary.of(texts, minimum=MIN_WORD_COUNT)
        return cls(vocabulary, np.zeros((len(vocabulary), size), np.float32))


@dataclass(frozen=True)
class WordCounts:
    """Number of words written, and how many of them have no GloVe vector."""

    words: int
    missing: int


def write_glove_vectors(path: Path, glove: Path, vocabulary: Vocabulary) -> WordCounts:
    """Write a vocabulary and its GloVe vectors; `glove` is the published HDF5 file or GloVe's text."""
    embeddings = read_glove(glove, vocabulary)
    write_word_vectors(path, WordVectors(vocabulary, embeddings.vectors))
    return WordCounts(len(vocabulary), len(embeddings.missing))


def write_word_vectors(path: Path, words: WordVectors) -> None:
    """Write NumPy's .npz, atomically."""
    stream = io.BytesIO()
    np.savez_compressed(stream, words=np.array(words.vocabulary.words), vectors=words.vectors)
    write_atomically(path, stream.getvalue(), overwrite=True)


def read_word_vectors(path: Path) -> WordVectors:
    try:
        with open_regular_file(path) as opened, np.load(opened, allow_pickle=False) as file:
            words, vectors = file["words"], file["vectors"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read as words with vectors: {error}") from None
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise DataError(f"{path} has {len(words)} words and vectors of shape {vectors.shape}; make it again")
    return WordVectors(Vocabulary(tuple(map(str, words))), vectors.astype(np.float32))

"""Word vectors of a packed set: the words of its requests and their GloVe vectors, in one file beside it.

Training reads this small file, so that a machine that trains needs neither the GloVe files nor h5py.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..image import open_regular_file, write_atomically
from ..language import Vocabulary, read_glove
from .packed import read_training_requests

WORDS_FILE = "words.npz"
_MIN_COUNT = 2
"""How often a word must occur in the requests to be part of the vocabulary."""


@dataclass(frozen=True)
class WordVectors:
    """A vocabulary and a vector for each word, (len(vocabulary), D); zeros where none is known."""

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]

    @classmethod
    def without_vectors(cls, texts: Iterable[str], size: int) -> WordVectors:
        """The words of some requests, with zeros for vectors that are still to be learned."""
        vocabulary = Vocabulary.of(texts, minimum=_MIN_COUNT)
        return cls(vocabulary, np.zeros((len(vocabulary), size), np.float32))


@dataclass(frozen=True)
class WordCounts:
    """Number of words written, and how many of them have no GloVe vector."""

    words: int
    missing: int


def write_glove_vectors(folder: Path, glove: Path, vocabulary: Vocabulary | None = None) -> WordCounts:
    """Write the words of the packed set in `folder` and their GloVe vectors to `folder`/words.npz.

    `glove` is the published HDF5 file or GloVe's text. Without `vocabulary`, the words are those of the
    training requests that occur at least twice.
    """
    if vocabulary is None:
        vocabulary = Vocabulary.of(read_training_requests(folder), minimum=_MIN_COUNT)
    embeddings = read_glove(glove, vocabulary)
    write_word_vectors(folder / WORDS_FILE, WordVectors(vocabulary, embeddings.vectors))
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

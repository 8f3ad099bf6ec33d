"""The words a network knows and their vectors, in one small file beside a packed set.

GloVe comes as HDF5 or as gigabytes of text; machines that train often have neither h5py nor room. What is
needed of it is made once, with `python -m t2onet.training.vectors`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..data.packed import PackedSet
from ..errors import DataError
from ..image import open_regular, write_atomically
from ..language import Vocabulary

FILE = "words.npz"


@dataclass(frozen=True)
class Words:
    """A vocabulary and a vector for each word, (len(vocabulary), D); zeros where none is known."""

    vocabulary: Vocabulary
    vectors: NDArray[np.float32]

    @classmethod
    def without_vectors(cls, texts: Iterable[str], size: int) -> Words:
        """The words of some requests, whose vectors are still to be learned."""
        vocabulary = Vocabulary.of(texts, minimum=2)
        return cls(vocabulary, np.zeros((len(vocabulary), size), np.float32))


def write_words(path: Path, words: Words) -> None:
    """As NumPy's .npz, whole or not at all."""
    stream = io.BytesIO()
    np.savez_compressed(stream, words=np.array(words.vocabulary.words), vectors=words.vectors)
    write_atomically(path, stream.getvalue(), overwrite=True)


def read_words(path: Path) -> Words:
    try:
        with open_regular(path) as opened, np.load(opened, allow_pickle=False) as file:
            words, vectors = file["words"], file["vectors"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read as words with vectors: {error}") from None
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise DataError(f"{path} has {len(words)} words and vectors of shape {vectors.shape}; make it again")
    return Words(Vocabulary(tuple(map(str, words))), vectors.astype(np.float32))


def requests_of(data: PackedSet) -> list[str]:
    """All requests that may be learned from."""
    entries = [entry for entry in (*data.samples, *data.texts) if entry.split == "train"]
    return [request for entry in entries for request in entry.requests]

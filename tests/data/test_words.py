"""Word vectors that lie beside a packed set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from t2onet import DataError
from t2onet.data.packed import read_packed, read_training_requests
from t2onet.language import Vocabulary
from t2onet.language.vocabulary import WordVectors, read_word_vectors, write_glove_vectors, write_word_vectors
from tests.training.helpers import make_packed_folder

RELEASED = Path(__file__).parent / "released" / "words.npz"
"""Written by an earlier release."""


def test_vectors_are_read_as_they_were_written(tmp_path: Path) -> None:
    words = WordVectors.without_vectors(["brighter sky", "brighter sky"], 3)
    words.vectors[4] = [1, 2, 3]
    write_word_vectors(tmp_path / "words.npz", words)
    back = read_word_vectors(tmp_path / "words.npz")
    assert back.vocabulary.words == ("<NONE>", "<START>", "<END>", "<UNK>", "brighter", "sky")
    assert np.array_equal(back.vectors, words.vectors)


def test_a_file_of_an_earlier_release_is_read() -> None:
    words = read_word_vectors(RELEASED)
    assert words.vocabulary.words[4:] == ("brighter", "sky")
    assert words.vectors[4].tolist() == [1, 2, 3]


def test_words_are_those_of_the_training_requests(tmp_path: Path) -> None:
    packed = make_packed_folder(tmp_path)
    assert read_training_requests(packed) == read_packed(packed).training_requests()
    (tmp_path / "glove.txt").write_text("make 1 2\nbrighter 3 4\nzebra 5 6\n")
    vocabulary = Vocabulary.of(read_training_requests(packed), minimum=2)
    counts = write_glove_vectors(packed / "words.npz", tmp_path / "glove.txt", vocabulary)
    assert (counts.words, counts.missing) == (17, 11)
    words = read_word_vectors(packed / "words.npz")
    assert words.vectors[words.vocabulary.id("brighter")].tolist() == [3, 4]
    assert "zebra" not in words.vocabulary


def test_a_given_vocabulary_takes_the_place_of_the_requests(tmp_path: Path) -> None:
    packed = make_packed_folder(tmp_path)
    (tmp_path / "glove.txt").write_text("zebra 5 6\n")
    vocabulary = Vocabulary.of(["zebra"], minimum=1)
    assert write_glove_vectors(packed / "words.npz", tmp_path / "glove.txt", vocabulary).words == 5
    assert read_word_vectors(packed / "words.npz").vocabulary == vocabulary


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no packed set"):
        read_training_requests(tmp_path)
    (tmp_path / "words.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be read as words with vectors"):
        read_word_vectors(tmp_path / "words.npz")
    np.savez(tmp_path / "words.npz", words=np.array(["a"]), vectors=np.zeros((2, 3)))
    with pytest.raises(DataError, match=r"has 1 words and vectors of shape \(2, 3\)"):
        read_word_vectors(tmp_path / "words.npz")

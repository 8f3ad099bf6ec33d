"""Words and vectors that travel with a packed set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from t2onet import DataError
from t2onet.training import WordVectors, read_word_vectors, write_word_vectors
from t2onet.training.vectors import main
from tests.training.made import packed_folder


def test_they_come_back_as_they_were(tmp_path: Path) -> None:
    words = WordVectors.without_vectors(["brighter sky", "brighter sky"], 3)
    words.vectors[4] = [1, 2, 3]
    write_word_vectors(tmp_path / "words.npz", words)
    back = read_word_vectors(tmp_path / "words.npz")
    assert back.vocabulary.words == ("<NONE>", "<START>", "<END>", "<UNK>", "brighter", "sky")
    assert np.array_equal(back.vectors, words.vectors)


def test_they_are_made_from_the_requests_and_a_glove_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = packed_folder(tmp_path)
    (tmp_path / "glove.txt").write_text("make 1 2\nbrighter 3 4\nzebra 5 6\n")
    assert main([str(packed), "--glove", str(tmp_path / "glove.txt")]) == 0
    assert "17 words, 11 of them without a vector -> " in capsys.readouterr().out
    words = read_word_vectors(packed / "words.npz")
    assert words.vectors[words.vocabulary.id("brighter")].tolist() == [3, 4]
    assert "zebra" not in words.vocabulary


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--glove", "nowhere.txt"]) == 2
    assert "is no packed set" in capsys.readouterr().err
    (tmp_path / "words.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be read as words with vectors"):
        read_word_vectors(tmp_path / "words.npz")
    np.savez(tmp_path / "words.npz", words=np.array(["a"]), vectors=np.zeros((2, 3)))
    with pytest.raises(DataError, match=r"has 1 words and vectors of shape \(2, 3\)"):
        read_word_vectors(tmp_path / "words.npz")

"""Word vectors from HDF5 and text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from t2onet.errors import DataError
from t2onet.language import Vocabulary, read_glove
from t2onet.language.vocabulary import SPECIAL
from tests.conftest import ROOT

LANGUAGE = ROOT.parent / "shared" / "data" / "language"
VOCABULARY = Vocabulary((*SPECIAL, "light", "photobomb", "shade"))


def text_file(folder: Path, text: str) -> Path:
    path = folder / "glove.txt"
    path.write_text(text, encoding="utf-8")
    return path


def hdf5_file(folder: Path, **tables: Any) -> Path:
    h5py = pytest.importorskip("h5py")
    path: Path = folder / "glove.h5"
    with h5py.File(path, "w") as file:
        for name, table in tables.items():
            file[name] = table
    return path


def test_a_text_file_gives_rows_by_id_and_says_which_words_it_lacks(tmp_path: Path) -> None:
    found = read_glove(text_file(tmp_path, "the 9 9\nshade 1 -2.5\nlight .5 2e-1\nlight 7 7\n"), VOCABULARY)
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[0, 0]] * 4 + [[0.5, np.float32(0.2)], [0, 0], [1, -2.5]]
    assert found.missing == ("photobomb",)


def test_words_with_blanks_and_a_first_line_of_counts_are_no_obstacle(tmp_path: Path) -> None:
    path = text_file(tmp_path, "3 2\nthe 0 0\nlight at night 8 8\nlight 1 2\n")
    assert read_glove(path, VOCABULARY).vectors[4].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("the\n", r"line 1, is not a word and its values"),
        ("the 1 2 3\nlight 1 2\n", r"line 2, is not a word and 3 values"),
        ("the 1 2\n\nlight 1 2\n", r"line 2, is not a word and 2 values"),
        ("the 1 2\nlight 1 x\n", r"line 2, has a value that is no number.*b'x'"),
        ("the 1 2\nlight 1 nan\n", r"line 2, has a value that is not finite"),
        ("the 1 2\nlight 1 1e39\n", r"line 2, has a value that is not finite"),
        ("PK\x03\x04 and more", "is a zip file; unpack it"),
    ],
)
def test_a_malformed_text_file_is_refused_by_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(DataError, match=why):
        read_glove(text_file(tmp_path, text), VOCABULARY)


def test_the_first_row_of_an_hdf5_file_is_the_first_word(tmp_path: Path) -> None:
    path = hdf5_file(tmp_path, glove=np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    found = read_glove(path, VOCABULARY)
    assert found.vectors.tolist() == [[0, 0]] * 4 + [[1, 2], [3, 4], [5, 6]]
    assert found.missing == ()


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"vectors": np.ones((3, 2))}, r"no table of numbers named 'glove'; it has \['vectors'\]"),
        ({"glove": np.ones(3)}, "no table of numbers"),
        ({"glove": np.ones((7, 2))}, "7 rows and the vocabulary 3 words"),
        ({"glove": np.full((3, 2), np.nan)}, "not finite"),
    ],
)
def test_an_hdf5_file_of_another_kind_is_refused(tmp_path: Path, tables: dict[str, Any], why: str) -> None:
    with pytest.raises(DataError, match=why):
        read_glove(hdf5_file(tmp_path, **tables), VOCABULARY)


def test_a_cut_off_or_absent_file_is_refused_by_name(tmp_path: Path) -> None:
    path = hdf5_file(tmp_path, glove=np.ones((3, 2)))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match=r"glove\.h5 cannot be read"):
        read_glove(path, VOCABULARY)
    with pytest.raises(DataError, match=r"absent\.txt cannot be read"):
        read_glove(tmp_path / "absent.txt", VOCABULARY)


def test_without_h5py_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hdf5_file(tmp_path, glove=np.ones((3, 2)))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match=r"pip install 't2onet\[train\]'"):
        read_glove(path, VOCABULARY)


@pytest.mark.needs_data
@pytest.mark.skipif(not LANGUAGE.is_dir(), reason=f"{LANGUAGE} is absent")
@pytest.mark.parametrize("name", ["FiveK_vocabs_{}_1", "GIER_vocabs_{}_3"])
def test_published_vectors_belong_to_their_words(name: str) -> None:
    vocabulary = Vocabulary.load(LANGUAGE / f"{name.format('sess')}.json")
    vectors = read_glove(LANGUAGE / f"{name.format('glove_feat')}.h5", vocabulary).vectors
    assert vectors.shape == (len(vocabulary), 300)
    likeness = vectors @ vectors[vocabulary.id("increase")] / np.linalg.norm(vectors, axis=1).clip(1e-6)
    nearest = [vocabulary.words[number] for number in np.argsort(-likeness)[:5]]
    assert nearest[0] == "increase"
    assert "decrease" in nearest

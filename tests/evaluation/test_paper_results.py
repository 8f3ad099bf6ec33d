"""Blocks beside the paper's figures: what was measured, what was not and why, and what moved the same way."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from scripts.rewrite_tables import StoredFigures
from t2onet.evaluation.compare import Comparison
from t2onet.evaluation.measure import MeasurementOptions, evaluate_system
from t2onet.evaluation.paper_results import (
    TableBlock,
    blocks_to_csv,
    build_block_table,
    build_direction_table,
    choose_columns,
    create_unavailable_block,
    describe_differences,
)
from t2onet.evaluation.paper_tables import FID, L1, SSIM, USERS, PaperRow, PaperRun, PaperTable
from t2onet.evaluation.systems import IdentitySystem, Question, SystemAnswer
from t2onet.metrics.distances import LITE0_TITLE
from t2onet.metrics.statistics import IntervalEstimate, PairedDifference
from tests.evaluation.helpers import SENTENCES, Scripted, brighten, some_cases

RUN = PaperRun("gan", "pix2pixaug")
TABLE = PaperTable(
    "made",
    "Made up",
    (L1, SSIM, FID, USERS),
    (
        PaperRow("Target", paper={USERS: 3.5}),
        PaperRow("Input", system="identity", paper={L1: 0.119, SSIM: 0.5}),
        PaperRow("GAN", RUN, paper={L1: 0.0928, FID: 14.0}, gier={L1: 0.1255}),
        PaperRow("Brightens", PaperRun("paper", "paper"), paper={L1: 0.0784, SSIM: 0.8459, FID: 6.7}),
    ),
    reference="Brightens",
    notes=("It is made up.",),
)
WHY = "not run: no weights of gan"


def brighter(question: Question) -> SystemAnswer:
    return SystemAnswer(brighten(question.picture, 0.2))


@pytest.fixture(scope="module")
def block() -> TableBlock:
    cases = some_cases(6)
    systems = [Scripted(brighter, "Brightens"), IdentitySystem("Input")]
    found = Comparison(
        [evaluate_system(one, cases, SENTENCES, MeasurementOptions(each=2)) for one in systems],
        {"pairs": 6, "data": "01"},
    )
    return TableBlock("MA5k-Req", TABLE.rows, found, {"GAN": WHY})


def test_the_papers_figure_has_a_column_of_its_own(block: TableBlock) -> None:
    made = build_block_table(TABLE, block)
    assert made.columns[:6] == ("L1", "L1 (paper)", "SSIM", "SSIM (paper)", LITE0_TITLE, "FID (paper)")
    assert made.columns[6:] == ("users (paper)", "following", "unrequested change")
    l1, paper, *_ = made.rows["Brightens"]
    assert isinstance(l1, IntervalEstimate)
    assert (paper, made.rows["Target"][6]) == (0.0784, 3.5)
    assert made.notes == ("pairs 6, data 01",)


def test_what_was_not_run_says_why_once(block: TableBlock) -> None:
    first, paper, *rest = build_block_table(TABLE, block).rows["GAN"]
    assert (first, paper) == (WHY, 0.0928)
    assert [cell for cell in rest if cell is not None] == [14.0]


def make_block(**figures: dict[str, IntervalEstimate]) -> TableBlock:
    """The rows Brightens, Input and GAN, with figures by the names of columns; differences are certain."""
    names = ("Brightens", "Input", "GAN")
    estimates = {f"expert: {name}": tuple(map(found.get, names)) for name, found in figures.items()}
    apart = {
        figure: tuple(first and other and certain(other.value - first.value) for other in others)
        for figure, (first, *others) in estimates.items()
    }
    return TableBlock("MA5k-Req", TABLE.rows, StoredFigures(names, {"pairs": 6}, estimates, {}, apart, {}))


def certain(value: float) -> PairedDifference:
    return PairedDifference(value, value, value, 0.0)


def make_estimate(value: float) -> IntervalEstimate:
    return IntervalEstimate(value, value, value)


def test_fid_and_lpips_have_columns_where_they_were_measured(block: TableBlock) -> None:
    assert not {"FID", "LPIPS"} & {*choose_columns(TABLE, block)}
    both = make_block(
        L1={"Input": make_estimate(0.1)},
        FID={"Input": make_estimate(12)},
        LPIPS={"Input": make_estimate(0.2)},
    )
    assert [name for name in choose_columns(TABLE, both) if name in ("FID", "LPIPS")] == ["FID", "LPIPS"]
    without = replace(TABLE, columns=(L1,))
    assert [name for name in choose_columns(without, both) if name in ("FID", "LPIPS")] == ["FID", "LPIPS"]
    assert "of 6 pictures against 6, which reads higher" in " ".join(
        describe_differences(TABLE, [both], bfloat16=False)
    )


def test_gier_without_its_photos_shows_the_papers_figures() -> None:
    made = build_block_table(TABLE, create_unavailable_block(TABLE))
    assert made.title == "Made up: GIER"
    assert made.rows["GAN"][:2] == ("not run: images not available", 0.1255)
    assert made.rows["Target"][0] is None
    assert "following" not in made.columns


def test_directions_are_held_against_the_papers(block: TableBlock) -> None:
    made = build_direction_table(TABLE, block)
    assert made is not None
    assert made.columns[:3] == ("L1", "L1 (paper)", "moves")
    here, paper, moves = made.rows["Input"][:3]
    assert isinstance(here, PairedDifference)
    assert here.low > 0
    assert (paper, moves) == (pytest.approx(0.0406), "as in the paper")
    closer = replace(TABLE.rows[1], paper={L1: 0.05, SSIM: 0.5})
    other = build_direction_table(TABLE, replace(block, rows=(closer, TABLE.rows[3])))
    assert other is not None
    assert other.rows["Input"][2] == "the other way"
    assert list(made.rows) == ["Input", "GAN"]
    assert made.rows["GAN"][:3] == (None, pytest.approx(0.0144), "")


def test_a_certain_difference_between_two_runs_may_be_noise() -> None:
    """All pairs agree on .006, but single runs of one config came as far apart; the input was not trained."""
    made = build_direction_table(
        TABLE,
        make_block(
            L1={"Brightens": make_estimate(0.075), "Input": make_estimate(0.069), "GAN": make_estimate(0.069)}
        ),
    )
    assert made is not None
    assert (made.rows["Input"][2], made.rows["GAN"][2]) == ("the other way", "within noise")
    far = build_direction_table(
        TABLE,
        make_block(
            L1={
                "Brightens": make_estimate(0.074),
                "Input": make_estimate(0.0705),
                "GAN": make_estimate(0.067),
            }
        ),
    )
    assert far is not None
    assert (far.rows["Input"][2], far.rows["GAN"][2]) == ("within noise", "the other way")


def test_rows_are_compared_by_fid_where_it_was_measured() -> None:
    made = build_direction_table(
        TABLE,
        make_block(
            FID={"Brightens": make_estimate(7.0), "Input": make_estimate(12.0), "GAN": make_estimate(14.0)}
        ),
    )
    assert made is not None
    assert LITE0_TITLE not in made.columns
    assert made.rows["GAN"][made.columns.index("FID") + 2] == "as in the paper"


def test_an_interval_with_both_directions_is_noise() -> None:
    """Two systems that do the same."""
    systems = [Scripted(brighter, name) for name in ("Brightens", "Input")]
    found = Comparison([evaluate_system(one, some_cases(4), {}, MeasurementOptions()) for one in systems], {})
    made = build_direction_table(TABLE, TableBlock("mine", TABLE.rows, found))
    assert made is not None
    assert made.rows["Input"][2] == "within noise"


def test_without_the_row_to_compare_with_there_are_no_directions(block: TableBlock) -> None:
    assert build_direction_table(replace(TABLE, reference="GAN"), block) is None
    assert build_direction_table(TABLE, create_unavailable_block(TABLE)) is None


def test_a_line_for_every_figure(block: TableBlock) -> None:
    lines = list(csv.DictReader(blocks_to_csv(TABLE, [block, create_unavailable_block(TABLE)]).splitlines()))
    by_key = {(line["dataset"], line["system"], line["figure"]): line for line in lines}
    l1 = by_key["MA5k-Req", "Brightens", "L1"]
    assert float(l1["low"]) <= float(l1["value"]) <= float(l1["high"])
    assert (l1["paper"], l1["note"]) == ("0.0784", "")
    assert by_key["MA5k-Req", "Brightens", "FID"]["note"] == "not run: no weights of Inception"
    assert by_key["MA5k-Req", "Target", "users"]["note"] == "not run: no users were asked"
    assert by_key["MA5k-Req", "GAN", "following"]["note"] == WHY
    assert by_key["GIER", "GAN", "L1"]["paper"] == "0.1255"


def test_what_differs_is_said(block: TableBlock) -> None:
    said = " ".join(describe_differences(TABLE, [block], bfloat16=True))
    for words in (
        "expert C's",
        "128 x 128",
        "--inception",
        "nobody was asked",
        "bfloat16",
        "made up",
    ):
        assert words in said
    own = " ".join(describe_differences(TABLE, [replace(block, dataset="mine")], bfloat16=False))
    assert "pairs of your own" in own
    assert "bfloat16" not in own

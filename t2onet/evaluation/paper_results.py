"""A table of the paper on one dataset: measure its systems, compare with the paper, and write the result.

Whether a row differs from the reference row as in the paper is judged against two sources of chance: the
pairs measured, which the interval of a difference covers, and the training run, which it does not. The same
config, plans and seed give another network each time on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..data import Dataset, Problem, gier
from ..data.spreadsheet import to_csv
from ..metrics.distances import LITE0_TITLE as FRECHET
from ..metrics.distances import LPIPS_TITLE as LPIPS
from ..metrics.statistics import Z_SCORE, IntervalEstimate, PairedDifference
from ..options import MODES
from .cases import (
    EvaluationProgress,
    RequestKind,
    ignore_progress,
    is_published_ma5k_req,
    read_labelled_sentences,
)
from .compare import (
    UNLABELLED_NOTE,
    Cell,
    Comparison,
    MeasuredFigures,
    ResultTable,
    RunSpread,
    compare_systems,
)
from .measure import SIGMA_FIGURE, UNREQUESTED, MeasurementOptions
from .paper_tables import FID, L1, SIGMA, SSIM, USERS, PaperFigures, PaperRow, PaperTable
from .runs import find_run_files
from .systems import NAMED_SYSTEMS, FixedModeSystem, RepeatedSystem, System, open_system, open_system_file

DATASET_NAMES = {"ma5k-req": "MA5k-Req", "gier": "GIER"}
"""The paper's names of its datasets, by their layout."""
NO_IMAGES = "not run: images not available"
TEN_REQUEST_PHOTOS = 25
"""About how many photos the paper's ten requests are measured on."""
_FIGURE_NAMES = {L1: "expert: L1", SSIM: "expert: SSIM", FID: "expert: FID", SIGMA: SIGMA_FIGURE}
"""Names of measured figures, by the paper's columns."""
_FRECHET_FIGURE = f"expert: {FRECHET}"
"""Always measured, beside FID or in its place."""
_LPIPS_FIGURE = f"expert: {LPIPS}"
OWN_COLUMNS = {"following": "literal: following", UNREQUESTED: f"literal: {UNREQUESTED}"}
"""Columns that the paper does not have. A row has one mode: its literal and expert figures are equal."""
_REASONS_UNMEASURED = {FID: "not run: no weights of Inception", USERS: "not run: no users were asked"}
"""Why a measured row has no such figure."""
_HEADER = ("dataset", "system", "figure", "value", "low", "high", "paper", "note")
SAME_DIRECTION, OTHER_DIRECTION, WITHIN_NOISE = "as in the paper", "the other way", "within noise"
SINGLE_RUN_DEVIATION = {
    "expert: L1": 0.0024,
    "expert: SSIM": 0.0034,
    _FRECHET_FIGURE: 0.83,
    "expert: FID": 0.89,
    SIGMA_FIGURE: 0.045,
}
"""Standard deviation between runs of T2ONet from three seeds, from results/main/figures.csv."""


@dataclass(frozen=True)
class TableBlock:
    """A table on one dataset: measured figures, and why rows have none."""

    dataset: str
    rows: tuple[PaperRow, ...]
    comparison: MeasuredFigures | None
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why a row was not run, by its title."""

    @property
    def facts(self) -> Mapping[str, object]:
        return {} if self.comparison is None else self.comparison.facts

    def get_paper_figures(self, row: PaperRow) -> PaperFigures:
        return row.gier if self.dataset == DATASET_NAMES["gier"] else row.paper

    def get_estimates(self, row: PaperRow) -> dict[str, IntervalEstimate]:
        """By the names of `Comparison`; empty for rows that were not measured."""
        measured = self.comparison
        if measured is None or row.title not in measured.names:
            return {}
        index = measured.names.index(row.title)
        return {
            name: cell for name, cells in measured.estimates.items() if (cell := cells[index]) is not None
        }

    def get_differences(self, row: PaperRow) -> dict[str, PairedDifference]:
        """From the system that was measured first; empty for that one."""
        measured = self.comparison
        if measured is None or row.title not in measured.names[1:]:
            return {}
        index = measured.names.index(row.title) - 1
        return {
            name: cell for name, cells in measured.differences.items() if (cell := cells[index]) is not None
        }

    def get_spread(self, row: PaperRow, figure: str) -> RunSpread | None:
        """Spread between the training runs of a row, if there are several."""
        measured = self.comparison
        if measured is None or row.title not in measured.names or figure not in measured.spreads:
            return None
        return measured.spreads[figure][measured.names.index(row.title)]

    def has_figure(self, figure: str) -> bool:
        """Whether any row has that figure."""
        return self.comparison is not None and figure in self.comparison.estimates


def measure_table(
    table: PaperTable,
    dataset: Dataset,
    runs: Path,
    options: MeasurementOptions,
    *,
    gier_folder: Path | None = None,
    extra_rows: Sequence[PaperRow] = (),
    bfloat16: bool = False,
    problems: list[Problem] | None = None,
    progress: EvaluationProgress = ignore_progress,
) -> tuple[TableBlock, list[System]]:
    """Measure every system of a table and of `extra_rows`, the reference first."""
    rows = (*table.rows, *extra_rows)
    systems, absent = open_row_systems(rows, runs, bfloat16=bfloat16)
    systems.sort(key=lambda system: system.name != table.reference)
    comparison = compare_for_table(
        systems, dataset, options, gier_folder=gier_folder, problems=problems, progress=progress
    )
    return TableBlock(_name_dataset(dataset), rows, comparison, absent), systems


def open_row_systems(
    rows: Iterable[PaperRow], runs: Path, *, bfloat16: bool = False
) -> tuple[list[System], dict[str, str]]:
    """The systems of rows, named by the rows' titles, and why other rows have none."""
    systems: list[System] = []
    absent: dict[str, str] = {}
    for row in rows:
        if row.system in NAMED_SYSTEMS:
            systems.append(_fix_mode(row, NAMED_SYSTEMS[row.system](row.title)))
        elif row.system:
            systems.append(_fix_mode(row, open_system(row.system, bfloat16=bfloat16)))
        elif row.run is not None:
            if files := find_run_files(row.run, runs):
                systems.append(_fix_mode(row, _open_runs(row.title, files, bfloat16)))
            else:
                absent[row.title] = f"not run: no weights of {row.run.name}"
    return systems, absent


def _open_runs(title: str, files: Mapping[str, Path], bfloat16: bool) -> System:
    """One system, or several runs of it under the names of their folders."""
    if len(files) == 1:
        return open_system_file(title, *files.values(), bfloat16=bfloat16)
    runs = tuple(open_system_file(name, path, bfloat16=bfloat16) for name, path in files.items())
    return RepeatedSystem(title, runs)


def _fix_mode(row: PaperRow, system: System) -> System:
    if system.has_modes and not row.mode:
        raise ValueError(f"{row.title} has modes, and a row is measured in one: give PaperRow(mode=...)")
    return FixedModeSystem(row.title, system, row.mode) if row.mode else system


def create_rows(spec: str) -> list[PaperRow]:
    """The rows of a system that `open_system` opens: one, or one for each of its modes."""
    system = open_system(spec)
    if not system.has_modes:
        return [PaperRow(system.name, system=spec)]
    return [PaperRow(f"{system.name}, {mode}", system=spec, mode=mode) for mode in MODES]


def _name_dataset(dataset: Dataset) -> str:
    """The paper's name of its own datasets; else the name of the folder."""
    is_of_paper = dataset.layout == gier.NAME or is_published_ma5k_req(dataset)
    return DATASET_NAMES[dataset.layout] if is_of_paper else dataset.root.name


def compare_for_table(
    systems: Sequence[System],
    dataset: Dataset,
    options: MeasurementOptions,
    *,
    gier_folder: Path | None = None,
    problems: list[Problem] | None = None,
    progress: EvaluationProgress = ignore_progress,
) -> Comparison:
    """Measure systems as tables do: only labelled requests that ask for an edit, and no amounts.

    `gier_folder` is the folder of GIER, for its labelled requests.
    """
    labelled = read_labelled_sentences(dataset, options.split, gier_folder)
    sentences = {label: text for label, text in labelled.items() if label.kind is RequestKind.EDIT}
    options = replace(options, few=TEN_REQUEST_PHOTOS, amounts=False)
    return compare_systems(systems, dataset, sentences, options, problems=problems, progress=progress)


def create_unavailable_block(table: PaperTable) -> TableBlock:
    """GIER without its photos."""
    systems = [row.title for row in table.rows if row.run or row.system]
    return TableBlock(DATASET_NAMES["gier"], table.rows, None, dict.fromkeys(systems, NO_IMAGES))


def run_variance(figure: str, spread: RunSpread | None) -> float | None:
    """Variance of a row's figure between training runs; None if unknown.

    From the row's own runs if there are several; otherwise that of a single run of T2ONet.
    """
    if spread is not None:
        return spread.spread**2 / spread.runs
    return SINGLE_RUN_DEVIATION[figure] ** 2 if figure in SINGLE_RUN_DEVIATION else None


def noise_threshold(measured: PairedDifference, *variances: float) -> float:
    """What a difference has to exceed: 1.96 standard errors of pairs and training runs together."""
    sampling = (measured.high - measured.low) / (2 * Z_SCORE)
    return Z_SCORE * math.sqrt(sampling**2 + sum(variances))


def judge_difference(measured: PairedDifference, paper: float, *variances: float) -> str:
    """How a difference compares with the paper's, given the variances of both rows between training runs."""
    if not abs(measured.value) > noise_threshold(measured, *variances):
        return WITHIN_NOISE
    return SAME_DIRECTION if (measured.value > 0) == (paper > 0) else OTHER_DIRECTION


def explain_verdicts() -> str:
    """The note below a table of verdicts."""
    deviations = ", ".join(
        f"{_strip_mode(name)} {deviation:g}" for name, deviation in SINGLE_RUN_DEVIATION.items()
    )
    return (
        f"Paired, on the same samples. {WITHIN_NOISE.capitalize()}: not beyond 1.96 standard errors of pairs "
        "and training runs together. Standard deviation between runs: that of a row's own runs where it has "
        f"several, otherwise that of T2ONet from three seeds ({deviations}; results/main)."
    )


def choose_columns(table: PaperTable, block: TableBlock) -> dict[str, tuple[str, bool]]:
    """By title: the name of a figure or of a column of the paper, and whether it is the paper's."""
    columns: dict[str, tuple[str, bool]] = {}
    for name in table.columns:
        if name == FID:
            columns[FRECHET] = (_FRECHET_FIGURE, False)
        if name != USERS and (name != FID or block.has_figure(_FIGURE_NAMES[FID])):
            columns[name] = (_FIGURE_NAMES[name], False)
        columns[f"{name} (paper)"] = (name, True)
    if FID not in table.columns:
        columns[FRECHET] = (_FRECHET_FIGURE, False)
        if block.has_figure(_FIGURE_NAMES[FID]):
            columns[FID] = (_FIGURE_NAMES[FID], False)
    if block.has_figure(_LPIPS_FIGURE):
        columns[LPIPS] = (_LPIPS_FIGURE, False)
    return columns | {title: (name, False) for title, name in OWN_COLUMNS.items()}


def build_block_table(table: PaperTable, block: TableBlock) -> ResultTable:
    """All rows of a block, with the paper's figures in columns of their own."""
    columns = choose_columns(table, block)
    if block.comparison is None:
        unmeasured = {*OWN_COLUMNS, FRECHET}
        columns = {title: column for title, column in columns.items() if title not in unmeasured}
    rows = {row.title: tuple(_build_cells(block, row, columns)) for row in block.rows}
    return ResultTable(f"{table.title}: {block.dataset}", tuple(columns), rows, _describe_origin(block))


def _build_cells(block: TableBlock, row: PaperRow, columns: Mapping[str, tuple[str, bool]]) -> Iterator[Cell]:
    """The reason why a row was not run is in the first of its own columns."""
    estimates, paper = block.get_estimates(row), block.get_paper_figures(row)
    reason = block.absent.get(row.title)
    for name, from_paper in columns.values():
        if from_paper:
            yield paper.get(name)
        else:
            yield reason or estimates.get(name)
            reason = None


def _describe_origin(block: TableBlock) -> tuple[str, ...]:
    if block.comparison is None:
        return ()
    return (", ".join(f"{name} {value}" for name, value in block.comparison.facts.items()),)


def build_direction_table(table: PaperTable, block: TableBlock) -> ResultTable | None:
    """Differences from the reference row, here and in the paper; None if that row was not measured."""
    reference = next((row for row in block.rows if row.title == table.reference), None)
    if reference is None or block.comparison is None or block.comparison.names[0] != table.reference:
        return None
    paper = block.get_paper_figures(reference)
    names = [name for name in table.columns if name in _FIGURE_NAMES and name in paper]
    figures = {name: _choose_figure(block, name) for name in names}
    cells = {
        row.title: tuple(_compare_row(block, row, reference, figures))
        for row in block.rows
        if row != reference
    }
    rows = {title: row for title, row in cells.items() if any(row)}
    columns = tuple(
        part for name in names for part in (_strip_mode(figures[name]), f"{name} (paper)", "moves")
    )
    title = f"Against {table.reference}: {block.dataset}"
    return ResultTable(title, columns, rows, (explain_verdicts(),)) if rows else None


def _choose_figure(block: TableBlock, column: str) -> str:
    """FID if it was measured on every row and its variance is known; else the other Frechet distance."""
    figure = _FIGURE_NAMES[column]
    if column != FID:
        return figure
    rows = [row for row in block.rows if block.get_estimates(row)]
    is_usable = block.has_figure(figure) and all(
        figure in block.get_estimates(row) and _get_run_variance(block, row, figure) is not None
        for row in rows
    )
    return figure if is_usable else _FRECHET_FIGURE


def _strip_mode(figure: str) -> str:
    return figure.removeprefix("expert: ")


def _compare_row(
    block: TableBlock, row: PaperRow, reference: PaperRow, figures: Mapping[str, str]
) -> Iterator[Cell]:
    """For each figure the measured difference, the paper's, and the verdict."""
    differences = block.get_differences(row)
    paper, base = block.get_paper_figures(row), block.get_paper_figures(reference)
    for name, figure in figures.items():
        measured = differences.get(figure)
        published = paper[name] - base[name] if name in paper else None
        variances = [_get_run_variance(block, one, figure) for one in (row, reference)]
        known = [variance for variance in variances if variance is not None]
        verdict = ""
        if measured is not None and published is not None and len(known) == len(variances):
            verdict = judge_difference(measured, published, *known)
        yield from (measured, published, verdict)


def _get_run_variance(block: TableBlock, row: PaperRow, figure: str) -> float | None:
    """Variance between training runs; 0 for systems that are not trained for the table."""
    return 0.0 if row.run is None else run_variance(figure, block.get_spread(row, figure))


def blocks_to_csv(table: PaperTable, blocks: Sequence[TableBlock]) -> str:
    """A line for each figure of each row: measured, the paper's, and why it was not measured."""
    lines = [
        (block.dataset, row.title, *line)
        for block in blocks
        for row in block.rows
        for line in _build_csv_lines(table, block, row)
    ]
    return to_csv([_HEADER, *lines])


def _build_csv_lines(table: PaperTable, block: TableBlock, row: PaperRow) -> Iterator[list[str]]:
    estimates, paper = block.get_estimates(row), block.get_paper_figures(row)
    reason = block.absent.get(row.title, "")
    titles = {name: _FIGURE_NAMES.get(name, "") for name in table.columns} | {FRECHET: _FRECHET_FIGURE}
    optional = {FID: _FIGURE_NAMES[FID], LPIPS: _LPIPS_FIGURE}
    titles |= {title: name for title, name in optional.items() if block.has_figure(name)}
    for title, name in {**titles, **OWN_COLUMNS}.items():
        estimate, published = estimates.get(name), paper.get(title)
        if estimate is None and published is None and not reason:
            continue
        note = reason or (_REASONS_UNMEASURED.get(title, "") if estimate is None else "")
        figures = ("", "", "") if estimate is None else (f"{value:.6g}" for value in estimate)
        yield [title, *figures, "" if published is None else f"{published:g}", note]


def describe_differences(table: PaperTable, blocks: Sequence[TableBlock], *, bfloat16: bool) -> list[str]:
    """Differences from the paper, as sentences."""
    block = blocks[0]
    data = (
        "expert C's pictures alone, and networks that learned from expert C's pairs of the train split; "
        "the paper's figures are those of its test split with five experts"
        if block.dataset == DATASET_NAMES["ma5k-req"]
        else "pairs of your own; the paper's figures are those of the test split of MA5k-Req"
    )
    sizes = "128 x 128 pixels, squeezed to a square, where the paper has a short side of 600"
    sentences = [f"Data: {data}.", f"Size: {sizes}."]
    if block.has_figure(_FIGURE_NAMES[FID]):
        count = block.facts.get("pairs")
        sentences.append(
            f"FID: of {count} pictures against {count}, which reads higher than one of more pictures; "
            f"compare it between rows alone. The {FRECHET} is another figure."
        )
    elif FID in table.columns:
        sentences.append(
            f"FID: needs the Inception network (--inception); the {FRECHET}, which is always measured, "
            "cannot be compared with it."
        )
    if block.has_figure(_LPIPS_FIGURE):
        sentences.append("LPIPS, version 0.1 over AlexNet, is not in the paper.")
    if SIGMA in table.columns:
        sentences.append(
            f"Sigma: over about {TEN_REQUEST_PHOTOS} photos, where the paper takes its whole test split."
        )
    if USERS in table.columns:
        sentences.append("Users: nobody was asked here.")
    if block.comparison is not None and block.comparison.lacks_labels:
        sentences.append(UNLABELLED_NOTE)
    else:
        sentences.append(
            "Following and unrequested change are not in the paper: labelled requests that ask for an edit "
            "of the whole photo."
        )
    if bfloat16:
        sentences.append("The generators of GANs computed in bfloat16.")
    return [*sentences, *table.notes]

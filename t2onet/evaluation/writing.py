"""Write measured blocks beside the paper's figures, as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..data.spreadsheet import to_csv
from ..metrics.distances import LPIPS_TITLE as LPIPS
from ..metrics.features import LITE0_TITLE as FRECHET
from .blocks import (
    DATASET_NAMES,
    TEN_REQUEST_PHOTOS,
    TableBlock,
    explain_verdicts,
    judge_difference,
    run_variance,
)
from .compare import UNLABELLED_NOTE
from .measure import SIGMA_FIGURE as MEASURED_SIGMA
from .measure import UNREQUESTED
from .paper_tables import FID, L1, SIGMA, SSIM, USERS, PaperRow, PaperTable
from .table import Cell, ResultTable

# Blocks as a table to read beside the paper's figures, as CSV, and as what moved the paper's way.

_FIGURE_NAMES = {L1: "expert: L1", SSIM: "expert: SSIM", FID: "expert: FID", SIGMA: MEASURED_SIGMA}
"""The paper's columns, by the names of figures."""
_FRECHET_FIGURE = f"expert: {FRECHET}"
"""What is always measured, beside FID or in its place."""
_LPIPS_FIGURE = f"expert: {LPIPS}"
OWN_COLUMNS = {"following": "literal: following", UNREQUESTED: f"literal: {UNREQUESTED}"}
"""Columns of every table that the paper has not. A row has one mode: figures of both names are equal."""
_REASONS_UNMEASURED = {FID: "not run: no weights of Inception", USERS: "not run: no users were asked"}
"""Why a row that was measured has no such figure."""
_HEADER = ("dataset", "system", "figure", "value", "low", "high", "paper", "note")


def choose_columns(table: PaperTable, block: TableBlock) -> dict[str, tuple[str, bool]]:
    """Titles of columns, each with a figure or one of the paper's columns, and whether it is the paper's."""
    found: dict[str, tuple[str, bool]] = {}
    for name in table.columns:
        if name == FID:
            found[FRECHET] = (_FRECHET_FIGURE, False)
        if name != USERS and (name != FID or block.has(_FIGURE_NAMES[FID])):
            found[name] = (_FIGURE_NAMES[name], False)
        found[f"{name} (paper)"] = (name, True)
    if FID not in table.columns:
        found[FRECHET] = (_FRECHET_FIGURE, False)
        if block.has(_FIGURE_NAMES[FID]):
            found[FID] = (_FIGURE_NAMES[FID], False)
    if block.has(_LPIPS_FIGURE):
        found[LPIPS] = (_LPIPS_FIGURE, False)
    return found | {title: (name, False) for title, name in OWN_COLUMNS.items()}


def build_block_table(table: PaperTable, block: TableBlock) -> ResultTable:
    """A line for each row, the paper's figure in a column of its own."""
    columns = choose_columns(table, block)
    if block.comparison is None:
        columns = {
            title: one for title, one in columns.items() if title not in OWN_COLUMNS and title != FRECHET
        }
    rows = {row.title: tuple(_build_cells(block, row, columns)) for row in block.rows}
    return ResultTable(f"{table.title}: {block.dataset}", tuple(columns), rows, _describe_origin(block))


def _build_cells(block: TableBlock, row: PaperRow, columns: dict[str, tuple[str, bool]]) -> Iterator[Cell]:
    """Why a row was not run stands in the first of its columns."""
    found, paper = block.estimates(row), block.paper(row)
    why = block.absent.get(row.title)
    for name, from_paper in columns.values():
        if from_paper:
            yield paper.get(name)
        else:
            yield why or found.get(name)
            why = None


def _describe_origin(block: TableBlock) -> tuple[str, ...]:
    if block.comparison is None:
        return ()
    return (", ".join(f"{name} {value}" for name, value in block.comparison.facts.items()),)


def build_direction_table(table: PaperTable, block: TableBlock) -> ResultTable | None:
    """How rows differ from the one they are compared with, here and in the paper; None without that one."""
    reference = next((row for row in block.rows if row.title == table.against), None)
    if reference is None or block.comparison is None or block.comparison.names[0] != table.against:
        return None
    named = [name for name in table.columns if name in _FIGURE_NAMES and name in block.paper(reference)]
    figures = {name: _choose_figure(block, name) for name in named}
    rows = {
        row.title: tuple(_compare_row(block, row, reference, figures))
        for row in block.rows
        if row != reference
    }
    columns = tuple(
        part for name in named for part in (_strip_prefix(figures[name]), f"{name} (paper)", "moves")
    )
    kept = {title: cells for title, cells in rows.items() if any(cells)}
    title = f"Against {table.against}: {block.dataset}"
    return ResultTable(title, columns, kept, (explain_verdicts(),)) if kept else None


def _choose_figure(block: TableBlock, column: str) -> str:
    """FID where it was measured on every row and its noise is known; else the other Frechet distance."""
    figure = _FIGURE_NAMES[column]
    if column != FID:
        return figure
    found = [row for row in block.rows if block.estimates(row)]
    known = block.has(figure) and all(
        figure in block.estimates(row) and _get_run_variance(block, row, figure) is not None for row in found
    )
    return figure if known else _FRECHET_FIGURE


def _strip_prefix(figure: str) -> str:
    return figure.removeprefix("expert: ")


def _compare_row(
    block: TableBlock, row: PaperRow, reference: PaperRow, figures: Mapping[str, str]
) -> Iterator[Cell]:
    here, paper, base = block.differences(row), block.paper(row), block.paper(reference)
    for name, figure in figures.items():
        found = here.get(figure)
        there = paper[name] - base[name] if name in paper else None
        variances = [_get_run_variance(block, one, figure) for one in (row, reference)]
        if found is None or there is None or None in variances:
            yield from (found, there, "")
        else:
            yield from (
                found,
                there,
                judge_difference(found, there, *(one for one in variances if one is not None)),
            )


def _get_run_variance(block: TableBlock, row: PaperRow, figure: str) -> float | None:
    """Between training runs; what was not trained for the table has none."""
    return 0.0 if row.run is None else run_variance(figure, block.spread(row, figure))


def blocks_to_csv(table: PaperTable, blocks: Sequence[TableBlock]) -> str:
    """A line for each figure of each row: what was measured, the paper's, and why it was not."""
    lines = [
        (block.dataset, row.title, *line)
        for block in blocks
        for row in block.rows
        for line in _build_csv_lines(table, block, row)
    ]
    return to_csv([_HEADER, *lines])


def _build_csv_lines(table: PaperTable, block: TableBlock, row: PaperRow) -> Iterator[list[str]]:
    found, paper, why = block.estimates(row), block.paper(row), block.absent.get(row.title, "")
    titles = {name: _FIGURE_NAMES.get(name, "") for name in table.columns}
    more = {
        title: name for title, name in ((FID, _FIGURE_NAMES[FID]), (LPIPS, _LPIPS_FIGURE)) if block.has(name)
    }
    for title, name in {**titles, FRECHET: _FRECHET_FIGURE, **more, **OWN_COLUMNS}.items():
        estimate, said = found.get(name), paper.get(title)
        if estimate is None and said is None and not why:
            continue
        note = why or (_REASONS_UNMEASURED.get(title, "") if estimate is None else "")
        figures = ("", "", "") if estimate is None else (f"{value:.6g}" for value in estimate)
        yield [title, *figures, "" if said is None else f"{said:g}", note]


def describe_differences(table: PaperTable, blocks: Sequence[TableBlock], *, narrow: bool) -> list[str]:
    """What differs from the paper, as sentences."""
    known = blocks[0].dataset == DATASET_NAMES["ma5k-req"]
    data = (
        "expert C's pictures alone, and networks that learned from expert C's pairs of the train split; "
        "the paper's figures are those of its test split with five experts"
        if known
        else "pairs of your own; the paper's figures are those of the test split of MA5k-Req"
    )
    sizes = "128 x 128 pixels, squeezed to a square, where the paper has a short side of 600"
    said = [f"Data: {data}.", f"Size: {sizes}."]
    if blocks[0].has(_FIGURE_NAMES[FID]):
        count = blocks[0].facts.get("pairs")
        said.append(
            f"FID: of {count} pictures against {count}, which reads higher than one of more pictures; "
            f"compare it between rows alone. The {FRECHET} is another figure."
        )
    elif FID in table.columns:
        said.append(
            f"FID: needs the Inception network (--inception); the {FRECHET}, which is always measured, "
            "cannot be compared with it."
        )
    if blocks[0].has(_LPIPS_FIGURE):
        said.append("LPIPS, version 0.1 over AlexNet, is not in the paper.")
    if SIGMA in table.columns:
        said.append(
            f"Sigma: over about {TEN_REQUEST_PHOTOS} photos, where the paper takes its whole test split."
        )
    if USERS in table.columns:
        said.append("Users: nobody was asked here.")
    if (measured := blocks[0].comparison) is not None and measured.unlabelled:
        said.append(UNLABELLED_NOTE)
    else:
        said.append(
            "Following and unrequested change are not in the paper: labelled requests that ask for an edit "
            "of the whole photo."
        )
    if narrow:
        said.append("The generators of GANs computed in bfloat16.")
    return [*said, *table.differs]

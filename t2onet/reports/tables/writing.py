"""Blocks as a table to read beside the paper's figures, as CSV, and as what moved the paper's way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...data.spreadsheet import to_csv
from ...metrics.features import LITE0 as FRECHET
from ...metrics.lpips import TITLE as LPIPS
from ..figures import SIGMA as MEASURED_SIGMA
from ..following import UNREQUESTED
from ..measured import UNLABELLED
from ..table import Cell, Table
from .measuring import NAMES, TEN_PHOTOS, Block
from .model import PaperTable, Row
from .paper import FID, L1, SIGMA, SSIM, USERS
from .verdicts import explanation, run_variance, verdict

_MEASURED = {L1: "expert: L1", SSIM: "expert: SSIM", FID: "expert: FID", SIGMA: MEASURED_SIGMA}
"""The paper's columns, by the names of figures."""
_NEAREST = f"expert: {FRECHET}"
"""What is always measured, beside FID or in its place."""
_LPIPS = f"expert: {LPIPS}"
OURS = {"following": "literal: following", UNREQUESTED: f"literal: {UNREQUESTED}"}
"""Columns of every table that the paper has not. A row has one mode: figures of both names are equal."""
_UNMEASURED = {FID: "not run: no weights of Inception", USERS: "not run: no users were asked"}
"""Why a row that was measured has no such figure."""
_HEADER = ("dataset", "system", "figure", "value", "low", "high", "paper", "note")


def columns_of(table: PaperTable, block: Block) -> dict[str, tuple[str, bool]]:
    """Titles of columns, each with a figure or one of the paper's columns, and whether it is the paper's."""
    found: dict[str, tuple[str, bool]] = {}
    for name in table.columns:
        if name == FID:
            found[FRECHET] = (_NEAREST, False)
        if name != USERS and (name != FID or block.has(_MEASURED[FID])):
            found[name] = (_MEASURED[name], False)
        found[f"{name} (paper)"] = (name, True)
    if FID not in table.columns:
        found[FRECHET] = (_NEAREST, False)
        if block.has(_MEASURED[FID]):
            found[FID] = (_MEASURED[FID], False)
    if block.has(_LPIPS):
        found[LPIPS] = (_LPIPS, False)
    return found | {title: (name, False) for title, name in OURS.items()}


def shown(table: PaperTable, block: Block) -> Table:
    """A line for each row, the paper's figure in a column of its own."""
    columns = columns_of(table, block)
    if block.comparison is None:
        columns = {title: one for title, one in columns.items() if title not in OURS and title != FRECHET}
    rows = {row.title: tuple(_cells(block, row, columns)) for row in block.rows}
    return Table(f"{table.title}: {block.dataset}", tuple(columns), rows, _origin(block))


def _cells(block: Block, row: Row, columns: dict[str, tuple[str, bool]]) -> Iterator[Cell]:
    """Why a row was not run stands in the first of its columns."""
    found, paper = block.estimates(row), block.paper(row)
    why = block.absent.get(row.title)
    for name, from_paper in columns.values():
        if from_paper:
            yield paper.get(name)
        else:
            yield why or found.get(name)
            why = None


def _origin(block: Block) -> tuple[str, ...]:
    if block.comparison is None:
        return ()
    return (", ".join(f"{name} {value}" for name, value in block.comparison.facts.items()),)


def directions(table: PaperTable, block: Block) -> Table | None:
    """How rows differ from the one they are compared with, here and in the paper; None without that one."""
    reference = next((row for row in block.rows if row.title == table.against), None)
    if reference is None or block.comparison is None or block.comparison.names[0] != table.against:
        return None
    named = [name for name in table.columns if name in _MEASURED and name in block.paper(reference)]
    figures = {name: _compared_by(block, name) for name in named}
    rows = {
        row.title: tuple(_apart(block, row, reference, figures)) for row in block.rows if row != reference
    }
    columns = tuple(part for name in named for part in (_titled(figures[name]), f"{name} (paper)", "moves"))
    kept = {title: cells for title, cells in rows.items() if any(cells)}
    title = f"Against {table.against}: {block.dataset}"
    return Table(title, columns, kept, (explanation(),)) if kept else None


def _compared_by(block: Block, column: str) -> str:
    """FID where it was measured on every row and its noise is known; else the other Frechet distance."""
    figure = _MEASURED[column]
    if column != FID:
        return figure
    found = [row for row in block.rows if block.estimates(row)]
    known = block.has(figure) and all(
        figure in block.estimates(row) and _variance(block, row, figure) is not None for row in found
    )
    return figure if known else _NEAREST


def _titled(figure: str) -> str:
    return figure.removeprefix("expert: ")


def _apart(block: Block, row: Row, reference: Row, figures: Mapping[str, str]) -> Iterator[Cell]:
    here, paper, base = block.differences(row), block.paper(row), block.paper(reference)
    for name, figure in figures.items():
        found = here.get(figure)
        there = paper[name] - base[name] if name in paper else None
        variances = [_variance(block, one, figure) for one in (row, reference)]
        if found is None or there is None or None in variances:
            yield from (found, there, "")
        else:
            yield from (found, there, verdict(found, there, *(one for one in variances if one is not None)))


def _variance(block: Block, row: Row, figure: str) -> float | None:
    """Between training runs; what was not trained for the table has none."""
    return 0.0 if row.run is None else run_variance(figure, block.spread(row, figure))


def as_csv(table: PaperTable, blocks: Sequence[Block]) -> str:
    """A line for each figure of each row: what was measured, the paper's, and why it was not."""
    lines = [
        (block.dataset, row.title, *line)
        for block in blocks
        for row in block.rows
        for line in _lines(table, block, row)
    ]
    return to_csv([_HEADER, *lines])


def _lines(table: PaperTable, block: Block, row: Row) -> Iterator[list[str]]:
    found, paper, why = block.estimates(row), block.paper(row), block.absent.get(row.title, "")
    titles = {name: _MEASURED.get(name, "") for name in table.columns}
    more = {title: name for title, name in ((FID, _MEASURED[FID]), (LPIPS, _LPIPS)) if block.has(name)}
    for title, name in {**titles, FRECHET: _NEAREST, **more, **OURS}.items():
        estimate, said = found.get(name), paper.get(title)
        if estimate is None and said is None and not why:
            continue
        note = why or (_UNMEASURED.get(title, "") if estimate is None else "")
        figures = ("", "", "") if estimate is None else (f"{value:.6g}" for value in estimate)
        yield [title, *figures, "" if said is None else f"{said:g}", note]


def differences(table: PaperTable, blocks: Sequence[Block], *, narrow: bool) -> list[str]:
    """What differs from the paper, as sentences."""
    known = blocks[0].dataset == NAMES["ma5k-req"]
    data = (
        "expert C's pictures alone, and networks that learned from expert C's pairs of the train split; "
        "the paper's figures are those of its test split with five experts"
        if known
        else "pairs of your own; the paper's figures are those of the test split of MA5k-Req"
    )
    sizes = "128 x 128 pixels, squeezed to a square, where the paper has a short side of 600"
    said = [f"Data: {data}.", f"Size: {sizes}."]
    if blocks[0].has(_MEASURED[FID]):
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
    if blocks[0].has(_LPIPS):
        said.append("LPIPS, version 0.1 over AlexNet, is not in the paper.")
    if SIGMA in table.columns:
        said.append(f"Sigma: over about {TEN_PHOTOS} photos, where the paper takes its whole test split.")
    if USERS in table.columns:
        said.append("Users: nobody was asked here.")
    if (measured := blocks[0].comparison) is not None and measured.unlabelled:
        said.append(UNLABELLED)
    else:
        said.append(
            "Following and unrequested change are not in the paper: labelled requests that ask for an edit "
            "of the whole photo."
        )
    if narrow:
        said.append("The generators of GANs computed in bfloat16.")
    return [*said, *table.differs]

"""Blocks as a table to read beside the paper's figures, as CSV, and as what moved the paper's way."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from ...metrics.features import LITE0 as FRECHET
from ...metrics.intervals import Difference
from ..comparison import UNLABELLED
from ..figures import SIGMA as MEASURED_SIGMA
from ..following import UNREQUESTED
from ..table import Cell, Table
from .measuring import NAMES, TEN_PHOTOS, Block
from .model import PaperTable, Row
from .paper import FID, L1, SIGMA, SSIM, USERS

_MEASURED = {L1: "expert: L1", SSIM: "expert: SSIM", FID: "expert: FID", SIGMA: MEASURED_SIGMA}
"""The paper's columns, by the names of figures."""
_NEAREST = {**_MEASURED, FID: f"expert: {FRECHET}"}
"""The same, with what is always measured in the place of FID."""
OURS = {"following": "literal: following", UNREQUESTED: f"literal: {UNREQUESTED}"}
"""Columns of every table that the paper has not. A row has one mode: figures of both names are equal."""
_HEADER = ("dataset", "system", "figure", "value", "low", "high", "paper", "note")


def columns_of(table: PaperTable, *, inception: bool) -> dict[str, tuple[str, bool]]:
    """Titles of columns, each with a figure or one of the paper's columns, and whether it is the paper's."""
    found: dict[str, tuple[str, bool]] = {}
    for name in table.columns:
        if name == FID:
            found[FRECHET] = (f"expert: {FRECHET}", False)
        if name != USERS and (name != FID or inception):
            found[name] = (_MEASURED[name], False)
        found[f"{name} (paper)"] = (name, True)
    if FID not in table.columns:
        found[FRECHET] = (f"expert: {FRECHET}", False)
    return found | {title: (name, False) for title, name in OURS.items()}


def shown(table: PaperTable, block: Block, *, inception: bool) -> Table:
    """A line for each row, the paper's figure in a column of its own."""
    columns = columns_of(table, inception=inception)
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
    rows = {row.title: tuple(_apart(block, row, reference, named)) for row in block.rows if row != reference}
    columns = tuple(part for name in named for part in (_titled(name), f"{name} (paper)", "moves"))
    kept = {title: cells for title, cells in rows.items() if any(cells)}
    note = "Paired, on the same samples. Unclear: the interval has both directions."
    return Table(f"Against {table.against}: {block.dataset}", columns, kept, (note,)) if kept else None


def _titled(name: str) -> str:
    return FRECHET if name == FID else name


def _apart(block: Block, row: Row, reference: Row, named: Sequence[str]) -> Iterator[Cell]:
    here, paper, base = block.differences(row), block.paper(row), block.paper(reference)
    for name in named:
        found = here.get(_NEAREST[name])
        there = paper[name] - base[name] if name in paper else None
        yield from (found, there, "" if found is None or there is None else _verdict(found, there))


def _verdict(here: Difference, there: float) -> str:
    if not (here.low > 0 or here.high < 0):
        return "unclear"
    return "as in the paper" if (here.value > 0) == (there > 0) else "the other way"


def as_csv(table: PaperTable, blocks: Sequence[Block], *, inception: bool) -> str:
    """A line for each figure of each row: what was measured, the paper's, and why it was not."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for block in blocks:
        for row in block.rows:
            writer.writerows(
                [block.dataset, row.title, *line] for line in _lines(table, block, row, inception)
            )
    return text.getvalue()


def _lines(table: PaperTable, block: Block, row: Row, inception: bool) -> Iterator[list[str]]:
    found, paper, why = block.estimates(row), block.paper(row), block.absent.get(row.title, "")
    titles = {name: _MEASURED.get(name, "") for name in table.columns}
    for title, name in {**titles, FRECHET: f"expert: {FRECHET}", **OURS}.items():
        estimate, said = found.get(name), paper.get(title)
        if estimate is None and said is None and not why:
            continue
        missing = "no weights of Inception" if title == FID and not inception else "no users were asked"
        note = why or (f"not run: {missing}" if estimate is None and title in (FID, USERS) else "")
        figures = ("", "", "") if estimate is None else (f"{value:.6g}" for value in estimate)
        yield [title, *figures, "" if said is None else f"{said:g}", note]


def differences(table: PaperTable, blocks: Sequence[Block], *, inception: bool, narrow: bool) -> list[str]:
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
    if FID in table.columns:
        given = "beside it stands FID" if inception else "FID itself needs weights of Inception (--inception)"
        said.append(
            f"FID: the {FRECHET} is always measured and cannot be compared with the paper's FID; {given}."
        )
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

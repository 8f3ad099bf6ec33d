"""Reproduce a table of the paper: train, plan, measure and draw."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..data import Dataset, Problem, open_dataset
from ..data.gier import select_samples
from ..data.records import QuestionSet
from ..errors import DataError
from ..image import write_atomically
from .ablations import ABLATIONS
from .blocks import (
    DATASET_NAMES,
    MeasurementOptions,
    TableBlock,
    compare_for_table,
    create_rows,
    create_unavailable_block,
    measure_table,
)
from .cases import EvaluationProgress, choose_pairs, ignore_progress, read_cases, read_pairs
from .compare import ABOUT_JSON, Comparison
from .paper_tables import PaperRun, PaperTable
from .runs import (
    PaperRunOptions,
    describe_row,
    find_run_files,
    read_progress,
    repeat_runs,
    train_missing_runs,
)
from .sheets import (
    PAIRS_SHEET,
    PHOTOS_SHEET,
    SheetPhoto,
    draw_systems_sheet,
    photos_from_cases,
    photos_from_files,
    to_questions,
)
from .systems import EVALUATION_SIDE, QuestionRecorder, System
from .table import ResultTable, encode_provenance
from .writing import blocks_to_csv, build_block_table, build_direction_table, describe_differences

# From a table's declaration to its results: trains, plans, measures and draws.

SHEET_PAIRS = 6
"""Pairs on a contact sheet."""
_INPUT_SYSTEM = "identity"


@dataclass(frozen=True)
class ReproduceOptions:
    """What a table is made of: a dataset, runs, systems beside its own, and photos to show."""

    dataset: Path
    place: PaperRunOptions
    extent: MeasurementOptions = field(default_factory=MeasurementOptions)
    systems: Sequence[str] = ()
    photos: Sequence[Path] = ()
    planned: int = 100
    """Pairs that are planned, where the paper's table is about that."""
    solver: str = "fast"
    gier_data: Path | None = None
    """A packed set to learn from for GIER's columns."""
    narrow: bool = False
    seeds: int = 1
    """Times that each run is trained, from as many seeds."""


class PaperTableBuilder:
    """One table under way; `problems` are pairs that could not be used."""

    def __init__(
        self,
        table: PaperTable,
        wanted: ReproduceOptions,
        say: Callable[[str], None],
        told: EvaluationProgress = ignore_progress,
    ) -> None:
        self.table = table
        self.wanted = wanted
        self.say = say
        self.told = told
        self.problems: list[Problem] = []
        self.more = [row for given in wanted.systems for row in create_rows(given)]

    def results(self) -> ReproducedTable:
        """Rows without weights are left out and say so; refused where there is nothing to measure."""
        wanted, runs = self.wanted, self.wanted.place.runs
        if wanted.place.data is not None:  # what cannot be measured is refused before hours of training
            open_dataset(wanted.dataset, splits=[wanted.extent.split])
        train_missing_runs(self._runs(), wanted.place, self.say)
        planning, facts = self._planning() if self.table.name in ABLATIONS else (None, {})
        blocks: list[TableBlock] = []
        sheets: Mapping[str, bytes] = {}
        if self._has_systems(runs):
            data = open_dataset(wanted.dataset, splits=[wanted.extent.split])
            block, systems = self._block(data, runs)
            blocks, sheets = [block, *self._gier()], self._sheets(data, systems)
        elif planning is None:
            raise DataError(
                f"no system of {self.table.name} has weights in {runs}; give --data PACKED to train them "
                f"here, or train them elsewhere as `python -m t2onet.evaluation {self.table.name}` says"
            )
        return ReproducedTable(
            self.table,
            blocks,
            runs,
            planning,
            facts,
            sheets,
            narrow=wanted.narrow,
        )

    def questions(self) -> QuestionSet:
        """All that a system without manners is asked for this table, its contact sheets among it."""
        noting, extent = QuestionRecorder(), replace(self.wanted.extent, extractors=())
        data = open_dataset(self.wanted.dataset, splits=[extent.split])
        gier = self._gier_data()
        for dataset in (data, *([] if gier is None else [gier])):
            compare_for_table([noting], dataset, extent, problems=self.problems, told=self.told)
        for asked in self._shown(data).values():
            noting.answer(to_questions(asked))
        return noting.questions(data.fingerprint, *([] if gier is None else [gier.fingerprint]))

    def _runs(self) -> list[PaperRun]:
        return repeat_runs(self.table.runs(), self.wanted.seeds, self.wanted.place.settings)

    def _has_systems(self, runs: Path) -> bool:
        """Others than the inputs."""
        rows = (*self.table.rows, *self.more)
        named = any(row.system not in ("", _INPUT_SYSTEM) for row in rows)
        return named or any(find_run_files(row.run, runs) for row in rows if row.run is not None)

    def _planning(self) -> tuple[ResultTable, dict[str, object]]:
        """On pairs of the train split, or of all where there is none; and which they were."""
        data, seed = open_dataset(self.wanted.dataset), self.wanted.extent.seed
        pairs = choose_pairs(data.split("train") or data.samples, self.wanted.planned, seed)
        lost: list[Problem] = []
        pictures = list(read_pairs(pairs, lost))
        if not pictures:
            many = f"none of the {len(pairs)} pairs can be used; of the first"
            what = "its pair cannot be used" if len(pairs) == 1 else many
            raise DataError(f"{self.wanted.dataset}: {what}: {lost[0].reason}")
        self.problems += [*data.problems, *lost]
        self.told("planning", 0, len(pictures))
        table = ABLATIONS[self.table.name](pictures, self.wanted.solver)
        return table, {"planned pairs": len(pictures), "seed": seed, "data": data.fingerprint}

    def _block(self, data: Dataset, runs: Path) -> tuple[TableBlock, list[System]]:
        block, systems = measure_table(
            self.table,
            data,
            runs,
            self.wanted.extent,
            more=self.more,
            narrow=self.wanted.narrow,
            problems=self.problems,
            told=self.told,
        )
        for title, why in block.absent.items():
            self.say(f"{title}: {why}")
        return block, systems

    def _gier(self) -> list[TableBlock]:
        """The paper's other dataset, where the table has it: with networks that learned from it."""
        if not any(row.gier for row in self.table.rows):
            return []
        if (data := self._gier_data()) is None:
            return [create_unavailable_block(self.table)]
        place = replace(
            self.wanted.place, runs=get_gier_runs_folder(self.wanted.place.runs), data=self.wanted.gier_data
        )
        train_missing_runs(self._runs(), place, self.say)
        return [self._block(data, place.runs)[0]]

    def _gier_data(self) -> Dataset | None:
        """With its photos, where the table has figures on it and they are there."""
        folder = self.wanted.extent.gier
        if not any(row.gier for row in self.table.rows) or folder is None or not (folder / "images").is_dir():
            return None
        return select_samples(open_dataset(folder, splits=[self.wanted.extent.split]), aligned=True)

    def _sheets(self, data: Dataset, systems: Sequence[System]) -> dict[str, bytes]:
        """Of pairs and, where there are some, of photos of one's own."""
        rows = [row.title for row in (*self.table.rows, *self.more)]
        ordered = sorted(systems, key=lambda system: rows.index(system.name))
        drawn = [system for system in ordered if system.name != "Input"]
        self.told("contact sheets", 0, 1)
        return {
            name: draw_systems_sheet(self.table.title, drawn, asked)
            for name, asked in self._shown(data).items()
        }

    def _shown(self, data: Dataset) -> dict[str, list[SheetPhoto]]:
        """What is asked for the contact sheets."""
        some = read_cases(
            data, self.wanted.extent.split, EVALUATION_SIDE, SHEET_PAIRS, seed=self.wanted.extent.seed
        )
        own = (
            {PHOTOS_SHEET: photos_from_files(self.wanted.photos, EVALUATION_SIDE)}
            if self.wanted.photos
            else {}
        )
        return {PAIRS_SHEET: photos_from_cases(some, SHEET_PAIRS), **own}


# Everything of a table in a folder: to read, to compute with, to look at, and to follow back.

TABLE_PAGE, TABLE_CSV, PLANNING_CSV, SYSTEMS_JSON = "table.md", "table.csv", "planning.csv", "systems.json"


@dataclass(frozen=True)
class ReproducedTable:
    """A table as it was made."""

    table: PaperTable
    blocks: Sequence[TableBlock]
    runs: Path
    planning: ResultTable | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    """About planning: data and seed."""
    sheets: Mapping[str, bytes] = field(default_factory=dict)
    narrow: bool = False

    def tables(self) -> list[ResultTable]:
        """What was measured on each dataset, how rows differ, and what planning costs."""
        found = [build_block_table(self.table, block) for block in self.blocks]
        found += [
            moved for block in self.blocks if (moved := build_direction_table(self.table, block)) is not None
        ]
        return [*found, *([self.planning] if self.planning else [])]

    def page(self, command: str) -> str:
        """In Markdown."""
        parts = [f"# {self.table.title}\n", f"`{command}`\n", *(table.markdown() for table in self.tables())]
        if self.blocks:
            said = describe_differences(self.table, self.blocks, narrow=self.narrow)
            said += [told for block in self.blocks if (told := self._iterations(block))]
            parts.append("## What differs from the paper\n\n" + "".join(f"- {one}\n" for one in said))
        return "\n".join(parts)

    def _iterations(self, block: TableBlock) -> str:
        """How far the runs behind a block were trained, as a sentence; empty where there is none."""
        runs = {row.title: row.run for row in block.rows if row.run is not None}
        found = {title: read_progress(self._runs(block) / run.name) for title, run in runs.items()}
        told = [f"{title} {progress}" for title, progress in found.items() if progress is not None]
        if block.comparison is None or not told:
            return ""
        return f"Iterations trained, of those asked for ({block.dataset}): {'; '.join(told)}."

    def csv(self) -> str:
        """A line for each figure of each row."""
        return blocks_to_csv(self.table, self.blocks)

    def systems(self) -> str:
        """What stands behind each row of each dataset, as JSON."""
        told = {
            block.dataset: {row.title: describe_row(row, self._runs(block)) for row in block.rows}
            for block in self.blocks
            if block.comparison is not None
        }
        return json.dumps(told, indent=2) + "\n"

    def _runs(self, block: TableBlock) -> Path:
        return get_gier_runs_folder(self.runs) if block.dataset == DATASET_NAMES["gier"] else self.runs

    def write(self, folder: Path, command: str, *, overwrite: bool = False) -> None:
        """The table's own files beside those of `t2o evaluate`, which have every figure and sample."""
        folder.mkdir(parents=True, exist_ok=True)
        for block in self.blocks:
            if isinstance(block.comparison, Comparison):
                place = folder / "gier" if block.dataset == DATASET_NAMES["gier"] else folder
                block.comparison.write(place, command, overwrite=overwrite)
        contents = {TABLE_PAGE: self.page(command).encode(), **self.sheets}
        if self.blocks:
            contents |= {TABLE_CSV: self.csv().encode(), SYSTEMS_JSON: self.systems().encode()}
        else:
            contents[ABOUT_JSON] = encode_provenance(command, **self.facts)
        if self.planning is not None:
            contents[PLANNING_CSV] = self.planning.csv().encode()
        for name, data in contents.items():
            write_atomically(folder / name, data, overwrite=overwrite)


def get_gier_runs_folder(runs: Path) -> Path:
    """Where runs lie that learned from GIER."""
    return runs / "gier"

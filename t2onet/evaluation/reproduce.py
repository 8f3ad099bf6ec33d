"""Reproduce a table of the paper: train, plan, measure, draw, and write everything to a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from ..data import Dataset, Problem, open_dataset
from ..data.gier import select_samples
from ..data.records import QuestionSet
from ..errors import DataError
from ..image import write_atomically
from ..planning import ForwardSearch, JointFitter, L1Cost, SearchNode
from ..planning.pictures import Picture
from ..planning.planner import FIXED_ORDER, SearchMethod
from ..planning.solvers import find_solver
from .cases import EvaluationProgress, choose_pairs, ignore_progress, read_cases, read_pairs
from .compare import ABOUT_JSON, Comparison, ResultTable, encode_provenance
from .measure import MeasurementOptions
from .paper_results import (
    DATASET_NAMES,
    TableBlock,
    blocks_to_csv,
    build_block_table,
    build_direction_table,
    compare_for_table,
    create_rows,
    create_unavailable_block,
    describe_differences,
    measure_table,
)
from .paper_tables import MAXIMUM_STEPS, OPERATION_SETS, SINGLE_OPERATIONS, PaperPlans, PaperRun, PaperTable
from .pictures import (
    PAIRS_SHEET,
    PHOTOS_SHEET,
    SheetPhoto,
    draw_systems_sheet,
    photos_from_cases,
    photos_from_files,
    to_questions,
)
from .runs import (
    PaperRunOptions,
    describe_row,
    find_run_files,
    read_progress,
    repeat_runs,
    train_missing_runs,
)
from .systems import EVALUATION_SIDE, QuestionRecorder, System

SHEET_PAIRS = 6
"""Pairs on a contact sheet."""
TABLE_PAGE, TABLE_CSV, PLANNING_CSV, SYSTEMS_JSON = "table.md", "table.csv", "planning.csv", "systems.json"
_INPUT_SYSTEM = "identity"


@dataclass(frozen=True)
class ReproduceOptions:
    """A dataset, runs, systems besides those of the table, and photos to show."""

    dataset: Path
    training: PaperRunOptions
    measurement: MeasurementOptions
    systems: Sequence[str] = ()
    photos: Sequence[Path] = ()
    planned_pairs: int = 100
    """Pairs to plan, for tables about planning."""
    solver: str = "fast"
    gier: Path | None = None
    """Folder of GIER, for its labelled requests and its photos."""
    gier_data: Path | None = None
    """A packed set of GIER, to train on for its columns."""
    bfloat16: bool = False
    """Whether the generators of GANs compute in bfloat16."""
    seeds: int = 1
    """Number of times that each run is trained, from as many seeds."""


class PaperTableBuilder:
    """Builds one table; `problems` are pairs that could not be used."""

    def __init__(
        self,
        table: PaperTable,
        options: ReproduceOptions,
        report: Callable[[str], None],
        progress: EvaluationProgress = ignore_progress,
    ) -> None:
        self.table = table
        self.options = options
        self.report = report
        self.progress = progress
        self.problems: list[Problem] = []
        self.extra_rows = [row for spec in options.systems for row in create_rows(spec)]

    def build(self) -> ReproducedTable:
        """Train, measure and draw. Rows without weights say so; raises if there is nothing to measure."""
        options, runs = self.options, self.options.training.runs
        split = options.measurement.split
        if options.training.data is not None:  # refuse unusable data before hours of training
            open_dataset(options.dataset, splits=[split])
        train_missing_runs(self._list_runs(), options.training, self.report)
        planning, facts = self._plan() if self.table.name in ABLATIONS else (None, {})
        blocks: list[TableBlock] = []
        sheets: Mapping[str, bytes] = {}
        if self._has_systems(runs):
            data = open_dataset(options.dataset, splits=[split])
            block, systems = self._measure(data, runs)
            blocks, sheets = [block, *self._measure_gier()], self._draw_sheets(data, systems)
        elif planning is None:
            raise DataError(
                f"no system of {self.table.name} has weights in {runs}; give --data PACKED to train them, or "
                "--runs DIR with trained runs"
            )
        return ReproducedTable(self.table, blocks, runs, planning, facts, sheets, options.bfloat16)

    def collect_questions(self) -> QuestionSet:
        """All that a system without modes is asked for this table and its contact sheets."""
        recorder, measurement = QuestionRecorder(), replace(self.options.measurement, extractors=())
        data = open_dataset(self.options.dataset, splits=[measurement.split])
        gier = self._open_gier()
        datasets = [data] if gier is None else [data, gier]
        for dataset in datasets:
            compare_for_table(
                [recorder],
                dataset,
                measurement,
                gier_folder=self.options.gier,
                problems=self.problems,
                progress=self.progress,
            )
        for photos in self._choose_sheet_photos(data).values():
            recorder.answer(to_questions(photos))
        return recorder.to_question_set(*(dataset.fingerprint for dataset in datasets))

    def _list_runs(self) -> list[PaperRun]:
        return repeat_runs(self.table.list_runs(), self.options.seeds, self.options.training.settings)

    def _has_systems(self, runs: Path) -> bool:
        """Whether there is a system besides the inputs."""
        rows = (*self.table.rows, *self.extra_rows)
        named = any(row.system not in ("", _INPUT_SYSTEM) for row in rows)
        return named or any(find_run_files(row.run, runs) for row in rows if row.run is not None)

    def _plan(self) -> tuple[ResultTable, dict[str, object]]:
        """Plan pairs of the train split, or of all splits if there is none; the table and its facts."""
        data, seed = open_dataset(self.options.dataset), self.options.measurement.seed
        pairs = choose_pairs(data.split("train") or data.samples, self.options.planned_pairs, seed)
        unusable: list[Problem] = []
        pictures = list(read_pairs(pairs, unusable))
        if not pictures:
            many = f"none of the {len(pairs)} pairs can be used; of the first"
            what = "its pair cannot be used" if len(pairs) == 1 else many
            raise DataError(f"{self.options.dataset}: {what}: {unusable[0].reason}")
        self.problems += [*data.problems, *unusable]
        self.progress("planning", 0, len(pictures))
        table = ABLATIONS[self.table.name](pictures, self.options.solver)
        return table, {"planned pairs": len(pictures), "seed": seed, "data": data.fingerprint}

    def _measure(self, data: Dataset, runs: Path) -> tuple[TableBlock, list[System]]:
        block, systems = measure_table(
            self.table,
            data,
            runs,
            self.options.measurement,
            gier_folder=self.options.gier,
            extra_rows=self.extra_rows,
            bfloat16=self.options.bfloat16,
            problems=self.problems,
            progress=self.progress,
        )
        for title, reason in block.absent.items():
            self.report(f"{title}: {reason}")
        return block, systems

    def _measure_gier(self) -> list[TableBlock]:
        """The paper's other dataset, if the table has it, with networks that were trained on it."""
        if not any(row.gier for row in self.table.rows):
            return []
        if (data := self._open_gier()) is None:
            return [create_unavailable_block(self.table)]
        runs = get_gier_runs_folder(self.options.training.runs)
        training = replace(self.options.training, runs=runs, data=self.options.gier_data)
        train_missing_runs(self._list_runs(), training, self.report)
        return [self._measure(data, runs)[0]]

    def _open_gier(self) -> Dataset | None:
        """GIER with its photos, if the table has figures on it and they are there."""
        folder = self.options.gier
        if not any(row.gier for row in self.table.rows) or folder is None or not (folder / "images").is_dir():
            return None
        return select_samples(open_dataset(folder, splits=[self.options.measurement.split]), aligned=True)

    def _draw_sheets(self, data: Dataset, systems: Sequence[System]) -> dict[str, bytes]:
        titles = [row.title for row in (*self.table.rows, *self.extra_rows)]
        ordered = sorted(systems, key=lambda system: titles.index(system.name))
        shown = [system for system in ordered if system.name != "Input"]
        self.progress("contact sheets", 0, 1)
        return {
            name: draw_systems_sheet(self.table.title, shown, photos)
            for name, photos in self._choose_sheet_photos(data).items()
        }

    def _choose_sheet_photos(self, data: Dataset) -> dict[str, list[SheetPhoto]]:
        """Pairs of the dataset and, if there are some, the user's own photos."""
        split, seed = self.options.measurement.split, self.options.measurement.seed
        cases = read_cases(data, split, EVALUATION_SIDE, SHEET_PAIRS, seed=seed)
        sheets = {PAIRS_SHEET: photos_from_cases(cases, SHEET_PAIRS)}
        if self.options.photos:
            sheets[PHOTOS_SHEET] = photos_from_files(self.options.photos, EVALUATION_SIDE)
        return sheets


@dataclass(frozen=True)
class ReproducedTable:
    """A table with everything measured for it."""

    table: PaperTable
    blocks: Sequence[TableBlock]
    runs: Path
    planning: ResultTable | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    """Data and seed of the planned pairs."""
    sheets: Mapping[str, bytes] = field(default_factory=dict)
    bfloat16: bool = False

    def build_tables(self) -> list[ResultTable]:
        """Figures on each dataset, differences between rows, and costs of planning."""
        tables = [build_block_table(self.table, block) for block in self.blocks]
        directions = (build_direction_table(self.table, block) for block in self.blocks)
        tables += [table for table in directions if table is not None]
        return tables if self.planning is None else [*tables, self.planning]

    def to_markdown(self, command: str) -> str:
        tables = [table.to_markdown() for table in self.build_tables()]
        parts = [f"# {self.table.title}\n", f"`{command}`\n", *tables]
        if self.blocks:
            sentences = describe_differences(self.table, self.blocks, bfloat16=self.bfloat16)
            sentences += [line for block in self.blocks if (line := self._describe_iterations(block))]
            items = "".join(f"- {sentence}\n" for sentence in sentences)
            parts.append(f"## What differs from the paper\n\n{items}")
        return "\n".join(parts)

    def _describe_iterations(self, block: TableBlock) -> str:
        """How long the runs of a block were trained, as a sentence; empty if that is unknown."""
        runs = {row.title: row.run for row in block.rows if row.run is not None}
        progress = {title: read_progress(self._get_runs(block) / run.name) for title, run in runs.items()}
        iterations = [f"{title} {one}" for title, one in progress.items() if one is not None]
        if block.comparison is None or not iterations:
            return ""
        return f"Iterations trained, of those asked for ({block.dataset}): {'; '.join(iterations)}."

    def to_csv(self) -> str:
        """A line for each figure of each row."""
        return blocks_to_csv(self.table, self.blocks)

    def describe_systems(self) -> str:
        """The runs and weights behind each row of each dataset, as JSON."""
        systems = {
            block.dataset: {row.title: describe_row(row, self._get_runs(block)) for row in block.rows}
            for block in self.blocks
            if block.comparison is not None
        }
        return json.dumps(systems, indent=2) + "\n"

    def _get_runs(self, block: TableBlock) -> Path:
        return get_gier_runs_folder(self.runs) if block.dataset == DATASET_NAMES["gier"] else self.runs

    def write(self, folder: Path, command: str, *, overwrite: bool = False) -> None:
        """Write the table beside the files of `t2o evaluate`, which have every figure and sample."""
        folder.mkdir(parents=True, exist_ok=True)
        for block in self.blocks:
            if isinstance(block.comparison, Comparison):
                subfolder = folder / "gier" if block.dataset == DATASET_NAMES["gier"] else folder
                block.comparison.write(subfolder, command, overwrite=overwrite)
        contents = {TABLE_PAGE: self.to_markdown(command).encode(), **self.sheets}
        if self.blocks:
            contents |= {TABLE_CSV: self.to_csv().encode(), SYSTEMS_JSON: self.describe_systems().encode()}
        else:
            contents[ABOUT_JSON] = encode_provenance(command, **self.facts)
        if self.planning is not None:
            contents[PLANNING_CSV] = self.planning.to_csv().encode()
        for name, data in contents.items():
            write_atomically(folder / name, data, overwrite=overwrite)


def get_gier_runs_folder(runs: Path) -> Path:
    """Folder of the runs that were trained on GIER."""
    return runs / "gier"


PicturePair = tuple[Picture, Picture]
"""Before and after, (3, H, W) float32."""

OperationSet = tuple[tuple[str, ...], SearchMethod, float]
"""Operations, the search method, and the paper's cost."""

PAPER_INPUT_L1 = 0.1202
FORWARD_TITLE, JOINT_TITLE, PAPER_TITLE = "forward search", "and refined jointly", "paper (its train split)"


def _collect_sets(table: PaperTable) -> dict[str, OperationSet]:
    """The operation sets of the rows that have a cost in the paper."""
    return {
        row.title: _to_operation_set(row.run.plans, row.planning)
        for row in table.rows
        if row.run and row.planning
    }


def _to_operation_set(plans: PaperPlans, figure: float) -> OperationSet:
    return plans.operations or FIXED_ORDER, cast(SearchMethod, plans.way), figure


class AblationCosts:
    """Costs by column and pair."""

    def __init__(self, paper: Mapping[str, float]) -> None:
        self.paper = paper
        self.inputs: list[float] = []
        self.forward: dict[str, list[float]] = {column: [] for column in paper}
        self.joint: dict[str, list[float]] = {column: [] for column in paper}

    def add(self, column: str, node: SearchNode, before: Picture, cost: L1Cost) -> None:
        self.forward[column].append(node.cost)
        self.joint[column].append(JointFitter(before, cost).fit(node.steps).cost if node.steps else node.cost)

    def build_table(self, title: str, solver: str) -> ResultTable:
        rows = {
            FORWARD_TITLE: tuple(map(_mean, (self.inputs, *self.forward.values()))),
            JOINT_TITLE: tuple(map(_mean, (self.inputs, *self.joint.values()))),
            PAPER_TITLE: (PAPER_INPUT_L1, *self.paper.values()),
        }
        pairs = "one pair" if len(self.inputs) == 1 else f"{len(self.inputs)} pairs"
        notes = (
            f"Mean absolute difference from the target over {pairs}; beam 3, tolerance .01.",
            f"Forward search: solver {solver}. The paper's figures are those of its own pairs, five experts.",
        )
        return ResultTable(title, ("input", *self.paper), rows, notes)


def ablate_operation_sets(pairs: Iterable[PicturePair], solver: str = "fast") -> ResultTable:
    """Sets 1 to 5 of the paper."""
    return _plan_with_sets(_collect_sets(OPERATION_SETS), pairs, solver).build_table(
        "Planning with different operation sets", solver
    )


def ablate_single_operations(pairs: Iterable[PicturePair], solver: str = "fast") -> ResultTable:
    """Each operation alone."""
    return _plan_with_sets(_collect_sets(SINGLE_OPERATIONS), pairs, solver).build_table(
        "Planning with a single operation", solver
    )


def ablate_maximum_steps(pairs: Iterable[PicturePair], solver: str = "fast") -> ResultTable:
    """At most one step, at most two, ..., at most six."""
    figures = {row.title: row.planning for row in MAXIMUM_STEPS.rows if row.planning}
    costs = AblationCosts(figures)
    for before, after in pairs:
        cost = L1Cost(after)
        costs.inputs.append(cost(before))
        nodes = list(ForwardSearch(cost, find_solver(solver), FIXED_ORDER, steps=len(figures)).stages(before))
        for number, title in enumerate(figures, start=1):
            costs.add(title, nodes[min(number, len(nodes) - 1)], before, cost)
    return costs.build_table("Planning with at most so many steps", solver)


def _plan_with_sets(
    sets: Mapping[str, OperationSet], pairs: Iterable[PicturePair], solver: str
) -> AblationCosts:
    costs = AblationCosts({column: figure for column, (_, _, figure) in sets.items()})
    for before, after in pairs:
        cost = L1Cost(after)
        costs.inputs.append(cost(before))
        for column, (names, method, _) in sets.items():
            search = ForwardSearch(cost, find_solver(solver), names, method=method, seed=len(costs.inputs))
            costs.add(column, search.run(before), before, cost)
    return costs


def _mean(figures: Sequence[float]) -> float:
    return float(np.mean(figures))


Ablation = Callable[[Iterable[PicturePair], str], ResultTable]
"""From pairs and the name of a solver to a table."""

ABLATIONS: dict[str, Ablation] = {
    "operation-sets": ablate_operation_sets,
    "single-operations": ablate_single_operations,
    "maximum-steps": ablate_maximum_steps,
}

"""The tables of "Learning by Planning: Language-Guided Global Image Editing" (CVPR 2021).

Rows, columns and figures are the paper's, in paper_tables.toml; a system is named by the run that trains it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import DataError

PaperFigures = Mapping[str, float]
"""Figures by the name of their column."""
SEED_INFIX = "-seed-"
"""Between the name of a run and the seed that it is repeated from."""


@dataclass(frozen=True)
class PaperPlans:
    """Plans to learn from, by the options of `t2o data plan`; without a name, those of the packed set."""

    name: str = ""
    operations: tuple[str, ...] = ()
    """All of them, if none is named."""
    steps: int = 6
    way: str = "joint"

    def to_options(self, prefix: str = "") -> list[str]:
        """Command line options: `--way`, or `--plan-way` with the prefix `plan-`."""
        options = [f"--{prefix}way", self.way]
        if self.operations:
            options += [f"--{prefix}operations", ",".join(self.operations)]
        if self.steps != PaperPlans.steps:
            options += [f"--{prefix}steps", str(self.steps)]
        return options


@dataclass(frozen=True)
class PaperRun:
    """A network to train: the name of its folder, its config, and changed settings."""

    name: str
    config: str
    settings: tuple[str, ...] = ()
    """As `name=value`."""
    plans: PaperPlans = PaperPlans()
    starts_from: PaperRun | None = None
    """A run whose best weights are the initial ones."""

    def with_seed(self, seed: int) -> PaperRun:
        """The same run and the one it starts from with another seed, in folders beside their own."""
        if seed == 0:
            return self
        starts_from = None if self.starts_from is None else self.starts_from.with_seed(seed)
        name, settings = f"{self.name}{SEED_INFIX}{seed}", (*self.settings, f"seed={seed}")
        return replace(self, name=name, settings=settings, starts_from=starts_from)


@dataclass(frozen=True)
class PaperRow:
    """A system by its name in the paper, with the paper's figures.

    It is a trained `run` or a `system` that needs none; a row with neither has only the paper's figures. All
    figures of a row are measured in its `mode`; a system with modes has a row for each.
    """

    title: str
    run: PaperRun | None = None
    system: str = ""
    mode: str = ""
    """`literal` or `expert`; empty for systems without modes."""
    paper: PaperFigures = field(default_factory=dict, hash=False)
    gier: PaperFigures = field(default_factory=dict, hash=False)
    planning: float | None = None
    """Cost of planning on the paper's train split, if the table has it."""


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    name: str
    title: str
    columns: tuple[str, ...]
    """The paper's columns."""
    rows: tuple[PaperRow, ...]
    reference: str
    """Title of the row that the others are compared with."""
    notes: tuple[str, ...] = ()
    """Differences from the paper in this table, besides those in all tables."""

    def list_runs(self) -> Iterator[PaperRun]:
        """The runs of its rows, each once and after the run it starts from."""
        runs: dict[str, PaperRun] = {}
        for run in (row.run for row in self.rows if row.run is not None):
            for needed in (run.starts_from, run):
                if needed is not None:
                    runs.setdefault(needed.name, needed)
        yield from runs.values()


L1, SSIM, FID, SIGMA, USERS = "L1", "SSIM", "FID", "sigma x 100", "users"
"""The paper's columns. Users rated edits from 1 to 5."""
_COLUMNS = (L1, SSIM, FID, SIGMA, USERS)
_TABLES_FILE = Path(__file__).with_name("paper_tables.toml")


def _read_tables() -> dict[str, PaperTable]:
    data = tomllib.loads(_TABLES_FILE.read_text(encoding="utf-8"))
    runs: dict[str, PaperRun] = {}
    for name, entry in data["runs"].items():
        runs[name] = _read_run(name, entry, runs)
    return {name: _read_table(name, entry, runs) for name, entry in data["tables"].items()}


def _read_run(name: str, entry: dict[str, Any], earlier: Mapping[str, PaperRun]) -> PaperRun:
    plans = entry.get("plans", {})
    return PaperRun(
        name,
        entry["config"],
        tuple(entry.get("settings", ())),
        PaperPlans(**plans | {"operations": tuple(plans.get("operations", ()))}),
        earlier[entry["starts_from"]] if "starts_from" in entry else None,
    )


def _read_table(name: str, entry: dict[str, Any], runs: Mapping[str, PaperRun]) -> PaperTable:
    return PaperTable(
        name,
        entry["title"],
        tuple(entry["columns"]),
        tuple(_read_row(row, runs) for row in entry["rows"]),
        entry["reference"],
        tuple(entry.get("notes", ())),
    )


def _read_row(entry: dict[str, Any], runs: Mapping[str, PaperRun]) -> PaperRow:
    figures = {key: _label_figures(entry.get(key, ())) for key in ("paper", "gier")}
    return PaperRow(**entry | figures | {"run": runs[entry["run"]] if "run" in entry else None})


def _label_figures(figures: Sequence[float] | PaperFigures) -> PaperFigures:
    """Figures by the names of their columns, from a list of the first ones or as they are."""
    return figures if isinstance(figures, Mapping) else dict(zip(_COLUMNS, figures, strict=False))


PAPER_TABLES = _read_tables()
"""All tables, by name."""
MAIN_TABLE, SAMPLING_WIDTH, OPERATION_SETS, SINGLE_OPERATIONS, MAXIMUM_STEPS = (
    PAPER_TABLES[name]
    for name in ("main", "sampling-width", "operation-sets", "single-operations", "maximum-steps")
)


def find_paper_table(name: str) -> PaperTable:
    if name not in PAPER_TABLES:
        raise DataError(f"there is no table {name!r}; there are {', '.join(PAPER_TABLES)}")
    return PAPER_TABLES[name]

"""Compare systems: one column for each, and their differences on the same samples."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import __version__
from ..data import Dataset, Problem
from ..data.spreadsheet import to_csv
from ..image import write_atomically
from ..metrics.distances import LPIPS_TITLE as LPIPS
from ..metrics.distances import l1_distance
from ..metrics.statistics import (
    AveragedStatistic,
    IntervalEstimate,
    PairedDifference,
    Statistic,
    compare_statistics,
    estimate_interval,
)
from .cases import EvaluationProgress, LabelledRequest, ignore_progress, read_cases
from .measure import (
    Evaluation,
    MeasurementOptions,
    TargetFeatures,
    average_runs,
    evaluate_system,
    rows_to_csv,
)
from .systems import RepeatedSystem, System

Cell = float | IntervalEstimate | PairedDifference | str | None
"""A figure, alone or with its interval; a text that says why there is none; or None for a blank cell."""
_HERE = Path(__file__)


@dataclass(frozen=True)
class ResultTable:
    """Named rows with a cell for each column; `notes` say where the figures come from."""

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    notes: tuple[str, ...] = field(default=())

    def cells(self) -> list[list[str]]:
        """Header and rows as text."""
        return [["", *self.columns], *([name, *map(_format_cell, row)] for name, row in self.rows.items())]

    def to_markdown(self) -> str:
        header, *rows = ["| " + " | ".join(line) + " |" for line in self.cells()]
        rule = "|---" + "|---:" * len(self.columns) + "|"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"## {self.title}", "", header, rule, *rows, "", *notes]).rstrip() + "\n"

    def to_csv(self) -> str:
        return to_csv(self.cells())

    def without_intervals(self) -> ResultTable:
        """The values alone, which fit on a screen."""
        rows = {name: tuple(map(_drop_interval, row)) for name, row in self.rows.items()}
        return replace(self, rows=rows)


def _drop_interval(cell: Cell) -> Cell:
    return cell.value if isinstance(cell, IntervalEstimate | PairedDifference) else cell


def _format_cell(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    if not isinstance(cell, IntervalEstimate | PairedDifference):
        return f"{cell:.4f}"
    interval = "" if math.isnan(cell.low) else f" ({cell.low:.4f} to {cell.high:.4f})"
    p_value = f", p {cell.p:.2g}" if isinstance(cell, PairedDifference) and cell.p is not None else ""
    return f"{cell.value:.4f}{interval}{p_value}"


def encode_provenance(command: str, **facts: object) -> bytes:
    """`about.json` beside results: facts, the version of the code, and the command."""
    return (json.dumps({**facts, "code": get_code_version(), "command": command}, indent=2) + "\n").encode()


def get_code_version() -> str:
    """The commit of this checkout, with `+` if tracked files have changed since; else the release."""
    tracked = _run_git("ls-files", _HERE.name)
    commit = _run_git("rev-parse", "--short=12", "HEAD")
    if not tracked or not commit:
        return f"release {__version__}"
    return commit + ("+" if _run_git("status", "--porcelain", "--untracked-files=no", ":/") else "")


def _run_git(*arguments: str) -> str:
    command = ["git", "-C", str(_HERE.parent), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return result.stdout.strip()


SAMPLES_CSV, FIGURES_CSV, FIGURES_PAGE, ABOUT_JSON = "samples.csv", "figures.csv", "figures.md", "about.json"
"""Files in a folder of results."""
_NOTES = (
    "In parentheses: 95 % by bootstrap over pairs, over labelled sentences, or over photos.",
    "A system that has no modes, or is held to one, has the same figures under literal and expert.",
    "Frechet distances, FID among them, depend on the number of photos: compare those of equally many.",
)
UNLABELLED_NOTE = "No request of this dataset is labelled: following was not measured."


class RunSpread(NamedTuple):
    """The number of training runs behind a figure, and its standard deviation between them."""

    runs: int
    spread: float


_FIGURES_HEADER = (
    *("figure", "system", *IntervalEstimate._fields),
    *(f"difference {name}" for name in PairedDifference._fields),
    *RunSpread._fields,
)


class MeasuredFigures(Protocol):
    """Figures of systems by name, measured now or read from a folder.

    `differences` are those of the systems after the first, minus the first's.
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def facts(self) -> Mapping[str, object]: ...
    @property
    def lacks_labels(self) -> bool: ...
    @property
    def estimates(self) -> Mapping[str, tuple[IntervalEstimate | None, ...]]: ...
    @property
    def classes(self) -> Mapping[str, tuple[IntervalEstimate | None, ...]]: ...
    @property
    def differences(self) -> Mapping[str, tuple[PairedDifference | None, ...]]: ...
    @property
    def spreads(self) -> Mapping[str, tuple[RunSpread | None, ...]]: ...


def build_figure_tables(measured: MeasuredFigures) -> list[ResultTable]:
    """Figures, following by class if measured, and differences if there are several systems."""
    origin = ", ".join(f"{name} {value}" for name, value in measured.facts.items())
    missing = (UNLABELLED_NOTE,) if measured.lacks_labels else ()
    tables = [ResultTable("Figures", measured.names, measured.estimates, (origin, *missing, *_NOTES))]
    if measured.classes:
        tables.append(ResultTable("Following, by what is asked for", measured.names, measured.classes))
    if measured.differences:
        columns = tuple(f"{name} less {measured.names[0]}" for name in measured.names[1:])
        note = "p: Wilcoxon's signed-rank test over the samples of a figure."
        tables.append(ResultTable("Differences on the same samples", columns, measured.differences, (note,)))
    return tables


def figures_to_csv(measured: MeasuredFigures) -> str:
    """One line for each figure of each system, as CSV."""
    lines: list[tuple[object, ...]] = [_FIGURES_HEADER]
    for name, row in {**measured.estimates, **measured.classes}.items():
        for index, (system, estimate) in enumerate(zip(measured.names, row, strict=True)):
            if estimate is not None:
                differences = measured.differences.get(name, ())[index - 1 : index] if index else ()
                difference = (differences and differences[0]) or (None,) * len(PairedDifference._fields)
                spreads = measured.spreads.get(name, ())[index : index + 1]
                spread = (spreads and spreads[0]) or (None,) * len(RunSpread._fields)
                lines.append((name, system, *map(_format_number, (*estimate, *difference, *spread))))
    return to_csv(lines)


def _format_number(value: float | None) -> str:
    return f"{value:.6g}" if _is_known(value) else ""


def _is_known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


@dataclass(frozen=True)
class Comparison:
    """Evaluations on the same samples; `facts` name the data, the seed and the code."""

    evaluations: Sequence[Evaluation]
    facts: Mapping[str, object]
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(evaluation.name for evaluation in self.evaluations)

    @property
    def lacks_labels(self) -> bool:
        """Whether there was no labelled request to measure following with."""
        return self.facts.get("labelled requests") == 0

    @cached_property
    def estimates(self) -> dict[str, tuple[IntervalEstimate | None, ...]]:
        """Each figure of each system."""
        return self._estimate([evaluation.figures for evaluation in self.evaluations])

    @cached_property
    def classes(self) -> dict[str, tuple[IntervalEstimate | None, ...]]:
        """Following by class, of each system."""
        return self._estimate([evaluation.classes for evaluation in self.evaluations])

    @cached_property
    def differences(self) -> dict[str, tuple[PairedDifference | None, ...]]:
        """Each figure of the systems after the first, minus the first's."""
        first, *others = (evaluation.figures for evaluation in self.evaluations)
        return {
            name: tuple(
                compare_statistics(first[name], other[name], self.seed) if name in other else None
                for other in others
            )
            for name in (first if others else ())
        }

    @cached_property
    def spreads(self) -> dict[str, tuple[RunSpread | None, ...]]:
        """Each figure's spread between training runs, for systems that have several."""
        return {
            name: tuple(_measure_spread(evaluation.figures.get(name)) for evaluation in self.evaluations)
            for name in self.estimates
        }

    def _estimate(
        self, systems: Sequence[Mapping[str, Statistic]]
    ) -> dict[str, tuple[IntervalEstimate | None, ...]]:
        names = dict.fromkeys(name for statistics in systems for name in statistics)
        return {
            name: tuple(
                estimate_interval(statistics[name], self.seed) if name in statistics else None
                for statistics in systems
            )
            for name in names
        }

    def build_tables(self) -> list[ResultTable]:
        """Figures, following by class if measured, and differences if there are several systems."""
        return build_figure_tables(self)

    def to_json(self) -> dict[str, Any]:
        """All figures as plain data, by system and name."""
        return {
            **self.facts,
            "figures": _group_by_system(self.estimates, self.names),
            "classes": _group_by_system(self.classes, self.names),
            "differences": _group_by_system(self.differences, self.names[1:]),
        }

    def samples_to_csv(self) -> str:
        """All rows of all systems, of each training run under its own name."""
        runs = [run for evaluation in self.evaluations for run in (evaluation.runs or (evaluation,))]
        return rows_to_csv({run.name: run.rows for run in runs})

    def write(self, folder: Path, command: str, *, overwrite: bool = False) -> None:
        """Write the folder of results, with the command that made them."""
        tables = "\n".join(table.to_markdown() for table in self.build_tables())
        about = json.dumps({"systems": self.names, **self.facts, "command": command}, indent=2) + "\n"
        contents = {
            SAMPLES_CSV: self.samples_to_csv(),
            FIGURES_CSV: figures_to_csv(self),
            FIGURES_PAGE: tables,
            ABOUT_JSON: about,
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            write_atomically(folder / name, text.encode(), overwrite=overwrite)


def _group_by_system(rows: Mapping[str, tuple[Any, ...]], systems: Sequence[str]) -> dict[str, Any]:
    return {
        system: {name: _replace_nan(row[index]) for name, row in rows.items() if row[index] is not None}
        for index, system in enumerate(systems)
    }


def _replace_nan(estimate: IntervalEstimate | PairedDifference) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: value if _is_known(value) else None for name, value in estimate._asdict().items()}


def _measure_spread(statistic: Statistic | None) -> RunSpread | None:
    if not isinstance(statistic, AveragedStatistic):
        return None
    values = statistic.values()
    return RunSpread(len(values), float(np.std(values, ddof=1)))


def compare_systems(
    systems: Sequence[System],
    dataset: Dataset,
    sentences: Mapping[LabelledRequest, str],
    options: MeasurementOptions,
    *,
    problems: list[Problem] | None = None,
    progress: EvaluationProgress = ignore_progress,
) -> Comparison:
    """Measure systems on the same samples of a split; unreadable pairs are added to `problems`."""
    cases = read_cases(
        dataset,
        options.split,
        systems[0].side,
        options.count,
        seed=options.seed,
        problems=problems,
        progress=progress,
    )
    targets = [TargetFeatures.from_cases(extractor, cases) for extractor in options.extractors]

    def evaluate(system: System) -> Evaluation:
        if isinstance(system, RepeatedSystem):
            return average_runs(system.name, [evaluate(run) for run in system.runs])
        prefixed = _prefix_progress(system.name, progress)
        return evaluate_system(system, cases, sentences, options, targets=targets, progress=prefixed)

    with _open_thread_pool(options.jobs) as pool:
        evaluations = list(pool.map(evaluate, systems))
    facts = {
        "split": options.split,
        "pairs": len(cases),
        "labelled requests": len(sentences),
        "labels": ", ".join(sorted({label.dataset for label in sentences})) or "none",
        "photos each": options.each,
        "seed": options.seed,
        "L1 of inputs": round(float(np.mean([l1_distance(case.before, case.after) for case in cases])), 4),
        "data": dataset.fingerprint,
        "code": get_code_version(),
        **{
            f"weights of {extractor.title}": extractor.weights
            for extractor in options.extractors
            if extractor.weights
        },
        **({f"weights of {LPIPS}": options.lpips.weights} if options.lpips else {}),
    }
    return Comparison(evaluations, facts, options.seed)


@contextmanager
def _open_thread_pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Several jobs use one torch thread each, since torch threads of several jobs block each other."""
    torch = sys.modules.get("torch")
    if jobs == 1 or torch is None:
        with ThreadPoolExecutor(jobs) as pool:
            yield pool
        return
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(jobs, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)


def _prefix_progress(name: str, progress: EvaluationProgress) -> EvaluationProgress:
    return lambda task, done, total: progress(f"{name}: {task}", done, total)

"""Compare systems: one column for each, and their differences on the same samples."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data import Dataset, Problem
from ..data.spreadsheet import to_csv
from ..image import write_atomically
from ..metrics.distances import LPIPS_TITLE as LPIPS
from ..metrics.distances import Lpips, l1_distance
from ..metrics.features import FeatureExtractor
from ..metrics.statistics import (
    AveragedStatistic,
    IntervalEstimate,
    PairedDifference,
    Statistic,
    compare_statistics,
    estimate_interval,
)
from .cases import EvaluationProgress, ignore_progress, read_cases
from .labelled import LabelledRequest
from .measure import FEW_PHOTOS, Evaluation, TargetFeatures, average_runs, evaluate_system, rows_to_csv
from .systems import RepeatedSystem, System
from .table import ResultTable, get_code_version

# Figures of systems side by side, whether just measured or read from a folder: as tables and as CSV.

_NOTES = (
    "In parentheses: 95 % by bootstrap over pairs, over labelled sentences, or over photos.",
    "A system that has no modes, or is held to one, has the same figures under literal and expert.",
    "Frechet distances, FID among them, depend on the number of photos: compare those of equally many.",
)
UNLABELLED_NOTE = "No request of this dataset is labelled: following was not measured."


class RunSpread(NamedTuple):
    """How many training runs a figure is the mean of, and its standard deviation between them."""

    runs: int
    spread: float


_FIGURES_HEADER = (
    *("figure", "system", *IntervalEstimate._fields),
    *(f"difference {name}" for name in PairedDifference._fields),
    *RunSpread._fields,
)


class MeasuredFigures(Protocol):
    """What tables need of figures; `differences` are those of the systems after the first, less its own."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def facts(self) -> Mapping[str, object]: ...
    @property
    def unlabelled(self) -> bool: ...
    @property
    def estimates(self) -> Mapping[str, tuple[IntervalEstimate | None, ...]]: ...
    @property
    def classes(self) -> Mapping[str, tuple[IntervalEstimate | None, ...]]: ...
    @property
    def differences(self) -> Mapping[str, tuple[PairedDifference | None, ...]]: ...
    @property
    def spreads(self) -> Mapping[str, tuple[RunSpread | None, ...]]: ...


def build_figure_tables(found: MeasuredFigures) -> list[ResultTable]:
    """Figures, following by class where it was measured, and differences where there are several."""
    origin = ", ".join(f"{name} {value}" for name, value in found.facts.items())
    missing = (UNLABELLED_NOTE,) if found.unlabelled else ()
    tables = [ResultTable("Figures", found.names, found.estimates, (origin, *missing, *_NOTES))]
    if found.classes:
        tables.append(ResultTable("Following, by what is asked for", found.names, found.classes))
    if found.differences:
        columns = tuple(f"{name} less {found.names[0]}" for name in found.names[1:])
        note = "p: Wilcoxon's signed-rank test over the samples of a figure."
        tables.append(ResultTable("Differences on the same samples", columns, found.differences, (note,)))
    return tables


def figures_to_csv(measured: MeasuredFigures) -> str:
    """One line for each figure of each system, as CSV."""
    lines: list[tuple[object, ...]] = [_FIGURES_HEADER]
    for name, row in {**measured.estimates, **measured.classes}.items():
        for at, (system, found) in enumerate(zip(measured.names, row, strict=True)):
            if found is not None:
                rest = measured.differences.get(name, ())[at - 1 : at] if at else ()
                apart = rest[0] if rest and rest[0] else (None,) * len(PairedDifference._fields)
                spread = measured.spreads.get(name, ())[at : at + 1]
                runs = spread[0] if spread and spread[0] else (None,) * len(RunSpread._fields)
                lines.append((name, system, *map(_format_number, (*found, *apart, *runs))))
    return to_csv(lines)


def _format_number(value: float | None) -> str:
    return f"{value:.6g}" if is_known(value) else ""


def is_known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


# Systems side by side: a column for each, and how each differs from the first on the same samples.

SAMPLES_CSV, FIGURES_CSV, FIGURES_PAGE, ABOUT_JSON = "samples.csv", "figures.csv", "figures.md", "about.json"
"""What a folder of results holds."""


@dataclass(frozen=True)
class Comparison:
    """Evaluations on the same samples; `facts` say which, and by which code."""

    evaluations: Sequence[Evaluation]
    facts: Mapping[str, object]
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(evaluation.name for evaluation in self.evaluations)

    @property
    def unlabelled(self) -> bool:
        """Whether no labelled request was there to measure following with."""
        return self.facts.get("labelled requests") == 0

    @cached_property
    def estimates(self) -> dict[str, tuple[IntervalEstimate | None, ...]]:
        """Each figure of each system."""
        return self._each([one.figures for one in self.evaluations])

    @cached_property
    def classes(self) -> dict[str, tuple[IntervalEstimate | None, ...]]:
        """Following, class by class."""
        return self._each([one.classes for one in self.evaluations])

    @cached_property
    def differences(self) -> dict[str, tuple[PairedDifference | None, ...]]:
        """Each figure of the systems after the first, less the first's."""
        first, *others = (one.figures for one in self.evaluations)
        return {
            name: tuple(
                compare_statistics(first[name], other[name], self.seed) if name in other else None
                for other in others
            )
            for name in (first if others else ())
        }

    @cached_property
    def spreads(self) -> dict[str, tuple[RunSpread | None, ...]]:
        """Of figures that were measured on several training runs."""
        return {
            name: tuple(_measure_spread(one.figures.get(name)) for one in self.evaluations)
            for name in self.estimates
        }

    def _each(
        self, systems: Sequence[Mapping[str, Statistic]]
    ) -> dict[str, tuple[IntervalEstimate | None, ...]]:
        names = dict.fromkeys(name for figures in systems for name in figures)
        return {
            name: tuple(
                estimate_interval(figures[name], self.seed) if name in figures else None
                for figures in systems
            )
            for name in names
        }

    def tables(self) -> list[ResultTable]:
        """Figures, following by class where it was measured, and differences where there are several."""
        return build_figure_tables(self)

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **self.facts,
            "figures": self._data(self.estimates, self.names),
            "classes": self._data(self.classes, self.names),
            "differences": self._data(self.differences, self.names[1:]),
        }

    def _data(self, rows: Mapping[str, tuple[Any, ...]], names: Sequence[str]) -> dict[str, Any]:
        """By system and figure."""
        return {
            system: {name: _replace_nan(row[at]) for name, row in rows.items() if row[at] is not None}
            for at, system in enumerate(names)
        }

    def samples(self) -> str:
        """All rows of all systems, as CSV."""
        return rows_to_csv(
            {one.name: one.rows for whole in self.evaluations for one in (whole.runs or (whole,))}
        )

    def write(self, folder: Path, command: str, *, overwrite: bool = False) -> None:
        """The folder of results, with the command that makes them."""
        tables = "\n".join(table.markdown() for table in self.tables())
        about = json.dumps({"systems": self.names, **self.facts, "command": command}, indent=2) + "\n"
        contents = {
            SAMPLES_CSV: self.samples(),
            FIGURES_CSV: figures_to_csv(self),
            FIGURES_PAGE: tables,
            ABOUT_JSON: about,
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            write_atomically(folder / name, text.encode(), overwrite=overwrite)


def compare_systems(
    systems: Sequence[System],
    dataset: Dataset,
    sentences: Mapping[LabelledRequest, str],
    *,
    split: str = "val",
    count: int | None = None,
    each: int = 4,
    few: int = FEW_PHOTOS,
    amounts: bool = True,
    seed: int = 0,
    extractors: Sequence[FeatureExtractor] = (),
    lpips: Lpips | None = None,
    jobs: int = 1,
    problems: list[Problem] | None = None,
    told: EvaluationProgress = ignore_progress,
) -> Comparison:
    """Measure systems on the same samples of a split, `count` of them or all.

    `each` is the number of photos for every labelled request, `few` about that for the paper's ten requests
    and, if wanted, `amounts`; `extractors` are what Frechet distances are taken over, `lpips` measures that
    distance, `jobs` says how many systems are measured at once. Pairs that cannot be read are added to
    `problems`.
    """
    found = read_cases(dataset, split, systems[0].side, count, seed=seed, problems=problems, told=told)
    wanted = [TargetFeatures.of(extractor, found) for extractor in extractors]

    def evaluated(system: System) -> Evaluation:
        if isinstance(system, RepeatedSystem):
            return average_runs(system.name, [evaluated(run) for run in system.runs])
        return evaluate_system(
            system,
            found,
            sentences,
            each=each,
            few=few,
            amounts=amounts,
            seed=seed,
            wanted=wanted,
            lpips=lpips,
            told=_prefix_progress(system.name, told),
        )

    with _open_thread_pool(jobs) as pool:
        evaluations = list(pool.map(evaluated, systems))
    facts = {
        "split": split,
        "pairs": len(found),
        "labelled requests": len(sentences),
        "labels": ", ".join(sorted({label.dataset for label in sentences})) or "none",
        "photos each": each,
        "seed": seed,
        "L1 of inputs": round(float(np.mean([l1_distance(case.before, case.after) for case in found])), 4),
        "data": dataset.fingerprint,
        "code": get_code_version(),
        **{f"weights of {one.title}": one.weights for one in extractors if one.weights},
        **({f"weights of {LPIPS}": lpips.weights} if lpips else {}),
    }
    return Comparison(evaluations, facts, seed)


@contextmanager
def _open_thread_pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Threads; torch has one in each, since several that share a network wait for each other."""
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


def _prefix_progress(name: str, told: EvaluationProgress) -> EvaluationProgress:
    return lambda what, done, total: told(f"{name}: {what}", done, total)


def _measure_spread(figure: Statistic | None) -> RunSpread | None:
    if not isinstance(figure, AveragedStatistic):
        return None
    values = figure.values()
    return RunSpread(len(values), float(np.std(values, ddof=1)))


def _replace_nan(found: IntervalEstimate | PairedDifference) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: value if is_known(value) else None for name, value in found._asdict().items()}

"""Systems side by side: a column for each, and how each differs from the first on the same samples."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset, Problem
from ..image import write_atomically
from ..metrics.features import Extractor
from ..metrics.intervals import Averaged, Difference, Estimate, Statistic, compared, estimate
from ..metrics.lpips import TITLE as LPIPS
from ..metrics.lpips import Lpips
from ..metrics.pictures import distance
from .cases import Told, cases, quiet
from .evaluation import FEW, Evaluation, Wanted, averaged, evaluate
from .labelled import LabelledRequest
from .measured import Spread, figure_tables, figures_csv, known
from .provenance import code
from .rows import as_csv
from .systems import Repeated, System
from .table import Table

SAMPLES, FIGURES, TABLES, ABOUT = "samples.csv", "figures.csv", "figures.md", "about.json"
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
    def estimates(self) -> dict[str, tuple[Estimate | None, ...]]:
        """Each figure of each system."""
        return self._each([one.figures for one in self.evaluations])

    @cached_property
    def classes(self) -> dict[str, tuple[Estimate | None, ...]]:
        """Following, class by class."""
        return self._each([one.classes for one in self.evaluations])

    @cached_property
    def differences(self) -> dict[str, tuple[Difference | None, ...]]:
        """Each figure of the systems after the first, less the first's."""
        first, *others = (one.figures for one in self.evaluations)
        return {
            name: tuple(
                compared(first[name], other[name], self.seed) if name in other else None for other in others
            )
            for name in (first if others else ())
        }

    @cached_property
    def spreads(self) -> dict[str, tuple[Spread | None, ...]]:
        """Of figures that were measured on several training runs."""
        return {
            name: tuple(_spread(one.figures.get(name)) for one in self.evaluations) for name in self.estimates
        }

    def _each(self, systems: Sequence[Mapping[str, Statistic]]) -> dict[str, tuple[Estimate | None, ...]]:
        names = dict.fromkeys(name for figures in systems for name in figures)
        return {
            name: tuple(
                estimate(figures[name], self.seed) if name in figures else None for figures in systems
            )
            for name in names
        }

    def tables(self) -> list[Table]:
        """Figures, following by class where it was measured, and differences where there are several."""
        return figure_tables(self)

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
            system: {name: _plain(row[at]) for name, row in rows.items() if row[at] is not None}
            for at, system in enumerate(names)
        }

    def samples(self) -> str:
        """All rows of all systems, as CSV."""
        return as_csv({one.name: one.rows for whole in self.evaluations for one in (whole.runs or (whole,))})

    def write(self, folder: Path, command: str, *, overwrite: bool = False) -> None:
        """The folder of results, with the command that makes them."""
        tables = "\n".join(table.markdown() for table in self.tables())
        about = json.dumps({"systems": self.names, **self.facts, "command": command}, indent=2) + "\n"
        contents = {SAMPLES: self.samples(), FIGURES: figures_csv(self), TABLES: tables, ABOUT: about}
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            write_atomically(folder / name, text.encode(), overwrite=overwrite)


def compare(
    systems: Sequence[System],
    dataset: Dataset,
    sentences: Mapping[LabelledRequest, str],
    *,
    split: str = "val",
    count: int | None = None,
    each: int = 4,
    few: int = FEW,
    amounts: bool = True,
    seed: int = 0,
    extractors: Sequence[Extractor] = (),
    lpips: Lpips | None = None,
    jobs: int = 1,
    problems: list[Problem] | None = None,
    told: Told = quiet,
) -> Comparison:
    """Measure systems on the same samples of a split, `count` of them or all.

    `each` is the number of photos for every labelled request, `few` about that for the paper's ten requests
    and, if wanted, `amounts`; `extractors` are what Frechet distances are taken over, `lpips` measures that
    distance, `jobs` says how many systems are measured at once. Pairs that cannot be read are added to
    `problems`.
    """
    found = cases(dataset, split, systems[0].side, count, seed=seed, problems=problems, told=told)
    wanted = [Wanted.of(extractor, found) for extractor in extractors]

    def evaluated(system: System) -> Evaluation:
        if isinstance(system, Repeated):
            return averaged(system.name, [evaluated(run) for run in system.runs])
        return evaluate(
            system,
            found,
            sentences,
            each=each,
            few=few,
            amounts=amounts,
            seed=seed,
            wanted=wanted,
            lpips=lpips,
            told=_named(system.name, told),
        )

    with _at_once(jobs) as pool:
        evaluations = list(pool.map(evaluated, systems))
    facts = {
        "split": split,
        "pairs": len(found),
        "labelled requests": len(sentences),
        "labels": ", ".join(sorted({label.dataset for label in sentences})) or "none",
        "photos each": each,
        "seed": seed,
        "L1 of inputs": round(float(np.mean([distance(case.before, case.after) for case in found])), 4),
        "data": dataset.fingerprint,
        "code": code(),
        **{f"weights of {one.title}": one.weights for one in extractors if one.weights},
        **({f"weights of {LPIPS}": lpips.weights} if lpips else {}),
    }
    return Comparison(evaluations, facts, seed)


@contextmanager
def _at_once(jobs: int) -> Iterator[ThreadPoolExecutor]:
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


def _named(name: str, told: Told) -> Told:
    return lambda what, done, total: told(f"{name}: {what}", done, total)


def _spread(figure: Statistic | None) -> Spread | None:
    if not isinstance(figure, Averaged):
        return None
    values = figure.values()
    return Spread(len(values), float(np.std(values, ddof=1)))


def _plain(found: Estimate | Difference) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: value if known(value) else None for name, value in found._asdict().items()}

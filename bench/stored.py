"""Figures that were measured before, read from a folder of results: tables can be written again from them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from t2onet.data.spreadsheet import from_csv
from t2onet.errors import DataError
from t2onet.evaluation.compare import ABOUT_JSON, FIGURES_CSV, RunSpread
from t2onet.evaluation.measure import REQUEST_CLASSES
from t2onet.metrics.statistics import IntervalEstimate, PairedDifference

Line = dict[str, Any] | None


@dataclass(frozen=True)
class Stored:
    """A comparison by its figures, to six digits; its samples are elsewhere or gone."""

    names: tuple[str, ...]
    facts: Mapping[str, object]
    estimates: Mapping[str, tuple[IntervalEstimate | None, ...]]
    classes: Mapping[str, tuple[IntervalEstimate | None, ...]]
    differences: Mapping[str, tuple[PairedDifference | None, ...]]
    spreads: Mapping[str, tuple[RunSpread | None, ...]]

    @property
    def unlabelled(self) -> bool:
        return self.facts.get("labelled requests") == 0


def read_stored(folder: Path) -> tuple[Stored, str]:
    """The figures in a folder of `t2o evaluate` or `t2o reproduce`, and the command that made them."""
    try:
        about = json.loads((folder / ABOUT_JSON).read_text(encoding="utf-8"))
        names, command = tuple(about.pop("systems")), str(about.pop("command"))
        lines = from_csv((folder / FIGURES_CSV).read_text(encoding="utf-8"))
        return _stored(names, about, {(line["figure"], line["system"]): line for line in lines}), command
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"{folder} cannot be read as results of `t2o reproduce`: {error}") from None


def _stored(
    names: tuple[str, ...], facts: dict[str, object], lines: Mapping[tuple[str, str], Line]
) -> Stored:
    figures = dict.fromkeys(figure for figure, _ in lines)
    read = {figure: [lines.get((figure, name)) for name in names] for figure in figures}
    estimates = {figure: tuple(map(_estimate, found)) for figure, found in read.items()}
    classes = {figure for figure in read if figure.partition(": ")[2] in REQUEST_CLASSES.values()}
    whole = {figure: found for figure, found in read.items() if figure not in classes}
    return Stored(
        names,
        facts,
        {figure: estimates[figure] for figure in whole},
        {figure: found for figure, found in estimates.items() if figure in classes},
        {figure: tuple(map(_difference, found[1:])) for figure, found in whole.items() if any(found[1:])},
        {figure: tuple(map(_spread, found)) for figure, found in whole.items()},
    )


def _estimate(line: Line) -> IntervalEstimate | None:
    return None if line is None else IntervalEstimate(*_numbers(line, "", IntervalEstimate._fields))


def _difference(line: Line) -> PairedDifference | None:
    if line is None or not line["difference value"]:
        return None
    value, low, high, p = _numbers(line, "difference ", PairedDifference._fields)
    return PairedDifference(value, low, high, None if math.isnan(p) else p)


def _spread(line: Line) -> RunSpread | None:
    """Folders that were written before rows could have several runs have no such column."""
    return (
        RunSpread(int(line["runs"]), float(line["spread"])) if line is not None and line.get("runs") else None
    )


def _numbers(line: dict[str, Any], prefix: str, names: tuple[str, ...]) -> Iterator[float]:
    return (float(line[prefix + name] or "nan") for name in names)

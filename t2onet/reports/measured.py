"""Figures of systems side by side, whether just measured or read from a folder: as tables and as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ..data.spreadsheet import to_csv
from ..metrics.intervals import Difference, Estimate
from .table import Table

_NOTES = (
    "In parentheses: 95 % by bootstrap over pairs, over labelled sentences, or over photos.",
    "A system that has no modes, or is held to one, has the same figures under literal and expert.",
    "Frechet distances, FID among them, depend on the number of photos: compare those of equally many.",
)
UNLABELLED = "No request of this dataset is labelled: following was not measured."


class Spread(NamedTuple):
    """How many training runs a figure is the mean of, and its standard deviation between them."""

    runs: int
    spread: float


_HEADER = (
    *("figure", "system", *Estimate._fields),
    *(f"difference {name}" for name in Difference._fields),
    *Spread._fields,
)


class Measured(Protocol):
    """What tables need of figures; `differences` are those of the systems after the first, less its own."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def facts(self) -> Mapping[str, object]: ...
    @property
    def unlabelled(self) -> bool: ...
    @property
    def estimates(self) -> Mapping[str, tuple[Estimate | None, ...]]: ...
    @property
    def classes(self) -> Mapping[str, tuple[Estimate | None, ...]]: ...
    @property
    def differences(self) -> Mapping[str, tuple[Difference | None, ...]]: ...
    @property
    def spreads(self) -> Mapping[str, tuple[Spread | None, ...]]: ...


def figure_tables(found: Measured) -> list[Table]:
    """Figures, following by class where it was measured, and differences where there are several."""
    origin = ", ".join(f"{name} {value}" for name, value in found.facts.items())
    missing = (UNLABELLED,) if found.unlabelled else ()
    tables = [Table("Figures", found.names, found.estimates, (origin, *missing, *_NOTES))]
    if found.classes:
        tables.append(Table("Following, by what is asked for", found.names, found.classes))
    if found.differences:
        columns = tuple(f"{name} less {found.names[0]}" for name in found.names[1:])
        note = "p: Wilcoxon's signed-rank test over the samples of a figure."
        tables.append(Table("Differences on the same samples", columns, found.differences, (note,)))
    return tables


def figures_csv(measured: Measured) -> str:
    """One line for each figure of each system, as CSV."""
    lines: list[tuple[object, ...]] = [_HEADER]
    for name, row in {**measured.estimates, **measured.classes}.items():
        for at, (system, found) in enumerate(zip(measured.names, row, strict=True)):
            if found is not None:
                rest = measured.differences.get(name, ())[at - 1 : at] if at else ()
                apart = rest[0] if rest and rest[0] else (None,) * len(Difference._fields)
                spread = measured.spreads.get(name, ())[at : at + 1]
                runs = spread[0] if spread and spread[0] else (None,) * len(Spread._fields)
                lines.append((name, system, *map(_digits, (*found, *apart, *runs))))
    return to_csv(lines)


def _digits(value: float | None) -> str:
    return f"{value:.6g}" if known(value) else ""


def known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)

"""What a table of the paper is made of; plain data that bare machines read, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

Figures = Mapping[str, float]
"""By the name of a column."""
SEED = "-seed-"
"""In the name of a run, before the seed that it was repeated from."""


@dataclass(frozen=True)
class Plans:
    """Plans that a network learns from, as `t2o data plan` makes them; without a name, those of the data."""

    name: str = ""
    operations: tuple[str, ...] = ()
    """All of them, if none is named."""
    steps: int = 6
    way: str = "joint"

    def options(self, prefix: str = "") -> list[str]:
        """As the commands take them: `--way`, or `--plan-way` after the prefix `plan-`."""
        told = [f"--{prefix}way", self.way]
        if self.operations:
            told += [f"--{prefix}operations", ",".join(self.operations)]
        if self.steps != Plans.steps:
            told += [f"--{prefix}steps", str(self.steps)]
        return told


@dataclass(frozen=True)
class Run:
    """A network to train: its folder, its config, and what is changed of that."""

    name: str
    config: str
    settings: tuple[str, ...] = ()
    """As `name=value`."""
    plans: Plans = Plans()
    after: Run | None = None
    """A run whose best weights it begins with."""

    def repeated(self, seed: int) -> Run:
        """The same from another seed, in a folder beside its own; so is what it begins with."""
        if seed == 0:
            return self
        after = None if self.after is None else self.after.repeated(seed)
        name, settings = f"{self.name}{SEED}{seed}", (*self.settings, f"seed={seed}")
        return replace(self, name=name, settings=settings, after=after)


@dataclass(frozen=True)
class Row:
    """A system as the paper calls it, and the paper's figures for it.

    It is what a `run` comes to or a `system` that needs none; one that is neither has the paper's figures
    alone. A system that has modes has a row for each: all figures of a row are measured in its `mode`.
    """

    title: str
    run: Run | None = None
    system: str = ""
    mode: str = ""
    """`literal` or `expert`; empty for systems that have no modes."""
    paper: Figures = field(default_factory=dict, hash=False)
    gier: Figures = field(default_factory=dict, hash=False)
    planning: float | None = None
    """What planning costs on the paper's train split, where the table has that."""


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    name: str
    title: str
    columns: tuple[str, ...]
    """Those that the paper has."""
    rows: tuple[Row, ...]
    against: str
    """The title of the row that the others are compared with."""
    differs: tuple[str, ...] = ()
    """What differs from the paper in this table, beside what differs in all."""

    def runs(self) -> Iterator[Run]:
        """What its systems are trained by, each once and after what it begins with."""
        found: dict[str, Run] = {}
        for run in (row.run for row in self.rows if row.run is not None):
            for needed in (run.after, run):
                if needed is not None:
                    found.setdefault(needed.name, needed)
        yield from found.values()

"""From a table's declaration to its results: trains, plans, measures and draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...data import Dataset, Problem, open_dataset
from ...data.gier import select
from ...data.recorded import Questions
from ...errors import DataError
from ..ablations import ABLATIONS
from ..cases import Told, cases, quiet
from ..pairs import chosen_pairs, pictures_of
from ..recorded import Noting
from ..sheets import PAIRS, PHOTOS, Asked, of_cases, of_photos, questions_of, systems_sheet
from ..systems import SIDE, System
from ..table import Table
from .commands import repeated
from .measuring import Block, Extent, compared, measured, rows_of, unavailable
from .model import PaperTable, Run
from .results import Results, gier_runs
from .runs import Place, sources_of, trained

SHOWN = 6
"""Pairs on a contact sheet."""
_INPUT = "identity"


@dataclass(frozen=True)
class Wanted:
    """What a table is made of: a dataset, runs, systems beside its own, and photos to show."""

    dataset: Path
    place: Place
    extent: Extent = field(default_factory=Extent)
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


class Making:
    """One table under way; `problems` are pairs that could not be used."""

    def __init__(
        self, table: PaperTable, wanted: Wanted, say: Callable[[str], None], told: Told = quiet
    ) -> None:
        self.table = table
        self.wanted = wanted
        self.say = say
        self.told = told
        self.problems: list[Problem] = []
        self.more = [row for given in wanted.systems for row in rows_of(given)]

    def results(self) -> Results:
        """Rows without weights are left out and say so; refused where there is nothing to measure."""
        wanted, runs = self.wanted, self.wanted.place.runs
        if wanted.place.data is not None:  # what cannot be measured is refused before hours of training
            open_dataset(wanted.dataset, splits=[wanted.extent.split])
        trained(self._runs(), wanted.place, self.say)
        planning, facts = self._planning() if self.table.name in ABLATIONS else (None, {})
        blocks: list[Block] = []
        sheets: Mapping[str, bytes] = {}
        if self._has_systems(runs):
            data = open_dataset(wanted.dataset, splits=[wanted.extent.split])
            block, systems = self._block(data, runs)
            blocks, sheets = [block, *self._gier()], self._sheets(data, systems)
        elif planning is None:
            raise DataError(
                f"no system of {self.table.name} has weights in {runs}; give --data PACKED to train them "
                f"here, or train them elsewhere as `python -m t2onet.reports.tables {self.table.name}` says"
            )
        return Results(
            self.table,
            blocks,
            runs,
            planning,
            facts,
            sheets,
            narrow=wanted.narrow,
        )

    def questions(self) -> Questions:
        """All that a system without manners is asked for this table, its contact sheets among it."""
        noting, extent = Noting(), replace(self.wanted.extent, extractors=())
        data = open_dataset(self.wanted.dataset, splits=[extent.split])
        gier = self._gier_data()
        for dataset in (data, *([] if gier is None else [gier])):
            compared([noting], dataset, extent, problems=self.problems, told=self.told)
        for asked in self._shown(data).values():
            noting.answer(questions_of(asked))
        return noting.questions(data.fingerprint, *([] if gier is None else [gier.fingerprint]))

    def _runs(self) -> list[Run]:
        return repeated(self.table.runs(), self.wanted.seeds, self.wanted.place.settings)

    def _has_systems(self, runs: Path) -> bool:
        """Others than the inputs."""
        rows = (*self.table.rows, *self.more)
        named = any(row.system not in ("", _INPUT) for row in rows)
        return named or any(sources_of(row.run, runs) for row in rows if row.run is not None)

    def _planning(self) -> tuple[Table, dict[str, object]]:
        """On pairs of the train split, or of all where there is none; and which they were."""
        data, seed = open_dataset(self.wanted.dataset), self.wanted.extent.seed
        pairs = chosen_pairs(data.split("train") or data.samples, self.wanted.planned, seed)
        lost: list[Problem] = []
        pictures = list(pictures_of(pairs, lost))
        if not pictures:
            many = f"none of the {len(pairs)} pairs can be used; of the first"
            what = "its pair cannot be used" if len(pairs) == 1 else many
            raise DataError(f"{self.wanted.dataset}: {what}: {lost[0].reason}")
        self.problems += [*data.problems, *lost]
        self.told("planning", 0, len(pictures))
        table = ABLATIONS[self.table.name](pictures, self.wanted.solver)
        return table, {"planned pairs": len(pictures), "seed": seed, "data": data.fingerprint}

    def _block(self, data: Dataset, runs: Path) -> tuple[Block, list[System]]:
        block, systems = measured(
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

    def _gier(self) -> list[Block]:
        """The paper's other dataset, where the table has it: with networks that learned from it."""
        if not any(row.gier for row in self.table.rows):
            return []
        if (data := self._gier_data()) is None:
            return [unavailable(self.table)]
        place = replace(self.wanted.place, runs=gier_runs(self.wanted.place.runs), data=self.wanted.gier_data)
        trained(self._runs(), place, self.say)
        return [self._block(data, place.runs)[0]]

    def _gier_data(self) -> Dataset | None:
        """With its photos, where the table has figures on it and they are there."""
        folder = self.wanted.extent.gier
        if not any(row.gier for row in self.table.rows) or folder is None or not (folder / "images").is_dir():
            return None
        return select(open_dataset(folder, splits=[self.wanted.extent.split]), aligned=True)

    def _sheets(self, data: Dataset, systems: Sequence[System]) -> dict[str, bytes]:
        """Of pairs and, where there are some, of photos of one's own."""
        rows = [row.title for row in (*self.table.rows, *self.more)]
        ordered = sorted(systems, key=lambda system: rows.index(system.name))
        drawn = [system for system in ordered if system.name != "Input"]
        self.told("contact sheets", 0, 1)
        return {
            name: systems_sheet(self.table.title, drawn, asked) for name, asked in self._shown(data).items()
        }

    def _shown(self, data: Dataset) -> dict[str, list[Asked]]:
        """What is asked for the contact sheets."""
        some = cases(data, self.wanted.extent.split, SIDE, SHOWN, seed=self.wanted.extent.seed)
        own = {PHOTOS: of_photos(self.wanted.photos, SIDE)} if self.wanted.photos else {}
        return {PAIRS: of_cases(some, SHOWN), **own}

"""Stored plans: one record for each pair, found by the content of its photos and the planner's settings."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ... import operations
from ...errors import DataError, OutputError, PlanError
from ...image import open_regular_file, write_atomically
from ...image.files import try_lock
from ...operations import Operation
from ...recipe import Recipe
from ..dataset import Problem, Sample, hash_file

if TYPE_CHECKING:
    from ...planning.planner import PlanningMethod

# What a plan depends on, as one key: the bytes of both photos, the operations there are, and the planner.
#
# Names and places of files are no part of it, so a dataset may move, and a pair that several samples share is
# one pair.

PLANNER_VERSION = 3
"""Raised whenever the planner would find other recipes for the same pictures."""
_BEHAVIOUR_DECIMALS = 3
"""Of the pixels that tell one formula from another; the last bits differ between machines."""
_ORIGINAL_SETTINGS = ("size", "steps")
"""Settings that plans have had from the beginning; others are part of a key where they were changed."""
_CACHED_HASHES = 1024
"""Photos whose digest is kept, for those that several samples share."""


@dataclass(frozen=True)
class PlanSettings:
    """How pairs are planned: working short side in pixels, 128 as in the paper, and the most steps.

    `operations` are those that may be used, None for the paper's; `way` and `solver` are as in `t2onet.plan`.
    """

    size: int = 128
    steps: int = 6
    operations: tuple[str, ...] | None = None
    way: PlanningMethod = "joint"
    solver: str = "fast"

    def __post_init__(self) -> None:
        if self.size < 16:
            raise PlanError(f"the working size is {self.size} pixels; it is at least 16")
        if self.steps < 1:
            raise PlanError(f"the most steps of a plan are {self.steps}; it is at least 1")
        if self.operations is not None and not self.operations:
            raise PlanError("no operations to plan with; name at least one")
        for name in self.operations or ():
            operations.get_operation(name)
        if (self.way, self.solver) != ("joint", "fast"):
            from ...planning.planner import check_planning_method
            from ...planning.solvers import check_solver

            check_planning_method(self.way)
            check_solver(self.solver, self.way)

    def told(self) -> dict[str, object]:
        """What tells plans apart."""
        chosen = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            name: now for name, (now, usual) in chosen.items() if name in _ORIGINAL_SETTINGS or now != usual
        }


@dataclass(frozen=True)
class PlanKey:
    """`content` stands for the two photos; `plan` for them, the operations and the settings."""

    content: str
    plan: str


class PlanKeyBuilder:
    """Keys of pairs under some settings."""

    def __init__(self, settings: PlanSettings) -> None:
        self._fingerprint = fingerprint_settings(settings)
        self._digest = lru_cache(_CACHED_HASHES)(hash_file)

    def of(self, sample: Sample) -> PlanKey:
        """Reads both files; OSError where one cannot be read."""
        content = hash_pair(self._digest(sample.before), self._digest(sample.after))
        return PlanKey(content, _short_hash(f"{content} {self._fingerprint}".encode()))


def hash_pair(before: str, after: str) -> str:
    return _short_hash(f"{before} {after}".encode())


def fingerprint_settings(settings: PlanSettings) -> str:
    """Of everything but the photos: the paper's operations, and others where the settings name them."""
    names = dict.fromkeys((*operations.PAPER, *(settings.operations or ())))
    made = [_describe_behaviour(operations.get_operation(name)) for name in names]
    told = {"planner": PLANNER_VERSION, "settings": settings.told(), "operations": made}
    return _short_hash(json.dumps(told, sort_keys=True).encode())


def _describe_behaviour(operation: Operation) -> dict[str, object]:
    """Its declared ranges, and what it makes of a small picture: a changed formula is another operation."""
    slots = [(slot.low, slot.high, slot.default) for slot in operation.slots]
    shares = [0.05 + 0.3 * (7 * at % 5) / 5 for at in range(operation.size)]
    values = [
        default + share * (high - default) for share, (_, high, default) in zip(shares, slots, strict=True)
    ]
    ramp = np.linspace(0, 1, 192)
    picture = np.stack([ramp, np.roll(ramp, 60), ramp[::-1]]).reshape(3, 12, 16)
    edited = np.round(operation.run(picture, np.array(values), 1.0), _BEHAVIOUR_DECIMALS) + 0.0
    return {"name": operation.name, "slots": slots, "made": _short_hash(edited.tobytes())}


def _short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


# The plan of one pair, and the line of text that holds it with its checksum.


@dataclass(frozen=True)
class StoredPlan:
    """The plan of a pair.

    `start_cost` and `cost` are mean absolute differences from the target on the photos themselves, without
    and with the recipe; `costs` those of the working picture, at first and after each step.
    """

    recipe: Recipe
    start_cost: float
    cost: float
    costs: tuple[float, ...]

    def to_data(self) -> dict[str, Any]:
        """As plain data for JSON."""
        steps = self.recipe.model_dump(mode="json", exclude_none=True)["steps"]
        return {"steps": steps, "start_cost": self.start_cost, "cost": self.cost, "costs": list(self.costs)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> StoredPlan:
        recipe = Recipe.from_data({"steps": data["steps"]})
        return cls(recipe, data["start_cost"], data["cost"], tuple(data["costs"]))


def record_to_line(key: str, planned: StoredPlan) -> bytes:
    """`<CRC-32> {"key": ..., ...}`, ending the line."""
    body = json.dumps({"key": key, **planned.to_data()}, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def record_from_line(line: bytes) -> dict[str, Any] | None:
    """What the line says, or None where it is torn or its checksum does not fit."""
    checksum, _, body = line.partition(b" ")
    if not body.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body[:-1]):
        return None
    data: dict[str, Any] = json.loads(body)
    return data


# Plans on disk: segment files with a line for each plan.
#
# A process writes only to a segment of its own, at its end, a whole line at a time. So several processes can
# fill one folder, and one that is killed leaves at most one torn line, which its checksum does not fit. A
# damaged line is left out and told, and whoever next fills the folder takes it out.

_SEGMENT_PATTERN = "plans-*.jsonl"


class _SegmentLine(NamedTuple):
    """A line of a segment as it was read; `data` is None where it is damaged."""

    number: int
    offset: int
    raw: bytes
    data: dict[str, Any] | None


class _RecordPosition(NamedTuple):
    """Where a plan stands."""

    segment: int
    offset: int
    length: int


class PlanStore:
    """The plans of a folder by their keys; only the places where they stand are kept in memory.

    `damage` names the lines that were left out.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damage: list[Problem] = []
        self._segments: list[Path] = []
        self._places: dict[bytes, _RecordPosition] = {}
        self._file: FileIO | None = None
        for path in sorted(folder.glob(_SEGMENT_PATTERN)):
            self._scan(path)

    @classmethod
    def filling(cls, folder: Path) -> Self:
        """To add plans to: the folder is made where it is missing, and damaged lines are taken out."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{folder} cannot hold plans ({error.strerror}); give the name of a folder"
            ) from None
        if any(path.name[0] != "." for path in folder.iterdir()) and not any(folder.glob(_SEGMENT_PATTERN)):
            raise OutputError(f"{folder} holds something else than plans; give a new or an empty folder")
        store = cls(folder)
        for name in sorted({problem.name.partition(":")[0] for problem in store.damage}):
            _repair_segment(folder / name)
        if not store.damage:
            return store
        mended = cls(folder)
        mended.damage = store.damage
        return mended

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._places

    def __getitem__(self, key: str) -> StoredPlan:
        place = self._places[bytes.fromhex(key)]
        path = self._segments[place.segment]
        with open_regular_file(path) as file:
            file.seek(place.offset)
            data = record_from_line(file.read(place.length))
        if data is None:
            raise DataError(f"{path} was damaged while it was in use; plan again, which mends it")
        return StoredPlan.from_data(data)

    def add(self, key: str, planned: StoredPlan) -> None:
        """On disk when this returns, as far as the death of this process matters."""
        line = record_to_line(key, planned)
        file = self._own_segment()
        place = _RecordPosition(len(self._segments) - 1, file.tell(), len(line))
        try:
            written = file.write(line)
        except OSError as error:
            raise OutputError(f"{file.name} cannot be written ({error.strerror}); free some space") from None
        if written != len(line):
            raise OutputError(f"{file.name} cannot be written to its end; free some space")
        self._places[bytes.fromhex(key)] = place

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _own_segment(self) -> FileIO:
        """Made when the first plan comes; the last of the list from then on."""
        if self._file is None:
            self._file = _create_segment(self.folder)
            self._segments.append(Path(str(self._file.name)))
        return self._file

    def _scan(self, path: Path) -> None:
        self._segments.append(path)
        for line in _read_segment(path):
            if line.data is not None:
                place = _RecordPosition(len(self._segments) - 1, line.offset, len(line.raw))
                self._places[bytes.fromhex(line.data["key"])] = place
            elif line.raw.endswith(b"\n") or not _is_being_written(path):
                reason = "the record is damaged and left out; planning the dataset again replaces it"
                self.damage.append(Problem(f"{path.name}:{line.number}", reason))


def _create_segment(folder: Path) -> FileIO:
    """Numbered in order, and locked: nobody else takes it for one that a killed process left behind."""
    number = len(list(folder.glob(_SEGMENT_PATTERN)))
    while True:
        number += 1
        path = folder / f"plans-{number:06}.jsonl"
        try:
            file = FileIO(str(path), "x")
        except FileExistsError:
            continue
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({error.strerror}); choose another folder") from None
        try_lock(file)
        return file


def _read_segment(path: Path) -> Iterator[_SegmentLine]:
    offset = 0
    with open_regular_file(path) as file:
        for number, raw in enumerate(file, start=1):
            yield _SegmentLine(number, offset, raw, record_from_line(raw))
            offset += len(raw)


def _is_being_written(path: Path) -> bool:
    with open_regular_file(path) as file:
        return not try_lock(file)


def _repair_segment(path: Path) -> None:
    """Without its damaged lines, unless a living process is writing it."""
    with open_regular_file(path) as file:
        if try_lock(file):
            whole = b"".join(line.raw for line in _read_segment(path) if line.data is not None)
            write_atomically(path, whole, overwrite=True)


# The plans of a dataset, looked up by its samples.


class DatasetPlans(Mapping[Sample, StoredPlan]):
    """Sample -> its plan, for those that have one; photos are read once to know which plan is theirs.

    `settings` are those the plans were made with. Plans stay on disk until they are asked for.
    """

    def __init__(
        self, cache: str | Path, samples: Sequence[Sample], settings: PlanSettings | None = None
    ) -> None:
        folder = Path(cache)
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder} with plans; `t2o data plan` makes one")
        self._store = PlanStore(folder)
        self.damage = tuple(self._store.damage)
        self._samples: list[Sample] = []
        self._keys: dict[str, str] = {}
        keys = PlanKeyBuilder(settings or PlanSettings())
        for sample in samples:
            try:
                key = keys.of(sample).plan
            except OSError:
                continue
            if key in self._store:
                self._samples.append(sample)
                self._keys[sample.name] = key

    def __getitem__(self, sample: Sample) -> StoredPlan:
        return self._store[self._keys[sample.name]]

    def __contains__(self, sample: object) -> bool:
        return isinstance(sample, Sample) and sample.name in self._keys

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

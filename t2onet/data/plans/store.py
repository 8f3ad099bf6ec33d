"""Stored plans: one record for each pair, found by the content of its photos and the planner's settings.

A cache is a folder of segment files with a line for each plan: a CRC-32 and the plan as JSON. A process
appends whole lines to a segment of its own, so several processes can fill one folder, and one that is
killed leaves at most one torn line. A damaged line is reported and left out; the next process that writes
to the folder removes it. SQLite would be no improvement: a database cut in half loses every plan instead of
half of them, reading it after a crash needs write permission, and its locks are unreliable on network
drives.
"""

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

PLANNER_VERSION = 5
"""Incremented whenever the planner finds other recipes for the same pictures."""
_BEHAVIOUR_DECIMALS = 3
"""Decimals of pixels that identify a formula; the last bits differ between machines."""
_ORIGINAL_SETTINGS = ("size", "steps")
"""Settings that are part of every key; others only where they differ from their default."""
_CACHED_HASHES = 1024
"""Photos whose hash is cached, since several samples may share one."""


@dataclass(frozen=True)
class PlanSettings:
    """How pairs are planned: the working short side in pixels, 128 as in the paper, and the most steps.

    The names of the fields are part of the keys of stored plans.
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

    def key_fields(self) -> dict[str, object]:
        """The settings that are part of a key."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            name: value
            for name, (value, default) in values.items()
            if name in _ORIGINAL_SETTINGS or value != default
        }


@dataclass(frozen=True)
class PlanKey:
    """Hashes: `content` of the bytes of both photos, `plan` of these, the operations and the settings.

    File names are no part of a key, so a dataset may move, and samples that share a pair share its plan.
    """

    content: str
    plan: str


class PlanKeyBuilder:
    """Builds the keys of pairs for given settings."""

    def __init__(self, settings: PlanSettings) -> None:
        self._fingerprint = fingerprint_settings(settings)
        self._hash_file = lru_cache(_CACHED_HASHES)(hash_file)

    def build(self, sample: Sample) -> PlanKey:
        """The key of a pair; reads both files, OSError where one cannot be read."""
        content = hash_pair(self._hash_file(sample.before), self._hash_file(sample.after))
        return PlanKey(content, _short_hash(f"{content} {self._fingerprint}".encode()))


def hash_pair(before: str, after: str) -> str:
    return _short_hash(f"{before} {after}".encode())


def fingerprint_settings(settings: PlanSettings) -> str:
    """Hash of all but the photos: the settings, the paper's operations, and others that the settings name."""
    names = dict.fromkeys((*operations.PAPER, *(settings.operations or ())))
    papers = set(names) == set(operations.PAPER)
    declared = operations.get_published_operation if papers else operations.get_operation
    behaviours = [_describe_behaviour(declared(name)) for name in names]
    data = {"planner": PLANNER_VERSION, "settings": settings.key_fields(), "operations": behaviours}
    return _short_hash(json.dumps(data, sort_keys=True).encode())


def _describe_behaviour(operation: Operation) -> dict[str, object]:
    """Declared ranges, and a hash of a small edited picture, which changes with the formula."""
    slots = [(slot.low, slot.high, slot.default) for slot in operation.slots]
    shares = [0.05 + 0.3 * (7 * at % 5) / 5 for at in range(operation.size)]
    values = [
        default + share * (high - default) for share, (_, high, default) in zip(shares, slots, strict=True)
    ]
    ramp = np.linspace(0, 1, 192)
    picture = np.stack([ramp, np.roll(ramp, 60), ramp[::-1]]).reshape(3, 12, 16)
    edited = np.round(operation.run(picture, np.array(values)), _BEHAVIOUR_DECIMALS) + 0.0
    return {"name": operation.name, "slots": slots, "made": _short_hash(edited.tobytes())}


def _short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


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
        """The plan as plain data for JSON."""
        steps = self.recipe.model_dump(mode="json", exclude_none=True)["steps"]
        return {"steps": steps, "start_cost": self.start_cost, "cost": self.cost, "costs": list(self.costs)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> StoredPlan:
        recipe = Recipe.from_data({"steps": data["steps"]})
        return cls(recipe, data["start_cost"], data["cost"], tuple(data["costs"]))


def record_to_line(key: str, planned: StoredPlan) -> bytes:
    """The line `<CRC-32> {"key": ..., ...}` with its newline."""
    body = json.dumps({"key": key, **planned.to_data()}, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def record_from_line(line: bytes) -> dict[str, Any] | None:
    """The data of a line, or None if it is torn or its checksum does not match."""
    checksum, _, body = line.partition(b" ")
    if not body.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body[:-1]):
        return None
    data: dict[str, Any] = json.loads(body)
    return data


_SEGMENT_PATTERN = "plans-*.jsonl"


class _SegmentLine(NamedTuple):
    """A line of a segment; `data` is None if it is damaged."""

    number: int
    offset: int
    raw: bytes
    data: dict[str, Any] | None


class _RecordPosition(NamedTuple):
    """Segment number, byte offset and length of a record."""

    segment: int
    offset: int
    length: int


class PlanStore:
    """The plans of a folder by key; only their positions are kept in memory.

    `damage` lists the lines that were left out.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damage: list[Problem] = []
        self._segments: list[Path] = []
        self._positions: dict[bytes, _RecordPosition] = {}
        self._file: FileIO | None = None
        for path in sorted(folder.glob(_SEGMENT_PATTERN)):
            self._scan(path)

    @classmethod
    def open_for_writing(cls, folder: Path) -> Self:
        """Create the folder if it is missing, and remove damaged lines."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{folder} cannot be a folder of plans ({error.strerror}); give the name of a folder"
            ) from None
        if any(path.name[0] != "." for path in folder.iterdir()) and not any(folder.glob(_SEGMENT_PATTERN)):
            raise OutputError(f"{folder} has other files than plans in it; give a new or an empty folder")
        store = cls(folder)
        for name in sorted({problem.name.partition(":")[0] for problem in store.damage}):
            _repair_segment(folder / name)
        if not store.damage:
            return store
        repaired = cls(folder)
        repaired.damage = store.damage
        return repaired

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._positions

    def __getitem__(self, key: str) -> StoredPlan:
        position = self._positions[bytes.fromhex(key)]
        path = self._segments[position.segment]
        with open_regular_file(path) as file:
            file.seek(position.offset)
            data = record_from_line(file.read(position.length))
        if data is None:
            raise DataError(f"{path} was damaged while it was in use; plan the dataset again to repair it")
        return StoredPlan.from_data(data)

    def add(self, key: str, planned: StoredPlan) -> None:
        """Write a plan; when this returns it survives the death of this process (not of the machine)."""
        line = record_to_line(key, planned)
        file = self._open_segment()
        position = _RecordPosition(len(self._segments) - 1, file.tell(), len(line))
        try:
            written = file.write(line)
        except OSError as error:
            raise OutputError(f"{file.name} cannot be written ({error.strerror}); free some space") from None
        if written != len(line):
            raise OutputError(f"{file.name} cannot be written to its end; free some space")
        self._positions[bytes.fromhex(key)] = position

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open_segment(self) -> FileIO:
        """Created for the first plan; the last of the list from then on."""
        if self._file is None:
            self._file = _create_segment(self.folder)
            self._segments.append(Path(str(self._file.name)))
        return self._file

    def _scan(self, path: Path) -> None:
        self._segments.append(path)
        for line in _read_segment(path):
            if line.data is not None:
                position = _RecordPosition(len(self._segments) - 1, line.offset, len(line.raw))
                self._positions[bytes.fromhex(line.data["key"])] = position
            elif line.raw.endswith(b"\n") or not _is_being_written(path):
                reason = "the record is damaged and left out; planning the dataset again replaces it"
                self.damage.append(Problem(f"{path.name}:{line.number}", reason))


def _create_segment(folder: Path) -> FileIO:
    """Create the next segment, locked so that others see that its process is alive."""
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
    """Remove damaged lines, unless a process is writing the segment."""
    with open_regular_file(path) as file:
        if try_lock(file):
            intact = b"".join(line.raw for line in _read_segment(path) if line.data is not None)
            write_atomically(path, intact, overwrite=True)


class DatasetPlans(Mapping[Sample, StoredPlan]):
    """Sample -> its plan, for samples that have one; all photos are read once to compute their keys.

    `settings` are those the plans were made with. Plans stay on disk until they are accessed.
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
                key = keys.build(sample).plan
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

"""Plans on disk: segment files with a line for each plan.

A process writes only to a segment of its own, at its end, a whole line at a time. So several processes can
fill one folder, and one that is killed leaves at most one torn line, which its checksum does not fit. A
damaged line is left out and told, and whoever next fills the folder takes it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, Self

from ...errors import DataError, OutputError
from ...image import open_regular, write_atomically
from ...image.locks import lock
from ..sample import Problem
from .record import Planned, from_line, to_line

_SEGMENTS = "plans-*.jsonl"


class _Line(NamedTuple):
    """A line of a segment as it was read; `data` is None where it is damaged."""

    number: int
    offset: int
    raw: bytes
    data: dict[str, Any] | None


class _Place(NamedTuple):
    """Where a plan stands."""

    segment: int
    offset: int
    length: int


class Store:
    """The plans of a folder by their keys; only the places where they stand are kept in memory.

    `damage` names the lines that were left out.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damage: list[Problem] = []
        self._segments: list[Path] = []
        self._places: dict[bytes, _Place] = {}
        self._file: FileIO | None = None
        for path in sorted(folder.glob(_SEGMENTS)):
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
        if any(path.name[0] != "." for path in folder.iterdir()) and not any(folder.glob(_SEGMENTS)):
            raise OutputError(f"{folder} holds something else than plans; give a new or an empty folder")
        store = cls(folder)
        for name in sorted({problem.name.partition(":")[0] for problem in store.damage}):
            _mend(folder / name)
        if not store.damage:
            return store
        mended = cls(folder)
        mended.damage = store.damage
        return mended

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._places

    def __getitem__(self, key: str) -> Planned:
        place = self._places[bytes.fromhex(key)]
        path = self._segments[place.segment]
        with open_regular(path) as file:
            file.seek(place.offset)
            data = from_line(file.read(place.length))
        if data is None:
            raise DataError(f"{path} was damaged while it was in use; plan again, which mends it")
        return Planned.from_data(data)

    def add(self, key: str, planned: Planned) -> None:
        """On disk when this returns, as far as the death of this process matters."""
        line = to_line(key, planned)
        file = self._own_segment()
        place = _Place(len(self._segments) - 1, file.tell(), len(line))
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
            self._file = _new_segment(self.folder)
            self._segments.append(Path(str(self._file.name)))
        return self._file

    def _scan(self, path: Path) -> None:
        self._segments.append(path)
        for line in _lines(path):
            if line.data is not None:
                place = _Place(len(self._segments) - 1, line.offset, len(line.raw))
                self._places[bytes.fromhex(line.data["key"])] = place
            elif line.raw.endswith(b"\n") or not _being_written(path):
                reason = "the record is damaged and left out; planning the dataset again replaces it"
                self.damage.append(Problem(f"{path.name}:{line.number}", reason))


def _new_segment(folder: Path) -> FileIO:
    """Numbered in order, and locked: nobody else takes it for one that a killed process left behind."""
    number = len(list(folder.glob(_SEGMENTS)))
    while True:
        number += 1
        path = folder / f"plans-{number:06}.jsonl"
        try:
            file = FileIO(str(path), "x")
        except FileExistsError:
            continue
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({error.strerror}); choose another folder") from None
        lock(file)
        return file


def _lines(path: Path) -> Iterator[_Line]:
    offset = 0
    with open_regular(path) as file:
        for number, raw in enumerate(file, start=1):
            yield _Line(number, offset, raw, from_line(raw))
            offset += len(raw)


def _being_written(path: Path) -> bool:
    with open_regular(path) as file:
        return not lock(file)


def _mend(path: Path) -> None:
    """Without its damaged lines, unless a living process is writing it."""
    with open_regular(path) as file:
        if lock(file):
            whole = b"".join(line.raw for line in _lines(path) if line.data is not None)
            write_atomically(path, whole, overwrite=True)

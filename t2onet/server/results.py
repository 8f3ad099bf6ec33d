"""Result files of a session: edited photos, recipes, colour tables, and batches of edited photos."""

from __future__ import annotations

import logging
import secrets
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..bands import CancelToken
from ..errors import Cancelled, T2OError
from ..executor import apply
from ..looks import SETTINGS_FORMATS, ExportedLook, choose_size, export_recipe
from ..recipe import Recipe
from ..recipe.recipe import sidecar_path
from .errors import Refused, refuse_storage_errors, to_resource_refusal
from .photos import SessionPhoto
from .running import get_disconnect_event
from .schemas import BatchOutcome, ExportRequest, check_work
from .session import Session
from .sessions import DarkroomService

_LOOK_SUFFIXES = {"cube": ".cube", "hald": ".png", "pp3": ".pp3", "xmp": ".xmp"}


@dataclass(frozen=True)
class ResultFile:
    """A file that waits for its download, and the name of the download."""

    name: str
    path: Path
    notes: tuple[str, ...]
    bytes: int = 0
    id: str = field(default_factory=lambda: secrets.token_hex(8))


def create_result(
    session: Session, photo: SessionPhoto, recipe: Recipe, request: ExportRequest
) -> ResultFile:
    """Create a result and store it in the session until newer ones replace it."""
    session.usage.check()
    folder = session.make_folder()
    try:
        result = _write_result(folder, photo, recipe, request)
        result = replace(result, bytes=result.path.stat().st_size)
        session.usage.add(folder, result.bytes)
    except BaseException:
        session.remove_folder(folder)
        raise
    with session.lock:
        session.results[result.id] = result
        while len(session.results) > session.settings.exports:
            oldest = session.results.pop(next(iter(session.results)))
            session.remove_folder(oldest.path.parent)
    return result


def _write_result(folder: Path, photo: SessionPhoto, recipe: Recipe, request: ExportRequest) -> ResultFile:
    stem = Path(photo.name).stem
    if request.kind == "photo":
        return write_edited_photo(
            folder / "result", photo, recipe, format=request.format, quality=request.quality
        )
    if request.kind == "recipe":
        name = sidecar_path(Path(_get_edited_name(photo, request.format))).name
        place = folder / "result.json"
        with _hide_result_path(place, name):
            return ResultFile(name, recipe.save(place), ())
    return _write_look(folder, stem, recipe, _LOOK_SUFFIXES[request.kind], request.size)


def _write_look(folder: Path, stem: str, recipe: Recipe, suffix: str, size: int | None) -> ResultFile:
    """A colour table, or a .zip of a program's settings and the table that they apply."""
    look = recipe if recipe.name else recipe.model_copy(update={"name": stem})
    is_table = suffix not in SETTINGS_FORMATS
    place = folder / f"result{suffix if is_table else '.png'}"
    with _hide_result_path(place, f"{stem}{suffix}"):
        done = export_recipe(look, place, size=choose_size(suffix, size))
        levels = f"{done.fidelity.mean:.2f} of 255 levels on average, {done.fidelity.worst:.1f} at worst"
        notes = (f"the table differs from the recipe by {levels}", *done.notes)
        if is_table:
            return ResultFile(f"{stem}{suffix}", done.path, notes)
        return _zip_settings(folder / "result.zip", stem, suffix, done, notes)


def _zip_settings(
    place: Path, stem: str, suffix: str, exported: ExportedLook, notes: tuple[str, ...]
) -> ResultFile:
    settings, name, table = SETTINGS_FORMATS[suffix], f"{stem}{suffix}", f"{stem}.png"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as file:
        file.writestr(name, settings.format(table))
        file.write(exported.table, table)
    exported.table.unlink()
    return ResultFile(f"{name}.zip", place, (*notes, settings.explain_table(name, table)))


def _get_edited_name(photo: SessionPhoto, format: str | None) -> str:
    suffix = f".{format}" if format else photo.get_output_suffix()
    return f"{Path(photo.name).stem}-edited{suffix}"


def write_edited_photo(
    place: Path,
    photo: SessionPhoto,
    recipe: Recipe,
    *,
    format: str | None = None,
    quality: int | None = None,
    progress: Callable[[float], None] | None = None,
    cancel: CancelToken | None = None,
) -> ResultFile:
    """Write a photo after a recipe at full resolution; `place` gets the suffix of the format."""
    name = _get_edited_name(photo, format)
    image = photo.open()
    check_work(recipe, image.width * image.height, photo.settings)
    left_out: list[str] = []
    cancel = cancel or get_disconnect_event()
    image = apply(recipe, image, kernels=True, progress=progress, cancel=cancel, notes=left_out)
    target = place.with_suffix(Path(name).suffix.lower())
    with _hide_result_path(target, name):
        saved = image.save(target, quality=quality)
    return ResultFile(name, saved.path, (*left_out, *saved.notes))


@contextmanager
def _hide_result_path(path: Path, name: str) -> Iterator[None]:
    """Around code that writes a result: errors give its `name` instead of its path on the server."""
    try:
        with refuse_storage_errors(name):
            yield
    except Refused:
        raise
    except T2OError as error:
        words = str(error).replace(str(path), name).replace(str(path.parent), "the session's folder")
        raise type(error)(words) from error.__cause__


_STOP_SECONDS = 5.0
"""Seconds that a cancelled batch has to end; what it writes later is lost."""
_LOG = logging.getLogger(__name__)

RecipeChooser = Callable[[SessionPhoto], tuple[Recipe, tuple[str, ...]]]
"""Returns the recipe for a photo and remarks about it; raises RequestError if the request is declined."""


@dataclass
class BatchPhoto:
    """One photo of a batch."""

    photo: SessionPhoto
    outcome: BatchOutcome = "waiting"
    share: float = 0.0
    error: str | None = None
    result: ResultFile | None = None
    remarks: tuple[str, ...] = ()


@dataclass
class BatchJob:
    """Edits its photos one after the other in its own thread, until it is cancelled."""

    items: list[BatchPhoto]
    recipe_for: RecipeChooser
    format: str | None
    folder: Path
    session: Session
    darkroom: DarkroomService
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name=f"batch {self.id}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        return self._stop.is_set()

    def cancel(self) -> None:
        """Finish the photo that is being written, and start no other."""
        self._stop.set()

    def stop(self) -> None:
        """Cancel, and wait a few seconds until nothing is being written any more."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def remove(self) -> None:
        self.stop()
        self.session.remove_folder(self.folder)

    def _run(self) -> None:
        for number, item in enumerate(self.items):
            if self.is_cancelled:
                item.outcome = "cancelled"
            else:
                item.outcome = "running"
                self._process(item, self.folder / str(number))

    def _process(self, item: BatchPhoto, place: Path) -> None:
        def report(share: float) -> None:
            item.share = share

        try:
            with self.darkroom.hold_slot():
                self.session.usage.check()
                item.photo.open_editor()
                recipe, item.remarks = self.recipe_for(item.photo)
                result = write_edited_photo(
                    place, item.photo, recipe, format=self.format, progress=report, cancel=self._stop
                )
            item.result = self._count_usage(result)
            item.outcome, item.share = "done", 1.0
        except Cancelled:
            item.outcome = "cancelled"
        except T2OError as error:
            item.outcome, item.share, item.error = "refused", 1.0, str(error)
        except Exception as error:
            item.outcome, item.share = "refused", 1.0
            if refusal := to_resource_refusal(error):
                item.error = f"{item.photo.name}: {refusal}"
            else:
                _LOG.exception("an error that should not happen, in a batch")
                item.error = f"{item.photo.name} failed in the server; its log says why"

    def _count_usage(self, result: ResultFile) -> ResultFile:
        """Count a result's bytes; it is removed again if the session is full."""
        try:
            self.session.usage.add(self.folder, result.path.stat().st_size)
        except BaseException:
            result.path.unlink(missing_ok=True)
            raise
        return result


def stream_zip(batch: BatchJob) -> Iterator[bytes]:
    """All results as a ZIP, in pieces; photos are compressed already, so they are only stored."""
    sink = _ZipBuffer()
    taken: set[str] = set()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as file:
        for number, item in enumerate(batch.items, start=1):
            if item.result is None:
                continue
            name = item.result.name if item.result.name not in taken else f"{number}-{item.result.name}"
            taken.add(name)
            with file.open(name, "w") as entry, item.result.path.open("rb") as source:
                while piece := source.read(2**20):
                    entry.write(piece)
                    yield sink.take()
    yield sink.take()


class _ZipBuffer:
    """A write-only file that hands out what was written since the last time."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)

"""What outlives the server: edits beside their photos, and sessions in the user's data folder.

The edit of a photo of this machine is its sidecar. Everything else that a session needs to continue is in the
archive: uploaded photos, and for each photo a record of its edit.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import shutil
import sys
import tempfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..editor import Edit
from ..errors import OutputError, RecipeError, ServerError, T2OError
from ..image import read_regular_file, write_atomically
from ..image.files import try_lock
from ..options import DEFAULT_MODE, MODES, Mode
from ..recipe import Recipe, Step
from ..recipe.recipe import find_sidecar, sidecar_path
from .errors import refuse_storage_errors
from .settings import MIB, ServerSettings

RECORD_FILE = "edit.json"
"""Record of a photo in its folder of the archive."""
SECRET_BYTES = 16
"""Random bytes of a session's id."""
_RECORD_VERSION = 1
_SESSIONS = "sessions"
_KEY_FILE = "key"
_FOLDER_MODE = 0o700
_DAY = 24 * 60 * 60
_LOG = logging.getLogger(__name__)


def get_data_folder() -> Path:
    """Folder of what is kept between runs: T2O_DATA_DIR, or the user's data folder."""
    if chosen := os.environ.get("T2O_DATA_DIR"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "t2onet" / "data"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "t2onet"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "t2onet"


def make_private_folder(path: Path) -> Path:
    """Create a folder that no other user may read, or raise an OSError."""
    path.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
        raise PermissionError(1, "it belongs to another user", str(path))
    path.chmod(_FOLDER_MODE)
    return path


@dataclass(frozen=True)
class KeptEdit:
    """The edit of a photo as its record has it, and what a session must know of the photo.

    `file` is the upload beside the record; None for a photo of this machine. `sidecars` are the
    digests of those that this edit was made after, or written as.
    """

    name: str
    file: str | None
    added: float
    """Time; photos are listed in this order."""
    removed: float | None = None
    """Time at which it was removed from the session, if it was."""
    revision: int = 0
    request: str = ""
    mode: Mode = DEFAULT_MODE
    recipe: Recipe = field(default_factory=Recipe)
    because: dict[str, tuple[str, ...]] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()
    aside: tuple[tuple[int, Step], ...] = ()
    sidecars: tuple[str, ...] = ()

    def to_json(self) -> str:
        """As JSON in ASCII, whatever letters a request had."""
        data = {
            "version": _RECORD_VERSION,
            **vars(self),
            "recipe": self.recipe.model_dump(mode="json", exclude_none=True),
            "aside": [[at, step.model_dump(mode="json", exclude_none=True)] for at, step in self.aside],
        }
        return json.dumps(data)

    @classmethod
    def from_json(cls, text: str) -> KeptEdit:
        """From JSON, or a ValueError or RecipeError."""
        data = json.loads(text)
        if not isinstance(data, dict) or data.pop("version", None) != _RECORD_VERSION:
            raise ValueError("it is a record of another release")
        try:
            return cls(
                name=str(data["name"]),
                file=None if data["file"] is None else Path(str(data["file"])).name,
                added=float(data["added"]),
                removed=None if data["removed"] is None else float(data["removed"]),
                revision=int(data["revision"]),
                request=str(data["request"]),
                mode=data["mode"] if data["mode"] in MODES else DEFAULT_MODE,
                recipe=Recipe.from_data(data["recipe"]),
                because={str(name): tuple(map(str, words)) for name, words in data["because"].items()},
                helpers=tuple(map(str, data["helpers"])),
                aside=tuple((int(at), Recipe.from_steps([step]).steps[0]) for at, step in data["aside"]),
                sidecars=tuple(map(str, data["sidecars"])),
            )
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"it is no record ({error!r})") from None


def read_record(folder: Path) -> KeptEdit | None:
    """The record in a folder; None if there is none, or none that can be read."""
    path = folder / RECORD_FILE
    try:
        return KeptEdit.from_json(read_regular_file(path).decode())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, T2OError) as error:
        _LOG.warning("%s cannot be read: %s", path, error)
        return None


class SidecarChangedError(Exception):
    """A sidecar has another recipe than the one that was read or written last."""

    def __init__(self, recipe: Recipe, digest: str) -> None:
        super().__init__("the sidecar was changed")
        self.recipe, self.digest = recipe, digest


READ_ONLY = (
    "Edits cannot be saved beside these photos ({reason}); they are kept {elsewhere} instead, and not beside "
    "the photos."
)
BROKEN = (
    "{name} cannot be used: {reason}. It stays as it is, and edits are kept {elsewhere}; repair or remove "
    "the file to save edits beside the photo again."
)
REPLACED = (
    "{name} was changed outside the darkroom. Its edit is shown; Undo leads back to the one that was here."
)
SavedPlace = Literal["sidecar", "server", "memory"]
_KEPT = "by the server"
_IN_MEMORY = "until the server stops"


@dataclass
class EditKeeper:
    """Keeps the edit of one photo: in its sidecar, and in a record in a folder of the archive.

    `sidecar_of` is the photo whose sidecar is read and written, `folder` that of the record; either may be
    None. `remarks` are sentences about what could not be kept as usual.
    """

    settings: ServerSettings
    name: str
    folder: Path | None = None
    file: str | None = None
    sidecar_of: Path | None = None
    added: float = field(default_factory=time.time)
    remarks: list[str] = field(default_factory=list)
    is_in_sidecar: bool = False
    """Whether the sidecar has the current edit."""
    _digest: str | None = None
    """Of the sidecar that was read or written last."""

    @property
    def place(self) -> SavedPlace:
        """Where the edit is kept: `sidecar`, `server`, or `memory`."""
        if self.sidecar_of is not None and (self.is_in_sidecar or not self.remarks):
            return "sidecar"
        return "memory" if self.folder is None else "server"

    def load(self) -> list[KeptEdit]:
        """The edits to continue from, the current one last; two if sidecar and record differ."""
        record = None if self.folder is None else read_record(self.folder)
        path = None if self.sidecar_of is None else find_sidecar(self.sidecar_of)
        if self.sidecar_of is None or path is None:
            return [record] if record else []
        try:
            data = self._read_sidecar(path)
            digest = compute_digest(data)
            if record is not None and digest in record.sidecars:
                self._digest = digest
                return [record]
            recipe = self._parse_sidecar(path, data)
        except (OSError, T2OError) as error:
            self._remark_broken(path, error)
            return [record] if record else []
        if path == sidecar_path(self.sidecar_of):
            self._digest = digest
        self.is_in_sidecar = True
        theirs = KeptEdit(self.name, self.file, self.added, recipe=recipe)
        if record is None or record.recipe == recipe or not record.recipe.steps:
            return [theirs] if record is None else [replace(theirs, revision=record.revision + 1)]
        self._remark(REPLACED.format(name=path.name))
        return [record, replace(theirs, revision=record.revision + 1)]

    def save(self, edit: Edit | None, revision: int) -> None:
        """Write the edit, or refuse; SidecarChangedError if someone else wrote the sidecar meanwhile.

        The record comes first, with the digests of the sidecar before and after: whenever the server is
        killed, one of them fits.
        """
        written, digests = self._prepare_sidecar(edit.recipe if edit else Recipe())
        if self.folder is not None:
            self._write_record(self._make_record(edit, revision, digests))
        if written is not None:
            self._write_sidecar(written)

    def follow(self, changed: SidecarChangedError, revision: int) -> None:
        """Take a changed sidecar as the one that further edits replace."""
        self._digest, self.is_in_sidecar = changed.digest, True
        if self.folder is not None:
            theirs = KeptEdit(self.name, self.file, self.added, revision=revision, recipe=changed.recipe)
            self._write_record(replace(theirs, sidecars=(changed.digest,)))

    def mark_removed(self, removed: float | None) -> None:
        """Note in the record that the photo was removed from its session, or is back."""
        if self.folder is not None and (record := read_record(self.folder)) is not None:
            self._write_record(replace(record, removed=removed))

    def _make_record(self, edit: Edit | None, revision: int, digests: tuple[str, ...]) -> KeptEdit:
        begun = KeptEdit(self.name, self.file, self.added, revision=revision, sidecars=digests)
        if edit is None:
            return begun
        return replace(
            begun,
            request=edit.request,
            mode=edit.mode,
            recipe=edit.recipe,
            because={name: tuple(words) for name, words in edit.because.items()},
            helpers=edit.helpers,
            aside=edit.aside,
        )

    def _write_record(self, record: KeptEdit) -> None:
        assert self.folder is not None
        with refuse_storage_errors("the edit"):
            self.folder.mkdir(exist_ok=True, mode=_FOLDER_MODE)
            data = record.to_json().encode()
            write_atomically(self.folder / RECORD_FILE, data, overwrite=True, private=True)
            os.utime(self.folder.parent)  # the age of a session is that of its last edit

    def _prepare_sidecar(self, recipe: Recipe) -> tuple[bytes | None, tuple[str, ...]]:
        """What to write to the sidecar, if anything, and its digests before and after."""
        if self.sidecar_of is None:
            return None, ()
        path = sidecar_path(self.sidecar_of)
        self.is_in_sidecar = False
        try:
            found = self._check_unchanged(path)
        except (OSError, T2OError) as error:
            self._remark_broken(path, error)
            return None, ()
        if found is None and not recipe.steps:
            self._digest, self.is_in_sidecar = None, True
            return None, ()
        data = recipe.to_json().encode()
        return data, (*filter(None, [found]), compute_digest(data))

    def _check_unchanged(self, path: Path) -> str | None:
        """The digest of the sidecar if it is the one that is known, None if there is none."""
        if path.is_symlink() and not path.exists():
            raise OutputError("it is a link that leads nowhere")
        if not path.exists():
            return None
        data = self._read_sidecar(path)
        digest = compute_digest(data)
        if digest != self._digest:
            raise SidecarChangedError(self._parse_sidecar(path, data), digest)
        return digest

    def _write_sidecar(self, data: bytes) -> None:
        assert self.sidecar_of is not None
        try:
            write_atomically(sidecar_path(self.sidecar_of), data, overwrite=True)
        except OutputError as error:
            self._remark(READ_ONLY.format(reason=_explain_output_error(error), elsewhere=self._elsewhere))
        else:
            self._digest, self.is_in_sidecar = compute_digest(data), True

    def _read_sidecar(self, path: Path) -> bytes:
        return read_regular_file(path, MIB * self.settings.masks_mb)

    def _parse_sidecar(self, path: Path, data: bytes) -> Recipe:
        """The recipe of a sidecar, within the limits of the server."""
        try:
            recipe = Recipe.from_json(data.decode("utf-8-sig"), folder=path.parent)
        except UnicodeDecodeError:
            raise RecipeError("it is not text") from None
        if len(recipe) > self.settings.steps:
            raise RecipeError(f"it has {len(recipe)} steps, and this page takes {self.settings.steps}")
        if any(step.mask and step.mask.pixels > 1e6 * self.settings.mask_megapixels for step in recipe.steps):
            raise RecipeError(f"a mask has more than {self.settings.mask_megapixels:g} megapixels")
        return recipe

    def _remark_broken(self, path: Path, error: Exception) -> None:
        reason = (error.strerror or "it cannot be read").lower() if isinstance(error, OSError) else str(error)
        reason = reason.replace(f"{path.parent}{os.sep}", "").rstrip(".")
        self._remark(BROKEN.format(name=path.name, reason=reason, elsewhere=self._elsewhere))

    def _remark(self, sentence: str) -> None:
        if sentence not in self.remarks:
            self.remarks.append(sentence)

    @property
    def _elsewhere(self) -> str:
        return _IN_MEMORY if self.folder is None else _KEPT


def compute_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _explain_output_error(error: OutputError) -> str:
    """The reason, without the path."""
    if isinstance(error.__cause__, OSError) and error.__cause__.strerror:
        return error.__cause__.strerror.lower()
    return "the folder or a file in it is read-only"


@dataclass
class KeptSession:
    """The folder of a session in the archive, locked by the server that has the session open."""

    path: Path
    handle: int | None = None

    def list_records(self) -> Iterator[tuple[Path, KeptEdit]]:
        """Uploaded photos and their records, in their order; what was not complete is removed."""
        found = []
        for folder in self.path.iterdir():
            if not (folder / RECORD_FILE).exists():  # the server was killed before the upload was complete
                shutil.rmtree(folder, ignore_errors=True)
            elif (record := read_record(folder)) and record.file and (folder / record.file).is_file():
                found.append((folder, record))
        yield from sorted(found, key=lambda one: one[1].added)

    def close(self) -> None:
        """Let others open it; a folder with nothing in it is removed."""
        with suppress(OSError):
            self.path.rmdir()
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.close()


@dataclass(frozen=True)
class SessionArchive:
    """Sessions that outlive the server, each in a private folder named after a digest of its id."""

    folder: Path
    max_days: float
    max_bytes: int

    @classmethod
    def open(cls, settings: ServerSettings) -> SessionArchive | None:
        """The archive in the folder that is set, or ServerError; None if nothing is kept."""
        if settings.keep is None:
            return None
        try:
            folder = make_private_folder(settings.keep / _SESSIONS)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ServerError(
                f"{settings.keep} cannot keep sessions ({reason}); set T2O_DATA_DIR to another folder, or "
                "give --no-keep"
            ) from error
        return cls(folder, settings.keep_days, MIB * settings.keep_mb)

    def make_served_id(self, given: Sequence[str]) -> str:
        """The id of the session for what is served: the same at every start, and known to this user alone."""
        key = self.folder.parent / _KEY_FILE
        if not key.exists():
            with suppress(OutputError):  # another server has just made one
                write_atomically(key, secrets.token_bytes(32), overwrite=False, private=True)
        digest = hmac.digest(read_regular_file(key, 1024), json.dumps(list(given)).encode(), "sha256")
        return urlsafe_b64encode(digest[:SECRET_BYTES]).decode().rstrip("=")

    def find(self, number: str) -> KeptSession | None:
        """The session of this id, unless another server has it open."""
        return self._lock(self._get_path(number))

    def create(self, number: str) -> KeptSession | None:
        """The folder for a session; None if another server has it open."""
        path = self._get_path(number)
        with refuse_storage_errors():
            path.mkdir(exist_ok=True, mode=_FOLDER_MODE)
        return self._lock(path)

    def _get_path(self, number: str) -> Path:
        return self.folder / hashlib.sha256(number.encode("utf-8", "replace")).hexdigest()[:32]

    def _lock(self, path: Path) -> KeptSession | None:
        if not path.is_dir() or path.is_symlink():
            return None
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except (OSError, AttributeError):  # Windows has no handles of folders, and no locks
            return KeptSession(path)
        if try_lock(handle):
            return KeptSession(path, handle)
        os.close(handle)
        return None

    def sweep(self, in_use: Collection[Path]) -> None:
        """Remove sessions that are too old, then the oldest while all together are too large.

        Sessions `in_use`, and those of other servers, stay.
        """
        with suppress(OSError):
            ages = {path: path.stat().st_mtime for path in self.folder.iterdir()}
            sizes = {path: _measure(path) for path in ages}
            oldest = sorted(ages, key=ages.__getitem__)
            total, end = sum(sizes.values()), time.time() - _DAY * self.max_days
            for path in oldest:
                if path in in_use or not (ages[path] < end or total > self.max_bytes):
                    continue
                if (kept := self._lock(path)) is not None:
                    kept.remove()
                    total -= sizes[path]


def _measure(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118  strings are faster here
    return total

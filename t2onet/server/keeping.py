"""How the edit of a photo outlives the server: in the sidecar of a photo of this machine, and in a record.

A record is in the folder of the photo in the archive. It has what a sidecar does not: the words that led to
each step, the steps that are switched off, the revision.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..editor import Edit
from ..errors import OutputError, RecipeError, T2OError
from ..image import READABLE_SUFFIXES, read_regular_file, write_atomically
from ..options import DEFAULT_MODE, EDITED_SUFFIX, MATCHED_SUFFIX, MODES, Mode
from ..recipe import Recipe, Step
from ..recipe.recipe import find_sidecar, guess_originals, is_file, sidecar_path
from .errors import refuse_storage_errors
from .folders import FOLDER_MODE
from .settings import MIB, ServerSettings

RECORD_FILE = "edit.json"
"""Record of a photo in its folder of the archive."""
BROKEN_RECORD_FILE = "edit.json.broken"
"""A record that could not be read, moved aside so that it is not overwritten."""
_RECORD_VERSION = 1
_RESULT_ENDINGS = (f"-{EDITED_SUFFIX}", f"-{MATCHED_SUFFIX}")
_ORIGINAL_SUFFIXES = (*READABLE_SUFFIXES, *map(str.upper, READABLE_SUFFIXES))
_LOG = logging.getLogger(__name__)


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


READ_ONLY = "Edits cannot be saved beside these photos ({reason}); they are kept {elsewhere} instead."
BROKEN = (
    "{name} cannot be used: {reason}. It stays as it is, and edits are kept {elsewhere}; repair or remove "
    "the file to save edits beside the photo again."
)
BROKEN_RECORD = (
    "The edit that was kept of this photo cannot be read; it is set aside as {name} in the folder "
    "{folder} of the data folder."
)
OPENED = "This photo was opened with the edit that is saved beside it; Undo shows it without."
REPLACED = (
    "{name} was changed outside the darkroom. Its edit is shown; Undo leads back to the one that was here."
)
SavedPlace = Literal["sidecar", "server", "memory"]
_KEPT = "by the server"
_IN_MEMORY = "until the server stops"


@dataclass
class EditKeeper:
    """Keeps the edit of one photo: in its sidecar, and in a record in its folder of the archive.

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
    is_in_sidecar: bool = True
    """Whether the sidecar, if any, has the current edit."""
    _digest: str | None = None
    """Of the sidecar that was read or written last."""

    @property
    def place(self) -> SavedPlace:
        """Where the edit is kept: `sidecar`, `server`, or `memory`."""
        if self.sidecar_of is not None and self.is_in_sidecar:
            return "sidecar"
        return "memory" if self.folder is None else "server"

    def load(self) -> list[KeptEdit]:
        """The edits to continue from, the current one last; two if sidecar and record differ."""
        record = None if self.folder is None else self._read_record(self.folder)
        path = None if self.sidecar_of is None else find_sidecar(self.sidecar_of)
        if self.sidecar_of is None or path is None:
            self.is_in_sidecar = record is None or not record.recipe.steps
            return [record] if record else []
        try:
            data = self._read_sidecar(path)
            digest = compute_digest(data)
            if record is not None and digest in record.sidecars:
                self._digest, self.is_in_sidecar = digest, digest == record.sidecars[-1]
                return [record]
            recipe = self._parse_sidecar(path, data)
        except (OSError, T2OError) as error:
            self._remark_broken(path, error)
            self.is_in_sidecar = False
            return [record] if record else []
        if path == sidecar_path(self.sidecar_of):
            self._digest = digest
        theirs = KeptEdit(self.name, self.file, self.added, recipe=recipe)
        if record is not None:
            theirs = replace(theirs, revision=record.revision + 1)
        if record is None or record.recipe == recipe or not record.recipe.steps:
            self._remark(OPENED)
            return [theirs]
        self._remark(REPLACED.format(name=path.name))
        return [record, theirs]

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
        if self.folder is not None:
            theirs = KeptEdit(self.name, self.file, self.added, revision=revision, recipe=changed.recipe)
            self._write_record(replace(theirs, sidecars=(changed.digest,)))
        self._digest, self.is_in_sidecar = changed.digest, True

    def mark_removed(self, removed: float | None) -> None:
        """Note in the record that the photo was removed from its session, or is back."""
        if self.folder is not None and (record := read_record(self.folder)) is not None:
            self._write_record(replace(record, removed=removed))

    def _read_record(self, folder: Path) -> KeptEdit | None:
        """The record; one that cannot be read is moved aside, so that the next edit does not overwrite it."""
        path = folder / RECORD_FILE
        if (record := read_record(folder)) is None and os.path.lexists(path):
            with refuse_storage_errors("the edit"):
                path.replace(folder / BROKEN_RECORD_FILE)
            self._remark(BROKEN_RECORD.format(name=BROKEN_RECORD_FILE, folder=folder.name))
        return record

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
            self.folder.mkdir(exist_ok=True, mode=FOLDER_MODE)
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
        if found is None and not recipe.steps and find_sidecar(self.sidecar_of) is None:
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


def is_result(photo: Path) -> bool:
    """Whether a photo is where `t2o edit` and `t2o match` put results: its sidecar says how it was made.

    So it is called X-edited or X-edited-2 beside a photo X, or is in a folder X-edited beside a folder X;
    or the same with `-matched`.
    """
    for ending in _RESULT_ENDINGS:
        if any(map(os.path.isdir, guess_originals(photo.parent, ending))):
            return True
        for original in guess_originals(photo.with_suffix(""), ending):
            suffixes = (photo.suffix, *_ORIGINAL_SUFFIXES)
            if any(is_file(original.with_name(f"{original.name}{suffix}")) for suffix in suffixes):
                return True
    return False


def compute_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _explain_output_error(error: OutputError) -> str:
    """The reason, without the path."""
    if isinstance(error.__cause__, OSError) and error.__cause__.strerror:
        return error.__cause__.strerror.lower()
    return "the folder or a file in it is read-only"

"""A photo of a session: its file, its editor and its revision. Pixels are kept elsewhere, or read again."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..editor import Edit, Editor
from ..image import Image, default_suffix, from_array
from ..image.scaling import squeezed
from ..policy import Policy
from ..recipe import Recipe, Step
from .errors import Refused
from .history import place
from .intake import opened
from .previews import Previews
from .settings import Settings

_SUFFIXES = {
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "PNG": (".png",),
    "TIFF": (".tif", ".tiff"),
    "WEBP": (".webp",),
    "AVIF": (".avif",),
    "HEIC": (".heic", ".heif", ".hif"),
}
"""By content: the endings that fit, the usual first."""


@dataclass(frozen=True)
class Facts:
    """What is known of a photo once it was opened."""

    width: int
    height: int
    format: str | None
    bits: int
    notes: tuple[str, ...]


@dataclass
class Photo:
    """One photo. `name` is only shown, `path` is where it lies; `uploaded` ones go with the session."""

    name: str
    path: Path
    uploaded: bool
    settings: Settings
    previews: Previews
    policy: Callable[[], Policy]
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    revision: int = 0
    facts: Facts | None = None
    _editor: Editor | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self) -> Image:
        """The photo at full resolution, from its file."""
        return opened(self.path, self.name, self.settings)

    @property
    def editor(self) -> Editor:
        """Made at the first use, from a small copy: the photo itself does not stay in memory."""
        with self._lock:
            if self._editor is None:
                image = self.open()
                policy = self.policy()
                self._editor = Editor(from_array(squeezed(image, policy.side)), policy)
                self.facts = Facts(
                    image.width, image.height, image.origin.format, image.origin.bits, image.notes
                )
                self.previews.begin(self.id, image)
            return self._editor

    @property
    def recipe(self) -> Recipe:
        """The one that stands."""
        edit = self.editor.current
        return edit.recipe if edit else Recipe()

    @contextmanager
    def changing(self, revision: int) -> Iterator[Editor]:
        """The editor, for one change by whoever has seen the latest; what changed is a new revision."""
        with self._lock:
            editor = self.editor
            if revision != self.revision:
                raise Refused(
                    409,
                    "conflict",
                    f"the photo was changed meanwhile: it is at revision {self.revision}, and the request is "
                    f"about {revision}; read it again",
                    revision=self.revision,
                )
            before = editor.current
            yield editor
            if editor.current is not before:
                self.revision += 1

    def reading(self) -> tuple[int, Edit | None, Editor]:
        """A consistent view: revision, the edit that stands, and the editor."""
        with self._lock:
            return self.revision, self.editor.current, self.editor

    def past(self) -> tuple[int, int, list[Edit]]:
        """A consistent view: revision, place in the history, and all edits of it."""
        with self._lock:
            return self.revision, place(self.editor), self.editor.history

    def history(self) -> list[Step]:
        """All steps that can be gone back or forward to."""
        with self._lock:
            edits = [] if self._editor is None else self._editor.history
            return [step for edit in edits for step in (*edit.recipe.steps, *dict(edit.aside).values())]

    def suffix(self) -> str:
        """The ending of a result in the photo's own format: as it was, where that is true of the content."""
        own = Path(self.name).suffix
        fitting = _SUFFIXES.get((self.facts and self.facts.format) or "")
        if fitting is None:
            return default_suffix(self.path.suffix)
        return own if own.lower() in fitting else fitting[0]

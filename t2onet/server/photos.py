"""Photos of a session: upload, previews, editor, history and revision."""

from __future__ import annotations

import io
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import PIL.Image

from ..editor import Edit, Editor
from ..editor.policy import Policy
from ..errors import ImageError
from ..executor import Pixels, render_stages
from ..image import READABLE_SUFFIXES, Image, choose_output_suffix, image_from_array, open_image
from ..image.formats import TooLargeError, get_suffixes
from ..image.photo import resize_to_square
from ..image.pixels import to_depth, to_uint16
from ..recipe import Recipe, Step
from .errors import OUT_OF_FILES, Refused, invalid_request, too_large
from .settings import ServerSettings

JPEG_QUALITY = 90
_SCREEN_PIXELS = "shown"

PreviewKey = tuple[Hashable, ...]
"""A photo, a size, the steps that were done, and _SHOWN for pixels that are ready to be shown."""


@dataclass
class PreviewCache:
    """Arrays by key, up to so many bytes in all; the one not used for longest goes first."""

    limit: int
    held: int = 0
    _kept: OrderedDict[PreviewKey, Image | Pixels] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, *key: Hashable) -> Image | Pixels | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, *key: Hashable, value: Image | Pixels) -> None:
        with self._lock:
            self._drop(key)
            self._kept[key] = value
            self.held += _count_bytes(value)
            while self.held > self.limit and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))

    def forget(self, *first: Hashable, unless: Callable[[PreviewKey], bool] = lambda key: False) -> None:
        """All keys that begin so."""
        with self._lock:
            for key in [key for key in self._kept if key[: len(first)] == first and not unless(key)]:
                self._drop(key)

    def _drop(self, key: PreviewKey) -> None:
        if (gone := self._kept.pop(key, None)) is not None:
            self.held -= _count_bytes(gone)


def _count_bytes(value: Image | Pixels) -> int:
    return value.pixels.nbytes if isinstance(value, Image) else value.nbytes


@dataclass(frozen=True)
class PreviewRenderer:
    """Pictures for the screen of all photos of a server, `side` pixels long at most."""

    pool: PreviewCache
    side: int
    threads: int

    def shown(self, photo: str, opening: Callable[[], Image], recipe: Recipe, side: int) -> Pixels:
        """(H, W, 3) uint8 in sRGB: a photo after a recipe, its long side `side` pixels or less."""
        steps = tuple(step for step in recipe.steps if not step.is_identity)
        if (found := self.pool.get(photo, side, steps, _SCREEN_PIXELS)) is not None:
            assert isinstance(found, np.ndarray)
            return found
        base = self._base(photo, opening, side)
        start, pixels = self._farthest(photo, side, steps, base)
        rest, begun = Recipe(steps=steps[start:]), base.with_pixels(pixels)
        made = render_stages(rest, begun, last=np.uint8, threads=self.threads, kernels=True)
        for number, stage in enumerate(made[:-1], start=start + 1):
            self.pool.keep(photo, side, steps[:number], value=stage)
        picture = to_screen_pixels(base.with_pixels(made[-1]) if made else base)
        self.pool.keep(photo, side, steps, _SCREEN_PIXELS, value=picture)
        self.pool.forget(photo, side, unless=lambda key: _is_useful_for(steps, key))
        return picture

    def _farthest(self, photo: str, side: int, steps: tuple[Step, ...], base: Image) -> tuple[int, Pixels]:
        """How many of the steps are done in pixels that were kept, and these."""
        for number in range(len(steps) - 1, 0, -1):
            if isinstance(found := self.pool.get(photo, side, steps[:number]), np.ndarray):
                return number, found
        return 0, base.pixels

    def _base(self, photo: str, opening: Callable[[], Image], side: int) -> Image:
        """The photo itself at that size, 16 bits."""
        if isinstance(found := self.pool.get(photo, side), Image):
            return found
        source = opening() if side >= self.side else self._base(photo, opening, self.side)
        base = fit_long_side(source, side)
        base = base.with_pixels(to_uint16(base.pixels))
        self.pool.keep(photo, side, value=base)
        return base

    def begin(self, photo: str, image: Image) -> None:
        """Make the preview of a photo that is open at the moment."""
        self._base(photo, lambda: image, self.side)


def _is_useful_for(steps: tuple[Step, ...], key: PreviewKey) -> bool:
    """Whether what is kept under a key is the photo itself, or of use for these steps."""
    done, *shown = key[2:] or ((),)
    assert isinstance(done, tuple)
    return done in ((), steps) if shown else done == steps[: len(done)]


def fit_long_side(image: Image, side: int) -> Image:
    """The photo with a long side of at most `side` pixels."""
    long, short = max(image.height, image.width), min(image.height, image.width)
    return image if long <= side else image.resized(max(1, short * side // long))


def to_screen_pixels(image: Image) -> Pixels:
    """(H, W, 3) uint8 in sRGB, transparent parts on white."""
    seen = image.to_srgb()
    if seen.alpha is None:
        return seen.pixels
    cover = to_depth(seen.alpha, np.float32)[..., None]
    return to_depth(to_depth(seen.pixels, np.float32) * cover + (1 - cover), np.uint8)


def encode_preview(picture: Pixels) -> bytes:
    """A picture (H, W, 3) uint8 as the browser gets it."""
    stream = io.BytesIO()
    PIL.Image.fromarray(picture).save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()


# Photos of a session: upload, editor, history and revision.

# Bytes from outside -> a photo in a session's folder, or one clear refusal. Names never become paths.

DEFAULT_PHOTO_NAME = "photo"
_MAX_NAME_LENGTH = 100


def to_display_name(given: str) -> str:
    """The last part of a name, fit to be shown and to be given to a download; never a path."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(letter for letter in last if letter.isprintable() and not "\ud800" <= letter <= "\udfff")
    return shown.strip(" .")[-_MAX_NAME_LENGTH:] or DEFAULT_PHOTO_NAME


def get_stored_suffix(name: str) -> str:
    """The ending of a name if it is one of ours, which RAW files are told by; otherwise none."""
    ending = Path(name).suffix.lower()
    return ending if ending in READABLE_SUFFIXES else ""


def open_stored_photo(path: Path, name: str, settings: ServerSettings) -> Image:
    """The photo in a stored file; refusals speak of `name` and of no path."""
    try:
        return open_image(path, max_pixels=1e6 * settings.megapixels)
    except TooLargeError as error:
        size = "more pixels" if error.size is None else "{} x {} pixels, more".format(*error.size)
        raise too_large(
            f"{name} has {size} than the {settings.megapixels:g} megapixels allowed here"
        ) from None
    except ImageError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in OUT_OF_FILES:
            raise cause from None
        if isinstance(cause, OSError) and cause.errno is not None:  # from the system, not from a decoder
            gone = isinstance(cause, FileNotFoundError | NotADirectoryError)
            reason = (
                "; was it moved or deleted?" if gone else f": {(cause.strerror or 'unknown error').lower()}"
            )
            raise ImageError(f"{name} cannot be read any more{reason}") from None
        raise ImageError(str(error).replace(str(path), name)) from None


# What was done to a photo, a line for each edit, and the way back and forth between them.

_MAX_LINE_LENGTH = 80
"""Characters of a line."""


def get_history_position(editor: Editor) -> int:
    """How many of the edits stand: 0 is the photo itself."""
    return next((at for at, edit in enumerate(editor.history, start=1) if edit is editor.current), 0)


def move_in_history(editor: Editor, to: int) -> None:
    """Undo or redo until so many edits stand."""
    most = len(editor.history)
    if not 0 <= to <= most:
        raise invalid_request(
            f"the history of this photo has places 0 to {most}, and {to} was given; read it again"
        )
    while get_history_position(editor) > to:
        editor.undo()
    while get_history_position(editor) < to:
        editor.redo()


def describe_history(edits: Sequence[Edit]) -> Iterator[str]:
    """Each edit as what it did to the one before: the words that were said, or what was done by hand."""
    request, recipe = "", Recipe()
    for edit in edits:
        said = bool(edit.request) and edit.request != request
        line = f"“{edit.request}”" if said else _describe_manual_change(recipe, edit)
        yield line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"
        request, recipe = edit.request, edit.recipe


def _describe_manual_change(before: Recipe, edit: Edit) -> str:
    if edit.turn.strength != 1:
        return f"Strength {100 * edit.turn.strength:.0f} %"
    if not edit.recipe.steps and not edit.aside:
        return "Cleared"
    changes = before.diff(edit.recipe)
    gone = {change.before.operation for change in changes if change.before and not change.after}
    come = {change.after.operation for change in changes if change.after and not change.before}
    off = {step.operation for _, step in edit.aside}
    groups = {
        "moved": gone & come,
        "switched off": (gone - come) & off,
        "removed": gone - come - off,
        "added": come - gone,
        "adjusted": {change.after.operation for change in changes if change.before and change.after},
    }
    done = [f"{', '.join(sorted(names))} {how}" for how, names in groups.items() if names]
    return "; ".join(done).capitalize() or "Adjusted"


# A photo of a session: its file, its editor and its revision. Pixels are kept elsewhere, or read again.


@dataclass(frozen=True)
class PhotoInfo:
    """What is known of a photo once it was opened."""

    width: int
    height: int
    format: str | None
    bits: int
    notes: tuple[str, ...]


@dataclass
class SessionPhoto:
    """One photo. `name` is only shown, `path` is where it lies; `uploaded` ones go with the session."""

    name: str
    path: Path
    uploaded: bool
    settings: ServerSettings
    previews: PreviewRenderer
    policy: Callable[[], Policy]
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    revision: int = 0
    facts: PhotoInfo | None = None
    _editor: Editor | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self) -> Image:
        """The photo at full resolution, from its file."""
        return open_stored_photo(self.path, self.name, self.settings)

    @property
    def editor(self) -> Editor:
        """Made at the first use, from a small copy: the photo itself does not stay in memory."""
        with self._lock:
            if self._editor is None:
                image = self.open()
                policy = self.policy()
                self._editor = Editor(image_from_array(resize_to_square(image, policy.side)), policy)
                self.facts = PhotoInfo(
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
            return self.revision, get_history_position(self.editor), self.editor.history

    def history(self) -> list[Step]:
        """All steps that can be gone back or forward to."""
        with self._lock:
            edits = [] if self._editor is None else self._editor.history
            return [step for edit in edits for step in (*edit.recipe.steps, *dict(edit.aside).values())]

    def suffix(self) -> str:
        """The ending of a result in the photo's own format: as it was, where that is true of the content."""
        own = Path(self.name).suffix
        fitting = get_suffixes(self.facts.format if self.facts else None)
        if not fitting:
            return choose_output_suffix(self.path.suffix)
        return own if own.lower() in fitting else fitting[0]

"""Photos of a session: upload, previews, editor, history and revision."""

from __future__ import annotations

import io
import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..bands import Pixels
from ..editor import Edit, Editor
from ..editor.policy import THUMBNAIL_SIDE, make_thumbnail
from ..errors import ImageError
from ..executor import reframe_image, render_stages
from ..image import Image, choose_output_suffix, has_readable_suffix, image_from_array, open_image
from ..image.formats import TooLargeError, get_suffixes
from ..image.photo import to_picture
from ..image.pixels import flatten_on_white, to_uint16
from ..places import NETWORK_SIDE
from ..recipe import Recipe, Step
from .errors import OUT_OF_FILES, Refused, invalid_request, too_large
from .keeping import EditKeeper, KeptEdit, SidecarChangedError
from .settings import ServerSettings

JPEG_QUALITY = 90
_SCREEN_PIXELS = "shown"

PreviewKey = tuple[Hashable, ...]
"""A photo, a size, the steps that were done, and _SCREEN_PIXELS for pixels ready for the screen."""


@dataclass
class PreviewCache:
    """Pictures by key, at most `limit` bytes in all; the least recently used are dropped first."""

    limit: int
    size: int = 0
    _entries: OrderedDict[PreviewKey, Image | Pixels] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, *key: Hashable) -> Image | Pixels | None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, *key: Hashable, value: Image | Pixels) -> None:
        with self._lock:
            self._drop(key)
            self._entries[key] = value
            self.size += _count_bytes(value)
            while self.size > self.limit and len(self._entries) > 1:
                self._drop(next(iter(self._entries)))

    def drop(self, *prefix: Hashable, unless: Callable[[PreviewKey], bool] = lambda key: False) -> None:
        """Drop all entries whose keys begin with `prefix`."""
        with self._lock:
            for key in [key for key in self._entries if key[: len(prefix)] == prefix and not unless(key)]:
                self._drop(key)

    def _drop(self, key: PreviewKey) -> None:
        if (dropped := self._entries.pop(key, None)) is not None:
            self.size -= _count_bytes(dropped)


def _count_bytes(value: Image | Pixels) -> int:
    return value.pixels.nbytes if isinstance(value, Image) else value.nbytes


@dataclass(frozen=True)
class PreviewRenderer:
    """Renders recipes on screen-size copies of photos, fast enough to follow a slider.

    `side` is the long side of a preview in pixels. The pictures between the steps are cached, at 16 bits, so
    that only the steps after a change are computed again, by the executor that also makes exports.
    """

    cache: PreviewCache
    side: int
    threads: int

    def render(self, photo: str, open_photo: Callable[[], Image], recipe: Recipe, side: int) -> Pixels:
        """(H, W, 3) uint8 in sRGB: a photo, its long side at most `side` pixels, after a recipe."""
        steps = tuple(step for step in recipe.steps if not step.is_identity)
        if (cached := self.cache.get(photo, side, steps, _SCREEN_PIXELS)) is not None:
            assert isinstance(cached, np.ndarray)
            return cached
        base = self.get_base(photo, open_photo, side)
        start, pixels = self._find_farthest(photo, side, steps, base)
        rest, begun = Recipe(steps=steps[start:]), image_from_array(pixels)
        made = render_stages(
            rest,
            begun,
            last=np.uint8,
            opened=base,
            done=steps[:start],
            threads=self.threads,
            kernels=True,
        )
        for number, stage in enumerate(made[:-1], start=start + 1):
            self.cache.put(photo, side, steps[:number], value=stage)
        done = reframe_image(base, steps, made[-1], threads=self.threads, kernels=True) if made else base
        picture = to_screen_pixels(done)
        self.cache.put(photo, side, steps, _SCREEN_PIXELS, value=picture)
        self.cache.drop(photo, side, unless=lambda key: _is_useful_for(steps, key))
        return picture

    def _find_farthest(
        self, photo: str, side: int, steps: tuple[Step, ...], base: Image
    ) -> tuple[int, Pixels]:
        """The cached picture with the most of the steps done, and how many these are."""
        for number in range(len(steps) - 1, 0, -1):
            if isinstance(cached := self.cache.get(photo, side, steps[:number]), np.ndarray):
                return number, cached
        return 0, base.pixels

    def get_base(self, photo: str, open_photo: Callable[[], Image], side: int) -> Image:
        """The photo itself, its long side at most `side` pixels, 16 bits."""
        if isinstance(cached := self.cache.get(photo, side), Image):
            return cached
        source = open_photo() if side >= self.side else self.get_base(photo, open_photo, self.side)
        base = fit_long_side(source, side)
        base = base.with_pixels(to_uint16(base.pixels))
        self.cache.put(photo, side, value=base)
        return base

    def prepare(self, photo: str, image: Image) -> None:
        """Cache the preview of a photo that is open."""
        self.get_base(photo, lambda: image, self.side)


def _is_useful_for(steps: tuple[Step, ...], key: PreviewKey) -> bool:
    """Whether a cached picture is the photo itself or a stage of these steps."""
    done, *shown = key[2:] or ((),)
    assert isinstance(done, tuple)
    return done in ((), steps) if shown else done == steps[: len(done)]


def find_source_side(photo: PhotoInfo, recipe: Recipe, side: int) -> int:
    """The long side that a photo needs before a recipe, so that it has `side` pixels after it."""
    before = max(photo.height, photo.width)
    after = max(recipe.size_after(photo.height, photo.width))
    return side if before == after else min(math.ceil(side * before / after), before)


def fit_long_side(image: Image, side: int) -> Image:
    """Scale a photo down to a long side of at most `side` pixels."""
    long, short = max(image.height, image.width), min(image.height, image.width)
    return image if long <= side else image.resize(max(1, short * side // long))


def _shrink(image: Image) -> Image:
    """A copy in sRGB as small as places can be found on."""
    return image_from_array(fit_long_side(image, NETWORK_SIDE).to_srgb().pixels)


def to_screen_pixels(image: Image) -> Pixels:
    """(H, W, 3) uint8 in sRGB, transparent parts on white."""
    seen = image.to_srgb()
    return seen.pixels if seen.alpha is None else flatten_on_white(seen.pixels, seen.alpha)


def encode_preview(picture: Pixels) -> bytes:
    """A picture (H, W, 3) uint8 as JPEG."""
    stream = io.BytesIO()
    to_picture(picture).save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()


DEFAULT_PHOTO_NAME = "photo"
_MAX_NAME_LENGTH = 100


def to_display_name(given: str) -> str:
    """The last part of a name, safe to show and to use for a download; never a path."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(letter for letter in last if letter.isprintable() and not "\ud800" <= letter <= "\udfff")
    return shown.strip(" .")[-_MAX_NAME_LENGTH:] or DEFAULT_PHOTO_NAME


def get_stored_suffix(name: str) -> str:
    """The suffix of a name if it is one that can be read (RAW files are recognised by it); otherwise none."""
    return Path(name).suffix.lower() if has_readable_suffix(name) else ""


def open_stored_photo(path: Path, name: str, settings: ServerSettings) -> Image:
    """Open a stored photo; errors give its `name` instead of its path."""
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


_MAX_LINE_LENGTH = 80
"""Longest line of the history, in characters."""


def get_history_position(editor: Editor) -> int:
    """Number of edits that are applied; 0 is the photo itself."""
    return next((at for at, edit in enumerate(editor.history, start=1) if edit is editor.current), 0)


def move_in_history(editor: Editor, to: int) -> None:
    """Undo or redo until `to` edits are applied."""
    last = len(editor.history)
    if not 0 <= to <= last:
        raise invalid_request(
            f"the history of this photo has places 0 to {last}, and {to} was given; read it again"
        )
    while get_history_position(editor) > to:
        editor.undo()
    while get_history_position(editor) < to:
        editor.redo()


def describe_history(edits: Sequence[Edit]) -> Iterator[str]:
    """A line for each edit: the request, or the change that was made by hand."""
    request, recipe = "", Recipe()
    for edit in edits:
        is_new_request = bool(edit.request) and edit.request != request
        line = f"“{edit.request}”" if is_new_request else _describe_manual_change(recipe, edit)
        yield line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"
        request, recipe = edit.request, edit.recipe


def _describe_manual_change(before: Recipe, edit: Edit) -> str:
    if edit.turn.strength != 1:
        return f"Strength {100 * edit.turn.strength:.0f} %"
    if not edit.recipe.steps and not edit.aside:
        return "Cleared"
    changes = before.diff(edit.recipe)
    removed = {change.before.operation for change in changes if change.before and not change.after}
    added = {change.after.operation for change in changes if change.after and not change.before}
    off = {step.operation for _, step in edit.aside}
    groups = {
        "moved": removed & added,
        "switched off": (removed - added) & off,
        "removed": removed - added - off,
        "added": added - removed,
        "adjusted": {change.after.operation for change in changes if change.before and change.after},
    }
    done = [f"{', '.join(sorted(names))} {how}" for how, names in groups.items() if names]
    return "; ".join(done).replace("_", " ").capitalize() or "Adjusted"


_SIDECAR_CHANGED = (
    "the recipe beside the photo was changed by another program meanwhile; its edit is shown, and undo leads "
    "back; make your change again"
)


def _resume(editor: Editor, kept: KeptEdit) -> None:
    if kept.recipe.steps or kept.aside:
        editor.resume(
            kept.recipe,
            request=kept.request,
            mode=kept.mode,
            because=kept.because,
            helpers=kept.helpers,
            aside=kept.aside,
        )


@dataclass(frozen=True)
class PhotoInfo:
    """Properties of a photo that are known once it was opened."""

    width: int
    height: int
    format: str | None
    bits: int
    notes: tuple[str, ...]


@dataclass
class SessionPhoto:
    """A photo with its editor and revision. Its pixels are not kept in memory.

    `name` is shown to people, `path` is the file; uploaded files outlive the session if it is kept.
    """

    name: str
    path: Path
    uploaded: bool
    settings: ServerSettings
    previews: PreviewRenderer
    keeper: EditKeeper
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    revision: int = 0
    info: PhotoInfo | None = None
    _editor: Editor | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self) -> Image:
        """Read the photo at full resolution from its file."""
        return open_stored_photo(self.path, self.name, self.settings)

    def open_editor(self) -> Editor:
        """The editor. The first call opens the photo, and keeps only a small copy of it in memory."""
        with self._lock:
            if self._editor is None:
                image = self.open()
                editor = Editor(_shrink(image), reader=self.settings.reader)
                editor.picture = make_thumbnail(image, THUMBNAIL_SIDE)
                for kept in self.keeper.load():
                    self.revision = kept.revision
                    _resume(editor, kept)
                self._editor = editor
                self.info = PhotoInfo(
                    image.width, image.height, image.origin.format, image.origin.bits, image.notes
                )
                self.previews.prepare(self.id, image)
            return self._editor

    @property
    def recipe(self) -> Recipe:
        """The recipe of the current edit."""
        edit = self.open_editor().current
        return edit.recipe if edit else Recipe()

    @contextmanager
    def change(self, revision: int) -> Iterator[Editor]:
        """The editor, for one change by a client that has seen this revision; makes a new revision.

        The edit is kept before the change counts; if it cannot be, nothing is changed.
        """
        with self._lock:
            editor = self.open_editor()
            if revision != self.revision:
                raise Refused(
                    409,
                    "conflict",
                    f"the photo was changed meanwhile: it is at revision {self.revision}, and the request is "
                    f"about {revision}; read it again",
                    revision=self.revision,
                )
            before = editor.current
            try:
                with editor.restore_on_error():
                    yield editor
                    if editor.current is before:
                        return
                    self.keeper.save(editor.current, self.revision + 1)
            except SidecarChangedError as changed:
                self._take_over(editor, changed)
                raise Refused(409, "conflict", _SIDECAR_CHANGED, revision=self.revision) from None
            self.revision += 1

    def _take_over(self, editor: Editor, changed: SidecarChangedError) -> None:
        """Show what another program wrote to the sidecar; undo leads back to the edit that was here."""
        self.keeper.follow(changed, self.revision + 1)
        editor.put(changed.recipe, new=True)
        self.revision += 1

    def mark_removed(self, removed: float | None) -> None:
        """Keep that the photo was removed at this time, or is back."""
        with self._lock:
            self.keeper.mark_removed(removed)

    def snapshot(self) -> tuple[int, Edit | None, Editor]:
        """A consistent view: revision, current edit and editor."""
        with self._lock:
            return self.revision, self.open_editor().current, self.open_editor()

    def get_history(self) -> tuple[int, int, list[Edit]]:
        """A consistent view: revision, position in the history, and all edits of the history."""
        with self._lock:
            return self.revision, get_history_position(self.open_editor()), self.open_editor().history

    def list_history_steps(self) -> list[Step]:
        """The steps of all edits that undo and redo lead to."""
        with self._lock:
            edits = [] if self._editor is None else self._editor.history
            return [step for edit in edits for step in (*edit.recipe.steps, *dict(edit.aside).values())]

    def get_output_suffix(self) -> str:
        """The suffix of a result in the photo's format: its own suffix if that matches the content."""
        own = Path(self.name).suffix
        fitting = get_suffixes(self.info.format if self.info else None)
        if not fitting:
            return choose_output_suffix(self.path.suffix)
        return own if own.lower() in fitting else fitting[0]

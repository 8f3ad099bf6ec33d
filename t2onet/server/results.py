"""Files created for a visitor: edited photos, recipes and colour tables, in a folder of the session."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import T2OError
from ..executor import Cancel, apply
from ..looks import export as export_look
from ..recipe import Recipe
from ..recipe.sidecar import sidecar_path
from .disconnects import client_gone
from .errors import Refused, storing
from .photos import Photo
from .recipes import check_work
from .schemas import Export
from .sessions import Session

_LOOKS = {"cube": ".cube", "hald": ".png"}


@dataclass(frozen=True)
class Result:
    """A file that waits to be fetched, and the name it is given then."""

    name: str
    path: Path
    notes: tuple[str, ...]
    bytes: int = 0
    id: str = field(default_factory=lambda: secrets.token_hex(8))


def made(session: Session, photo: Photo, recipe: Recipe, wanted: Export) -> Result:
    """Create a result and keep it in the session until newer ones replace it."""
    session.usage.check()
    folder = session.place()
    try:
        result = _made(folder, photo, recipe, wanted)
        result = replace(result, bytes=result.path.stat().st_size)
        session.usage.add(folder, result.bytes)
    except BaseException:
        session.discard(folder)
        raise
    with session.lock:
        session.results[result.id] = result
        while len(session.results) > session.settings.exports:
            oldest = session.results.pop(next(iter(session.results)))
            session.discard(oldest.path.parent)
    return result


def _made(folder: Path, photo: Photo, recipe: Recipe, wanted: Export) -> Result:
    stem = Path(photo.name).stem
    if wanted.kind == "photo":
        return edited(folder / "result", photo, recipe, format=wanted.format, quality=wanted.quality)
    if wanted.kind == "recipe":
        name = sidecar_path(Path(_edited_name(photo, wanted.format))).name
        place = folder / "result.json"
        with _saving(place, name):
            return Result(name, recipe.save(place), ())
    ending = _LOOKS[wanted.kind]
    look = recipe if recipe.name else recipe.model_copy(update={"name": stem})
    place = folder / f"result{ending}"
    with _saving(place, f"{stem}{ending}"):
        done = export_look(look, place, size=wanted.size)
    levels = f"{done.fidelity.mean:.2f} of 255 levels on average, {done.fidelity.worst:.1f} at worst"
    notes = (f"the table differs from the recipe by {levels}", *done.notes)
    return Result(f"{stem}{ending}", done.path, notes)


def _edited_name(photo: Photo, format: str | None) -> str:
    ending = f".{format}" if format else photo.suffix()
    return f"{Path(photo.name).stem}-edited{ending}"


def edited(
    place: Path,
    photo: Photo,
    recipe: Recipe,
    *,
    format: str | None = None,
    quality: int | None = None,
    progress: Callable[[float], None] | None = None,
    cancel: Cancel | None = None,
) -> Result:
    """A photo after a recipe at full resolution, as `place` with the ending of its format."""
    name = _edited_name(photo, format)
    image = photo.open()
    check_work(recipe, image.width * image.height, photo.settings)
    image = apply(recipe, image, kernels=True, progress=progress, cancel=cancel or client_gone())
    target = place.with_suffix(Path(name).suffix.lower())
    with _saving(target, name):
        saved = image.save(target, quality=quality)
    return Result(name, saved.path, saved.notes)


@contextmanager
def _saving(path: Path, name: str) -> Iterator[None]:
    """Around code that writes a result: refusals give its `name` instead of its path on the server."""
    try:
        with storing(name):
            yield
    except Refused:
        raise
    except T2OError as error:
        words = str(error).replace(str(path), name).replace(str(path.parent), "the session's folder")
        raise type(error)(words) from error.__cause__

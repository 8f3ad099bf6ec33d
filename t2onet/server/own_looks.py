"""Looks that users saved under names of their own: recipe files in the user's data folder."""

from __future__ import annotations

import logging
import os
import re
import threading
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from ..errors import LookError, RecipeError
from ..image import write_atomically
from ..recipe import Recipe
from ..recipe.looks import find_look
from .errors import Refused, not_found, refuse_storage_errors, too_many
from .folders import make_private_folder
from .settings import ServerSettings

_FOLDER = "looks"
_MAX_NAME_LENGTH = 60
_LOG = logging.getLogger(__name__)


@dataclass
class OwnLooks:
    """The saved looks by name, also those of earlier runs; without a folder, those of this run alone."""

    settings: ServerSettings
    _in_memory: dict[str, Recipe] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def _folder(self) -> Path | None:
        return None if self.settings.keep is None else self.settings.keep / _FOLDER

    def list_all(self) -> list[Recipe]:
        """All saved looks, by name; files that cannot be read are left out."""
        found = [*self._in_memory.values(), *self._load_files().values()]
        return sorted(found, key=lambda one: one.name.casefold())

    def _load_files(self) -> dict[Path, Recipe]:
        """The looks in the folder, which need not have the names of their files."""
        found = {}
        if self._folder is not None and self._folder.is_dir():
            for path in sorted(self._folder.glob("*.json")):
                try:
                    look = Recipe.load(path)
                except RecipeError as error:
                    _LOG.warning("%s", error)
                    continue
                if look.name:
                    found[path] = look
        return found

    def save(self, name: str, recipe: Recipe) -> tuple[Recipe, list[str]]:
        """Save a recipe as a look. Returns it, and what was left out because it belongs to one photo."""
        name = " ".join(name.split())
        slug = _to_slug(name)
        _check_name(name, slug)
        left_out = [step for step in recipe.steps if step.mask is not None or step.is_geometry]
        steps = tuple(step for step in recipe.steps if step not in left_out)
        if not steps:
            raise LookError("this edit has no steps that another photo could use; make an edit first")
        look = recipe.model_copy(update={"name": name, "steps": steps})
        with self._lock:
            if any(_to_slug(one.name) == slug for one in self.list_all()):
                raise Refused(
                    409,
                    "exists",
                    f"there is a look {name!r} already; choose another name, or remove it first",
                )
            if len(self.list_all()) >= self.settings.looks:
                raise too_many(f"at most {self.settings.looks} looks are saved here; remove some")
            self._write(slug, look)
        notes = [f"{step.format_settings()} is left out: it belongs to this photo" for step in left_out]
        return look, notes

    def remove(self, name: str) -> None:
        slug = _to_slug(name)
        with self._lock:
            paths = [path for path, look in self._load_files().items() if _to_slug(look.name) == slug]
            if self._in_memory.pop(slug, None) is None and not paths:
                raise not_found("look")
            with refuse_storage_errors("the change"):
                for path in paths:
                    path.unlink(missing_ok=True)

    def _write(self, slug: str, look: Recipe) -> None:
        if self._folder is None:
            self._in_memory[slug] = look
            return
        with refuse_storage_errors("the look"):
            folder = make_private_folder(self._folder)
            names = chain([f"{slug}.json"], (f"{slug}-{number}.json" for number in count(2)))
            path = next(folder / name for name in names if not os.path.lexists(folder / name))
            write_atomically(path, look.to_json().encode(), overwrite=False, private=True)


def _to_slug(name: str) -> str:
    """The words of a name as the name of a file: "my-evening-look"."""
    return "-".join(re.findall(r"[^\W_]+", name.casefold()))


def _check_name(name: str, slug: str) -> None:
    if not slug:
        raise LookError("a look needs a name with letters or digits; give one")
    if len(slug) > _MAX_NAME_LENGTH or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise LookError(f"the name of a look has at most {_MAX_NAME_LENGTH} letters; give a shorter one")
    if "/" in name or "\\" in name:
        raise LookError("the name of a look has no slashes; give another one")
    try:
        find_look(name)
    except RecipeError:
        return
    raise LookError(f"{name!r} is a look of the package; choose another name")

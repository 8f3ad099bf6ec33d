"""The named looks that come with the package, as data in `looks.json`; nothing here reads a photo."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import RecipeError
from ..operations import Attribute
from .recipe import Recipe, derive_look_name, is_file

LOOKS_FILE = Path(__file__).with_name("looks.json")
_KEYS, _OPTIONAL_KEYS = {"name", "family", "description", "steps"}, {"moves"}


@dataclass(frozen=True)
class Look:
    """A recipe for any photo, with a line about the picture it makes.

    `moves` are the attributes that it is known for, each with its direction, 1 or -1.
    """

    name: str
    family: str
    description: str
    recipe: Recipe
    moves: Mapping[Attribute, int]

    @property
    def slug(self) -> str:
        """The name as part of a file name: "teal-and-orange"."""
        return "-".join(_split_words(self.name))


@cache
def _read_looks() -> Mapping[str, Look]:
    entries = json.loads(LOOKS_FILE.read_text(encoding="utf-8"))
    return {entry["name"]: _parse_look(entry) for entry in entries}


def _parse_look(entry: dict[str, Any]) -> Look:
    if entry.keys() - _OPTIONAL_KEYS != _KEYS:
        raise RecipeError(f"a look has {', '.join(sorted(_KEYS))}, and one has {', '.join(entry)}")
    recipe = Recipe.from_steps([tuple(step) for step in entry["steps"]], name=entry["name"])
    moves = {Attribute(move[:-1]): {"+": 1, "-": -1}[move[-1]] for move in entry.get("moves", ())}
    return Look(entry["name"], entry["family"], entry["description"], recipe, moves)


def looks() -> Mapping[str, Look]:
    """All named looks by name, those of a family together."""
    return dict(_read_looks())


def find_look(name: str) -> Look:
    """The look of this name in any spelling ("Teal-and-Orange"), or an error that suggests near ones."""
    if (look := _match_look(name)) is not None:
        return look
    raise RecipeError(f"there is no look {name!r:.60}; {_suggest_looks(name)}")


def load_recipe(given: str | Path) -> Recipe:
    """A recipe from its JSON file or, where no file has this name, the look of this name."""
    path = Path(given)
    if not is_file(path):
        if (look := _match_look(str(given))) is not None:
            return look.recipe
        if not (path.suffix or len(path.parts) != 1 or path.is_dir()):
            raise RecipeError(
                f"{path} is neither a file nor the name of a look; {_suggest_looks(str(given))}"
            )
    return Recipe.load(path)


def derive_result_name(given: Path) -> str:
    """What results made with this recipe or look are called: `silver` for silver.json, `high-key`."""
    look = None if is_file(given) else _match_look(str(given))
    return derive_look_name(given) if look is None else look.slug


def _match_look(name: str) -> Look | None:
    words = _split_words(name)
    return next((look for look in _read_looks().values() if _split_words(look.name) == words), None)


def _suggest_looks(name: str) -> str:
    near = _find_near_names(_split_words(name))
    return f"did you mean {' or '.join(map(repr, near))}?" if near else "`t2o looks` lists all looks"


def _split_words(name: str) -> list[str]:
    """The words of a name; none if it has anything but words and what stands between them."""
    plain = name.lower().replace("&", " and ")
    return re.findall(r"[^\W_]+", plain) if re.fullmatch(r"[\w\s-]+", plain) else []


def _find_near_names(words: list[str]) -> list[str]:
    """At most three names that share a word with the given ones, or are spelt like them."""
    names = {" ".join(_split_words(name)): name for name in _read_looks()}
    spelt = get_close_matches(" ".join(words), names, n=3, cutoff=0.7)
    known = {word for key in names for word in key.split()} - {"and"}
    meant = {near for word in words for near in get_close_matches(word, known, n=1, cutoff=0.75)}
    shared = [key for key in names if meant & set(key.split())]
    return [names[key] for key in dict.fromkeys([*spelt, *shared])][:3]

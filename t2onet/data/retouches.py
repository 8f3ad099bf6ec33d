"""Find the photos and their edits in a retoucher's folders, by name.

Two folders hold files of the same names, whatever their suffixes; so do the two subfolders of one folder, by
the names below. In a single folder, the mark at the end of a name says which file is the edit: `x.jpg` and
`x-edited.jpg`, `0001_O.webp` and `0001_C.webp`, and without marks the RAW file is the photo: `IMG_1.CR2` and
`IMG_1.jpg`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..editor.learning import PairFiles
from ..errors import DataError
from ..image import RAW_SUFFIXES
from .dataset import Problem, list_photo_names

BEFORE_FOLDERS = ("before", "original", "originals", "input", "inputs", "raw", "raws", "unedited")
AFTER_FOLDERS = (
    *("after", "edited", "edits", "edit", "retouched", "export", "exports", "exported"),
    *("output", "outputs", "final", "finals", "results"),
)
"""Names of the two subfolders, in any case."""
_AFTER_MARK = re.compile(
    r"(?:[-_ .]+\(?(?:edited|edit|after|retouched|exported|export|final)\)?|_[A-E])$", re.I
)
_BEFORE_MARK = re.compile(r"(?:[-_ .]+\(?(?:original|orig|before|unedited|raw)\)?|_O)$", re.I)
_EXPECTED = "before/ and after/ with files of the same names, or x.jpg beside x-edited.jpg or x.cr2"


def find_retouches(before: Path, after: Path | None = None) -> tuple[list[PairFiles], list[Problem]]:
    """The pairs in one folder or two, sorted by name, and which photos have no partner."""
    for folder in (before, after):
        if folder is not None and not folder.is_dir():
            raise DataError(
                f"{folder} is no folder; give a folder of pairs, or the two of the photos and edits"
            )
    problems: list[Problem] = []
    try:
        pairs = list(_find_pairs(before, after, problems))
    except OSError as error:
        raise DataError(
            f"{error.filename} cannot be listed ({error.strerror}); check its permissions"
        ) from None
    if not pairs:
        where = f"{before} and {after} have" if after else f"{before} has"
        raise DataError(f"{where} no pair of a photo and its edit; expected are {_EXPECTED}")
    return pairs, problems


def _find_pairs(before: Path, after: Path | None, problems: list[Problem]) -> Iterator[PairFiles]:
    """The pairs of two folders, of the subfolders of one, or in one folder."""
    sides = (before, after) if after is not None else _find_sides(before)
    return _match_names(before, problems) if sides is None else _match_folders(*sides, problems)


def _find_sides(folder: Path) -> tuple[Path, Path] | None:
    """The two subfolders with photos and edits, if there is exactly one of each."""
    named = {path.name.casefold(): path for path in sorted(folder.iterdir()) if path.is_dir()}
    sides = [[named[name] for name in names if name in named] for names in (BEFORE_FOLDERS, AFTER_FOLDERS)]
    if all(len(side) == 1 for side in sides):
        return sides[0][0], sides[1][0]
    return None


def _match_folders(before: Path, after: Path, problems: list[Problem]) -> Iterator[PairFiles]:
    """Pairs of one name in two folders; an edit may have a mark after it."""
    photos, edits = _list_by_key(before, _BEFORE_MARK), _list_by_key(after, _AFTER_MARK)
    for key in sorted({*photos, *edits}):
        yield from _pair_up(photos.get(key, []), edits.get(key, []), problems)


def _list_by_key(folder: Path, mark: re.Pattern[str]) -> dict[str, list[Path]]:
    """Photos of a folder by their name without suffix and mark, in lower case."""
    found: dict[str, list[Path]] = defaultdict(list)
    for name in list_photo_names(folder):
        stem = Path(name).stem
        found[(mark.sub("", stem) or stem).casefold()].append(folder / name)
    return found


def _match_names(folder: Path, problems: list[Problem]) -> Iterator[PairFiles]:
    """Pairs in one folder, told apart by marks or as RAW files."""
    groups: dict[str, list[list[Path]]] = defaultdict(lambda: [[], [], []])
    for name in list_photo_names(folder):
        stem = Path(name).stem
        kind = 1 if _AFTER_MARK.search(stem) else 0 if _BEFORE_MARK.search(stem) else 2
        key = (_BEFORE_MARK if kind == 0 else _AFTER_MARK).sub("", stem) or stem
        groups[key.casefold()][kind].append(folder / name)
    for _, (originals, edits, plain) in sorted(groups.items()):
        raw = [path for path in plain if path.suffix.lower() in RAW_SUFFIXES]
        others = [path for path in plain if path not in raw]
        photos = originals or raw
        if photos and not edits:
            yield from _pair_up(photos, others, problems)
        else:
            yield from _pair_up(photos or others, edits, problems)


def _pair_up(photos: Sequence[Path], edits: Sequence[Path], problems: list[Problem]) -> Iterator[PairFiles]:
    """The pair of a photo and an edit; a problem if one is missing, or there are several."""
    if len(photos) == 1 and len(edits) == 1:
        yield PairFiles(photos[0].stem, photos[0], edits[0])
        return
    name = (photos or edits)[0].name
    if len(photos) > 1 or len(edits) > 1:
        names = ", ".join(path.name for path in (*photos, *edits))
        problems.append(Problem(name, "several photos or edits of one name", names))
    else:
        problems.append(Problem(name, "no edit of that name" if photos else "no original of that name"))

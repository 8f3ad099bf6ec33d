"""Find the photos and their edits in a retoucher's folders, by name.

Two folders hold files of the same names, whatever their suffixes; so do the two subfolders of one folder, by
the names below. In a single folder, and for names that are in one of two folders only, the mark at the end of
a name says which file is the edit: `x.jpg` and `x-edited.jpg`, or `0001_O.webp` and `0001_C.webp`, where `_C`
is a mark only beside an `_O`. Without marks the RAW file is the photo: `IMG_1.CR2` and `IMG_1.jpg`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
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
_AFTER_MARK = re.compile(r"[-_ .]+\(?(?:edited|edit|after|retouched|exported|export|final)\)?$", re.I)
_BEFORE_MARK = re.compile(r"[-_ .]+\(?(?:original|orig|before|unedited|raw)\)?$", re.I)
_ORIGINAL_LETTER, _EXPERT_LETTER = re.compile("(.+)_O"), re.compile("(.+)_[A-E]")
"""Names of a photo, and of its edits by five experts; marks only together, as other names end so too."""
_EXPECTED = "before/ and after/ with files of the same names, or x.jpg beside x-edited.jpg or x.cr2"


def find_retouches(before: Path, after: Path | None = None) -> tuple[list[PairFiles], list[Problem]]:
    """The pairs in one folder or two, sorted by name, and which photos have no partner."""
    for folder in (before, after):
        if folder is not None and not folder.is_dir():
            raise DataError(
                f"{folder} is not a folder; give a folder of pairs, or the two of the photos and edits"
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
    pairs.sort(key=lambda pair: pair.name.casefold())
    return pairs, sorted(problems, key=lambda problem: problem.name.casefold())


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
    """Pairs of one name in two folders; of what is left, those of one name without its mark."""
    photos, edits = ([folder / name for name in list_photo_names(folder)] for folder in (before, after))
    for photo_key, edit_key in (
        (_fold_stem, _fold_stem),
        (_strip_before_mark, _strip_after_mark),
        (_strip_original_letter, _strip_expert_letter),
    ):
        originals, edited = _group_by(photo_key, photos), _group_by(edit_key, edits)
        both = originals.keys() & edited.keys()
        for key in both:
            yield from _pair_up(originals[key], edited[key], problems)
        photos = [path for path in photos if photo_key(path) not in both]
        edits = [path for path in edits if edit_key(path) not in both]
    for alone in _group_by(_strip_before_mark, photos).values():
        yield from _pair_up(alone, [], problems)
    for alone in _group_by(_strip_after_mark, edits).values():
        yield from _pair_up([], alone, problems)


def _match_names(folder: Path, problems: list[Problem]) -> Iterator[PairFiles]:
    """Pairs in one folder, by marks or as RAW files; of what is left, by the letters of experts."""
    files = [folder / name for name in list_photo_names(folder)]
    alone: list[Path] = []
    for group in _group_by(_strip_mark, files).values():
        if len(group) == 1:
            alone += group
            continue
        edits = [path for path in group if _AFTER_MARK.search(path.stem)]
        originals = [path for path in group if path not in edits and _BEFORE_MARK.search(path.stem)]
        plain = [path for path in group if path not in edits and path not in originals]
        raw = [path for path in plain if path.suffix.lower() in RAW_SUFFIXES]
        others = [path for path in plain if path not in raw]
        photos = originals or raw
        if photos and not edits:
            yield from _pair_up(photos, others, problems)
        else:
            yield from _pair_up(photos or others, edits, problems)
    originals_by_name = _group_by(_strip_original_letter, alone)
    edits_by_name = _group_by(_strip_expert_letter, alone)
    for key in originals_by_name.keys() & edits_by_name.keys():
        photos, edits = originals_by_name[key], edits_by_name[key]
        yield from _pair_up(photos, edits, problems)
        alone = [path for path in alone if path not in photos and path not in edits]
    for path in alone:
        is_edit = _AFTER_MARK.search(path.stem) is not None
        yield from _pair_up(*(([], [path]) if is_edit else ([path], [])), problems)


def _group_by(key: Callable[[Path], str | None], files: Sequence[Path]) -> dict[str, list[Path]]:
    """Files by a key; those without one are left out."""
    groups: dict[str, list[Path]] = defaultdict(list)
    for path in files:
        if (name := key(path)) is not None:
            groups[name].append(path)
    return groups


def _fold_stem(path: Path) -> str:
    return path.stem.casefold()


def _strip_before_mark(path: Path) -> str:
    return (_BEFORE_MARK.sub("", path.stem) or path.stem).casefold()


def _strip_after_mark(path: Path) -> str:
    return (_AFTER_MARK.sub("", path.stem) or path.stem).casefold()


def _strip_mark(path: Path) -> str:
    return _strip_after_mark(path) if _AFTER_MARK.search(path.stem) else _strip_before_mark(path)


def _strip_original_letter(path: Path) -> str | None:
    found = _ORIGINAL_LETTER.fullmatch(path.stem)
    return found[1].casefold() if found else None


def _strip_expert_letter(path: Path) -> str | None:
    found = _EXPERT_LETTER.fullmatch(path.stem)
    return found[1].casefold() if found else None


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

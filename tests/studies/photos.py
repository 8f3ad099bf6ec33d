"""Studies of real photos, small enough for a browser test."""

from __future__ import annotations

import csv
from pathlib import Path

import PIL.Image
from PIL import ImageEnhance

from tests.conftest import EXAMPLES

_EDITS = {
    "target": (ImageEnhance.Brightness, 1.25),
    "ours": (ImageEnhance.Color, 1.5),
    "gan": (ImageEnhance.Contrast, 0.6),
    "other": (ImageEnhance.Sharpness, 4.0),
}
REQUEST = "a bit brighter & <i>warmer</i>, please"


def _photos(count: int) -> list[tuple[str, PIL.Image.Image]]:
    found = []
    for path in sorted(EXAMPLES.glob("*.jpg"))[:count]:
        with PIL.Image.open(path) as file:
            file.thumbnail((900, 900))
            found.append((path.stem, file.convert("RGB")))
    return found


def photo_table(folder: Path, count: int) -> Path:
    """A table of edits of the example photos."""
    rows = []
    for name, photo in _photos(count):
        photo.save(folder / f"{name}.jpg")
        for system, (enhance, amount) in _EDITS.items():
            enhance(photo).enhance(amount).save(folder / f"{name}-{system}.jpg")
        rows.append([f"{name}.jpg", REQUEST, *(f"{name}-{system}.jpg" for system in _EDITS)])
    path = folder / "photos.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["input", "request", *_EDITS], *rows])
    return path


def photo_pairs(folder: Path, count: int) -> Path:
    """A folder of pairs of the example photos; of the first is known what can be said."""
    for side in ("before", "after"):
        (folder / side).mkdir(parents=True)
    names = []
    for name, photo in _photos(count):
        photo.save(folder / "before" / f"{name}.jpg")
        ImageEnhance.Brightness(photo).enhance(1.4).save(folder / "after" / f"{name}.jpg")
        names.append(name)
    (folder / "requests.csv").write_text(f"name,request\n{names[0]},much brighter\n", encoding="utf-8")
    return folder

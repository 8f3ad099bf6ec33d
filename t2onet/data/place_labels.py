"""Photos with masks of places: packed from FiveK photos with masks of teachers, and from COCO panoptic.

`pack_places` writes small arrays. A level of a mask is 0 to 254, and UNKNOWN where nobody says: each source
knows some places only. Presence is 1, 0, or -1 where it is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from ..errors import DataError
from ..inference import CHANNELS

PHOTO_SIDE, MASK_SIDE = 256, 128
"""Photos and masks are squashed to squares, as the FiveK photos at hand are."""
UNKNOWN = 255
FULL = 254
LEAST_SEEN = 0.01
"""Share of the photo from which on a place is there."""
FOLDS = 5

COCO_CATEGORIES = {
    "sky": (187,),
    "person": (1,),
    "vegetation": (184, 193, 119),
    "water": (148, 155, 178),
    "building": (128, 151, 197),
    "ground": (118, 125, 144, 145, 147, 149, 154, 159, 190, 191, 194),
}
"""Categories of COCO panoptic that make up a place."""
COCO_UNCLEAR = {
    "vegetation": (64, 107, 122, 145, 192),
    "water": (),
    "building": (95, 112, 166, 171, 175, 180, 181, 185, 199),
    "ground": (192, 193, 198, 200),
}
"""Those that may or may not be counted to it: a potted plant, a brick wall, rocks."""


@dataclass(frozen=True)
class PlaceSet:
    """Packed photos and masks; arrays are mapped from their files."""

    names: list[str]
    splits: list[str]
    """train, val or coco."""
    photos: np.ndarray
    """(N, PHOTO_SIDE, PHOTO_SIDE, 3) uint8."""
    masks: np.ndarray
    """(N, CHANNELS, MASK_SIDE, MASK_SIDE) uint8."""
    presence: np.ndarray
    """(N, CHANNELS) int8."""

    @classmethod
    def load(cls, folder: Path) -> PlaceSet:
        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            arrays = [
                np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("photos", "masks", "presence")
            ]
        except OSError as error:
            raise DataError(f"{folder} is not what `places pack` wrote: {error}") from None
        return cls(about["names"], about["splits"], *arrays)

    def list_rows(self, split: str, fold: int | None = None, *, held: bool = False) -> list[int]:
        """Rows of a split; with a fold those that it trains on, or those that it holds back."""
        rows = [row for row, one in enumerate(self.splits) if one == split]
        if fold is None:
            return rows
        return [row for number, row in enumerate(rows) if (number % FOLDS == fold) is held]


def pack_places(data: Path, teachers: Path, marks: Path, folder: Path) -> int:
    """Write a PlaceSet; returns how many photos it has.

    `teachers` has a folder for each place, with masks as PNG named like the photos. `marks` says by place and
    name whether it is there, as seen by a person; null leaves out the mask of a teacher that is in doubt.
    """
    marked = json.loads(marks.read_text(encoding="utf-8"))
    items = [*_read_coco(data / "coco-panoptic", teachers), *_read_fivek(data / "ma5k-req", teachers, marked)]
    if not items:
        raise DataError(f"{data} has no photos with masks of places")
    folder.mkdir(parents=True, exist_ok=True)
    names, splits, photos, masks, presence = zip(*items, strict=True)
    for name, arrays in (("photos", photos), ("masks", masks), ("presence", presence)):
        np.save(folder / f"{name}.npy", np.stack(arrays))
    about = {"names": names, "splits": splits, "channels": CHANNELS}
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
    return len(items)


Item = tuple[str, str, np.ndarray, np.ndarray, np.ndarray]
Marks = Mapping[str, Mapping[str, bool | None]]


def _read_coco(folder: Path, teachers: Path) -> Iterator[Item]:
    for path, categories in read_coco(folder):
        levels = np.full((len(CHANNELS), MASK_SIDE, MASK_SIDE), UNKNOWN, np.uint8)
        presence = np.full(len(CHANNELS), -1, np.int8)
        for number, place in enumerate(CHANNELS):
            if place in COCO_CATEGORIES:
                levels[number] = _label_coco(categories, place)
                presence[number] = judge_presence(levels[number])
            elif (taught := teachers / place / f"{path.stem}.png").is_file():
                levels[number] = _read_mask(taught)
        yield path.stem, "coco", _read_photo(path), levels, presence


def read_coco(folder: Path) -> Iterator[tuple[Path, np.ndarray]]:
    """Photos and the category (H, W) of each of their pixels, 0 where it has none."""
    about = json.loads((folder / "panoptic_train2017.json").read_text(encoding="utf-8"))
    for entry in sorted(about["annotations"], key=lambda one: one["file_name"]):
        name = Path(entry["file_name"]).stem
        with PIL.Image.open(folder / "panoptic_train2017" / f"{name}.png") as picture:
            parts = np.asarray(picture.convert("RGB")).astype(np.int64) @ (1, 256, 65536)
        categories = {segment["id"]: segment["category_id"] for segment in entry["segments_info"]}
        known, inverse = np.unique(parts, return_inverse=True)
        category = np.array([categories.get(int(one), 0) for one in known])[inverse].reshape(parts.shape)
        yield folder / "images" / f"{name}.jpg", category


def label_pixels(category: np.ndarray, place: str) -> tuple[np.ndarray, np.ndarray]:
    """(H, W) bool each: what belongs to a place, and where that is not clear."""
    inside = np.isin(category, COCO_CATEGORIES[place])
    return inside, np.isin(category, (0, *COCO_UNCLEAR.get(place, ())))


def _label_coco(category: np.ndarray, place: str) -> np.ndarray:
    inside, unclear = label_pixels(category, place)
    levels = _to_levels(_shrink(inside))
    levels[_shrink(unclear) > 0.5] = UNKNOWN
    return levels


def _shrink(mask: np.ndarray) -> np.ndarray:
    picture = PIL.Image.fromarray(mask.astype(np.float32))
    return np.asarray(picture.resize((MASK_SIDE, MASK_SIDE), PIL.Image.Resampling.BOX))


def _to_levels(mask: np.ndarray) -> np.ndarray:
    levels: np.ndarray = np.rint(np.clip(mask, 0, 1) * FULL).astype(np.uint8)
    return levels


def judge_presence(levels: np.ndarray) -> int:
    """1 where a place covers LEAST_SEEN of the photo, 0 where it covers nothing, else -1."""
    inside = (levels > FULL / 2) & (levels != UNKNOWN)
    return 1 if inside.mean() >= LEAST_SEEN else -1 if inside.any() else 0


def _read_fivek(folder: Path, teachers: Path, marked: Marks) -> Iterator[Item]:
    for split in ("train", "val"):
        for name in list_fivek(folder, split):
            sources = {place: teachers / place / f"{name}.png" for place in CHANNELS}
            sources["sky"] = folder / "sky" / f"{name}.png"
            if not any(
                path.is_file() or name in marked.get(place, {})
                for place, path in sources.items()
                if place != "sky"
            ):
                continue  # the teachers have not seen it
            levels = np.full((len(CHANNELS), MASK_SIDE, MASK_SIDE), UNKNOWN, np.uint8)
            presence = np.full(len(CHANNELS), -1, np.int8)
            for number, place in enumerate(CHANNELS):
                seen = marked.get(place, {})
                in_doubt = name in seen and seen[name] is None
                if not in_doubt:
                    levels[number] = _label_taught(sources[place], seen.get(name))
                presence[number] = {None: -1, False: 0, True: 1}[seen.get(name)]
            yield name, split, _read_photo(folder / "images" / f"{name}_O.webp"), levels, presence


def list_fivek(folder: Path, split: str) -> list[str]:
    """Names of the photos of a split."""
    text = (folder / "annotations" / f"{split}_sess_1.json").read_text(encoding="utf-8")
    return sorted({Path(entry["input"]).stem.removesuffix("_O") for entry in json.loads(text)})


def _label_taught(path: Path, seen: bool | None) -> np.ndarray:
    """A teacher's mask, unless a person saw that the place is not there, or is where the mask is empty."""
    if seen is False:
        return np.zeros((MASK_SIDE, MASK_SIDE), np.uint8)
    if not path.is_file():
        return np.full((MASK_SIDE, MASK_SIDE), UNKNOWN, np.uint8)
    levels = _read_mask(path)
    if seen and judge_presence(levels) != 1:
        return np.full_like(levels, UNKNOWN)
    return levels


def _read_mask(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as picture:
        small = picture.convert("L").resize((MASK_SIDE, MASK_SIDE), PIL.Image.Resampling.BOX)
    return _to_levels(np.asarray(small, np.float32) / 255)


def _read_photo(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as picture:
        small: Any = picture.convert("RGB").resize((PHOTO_SIDE, PHOTO_SIDE), PIL.Image.Resampling.BOX)
    return np.asarray(small)

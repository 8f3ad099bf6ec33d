"""Packed sets: a dataset as a few files that a training run reads once into memory."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import DataError
from ..image import read_regular_file
from ..language import Attribute, Intent
from .dataset import Sample

# A dataset as a few files that a training run reads once into memory.
#
# Reading needs only the standard library, NumPy and Pillow, so that it works on machines with nothing else.


# What a packed set holds, and how its words become lines of JSON and come back.

INDEX_FILE = "index.json"
PACKED_FORMAT, PACKED_VERSION = "t2onet packed set", 1
PHOTO_PREFIX, SAMPLE_PREFIX, TEXT_PREFIX = "photos/", "samples-", "texts-"
"""How the entries of a shard begin, by what they hold."""
PHOTOS_OF_KEY = "photos_of"
"""Where the index of a set without photos says whose it shows."""


@dataclass(frozen=True)
class PackedRequests:
    """What was asked for, as in a sample of a dataset; `labels` are the publisher's."""

    name: str
    split: str
    requests: tuple[str, ...]
    intents: tuple[Intent, ...] | None
    unanswerable: str | None
    labels: Mapping[str, Any]


@dataclass(frozen=True)
class PackedText(PackedRequests):
    """Requests without photos; `source` is the layout of the dataset they come from."""

    source: str


@dataclass(frozen=True)
class PackedSample(PackedRequests):
    """Requests with photos, which are rows of `PackedSet.photos`.

    `plan` is plain data: {"steps": [{"operation", "parameters"}], "start_cost", "cost", "costs"}, or None.
    """

    before: int
    after: int
    plan: dict[str, Any] | None


W = TypeVar("W", bound=PackedRequests)


@dataclass(frozen=True)
class PackedSet:
    """`photos` are (P, size, size, 3) uint8, each once; `before` and `after` say which belong to a sample."""

    photos: NDArray[np.uint8]
    samples: tuple[PackedSample, ...]
    texts: tuple[PackedText, ...]

    @property
    def before(self) -> NDArray[np.int64]:
        """(N,) rows of `photos`."""
        return np.array([sample.before for sample in self.samples], np.int64)

    @property
    def after(self) -> NDArray[np.int64]:
        """(N,) rows of `photos`."""
        return np.array([sample.after for sample in self.samples], np.int64)

    def split(self, name: str) -> NDArray[np.int64]:
        """The numbers of the samples in a split."""
        return np.array([at for at, sample in enumerate(self.samples) if sample.split == name], np.int64)


def requests_to_data(words: PackedRequests | Sample) -> dict[str, Any]:
    """As plain data for JSON."""
    intents = words.intents
    return {
        "name": words.name,
        "split": words.split,
        "requests": list(words.requests),
        "intents": None if intents is None else [[i.attribute.value, i.sign, i.amount] for i in intents],
        "unanswerable": words.unanswerable,
        "labels": dict(words.labels),
    }


def requests_from_data(kind: type[W], data: dict[str, Any]) -> W:
    """Such words from plain data."""
    wanted = data["intents"]
    known = None if wanted is None else tuple(Intent(Attribute(a), sign, size) for a, sign, size in wanted)
    return kind(**{**data, "requests": tuple(data["requests"]), "intents": known})


# A packed set from its folder into memory.


def read_packed(folder: str | Path) -> PackedSet:
    """All photos decoded, all words read; every shard is held against its checksum first."""
    folder = Path(folder)
    index = read_index(folder)
    home, whole = _find_photo_folder(folder, index)
    size = whole["size"]
    photos = np.empty((whole["photos"], size, size, 3), np.uint8)
    samples: list[PackedSample] = []
    texts: list[PackedText] = []
    at = 0
    for entries in _open_shards(home, whole):
        names = entries.namelist()
        encoded = [entries.read(name) for name in names if name.startswith(PHOTO_PREFIX)]
        samples += [requests_from_data(PackedSample, data) for data in _read_lines(entries, SAMPLE_PREFIX)]
        texts += [requests_from_data(PackedText, data) for data in _read_lines(entries, TEXT_PREFIX)]
        with ThreadPoolExecutor() as pool:
            for picture in pool.map(_decode_photo, encoded):
                photos[at] = picture
                at += 1
    if home != folder:
        samples = [requests_from_data(PackedSample, data) for data in read_sample_lines(folder, index)]
    return PackedSet(photos, tuple(samples), tuple(texts))


def read_sample_lines(folder: Path, index: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples of a folder as plain data, without its photos."""
    for entries in _open_shards(folder, index):
        yield from _read_lines(entries, SAMPLE_PREFIX)


def _find_photo_folder(folder: Path, index: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The folder whose photos a set shows, and its index: itself, or the set it was made from."""
    if (named := index.get(PHOTOS_OF_KEY)) is None:
        return folder, index
    home = folder / named["folder"]
    whole = read_index(home)
    if hash_index(home) != named["index"]:
        raise DataError(f"{home} is not the set that {folder} shows photos of; pack {folder} again")
    return home, whole


def hash_index(folder: Path) -> str:
    """Of what a packed set lists, checksums of its shards among it."""
    return hashlib.sha256(read_regular_file(folder / INDEX_FILE)).hexdigest()


def _open_shards(folder: Path, index: dict[str, Any]) -> Iterator[zipfile.ZipFile]:
    for shard in index["shards"]:
        with zipfile.ZipFile(io.BytesIO(_read_shard(folder, shard))) as entries:
            yield entries


def read_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX_FILE
    try:
        index = json.loads(read_regular_file(path))
    except OSError as error:
        raise DataError(
            f"{folder} is no packed set: {INDEX_FILE} cannot be read ({error.strerror})"
        ) from None
    except ValueError:
        raise DataError(f"{path} is damaged; copy the packed set again") from None
    if not isinstance(index, dict) or index.get("format") != PACKED_FORMAT:
        raise DataError(f"{path} is not the index of a packed set; `t2o data pack` makes one")
    if index["version"] != PACKED_VERSION:
        raise DataError(f"{path} has version {index['version']}, and this release reads {PACKED_VERSION}")
    return index


def _read_shard(folder: Path, shard: dict[str, Any]) -> bytes:
    path = folder / shard["file"]
    try:
        data = read_regular_file(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); copy the packed set again") from None
    if hashlib.sha256(data).hexdigest() != shard["sha256"]:
        raise DataError(f"{path} is damaged: its checksum does not fit; copy it again")
    return data


def _read_lines(entries: zipfile.ZipFile, beginning: str) -> Iterator[Any]:
    for name in entries.namelist():
        if name.startswith(beginning):
            yield from map(json.loads, entries.read(name).splitlines())


def _decode_photo(data: bytes) -> NDArray[np.uint8]:
    with PIL.Image.open(io.BytesIO(data)) as file:
        return np.asarray(file.convert("RGB"))

"""A packed set from its folder into memory."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ...errors import DataError
from ...image import read_regular
from .model import (
    FORMAT,
    INDEX,
    PHOTOS,
    PHOTOS_OF,
    SAMPLES,
    TEXTS,
    VERSION,
    PackedSample,
    PackedSet,
    Text,
    from_data,
)


def read_packed(folder: str | Path) -> PackedSet:
    """All photos decoded, all words read; every shard is held against its checksum first."""
    folder = Path(folder)
    index = read_index(folder)
    home, whole = _home(folder, index)
    size = whole["size"]
    photos = np.empty((whole["photos"], size, size, 3), np.uint8)
    samples: list[PackedSample] = []
    texts: list[Text] = []
    at = 0
    for entries in _shards(home, whole):
        names = entries.namelist()
        encoded = [entries.read(name) for name in names if name.startswith(PHOTOS)]
        samples += [from_data(PackedSample, data) for data in _lines(entries, SAMPLES)]
        texts += [from_data(Text, data) for data in _lines(entries, TEXTS)]
        with ThreadPoolExecutor() as pool:
            for picture in pool.map(_decoded, encoded):
                photos[at] = picture
                at += 1
    if home != folder:
        samples = [from_data(PackedSample, data) for data in sample_lines(folder, index)]
    return PackedSet(photos, tuple(samples), tuple(texts))


def sample_lines(folder: Path, index: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples of a folder as plain data, without its photos."""
    for entries in _shards(folder, index):
        yield from _lines(entries, SAMPLES)


def _home(folder: Path, index: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The folder whose photos a set shows, and its index: itself, or the set it was made from."""
    if (named := index.get(PHOTOS_OF)) is None:
        return folder, index
    home = folder / named["folder"]
    whole = read_index(home)
    if index_digest(home) != named["index"]:
        raise DataError(f"{home} is not the set that {folder} shows photos of; pack {folder} again")
    return home, whole


def index_digest(folder: Path) -> str:
    """Of what a packed set lists, checksums of its shards among it."""
    return hashlib.sha256(read_regular(folder / INDEX)).hexdigest()


def _shards(folder: Path, index: dict[str, Any]) -> Iterator[zipfile.ZipFile]:
    for shard in index["shards"]:
        with zipfile.ZipFile(io.BytesIO(_checked(folder, shard))) as entries:
            yield entries


def read_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    try:
        index = json.loads(read_regular(path))
    except OSError as error:
        raise DataError(f"{folder} is no packed set: {INDEX} cannot be read ({error.strerror})") from None
    except ValueError:
        raise DataError(f"{path} is damaged; copy the packed set again") from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise DataError(f"{path} is not the index of a packed set; `t2o data pack` makes one")
    if index["version"] != VERSION:
        raise DataError(f"{path} has version {index['version']}, and this release reads {VERSION}")
    return index


def _checked(folder: Path, shard: dict[str, Any]) -> bytes:
    path = folder / shard["file"]
    try:
        data = read_regular(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); copy the packed set again") from None
    if hashlib.sha256(data).hexdigest() != shard["sha256"]:
        raise DataError(f"{path} is damaged: its checksum does not fit; copy it again")
    return data


def _lines(entries: zipfile.ZipFile, beginning: str) -> Iterator[Any]:
    for name in entries.namelist():
        if name.startswith(beginning):
            yield from map(json.loads, entries.read(name).splitlines())


def _decoded(data: bytes) -> NDArray[np.uint8]:
    with PIL.Image.open(io.BytesIO(data)) as file:
        return np.asarray(file.convert("RGB"))

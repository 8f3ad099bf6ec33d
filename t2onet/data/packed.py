"""Packed sets: a dataset, its plans and further requests as a few files that a training run reads at once.

Reading needs the standard library, NumPy and Pillow only.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import DataError, OutputError, T2OError
from ..image import Image, open_image, read_regular_file
from ..image.files import write_folder_atomically
from ..image.pixels import to_uint8
from ..language import Attribute, Intent
from .dataset import Dataset, Problem, Sample, hash_file

if TYPE_CHECKING:
    from .plans import DatasetPlans

INDEX_FILE = "index.json"
PACKED_FORMAT, PACKED_VERSION = "t2onet packed set", 1
PHOTO_PREFIX, SAMPLE_PREFIX, TEXT_PREFIX = "photos/", "samples-", "texts-"
"""Prefixes of the entries of a shard."""
PHOTOS_OF_KEY = "photos_of"
"""Key in the index of a set without photos that names the set whose photos it uses."""


@dataclass(frozen=True)
class PackedRequests:
    """The requests of a sample; field names are part of the file format."""

    name: str
    split: str
    requests: tuple[str, ...]
    intents: tuple[Intent, ...] | None
    unanswerable: str | None
    labels: Mapping[str, Any]


@dataclass(frozen=True)
class PackedText(PackedRequests):
    """Requests without photos; `source` is the layout of their dataset."""

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
    """A packed set in memory; `photos` are (P, size, size, 3) uint8, each once."""

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
        """Indices of the samples in a split."""
        return np.array([at for at, sample in enumerate(self.samples) if sample.split == name], np.int64)

    def training_requests(self) -> list[str]:
        """All requests of the train split, with and without photos."""
        return _list_training_requests((*self.samples, *self.texts))


def requests_to_data(words: PackedRequests | Sample) -> dict[str, Any]:
    """Requests as plain data for JSON."""
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
    """The inverse of `requests_to_data`."""
    wanted = data["intents"]
    known = None if wanted is None else tuple(Intent(Attribute(a), sign, size) for a, sign, size in wanted)
    return kind(**{**data, "requests": tuple(data["requests"]), "intents": known})


def read_packed(folder: str | Path) -> PackedSet:
    """Read a packed set and decode its photos; checks the checksum of every shard."""
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


def read_training_requests(folder: str | Path) -> list[str]:
    """`PackedSet.training_requests` of a folder, without reading its photos."""
    folder = Path(folder)
    index = read_index(folder)
    home, home_index = _find_photo_folder(folder, index)
    samples = [requests_from_data(PackedSample, data) for data in read_sample_lines(folder, index)]
    texts = [
        requests_from_data(PackedText, data)
        for entries in _open_shards(home, home_index)
        for data in _read_lines(entries, TEXT_PREFIX)
    ]
    return _list_training_requests((*samples, *texts))


def _list_training_requests(entries: Iterable[PackedRequests]) -> list[str]:
    return [request for entry in entries if entry.split == "train" for request in entry.requests]


def read_sample_lines(folder: Path, index: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples of a packed set as plain data, without its photos."""
    for entries in _open_shards(folder, index):
        yield from _read_lines(entries, SAMPLE_PREFIX)


def _find_photo_folder(folder: Path, index: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The folder that holds the photos of a set, and its index: the set itself or another."""
    if (named := index.get(PHOTOS_OF_KEY)) is None:
        return folder, index
    home = folder / named["folder"]
    whole = read_index(home)
    if hash_index(home) != named["index"]:
        raise DataError(f"{home} is not the set whose photos {folder} uses; pack {folder} again")
    return home, whole


def hash_index(folder: Path) -> str:
    """SHA-256 of the index, which lists the checksums of the shards."""
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


MAX_SHARD_BYTES = 24_000_000
"""Bytes of a shard."""
_OVERHEAD = 256
"""Upper bound on the bytes of a zip file besides its data, for each entry and for its end."""
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of all entries, so that the same data gives the same bytes."""


class ShardWriter:
    """Collects entries and writes a shard whenever the next entry would not fit."""

    def __init__(self, folder: Path, largest: int = MAX_SHARD_BYTES) -> None:
        self.listed: list[dict[str, Any]] = []
        self._folder = folder
        self._largest = largest
        self._entries: list[tuple[zipfile.ZipInfo, bytes]] = []
        self._size = _OVERHEAD

    def add(self, name: str, data: bytes, *, squeeze: bool = False) -> None:
        """Add an entry; with `squeeze` it is compressed."""
        if self._size + len(data) + _OVERHEAD > self._largest:
            self.finish()
        entry = zipfile.ZipInfo(name, _FIXED_DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED
        self._entries.append((entry, data))
        self._size += len(data) + _OVERHEAD

    def finish(self) -> None:
        """Write the entries since the last shard."""
        if not self._entries:
            return
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as shard:
            for entry, data in self._entries:
                shard.writestr(entry, data)
        whole = stream.getvalue()
        name = f"shard-{len(self.listed):03}.zip"
        (self._folder / name).write_bytes(whole)
        self.listed.append({"file": name, "bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()})
        self._entries, self._size = [], _OVERHEAD


def collect_texts(dataset: Dataset, packed: Dataset) -> Iterator[PackedText]:
    """The requests of `dataset` that are not in `packed`."""
    pairs = {(sample.name, sample.before, sample.after) for sample in packed.samples}
    for sample in dataset.samples:
        if (sample.name, sample.before, sample.after) not in pairs:
            yield PackedText(
                name=sample.name,
                split=sample.split,
                requests=sample.requests,
                intents=sample.intents,
                unanswerable=sample.unanswerable,
                labels=sample.labels,
                source=dataset.layout,
            )


WEBP_QUALITY = 90
"""At 90, photos of MA5k-Req differ by 2.5 of 255 levels on average, mostly in their grain."""
T = TypeVar("T")

_CHUNK_SIZE = 256
"""Samples encoded together, and lines of an entry."""


@dataclass
class PackSummary:
    """Counts of what was packed, total bytes, and the samples left out."""

    photos: int = 0
    samples: int = 0
    planned: int = 0
    texts: int = 0
    bytes: int = 0
    problems: list[Problem] = field(default_factory=list)


def pack_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    plans: DatasetPlans | None = None,
    texts: Sequence[PackedText] = (),
    size: int = 128,
    quality: int = WEBP_QUALITY,
    largest: int = MAX_SHARD_BYTES,
    overwrite: bool = False,
) -> PackSummary:
    """Write `dataset` to `folder`, atomically.

    Photos are converted to sRGB, resized to `size` x `size` pixels whatever their aspect ratio, and stored
    once each. `texts` are stored as well. A shard has at most `largest` bytes.
    """
    if size < 16:
        raise DataError(f"photos are packed at {size} pixels a side; give at least 16")
    target = Path(folder)
    check_target_folder(target, overwrite)
    with write_folder_atomically(target) as place:
        done = _PackWriter(place, size, quality, largest).write(dataset, plans, texts)
        clear_target_folder(target, overwrite)
    return done


def check_target_folder(target: Path, overwrite: bool) -> None:
    """Check that a folder may be written: a packed set only with `overwrite`, an empty folder always."""
    if not target.parent.is_dir():
        raise OutputError(f"{target}: there is no folder {target.parent}; create it first")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / INDEX_FILE).is_file():
        raise OutputError(f"{target} is not a packed set; give another name")
    if not overwrite:
        raise OutputError(f"{target} exists already; give another name, or overwrite=True")


def clear_target_folder(target: Path, overwrite: bool) -> None:
    """Remove what the new set replaces, after checking again what is there by now."""
    check_target_folder(target, overwrite)
    if target.exists() and overwrite:
        shutil.rmtree(target)
    elif target.exists():
        target.rmdir()  # only an empty folder gives way


class _PackWriter:
    """Writes one packed set to a folder."""

    def __init__(self, folder: Path, size: int, quality: int, largest: int) -> None:
        self.folder = folder
        self.size = size
        self.quality = quality
        self.shards = ShardWriter(folder, largest)
        self.done = PackSummary()
        self._rows: dict[Path, int] = {}
        self._by_content: dict[str, int] = {}
        self._refused: dict[Path, str] = {}

    def write(self, dataset: Dataset, plans: DatasetPlans | None, texts: Sequence[PackedText]) -> PackSummary:
        with ThreadPoolExecutor() as pool:
            for number, chunk in enumerate(_split_chunks(dataset.samples)):
                self._add_photos(chunk, pool)
                lines = [self._to_line(sample, plans) for sample in chunk if self._is_whole(sample)]
                self._add_lines(f"{SAMPLE_PREFIX}{number:05}.jsonl", lines)
                self.done.samples += len(lines)
        for number, part in enumerate(_split_chunks(texts)):
            self._add_lines(
                f"{TEXT_PREFIX}{number:05}.jsonl",
                [{**requests_to_data(text), "source": text.source} for text in part],
            )
        self.done.texts = len(texts)
        self.shards.finish()
        self._add_index(dataset)
        return self.done

    def _add_photos(self, samples: Sequence[Sample], pool: ThreadPoolExecutor) -> None:
        """Add the photos of samples that were not added before."""
        paths = dict.fromkeys(path for sample in samples for path in (sample.before, sample.after))
        new = [path for path in paths if path not in self._rows and path not in self._refused]
        for path, (content, encoded) in zip(new, pool.map(self._encode_photo, new), strict=True):
            if encoded is None:
                self._refused[path] = content
                continue
            if content not in self._by_content:
                self._by_content[content] = self.done.photos
                self.shards.add(f"{PHOTO_PREFIX}{self.done.photos:06}.webp", encoded)
                self.done.photos += 1
            self._rows[path] = self._by_content[content]

    def _encode_photo(self, path: Path) -> tuple[str, bytes | None]:
        """The hash of a photo and its encoded small copy, or an error message and None."""
        try:
            small = _resize_square(open_image(path), self.size)
            stream = io.BytesIO()
            small.save(stream, "WEBP", quality=self.quality, method=6)
            return hash_file(path), stream.getvalue()
        except OSError as error:
            return f"{path} cannot be read ({error.strerror})", None
        except T2OError as error:
            return str(error), None

    def _is_whole(self, sample: Sample) -> bool:
        """Whether both photos were added; reports a problem if not."""
        for path in (sample.before, sample.after):
            if path in self._refused:
                self.done.problems.append(Problem(sample.name, self._refused[path]))
                return False
        return True

    def _to_line(self, sample: Sample, plans: DatasetPlans | None) -> dict[str, Any]:
        plan = plans[sample].to_data() if plans is not None and sample in plans else None
        self.done.planned += plan is not None
        return {
            "before": self._rows[sample.before],
            "after": self._rows[sample.after],
            "plan": plan,
            **requests_to_data(sample),
        }

    def _add_lines(self, name: str, lines: Sequence[Any]) -> None:
        text = "".join(f"{json.dumps(line, default=_to_plain_data)}\n" for line in lines)
        self.shards.add(name, text.encode(), squeeze=True)

    def _add_index(self, dataset: Dataset) -> None:
        index = {
            "format": PACKED_FORMAT,
            "version": PACKED_VERSION,
            "layout": dataset.layout,
            "size": self.size,
            "photos": self.done.photos,
            "samples": self.done.samples,
            "texts": self.done.texts,
            "shards": self.shards.listed,
        }
        (self.folder / INDEX_FILE).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
        self.done.bytes = sum(path.stat().st_size for path in self.folder.iterdir())


def _split_chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    yield from (items[at : at + _CHUNK_SIZE] for at in range(0, len(items), _CHUNK_SIZE))


def _to_plain_data(value: Any) -> Any:
    """JSON for the publisher's labels: dataclasses as objects, anything else as text."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def _resize_square(image: Image, side: int) -> PIL.Image.Image:
    """Resize by area averaging, without keeping the aspect ratio."""
    picture = PIL.Image.fromarray(to_uint8(image.to_srgb().pixels))
    return picture.resize((side, side), PIL.Image.Resampling.BOX)


def repack_dataset(
    photos_of: str | Path,
    folder: str | Path,
    dataset: Dataset,
    plans: DatasetPlans,
    *,
    overwrite: bool = False,
) -> PackSummary:
    """Write the samples of `dataset` with other `plans` to `folder`, using the photos of the set `photos_of`.

    The result has a few hundred kilobytes and needs the other set at the same relative path.
    """
    home, target = Path(photos_of), Path(folder)
    index = read_index(home)
    if PHOTOS_OF_KEY in index:
        raise DataError(f"{home} has no photos itself but shows those of {index[PHOTOS_OF_KEY]['folder']}")
    check_target_folder(target, overwrite)
    known = {line["name"]: line for line in read_sample_lines(home, index)}
    lines = [
        {**known[sample.name], "plan": plans[sample].to_data() if sample in plans else None}
        for sample in dataset.samples
        if sample.name in known
    ]
    if not lines:
        raise DataError(f"{home} has none of the samples of {dataset.root}; pack them with their photos")
    done = PackSummary(samples=len(lines), planned=sum(line["plan"] is not None for line in lines))
    named = {"folder": os.path.relpath(home, target), "index": hash_index(home)}
    with write_folder_atomically(target) as place:
        shards = ShardWriter(place)
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        shards.add(f"{SAMPLE_PREFIX}00000.jsonl", text.encode(), squeeze=True)
        shards.finish()
        header = {
            "format": PACKED_FORMAT,
            "version": PACKED_VERSION,
            "layout": dataset.layout,
            "samples": done.samples,
        }
        text = json.dumps({**header, PHOTOS_OF_KEY: named, "shards": shards.listed}, indent=1)
        (place / INDEX_FILE).write_text(f"{text}\n", encoding="utf-8")
        done.bytes = sum(path.stat().st_size for path in place.iterdir())
        clear_target_folder(target, overwrite)
    return done

"""A dataset, its plans and further requests into a folder of shards."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import PIL.Image

from ...errors import DataError, OutputError, T2OError
from ...image import Image, open_image
from ...image.depth import to_uint8
from ..digests import digest
from ..folders import made_whole
from ..sample import Dataset, Problem, Sample
from .model import FORMAT, INDEX, PHOTOS, SAMPLES, TEXTS, VERSION, Text, words_to_data
from .shards import LARGEST, Shards

if TYPE_CHECKING:
    from ..plans import Plans

QUALITY = 90
"""Of WebP, in percent: the photos of MA5k-Req are off by 2.5 of 255 levels, mostly in their grain."""
T = TypeVar("T")

_CHUNK = 256
"""Samples whose photos are encoded together, and lines of an entry."""


@dataclass
class Packed:
    """What was packed: counts, bytes in all, and the samples that were left out."""

    photos: int = 0
    samples: int = 0
    planned: int = 0
    texts: int = 0
    bytes: int = 0
    problems: list[Problem] = field(default_factory=list)


def pack(
    dataset: Dataset,
    folder: str | Path,
    *,
    plans: Plans | None = None,
    texts: Sequence[Text] = (),
    size: int = 128,
    quality: int = QUALITY,
    largest: int = LARGEST,
    overwrite: bool = False,
) -> Packed:
    """Write `dataset` to `folder`, whole or not at all.

    Photos are in sRGB, `size` x `size` pixels whatever their shape was, and stored once each; `texts` go
    along as they are. A shard is at most `largest` bytes. Only `overwrite` replaces a packed set.
    """
    if size < 16:
        raise DataError(f"photos are packed at {size} pixels a side; give at least 16")
    target = Path(folder)
    check_place(target, overwrite)
    with made_whole(target) as place:
        done = _Packing(place, size, quality, largest).write(dataset, plans, texts)
        clear_place(target, overwrite)
    return done


def check_place(target: Path, overwrite: bool) -> None:
    """A packed set may be replaced on request, an empty folder always, anything else never."""
    if not target.parent.is_dir():
        raise OutputError(f"{target}: there is no folder {target.parent}; create it first")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / INDEX).is_file():
        raise OutputError(f"{target} holds something else than a packed set; give another name")
    if not overwrite:
        raise OutputError(f"{target} exists already; give another name, or overwrite=True")


def clear_place(target: Path, overwrite: bool) -> None:
    """Make room for a set that is complete; what has appeared there meanwhile is checked again."""
    check_place(target, overwrite)
    if target.exists() and overwrite:
        shutil.rmtree(target)
    elif target.exists():
        target.rmdir()  # only an empty folder gives way


class _Packing:
    """One set on its way into a folder."""

    def __init__(self, folder: Path, size: int, quality: int, largest: int) -> None:
        self.folder = folder
        self.size = size
        self.quality = quality
        self.shards = Shards(folder, largest)
        self.done = Packed()
        self._rows: dict[Path, int] = {}
        self._by_content: dict[str, int] = {}
        self._refused: dict[Path, str] = {}

    def write(self, dataset: Dataset, plans: Plans | None, texts: Sequence[Text]) -> Packed:
        with ThreadPoolExecutor() as pool:
            for number, chunk in enumerate(_chunks(dataset.samples)):
                self._photos(chunk, pool)
                lines = [self._line(sample, plans) for sample in chunk if self._is_whole(sample)]
                self._lines(f"{SAMPLES}{number:05}.jsonl", lines)
                self.done.samples += len(lines)
        for number, part in enumerate(_chunks(texts)):
            self._lines(
                f"{TEXTS}{number:05}.jsonl", [{**words_to_data(text), "source": text.source} for text in part]
            )
        self.done.texts = len(texts)
        self.shards.finish()
        self._index(dataset)
        return self.done

    def _photos(self, samples: Sequence[Sample], pool: ThreadPoolExecutor) -> None:
        """Those that are not in yet."""
        paths = dict.fromkeys(path for sample in samples for path in (sample.before, sample.after))
        new = [path for path in paths if path not in self._rows and path not in self._refused]
        for path, (content, encoded) in zip(new, pool.map(self._encoded, new), strict=True):
            if encoded is None:
                self._refused[path] = content
                continue
            if content not in self._by_content:
                self._by_content[content] = self.done.photos
                self.shards.add(f"{PHOTOS}{self.done.photos:06}.webp", encoded)
                self.done.photos += 1
            self._rows[path] = self._by_content[content]

    def _encoded(self, path: Path) -> tuple[str, bytes | None]:
        """The digest of a photo and its small copy; or why there is none, and None."""
        try:
            small = _square(open_image(path), self.size)
            stream = io.BytesIO()
            small.save(stream, "WEBP", quality=self.quality, method=6)
            return digest(path), stream.getvalue()
        except OSError as error:
            return f"{path} cannot be read ({error.strerror})", None
        except T2OError as error:
            return str(error), None

    def _is_whole(self, sample: Sample) -> bool:
        """Whether both photos are in; tells where not."""
        for path in (sample.before, sample.after):
            if path in self._refused:
                self.done.problems.append(Problem(sample.name, self._refused[path]))
                return False
        return True

    def _line(self, sample: Sample, plans: Plans | None) -> dict[str, Any]:
        plan = plans[sample].to_data() if plans is not None and sample in plans else None
        self.done.planned += plan is not None
        return {
            "before": self._rows[sample.before],
            "after": self._rows[sample.after],
            "plan": plan,
            **words_to_data(sample),
        }

    def _lines(self, name: str, lines: Sequence[Any]) -> None:
        text = "".join(f"{json.dumps(line, default=_plain)}\n" for line in lines)
        self.shards.add(name, text.encode(), squeeze=True)

    def _index(self, dataset: Dataset) -> None:
        index = {
            "format": FORMAT,
            "version": VERSION,
            "layout": dataset.layout,
            "size": self.size,
            "photos": self.done.photos,
            "samples": self.done.samples,
            "texts": self.done.texts,
            "shards": self.shards.listed,
        }
        (self.folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
        self.done.bytes = sum(path.stat().st_size for path in self.folder.iterdir())


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    yield from (items[at : at + _CHUNK] for at in range(0, len(items), _CHUNK))


def _plain(value: Any) -> Any:
    """What JSON does not know: the publisher's labels may be records, and anything else is said in words."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def _square(image: Image, side: int) -> PIL.Image.Image:
    """Each new pixel the mean of the area it covers; the aspect ratio is not kept."""
    picture = PIL.Image.fromarray(to_uint8(image.to_srgb().pixels))
    return picture.resize((side, side), PIL.Image.Resampling.BOX)

"""Records of training runs, and questions to systems with their answers as files; readable without torch."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from ..errors import DataError, TrainingError, needs_extra
from ..image import open_regular_file

BEST_WEIGHTS_FILE = "best.safetensors"
CHECKPOINT_FILE = "checkpoint.safetensors"
RUN_RECORD_FILE = "run.json"
"""Progress and settings of a run, which stay when the checkpoint is deleted."""


def read_run_record(folder: Path) -> dict[str, Any] | None:
    """`progress` and `settings` of a run, from its checkpoint or the record beside its weights."""
    path = folder / CHECKPOINT_FILE
    try:
        if path.is_file():
            metadata = read_tensor_metadata(path)
            return {name: json.loads(metadata[name]) for name in ("progress", "settings")}
        path = folder / RUN_RECORD_FILE
        if not (
            path.is_file() and (folder / BEST_WEIGHTS_FILE).is_file()
        ):  # without weights, of a run that is gone
            return None
        record = json.loads(path.read_text(encoding="utf-8"))
        return {name: record[name] for name in ("progress", "settings")}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise TrainingError(f"{path} cannot be read as the record of a run: {error}") from None


def read_tensor_metadata(path: Path) -> dict[str, str]:
    """Read the metadata of a safetensors file without its tensors."""
    with needs_extra(DataError, "opening weights needs safetensors", "train", with_cause=True):
        from safetensors import SafetensorError, safe_open
    try:
        with safe_open(path, "np") as file:
            return file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be read as weights: {error}") from None


FACTS_FILE = "about.json"
ARCHIVE_VERSION = 1
BytePicture = NDArray[np.uint8]
"""A picture (H, W, 3)."""


def to_byte_picture(picture: np.ndarray) -> BytePicture:
    """A picture (3, H, W) in [0, 1] at 8 bits."""
    return np.ascontiguousarray(np.rint(255 * picture.clip(0, 1)).astype(np.uint8).transpose(1, 2, 0))


def to_float_picture(picture: BytePicture) -> np.ndarray:
    """(3, H, W) float32 in [0, 1]."""
    return np.ascontiguousarray(picture.transpose(2, 0, 1).astype(np.float32) / 255)


def encode_pictures(pictures: Iterable[BytePicture]) -> dict[str, bytes]:
    """Encoded pictures by their names in an archive."""
    with ThreadPoolExecutor() as pool:
        return {_picture_name(at): data for at, data in enumerate(pool.map(_encode_picture, pictures))}


def decode_pictures(files: Mapping[str, bytes], count: int) -> tuple[BytePicture, ...]:
    """The inverse of `encode_pictures`; a damaged archive raises errors of zipfile or Pillow."""
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(_decode_picture, [files[_picture_name(at)] for at in range(count)]))


def zip_archive(form: str, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """An archive with `facts` as JSON; the same input gives the same bytes."""
    about = json.dumps({"format": form, "version": ARCHIVE_VERSION, **facts}, ensure_ascii=False).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(FACTS_FILE), about, zipfile.ZIP_DEFLATED)
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def unzip_archive(path: Path, form: str, made_by: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Facts and files of an archive; raises DataError if it is not an archive of that form."""
    try:
        with open_regular_file(path) as file, zipfile.ZipFile(file) as archive:
            facts = json.loads(archive.read(FACTS_FILE))
            files = {name: archive.read(name) for name in archive.namelist() if name != FACTS_FILE}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read as {form}, {made_by} writes them: {error}") from None
    if not isinstance(facts, dict) or facts.get("format") != form:
        raise DataError(f"{path} does not hold {form}; {made_by} writes them")
    if facts.get("version") != ARCHIVE_VERSION:
        raise DataError(
            f"{path} has {form} of version {facts.get('version')}; this release reads {ARCHIVE_VERSION}"
        )
    return facts, files


def damage_error(path: Path, form: str, error: Exception) -> DataError:
    return DataError(f"{path} is damaged, its {form} cannot be read ({error}); make or bring it again")


def _picture_name(at: int) -> str:
    return f"pictures/{at:05d}.webp"


def _encode_picture(picture: BytePicture) -> bytes:
    data = io.BytesIO()
    PIL.Image.fromarray(picture).save(data, "WEBP", lossless=True, quality=75, method=4)
    return data.getvalue()


def _decode_picture(data: bytes) -> BytePicture:
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))


QUESTIONS_FORM = "questions"
_KEY_DIGITS = 16


class RecordedQuestion(NamedTuple):
    """A picture and a request."""

    picture: BytePicture
    request: str

    @property
    def key(self) -> str:
        """Key of its answer: 16 hexadecimal digits of a SHA-256."""
        digest = hashlib.sha256(repr(self.picture.shape).encode())
        digest.update(np.ascontiguousarray(self.picture).tobytes())
        digest.update(self.request.encode())
        return digest.hexdigest()[:_KEY_DIGITS]


def question_key(picture: np.ndarray, request: str) -> str:
    """Key of a picture (3, H, W) in [0, 1], quantized to 8 bits, and a request."""
    return RecordedQuestion(to_byte_picture(picture), request).key


@dataclass(frozen=True)
class QuestionSet:
    """Questions in order, by their keys, and the fingerprints of the data that they are about."""

    asked: dict[str, RecordedQuestion]
    data: tuple[str, ...] = ()

    @classmethod
    def from_pairs(cls, asked: Iterable[tuple[np.ndarray, str]], data: Iterable[str] = ()) -> QuestionSet:
        """Of pictures (3, H, W) in [0, 1] and requests, each pair once."""
        found = (RecordedQuestion(to_byte_picture(picture), request) for picture, request in asked)
        return cls({one.key: one for one in found}, tuple(dict.fromkeys(data)))

    @property
    def fingerprint(self) -> str:
        """Hash of all questions, independent of their order."""
        return hashlib.sha256(" ".join(sorted(self.asked)).encode()).hexdigest()[:12]

    def to_zip(self) -> bytes:
        """The archive, in which each picture is stored once."""
        places: dict[bytes, int] = {}
        pictures: list[BytePicture] = []
        asked: list[tuple[int, str]] = []
        for one in self.asked.values():
            at = places.setdefault(one.picture.tobytes(), len(pictures))
            if at == len(pictures):
                pictures.append(one.picture)
            asked.append((at, one.request))
        facts = {"data": self.data, "fingerprint": self.fingerprint, "pictures": len(pictures)}
        return zip_archive(QUESTIONS_FORM, {**facts, "asked": asked}, encode_pictures(pictures))


def read_questions(path: Path) -> QuestionSet:
    """Read what `QuestionSet.to_zip` wrote."""
    facts, files = unzip_archive(path, QUESTIONS_FORM, "`t2o evaluate --ask` or `t2o reproduce --ask`")
    try:
        pictures = decode_pictures(files, facts["pictures"])
        asked = [RecordedQuestion(pictures[at], request) for at, request in facts["asked"]]
        found = QuestionSet({one.key: one for one in asked}, tuple(facts["data"]))
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise damage_error(path, QUESTIONS_FORM, error) from None
    if found.fingerprint != facts.get("fingerprint"):
        raise damage_error(path, QUESTIONS_FORM, ValueError("they are not what was written"))
    return found


ANSWERS_FORM = "answers"
_STEPS_FILE = "steps.npz"
PlainSteps = Sequence[tuple[str, Sequence[float]]]
"""Names of operations with their parameters."""


@dataclass(frozen=True)
class RecordedRecipes:
    """The steps that answer each question."""

    steps: Sequence[PlainSteps]

    def facts(self) -> dict[str, Any]:
        return {"operations": self._names()}

    def files(self) -> dict[str, bytes]:
        """Numbers of steps, their operations, and all parameters concatenated."""
        names = self._names()
        flat = [step for steps in self.steps for step in steps]
        data = io.BytesIO()
        np.savez_compressed(
            data,
            counts=np.array([len(steps) for steps in self.steps], np.uint8),
            operations=np.array([names.index(name) for name, _ in flat], np.uint8),
            sizes=np.array([len(values) for _, values in flat], np.uint8),
            values=np.array([value for _, values in flat for value in values], np.float32),
        )
        return {_STEPS_FILE: data.getvalue()}

    def _names(self) -> list[str]:
        return sorted({name for steps in self.steps for name, _ in steps})

    @classmethod
    def read(cls, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> RecordedRecipes:
        with np.load(io.BytesIO(files[_STEPS_FILE]), allow_pickle=False) as arrays:
            values = np.split(arrays["values"], np.cumsum(arrays["sizes"])[:-1])
            names = [facts["operations"][at] for at in arrays["operations"]]
            flat = iter(zip(names, (part.tolist() for part in values), strict=False))
            return cls([_take_steps(flat, int(count)) for count in arrays["counts"]])


def _take_steps(flat: Iterator[tuple[str, list[float]]], count: int) -> PlainSteps:
    return [next(flat) for _ in range(count)]


@dataclass(frozen=True)
class RecordedPictures:
    """The picture that answers each question."""

    pictures: Sequence[BytePicture]

    def facts(self) -> dict[str, Any]:
        return {"pictures": len(self.pictures)}

    def files(self) -> dict[str, bytes]:
        return encode_pictures(self.pictures)

    @classmethod
    def read(cls, facts: Mapping[str, Any], files: Mapping[str, bytes]) -> RecordedPictures:
        return cls(decode_pictures(files, facts["pictures"]))


@dataclass(frozen=True)
class AnswerSet:
    """Answers by the keys of questions; `about` describes the network that gave them."""

    keys: Sequence[str]
    given: RecordedRecipes | RecordedPictures
    about: Mapping[str, Any]

    def to_zip(self) -> bytes:
        facts = {"about": self.about, "keys": self.keys, **self.given.facts()}
        return zip_archive(ANSWERS_FORM, facts, self.given.files())


def read_answers(path: Path) -> AnswerSet:
    """Read what `AnswerSet.to_zip` wrote."""
    facts, files = _unzip_answers(path)
    try:
        given: RecordedRecipes | RecordedPictures = (
            RecordedRecipes if _STEPS_FILE in files else RecordedPictures
        ).read(facts, files)
        count = len(given.steps if isinstance(given, RecordedRecipes) else given.pictures)
        if count != len(facts["keys"]):
            raise ValueError(f"{count} answers to {len(facts['keys'])} questions")
        return AnswerSet(facts["keys"], given, facts["about"])
    except (OSError, LookupError, TypeError, ValueError, StopIteration, zipfile.BadZipFile) as error:
        raise damage_error(path, ANSWERS_FORM, error) from None


def read_answers_source(path: Path) -> dict[str, Any]:
    """The description of the network that gave the answers of a file."""
    about = _unzip_answers(path)[0].get("about")
    if not isinstance(about, dict):
        raise damage_error(path, ANSWERS_FORM, ValueError("it does not say whose they are"))
    return about


def _unzip_answers(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    return unzip_archive(path, ANSWERS_FORM, "`python -m t2onet.training answer`")

"""Packed sets: what goes in comes out, small, whole, and without the rest of the package."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet import OutputError
from t2onet.data import Dataset, Sample
from t2onet.data.packed import ShardWriter, collect_texts, pack_dataset, read_packed, repack_dataset
from t2onet.data.plans import DatasetPlans, PlanSettings, plan_dataset
from t2onet.errors import DataError
from t2onet.language import Attribute, Intent
from tests.conftest import EXAMPLES, ROOT
from tests.data.small_set import SIDE, InThisProcess, small_set

PAIRS = 4


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return small_set(tmp_path / "photos", PAIRS)


@dataclass(frozen=True)
class Label:
    """As a publisher's own record in the labels of a sample."""

    name: str
    local: bool


def test_everything_comes_back(dataset: Dataset, tmp_path: Path) -> None:
    labels = {"operators": (Label("hue", True),), "path": Path("here")}
    one = replace(
        dataset.samples[0], labels=labels, unanswerable="crop", requests=("crop it", "größer, bitte")
    )
    dataset = replace(dataset, samples=(one, *dataset.samples[1:]))
    train = replace(dataset, samples=dataset.split("train"))
    plan_dataset(train, tmp_path / "plans", engine=InThisProcess(), settings=PlanSettings(SIDE))
    plans = DatasetPlans(tmp_path / "plans", dataset.samples, PlanSettings(SIDE))
    done = pack_dataset(dataset, tmp_path / "packed", plans=plans, size=SIDE)
    packed = read_packed(tmp_path / "packed")
    assert (done.samples, done.photos, done.planned, done.texts) == (PAIRS, 2 * PAIRS, 3, 0)
    assert done.bytes == sum(path.stat().st_size for path in (tmp_path / "packed").iterdir())
    assert packed.photos.shape == (2 * PAIRS, SIDE, SIDE, 3)
    for sample, got in zip(dataset.samples, packed.samples, strict=True):
        same = ("name", "split", "requests", "intents", "unanswerable")
        assert [getattr(got, name) for name in same] == [getattr(sample, name) for name in same]
        assert got.plan == (plans[sample].to_data() if sample in plans else None)
    assert packed.samples[0].labels == {"operators": [{"name": "hue", "local": True}], "path": "here"}
    assert packed.split("val").tolist() == [3]
    assert (packed.before.tolist(), packed.after.tolist()) == ([0, 2, 4, 6], [1, 3, 5, 7])


@pytest.mark.slow
def test_photos_stay_close(tmp_path: Path) -> None:
    paths = sorted(EXAMPLES.glob("*.jpg"))
    samples = [Sample(path.stem, "train", path, path) for path in paths]
    pack_dataset(Dataset(EXAMPLES, "pairs", tuple(samples)), tmp_path / "packed", size=128)
    packed = read_packed(tmp_path / "packed")
    assert len(packed.photos) == len(paths)  # before and after are one file, stored once
    off = []
    for path, got in zip(paths, packed.photos, strict=True):
        with PIL.Image.open(path) as file:
            small = np.asarray(file.convert("RGB").resize((128, 128), PIL.Image.Resampling.BOX), float)
        off.append(np.abs(small - got).mean())
        assert np.abs(small.mean(axis=(0, 1)) - got.mean(axis=(0, 1))).max() < 0.6
    assert np.mean(off) < 3.5


def test_photos_that_are_the_same_are_stored_once(dataset: Dataset, tmp_path: Path) -> None:
    copy = tmp_path / "copy.png"
    copy.write_bytes(dataset.samples[0].before.read_bytes())
    twin = replace(dataset.samples[0], name="twin", before=copy)
    done = pack_dataset(replace(dataset, samples=(*dataset.samples, twin)), tmp_path / "packed", size=SIDE)
    assert (done.samples, done.photos) == (PAIRS + 1, 2 * PAIRS)
    assert read_packed(tmp_path / "packed").before.tolist() == [0, 2, 4, 6, 0]


def test_shards_keep_to_their_size(dataset: Dataset, tmp_path: Path) -> None:
    largest = 6_000
    pack_dataset(dataset, tmp_path / "packed", size=SIDE, largest=largest)
    shards = sorted((tmp_path / "packed").glob("*.zip"))
    assert len(shards) > 2
    assert all(shard.stat().st_size <= largest for shard in shards)
    pack_dataset(dataset, tmp_path / "whole", size=SIDE)
    assert len(list((tmp_path / "whole").glob("*.zip"))) == 1
    in_parts, whole = read_packed(tmp_path / "packed"), read_packed(tmp_path / "whole")
    np.testing.assert_array_equal(in_parts.photos, whole.photos)
    assert in_parts.samples == whole.samples


def test_the_same_set_gives_the_same_bytes(dataset: Dataset, tmp_path: Path) -> None:
    for name in ("one", "two"):
        pack_dataset(dataset, tmp_path / name, size=SIDE)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_texts_go_along_unless_their_photos_do(dataset: Dataset, tmp_path: Path) -> None:
    others = [
        replace(sample, name=f"{sample.name}-A", after=Path("A.png"), labels={"expert": "A"})
        for sample in dataset.samples
    ]
    language = replace(dataset, layout="ma5k-req", samples=(*dataset.samples, *others))
    texts = list(collect_texts(language, dataset))
    assert [text.name for text in texts] == [sample.name for sample in others]
    pack_dataset(dataset, tmp_path / "packed", texts=texts, size=SIDE)
    assert list(read_packed(tmp_path / "packed").texts) == texts


def test_a_broken_photo_is_told_and_the_others_go_in(dataset: Dataset, tmp_path: Path) -> None:
    dataset.samples[1].after.write_bytes(b"no photo")
    dataset.samples[2].before.unlink()
    done = pack_dataset(dataset, tmp_path / "packed", size=SIDE)
    assert [problem.name for problem in done.problems] == ["pair-001", "pair-002"]
    assert [sample.name for sample in read_packed(tmp_path / "packed").samples] == ["pair-000", "pair-003"]


def plan_set(dataset: Dataset, cache: Path, steps: int) -> DatasetPlans:
    settings = PlanSettings(SIDE, steps)
    plan_dataset(dataset, cache, engine=InThisProcess(), settings=settings)
    return DatasetPlans(cache, dataset.samples, settings)


@pytest.mark.slow
def test_other_plans_go_with_the_same_photos(dataset: Dataset, tmp_path: Path) -> None:
    texts = list(
        collect_texts(replace(dataset, samples=(replace(dataset.samples[0], name="more"),)), dataset)
    )
    many, one = (plan_set(dataset, tmp_path / "plans", steps) for steps in (6, 1))
    pack_dataset(dataset, tmp_path / "packed", plans=many, texts=texts, size=SIDE)
    few = replace(dataset, samples=dataset.samples[1:])
    done = repack_dataset(tmp_path / "packed", tmp_path / "one-step", few, one)
    assert (done.samples, done.planned, done.photos) == (PAIRS - 1, PAIRS - 1, 0)
    assert done.bytes < 5000
    whole, other = read_packed(tmp_path / "packed"), read_packed(tmp_path / "one-step")
    np.testing.assert_array_equal(other.photos, whole.photos)
    assert other.texts == whole.texts
    for got, was, sample in zip(other.samples, whole.samples[1:], few.samples, strict=True):
        assert got == replace(was, plan=one[sample].to_data())
    assert [len(got.plan["steps"]) for got in other.samples if got.plan] == [1] * (PAIRS - 1)


@pytest.mark.slow
def test_plans_alone_need_the_set_they_were_packed_for(dataset: Dataset, tmp_path: Path) -> None:
    plans = plan_set(dataset, tmp_path / "plans", 1)
    pack_dataset(dataset, tmp_path / "packed", size=SIDE)
    repack_dataset(tmp_path / "packed", tmp_path / "one-step", dataset, plans)
    with pytest.raises(DataError, match="has no photos itself"):
        repack_dataset(tmp_path / "one-step", tmp_path / "two", dataset, plans)
    with pytest.raises(DataError, match="has none of the samples"):
        repack_dataset(tmp_path / "packed", tmp_path / "two", replace(dataset, samples=()), plans)
    pack_dataset(
        replace(dataset, samples=dataset.samples[:1]), tmp_path / "packed", size=SIDE, overwrite=True
    )
    with pytest.raises(DataError, match=r"is not the set whose photos .*one-step uses; pack"):
        read_packed(tmp_path / "one-step")


def test_a_damaged_shard_is_named(dataset: Dataset, tmp_path: Path) -> None:
    pack_dataset(dataset, tmp_path / "packed", size=SIDE, largest=6_000)
    shard = tmp_path / "packed" / "shard-001.zip"
    data = shard.read_bytes()
    shard.write_bytes(data[:2000] + bytes([data[2000] ^ 1]) + data[2001:])
    with pytest.raises(DataError, match=r"shard-001\.zip is damaged"):
        read_packed(tmp_path / "packed")
    shard.unlink()
    with pytest.raises(DataError, match=r"shard-001\.zip cannot be read"):
        read_packed(tmp_path / "packed")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is damaged"),
        ("[]", "is not the index"),
        ('{"format": "t2onet packed set", "version": 9}', "version 9"),
    ],
)
def test_an_index_that_is_none(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(DataError, match=words):
        read_packed(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no packed set"):
        read_packed(tmp_path / "nowhere")


def test_only_a_packed_set_is_replaced_and_only_on_request(dataset: Dataset, tmp_path: Path) -> None:
    place = tmp_path / "packed"
    place.mkdir()
    pack_dataset(dataset, place, size=SIDE)
    with pytest.raises(OutputError, match="exists already; give another name, or overwrite=True"):
        pack_dataset(dataset, place, size=SIDE)
    pack_dataset(replace(dataset, samples=dataset.samples[:1]), place, size=SIDE, overwrite=True)
    assert len(read_packed(place).samples) == 1
    with pytest.raises(OutputError, match="is not a packed set"):
        pack_dataset(dataset, dataset.root, size=SIDE, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["packed", "photos"]


@pytest.mark.slow
@pytest.mark.parametrize("again", [False, True], ids=["pack", "repack"])
def test_a_set_packed_meanwhile_is_kept(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    plans = plan_set(dataset, tmp_path / "plans", 1)
    pack_dataset(dataset, tmp_path / "first", size=SIDE)
    place, finish = tmp_path / "packed", ShardWriter.finish

    def finish_after_another_process(shards: ShardWriter) -> None:
        finish(shards)
        shutil.copytree(tmp_path / "first", place)

    monkeypatch.setattr(ShardWriter, "finish", finish_after_another_process)
    few = replace(dataset, samples=dataset.samples[:1])
    write = (
        partial(repack_dataset, tmp_path / "first", place, few, plans)
        if again
        else partial(pack_dataset, few, place)
    )
    with pytest.raises(OutputError, match="exists already"):
        write()
    assert len(read_packed(place).samples) == PAIRS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "packed", "photos", "plans"]


def test_an_index_lists_checksums_that_anyone_can_check(dataset: Dataset, tmp_path: Path) -> None:
    pack_dataset(dataset, tmp_path / "packed", size=SIDE)
    index = json.loads((tmp_path / "packed" / "index.json").read_text())
    for shard in index["shards"]:
        data = (tmp_path / "packed" / shard["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (shard["bytes"], shard["sha256"])


def test_reading_needs_only_numpy_and_pillow() -> None:
    code = (
        "import sys; from t2onet.data.packed import read_packed; "
        "print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    named = {name for name in told.stdout.split() if not name.startswith(("_", "sitecustomize"))}
    assert named == {"numpy", "PIL", "t2onet"}


def test_a_packed_set_of_an_earlier_release_is_read() -> None:
    packed = read_packed(Path(__file__).parent / "released")
    assert packed.photos.shape == (4, 16, 16, 3)
    assert packed.photos.mean((1, 2, 3)).tolist() == pytest.approx([104.94, 111.92, 79.65, 108.41], abs=1)
    assert [sample.requests for sample in packed.samples] == [
        ("make number 0 brighter",),
        ("make number 1 brighter",),
    ]
    assert packed.samples[1].intents == (Intent(Attribute.LIGHTNESS, 1, 0.5),)
    assert [text.source for text in packed.texts] == ["pairs"]

"""A small packed set: smooth pictures, a brightening or a curve for each, and requests that ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from t2onet.data.dataset import Dataset, Sample
from t2onet.data.packed import PackedSample, PackedSet, pack_dataset
from t2onet.operations import get_operation

SIZE = 32
STEPS: tuple[tuple[tuple[str, list[float]], ...], ...] = (
    (("brightness", [0.5]),),
    (("brightness", [-0.4]), ("saturation", [-0.5])),
    (("tone", [2, 1.5, 1, 1, 1, 0.5, 0.5, 0.5]),),
    (("contrast", [0.6]), ("sharpness", [0.3]), ("color", [1] * 8 + [2] * 4 + [0.5] * 4 + [1] * 8)),
)
REQUESTS = ("make it brighter", "darker and less colorful please", "lift the shadows", "more contrast")


def picture(seed: int, size: int = SIZE) -> np.ndarray:
    """(3, size, size) float32, smooth, in the middle of the range."""
    rough = np.random.default_rng(seed).random((4, 4, 3))
    image = PIL.Image.fromarray(np.uint8(60 + 120 * rough)).resize((size, size), PIL.Image.Resampling.BICUBIC)
    return np.asarray(image, np.float32).transpose(2, 0, 1) / 255


def apply_steps(image: np.ndarray, steps: tuple[tuple[str, list[float]], ...]) -> np.ndarray:
    for name, parameters in steps:
        image = get_operation(name)(image, parameters)
    return image


def plan_of(steps: tuple[tuple[str, list[float]], ...]) -> dict[str, Any]:
    """As plain data, with costs that nothing reads here."""
    done = [{"operation": name, "parameters": parameters} for name, parameters in steps]
    return {"steps": done, "start_cost": 0.1, "cost": 0.0, "costs": [0.1, 0.0]}


def levels(image: np.ndarray) -> np.ndarray:
    return np.uint8(255 * image + 0.5).transpose(1, 2, 0)


def make_packed_set(train: int = 8, val: int = 2, plans: bool = True, ways: int = len(STEPS)) -> PackedSet:
    """In memory: sample k is edited and asked for by the k-th of the first few `ways`, in turn."""
    photos, samples = [], []
    for number in range(train + val):
        kind = number % ways
        before = picture(number)
        photos += [levels(before), levels(apply_steps(before, STEPS[kind]))]
        samples.append(
            PackedSample(
                name=f"s{number}",
                split="train" if number < train else "val",
                requests=(REQUESTS[kind],),
                intents=None,
                unanswerable=None,
                labels={},
                before=2 * number,
                after=2 * number + 1,
                plan=plan_of(STEPS[kind]) if plans else None,
            )
        )
    return PackedSet(np.stack(photos), tuple(samples), ())


@dataclass(frozen=True)
class Plan:
    data: dict[str, Any]

    def to_data(self) -> dict[str, Any]:
        return self.data


class Plans(Mapping[Sample, Any]):
    """Of the samples of a packed set, found by their names."""

    def __init__(self, data: PackedSet) -> None:
        self._plans = {sample.name: Plan(sample.plan) for sample in data.samples if sample.plan}

    def __getitem__(self, sample: Sample) -> Plan:
        return self._plans[sample.name]

    def __iter__(self) -> Iterator[Sample]:
        raise AssertionError("packing asks for plans by sample and never walks them")

    def __len__(self) -> int:
        return len(self._plans)


def make_packed_folder(folder: Path, train: int = 8, val: int = 2, ways: int = len(STEPS)) -> Path:
    """The same set on disk."""
    data = make_packed_set(train, val, ways=ways)
    source = folder / "source"
    source.mkdir()
    for row, photo in enumerate(data.photos):
        PIL.Image.fromarray(photo).save(source / f"{row}.png")
    samples = [
        Sample(s.name, s.split, source / f"{s.before}.png", source / f"{s.after}.png", s.requests)
        for s in data.samples
    ]
    dataset = Dataset(source, "pairs", tuple(samples))
    pack_dataset(dataset, folder / "packed", plans=Plans(data), size=SIZE, quality=100)
    return folder / "packed"


SMALL = (
    *("hidden=32", "width=4", "image_size=16", "word_size=12", "operation_size=8"),
    *("batch=4", "sigma_photos=2"),
)
"""Settings that make the paper's network quick."""
OPPONENT = ("patch_width=4", "request_size=16")
"""The same for its discriminator."""

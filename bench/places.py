"""The place network: masks against labels and teachers, whether places are there, size and time.

`python -m bench places --folds DIR --teachers DIR`. COCO photos are trained on, so their figures come from
five networks, DIR/fold0.onnx to fold4.onnx, each of which has not seen a fifth; without --folds the network
of the package is measured on photos that it has seen. Val photos are never trained on. TEACHERS has masks of
other networks (`subject/0042.png`), as `places pack` takes them; with `mirrored/subject`, made of mirrored
photos and turned back, the teacher is measured against itself.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import PIL.Image

from bench.timing import in_turns
from t2onet import open_image
from t2onet.data.place_labels import COCO_CATEGORIES, FOLDS, LEAST_SEEN, label_pixels, list_fivek, read_coco
from t2onet.inference import WEIGHTS_FOLDER
from t2onet.operations import Frame
from t2onet.places import OpenedPhoto
from t2onet.places.named import SnappedMask, interpolate
from t2onet.places.network import CHANNELS, LEAST_CHANCE, LEAST_SHARE, PLACES_FILE, PlaceFinderNetwork

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data"
MARKS = Path(__file__).parent / "place_marks.json"
"""Whether a place is in a FiveK photo, as seen by eye on small pictures; what is unclear is left out."""
PACKAGED = ROOT / "t2onet" / WEIGHTS_FOLDER / PLACES_FILE
LEAST_COVERED = 0.05
BARS = {
    ("coco", "sky"): 0.88,
    ("coco", "person"): 0.65,
    ("val", "sky"): 0.93,
    ("val", "subject"): 0.80,
    ("coco", "other"): 0.55,
}
PRESENCE_BAR = 0.93


@dataclass(frozen=True)
class MeasuredPlace:
    """A place of one photo: how well masks fit, before and after snapping, and whether it is there."""

    source: str
    name: str
    photo: str
    covered: float
    overlap: float
    snapped: float
    chance: float
    share: float
    truth: int | None
    """1 there, 0 not, None not known."""

    @property
    def is_found(self) -> bool:
        return self.chance >= LEAST_CHANCE[self.name] and self.share >= LEAST_SHARE


def measure(network: PlaceFinderNetwork, path: Path, source: str, labels: Labels) -> Iterator[MeasuredPlace]:
    """Compare all places of a photo that have a label."""
    photo = OpenedPhoto(open_image(path))
    picture = photo.small_picture
    found = network.find(picture)
    tile = np.ascontiguousarray(photo.image.to_srgb().pixels.transpose(2, 0, 1), np.float32) / 255
    frame = Frame.around(tile[0])
    for name, (inside, unclear, truth) in labels.items():
        mask = found.get_mask(name)
        plain = interpolate(mask, frame, *tile.shape[1:]) > 0.5
        snapped = SnappedMask.fit(mask, picture).weigh(tile, frame) > 0.5
        fits = [_intersect(_resize(one, inside.shape) & ~unclear, inside) for one in (plain, snapped)]
        chance = float(found.chances[CHANNELS.index(name)])
        share = float((mask > 0.5).mean())
        yield MeasuredPlace(source, name, path.stem, inside.mean(), *fits, chance, share, truth)


Labels = dict[str, tuple[np.ndarray, np.ndarray, int | None]]
"""By place: what is inside, what is unclear, and whether it is there."""


def _resize(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if mask.shape == shape:
        return mask
    picture = PIL.Image.fromarray(mask.astype(np.float32))
    return np.asarray(picture.resize(shape[::-1], PIL.Image.Resampling.BOX)) > 0.5


def _intersect(guess: np.ndarray, truth: np.ndarray) -> float:
    return float((guess & truth).sum() / max((guess | truth).sum(), 1))


def measure_coco(networks: Sequence[PlaceFinderNetwork]) -> Iterator[MeasuredPlace]:
    """Photo n by network n of the folds."""
    for number, (path, category) in enumerate(read_coco(DATA / "coco-panoptic")):
        labels: Labels = {}
        for name in COCO_CATEGORIES:
            inside, unclear = label_pixels(category, name)
            truth = 1 if inside.mean() >= LEAST_SEEN else None if inside.any() else 0
            labels[name] = inside, unclear, truth
        yield from measure(networks[number % len(networks)], path, "coco", labels)


def measure_val(network: PlaceFinderNetwork, teachers: Path | None) -> Iterator[MeasuredPlace]:
    """Val photos against their teachers, and against what was seen by eye."""
    folder = DATA / "ma5k-req"
    marks = json.loads(MARKS.read_text(encoding="utf-8"))
    for photo in list_fivek(folder, "val"):
        labels: Labels = {}
        for name in ("sky", "subject", "person", "face"):
            path = folder / "sky" / f"{photo}.png"
            if name != "sky":
                path = (teachers or folder) / name / f"{photo}.png"
            seen = marks.get(name, {}).get(photo)
            inside = np.zeros((128, 128), bool)
            if path.is_file():
                inside = _read_inside(path)
            labels[name] = inside, np.zeros_like(inside), None if seen is None else int(seen)
        yield from measure(network, folder / "images" / f"{photo}_O.webp", "val", labels)


def _read_inside(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as picture:
        return np.asarray(picture.convert("L")) > 127


def print_teacher(teachers: Path) -> None:
    """How well the teacher of the subject agrees with itself on mirrored val photos."""
    fits = []
    for photo in list_fivek(DATA / "ma5k-req", "val"):
        paths = [folder / "subject" / f"{photo}.png" for folder in (teachers, teachers / "mirrored")]
        if all(path.is_file() for path in paths):
            mask, mirrored = map(_read_inside, paths)
            if mask.mean() >= LEAST_COVERED:
                fits.append(_intersect(mirrored, mask))
    if fits:
        low, high = bootstrap(np.array(fits))
        print(
            f"  val subject, the teacher on mirrored photos against itself: IoU {np.mean(fits):.3f} "
            f"[{low:.3f}, {high:.3f}] on {len(fits)} photos"
        )


def print_overlaps(places: Sequence[MeasuredPlace], source: str, names: Sequence[str]) -> None:
    for name in names:
        chosen = [
            one
            for one in places
            if (one.source, one.name) == (source, name) and one.covered >= LEAST_COVERED and one.truth != 0
        ]
        if not chosen:
            continue
        bar = BARS.get((source, name)) or (BARS["coco", "other"] if source == "coco" else None)
        snapped = np.array([one.snapped for one in chosen])
        low, high = bootstrap(snapped)
        print(
            f"  {source} {name}: IoU {snapped.mean():.3f} [{low:.3f}, {high:.3f}] on {len(chosen)} photos, "
            f"{np.mean([one.overlap for one in chosen]):.3f} before edges are snapped"
            + (f" (bar: {bar:.2f})" if bar else "")
        )


def bootstrap(values: np.ndarray, rounds: int = 2000) -> tuple[float, float]:
    """The 95 % interval of a mean."""
    picks = np.random.default_rng(0).integers(len(values), size=(rounds, len(values)))
    low, high = np.quantile(values[picks].mean(1), (0.025, 0.975))
    return float(low), float(high)


def print_presence(places: Sequence[MeasuredPlace]) -> None:
    """How often what is said of a place's presence is right."""
    groups: dict[tuple[str, str], list[MeasuredPlace]] = defaultdict(list)
    for one in places:
        if one.truth is not None:
            groups[one.source, one.name].append(one)
    for (source, name), known in groups.items():
        right = np.array([one.is_found == bool(one.truth) for one in known], float)
        missed = sum(one.truth == 1 and not one.is_found for one in known)
        seen = sum(one.truth == 0 and one.is_found for one in known)
        low, high = bootstrap(right)
        bar = f" (bar: {PRESENCE_BAR:.2f})" if name in ("sky", "person") else ""
        print(
            f"  {source} {name} there or not: right in {right.mean():.3f} [{low:.3f}, {high:.3f}] of "
            f"{len(known)}; missed {missed} of {sum(one.truth == 1 for one in known)}, "
            f"seen where there is none {seen}{bar}"
        )


def main(arguments: Sequence[str] = ()) -> int:
    """Print all figures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench places", description=__doc__)
    parser.add_argument("--folds", type=Path, help="folder of fold0.onnx to fold4.onnx")
    parser.add_argument("--teachers", type=Path, help="folder of the teachers' masks")
    parser.add_argument("--network", type=Path, default=PACKAGED, help="network to measure")
    parser.add_argument("--dump", type=Path, help="file for the figures of each photo, as JSON lines")
    options = parser.parse_args(list(arguments))
    network = PlaceFinderNetwork(options.network)
    picture = np.random.default_rng(0).random((3, 341, 512)).astype(np.float32)
    taken = in_turns({"one run": lambda: network.find(picture)}, rounds=20)["one run"]
    print(
        f"  {options.network.stat().st_size / 1e6:.2f} MB, {1000 * taken:.0f} ms a photo (bars: 8 MB, 250 ms)"
    )
    if not DATA.is_dir():
        print(f"  {DATA.relative_to(ROOT.parent)} is absent; nothing else to measure")
        return 0
    networks = [network]
    if options.folds:
        networks = [PlaceFinderNetwork(options.folds / f"fold{number}.onnx") for number in range(FOLDS)]
    print(f"  COCO: {'five folds' if options.folds else 'photos that the network was trained on'}")
    places = [*measure_coco(networks), *measure_val(network, options.teachers)]
    print_overlaps(places, "coco", tuple(COCO_CATEGORIES))
    print_overlaps(places, "val", ("sky", "subject", "person", "face"))
    if options.teachers:
        print_teacher(options.teachers)
    print_presence(places)
    if options.dump:
        options.dump.write_text("\n".join(json.dumps(vars(one)) for one in places), encoding="utf-8")
    return 0

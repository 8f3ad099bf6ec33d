"""Local planning: one edit or one removal planted in a segment of 100 COCO photos, and found again."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import PIL.Image

from t2onet import Mask, Recipe, apply, open_image, operations
from t2onet.planning.local import LocalPlan, plan_local
from t2onet.planning.segments import intersection_over_union, masks_from_panoptic, resize_region

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data" / "coco-panoptic"
SHORT_SIDE = 200
LEAST_AREA, LEAST_CHANGE, SAME = 0.01, 0.03, 0.9
SPREAD = {"tone": 0.75, "color": 0.75}
"""Rises of a planted curve: one, give or take this."""


@dataclass(frozen=True)
class Scene:
    """A photo (H, W, 3) of 8 bits, its segments and which of them are things."""

    name: str
    pixels: np.ndarray
    regions: list[np.ndarray]
    things: list[np.ndarray]


def main() -> None:
    _large_photo()
    if not DATA.is_dir():
        print(f"  {DATA.relative_to(ROOT.parent)} is absent; nothing else to measure")
        return
    _edits(given=True)
    _edits(given=False)
    for fill in FILLS:
        _removals(fill)


def scenes() -> Iterator[Scene]:
    """The photos at a short side of 200 pixels, with their panoptic segments."""
    data = json.loads((DATA / "panoptic_train2017.json").read_text(encoding="utf-8"))
    things = {c["id"] for c in data["categories"] if c["isthing"]}
    for entry in sorted(data["annotations"], key=lambda one: one["file_name"]):
        yield _scene(entry, things, data)


def _scene(entry: dict[str, Any], things: set[int], data: dict[str, Any]) -> Scene:
    name = Path(entry["file_name"]).stem
    with PIL.Image.open(DATA / "images" / f"{name}.jpg") as picture:
        scale = SHORT_SIDE / min(picture.size)
        size = round(picture.width * scale), round(picture.height * scale)
        pixels = np.asarray(picture.convert("RGB").resize(size, PIL.Image.Resampling.BOX))
    regions = [
        resize_region(region, *pixels.shape[:2])
        for region in masks_from_panoptic(DATA / "panoptic_train2017" / f"{name}.png", data)
    ]
    kinds = [s["category_id"] in things and not s["iscrowd"] for s in entry["segments_info"]]
    return Scene(name, pixels, regions, [r for r, thing in zip(regions, kinds, strict=True) if thing])


def _large_photo() -> None:
    """Two edits in overlapping masks of a photo from the examples, at its full size."""
    photo = np.asarray(open_image(ROOT / "examples" / "dogs.jpg"))
    rows, columns = np.mgrid[: photo.shape[0], : photo.shape[1]] / min(photo.shape[:2])
    disc, band = (rows - 0.7) ** 2 + (columns - 0.45) ** 2 < 0.3**2, abs(rows - 0.6) < 0.2
    planted = [("contrast", 0.8, Mask.from_array(disc)), ("brightness", 0.3, Mask.from_array(band))]
    after = np.asarray(apply(Recipe.from_steps(planted), photo))
    for masks, words in (([disc, band, ~band], "masks given"), (None, "the default segmenter")):
        plan_local(photo, after, masks=masks)  # loads what it needs
        start = perf_counter()
        plan = plan_local(photo, after, masks=masks)
        seconds = perf_counter() - start
        print(
            f"  two overlapping edits, {photo[..., 0].size / 1e6:.1f} megapixels, {words}: {seconds:.2f} s, "
            f"difference {plan.start_cost:.4f} -> {plan.cost:.4f}"
        )
        print(f"    {', '.join(step.operation for step in plan.recipe.steps)}")


def _large(regions: list[np.ndarray], most: float = 1.0) -> list[np.ndarray]:
    return [region for region in regions if LEAST_AREA <= region.mean() <= most]


def _edits(given: bool) -> None:
    """With the photo's segments as candidates, or with those that the default segmenter finds."""
    right, strict, count, missed, seconds = 0, 0, 0, Counter[str](), []
    for number, scene in enumerate(scenes()):
        planted = _planted(scene, np.random.default_rng(number))
        if planted is None:
            continue
        name, region, after = planted
        start = perf_counter()
        plan = plan_local(scene.pixels, after, masks=scene.regions if given else None)
        seconds.append(perf_counter() - start)
        count += 1
        found = _found(plan, region)
        good = found in ({"tone", "color"} if name == "tone" else {name})
        right += good
        strict += good and len(plan.recipe) == 1
        if not good:
            missed[f"{name} as {found}"] += 1
            if "-v" in sys.argv:
                print(scene.name, name, plan.recipe.describe(), plan.costs)
    masks = "its segments" if given else "the default segmenter (no bar)"
    print(f"  edits, {masks}: mask and operation found in {right} of {count}, in one step {strict} (bar: 90)")
    print(f"    missed: {_listed(missed)}; median {np.median(seconds):.2f} s a pair")


def _listed(missed: Counter[str]) -> str:
    return ", ".join(f"{what} ({times})" for what, times in missed.most_common()) or "none"


def _planted(scene: Scene, rng: np.random.Generator) -> tuple[str, np.ndarray, np.ndarray] | None:
    """A random operation in a random segment, the mean change there at least three hundredths."""
    regions = _large(scene.regions)
    for _ in range(200 if regions else 0):
        name = str(rng.choice(list(operations.PAPER)))
        region = regions[rng.integers(len(regions))]
        after = _edited(scene.pixels, region, name, _values(name, rng))
        if np.abs(after.astype(float) - scene.pixels)[region].mean() / 255 >= LEAST_CHANGE:
            return name, region, after
    return None


def _values(name: str, rng: np.random.Generator) -> np.ndarray:
    """Within half of the range around the default, or around a straight curve."""
    slots = operations.get_operation(name).slots
    low = [1 - SPREAD[name] if name in SPREAD else (s.low + s.default) / 2 for s in slots]
    high = [1 + SPREAD[name] if name in SPREAD else (s.high + s.default) / 2 for s in slots]
    return rng.uniform(low, high)


def _edited(pixels: np.ndarray, region: np.ndarray, name: str, values: np.ndarray) -> np.ndarray:
    image = np.ascontiguousarray(pixels.transpose(2, 0, 1), np.float32) / np.float32(255)
    edited = operations.get_operation(name)(image, values.astype(np.float32)).transpose(1, 2, 0)
    return np.where(region[..., None], np.round(255 * edited), pixels).astype(np.uint8)


def _found(plan: LocalPlan, region: np.ndarray) -> str:
    """The first operation planned in that region."""
    for step, where in zip(plan.recipe.steps, plan.regions, strict=True):
        if where is not None and intersection_over_union(where, region) >= SAME:
            return step.operation
    return "another mask" if plan.recipe.steps else "nothing"


def _removals(fill: str) -> None:
    """Objects taken out by `fill` and, the other way round, objects put in, which are no removals."""
    right, count, missed, wrong, seconds = 0, 0, Counter[str](), 0, []
    for number, scene in enumerate(scenes()):
        rng = np.random.default_rng(number)
        things = _large(scene.things, 0.4) or _large(scene.regions, 0.4)
        region = things[rng.integers(len(things))] if things else None
        after = None if region is None else FILLS[fill](scene.pixels, region)
        if region is None or after is None:
            continue
        start = perf_counter()
        plan = plan_local(scene.pixels, after, masks=scene.regions)
        seconds.append(perf_counter() - start)
        count += 1
        found = _found(plan, region)
        right += found == "inpaint"
        if found != "inpaint":
            missed[found] += 1
            if "-v" in sys.argv:
                print(scene.name, plan.recipe.describe(), plan.costs)
        back = plan_local(after, scene.pixels, masks=scene.regions)
        wrong += any(step.operation == "inpaint" for step in back.recipe.steps)
    print(f"  removals by {fill}: found in {right} of {count} (bar: 90 %); missed: {_listed(missed)}")
    print(f"    put back: called a removal in {wrong} of {count}; median {np.median(seconds):.2f} s a pair")


def _navier_stokes(pixels: np.ndarray, region: np.ndarray) -> np.ndarray:
    import cv2

    filled: np.ndarray = cv2.inpaint(np.ascontiguousarray(pixels), region.astype(np.uint8), 9, cv2.INPAINT_NS)
    return filled


def _biharmonic(pixels: np.ndarray, region: np.ndarray) -> np.ndarray:
    from skimage.restoration import inpaint_biharmonic

    filled = inpaint_biharmonic(pixels, region, channel_axis=-1, split_into_regions=False)
    return np.round(255 * np.clip(filled, 0, 1)).astype(np.uint8)


def _copied(pixels: np.ndarray, region: np.ndarray) -> np.ndarray | None:
    """The nearest patch of the picture that shares no pixel with the region; None where there is no room."""
    rows, columns = np.nonzero(region)
    height, width = region.shape
    downs = range(-rows.min(), height - rows.max())
    rights = range(-columns.min(), width - columns.max())
    for way in sorted(product(downs, rights), key=lambda way: way[0] ** 2 + way[1] ** 2):
        if not region[rows + way[0], columns + way[1]].any():
            return np.where(region[..., None], np.roll(pixels, (-way[0], -way[1]), (0, 1)), pixels)
    return None


def _healed(pixels: np.ndarray, region: np.ndarray) -> np.ndarray | None:
    """The same patch, its colours shifted smoothly so that its edge meets the picture."""
    import cv2

    copied = _copied(pixels, region)
    if copied is None:
        return None
    ring = cv2.dilate(region.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    beyond = _copied(pixels, ring)
    if beyond is None:
        return None
    levels = np.where(region[..., None], 0, pixels.astype(np.float32) - beyond)
    shifts = [
        cv2.inpaint(np.ascontiguousarray(channel + 255), region.astype(np.uint8), 5, cv2.INPAINT_NS) - 255
        for channel in np.moveaxis(levels, -1, 0).astype(np.float32)
    ]
    healed = np.clip(np.round(beyond + np.stack(shifts, axis=-1)), 0, 255)
    return np.where(region[..., None], healed, pixels).astype(np.uint8)


FILLS = {
    "Navier-Stokes": _navier_stokes,
    "biharmonic": _biharmonic,
    "a healed patch": _healed,
    "a patch with hard edges": _copied,
}
"""Who removed it; ours is Telea."""

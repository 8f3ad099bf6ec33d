"""How an edited photo is framed in the original: crops, turns and mirrors, whatever was done to its tones."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
import PIL.Image
import pytest

from t2onet import Recipe, apply, open_image, plan
from t2onet.errors import PlanError
from t2onet.image import Image
from t2onet.operations.geometry import CropBox, find_crop_box, find_inscribed_size
from t2onet.planning import framing
from t2onet.planning.framing import open_framed_pair
from t2onet.planning.pictures import StepSequence
from tests.conftest import EXAMPLES
from tests.planning.scenes import scene

LOOKS: dict[str, list[tuple[str, object]]] = {
    "as it was": [],
    "brighter": [("exposure", 0.7), ("contrast", 0.3)],
    "darker and warmer": [("white_balance", {"temperature": 30}), ("exposure", -1.0)],
    "black and white": [("black_and_white", {"amount": 100, "red mix": -40}), ("contrast", 0.4)],
}
CROP = (0.15, 0.3, 0.85, 0.92)


@cache
def photo(name: str, size: int = 400) -> np.ndarray:
    return np.asarray(open_image(EXAMPLES / f"{name}.jpg").resize(size))


def synthetic(size: int = 200) -> np.ndarray:
    return np.round(scene(size).transpose(1, 2, 0) * 255).astype(np.uint8)[:, : size * 3 // 4]


def edit(steps: list[tuple[str, object]], before: np.ndarray) -> np.ndarray:
    return np.asarray(apply(Recipe.from_steps(steps), before))


def resize(picture: np.ndarray, share: float) -> np.ndarray:
    height, width = (round(side * share) for side in picture.shape[:2])
    return np.asarray(PIL.Image.fromarray(picture).resize((width, height), PIL.Image.Resampling.LANCZOS))


def compress(picture: np.ndarray) -> np.ndarray:
    stream = io.BytesIO()
    PIL.Image.fromarray(picture).save(stream, "JPEG", quality=75)
    return np.asarray(PIL.Image.open(stream))


def find(before: np.ndarray, after: np.ndarray) -> StepSequence:
    return open_framed_pair(before, after).framing


def box(steps: StepSequence, before: np.ndarray) -> CropBox:
    """The pixels of the crop, in the photo as it is turned."""
    height, width = before.shape[:2]
    for step in steps:
        if step.operation == "rotate" and step.parameters[0] != 180:
            height, width = width, height
        if step.operation == "straighten":
            height, width = find_inscribed_size(height, width, step.parameters[0])
        if step.operation == "crop":
            return find_crop_box(height, width, step.parameters)
    return CropBox(0, height, 0, width)


def assert_near(found: StepSequence, made: Recipe, before: np.ndarray, pixels: float) -> None:
    assert [step.operation for step in found] == [step.operation for step in made.steps]
    off = np.abs(np.subtract(box(found, before), box(made.steps, before)))
    assert off.max() <= pixels, (found, made.steps)


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("fig", "black and white"),
        *(pytest.param(name, look, marks=pytest.mark.slow) for name in ("dogs", "trail") for look in LOOKS),
    ],
)
def test_a_crop_is_found_to_the_pixel_whatever_the_look(name: str, look: str) -> None:
    before, crop = photo(name), ("crop", CROP)
    after = compress(edit([crop, *LOOKS[look]], before))
    assert_near(find(before, after), Recipe.from_steps([crop]), before, 0)


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [False, True], ids=["", "mirrored"])
@pytest.mark.parametrize("angle", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True], ids=["whole", "cropped"])
def test_quarter_turns_and_mirrors(angle: int, mirrored: bool, cropped: bool) -> None:
    before = synthetic()
    steps = [("rotate", angle)] * bool(angle) + [("flip", (1, 0))] * mirrored + [("crop", CROP)] * cropped
    after = edit([*steps, *LOOKS["brighter"]], before)
    found = find(before, after)
    # Turned upside down and mirrored is mirrored top to bottom.
    assert np.array_equal(np.asarray(apply(Recipe(steps=found), before)), edit(steps, before))


@pytest.mark.slow
def test_mirrored_top_to_bottom_is_one_step() -> None:
    before = photo("fig")
    (step,) = find(before, before[::-1])
    assert (step.operation, step.parameters) == ("flip", (0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.6, 0.35, 1.4])
def test_a_resized_export_is_found_to_a_pixel_of_the_smaller(share: float) -> None:
    before, crop = photo("dogs", 600), ("crop", CROP)
    after = compress(resize(edit([crop, *LOOKS["brighter"]], before), share))
    assert_near(find(before, after), Recipe.from_steps([crop]), before, max(1, 1 / share))


@pytest.mark.slow
@pytest.mark.parametrize("crop", [(0.4, 0.35, 0.6, 0.5), (0.0, 0.4, 1.0, 0.6), (0.02, 0.02, 0.98, 0.98)])
def test_small_narrow_and_nearly_whole_crops(crop: tuple[float, ...]) -> None:
    before = photo("trail", 600)
    assert_near(find(before, edit([("crop", crop)], before)), Recipe.from_steps([("crop", crop)]), before, 0)


@pytest.mark.slow
def test_a_crop_of_the_same_shape_at_the_same_size() -> None:
    """The sizes do not tell that anything was cropped."""
    before = photo("fig")
    height, width = before.shape[:2]
    crop = ("crop", (0.1, 0.1, 0.8, 0.8))
    after = np.asarray(PIL.Image.fromarray(edit([crop], before)).resize((width, height)))
    assert_near(find(before, after), Recipe.from_steps([crop]), before, 1)


@pytest.mark.slow
@pytest.mark.parametrize("angle", [-4.0, -0.8, 1.5, 6.0])
@pytest.mark.parametrize("cropped", [False, True], ids=["whole", "cropped"])
def test_straightening(angle: float, cropped: bool) -> None:
    before = photo("trail", 600)
    steps = [("straighten", angle), *([("crop", CROP)] * cropped)]
    found = find(before, edit([*steps, *LOOKS["brighter"]], before))
    assert_near(found, Recipe.from_steps(steps), before, 1)
    assert found[0].parameters[0] == pytest.approx(angle, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(slice(0, 200), slice(0, 200)), (slice(0, 90), slice(20, 260))])
@pytest.mark.parametrize(("one", "other"), [("fig", "trail"), ("sunset", "dogs"), ("meadow", "stream")])
def test_another_photo_is_not_a_part(one: str, other: str, shape: tuple[slice, slice]) -> None:
    with pytest.raises(PlanError, match="is not a part of the first"):
        find(photo(one), photo(other, 300)[shape])


@pytest.mark.slow
def test_the_whole_is_not_a_part_of_a_crop() -> None:
    with pytest.raises(PlanError, match="is not a part of the first"):
        find(edit([("crop", (0.3, 0.2, 0.8, 0.5))], photo("fig")), photo("fig"))


def test_pictures_without_structure_are_nowhere_in_particular() -> None:
    with pytest.raises(PlanError, match="is not a part of the first"):
        find(photo("fig"), np.full((50, 200, 3), 120, np.uint8))


def test_photos_that_are_framed_alike_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "find_placement", lambda *_: pytest.fail("searched"))
    before = photo("dogs")
    for look in LOOKS.values():
        assert find(before, edit(look, before)) == ()
    assert find(before, resize(before, 0.6)) == ()


def test_a_strong_edit_is_not_taken_for_geometry() -> None:
    """Structure hardly agrees, but no other framing fits better."""
    before = photo("fig")
    after = edit(
        [("black_and_white", {"amount": 100, "red mix": -100}), ("blacks", -100), ("clarity", 100)], before
    )
    assert find(before, after) == ()


@pytest.mark.slow
@pytest.mark.parametrize("operations", ["darkroom", "paper"])
def test_a_plan_has_the_geometry_and_the_look(operations: str) -> None:
    before = photo("fig", 500)
    made = [("rotate", 90), ("crop", CROP), ("brightness", 0.3)]
    after = compress(resize(edit(made, before), 0.8))
    found = plan(before, after, operations=operations)
    assert [step.operation for step in found.recipe.steps[:2]] == ["rotate", "crop"]
    assert len(found.pictures) == len(found.costs) == len(found.recipe) + 1
    assert {picture.shape for picture in found.pictures} == {found.target.shape}
    assert found.cost < 0.3 * found.start_cost
    again = np.asarray(apply(found.recipe, before))
    assert np.abs(np.subtract(again.shape, edit(made, before).shape)).max() <= 1


@pytest.mark.slow
def test_a_large_photo_is_cropped_to_the_pixel() -> None:
    before = np.asarray(open_image(EXAMPLES / "stream.jpg"))
    crop = ("crop", (0.123, 0.21, 0.777, 0.9))
    after = compress(edit([crop, *LOOKS["darker and warmer"]], before))
    assert_near(find(before, after), Recipe.from_steps([crop]), before, 0)
    small = compress(resize(after, 0.25))
    assert_near(find(before, small), Recipe.from_steps([crop]), before, 2)


@pytest.mark.parametrize(("at", "side", "share"), [(250, 1000, 0.25), (333, 1000, 0.333), (1, 6000, 0.0002)])
def test_shares_are_as_short_as_the_pixel_allows(at: int, side: int, share: float) -> None:
    assert framing._shorten_share(at, side) == share


@pytest.mark.slow
def test_alpha_and_depth_are_kept_by_the_recipe() -> None:
    deep = Image(photo("fig").astype(np.uint16) * 257)
    after = apply(Recipe.from_steps([("crop", CROP)]), deep)
    assert_near(open_framed_pair(deep, after).framing, Recipe.from_steps([("crop", CROP)]), photo("fig"), 0)

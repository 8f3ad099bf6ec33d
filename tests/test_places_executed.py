"""Steps with a `where`: resolved on the photo as it was opened, at any size, depth and stage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from t2onet import Mask, Recipe, apply, bands, executor, intermediates, open_image
from t2onet.errors import PlaceWarning
from t2onet.places import FINDERS, resolve_where
from t2onet.recipe import where
from tests.conftest import EXAMPLES
from tests.places.helpers import resolve, smooth_picture

BOTH_PATHS = pytest.mark.parametrize("kernels", [False, True], ids=["formula", "kernels"])
PICTURE = smooth_picture(60, 90)
EVERYWHERE = "top or bottom"
PLACES: list[Any] = [
    *("shadows", "highlights except blues", "(shadows or reds) and top"),
    {"linear": {"from": [0.5, 0.2], "to": [0.4, 0.9]}},
    {"of": "midtones", "grow": 20, "soften": 30},
]
STEPS: list[tuple[str, Any]] = [("exposure", 1), ("saturation", 0.5), ("sharpness", 0.8), ("clarity", 60)]


def render(steps: Any, picture: np.ndarray = PICTURE, **options: Any) -> np.ndarray:
    return np.asarray(apply(Recipe.from_steps(steps), picture, **options))


@BOTH_PATHS
@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[0])
def test_a_step_is_blended_by_the_mask_of_its_place(kernels: bool, place: Any, step: Any) -> None:
    everywhere = render([step], kernels=kernels)
    mask = resolve(place, PICTURE)[..., None]
    expected = PICTURE + mask * (everywhere - PICTURE)
    assert render([(*step, place)], kernels=kernels) == pytest.approx(expected, abs=0.01)


@BOTH_PATHS
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_everywhere_is_the_step_itself(kernels: bool, dtype: str) -> None:
    picture = PICTURE if dtype == "float32" else (PICTURE * np.iinfo(dtype).max).astype(dtype)
    slack = 1e-5 if dtype == "float32" else 1
    for step in STEPS:
        local, whole = (render([one], picture, kernels=kernels) for one in ((*step, EVERYWHERE), step))
        assert np.abs(local.astype(np.float64) - whole).max() <= slack


@BOTH_PATHS
def test_a_place_and_what_is_not_in_it_make_the_whole(kernels: bool) -> None:
    step = ("exposure", 1.0)
    inside, outside = (render([(*step, one)], kernels=kernels) for one in ("shadows", "not shadows"))
    whole = render([step], kernels=kernels)
    assert inside + outside - PICTURE == pytest.approx(whole, abs=0.005)


@BOTH_PATHS
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_tiles_meet_at_a_place(kernels: bool, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.random.default_rng(9).integers(0, 256, (90, 50, 3), dtype=np.uint8)
    steps = [("sharpness", 0.6, place), ("tone", [1, 2, 1, 1, 1, 1, 1, 2], place), ("exposure", 0.5)]
    whole = render(steps, picture, kernels=kernels)
    monkeypatch.setattr(bands, "BAND_PIXELS", 7 * 50)
    monkeypatch.setattr(bands, "MIN_BAND_REACHES", 0)
    assert np.array_equal(render(steps, picture, kernels=kernels, threads=2), whole)


def test_a_place_is_found_on_the_photo_as_it_was_opened() -> None:
    lifted = render([("exposure", 3), ("saturation", -1, "shadows")])
    mask = resolve("shadows", PICTURE)
    grey = np.ptp(lifted, axis=-1) < 1e-4
    assert grey[mask == 1].all(), "shadows of the opened photo, although they are bright by now"
    assert not grey[mask == 0].all()


@pytest.mark.parametrize("place", ["blacks", "shadows", "midtones", "highlights", "whites"])
@pytest.mark.parametrize("ev", [-1, 1])
def test_a_stop_in_one_tonal_range_keeps_the_order_of_tones(place: str, ev: float) -> None:
    tones = np.repeat(np.linspace(0, 1, 500)[None, :, None], 3, axis=2)
    changed = render([("exposure", ev, place)], tones)[0, :, 0]
    assert np.diff(changed).min() > -1e-3, "but for the steps of a mask of 8 bits"
    assert np.abs(changed - tones[0, :, 0]).max() > 0.02


def test_steps_of_the_same_place_share_their_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[object] = []

    def counted(place: Any, *arguments: Any, **options: Any) -> np.ndarray:
        resolved.append(place)
        return resolve_where(place, *arguments, **options)

    monkeypatch.setattr(executor, "resolve_where", counted)
    render([("exposure", 1, "shadows"), ("contrast", 0.2, "Shadows"), ("exposure", -1, "highlights")])
    assert resolved == ["shadows", "highlights"]


@BOTH_PATHS
def test_ranges_follow_geometry_and_positions_are_those_of_the_new_frame(kernels: bool) -> None:
    frame = [("crop", [0.1, 0.2, 0.9, 1.0]), ("flip", 1), ("rotate", 90)]
    cropped = render(frame)
    for place in ("shadows", "top", "shadows and top"):
        before = render([*frame, ("exposure", 1, place)], kernels=kernels)
        assert before == pytest.approx(render([("exposure", 1, place)], cropped, kernels=kernels), abs=1e-5)
    changed = render([("exposure", -2), *frame, ("saturation", -1, "shadows")], kernels=kernels)
    grey = np.ptp(changed, axis=-1) < 1e-4
    mask = resolve("shadows", cropped)
    assert grey[mask == 1].all()
    assert not grey[mask == 0].any(), "shadows of the opened photo, not of the darkened one"


def test_geometry_after_a_place_moves_what_was_done() -> None:
    local, frame = ("exposure", 1, "shadows"), ("rotate", 90)
    assert np.array_equal(render([local, frame]), render([frame], render([local])))


@pytest.mark.parametrize("kernels", [False, True])
def test_intermediates_and_stages_find_places_on_the_opened_photo(kernels: bool) -> None:
    picture = (PICTURE * 65535).astype(np.uint16)
    steps: list[Any] = [
        ("exposure", 2),
        ("crop", [0, 0, 0.8, 0.9]),
        ("contrast", 0.5, "shadows"),
        ("flip", 1),
    ]
    recipe = Recipe.from_steps([*steps, ("saturation", -0.5, "highlights and top")])
    wholes = [
        np.asarray(apply(Recipe(steps=recipe.steps[:n]), picture, kernels=kernels)) for n in range(1, 6)
    ]
    one_by_one = [np.asarray(image) for image in intermediates(recipe, picture, kernels=kernels)]
    stages = executor.render_stages(recipe, picture, last=np.uint16, kernels=kernels)
    for whole, intermediate, stage in zip(wholes, one_by_one, stages, strict=True):
        assert np.abs(intermediate.astype(int) - whole).max() <= 8
        assert np.abs(stage.astype(int) - whole).max() <= 8
    for begun in (1, 2, 3, 4):
        rest = Recipe(steps=recipe.steps[begun:])
        done = recipe.steps[:begun]
        opened = open_image(picture)
        (*_, last) = executor.render_stages(
            rest, stages[begun - 1], last=np.uint16, opened=opened, done=done, kernels=kernels
        )
        assert np.abs(last.astype(int) - wholes[-1]).max() <= 8, "a preview goes on from a stage"


def test_a_repair_leaves_the_opened_photo_as_it_was() -> None:
    pytest.importorskip("cv2")
    mask = Mask.from_array(np.pad(np.ones((2, 2)), 3))
    steps: list[Any] = [("rotate", 90), ("inpaint", [], mask), ("exposure", 1, "shadows")]
    turned = render([("rotate", 90)])
    repaired = render(steps[:2])
    expected = repaired + resolve("shadows", turned)[..., None] * (
        render([("exposure", 1)], repaired) - repaired
    )
    assert render(steps) == pytest.approx(expected, abs=0.005)


def test_masks_and_places_share_the_memory_for_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    mask = Mask.from_array(np.eye(6, 9, dtype=np.float32))
    steps = [("exposure", 0.2, part) for part in ("shadows", mask, "reds", "top", mask)]
    together = render(steps)
    sizes: list[int] = []

    class Run(executor._Execution):
        def _resolve_places(self, steps: Any, opened: Any) -> Any:
            places = super()._resolve_places(steps, opened)
            sizes.append(sum(one.levels.size for one in places.values()))
            return places

    monkeypatch.setattr(executor, "_Execution", Run)
    monkeypatch.setattr(executor, "MAX_MASK_BYTES", 60 * 90)
    assert render(steps) == pytest.approx(together, abs=1e-6)
    assert max(sizes) <= 60 * 90
    assert len(sizes) > 2


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_preview_predicts_the_export(place: Any) -> None:
    steps = [("exposure", 1, place), ("saturation", 0.4, place)]
    exported = open_image(render(steps, smooth_picture(1200, 1800), kernels=True)).resize(300)
    shown = render(steps, smooth_picture(300, 450))
    difference = np.abs(np.asarray(exported) - shown)
    assert difference.mean() < 0.5 / 255
    assert difference.max() < 0.03


def test_a_named_place_is_found_in_the_frame_of_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = []

    def find(picture: np.ndarray) -> np.ndarray:
        shapes.append(picture.shape)
        return np.ones((4, 4))

    monkeypatch.setattr(where, "PLACES", ("meadow",))
    monkeypatch.setitem(FINDERS, "meadow", find)
    steps = [("rotate", 90), ("exposure", 1, "meadow")]
    assert render(steps) == pytest.approx(render([("rotate", 90), ("exposure", 1)]), abs=1e-5)
    assert shapes == [(3, 90, 60)]


@BOTH_PATHS
def test_steps_at_a_place_that_is_not_there_are_left_out(kernels: bool) -> None:
    photo = open_image(EXAMPLES / "fig.jpg").resize(200)
    look = Recipe.from_steps([("exposure", -1, "sky"), ("saturation", 0.3, "sky"), ("contrast", 0.2)])
    notes: list[str] = []
    after = apply(look, photo, kernels=kernels, notes=notes)
    assert notes == ["I see no sky in this photo; exposure and saturation left out"]
    expected = apply(Recipe.from_steps([("contrast", 0.2)]), photo, kernels=kernels)
    np.testing.assert_allclose(after.pixels, expected.pixels, atol=1)


def test_what_is_left_out_is_said_also_without_a_list_for_it() -> None:
    photo = open_image(EXAMPLES / "fig.jpg").resize(200)
    with pytest.warns(PlaceWarning, match=r"^I see no sky in this photo; exposure left out$"):
        apply(Recipe.from_steps([("exposure", -1, "sky")]), photo)

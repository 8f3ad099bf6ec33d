"""Local planning: an edit planted in one part of a picture is found there again."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

from t2onet import Mask, Recipe, apply, operations
from t2onet.errors import PlanError
from t2onet.planning.local import CandidateStep, LocalSearch, LocalSearchState, plan_local, refine_local_steps
from t2onet.planning.masked import (
    LocalStep,
    MaskCandidate,
    PixelSample,
    describe_location,
    dilate_region,
    downsample_for_structure,
    edge_correlation,
    is_removal,
    is_structure_lost,
    outline_contrast,
    render_local_steps,
)
from t2onet.planning.pictures import apply_step
from t2onet.planning.segments import intersection_over_union, resize_region
from t2onet.recipe import Step
from tests.conftest import open_example

SHAPE = (80, 100)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]
DISC = (ROWS - 40) ** 2 + (COLUMNS - 30) ** 2 < 20**2
BOX = (abs(ROWS - 40) < 15) & (abs(COLUMNS - 75) < 15)
SKY = ROWS < 15
BAND = abs(ROWS - 40) < 12
MASKS = [DISC, BOX, SKY, DISC | BOX]
NAMES = list(operations.PAPER)
CURVE = [0.4, 1.8, 0.6, 1.5, 0.5, 1.2, 1.4, 0.6]


@pytest.fixture(scope="module")
def before() -> np.ndarray:
    """(H, W, 3) uint8: soft colours with grain."""
    rng = np.random.default_rng(3)
    coarse = np.kron(rng.uniform(0.15, 0.8, (8, 10, 3)), np.ones((10, 10, 1)))
    values = np.clip(coarse + rng.normal(0, 0.06, (*SHAPE, 3)), 0, 1)
    return (255 * values).astype(np.uint8)


def apply_steps(pixels: np.ndarray, *steps: tuple[str, object, np.ndarray | None]) -> np.ndarray:
    made = [(name, p) if m is None else (name, p, Mask.from_array(m)) for name, p, m in steps]
    return np.asarray(apply(Recipe.from_steps(made), pixels))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("brightness", 0.4),
        ("brightness", -0.3),
        ("contrast", 0.4),
        ("saturation", -0.45),
        ("sharpness", 0.4),
        ("sharpness", -0.2),
        ("tone", CURVE),
        ("color", [*CURVE, *[1] * 8, *CURVE[::-1]]),
    ],
)
def test_one_edit_is_found_with_its_mask(before: np.ndarray, name: str, parameters: object) -> None:
    after = apply_steps(before, (name, parameters, DISC))
    plan = plan_local(before, after, masks=MASKS)
    (step,) = plan.recipe.steps
    assert step.operation == name
    assert plan.regions[0] is DISC
    if step.parameters[1:] == ():
        assert step.parameters[0] == pytest.approx(parameters, abs=0.03)
    assert plan.cost < 0.15 * plan.start_cost


def test_edits_in_two_places_are_two_steps(before: np.ndarray) -> None:
    after = apply_steps(before, ("brightness", 0.4, DISC), ("saturation", -0.5, BOX))
    plan = plan_local(before, after, masks=MASKS)
    found = {step.operation: region for step, region in zip(plan.recipe.steps, plan.regions, strict=True)}
    assert found["brightness"] is DISC
    assert found["saturation"] is BOX
    assert len(found) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "planted",
    [
        [("saturation", -0.6, DISC), ("brightness", 0.3, BAND)],
        [("brightness", -0.3, DISC), ("saturation", -0.5, BAND)],
        [("contrast", 0.8, DISC), ("brightness", 0.3, BAND)],
        [("tone", CURVE, DISC), ("saturation", -0.6, BAND)],
    ],
    ids=lambda planted: " and ".join(step[0] for step in planted),
)
def test_steps_in_overlapping_masks_are_told_apart(
    before: np.ndarray, planted: list[tuple[str, float, np.ndarray]]
) -> None:
    plan = plan_local(before, apply_steps(before, *planted), masks=[DISC, BAND, BOX])
    found = {step.operation: region for step, region in zip(plan.recipe.steps, plan.regions, strict=True)}
    assert found.keys() == {step[0] for step in planted}
    assert all(found[name] is mask for name, _, mask in planted)
    assert plan.cost < 0.05 * plan.start_cost


def actions(*steps: tuple[str, list[float], np.ndarray | None]) -> list[LocalStep]:
    return [
        LocalStep(Step.from_trusted(name, tuple(p)), MaskCandidate(mask, SHAPE)) for name, p, mask in steps
    ]


def pictures(*photos: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(p.transpose(2, 0, 1), np.float32) / np.float32(255) for p in photos]


def test_a_joint_fit_frees_steps_that_locked_each_other_in(before: np.ndarray) -> None:
    after = apply_steps(
        before, ("saturation", -0.6, DISC), ("brightness", 0.3, BAND), ("sharpness", 0.3, DISC)
    )
    start, target = pictures(before, after)
    steps = actions(("saturation", [-0.1], DISC), ("brightness", [0.1], BAND), ("sharpness", [0.05], DISC))
    better = refine_local_steps(steps, start, target, NAMES)
    assert {s.operation: s.step.parameters[0] for s in better} == pytest.approx(
        {"saturation": -0.6, "brightness": 0.3, "sharpness": 0.3}, abs=0.03
    )
    off = [float(np.abs(render_local_steps(s, start)[1][-1] - target).mean()) for s in (steps, better)]
    assert off[1] < 0.2 * off[0]


def test_steps_are_put_in_their_order(before: np.ndarray) -> None:
    start, target = pictures(before, apply_steps(before, ("contrast", 0.8, DISC), ("brightness", 0.3, BAND)))
    better = refine_local_steps(
        actions(("brightness", [0.3], BAND), ("contrast", [0.3], DISC)), start, target, NAMES
    )
    assert [step.operation for step in better] == ["contrast", "brightness"]
    assert [step.step.parameters[0] for step in better] == pytest.approx([0.8, 0.3], abs=0.02)


def test_what_others_make_up_for_is_dropped_and_what_is_simple_said_simply(before: np.ndarray) -> None:
    start, target = pictures(
        before, apply_steps(before, ("brightness", -0.3, DISC), ("saturation", -0.5, BAND))
    )
    steps = actions(("color", [1] * 24, DISC), ("saturation", [-0.4], BAND), ("contrast", [0.01], DISC))
    better = refine_local_steps(steps, start, target, NAMES)
    assert {s.operation: s.step.parameters[0] for s in better} == pytest.approx(
        {"brightness": -0.3, "saturation": -0.5}, abs=0.02
    )


def test_a_revision_looks_past_what_was_removed(before: np.ndarray) -> None:
    (start,) = pictures(before)
    target = np.where(DISC, np.float32(0.9), np.clip(np.float32(1.3) * start, 0, 1))
    steps = actions(("brightness", [0.0], None), ("inpaint", [], DISC))
    edit, removal = refine_local_steps(steps, start, target, NAMES)
    assert edit.step.parameters[0] == pytest.approx(0.3, abs=0.01)
    assert removal is steps[1]


def test_a_sample_shows_each_pixel_amid_its_neighbours(before: np.ndarray) -> None:
    picture = np.ascontiguousarray(before.transpose(2, 0, 1), np.float32) / 255
    sample = PixelSample.inside(DISC, reach=1)
    sharp = Step.from_trusted("sharpness", (0.4,))
    seen = sample.centres(apply_step(sharp, sample.take(picture)))[:, 0]
    assert np.array_equal(seen, apply_step(sharp, picture)[:, DISC])


def test_a_large_place_is_sampled_evenly() -> None:
    sample = PixelSample.inside(np.ones((300, 500), bool), reach=0, size=1000)
    rows, columns = sample.rows[0], sample.columns[0]
    assert rows.size == 1000
    counts = np.histogram2d(rows, columns, bins=(4, 5), range=((0, 300), (0, 500)))[0]
    assert counts.min() > 25
    assert counts.max() < 75


@pytest.mark.parametrize(
    ("region", "words"),
    [
        (None, "everywhere"),
        (SKY, "19 % of the picture, top"),
        (DISC, "16 % of the picture, left"),
        (BOX, "11 % of the picture, right"),
        ((ROWS > 60) & (COLUMNS > 70), "7 % of the picture, lower right"),
        ((abs(ROWS - 40) < 4) & (abs(COLUMNS - 50) < 3), "less than 1 % of the picture, centre"),
        (ROWS % 2 == 0, "50 % of the picture, all over"),
    ],
)
def test_whereabouts(region: np.ndarray | None, words: str) -> None:
    assert describe_location(region) == words


def test_an_edit_everywhere_needs_no_mask(before: np.ndarray) -> None:
    plan = plan_local(before, apply_steps(before, ("brightness", 0.2, None)), masks=MASKS)
    (step,) = plan.recipe.steps
    assert (step.operation, step.mask, plan.regions) == ("brightness", None, (None,))


def test_a_photo_that_did_not_change_needs_no_steps(before: np.ndarray) -> None:
    plan = plan_local(before, before, masks=MASKS)
    assert plan.recipe.steps == ()
    assert plan.cost == plan.start_cost == 0


def test_masks_keep_their_own_resolution_and_the_recipe_travels(before: np.ndarray) -> None:
    after = apply_steps(before, ("brightness", 0.4, BOX))
    large = np.kron(BOX, np.ones((3, 3), bool))
    plan = plan_local(before, after, masks=[large, SKY])
    (step,) = plan.recipe.steps
    assert step.mask is not None
    assert step.mask.array.shape == large.shape
    assert step.mask.feather > 0
    assert Recipe.from_json(plan.recipe.to_json()) == plan.recipe


def test_it_works_at_full_size_for_what_was_planned_small(before: np.ndarray) -> None:
    large = np.kron(before, np.ones((3, 3, 1), np.uint8))
    after = apply_steps(large, ("brightness", 0.4, np.kron(BOX, np.ones((3, 3), bool))))
    plan = plan_local(large, after, masks=[BOX, SKY], size=80)
    assert plan.cost < 0.1 * plan.start_cost
    assert np.asarray(apply(plan.recipe, large)).shape == large.shape


def test_the_change_itself_is_a_candidate(before: np.ndarray) -> None:
    pytest.importorskip("skimage")
    plan = plan_local(before, apply_steps(before, ("brightness", 0.5, DISC)))
    assert plan.recipe.steps[0].operation == "brightness"
    assert plan.regions[0] is not None
    assert intersection_over_union(plan.regions[0], DISC) > 0.9


def compress(photo: np.ndarray, quality: int) -> np.ndarray:
    stream = io.BytesIO()
    PIL.Image.fromarray(photo).save(stream, "JPEG", quality=quality)
    return np.asarray(PIL.Image.open(stream))


@pytest.mark.slow
@pytest.mark.parametrize("spoilt", ["compressed", "resampled"])
def test_compression_and_resampling_do_not_hide_an_edit(spoilt: str) -> None:
    photo = np.asarray(open_example("meadow", 400))
    height, width = photo.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    disc = (rows - height // 2) ** 2 + (columns - width // 2) ** 2 < (0.3 * height) ** 2
    after = apply_steps(photo, ("brightness", 0.4, disc))
    smaller = (width * 7 // 10, height * 7 // 10)
    spoiled = (
        compress(after, 85)
        if spoilt == "compressed"
        else np.asarray(PIL.Image.fromarray(after).resize(smaller, PIL.Image.Resampling.LANCZOS))
    )
    plan = plan_local(photo, spoiled)
    (step,), (region,) = plan.recipe.steps, plan.regions
    assert step.operation == "brightness"
    assert step.parameters[0] == pytest.approx(0.4, abs=0.05)
    assert region is not None
    assert intersection_over_union(resize_region(region, height, width), disc) > 0.8


@pytest.mark.parametrize(("limit", "tried"), [(3, 3 + 1), (8, 8 + 1), (20, 12 + 1)])
def test_so_many_masks_are_tried_and_the_whole_picture(
    before: np.ndarray, monkeypatch: pytest.MonkeyPatch, limit: int, tried: int
) -> None:
    height, width = before.shape[:2]
    masks = [np.zeros((height, width), bool) for _ in range(12)]
    for number, mask in enumerate(masks):
        mask[: height // 2, : width * (number + 1) // 13] = True
    after = np.where(masks[4][..., None], 255 - (255 - before) // 2, before)
    places = []

    def explain(
        self: LocalSearch, state: LocalSearchState, place: MaskCandidate, differs: np.ndarray
    ) -> list[CandidateStep]:
        places.append(place.region)
        return []

    monkeypatch.setattr(LocalSearch, "_explain", explain)
    plan_local(before, after, masks=masks, mask_limit=limit)
    assert len(places) == tried
    assert places[0] is not None
    assert np.array_equal(places[0], masks[4]), "the best fit comes first"
    assert any(place is None for place in places)


def test_a_segmenter_is_any_function(before: np.ndarray) -> None:
    seen: list[tuple[int, ...]] = []

    def segmenter(picture: np.ndarray, /) -> list[np.ndarray]:
        seen.append(picture.shape)
        return MASKS

    plan = plan_local(before, apply_steps(before, ("contrast", 0.5, BOX)), masks=segmenter)
    assert seen == [(3, *SHAPE)]
    assert plan.regions[0] is BOX


def with_object(grain: bool) -> tuple[np.ndarray, np.ndarray]:
    """A smooth scene, and the same with a striped disc in it."""
    smooth = np.stack([0.3 + COLUMNS / 250, 0.4 + ROWS / 300, np.full(SHAPE, 0.5)], axis=-1)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, smooth.shape) if grain else 0
    scene = np.clip(smooth + noise, 0, 1)
    stripes = np.where(COLUMNS // 4 % 2, 0.9, 0.1)[..., None] * np.array([1, 0.8, 0.2])
    return (255 * scene).astype(np.uint8), (255 * np.where(DISC[..., None], stripes, scene)).astype(np.uint8)


@pytest.mark.parametrize("grain", [False, True])
def test_a_removed_object_is_a_removal(grain: bool) -> None:
    pytest.importorskip("cv2")
    without, beside = with_object(grain)
    plan = plan_local(beside, without, masks=MASKS)
    assert [step.operation for step in plan.recipe.steps] == ["inpaint"]
    assert plan.regions[0] is DISC
    assert plan.cost < 0.25 * plan.start_cost


def test_an_added_object_is_no_removal() -> None:
    pytest.importorskip("cv2")
    without, beside = with_object(grain=True)
    plan = plan_local(without, beside, masks=MASKS)
    assert "inpaint" not in [step.operation for step in plan.recipe.steps]


def test_nothing_is_removed_where_that_is_not_wanted() -> None:
    without, beside = with_object(grain=True)
    plan = plan_local(beside, without, masks=MASKS, repair=None)
    assert "inpaint" not in [step.operation for step in plan.recipe.steps]


def test_evidence_of_a_removal_by_hand() -> None:
    striped = np.tile(np.array([0.2, 0.8] * 4, np.float32), (3, 8, 1))
    flat, inside = np.full_like(striped, 0.5), np.zeros((8, 8), bool)
    inside[2:6, 2:6] = True
    emptied = np.where(inside, flat, striped)
    assert edge_correlation(striped, striped * np.float32(0.5), inside) == pytest.approx(1)
    assert edge_correlation(striped, flat, inside) == 0
    assert is_structure_lost(striped, striped, emptied, inside)
    assert not is_structure_lost(striped, striped * np.float32(0.5), striped * np.float32(0.5), inside)
    # 4 crossings at each of 4 sides: none between equal rows, .6 between columns
    assert outline_contrast(striped, inside) == pytest.approx(0.3)
    assert outline_contrast(emptied, inside) == pytest.approx(0.3)
    assert not is_removal(flat, striped, inside)
    assert dilate_region(inside).sum() == 36


def test_structure_is_judged_on_a_small_picture() -> None:
    picture, inside = np.zeros((3, 12, 12), np.float32), np.zeros((12, 12), bool)
    picture[:, ::2] = 1
    inside[:4, :5] = True
    small, mask = downsample_for_structure((picture, inside), short_side=960)
    assert small.shape == (3, 3, 3)
    assert np.allclose(small, 0.5)
    assert mask.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    speck = np.zeros((12, 12), bool)
    speck[0, 0] = True
    assert downsample_for_structure((picture, speck), short_side=960)[1] is speck


def test_photos_of_different_things_are_refused(before: np.ndarray) -> None:
    with pytest.raises(PlanError, match="do not show the same scene"):
        plan_local(before, np.ascontiguousarray(before[::-1, ::-1]), masks=MASKS)


def test_masks_of_any_size_and_of_nothing(before: np.ndarray) -> None:
    after = apply_steps(before, ("brightness", 0.4, BOX))
    nothing, speck = np.zeros(SHAPE, bool), np.zeros((7, 5), bool)
    tiny = np.zeros((4000, 5000), bool)
    tiny[0, 0] = True  # nothing is left of it over the picture
    plan = plan_local(before, after, masks=[nothing, speck, tiny, np.ones((1, 1), bool), BOX])
    assert plan.regions[0] is BOX


def test_only_black_masks_leave_the_whole_picture(before: np.ndarray) -> None:
    after = apply_steps(before, ("brightness", 0.4, None))
    plan = plan_local(before, after, masks=[np.zeros(SHAPE, bool)])
    assert plan.regions == (None,)


@pytest.mark.parametrize(
    "wrong",
    [
        DISC.astype(np.float32),
        DISC.astype(np.int64),
        np.zeros((3, *SHAPE), bool),
        np.zeros(5, bool),
        np.zeros((0, 8), bool),
    ],
    ids=["floats", "integers", "three axes", "one axis", "no rows"],
)
def test_arrays_that_are_no_masks(before: np.ndarray, wrong: np.ndarray) -> None:
    with pytest.raises(PlanError, match=r"mask 2 is .*; a mask is booleans \(H, W\)"):
        plan_local(before, before, masks=[DISC, wrong])


def test_refusals(before: np.ndarray) -> None:
    with pytest.raises(PlanError, match="steps is 0; it is at least 1"):
        plan_local(before, before, masks=MASKS, steps=0)
    with pytest.raises(PlanError, match="there is no repair 'erase'; there are inpaint"):
        plan_local(before, before, masks=MASKS, repair="erase")
    with pytest.raises(PlanError, match="mask 1 is uint8"):
        plan_local(before, before, masks=[DISC.astype(np.uint8)])


@pytest.mark.slow
def test_planning_with_masks_given_needs_no_extra() -> None:
    code = (
        "import sys, numpy as np; sys.modules.update(cv2=None, skimage=None, scipy=None)\n"
        "from t2onet.planning import plan; from t2onet.planning.local import plan_local\n"
        "a = np.random.default_rng(0).integers(20, 120, (40, 40, 3), np.uint8)\n"
        "m = np.zeros((40, 40), bool)\n"
        "m[10:30, 10:30] = True; b = np.where(m[..., None], 2 * a, a).astype(np.uint8)\n"
        "print(*[s.operation for s in plan_local(a, b, masks=[m]).recipe.steps], len(plan(a, a).recipe))"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["brightness", "0"]

"""Wishes become steps that move what they are about, hold limits, and say what they could not do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from t2onet.editor.answer import LOOK_STRENGTHS, answer_reading
from t2onet.editor.check import NOTICEABLE
from t2onet.editor.explain import reply_to
from t2onet.editor.measures import Measure, SmallPicture
from t2onet.editor.policy import THUMBNAIL_SIDE, apply_to_thumbnail, make_thumbnail
from t2onet.image import open_image
from t2onet.language.quantities import Quantity, Unit
from t2onet.language.reader import Reading
from t2onet.language.wishes import Amount, Direction, Outcome, Role, Verb, Wish
from t2onet.looks import looks
from t2onet.recipe import Recipe
from tests.conftest import EXAMPLES, open_example

ALLOWED = {
    "lightness": {"exposure", "contrast", "saturation"},
    "contrast": {"contrast"},
    "colour": {"vibrance", "saturation"},
    "warmth": {"white_balance"},
    "tint": {"white_balance"},
    "sharpness": {"sharpness"},
}
"""What may move for a change; contrast and saturation make up for what exposure does to them."""
UP, DOWN, FIX = Direction.UP, Direction.DOWN, Direction.FIX


@pytest.fixture(scope="module", params=["trail", "sunset", "dogs"])
def picture(request: pytest.FixtureRequest) -> np.ndarray:
    return make_thumbnail(open_image(EXAMPLES / f"{request.param}.jpg"), 128)


def meet(picture: np.ndarray, *wishes: Wish, recipe: Recipe | None = None) -> tuple[Recipe, tuple[Wish, ...]]:
    answer = answer_reading(Reading("", wishes), picture, recipe or Recipe())
    return answer.recipe, answer.wishes


def measure(picture: np.ndarray, recipe: Recipe, wanted: Measure) -> float:
    return SmallPicture(picture).measure_change(SmallPicture(apply_to_thumbnail(recipe, picture)), wanted)


@pytest.mark.parametrize("direction", [UP, DOWN])
@pytest.mark.parametrize("what", ["lightness", "contrast", "colour", "warmth", "tint", "sharpness"])
def test_a_change_is_seen_and_a_lot_is_more_than_a_little(
    picture: np.ndarray, what: str, direction: Direction
) -> None:
    sign = 1 if direction is UP else -1
    effects = []
    for amount in Amount:
        recipe, (wish,) = meet(picture, Wish(what, direction, amount))
        assert wish.outcome is Outcome.DONE
        assert {step.operation for step in recipe.steps} <= ALLOWED[what]
        effects.append(measure(picture, recipe, Measure(what, sign)))
    assert NOTICEABLE < effects[0] < effects[1] < effects[2]


@pytest.mark.parametrize(
    ("wish", "settings"),
    [
        (Wish("lightness", UP, quantity=Quantity(0.5, Unit.STOPS)), "Exposure +0.50 EV"),
        (Wish("lightness", DOWN, quantity=Quantity(1 / 3, Unit.STOPS)), "Exposure -0.33 EV"),
        (Wish("lightness", UP, quantity=Quantity(2.0, Unit.FACTOR)), "Exposure +1.00 EV"),
        (Wish("lightness", UP, quantity=Quantity(20.0, Unit.PERCENT)), "Exposure +0.26 EV"),
        (Wish("contrast", UP, quantity=Quantity(5.0, Unit.PERCENT)), "Contrast +0.05"),
        (Wish("contrast", UP, quantity=Quantity(2.0, Unit.FACTOR)), "Contrast +1.00"),
        (Wish("contrast", UP, quantity=Quantity(10.0, sign=-1)), "Contrast -0.10"),
        (Wish("lightness", DOWN, where="highlights", quantity=Quantity(30.0, sign=-1)), "Highlights -30"),
        (Wish("colour", UP, head="vibrance", quantity=Quantity(15.0)), "Vibrance +15"),
        (Wish("colour", DOWN, head="saturation", quantity=Quantity(50.0, Unit.PERCENT)), "Saturation -0.50"),
        (Wish("warmth", FIX, quantity=Quantity(5500.0, Unit.KELVIN)), "Temperature -28"),
        (Wish("warmth", UP, quantity=Quantity(12.0)), "Temperature +12"),
        (
            Wish("lightness", DOWN, where="midtones", quantity=Quantity(0.5, Unit.STOPS)),
            "Midtones: exposure -0.50 EV",
        ),
    ],
)
def test_a_stated_number_is_exact(picture: np.ndarray, wish: Wish, settings: str) -> None:
    recipe, (met,) = meet(picture, wish)
    assert recipe.format_settings() == settings
    assert met.outcome is Outcome.DONE


def test_several_wishes_are_all_met(picture: np.ndarray) -> None:
    recipe, wishes = meet(picture, Wish("lightness", UP), Wish("contrast", UP), Wish("warmth", UP))
    assert {wish.outcome for wish in wishes} == {Outcome.DONE}
    steps = [step for step in recipe.steps if step.operation != "saturation"]  # which keeps the colour
    assert [step.operation for step in steps] == ["white_balance", "exposure", "contrast"]
    assert steps[0].parameters[0] > 0  # a brighter photo looks warmer, but that is not what was asked for
    for wish in wishes:
        assert measure(picture, recipe, Measure(wish.what, 1)) > 3


@pytest.mark.parametrize("zone", ["shadows", "highlights", "midtones", "whites", "blacks"])
@pytest.mark.parametrize("direction", [UP, DOWN])
def test_light_in_a_zone(picture: np.ndarray, zone: str, direction: Direction) -> None:
    recipe, (wish,) = meet(picture, Wish("lightness", direction, where=zone))
    assert wish.outcome is Outcome.DONE
    assert measure(picture, recipe, Measure("lightness", 1 if direction is UP else -1, zone)) > NOTICEABLE


def test_a_limit_is_held(picture: np.ndarray) -> None:
    keep = Wish("other", FIX, where="highlights", role=Role.LIMIT)
    recipe, (brighter, kept) = meet(picture, Wish("lightness", UP), keep)
    assert brighter.outcome is Outcome.DONE
    assert kept.outcome is Outcome.KEPT
    assert abs(measure(picture, recipe, Measure("lightness", 1, "highlights"))) <= NOTICEABLE
    assert measure(picture, recipe, Measure("lightness", 1)) > NOTICEABLE


def test_what_is_limited_is_not_moved_by_another_wish(picture: np.ndarray) -> None:
    recipe, (punch, kept) = meet(picture, Wish("punch", UP), Wish("colour", FIX, role=Role.LIMIT))
    assert (punch.outcome, kept.outcome) == (Outcome.DONE, Outcome.KEPT)
    assert abs(measure(picture, recipe, Measure("colour", 1))) <= NOTICEABLE


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (Wish("remove", where="person"), "things cannot be removed from a photo"),
        (
            Wish("lightness", UP, where="hair"),
            "the hair cannot be found by its name; ",
        ),
        (Wish("crop"), "say how to crop, such as “crop to 16:9”"),
        (Wish("foreign"), "requests are read in English"),
        (
            Wish("look", looks=(("moody", 0.2), ("noir", 0.1)), words=("spicy",)),
            "no look is called “spicy”; the nearest are moody or noir",
        ),
    ],
)
def test_what_cannot_be_done_is_declined_with_its_reason(
    picture: np.ndarray, wish: Wish, reason: str
) -> None:
    recipe, (declined,) = meet(picture, wish)
    assert not recipe.steps
    assert declined.outcome is Outcome.DECLINED
    assert declined.reason.startswith(reason)


def test_opposite_wishes_are_both_declined(picture: np.ndarray) -> None:
    recipe, wishes = meet(
        picture, Wish("lightness", UP, head="brighter"), Wish("lightness", DOWN, head="darker")
    )
    assert not recipe.steps
    assert {wish.outcome for wish in wishes} == {Outcome.DECLINED}


def test_steps_of_one_operation_are_one_step(picture: np.ndarray) -> None:
    first, _ = meet(picture, Wish("lightness", UP, quantity=Quantity(0.5, Unit.STOPS)))
    recipe, _ = meet(picture, Wish("lightness", UP, quantity=Quantity(0.25, Unit.STOPS)), recipe=first)
    assert recipe.format_settings() == "Exposure +0.75 EV"


def test_a_look_by_its_name(picture: np.ndarray) -> None:
    recipe, (wish,) = meet(picture, Wish("look", looks=(("sepia", 0.9),), words=("sepia",)))
    assert wish.outcome is Outcome.DONE
    assert measure(picture, recipe, Measure("lightness", 1)) != 0


@pytest.mark.parametrize(
    ("name", "colour", "known_for"),
    [
        ("winter", (0.1, 0.3, 1.0), Measure("warmth", -1)),
        ("summer", (0.1, 0.3, 1.0), Measure("colour", 1)),
    ],
)
def test_a_look_is_never_the_opposite_of_what_it_is_known_for(
    name: str, colour: tuple[float, ...], known_for: Measure
) -> None:
    light = np.linspace(0.3, 1, 32 * 32, dtype=np.float32).reshape(32, 32)
    picture = np.array(colour, np.float32)[:, None, None] * light  # has more of it than the look gives
    assert measure(picture, looks()[name].recipe, known_for) < -NOTICEABLE
    recipe, _ = meet(picture, Wish("look", looks=((name, 0.9),)))
    assert measure(picture, recipe, known_for) > -NOTICEABLE


def test_other_wishes_may_undo_what_a_look_is_known_for(picture: np.ndarray) -> None:
    winter = Wish("look", looks=(("winter", 0.9),))
    recipe, (_, warmer) = meet(picture, winter, Wish("warmth", Direction.UP))
    assert warmer.outcome is Outcome.DONE
    assert measure(picture, recipe, Measure("warmth")) > measure(
        picture, looks()["winter"].recipe, Measure("warmth")
    )


def test_the_words_that_led_to_an_operation() -> None:
    picture = make_thumbnail(open_image(EXAMPLES / "trail.jpg"), 128)
    wish = replace(Wish("lightness", UP), words=("a", "bit", "brighter"))
    answer = answer_reading(Reading("", (wish,)), picture, Recipe())
    assert answer.reasons == {"exposure": ("a", "bit", "brighter")}


def limit(what: str, direction: Direction, **others: str) -> Wish:
    return Wish(what, direction, role=Role.LIMIT, **others)


def test_a_limit_in_one_direction_does_not_hold_the_other(picture: np.ndarray) -> None:
    alone, _ = meet(picture, Wish("lightness", UP))
    recipe, (_, kept) = meet(picture, Wish("lightness", UP), limit("lightness", DOWN))
    assert kept.outcome is Outcome.KEPT
    brighter, beside = (measure(picture, one, Measure("lightness")) for one in (alone, recipe))
    assert beside == pytest.approx(brighter, rel=0.2)


def test_not_too_much_of_a_wish_goes_less_far(picture: np.ndarray) -> None:
    alone, _ = meet(picture, Wish("warmth", UP))
    recipe, _ = meet(picture, Wish("warmth", UP), limit("warmth", UP))
    far, near = (measure(picture, one, Measure("warmth")) for one in (alone, recipe))
    assert NOTICEABLE < near < 0.7 * far


def test_a_limit_that_nothing_measures_is_kept_only_where_no_step_may_break_it(picture: np.ndarray) -> None:
    noise = limit("noise", UP)
    _, (_, beside_light) = meet(picture, Wish("lightness", UP), noise)
    _, (_, beside_sharpness) = meet(picture, Wish("sharpness", UP), noise)
    assert beside_light.outcome is Outcome.KEPT
    assert (beside_sharpness.outcome, beside_sharpness.reason) == (
        Outcome.DECLINED,
        "sharpness may have added to it",
    )


def test_black_and_white_except_for_a_range_of_hues_greys_out_the_others(picture: np.ndarray) -> None:
    recipe, _ = meet(picture, Wish("black_and_white"), limit("other", FIX, where="oranges"))
    assert "not oranges: black and white 100 %" in recipe.format_settings().replace("Not", "not")
    before, after = SmallPicture(picture), SmallPicture(apply_to_thumbnail(recipe, picture))
    blue = before.measure_change(after, Measure("colour", -1, "blues"))
    assert abs(before.measure_change(after, Measure("colour", 1, "oranges"))) < 2
    assert blue > 4 or before.count_share("blues") < 0.01


def test_skin_that_must_stay_is_left_out_of_the_step(picture: np.ndarray) -> None:
    recipe, (_, kept) = meet(picture, Wish("warmth", UP), limit("other", FIX, where="skin"))
    assert [step.where for step in recipe.steps if step.operation == "white_balance"] == ["not skin"]
    assert kept.outcome is Outcome.KEPT


def test_colour_of_a_tonal_zone_is_a_step_there(picture: np.ndarray) -> None:
    recipe, (wish,) = meet(picture, Wish("colour", UP, where="midtones"))
    assert [(step.operation, step.where) for step in recipe.steps] == [("saturation", "midtones")]
    assert wish.outcome is Outcome.DONE


def test_the_opposite_of_the_last_wish_takes_a_part_back(picture: np.ndarray) -> None:
    warm, wishes = meet(picture, Wish("warmth", UP))
    back = answer_reading(Reading("", (Wish("warmth", DOWN),)), picture, warm, earlier=wishes).recipe
    whole, less = (measure(picture, one, Measure("warmth")) for one in (warm, back))
    assert NOTICEABLE < less < whole - NOTICEABLE


@pytest.mark.parametrize(
    ("ratio", "size", "edges"),
    [
        (16 / 9, (200, 300), (0, 0.078125, 1, 0.921875)),
        (1, (200, 300), (1 / 6, 0, 5 / 6, 1)),
        (3 / 2, (300, 200), (0, 0, 1, 1)),  # upright, as the photo is
    ],
)
def test_a_crop_is_the_largest_in_the_middle(
    picture: np.ndarray, ratio: float, size: tuple[int, int], edges: tuple[float, ...]
) -> None:
    wish = Wish("crop", quantity=Quantity(ratio, Unit.RATIO))
    recipe = answer_reading(Reading("", (wish,)), picture, Recipe(), size=size).recipe
    assert recipe.steps[0].parameters == pytest.approx(edges)


def test_a_retouch_that_meets_a_wish_stays_as_it_is(picture: np.ndarray) -> None:
    retouch, _ = meet(picture, Wish("lightness", UP))
    reading = Reading("", (Wish("lightness", UP),))
    assert answer_reading(reading, picture, retouch, retouched=True).recipe == retouch


def test_a_limit_holds_against_a_look(picture: np.ndarray) -> None:
    moody = Wish("look", looks=(("moody", 0.9), ("noir", 0.2)))
    recipe, (_, kept) = meet(picture, moody, limit("lightness", DOWN))
    assert kept.outcome is Outcome.KEPT
    assert measure(picture, recipe, Measure("lightness", -1)) < NOTICEABLE


def test_a_number_with_a_sign_says_where_a_slider_stands(picture: np.ndarray) -> None:
    first, _ = meet(picture, Wish("lightness", DOWN, where="highlights", quantity=Quantity(30.0, sign=-1)))
    again = Wish("lightness", DOWN, where="highlights", quantity=Quantity(10.0, sign=-1))
    more = Wish("lightness", DOWN, where="highlights", quantity=Quantity(10.0))
    ends = [answer_reading(Reading("", (wish,)), picture, first).recipe for wish in (again, more)]
    assert [recipe.format_settings() for recipe in ends] == ["Highlights -10", "Highlights -40"]


@pytest.mark.parametrize(
    ("amount", "quantity", "strength"),
    [
        (Amount.PLAIN, None, 1.0),
        (Amount.LITTLE, None, LOOK_STRENGTHS[Amount.LITTLE]),
        (Amount.PLAIN, Quantity(50.0, Unit.PERCENT), 0.5),
    ],
)
def test_a_look_is_as_strong_as_was_asked(
    picture: np.ndarray, amount: Amount, quantity: Quantity | None, strength: float
) -> None:
    wish = Wish("look", amount=amount, quantity=quantity, looks=(("sepia", 0.9), ("noir", 0.2)))
    recipe, _ = meet(picture, wish)
    assert recipe.steps == looks()["sepia"].recipe.blend(strength).steps


def test_a_step_is_taken_back_by_its_name(picture: np.ndarray) -> None:
    recipe = Recipe.from_steps([("exposure", 0.5), ("contrast", 0.2), ("grain", 30)])
    for wish, left in (
        (Wish("contrast", DOWN, verb=Verb.CANCEL), ["exposure", "grain"]),
        (Wish("lightness", UP, verb=Verb.CANCEL), ["contrast", "grain"]),
        (Wish("noise", DOWN, words=("remove", "the", "grain")), ["exposure", "contrast"]),
    ):
        answer = answer_reading(Reading("", (wish,)), picture, recipe)
        assert [step.operation for step in answer.recipe.steps] == left
        assert answer.wishes[0].outcome is Outcome.DONE


def test_taking_a_look_back_leaves_steps_at_places(picture: np.ndarray) -> None:
    moody = Wish("look", words=("moody",), outcome=Outcome.DONE, looks=(("moody", 0.9),))
    sky = Recipe.from_steps([("exposure", -1, "top")]).steps[0]
    recipe = Recipe(steps=(sky, *looks()["moody"].recipe.blend(1.5).steps))
    because = {step.operation: ("moody",) for step in looks()["moody"].recipe.steps}
    undo = Wish("look", verb=Verb.CANCEL, looks=(("moody", 0.9),))
    answer = answer_reading(Reading("", (undo,)), picture, recipe, taken=[moody], because=because)
    assert answer.recipe.steps == (sky,)


def test_what_no_step_did_is_not_taken_back(picture: np.ndarray) -> None:
    (answer, (wish,)) = meet(picture, Wish("contrast", DOWN, verb=Verb.CANCEL))
    assert not answer.steps
    assert (wish.outcome, wish.reason) == (
        Outcome.DECLINED,
        "there is no change of the contrast to take back",
    )


@pytest.mark.parametrize(
    ("wish", "left"),
    [
        (Wish("grain", DOWN), 20.0),
        (Wish("grain", DOWN, Amount.LITTLE), 28.0),
        (Wish("grain", DOWN, Amount.MUCH), 10.0),
        (Wish("grain", DOWN, verb=Verb.CANCEL), None),
    ],
)
def test_less_of_an_effect_leaves_a_part_of_it(picture: np.ndarray, wish: Wish, left: float | None) -> None:
    recipe, _ = meet(picture, wish, recipe=Recipe.from_steps([("grain", 40)]))
    assert [step.parameters[0] for step in recipe.steps] == ([] if left is None else [left])


@pytest.mark.parametrize(("number", "stops"), [(5.5, 5.0), (9.0, 5.0), (4.0, 4.0)])
def test_numbers_beside_exposure_are_stops_up_to_its_end(
    picture: np.ndarray, number: float, stops: float
) -> None:
    recipe, _ = meet(picture, Wish("lightness", UP, quantity=Quantity(number, sign=1), head="exposure"))
    assert recipe.steps[0].parameters == (stops,)


def test_contrast_of_a_zone_stays_in_it(picture: np.ndarray) -> None:
    recipe, _ = meet(picture, Wish("contrast", UP, where="shadows"))
    assert {str(step.where) for step in recipe.steps} == {"shadows"}


def test_an_effect_that_is_not_wanted_is_taken_out_of_a_look(picture: np.ndarray) -> None:
    vintage = Wish("look", looks=(("vintage", 0.9), ("noir", 0.2)))
    assert looks()["vintage"].recipe.find_step("grain") is not None
    recipe, (_, kept) = meet(picture, vintage, limit("grain", UP))
    assert kept.outcome is Outcome.KEPT
    assert recipe.find_step("grain") is None


def test_back_to_zero_is_where_a_slider_stands(picture: np.ndarray) -> None:
    recipe = Recipe.from_steps([("contrast", 0.2)])
    zero = Wish("contrast", verb=Verb.SET, quantity=Quantity(0.0))
    assert meet(picture, zero, recipe=recipe)[0].format_settings() == Recipe().format_settings()


@pytest.mark.parametrize(("what", "operation"), [("haze", "dehaze"), ("noise", "denoise")])
def test_a_signed_number_takes_haze_and_noise_away(picture: np.ndarray, what: str, operation: str) -> None:
    recipe, _ = meet(picture, Wish(what, DOWN, quantity=Quantity(20.0, sign=1)))
    (step,) = recipe.steps
    assert (step.operation, step.parameters[0] > 0) == (operation, True)


def test_a_place_that_keeps_its_light_is_left_out_of_the_step(picture: np.ndarray) -> None:
    recipe, (darker, kept) = meet(
        picture, Wish("lightness", DOWN), replace(limit("lightness", DOWN), where="top")
    )
    assert (darker.outcome, kept.outcome) == (Outcome.DONE, Outcome.KEPT)
    assert all(step.where is not None for step in recipe.steps)


def test_hues_are_given_another_colour_by_the_mixer(picture: np.ndarray) -> None:
    wish = Wish("recolour", where="greens", hue="orange", quantity=Quantity(40.0))
    recipe, (done,) = meet(picture, wish)
    assert [step.operation for step in recipe.steps] == ["mixer"]
    assert done.outcome is Outcome.DONE


@pytest.mark.parametrize("frame", [("rotate", 180), ("rotate", 90), ("flip", {"horizontal": 1})])
def test_places_are_measured_where_geometry_has_moved_them(frame: tuple[str, object]) -> None:
    picture = make_thumbnail(open_example("trail", 400), THUMBNAIL_SIDE)
    wish = Wish("lightness", DOWN, where="top", words=("top",))
    plain = answer_reading(Reading("", (wish,)), picture, Recipe())
    turned = answer_reading(Reading("", (wish,)), picture, Recipe.from_steps([frame]))
    (step,) = [one for one in turned.recipe.steps if not one.is_geometry]
    assert step.where == "top"
    assert step.parameters[0] == pytest.approx(plain.recipe.steps[0].parameters[0], abs=0.08)


@pytest.mark.parametrize("effect", ["grain", "vignette"])
def test_a_limit_holds_also_where_an_effect_of_a_look_is_left_out(picture: np.ndarray, effect: str) -> None:
    look = Wish("look", looks=(("vintage", 0.9),), words=("vintage",))
    lightness = Wish("lightness", DOWN, role=Role.LIMIT)
    recipe, (_, kept, _) = meet(picture, look, lightness, Wish(effect, UP, role=Role.LIMIT))
    change = measure(picture, recipe, Measure("lightness", -1))
    assert (kept.outcome is Outcome.KEPT) is (change <= NOTICEABLE)
    assert recipe.find_step(effect) is None


@pytest.mark.parametrize(
    "wish",
    [
        Wish("contrast", UP, where="shadows"),
        Wish("colour", DOWN, where="whites"),
        Wish("warmth", UP, where="highlights"),
        Wish("lightness", UP, where="midtones"),
        Wish("cast", DOWN, hue="yellow"),
    ],
)
def test_different_numbers_are_different_steps(picture: np.ndarray, wish: Wish) -> None:
    few, many = (
        meet(picture, replace(wish, quantity=Quantity(value)))[0].steps[0].parameters for value in (5, 60)
    )
    assert np.abs(np.subtract(many, few)).max() > 0.01
    assert few != many


@pytest.mark.parametrize("what", ["lightness", "warmth", "colour"])
def test_a_zone_that_is_to_be_left_alone_is_left_out_of_the_step(picture: np.ndarray, what: str) -> None:
    spared = Wish("other", FIX, where="shadows", role=Role.LIMIT)
    recipe, (_, kept) = meet(picture, Wish(what, UP), spared)
    assert "not shadows" in {step.where for step in recipe.steps}
    assert kept.outcome is Outcome.KEPT


def test_a_look_in_grey_is_not_undone_by_a_wish_for_colour_beside_it(picture: np.ndarray) -> None:
    look = Wish("look", words=("noir",), looks=(("noir", 1.0),))
    recipe, (_, colour) = meet(picture, look, Wish("colour", UP))
    assert recipe.find_step("black_and_white") is not None
    assert colour.outcome is Outcome.DECLINED


def test_the_reply_names_what_was_not_done(picture: np.ndarray) -> None:
    wishes = (Wish("lightness", UP, head="brighter"), Wish("remove", head="wire"))
    recipe, met = meet(picture, *wishes)
    assert reply_to(met, Recipe(), recipe).endswith("; not “wire”.")


def test_rich_colours_of_a_part_are_muted_by_a_share_of_them() -> None:
    grey, rich = (
        np.full((3, 128, 64), 0.5),
        np.array([0.8, 0.1, 0.1])[:, None, None].repeat(128, 1).repeat(64, 2),
    )
    picture = np.concatenate([grey, rich], 2).astype(np.float32)
    shares = []
    for amount in Amount:
        recipe, _ = meet(picture, Wish("colour", DOWN, amount, where="reds"))
        after = SmallPicture(apply_to_thumbnail(recipe, picture)).lab.reshape(3, -1)[1:]
        before = SmallPicture(picture).lab.reshape(3, -1)[1:]
        reds = SmallPicture(picture).select("reds")
        shares.append(1 - np.hypot(*after[:, reds]).mean() / np.hypot(*before[:, reds]).mean())
    assert shares == pytest.approx([0.12, 0.3, 0.6], abs=0.08)

"""Wishes about a part of a photo change that part, and leave the rest alone."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet.editor.answer import answer_reading
from t2onet.editor.editor import Editor
from t2onet.editor.measures import Measure, SmallPicture
from t2onet.editor.parts import exclude, get_text, take_for_auto
from t2onet.editor.policy import apply_to_thumbnail, make_thumbnail
from t2onet.errors import RequestError
from t2onet.image import open_image
from t2onet.language.reader import Reading
from t2onet.language.wishes import Direction, Outcome, Role, Wish
from t2onet.recipe import Mask, Recipe
from t2onet.recipe.where import parse_where
from tests.conftest import EXAMPLES

UP, DOWN, FIX = Direction.UP, Direction.DOWN, Direction.FIX


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    return make_thumbnail(open_image(EXAMPLES / "meadow.jpg"), 128)


def meet(picture: np.ndarray, *wishes: Wish) -> tuple[Recipe, tuple[Wish, ...]]:
    answer = answer_reading(Reading("", wishes), picture, Recipe())
    return answer.recipe, answer.wishes


def measure(picture: np.ndarray, recipe: Recipe, what: str, where: str) -> float:
    before, after = SmallPicture(picture), SmallPicture(apply_to_thumbnail(recipe, picture))
    return before.measure_change(after, Measure(what, 1, where))


@pytest.mark.parametrize("what", ["lightness", "contrast", "colour", "warmth", "sharpness"])
@pytest.mark.parametrize(("where", "opposite"), [("top", "bottom"), ("left", "right"), ("centre", "corners")])
def test_a_part_changes_and_its_opposite_does_not(
    picture: np.ndarray, what: str, where: str, opposite: str
) -> None:
    recipe, (wish,) = meet(picture, Wish(what, UP, where=where))
    assert wish.outcome is Outcome.DONE
    assert {step.where for step in recipe.steps} == {where}
    assert measure(picture, recipe, what, where) > 1
    assert abs(measure(picture, recipe, "lightness", opposite)) < 0.5
    assert abs(measure(picture, recipe, "colour", opposite)) < 0.5


def test_a_part_that_must_stay_is_left_out_of_the_steps(picture: np.ndarray) -> None:
    limit = Wish("other", FIX, where="bottom", role=Role.LIMIT)
    recipe, (_, kept) = meet(picture, Wish("lightness", UP), limit)
    assert {step.where for step in recipe.steps} == {"not bottom"}
    assert kept.outcome is Outcome.KEPT


def test_the_rest_is_what_other_wishes_are_not_about(picture: np.ndarray) -> None:
    recipe, _ = meet(picture, Wish("warmth", UP, where="top"), Wish("lightness", DOWN, where="rest"))
    assert {(step.operation, step.where) for step in recipe.steps} == {
        ("white_balance", "top"),
        ("exposure", "not top"),
    }


def test_the_rest_beside_no_part_is_the_whole(picture: np.ndarray) -> None:
    limit = Wish("contrast", DOWN, where="rest", role=Role.LIMIT)
    recipe, (done, kept, declined) = meet(
        picture, Wish("lightness", DOWN, where="rest"), limit, Wish("colour", UP, where="thing")
    )
    assert (done.outcome, kept.outcome) == (Outcome.DONE, Outcome.KEPT)
    assert declined.outcome is Outcome.DECLINED
    assert {step.where for step in recipe.steps} == {None}


@pytest.mark.parametrize("where", ["thing", "hair"])
def test_what_has_no_name_is_asked_for(picture: np.ndarray, where: str) -> None:
    recipe, (wish,) = meet(picture, Wish("lightness", UP, where=where))
    assert not recipe.steps
    assert wish.outcome is Outcome.DECLINED
    assert "mask" in wish.reason


@pytest.mark.parametrize(
    ("texts", "among", "expected"),
    [
        ([], None, None),
        ([], "top", "top"),
        (["reds"], None, "not reds"),
        (["reds", "top"], None, "not (reds or top)"),
        (["reds"], "top", "top except reds"),
        (["not left"], "top", "top except (not left)"),
    ],
)
def test_parts_are_excluded_in_the_words_of_where(
    texts: list[str], among: str | None, expected: str | None
) -> None:
    assert exclude(texts, among) == expected
    if expected is not None:
        parse_where(expected)


def test_parts_that_other_places_make_up_can_be_said() -> None:
    for name in ("background", "foreground"):
        text = get_text(name)
        assert text is None or parse_where(text)


@pytest.mark.parametrize("where", ["whole", "top"])
def test_all_else_stays_as_it_does_anyway(picture: np.ndarray, where: str) -> None:
    wish, limit = (
        Wish("cast", DOWN, where=where, hue="yellow"),
        Wish("other", FIX, where="rest", role=Role.LIMIT),
    )
    recipe, (done, kept) = meet(picture, wish, limit)
    assert (done.outcome, kept.outcome) == (Outcome.DONE, Outcome.KEPT)
    assert {step.where for step in recipe.steps} == {None if where == "whole" else where}


def test_a_place_that_is_not_there_is_said_and_its_limit_is_kept() -> None:
    card = np.full((3, 128, 128), 0.5, np.float32)
    recipe, (wish,) = meet(card, Wish("lightness", DOWN, where="face"))
    assert (recipe.steps, wish.reason) == ((), "I see no face in this photo")
    _, (_, kept) = meet(card, Wish("lightness", DOWN), Wish("other", FIX, where="face", role=Role.LIMIT))
    assert kept.outcome is Outcome.KEPT
    _, (_, lost) = meet(
        card, Wish("lightness", DOWN), Wish("other", FIX, where="background", role=Role.LIMIT)
    )
    assert lost.outcome is Outcome.DECLINED, "without a subject all is background"


def test_the_sky_of_a_photo_is_darkened_alone() -> None:
    photo = make_thumbnail(open_image(EXAMPLES / "trail.jpg"), 128)
    recipe, (wish,) = meet(photo, Wish("lightness", DOWN, where="sky"))
    assert wish.outcome is Outcome.DONE
    assert {step.where for step in recipe.steps} == {"sky"}
    assert measure(photo, recipe, "lightness", "sky") < -5
    assert abs(measure(photo, recipe, "lightness", "bottom")) < 0.5


def test_a_part_alone_becomes_black_and_white_or_takes_a_look(picture: np.ndarray) -> None:
    grey, _ = meet(picture, Wish("black_and_white", where="top"))
    look, _ = meet(picture, Wish("look", where="top", looks=(("sepia", 0.9),)))
    assert {step.where for step in (*grey.steps, *look.steps)} == {"top"}


def test_a_retouch_of_a_place_stays_there() -> None:
    edit = Editor(EXAMPLES / "meadow.jpg").ask("make the sky look better")
    assert edit.recipe.steps
    assert {step.where for step in edit.recipe.steps} == {"sky"}


@pytest.mark.parametrize("request_text", ["fix the sky", "make the sky look better"])
def test_a_place_that_is_not_there_is_not_retouched(request_text: str) -> None:
    edit = Editor(EXAMPLES / "fig.jpg").ask(request_text)
    assert not edit.recipe.steps
    assert "I see no sky in this photo" in edit.explain()


def test_a_vague_fix_of_a_place_is_a_retouch_of_it() -> None:
    assert take_for_auto(Wish("other", FIX, where="sky")).what == "auto"
    assert take_for_auto(Wish("other", FIX, where="sky", role=Role.LIMIT)).what == "other"
    assert take_for_auto(Wish("other", FIX, where="hair")).what == "other"


def test_a_request_for_a_place_retouches_that_place() -> None:
    edit = Editor(EXAMPLES / "meadow.jpg", where="top").ask("fix this photo")
    assert {step.where for step in edit.recipe.steps} == {"top"}


def test_contrast_of_a_part_makes_it_neither_lighter_nor_darker(picture: np.ndarray) -> None:
    recipe, _ = meet(picture, Wish("contrast", UP, where="bottom"))
    assert measure(picture, recipe, "contrast", "bottom") > 1
    assert abs(measure(picture, recipe, "lightness", "bottom")) < 4


def test_a_part_that_is_asked_to_change_cannot_be_spared(picture: np.ndarray) -> None:
    limit = Wish("other", FIX, where="sky", role=Role.LIMIT)
    recipe, (wish, kept) = meet(picture, Wish("lightness", DOWN, where="sky"), limit)
    assert (wish.outcome, kept.outcome) == (Outcome.DONE, Outcome.DECLINED)
    assert {step.where for step in recipe.steps} == {"sky"}


def test_edges_that_should_be_sharp_are_those_of_all_things(picture: np.ndarray) -> None:
    recipe, _ = meet(picture, Wish("sharpness", UP, where="edges"))
    assert {step.where for step in recipe.steps} == {None}
    recipe, _ = meet(picture, Wish("lightness", DOWN, where="edges"))
    assert {step.where for step in recipe.steps} == {"edges"}


@pytest.mark.parametrize(
    "levels",
    [
        np.full((1, 1), 255, np.uint8),
        np.random.default_rng(0).integers(0, 256, (37, 91), dtype=np.uint8),
        np.eye(7, dtype=bool),
    ],
    ids=["all of it", "noise of another size", "square"],
)
def test_odd_masks_are_stretched_over_the_photo(levels: np.ndarray) -> None:
    mask = Mask.from_array(levels)
    edit = Editor(EXAMPLES / "meadow.jpg", mask=mask).ask("a stop darker")
    assert {step.mask for step in edit.recipe.steps} == {mask}


def test_a_black_mask_is_refused() -> None:
    text = r"^the mask is black everywhere, so nothing would be edited; paint the part white$"
    with pytest.raises(RequestError, match=text):
        Editor(EXAMPLES / "meadow.jpg", mask=Mask.from_array(np.zeros((4, 4), bool)))

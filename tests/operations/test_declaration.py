"""Declaring, finding and refusing."""

from __future__ import annotations

import numpy as np
import pytest

from t2onet import RecipeError
from t2onet.operations import Operation, Parameter, get_operation, register


def test_near_misses_are_suggested() -> None:
    with pytest.raises(RecipeError, match="did you mean 'brightness'"):
        get_operation("brigthness")
    with pytest.raises(RecipeError, match="there are brightness, saturation"):
        get_operation("crop")


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="registered already"):
        register(get_operation("tone"))


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("brightness", 2.5, "brightness: p is 2.5; allowed is -1 to 2"),
        ("brightness", float("nan"), "brightness: p is nan; allowed is -1 to 2"),
        ("contrast", float("-inf"), "contrast: p is -inf; allowed is -1 to 1"),
        ("tone", [1, 1, 1, float("nan"), 1, 1, 1, 1], "tone: rises 4 is nan; allowed is 0.02 to 8"),
        ("tone", [0] * 8, "tone: rises 1 is 0; allowed is 0.02 to 8"),
        ("color", [[1] * 8, [1, 9] * 4, [1] * 8], "color: green 2 is 9; allowed is 0.02 to 8"),
        ("color", [1] * 23 + [0], "color: blue 8 is 0; allowed is 0.02 to 8"),
        ("brightness", [0.1, 0.2], "brightness takes one number (p), and 2 were given"),
        ("tone", 1.0, "tone takes 8 numbers (8 for rises), and 1 was given"),
        (
            "color",
            [1] * 16,
            "color takes 24 numbers (8 for red, 8 for green, 8 for blue), and 16 were given",
        ),
        ("tone", "steep", "tone takes numbers, and 'steep' was given"),
        ("contrast", True, "contrast takes numbers, and True was given"),
        ("contrast", None, "contrast takes numbers, and None was given"),
    ],
)
def test_refusals_say_what_was_given_and_what_is_allowed(name: str, given: object, said: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        get_operation(name).check(given)
    assert str(refusal.value) == said


@pytest.mark.parametrize(
    "wrong", [np.ones((8, 3)), [[1] * 3] * 8, [[1] * 4] * 6, [[1] * 8, [1] * 8, *[1] * 8]]
)
def test_rows_are_those_of_the_declaration(wrong: object) -> None:
    with pytest.raises(RecipeError, match="8 for red, 8 for green, 8 for blue"):
        get_operation("color").check(wrong)


def test_parameters_come_in_any_shape() -> None:
    assert get_operation("contrast").check(np.float32(0.5)) == (0.5, 0.5), "the pivot has its default"
    assert get_operation("color").check(np.ones((3, 8))) == (1.0,) * 24
    assert get_operation("tone").check([1] * 8) == (1.0,) * 8


def test_clipped_is_the_nearest_allowed() -> None:
    assert get_operation("sharpness").clip([-3.0]) == (-0.25,)
    assert get_operation("tone").clip([0, 1, 2, 3, 9, 1, 1, 1]) == (0.02, 1, 2, 3, 8, 1, 1, 1)


@pytest.mark.parametrize("rise", [0.02, 0.1, 0.7, 1, 1 / 3, 8])
def test_a_curve_of_equal_rises_is_the_identity(rise: float) -> None:
    # As rises count only in proportion, and eight of 0.1 or 0.7 do not sum exactly.
    assert get_operation("tone").is_identity((rise,) * 8)
    assert get_operation("color").is_identity((rise,) * 8 + (1.0,) * 8 + (2 * rise,) * 8)


@pytest.mark.parametrize(
    ("name", "values"),
    [("contrast", (1e-15,)), ("tone", (1 + 1e-9,) + (1.0,) * 7), ("color", (1.0,) * 23 + (1 - 1e-9,))],
)
def test_a_small_change_is_not_the_identity(name: str, values: tuple[float, ...]) -> None:
    assert not get_operation(name).is_identity(values)


def test_an_image_is_an_array() -> None:
    with pytest.raises(TypeError, match="NumPy array or a torch tensor, not list"):
        get_operation("tone")([[0.5]], [1] * 8)


def test_a_new_operation_is_one_declaration() -> None:
    p = Parameter("p", 0, 1, 0, "share", "how much of the negative")
    invert = Operation(
        name="invert",
        group="effects",
        position=5,
        help="A negative.",
        parameters=(p,),
        formula=lambda i, v, scale: i + v[..., 0] * (1 - 2 * i),
    )
    assert invert(np.full((3, 1, 1), 0.25), 1.0).ravel() == pytest.approx([0.75] * 3)
    assert invert.check(1) == (1.0,)

"""Geometry: exact crops, quarter turns and mirrors; straightening by hand; steps of a recipe."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet import Mask, Recipe, RecipeError, Step
from t2onet.errors import LookError
from t2onet.looks import export_recipe
from t2onet.operations import Geometry, declarations, geometries, get_operation, operations, register_geometry
from t2onet.operations.geometry import CROP, FLIP, ROTATE, STRAIGHTEN, find_crop_box, find_inscribed_size

DTYPES = ("uint8", "uint16", "float32")
every_dtype = pytest.mark.parametrize("dtype", DTYPES)
every_geometry = pytest.mark.parametrize("geometry", geometries().values(), ids=geometries())


def noise(height: int, width: int, channels: int = 3, dtype: str = "uint8") -> np.ndarray:
    values = np.random.default_rng(0).random((height, width, channels))
    return values.astype(dtype) if dtype == "float32" else (np.iinfo(dtype).max * values).astype(dtype)


def test_geometry_is_no_operation() -> None:
    assert list(geometries()) == ["crop", "straighten", "rotate", "flip"]
    assert not set(geometries()) & set(operations())
    assert list(declarations()) == [*operations(), *geometries()]
    with pytest.raises(RecipeError, match="there is no operation 'crop'"):
        get_operation("crop")
    with pytest.raises(ValueError, match="called 'crop' is registered already"):
        register_geometry(CROP)


@every_geometry
@pytest.mark.parametrize("shape", [(1, 1), (5, 8), (8, 5)])
def test_the_defaults_change_nothing(geometry: Geometry, shape: tuple[int, int]) -> None:
    photo = noise(*shape)
    assert geometry.is_identity(geometry.defaults)
    assert np.array_equal(geometry.transform(photo, geometry.defaults), photo)


@every_dtype
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_crop_is_a_slice(dtype: str, channels: int) -> None:
    photo = noise(10, 20, channels, dtype)
    result = CROP.transform(photo, {"left": 0.25, "top": 0.1, "right": 0.9, "bottom": 0.6})
    assert result.dtype == dtype
    assert np.array_equal(result, photo[1:6, 5:18])


def test_edges_of_a_crop_are_rounded() -> None:
    assert find_crop_box(10, 10, (0.14, 0.15, 0.86, 0.84)) == (2, 8, 1, 9)


def test_a_crop_leaves_a_pixel() -> None:
    assert CROP.transform(noise(3, 3), (0.4, 0.4, 0.41, 0.41)).shape == (1, 1, 3)
    assert CROP.transform(noise(3, 3), (0.999, 0.999, 1, 1)).shape == (1, 1, 3)


@every_dtype
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_rotation_is_by_quarter_turns_clockwise(dtype: str, turns: int) -> None:
    photo = noise(4, 7, 4, dtype)
    assert np.array_equal(ROTATE.transform(photo, 90 * turns), np.rot90(photo, -turns))


def test_clockwise_by_hand() -> None:
    photo = np.array([[1, 2], [3, 4]], np.uint8)
    assert ROTATE.transform(photo, 90).tolist() == [[3, 1], [4, 2]]


@every_dtype
def test_a_flip_mirrors(dtype: str) -> None:
    photo = noise(4, 7, 3, dtype)
    assert np.array_equal(FLIP.transform(photo, {"horizontal": 1}), photo[:, ::-1])
    assert np.array_equal(FLIP.transform(photo, {"vertical": 1}), photo[::-1])
    assert np.array_equal(FLIP.transform(photo, (1, 1)), photo[::-1, ::-1])


@pytest.mark.parametrize(
    "steps", [[(ROTATE, 90)] * 4, [(ROTATE, 90), (ROTATE, 270)], [(FLIP, (1, 0))] * 2, [(FLIP, (1, 1))] * 2]
)
def test_what_is_undone_is_the_identity(steps: list[tuple[Geometry, float]]) -> None:
    photo = result = noise(4, 7)
    for geometry, values in steps:
        result = geometry.transform(result, values)
    assert np.array_equal(result, photo)


@every_geometry
@given(data=st.data())
def test_the_size_is_as_announced_and_no_larger(geometry: Geometry, data: st.DataObject) -> None:
    height, width = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    values = {
        "crop": lambda: (*(0.9 * data.draw(st.floats(0, 1)) for _ in "lt"), 0.95, 1.0),
        "straighten": lambda: (data.draw(st.floats(-45, 45)),),
        "rotate": lambda: (float(data.draw(st.sampled_from((0, 90, 180, 270)))),),
        "flip": lambda: tuple(float(data.draw(st.booleans())) for _ in "hv"),
    }[geometry.name]()
    photo = noise(height, width)
    result = geometry.transform(photo, values)
    assert result.shape == (*geometry.size_after(height, width, values), 3)
    assert result.size <= photo.size


# ---- straightening


def test_the_inscribed_rectangle_by_hand() -> None:
    # A square turned by 45 degrees holds one of side 1 / sqrt(2).
    assert find_inscribed_size(1000, 1000, 45) == (707, 707)
    # Of 3:2 turned by 30 degrees, the height decides: share 2 / (3 sin + 2 cos).
    share = 2 / (3 * 0.5 + 2 * math.sqrt(3) / 2)
    assert find_inscribed_size(2000, 3000, 30) == (math.floor(2000 * share), math.floor(3000 * share))
    assert find_inscribed_size(2000, 3000, -30) == find_inscribed_size(2000, 3000, 30)


@every_dtype
def test_a_slanted_edge_becomes_upright(dtype: str) -> None:
    """A half-plane whose edge leans by ten degrees, turned back: the edge is a column."""
    y, x = np.mgrid[:200, :300] - np.array([99.5, 149.5])[:, None, None]
    slope = np.tan(np.radians(10))
    bright = np.clip(0.5 + (x + slope * y) * np.cos(np.radians(10)), 0, 1)  # its top leans to the right
    white = 1 if dtype == "float32" else np.iinfo(dtype).max
    photo = np.stack([bright * white] * 3, -1).astype(dtype)
    result = STRAIGHTEN.transform(photo, -10) / white
    middle = result.shape[1] / 2
    assert result[:, : int(middle) - 2].max() < 0.01
    assert result[:, math.ceil(middle) + 2 :].min() > 0.99
    crossing = (1 - result[..., 0]).sum(axis=1)  # where the edge is in each row
    assert np.abs(crossing - middle).max() < 0.05


@every_dtype
def test_a_ramp_stays_a_ramp(dtype: str) -> None:
    """Interpolation is exact for what is linear, up to rounding."""
    y, x = np.mgrid[:60, :90]
    photo = np.stack([20 + x + y, 180 - 2 * y, 3 * y - x / 2 + 60], -1).astype(np.float64)
    scale = {"uint8": 1, "uint16": 257, "float32": 1 / 255}[dtype]
    result = STRAIGHTEN.transform((scale * photo).astype(dtype), 12.5).astype(float) / scale
    rows, columns = result.shape[:2]
    down, across = np.mgrid[:rows, :columns] - np.array([rows - 1, columns - 1])[:, None, None] / 2
    cos, sin = math.cos(math.radians(12.5)), math.sin(math.radians(12.5))
    x, y = cos * across + sin * down + 44.5, cos * down - sin * across + 29.5
    expected = np.stack([20 + x + y, 180 - 2 * y, 3 * y - x / 2 + 60], -1)
    inside = (slice(2, -2), slice(2, -2))
    allowed = {"uint8": 1.0, "uint16": 0.01, "float32": 1e-4}[dtype]
    assert np.abs(result - expected)[inside].max() <= allowed


def test_no_corner_is_empty() -> None:
    for angle in (-45, -3, 0.7, 30):
        assert (STRAIGHTEN.transform(np.full((50, 80, 3), 200, np.uint8), angle) == 200).all()


def test_a_few_rows_are_those_of_the_whole() -> None:
    photo = noise(60, 90)
    whole = STRAIGHTEN.transform(photo, 5)
    assert np.array_equal(STRAIGHTEN.function(photo, (5.0,), slice(7, 19)), whole[7:19])


# ---- steps of a recipe


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (("crop", [0.6, 0, 0.4, 1]), "crop: left is 0.6 and right is 0.4, which leaves nothing"),
        (("crop", [0, 0.5, 1, 0.5]), "crop: top is 0.5 and bottom is 0.5, which leaves nothing"),
        (("crop", {"left": 1.2}), "crop: left is 1.2; allowed is 0 to 1"),
        (("straighten", 46), "straighten: angle is 46; allowed is -45 to 45"),
        (("rotate", 45), "rotate: angle is 45; allowed is 0 to 270 in steps of 90"),
        (("rotate", 360), "rotate: angle is 360; allowed is 0 to 270 in steps of 90"),
        (("flip", 0.5), "flip: horizontal is 0.5; allowed is 0 to 1 in steps of 1"),
        (("flip", 1, Mask.from_array(np.eye(2))), "flip moves the whole picture and takes no mask"),
        (("strighten", 2), "there is no operation 'strighten'; did you mean 'straighten'"),
    ],
)
def test_refusals_say_what_was_given_and_what_is_allowed(step: tuple[object, ...], said: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        Recipe.from_steps([step])
    assert str(refusal.value).startswith(f"step 1: {said}")


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (("crop", [0.1, 0, 0.9, 0.5]), "Cropped to 80 x 50 %."),
        (("crop", [0.1, 0, 0.9, 1]), "Cropped to 80 % of its width."),
        (("crop", [0, 0, 1, 0.5]), "Cropped to 50 % of its height."),
        (("straighten", 1.25), "Straightened by 1.25° clockwise."),
        (("straighten", -2), "Straightened by 2° counterclockwise."),
        (("rotate", 90), "Turned right."),
        (("rotate", 180), "Turned upside down."),
        (("rotate", 270), "Turned left."),
        (("flip", [1, 0]), "Mirrored left to right."),
        (("flip", [1, 1]), "Mirrored left to right and top to bottom."),
        (("crop", [0, 0, 1, 1]), "Changes nothing."),
    ],
)
def test_it_is_said_in_words(step: tuple[object, ...], words: str) -> None:
    assert Recipe.from_steps([step]).describe() == words


def test_its_numbers_are_written_as_settings() -> None:
    recipe = Recipe.from_steps([("straighten", 1.5), ("rotate", 90), ("crop", [0.1, 0, 1, 1]), ("flip", 1)])
    assert recipe.format_settings() == "Straighten +1.50°, rotate 90°, crop left 0.100, horizontal flip 1"


def test_it_is_adjusted_in_place() -> None:
    framed = Recipe.from_steps([("exposure", 1)]).adjust("crop", {"left": 0.2}).adjust("rotate", 90)
    assert [step.operation for step in framed.steps] == ["exposure", "rotate", "crop"]
    assert framed.adjust("crop", {"top": 0.1}).steps[-1].parameters == (0.2, 0.1, 1, 1)


FRAMED = Recipe.from_steps([("exposure", 1), ("rotate", 90), ("crop", [0, 0.25, 0.5, 1]), ("contrast", 0.2)])


def test_it_travels_as_json() -> None:
    assert Recipe.from_json(FRAMED.to_json()) == FRAMED


def test_the_schema_knows_it() -> None:
    kinds = {one["properties"]["operation"]["const"]: one for one in Step.model_json_schema()["oneOf"]}
    assert kinds["crop"]["properties"]["mask"] == {"type": "null"}
    numbers = kinds["rotate"]["properties"]["parameters"]["anyOf"][1]
    assert numbers == {"type": "number", "minimum": 0, "maximum": 270, "default": 0, "multipleOf": 90}


def test_a_recipe_knows_the_size_of_its_result() -> None:
    assert FRAMED.size_after(100, 200) == (150, 50)
    assert [step.operation for step in FRAMED.geometry.steps] == ["rotate", "crop"]


def test_it_has_no_strength() -> None:
    weak = FRAMED.blend(0.5)
    assert weak.geometry == FRAMED.geometry
    assert weak.steps[0].parameters[0] == 0.5
    assert not FRAMED.steps[1].has_strength


@pytest.mark.slow
def test_a_colour_table_leaves_it_out_and_says_so(tmp_path: object) -> None:
    done = export_recipe(FRAMED, f"{tmp_path}/look.cube")
    assert done.notes == (
        "left out: rotate (turned right) changes the frame, which a colour table cannot do",
        f"left out: crop ({FRAMED.steps[2].describe()}) changes the frame, which a colour table cannot do",
    )
    assert done.fidelity.worst < 3
    with pytest.raises(LookError, match=r"can hold none of its steps \(rotate changes the frame, crop "):
        export_recipe(FRAMED.geometry, f"{tmp_path}/other.cube")

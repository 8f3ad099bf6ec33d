"""A style: the mean change of pairs, and what nearness to each adds; its file; edits in it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import t2onet
from t2onet import Editor, Recipe, RequestError
from t2onet.editor.expert import make_retouch, plan_retouch
from t2onet.editor.policy import apply_to_thumbnail
from t2onet.editor.styles import (
    BASIS_SIZE,
    POINT_SIZE,
    Style,
    apply_change,
    describe_photo,
    load_style_file,
    make_basis,
)
from t2onet.operations.paper import CURVE_PIECES
from tests.planning.scenes import scene

KNOTS = CURVE_PIECES + 1
REFUSED = "is not a style, or is damaged; make one by t2o learn PAIRS"


def make_change(lift: float) -> np.ndarray:
    """The change that adds `lift` to every channel, whatever its value."""
    change = np.zeros((BASIS_SIZE, 3))
    for channel in range(3):
        change[channel * KNOTS : (channel + 1) * KNOTS, channel] = lift
    return change


def make_style(lift: float, *, points: np.ndarray | None = None, answers: np.ndarray | None = None) -> Style:
    none = np.zeros((0, BASIS_SIZE, 3))
    return Style(
        make_change(lift),
        np.zeros((0, 2)) if points is None else points,
        none if answers is None else answers,
        1.0,
        5,
    )


def test_a_value_between_two_knots_belongs_to_both() -> None:
    basis = make_basis(np.array([0.0, 2.25 / CURVE_PIECES, 1.0], np.float32))
    red, green, blue = basis.reshape(3, KNOTS)
    assert red[0] == 1
    np.testing.assert_allclose(green[[2, 3]], [0.75, 0.25], atol=1e-6)
    assert blue[-1] == 1
    np.testing.assert_allclose(basis.sum(), 3, atol=1e-6)


def test_a_style_of_one_look_does_the_same_to_every_photo() -> None:
    picture = 0.5 * scene(32)
    after = make_style(0.1).retouch(picture)
    np.testing.assert_allclose(after, picture + 0.1, atol=1e-6)


def test_a_change_is_kept_within_black_and_white() -> None:
    after = apply_change(scene(16), make_change(0.5))
    assert after.max() == 1
    assert apply_change(scene(16), make_change(-2)).max() == 0


def test_similar_photos_are_near_each_other() -> None:
    here, same, dark, other = map(
        describe_photo, (scene(128), scene(128, 0) ** 1.02, scene(128) ** 3, scene(128)[::-1])
    )
    assert here.shape == (POINT_SIZE,)
    near, darker, swapped = (float(((one - here) ** 2).sum()) for one in (same, dark, other))
    assert near < 0.02 < min(darker, swapped)
    assert np.isfinite([describe_photo(np.full((3, 32, 32), value)) for value in (0.0, 1.0)]).all()


def test_a_pair_counts_the_more_the_nearer_its_photo_is() -> None:
    style = make_style(0.1, points=np.array([[0.0, 0.0]]), answers=make_change(0.2)[None])
    here, near, far = (style.predict(np.array([x, 0.0]))[0, 0] for x in (0.0, 1.0, 9.0))
    assert here == pytest.approx(0.3)
    assert near == pytest.approx(0.1 + 0.2 * np.exp(-1))
    assert far == pytest.approx(0.1)


def test_a_style_comes_back_from_its_file(tmp_path: Path) -> None:
    style = make_style(0.1, points=np.full((1, POINT_SIZE), 0.25), answers=make_change(0.2)[None])
    style.save(tmp_path / "mine.style")
    again = load_style_file(tmp_path / "mine.style")
    point = np.full(POINT_SIZE, 0.3)
    np.testing.assert_allclose(again.predict(point), style.predict(point), atol=1e-7)
    assert again.pairs == 5


def write_arrays(path: Path, **changes: object) -> None:
    arrays: dict[str, object] = {
        "version": 1,
        "pairs": 5,
        "width": 1.0,
        "mean": make_change(0.1),
        "points": np.zeros((1, POINT_SIZE)),
        "answers": make_change(0.1)[None],
    }
    stream = io.BytesIO()
    np.savez(stream, **(arrays | changes))  # type: ignore[arg-type]
    path.write_bytes(stream.getvalue())


@pytest.mark.parametrize(
    "changes",
    [
        {"mean": np.zeros((3, 3))},
        {"answers": np.zeros((2, BASIS_SIZE, 3))},
        {"mean": make_change(np.nan)},
        {"width": np.inf},
        {"mean": np.array([{}], dtype=object)},
        {"points": np.array(["a"])},
        {"points": np.zeros((1, 3))},
    ],
)
def test_arrays_that_are_no_style_are_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    write_arrays(tmp_path / "mine.style", **changes)
    with pytest.raises(RequestError, match=REFUSED):
        load_style_file(tmp_path / "mine.style")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"not a style", bytes(1000)])
def test_a_file_that_is_no_style_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.jpg").write_bytes(data)
    with pytest.raises(RequestError, match=rf"{REFUSED} -o a\.style"):
        load_style_file(tmp_path / "a.jpg")


def test_a_damaged_style_is_used_or_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "mine.style"
    points = np.random.default_rng(0).normal(size=(1, POINT_SIZE))
    make_style(0.1, points=points, answers=make_change(0.2)[None]).save(path)
    whole = path.read_bytes()
    reasons = []
    for at, bit in [
        *((at, 1) for at in range(0, len(whole), 3)),
        *((at, 4) for at in range(8, len(whole), 3)),
    ]:
        damaged = bytearray(whole)
        damaged[at] ^= bit
        path.write_bytes(damaged)
        try:
            load_style_file(path)
        except RequestError as error:
            reasons.append(str(error))
    assert len(reasons) > len(whole) // 3
    others = [one for one in reasons if REFUSED not in one and "learned by another release" not in one]
    assert others == []


def set_encrypted(data: bytes) -> bytes:
    """A ZIP file whose list of files says that they are encrypted."""
    at = data.index(b"PK\x01\x02")
    return data[: at + 8] + b"\x01" + data[at + 9 :]


def claim_shape(data: bytes) -> bytes:
    """A style whose `points` are far larger than any memory."""
    arrays = zipfile.ZipFile(io.BytesIO(data))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in arrays.namelist():
            content = arrays.read(name)
            shape = f"({1 << 55}, 2), }}".encode()
            if name == "points.npy":
                start = content.index(b"(1, ")
                content = content[:start] + shape + content[start + len(shape) :]
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("damage", [set_encrypted, claim_shape, lambda data: data[:-30]])
def test_damage_that_libraries_meet_with_other_errors_is_refused(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "mine.style"
    write_arrays(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RequestError, match=REFUSED):
        load_style_file(path)


def test_a_style_of_another_release_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "mine.style", version=2)
    with pytest.raises(RequestError, match="learned by another release"):
        load_style_file(tmp_path / "mine.style")
    with pytest.raises(RequestError, match="does not exist; make a style by t2o learn"):
        load_style_file(tmp_path / "absent.style")


# ---- edits in a style


def make_photo() -> np.ndarray:
    return (127 * scene(96).transpose(1, 2, 0)).astype(np.uint8)


@pytest.mark.slow
def test_a_style_retouches_the_whole_photo_and_the_request_comes_on_top() -> None:
    photo, style = make_photo(), make_style(0.15)
    edit = t2onet.edit(photo, "fix this", style=style)
    assert edit.mode == "expert"
    risen = np.asarray(edit.image).mean() - photo.mean()
    assert risen == pytest.approx(0.15 * 255, rel=0.15)
    darker = t2onet.edit(photo, "a stop darker", style=style)
    assert np.asarray(darker.image).mean() < np.asarray(edit.image).mean()
    assert t2onet.edit(photo, "fix this", style=make_style(0.0)).recipe == Recipe()


def find_exposure(request: str, lift: float) -> float:
    """By how many stops a request changes the exposure of a photo in a style, beside the style's own."""
    photo, style = make_photo(), make_style(lift)
    edits = [t2onet.edit(photo, text, style=style) for text in ("fix this", request)]
    found = [[s.parameters[0] for s in edit.recipe.steps if s.operation == "exposure"] for edit in edits]
    return sum(found[1]) - sum(found[0])


@pytest.mark.slow
@pytest.mark.parametrize("lift", [-0.1, 0.1])
def test_what_a_request_says_comes_on_top_of_what_the_style_does(lift: float) -> None:
    assert find_exposure("one stop darker", lift) == pytest.approx(-1)
    steps = t2onet.edit(make_photo(), "darken the left", style=make_style(lift)).recipe.steps
    assert [step.where for step in steps if step.is_local] == ["left"]


@pytest.mark.slow
def test_limits_hold_for_a_style_too() -> None:
    photo = make_photo()
    plain, limited = (
        np.asarray(t2onet.edit(photo, text, style=make_style(0.15)).image).mean()
        for text in ("more contrast", "more contrast, but not brighter")
    )
    assert limited < plain - 10


@pytest.mark.slow
def test_a_style_is_not_applied_twice() -> None:
    editor = Editor(make_photo(), style=make_style(0.15))
    first = np.asarray(editor.ask("fix this").image, float)
    again = np.asarray(editor.follow("fix this").image, float)
    assert np.abs(again - first).mean() < 3


@pytest.mark.parametrize("ev", [-0.5, 0.5])
def test_a_style_counts_from_the_exposure_that_a_photo_was_given(ev: float) -> None:
    picture, style = 0.5 * scene(128), make_style(0.1)
    begun = Recipe.from_steps([("exposure", ev)])
    recipe = make_retouch(picture, begun, (), style=style)
    assert [step.operation for step in recipe.steps].count("exposure") == 1  # one value, not two steps
    np.testing.assert_allclose(apply_to_thumbnail(recipe, picture).mean(), (picture + 0.1).mean(), atol=0.01)
    (found,) = (step.parameters[0] for step in recipe.steps if step.operation == "exposure")
    (plain,) = (
        step.parameters[0]
        for step in make_retouch(picture, Recipe(), (), style=style).steps
        if step.operation == "exposure"
    )
    assert found == pytest.approx(plain, abs=0.05)


def test_a_style_and_another_network_are_refused_together() -> None:
    class Other:
        side = 8

    with pytest.raises(RequestError, match="give one of them"):
        Editor(make_photo(), Other(), style=make_style(0.1))  # type: ignore[arg-type]


@pytest.mark.slow
def test_targets_are_planned_in_operations_of_photographers() -> None:
    picture = scene(64)
    hidden = Recipe.from_steps([("exposure", 0.3), ("contrast", (0.2, 0.5)), ("vibrance", 30)])
    steps = plan_retouch(picture, apply_to_thumbnail(hidden, picture))
    assert {step.operation for step in steps} == {"exposure", "contrast", "vibrance"}
    toned = Recipe.from_steps([("grading", {"shadows hue": 220, "shadows strength": 50})])
    assert "grading" in {step.operation for step in plan_retouch(picture, apply_to_thumbnail(toned, picture))}


def test_a_crop_is_kept_where_a_style_is_added() -> None:
    editor = Editor(make_photo(), style=make_style(0.15))
    editor.put(Recipe.from_steps([("crop", [0, 0, 0.5, 1])]))
    edit = editor.follow("fix this")
    assert "crop" in [step.operation for step in edit.recipe.steps]
    assert np.asarray(edit.image).mean() > np.asarray(editor.history[0].image).mean() + 20

"""Routes about parts of a photo: places, masks, what is like a point, and requests for a part."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import PIL.Image
import pytest

from t2onet.recipe import Mask
from t2onet.recipe.where import HUES, POSITIONS, TONES
from tests.conftest import EXAMPLES
from tests.hostile import REFUSED_MASKS, USED_MASKS
from tests.server.conftest import Serve
from tests.server.helpers import Visitor, decode, encode, read_refusal

GRADIENT = {"linear": {"from": [0.5, 0], "to": [0.5, 0.5]}}


def show(visitor: Visitor, address: str, **body: Any) -> np.ndarray:
    """A mask (H, W) uint8 that the server answers with."""
    answer = visitor.post(address, **body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    with PIL.Image.open(io.BytesIO(answer.content)) as file:
        assert file.mode == "L"
        return np.asarray(file)


def paint(levels: np.ndarray) -> dict[str, str]:
    return {"png": base64.b64encode(Mask.from_array(levels).png).decode()}


def left_half() -> dict[str, str]:
    levels = np.zeros((8, 8), np.uint8)
    levels[:, :4] = 255
    return paint(levels)


@pytest.fixture
def discs(visitor: Visitor) -> str:
    """The address of a photo, 120 x 80: two red discs on grey."""
    y, x = np.mgrid[:80, :120]
    pixels = np.full((80, 120, 3), 128, np.uint8)
    for centre in (30, 90):
        pixels[(x - centre) ** 2 + (y - 40) ** 2 < 20**2] = (200, 40, 40)
    return visitor.bring(encode(pixels))


def test_places_are_those_in_the_photo(visitor: Visitor, photo: str) -> None:
    told = visitor.client.get(f"{photo}/places").json()
    assert told["words"] == {"tones": [*TONES], "hues": [*HUES], "positions": [*POSITIONS]}
    meadow = visitor.bring((EXAMPLES / "meadow.jpg").read_bytes(), "meadow.jpg")
    found = {one["name"]: one["share"] for one in visitor.client.get(f"{meadow}/places").json()["places"]}
    assert "sky" in found
    assert "person" not in found
    assert all(0 < share < 1 for share in found.values())
    assert visitor.say(meadow, "darken the sky", 0)["answered"], "requests find what the list has"


def test_the_mask_of_a_place_is_shown(visitor: Visitor, discs: str) -> None:
    reds = show(visitor, f"{discs}/masks", where="reds")
    assert reds.shape == (80, 120)
    assert (reds[40, 30], reds[40, 90], reds[40, 60]) == (255, 255, 0)
    rest = show(visitor, f"{discs}/masks", where="not reds")
    assert (rest[40, 30], rest[40, 60]) == (0, 255)
    top = show(visitor, f"{discs}/masks", where=GRADIENT, size=60)
    assert top.shape == (40, 60)
    assert top[0, 0] > 250
    assert top[-1, 0] < 5


def test_a_mask_lies_in_the_frame_that_is_left(visitor: Visitor, discs: str) -> None:
    crop = {"operation": "crop", "parameters": [0.5, 0, 1, 1]}
    masked = {"operation": "exposure", "parameters": [1], "mask": left_half()}
    recipe = {"steps": [masked, crop, masked]}
    assert not show(visitor, f"{discs}/masks", recipe=recipe, step=0)[:, 8:].any(), "the left is cut off"
    after = show(visitor, f"{discs}/masks", recipe=recipe, step=2)
    assert after.shape == (80, 60)
    assert (after[40, 10], after[40, 50]) == (255, 0)
    assert show(visitor, f"{discs}/masks", recipe=recipe, step=1).min() == 255, "a whole photo"
    reds = show(visitor, f"{discs}/masks", recipe=recipe, where="reds")
    assert (reds[40, 30], reds[40, 5]) == (255, 0)


def test_what_is_like_a_point_is_selected(visitor: Visitor, discs: str) -> None:
    disc = show(visitor, f"{discs}/selections", point=[0.25, 0.5])
    assert disc[40, 30] > 240
    assert disc[40, 90] < 20, "as red, but not connected with it"
    assert disc[5, 60] < 20
    ground = show(visitor, f"{discs}/selections", point=[0.5, 0.1])
    assert ground[40, 60] > 240
    assert ground[40, 30] < 20
    assert show(visitor, f"{discs}/selections", point=[1, 1], tolerance=60, size=64).shape[1] <= 64


@pytest.mark.parametrize(
    ("route", "body", "kind", "words"),
    [
        ("masks", {"where": "face"}, "place", "I see no face in this photo"),
        ("masks", {"where": "skies"}, "recipe", "'skies' is not known"),
        ("masks", {}, "invalid", "either a where or the number of a step"),
        ("masks", {"step": 0}, "invalid", "no step 0"),
        ("masks", {"where": "top", "size": 1}, "invalid", "size"),
        ("selections", {"point": [0.5, 2]}, "invalid", "point"),
        ("selections", {"point": [0.5, 0.5], "tolerance": 500}, "invalid", "tolerance"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    visitor: Visitor, discs: str, *, route: str, body: dict[str, Any], kind: str, words: str
) -> None:
    answer = visitor.post(f"{discs}/{route}", **body)
    assert read_refusal(answer) == (422, kind)
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("steps", "point", "expected"),
    [
        ([], (0.2, 0.3), (0.2, 0.3)),
        ([("crop", [0.5, 0.25, 1, 1])], (0, 0), (0.5, 0.25)),
        ([("crop", [0.5, 0.25, 1, 1])], (1, 0.5), (1, 0.625)),
        ([("rotate", [90])], (0, 0), (0, 1)),
        ([("flip", [1, 0])], (0.1, 0.3), (0.9, 0.3)),
        ([("straighten", [5])], (0.5, 0.5), (0.5, 0.5)),
    ],
)
def test_the_frame_leads_back_to_the_photo(
    visitor: Visitor,
    discs: str,
    steps: list[tuple[str, list[float]]],
    point: tuple[float, float],
    expected: tuple[float, float],
) -> None:
    state = visitor.put(discs, 0, *steps).json()
    a, b, c, d, e, f = state["frame"]
    u, v = point
    assert (a * u + b * v + c, d * u + e * v + f) == pytest.approx(expected, abs=0.01)


def test_a_request_for_a_part_changes_that_part(visitor: Visitor, discs: str) -> None:
    def ask(revision: int, **part: Any) -> dict[str, Any]:
        body = {"request": "a stop darker", "revision": revision, **part}
        answer: dict[str, Any] = visitor.post(f"{discs}/requests", **body).json()
        return answer

    first = ask(0, where="top or left")["state"]["recipe"]["steps"]
    assert [one["where"] for one in first] == ["top or left"]
    second = ask(1, where=GRADIENT)["state"]["recipe"]["steps"]
    assert [one["where"] for one in second] == ["top or left", GRADIENT]
    painted = ask(2, mask=left_half())
    assert [bool(one.get("mask")) for one in painted["state"]["recipe"]["steps"]] == [False, False, True]
    before = decode(visitor.client.get(f"{discs}/preview.jpg?original=true").content).astype(int)
    visitor.put(discs, 3)
    assert ask(4, mask=left_half())["answered"]
    after = decode(visitor.client.get(f"{discs}/preview.jpg").content).astype(int)
    change = (after - before).mean(axis=(0, 2))
    assert change[20] < -15
    assert abs(change[100]) < 2
    variants = visitor.post(f"{discs}/variants", request="darker", where="top", count=2).json()["variants"]
    assert {step["where"] for one in variants for step in one["steps"]} == {"top"}


def test_what_has_no_name_is_met_through_a_mask(visitor: Visitor, discs: str) -> None:
    visitor.put(discs, 0, ("exposure", [0.5]))
    told = visitor.say(discs, "brighten the car and make it warmer", 1)
    assert told["point_at"] == ["brighten car"]
    assert [one["operation"] for one in told["state"]["recipe"]["steps"]] == ["white_balance", "exposure"]
    visitor.post(f"{discs}/undo", revision=2)
    body = {"request": "brighten the car and make it warmer", "revision": 3, "mask": left_half()}
    told = visitor.post(f"{discs}/requests", **body).json()
    assert (told["point_at"], told["declined"]) == ([], [])
    steps = told["state"]["recipe"]["steps"]
    assert {"operation": "exposure", "parameters": [0.5]} in steps, "what was there stays whole"
    local = [one["operation"] for one in steps if "mask" in one]
    assert "exposure" in local
    assert "white_balance" not in local


@pytest.mark.parametrize(
    ("part", "refusal", "words"),
    [
        ({"mask": {"png": "no picture"}}, (422, "recipe"), "mask: "),
        ({"mask": {"file": "/etc/passwd"}}, (422, "recipe"), "inside the recipe"),
        ({"mask": paint(np.zeros((2500, 2000), np.uint8))}, (413, "too_large"), "at most 4 megapixels"),
        ({"mask": left_half(), "where": "top"}, (422, "recipe"), "both a mask and a where"),
        ({"where": "nowhere"}, (422, "recipe"), "not known"),
        ({"where": {"linear": {}}}, (422, "recipe"), "linear has from, to"),
    ],
)
def test_a_part_is_checked_before_it_is_used(
    visitor: Visitor, discs: str, part: dict[str, Any], refusal: tuple[int, str], words: str
) -> None:
    for route, more in (("requests", {"revision": 0}), ("variants", {})):
        answer = visitor.post(f"{discs}/{route}", request="darker", **more, **part)
        assert read_refusal(answer) == refusal
        message = answer.json()["error"]["message"]
        assert words in message
        assert "\n" not in message
    assert visitor.state(discs)["revision"] == 0


def test_a_mask_counts_once_however_often_its_step_is_adjusted(serve: Serve) -> None:
    visitor = serve(masks_mb=1)
    photo = visitor.bring(encode(np.full((40, 60, 3), 90, np.uint8)))
    noise = paint(np.random.default_rng(0).integers(0, 255, (800, 800), np.uint8))
    for revision in range(4):
        step = {"operation": "exposure", "parameters": [0.1 * (revision + 1)], "mask": noise}
        answer = visitor.client.put(
            f"{photo}/recipe", json={"recipe": {"steps": [step]}, "revision": revision}
        )
        assert answer.status_code == 200, answer.text
    other = paint(np.random.default_rng(1).integers(0, 255, (800, 800), np.uint8))
    refused = visitor.post(f"{photo}/requests", request="darker", revision=4, mask=other)
    assert read_refusal(refused) == (413, "too_large")


@pytest.mark.parametrize("kind", USED_MASKS)
def test_an_unusual_mask_is_used_by_its_levels(visitor: Visitor, discs: str, kind: str) -> None:
    make, levels = USED_MASKS[kind]
    mask = {"png": base64.b64encode(make()).decode()}
    body = {"request": "a stop darker", "revision": 0, "mask": mask}
    recipe = visitor.post(f"{discs}/requests", **body).json()["state"]["recipe"]
    assert show(visitor, f"{discs}/masks", recipe=recipe, step=0)[40, [2, -3]].tolist() == [*levels]


@pytest.mark.parametrize("kind", REFUSED_MASKS)
def test_an_unusable_mask_is_refused_in_requests_and_recipes(visitor: Visitor, discs: str, kind: str) -> None:
    make, words, _ = REFUSED_MASKS[kind]
    mask = {"png": base64.b64encode(make()).decode()}
    step = {"operation": "exposure", "parameters": [1], "mask": mask}
    expected = (413, "too_large") if kind == "huge" else (422, "recipe")
    for refused in (
        visitor.post(f"{discs}/requests", request="a stop darker", revision=0, mask=mask),
        visitor.client.put(f"{discs}/recipe", json={"recipe": {"steps": [step]}, "revision": 0}),
    ):
        assert read_refusal(refused) == expected
        assert ("4 megapixels" if kind == "huge" else words) in refused.json()["error"]["message"]
    assert visitor.state(discs)["revision"] == 0


@pytest.mark.parametrize("kind", ["all", "noise", "one pixel"])
def test_a_strange_mask_is_used_as_it_is(visitor: Visitor, discs: str, kind: str) -> None:
    levels = {
        "all": np.full((80, 120), 255, np.uint8),
        "noise": np.random.default_rng(0).integers(0, 255, (80, 120), np.uint8),
        "one pixel": np.full((1, 1), 255, np.uint8),
    }[kind]
    body = {"request": "a stop darker", "revision": 0, "mask": paint(levels)}
    told = visitor.post(f"{discs}/requests", **body).json()
    assert told["answered"]
    (step,) = told["state"]["recipe"]["steps"]
    assert step["parameters"] == [-1]


def test_a_request_in_an_empty_mask_is_refused(visitor: Visitor, discs: str) -> None:
    body = {"request": "a stop darker", "revision": 0, "mask": paint(np.zeros((8, 8), np.uint8))}
    refused = visitor.post(f"{discs}/requests", **body)
    assert read_refusal(refused) == (422, "request")
    assert refused.json()["error"]["message"].startswith("the mask is black everywhere")
    assert visitor.state(discs)["revision"] == 0

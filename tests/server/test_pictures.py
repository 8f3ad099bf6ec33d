"""What is seen and what is saved: previews, histograms, exports, batches."""

from __future__ import annotations

import io
import re
import threading
import time
import zipfile

import numpy as np
import pytest

import t2onet
from t2onet import Editor, Recipe
from t2onet.looks import SETTINGS_FORMATS
from t2onet.server import photos, results
from t2onet.server.photos import PreviewCache, encode_preview
from tests.conftest import EXAMPLES, PATIENCE
from tests.server.conftest import Serve
from tests.server.helpers import Visitor, decode, encode, picture, pixels, read_refusal, recipe

FOUR = [("brightness", 0.1), ("saturation", 0.2), ("contrast", 0.2), ("sharpness", 0.3)]


@pytest.fixture
def preview_passes(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The operations of every pass over the preview."""
    passes: list[list[str]] = []
    real = photos.render_stages

    def counted(look: Recipe, *arguments: object, **options: object) -> object:
        passes.append([step.operation for step in look.steps])
        return real(look, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(photos, "render_stages", counted)
    return passes


def test_the_preview_is_the_edit(visitor: Visitor, photo: str) -> None:
    visitor.put(photo, 0, *FOUR)
    answer = visitor.client.get(f"{photo}/preview.jpg")
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["server-timing"].startswith("render;dur=")
    expected = decode(encode_preview(np.asarray(t2onet.apply(Recipe.from_steps(FOUR), pixels())))).astype(int)
    assert np.abs(decode(answer.content) - expected).mean() < 0.5
    original = visitor.client.get(f"{photo}/preview.jpg", params={"original": True})
    assert original.content == encode_preview(pixels())


def test_pixels_of_the_preview_are_those_of_the_executor(visitor: Visitor, photo: str) -> None:
    room = visitor.client.app.state.darkroom  # type: ignore[attr-defined]
    image = t2onet.open_image(pixels())
    shown = room.previews.render("one", lambda: image, Recipe.from_steps(FOUR), 1600)
    exact = np.asarray(t2onet.apply(Recipe.from_steps(FOUR), pixels()))
    assert np.abs(shown.astype(int) - exact).max() <= 1


def test_only_the_steps_from_the_changed_one_on_are_computed(
    visitor: Visitor, photo: str, preview_passes: list[list[str]]
) -> None:
    def rendered(*steps: tuple[str, float]) -> list[str]:
        preview_passes.clear()
        assert visitor.post(f"{photo}/renders", recipe=recipe(*steps)).status_code == 200
        return [name for one in preview_passes for name in one]

    names = [name for name, _ in FOUR]
    assert rendered(*FOUR) == names
    assert rendered(*FOUR) == []
    assert rendered(*FOUR[:3], ("sharpness", 0.5)) == names[3:]
    assert rendered(*FOUR[:2], ("contrast", 0.4), FOUR[3]) == names[2:]
    assert rendered(*FOUR[:2], ("contrast", 0.5), FOUR[3]) == names[2:]
    assert rendered(*FOUR[:2], ("contrast", 0.5), FOUR[3], ("saturation", 0)) == [], "that is no step"
    assert rendered(*FOUR[:3]) == names[2:3]
    assert visitor.state(photo)["revision"] == 0, "a render changes nothing"


def test_a_preview_that_goes_on_from_a_stage_finds_places_on_the_photo(visitor: Visitor, photo: str) -> None:
    previews = visitor.client.app.state.darkroom.previews  # type: ignore[attr-defined]
    image = t2onet.open_image(pixels())
    begun = [("exposure", 2), ("rotate", 90), ("contrast", 0.3, "top")]
    for saturation in (-0.5, -1):
        look = Recipe.from_steps([*begun, ("saturation", saturation, "shadows")])
        shown = previews.render("one", lambda: image, look, 1600)
        exact = np.asarray(t2onet.apply(look, pixels(), kernels=True))
        assert np.abs(shown.astype(int) - exact).max() <= 1


def test_what_a_slider_left_behind_is_not_kept(visitor: Visitor, photo: str) -> None:
    pool = visitor.client.app.state.darkroom.previews.cache  # type: ignore[attr-defined]
    visitor.client.get(f"{photo}/preview.jpg?original=true")
    held = set()
    for p in range(10):
        visitor.post(f"{photo}/renders", recipe=recipe(("brightness", p / 100 + 0.01), *FOUR[1:]))
        held.add(pool.size)
    side = 96 * 96 * 3
    assert held == {4 * 2 * side + 2 * side}, "the photo, three stages, and two pictures"


def test_a_preview_is_only_sent_when_it_is_new(visitor: Visitor, photo: str) -> None:
    first = visitor.client.get(f"{photo}/preview.jpg")
    known = {"If-None-Match": first.headers["etag"]}
    assert visitor.client.get(f"{photo}/preview.jpg", headers=known).status_code == 304
    visitor.say(photo, "brighter", 0)
    assert visitor.client.get(f"{photo}/preview.jpg", headers=known).status_code == 200


@pytest.mark.slow
def test_previews_are_screen_sized_and_never_enlarged(serve: Serve) -> None:
    visitor = serve(preview=400)
    photo = visitor.bring((EXAMPLES / "drum.jpg").read_bytes(), "drum.jpg")
    state = visitor.state(photo)
    long = max(state["width"], state["height"])

    def longest(size: int) -> int:
        return max(decode(visitor.client.get(f"{photo}/preview.jpg?size={size}").content).shape)

    assert longest(8000) == long
    for size in (100, 400, 900):
        assert size - 2 <= longest(size) <= size, "the short side is whole pixels"
    assert read_refusal(visitor.client.get(f"{photo}/preview.jpg?size=3")) == (422, "invalid")


def test_a_transparent_photo_is_shown_on_white(visitor: Visitor) -> None:
    address = visitor.bring(encode(np.dstack([pixels(), np.zeros((96, 96), np.uint8)])))
    assert decode(visitor.client.get(f"{address}/preview.jpg").content).min() > 250


def test_the_histogram_counts_and_marks_what_is_clipped(visitor: Visitor, photo: str) -> None:
    visitor.put(photo, 0, ("brightness", 2))
    found = visitor.client.get(f"{photo}/histogram").json()
    bright = np.asarray(t2onet.apply(Recipe.from_steps([("brightness", 2)]), pixels()))
    assert [sum(found[name]) for name in ("red", "green", "blue")] == [96 * 96] * 3
    assert found["pixels"] == 96 * 96
    shares = [found["clipped"][name]["white"] for name in ("red", "green", "blue")]
    assert shares == pytest.approx((bright == 255).mean(axis=(0, 1)).tolist(), abs=0.01)
    dark = visitor.post(f"{photo}/histogram", recipe=recipe(("brightness", -1))).json()
    assert dark["clipped"]["red"]["black"] == 1.0
    untouched = visitor.client.get(f"{photo}/histogram", params={"original": True}).json()
    assert untouched["red"] == np.bincount(pixels()[..., 0].ravel(), minlength=256).tolist()


def test_memory_for_previews_is_bounded() -> None:
    pool = PreviewCache(1000)
    for number in range(10):
        pool.put("photo", number, value=np.zeros(300, np.uint8))
    assert pool.size == 900
    assert pool.get("photo", 6) is None
    assert pool.get("photo", 7) is not None
    pool.put("photo", 10, value=np.zeros(300, np.uint8))
    assert pool.get("photo", 7) is not None, "it was used last"
    pool.drop("photo")
    assert pool.size == 0


# ---- exports


def test_a_photo_that_nothing_changed_comes_out_byte_for_byte(visitor: Visitor) -> None:
    data = (EXAMPLES / "drum.jpg").read_bytes()
    photo = visitor.bring(data, "drum.jpg")
    result = visitor.post(f"{photo}/exports").json()
    assert (result["name"], result["bytes"]) == ("drum-edited.jpg", len(data))
    fetched = visitor.client.get(result["url"])
    assert fetched.content == data
    assert fetched.headers["content-disposition"] == 'attachment; filename="drum-edited.jpg"'
    assert fetched.headers["content-type"] == "application/octet-stream"


def test_an_export_is_the_edit_at_full_resolution(serve: Serve) -> None:
    visitor = serve(preview=64)
    photo = visitor.bring(picture())
    visitor.put(photo, 0, *FOUR)
    result = visitor.post(f"{photo}/exports").json()
    expected = np.asarray(t2onet.apply(Recipe.from_steps(FOUR), pixels()))
    assert np.array_equal(decode(visitor.client.get(result["url"]).content), expected)
    other = visitor.post(f"{photo}/exports", format="webp", quality=50, recipe=recipe()).json()
    assert other["name"] == "sea-edited.webp"


@pytest.mark.slow
def test_recipes_and_tables_are_exported(visitor: Visitor, photo: str) -> None:
    visitor.put(photo, 0, *FOUR)
    sidecar = visitor.post(f"{photo}/exports", kind="recipe").json()
    assert sidecar["name"] == "sea-edited.png.t2o.json"
    assert Recipe.from_json(visitor.client.get(sidecar["url"]).text) == Recipe.from_steps(FOUR)
    cube = visitor.post(f"{photo}/exports", kind="cube").json()
    assert visitor.client.get(cube["url"]).text.startswith('TITLE "sea"\nLUT_3D_SIZE 33\n')
    assert any(note.startswith("left out: sharpness") for note in cube["notes"])
    hald = visitor.post(f"{photo}/exports", kind="hald").json()
    assert decode(visitor.client.get(hald["url"]).content).shape == (512, 512, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "program"), [("pp3", "RawTherapee"), ("xmp", "darktable")])
def test_settings_for_a_program_come_with_their_table(visitor: Visitor, kind: str, program: str) -> None:
    photo, name = visitor.bring(picture(32), name="peak 🏔.png"), f"peak 🏔.{kind}"
    result = visitor.post(f"{photo}/exports", kind=kind, recipe=recipe(*FOUR)).json()
    assert result["name"] == f"{name}.zip"
    assert result["notes"][-1].startswith(f"{name} applies peak 🏔.png: move that to {program}'s folder")
    assert any(note.startswith("left out: sharpness") for note in result["notes"])
    with zipfile.ZipFile(io.BytesIO(visitor.client.get(result["url"]).content)) as file:
        assert file.namelist() == [name, "peak 🏔.png"]
        assert file.read(name).decode() == SETTINGS_FORMATS[f".{kind}"].format("peak 🏔.png")
        assert decode(file.read("peak 🏔.png")).shape == (1728, 1728, 3)


def test_old_results_make_room(serve: Serve) -> None:
    visitor = serve(exports=2)
    photo = visitor.bring(picture())
    urls = [visitor.post(f"{photo}/exports", kind="recipe").json()["url"] for _ in range(3)]
    assert [visitor.client.get(url).status_code for url in urls] == [404, 200, 200]


# ---- batches


def finish_batch(visitor: Visitor, batch: str) -> dict[str, object]:
    end = time.monotonic() + PATIENCE
    while (state := visitor.client.get(batch).json())["running"]:
        assert time.monotonic() < end, "no end"
        time.sleep(0.01)
    found: dict[str, object] = state
    return found


def test_one_recipe_for_many_photos(visitor: Visitor) -> None:
    for side in (32, 48):
        visitor.bring(picture(side), "sea.png")
    begun = visitor.post(f"{visitor.session}/batches", recipe=recipe(("brightness", 0.2)))
    assert begun.status_code == 202
    state = finish_batch(visitor, f"{visitor.session}/batches/{begun.json()['batch']}")
    assert (state["total"], state["done"], state["share"], state["cancelled"]) == (2, 2, 1.0, False)
    look = Recipe.from_steps([("brightness", 0.2)])
    for side, item in zip((32, 48), state["items"], strict=True):  # type: ignore[call-overload]
        expected = np.asarray(t2onet.apply(look, pixels(side)))
        assert np.array_equal(decode(visitor.client.get(item["url"]).content), expected)
    archive = zipfile.ZipFile(io.BytesIO(visitor.client.get(str(state["archive"])).content))
    assert archive.namelist() == ["sea-edited.png", "2-sea-edited.png"]
    assert archive.testzip() is None
    assert np.array_equal(decode(archive.read("2-sea-edited.png")), expected)


def test_one_request_for_chosen_photos(visitor: Visitor, photo: str) -> None:
    visitor.bring(picture(32), "other.png")
    chosen = [photo.rsplit("/", 1)[-1]]
    for request, outcome in [
        ("brighter", "done"),
        ("brighter, then save it", "done"),
        ("undo that", "refused"),
        ("remove the tree", "refused"),
    ]:
        batch = visitor.post(f"{visitor.session}/batches", request=request, photos=chosen).json()["batch"]
        state = finish_batch(visitor, f"{visitor.session}/batches/{batch}")
        (item,) = state["items"]  # type: ignore[misc]
        assert (item["name"], item["outcome"]) == ("sea.png", outcome)
    assert "cannot be removed" in item["error"]
    assert visitor.state(photo)["revision"] == 0


def test_what_of_a_request_cannot_be_done_is_noted(visitor: Visitor, photo: str) -> None:
    batch = visitor.post(f"{visitor.session}/batches", request="brighter, remove the tree").json()["batch"]
    (item,) = finish_batch(visitor, f"{visitor.session}/batches/{batch}")["items"]  # type: ignore[misc]
    assert item["outcome"] == "done"
    (note,) = item["notes"]
    assert re.fullmatch("Not done, “[^”]*tree[^”]*”: things cannot be removed from a photo.", note)


def test_a_batch_can_be_stopped(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        visitor.bring(picture(32))
    reached, go_on = threading.Event(), threading.Event()
    real = results.write_edited_photo

    def waiting(*arguments: object, **options: object) -> object:
        reached.set()
        assert go_on.wait(PATIENCE)
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(results, "write_edited_photo", waiting)
    batch = visitor.post(f"{visitor.session}/batches", recipe=recipe(("brightness", 0.2))).json()["batch"]
    assert reached.wait(PATIENCE)
    again = visitor.post(f"{visitor.session}/batches", recipe=recipe(("brightness", 0.2)))
    assert read_refusal(again) == (409, "busy")
    address = f"{visitor.session}/batches/{batch}"
    assert visitor.post(f"{address}/cancel").json()["cancelled"]
    go_on.set()
    state = finish_batch(visitor, address)
    assert [item["outcome"] for item in state["items"]] == ["cancelled"] * 3  # type: ignore[attr-defined]
    assert state["archive"] is None


@pytest.mark.slow
@pytest.mark.parametrize("spelling", [["mode"], ["manner"], ["mode", "manner"]], ids=" ".join)
def test_the_mode_may_be_called_manner_as_before(visitor: Visitor, photo: str, spelling: list[str]) -> None:
    expected = Editor(pixels()).ask("brighter", mode="expert").recipe
    assert expected != Editor(pixels()).ask("brighter").recipe
    how = dict.fromkeys(spelling, "expert")
    state = visitor.post(f"{photo}/requests", request="brighter", revision=0, **how).json()["state"]
    assert (state["mode"], state["manner"]) == ("expert", "expert")
    (variant,) = visitor.post(f"{photo}/variants", request="brighter", count=1, **how).json()["variants"]
    assert Recipe.from_data(state["recipe"]) == Recipe.from_data(variant["recipe"]) == expected
    batch = visitor.post(f"{visitor.session}/batches", request="brighter", **how).json()["batch"]
    (item,) = finish_batch(visitor, f"{visitor.session}/batches/{batch}")["items"]  # type: ignore[misc]
    edited = np.asarray(t2onet.apply(expected, pixels(), kernels=True))
    assert np.array_equal(decode(visitor.client.get(item["url"]).content), edited)


def test_refused_batches(visitor: Visitor) -> None:
    address = f"{visitor.session}/batches"
    assert read_refusal(visitor.post(address, recipe=recipe())) == (422, "invalid")
    visitor.bring(picture(32))
    assert read_refusal(visitor.post(address)) == (422, "invalid")
    assert read_refusal(visitor.post(address, recipe=recipe(), request="brighter")) == (422, "invalid")
    assert read_refusal(visitor.post(address, recipe=recipe(), photos=["x"])) == (404, "not_found")
    none = visitor.post(address, recipe=recipe(), photos=[])
    assert read_refusal(none) == (422, "invalid"), "an empty list does not mean all"
    assert "no photo was chosen" in none.json()["error"]["message"]
    assert read_refusal(visitor.client.get(f"{address}/x")) == (404, "not_found")


CROPPED = [("brightness", 0.1), ("crop", [0, 0, 0.5, 0.25]), ("rotate", 90)]


def test_sizes_follow_a_crop(visitor: Visitor, photo: str) -> None:
    before = visitor.state(photo)
    assert (before["width"], before["edited_width"], before["edited_height"]) == (96, 96, 96)
    after = visitor.put(photo, 0, *CROPPED).json()
    assert (after["width"], after["height"]) == (96, 96), "the file is as it was"
    assert (after["edited_width"], after["edited_height"]) == (24, 48)
    shown = decode(visitor.client.get(f"{photo}/preview.jpg").content)
    assert shown.shape == (48, 24, 3)
    exact = decode(encode_preview(np.asarray(t2onet.apply(Recipe.from_steps(CROPPED), pixels()))))
    assert np.abs(shown.astype(int) - exact).mean() < 0.5
    histogram = visitor.client.get(f"{photo}/histogram").json()
    assert histogram["pixels"] == 24 * 48


def test_the_original_is_shown_in_the_frame_of_the_edit(visitor: Visitor, photo: str) -> None:
    visitor.put(photo, 0, *CROPPED)
    shown = visitor.client.get(f"{photo}/preview.jpg", params={"original": True})
    framed = np.rot90(pixels()[:24, :48], -1)
    assert shown.content == encode_preview(np.ascontiguousarray(framed))


def test_a_size_is_that_of_the_result(serve: Serve) -> None:
    """A crop of a large photo is as sharp as the whole: it is made from a larger copy."""
    visitor = serve(preview=64)
    photo = visitor.bring(picture(400))
    for size in (30, 64, 100):
        answer = visitor.post(f"{photo}/renders", recipe=recipe(("crop", [0, 0, 0.5, 0.5])), size=size)
        assert decode(answer.content).shape == (size, size, 3)
    answer = visitor.post(f"{photo}/renders", recipe=recipe(("crop", [0, 0, 0.5, 0.5])), size=300)
    assert decode(answer.content).shape == (200, 200, 3), "no larger than the photo"


def test_steps_after_a_crop_are_gone_on_from(
    visitor: Visitor, photo: str, preview_passes: list[list[str]]
) -> None:
    for value in (0.2, 0.3):
        visitor.post(f"{photo}/renders", recipe=recipe(*CROPPED, ("contrast", value)))
    assert preview_passes == [["brightness", "crop", "rotate", "contrast"], ["contrast"]]


def test_alpha_is_cropped_in_the_preview_too(visitor: Visitor) -> None:
    array = np.dstack([pixels(), np.full((96, 96), 255, np.uint8)])
    array[:, :48, 3] = 0
    photo = visitor.bring(encode(array))
    answer = visitor.post(f"{photo}/renders", recipe=recipe(("crop", [0.25, 0, 0.75, 1]), ("contrast", 0.1)))
    shown = decode(answer.content)
    assert shown.shape == (96, 48, 3)
    assert (shown[:, :16] > 245).all(), "transparent parts are white"
    assert (shown[:, 32:] < 245).any()


def test_an_export_is_cropped(visitor: Visitor, photo: str) -> None:
    visitor.put(photo, 0, *CROPPED)
    url = visitor.post(f"{photo}/exports", kind="photo").json()["url"]
    exact = np.asarray(t2onet.apply(Recipe.from_steps(CROPPED), pixels(), kernels=True))
    assert np.array_equal(decode(visitor.client.get(url).content), exact)


def test_geometry_is_offered(visitor: Visitor) -> None:
    entries = {one["name"]: one for one in visitor.client.get("/api/v1/operations").json()}
    assert entries["crop"]["group"] == "geometry"
    assert [one["name"] for one in entries["crop"]["parameters"]] == ["left", "top", "right", "bottom"]
    assert not entries["crop"]["repair"]

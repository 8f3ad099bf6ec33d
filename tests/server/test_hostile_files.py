"""Files and recipes that ask for far too much: refused or taken at once, while others are answered."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from t2onet.image import Image, formats
from t2onet.image.codecs import count_cores
from t2onet.recipe import Recipe
from t2onet.server import ServerSettings, photos
from t2onet.server.errors import Refused
from t2onet.server.photos import open_stored_photo
from t2onet.server.schemas import check_work
from tests import hostile
from tests.conftest import PATIENCE
from tests.hostile import FILES
from tests.server.conftest import Serve
from tests.server.helpers import API, Visitor, files, picture, read_refusal
from tests.server.live import serve_darkroom

NAMED = (
    "xmp-elements.webp",
    "exif-overlapping.png",
    "exif-overlapping.tif",
    "pages-overlapping.tif",
    "frames.gif",
)


@pytest.mark.parametrize("name", NAMED)
def test_each_is_taken_or_refused_in_one_sentence(visitor: Visitor, tmp_path: Path, name: str) -> None:
    begun = time.process_time()
    answer = visitor.upload(FILES[name](), name)
    assert time.process_time() - begun < 10, "seconds of the processor, where it was minutes"
    assert answer.status_code in (201, 422)
    if answer.status_code == 422:
        assert read_refusal(answer) == (422, "image")
        assert answer.json()["error"]["message"].startswith(f"{name} cannot be read as a photo: ")
        assert files(tmp_path) == []


def test_frames_beyond_the_limit_are_left_out_and_said(visitor: Visitor) -> None:
    notes = visitor.upload(hostile.bare_frames_gif(), "many.gif").json()["notes"]
    assert notes == ["more than 10000 frames were left out: only the first is edited"]


def test_the_structure_of_an_upload_is_checked_once(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[int] = []
    monkeypatch.setattr(formats, "check_structure", lambda data: checked.append(len(data)))
    visitor.bring(data := picture(32))
    assert checked == [len(data)]


def test_a_raw_above_the_limit_is_refused_before_it_is_developed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = nullcontext(SimpleNamespace(sizes=SimpleNamespace(width=96, height=64)))  # it cannot develop
    monkeypatch.setitem(sys.modules, "rawpy", SimpleNamespace(imread=lambda file: opened))
    answer = serve(megapixels=0.005).upload(b"any bytes", "photo.dng")
    assert read_refusal(answer) == (413, "too_large")
    assert answer.json()["error"]["message"] == (
        "photo.dng has 96 x 64 pixels, more than the 0.005 megapixels allowed here"
    )


# ---- masks


def export_masked(visitor: Visitor, photo: str, recipe: dict[str, Any], **more: Any) -> Any:
    return visitor.post(f"{photo}/exports", recipe=recipe, **more)


def test_what_is_computed_through_masks_for_one_picture_is_bounded(serve: Serve, tmp_path: Path) -> None:
    side = 500
    visitor = serve(masked_megapixels=3.0)
    photo = visitor.bring(picture(side))
    assert export_masked(visitor, photo, hostile.masked_recipe(8, 20, feather=0)).status_code == 201
    before = files(tmp_path)
    answer = export_masked(visitor, photo, hostile.masked_recipe(9, 20, feather=0))
    assert read_refusal(answer) == (413, "too_large")
    assert answer.json()["error"]["message"] == (
        "masks, places and sharpness come to 3 megapixels of work on this photo, and this server does at "
        "most 3; use fewer places and masks or smaller masks, or sharpen less often"
    )
    assert files(tmp_path) == before


def test_small_pictures_and_small_masks_are_little_work(serve: Serve) -> None:
    visitor = serve(masked_megapixels=0.1)
    photo = visitor.bring(picture(500))
    whole = {"recipe": hostile.masked_recipe(2, 20, feather=0)}
    assert read_refusal(visitor.post(f"{photo}/renders", **whole)) == (413, "too_large")
    assert visitor.post(f"{photo}/renders", **whole, size=64).status_code == 200
    png = hostile.grey_png(20, 0, box=(0, 0, 2, 2))
    step = {"operation": "brightness", "parameters": [0.1], "mask": {"png": png}}
    assert visitor.post(f"{photo}/renders", recipe={"steps": [step] * 32}).status_code == 200


def test_a_repair_is_much_work_at_any_size(serve: Serve) -> None:
    visitor = serve()
    photo = visitor.bring(picture(32))
    step = {"operation": "inpaint", "parameters": [], "mask": {"png": hostile.grey_png(20, 1)}}
    assert read_refusal(visitor.post(f"{photo}/renders", recipe={"steps": [step] * 2})) == (413, "too_large")


def test_small_repairs_are_charged_with_what_they_look_at() -> None:
    png = hostile.grey_png(64, 1, box=(10, 10, 12, 12))
    step = {"operation": "inpaint", "parameters": [], "mask": {"png": png}}
    with pytest.raises(Refused, match="megapixels of work"):
        check_work(Recipe.from_data({"steps": [step]}), 8e6, ServerSettings(masked_megapixels=0.5))


def test_32_masked_steps_are_too_much_on_8_megapixels_and_not_on_the_preview() -> None:
    recipe, settings = Recipe.from_data(hostile.masked_recipe(32, 20)), ServerSettings()
    check_work(recipe, settings.preview**2, settings)
    with pytest.raises(Refused, match="come to 384 megapixels of work"):
        check_work(recipe, 8e6, settings)


@pytest.mark.parametrize(
    ("operation", "masked", "admitted"),
    [("brightness", True, 25), ("sharpness", True, 8), ("sharpness", False, 13), ("brightness", False, 32)],
)
def test_steps_weigh_what_they_cost(operation: str, masked: bool, admitted: int) -> None:
    """On 8 megapixels, where a core computes about as many in two seconds."""
    step: dict[str, Any] = {"operation": operation, "parameters": [0.3]}
    if masked:
        step["mask"] = {"png": hostile.grey_png(20, 1)}
    settings = ServerSettings()
    check_work(Recipe.from_data({"steps": [step] * admitted}), 8e6, settings)
    if admitted < settings.steps:
        with pytest.raises(Refused, match="megapixels of work"):
            check_work(Recipe.from_data({"steps": [step] * (admitted + 1)}), 8e6, settings)


def test_one_step_of_sharpness_is_admitted_on_the_largest_photo() -> None:
    recipe = Recipe.from_steps([("sharpness", 0.3), ("brightness", 0.1), ("contrast", 0.1)])
    check_work(recipe, 1e12, ServerSettings())


def test_a_mask_is_read_only_if_it_is_a_png(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = serve()
    photo = visitor.bring(picture(32))
    read: list[bytes] = []
    monkeypatch.setattr(formats, "check_structure", read.append)
    for format in ("TIFF", "WEBP", "JPEG", "GIF"):
        png = base64.b64encode(picture(8, format)).decode()
        step = {"operation": "contrast", "parameters": [0.1], "mask": {"png": png}}
        assert read_refusal(visitor.post(f"{photo}/renders", recipe={"steps": [step]})) == (422, "recipe")
    assert read == []


def test_masks_are_decoded_in_turn(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = serve()
    photo = visitor.bring(picture(32))
    room = visitor.client.app.state.darkroom  # type: ignore[attr-defined]
    free: list[int] = []
    check = formats.check_structure

    def noted(data: bytes) -> None:
        free.append(room._slots._value)
        check(data)

    step = {"operation": "contrast", "parameters": [0.1], "mask": {"png": hostile.grey_png(20, 3)}}
    recipe, aside = {"steps": [step]}, [{"position": 0, "step": step}]
    monkeypatch.setattr(formats, "check_structure", noted)
    assert visitor.post(f"{photo}/renders", recipe=recipe).status_code == 200
    assert visitor.post(f"{photo}/histogram", recipe=recipe).status_code == 200
    assert visitor.post(f"{photo}/exports", recipe=recipe, kind="recipe").status_code == 201
    assert visitor.post(f"{visitor.session}/batches", recipe=recipe).status_code == 202
    body = {"recipe": {"steps": []}, "aside": aside, "revision": 0}
    assert visitor.client.put(f"{photo}/recipe", json=body).status_code == 200
    assert free
    assert max(free) < count_cores(), "never while all places to compute are free"


# ---- others are answered meanwhile


@pytest.mark.slow
def test_about_is_answered_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a file is being opened. How fast is measured by `python -m bench hostile`."""
    begun, go = threading.Event(), threading.Event()

    def open_slowly(*arguments: Any) -> Image:
        begun.set()
        assert go.wait(PATIENCE)
        return open_stored_photo(*arguments)

    monkeypatch.setattr(photos, "open_stored_photo", open_slowly)
    with serve_darkroom(tmp_path / "server") as base, ThreadPoolExecutor(1) as pool:
        api = f"{base}{API[1:]}"
        session = json.loads(_call(f"{api}/sessions", b"")[1])["session"]
        for name, make in FILES.items():
            begun.clear()
            go.clear()
            upload = pool.submit(_call, f"{api}/sessions/{session}/photos?name={name}", make())
            try:
                assert begun.wait(PATIENCE)
                assert _call(f"{api}/about")[0] == 200, f"the event loop is free while {name} is opened"
            finally:
                go.set()
            while not upload.done():
                assert _call(f"{api}/about")[0] == 200
            assert upload.result()[0] in (201, 422), name


def _call(address: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Status and body of an answer, be it a refusal."""
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()

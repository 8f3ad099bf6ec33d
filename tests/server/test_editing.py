"""A photo, brought and talked about: uploads, requests, recipes by hand, history."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from t2onet import Recipe, RequestError, apply
from t2onet.editor import Editor
from t2onet.image import READABLE_SUFFIXES, WRITABLE_SUFFIXES
from t2onet.looks import looks
from t2onet.options import ReaderName
from tests.server.conftest import Serve
from tests.server.helpers import API, Visitor, encode, picture, pixels, read_refusal, recipe


def test_a_photo_is_told_by_its_content_and_named_as_it_came(visitor: Visitor) -> None:
    address = visitor.bring(picture(format="JPEG"), "a day at the sea.png")
    state = visitor.state(address)
    assert (state["name"], state["format"]) == ("a day at the sea.png", "JPEG")
    assert (state["width"], state["height"], state["bits"], state["revision"]) == (96, 96, 8, 0)
    assert state["recipe"]["steps"] == state["steps"] == []
    assert (state["can_undo"], state["can_redo"], state["description"]) == (False, False, "Changes nothing.")
    listed = visitor.client.get(visitor.session).json()["photos"]
    assert [(one["name"], one["opened"]) for one in listed] == [("a day at the sea.png", True)]


def test_a_request_changes_the_photo_and_says_why(visitor: Visitor, photo: str) -> None:
    told = visitor.say(photo, "brighter and warmer", 0)
    state = told["state"]
    assert (told["answered"], told["verdict"], state["revision"]) == (True, "edit", 1)
    said = told["answer"].splitlines()[0]
    assert [word for word in ("warmer", "brighter") if word not in said] == []
    because = {step["operation"]: step["because"] for step in state["steps"]}
    assert (because["exposure"], because["white_balance"]) == (["brighter"], ["warmer"])
    assert visitor.state(photo) == state
    edited = np.asarray(apply(Recipe.from_data(state["recipe"]), pixels())).mean((0, 1)) - pixels().mean(
        (0, 1)
    )
    assert edited[0] > edited[2] > 3, "brighter, and more red than blue"


def test_the_answer_says_what_was_declined_and_which_limits_were_kept(visitor: Visitor, photo: str) -> None:
    answer = visitor.say(photo, "brighter but remove the tree", 0)
    (part,) = answer["declined"]
    assert ("tree" in part["words"], part["verdict"]) == (True, "remove")
    assert answer["limits"] == []
    assert [(wish["what"], wish["outcome"]) for wish in answer["wishes"]] == [
        ("lightness", "done"),
        ("remove", "declined"),
    ]
    limited = visitor.say(photo, "sharper without changing the brightness", 1)
    assert [(limit["attribute"], limit["direction"]) for limit in limited["limits"]] == [
        ("lightness", "either")
    ]


def test_a_request_is_answered_as_the_editor_answers_it(visitor: Visitor, photo: str) -> None:
    state = visitor.say(photo, "brighter and warmer", 0)["state"]
    edit = Editor(pixels()).ask("brighter and warmer")
    assert Recipe.from_data(state["recipe"]) == edit.recipe


def test_the_server_reads_by_the_reader_of_its_settings(serve: Serve, used_readers: list[ReaderName]) -> None:
    visitor = serve(reader="free")
    assert visitor.client.get(f"{API}/about").json()["reader"] == "free"
    assert visitor.say(visitor.bring(picture()), "warmer", 0)["answered"]
    assert set(used_readers) == {"free"}, "not even when the server warms up"
    with pytest.raises(RequestError, match="there is no reader 'other'; there are default, free"):
        serve(reader="other")


def test_follow_ups_change_what_they_mention(visitor: Visitor, photo: str) -> None:
    before = visitor.say(photo, "brighter and warmer", 0)["state"]
    after = visitor.say(photo, "less warm", 1)["state"]
    changed = [
        new["operation"]
        for old, new in zip(before["recipe"]["steps"], after["recipe"]["steps"], strict=True)
        if old != new
    ]
    assert changed == ["white_balance"]
    assert len(after["changes"]) == 1
    undone = visitor.say(photo, "undo that", 2)["state"]
    assert (undone["recipe"], undone["revision"], undone["can_redo"]) == (before["recipe"], 3, True)


def test_a_fresh_request_is_about_the_photo_as_it_was(visitor: Visitor, photo: str) -> None:
    visitor.say(photo, "warmer", 0)
    answer = visitor.post(f"{photo}/requests", request="half a stop brighter", revision=1, fresh=True)
    assert [step["operation"] for step in answer.json()["state"]["steps"]] == ["exposure"]


@pytest.mark.parametrize("fresh", [False, True])
def test_what_cannot_be_done_changes_nothing(visitor: Visitor, photo: str, fresh: bool) -> None:
    before = visitor.say(photo, "warmer", 0)["state"]
    told = visitor.post(f"{photo}/requests", request="remove the tree", revision=1, fresh=fresh).json()
    assert (told["answered"], told["verdict"]) == (False, "remove")
    assert told["answer"] == "Things cannot be removed from a photo; nothing was changed."
    assert told["state"] == before


def test_variants_are_offered_and_one_is_taken(visitor: Visitor, photo: str) -> None:
    found = visitor.post(f"{photo}/variants", request="brighter and warmer", count=3, seed=1).json()
    assert (found["answered"], len(found["variants"])) == (True, 3)
    assert visitor.state(photo)["revision"] == 0
    chosen = found["variants"][2]
    answer = visitor.client.put(f"{photo}/recipe", json={"recipe": chosen["recipe"], "revision": 0})
    assert answer.json()["recipe"] == chosen["recipe"]
    none = visitor.post(f"{photo}/variants", request="remove the tree").json()
    assert (none["answered"], none["variants"]) == (False, [])


def test_a_recipe_by_hand(visitor: Visitor, photo: str) -> None:
    visitor.say(photo, "brighten by half a stop and make it warmer", 0)
    bright = {"operation": "exposure", "parameters": [0.2]}
    body = {
        "recipe": {"steps": [{"operation": "white_balance", "parameters": [12, 0]}]},
        "aside": [{"position": 0, "step": bright}],
        "revision": 1,
    }
    state = visitor.client.put(f"{photo}/recipe", json=body).json()
    (step,) = state["steps"]
    assert (step["operation"], step["because"][-1]) == ("white_balance", "warmer")
    assert state["aside"] == [{"position": 0, "step": bright}]
    back = visitor.post(f"{photo}/undo", revision=2).json()
    assert ([step["operation"] for step in back["steps"]], back["aside"]) == (
        ["white_balance", "exposure"],
        [],
    )
    assert visitor.post(f"{photo}/redo", revision=3).json()["aside"] == state["aside"]


def test_strength_undo_and_redo(visitor: Visitor, photo: str) -> None:
    visitor.say(photo, "half a stop brighter", 0)
    weaker = visitor.post(f"{photo}/strength", strength=0.5, revision=1).json()
    assert (weaker["strength"], weaker["recipe"]["steps"][0]["parameters"]) == (0.5, [0.25])
    stronger = visitor.post(f"{photo}/strength", strength=2, revision=2).json()
    assert (stronger["strength"], stronger["recipe"]["steps"][0]["parameters"]) == (2.0, [1.0])
    undone = visitor.post(f"{photo}/undo", revision=3).json()
    assert (undone["strength"], undone["recipe"]["steps"][0]["parameters"]) == (1.0, [0.5])
    beginning = visitor.post(f"{photo}/undo", revision=4).json()
    assert (beginning["steps"], beginning["can_undo"]) == ([], False)
    nothing = visitor.post(f"{photo}/undo", revision=5).json()
    assert nothing["revision"] == 5


def test_the_history_is_told_and_gone_through(visitor: Visitor, photo: str) -> None:
    assert visitor.client.get(f"{photo}/history").json() == {"revision": 0, "place": 0, "edits": []}
    visitor.say(photo, "warmer and half a stop brighter", 0)
    first = visitor.say(photo, "a bit more", 1)["state"]
    visitor.say(photo, "a bit more", 2)
    visitor.put(photo, 3, ("exposure", 0.5), ("contrast", 0.2))
    visitor.put(photo, 4, ("contrast", 0.2), ("exposure", 0.5))
    bright = {"position": 1, "step": {"operation": "exposure", "parameters": [0.5]}}
    switched = {"recipe": recipe(("contrast", 0.2)), "aside": [bright], "revision": 5}
    visitor.client.put(f"{photo}/recipe", json=switched)
    visitor.post(f"{photo}/strength", strength=0.5, revision=6)
    visitor.put(photo, 7)
    visitor.say(photo, f"brighter, {'please ' * 20}", 8)
    told = visitor.client.get(f"{photo}/history").json()
    assert (told["revision"], told["place"]) == (9, 9)
    assert told["edits"] == [
        *("“warmer and half a stop brighter”", "“a bit more”", "Exposure, white balance adjusted"),
        *(
            "White balance removed; contrast added; exposure adjusted",
            "Contrast moved",
            "Exposure switched off",
        ),
        *("Strength 50 %", "Cleared", f"“brighter, {'please ' * 9}pleas…"),
    ]
    back = visitor.post(f"{photo}/history", place=2, revision=9).json()
    assert (back["recipe"], back["revision"]) == (first["recipe"], 10)
    assert (back["can_undo"], back["can_redo"]) == (True, True)
    assert visitor.client.get(f"{photo}/history").json() == {**told, "revision": 10, "place": 2}
    ahead = visitor.post(f"{photo}/history", place=7, revision=10).json()
    assert (ahead["strength"], ahead["revision"]) == (0.5, 11)
    assert visitor.post(f"{photo}/history", place=0, revision=11).json()["steps"] == []
    beyond = visitor.post(f"{photo}/history", place=10, revision=12)
    assert read_refusal(beyond) == (422, "invalid")
    assert "has places 0 to 9, and 10 was given" in beyond.json()["error"]["message"]
    assert read_refusal(visitor.post(f"{photo}/history", place=1, revision=3)) == (409, "conflict")


def test_a_change_about_an_old_revision_is_a_conflict(visitor: Visitor, photo: str) -> None:
    visitor.say(photo, "half a stop brighter", 0)
    late = visitor.put(photo, 0, ("contrast", 0.3))
    assert read_refusal(late) == (409, "conflict")
    assert late.json()["revision"] == 1
    for path in ("undo", "redo"):
        assert read_refusal(visitor.post(f"{photo}/{path}", revision=0)) == (409, "conflict")
    assert read_refusal(visitor.post(f"{photo}/strength", strength=1, revision=2)) == (409, "conflict")
    assert read_refusal(visitor.post(f"{photo}/requests", request="warmer", revision=7)) == (409, "conflict")
    assert [step["operation"] for step in visitor.state(photo)["steps"]] == ["exposure"]


def test_of_edits_at_the_same_time_one_wins(visitor: Visitor, photo: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda p: visitor.put(photo, 0, ("brightness", p / 100)), range(8)))
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert {read_refusal(answer) for answer in answers if answer not in won} == {(409, "conflict")}
    assert visitor.state(photo) == won[0].json()


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([("brightness", 9)], "step 1: brightness: p is 9; allowed is -1 to 2"),
        ([("contrast", 0.1), ("brigthness", 0.1)], "step 2: there is no operation 'brigthness'"),
        ([("tone", [1, 2])], "step 1: tone takes 8 numbers"),
    ],
)
def test_recipes_that_are_refused_say_why(
    visitor: Visitor, photo: str, steps: list[tuple[str, object]], said: str
) -> None:
    answer = visitor.put(photo, 0, *steps)
    assert read_refusal(answer) == (422, "recipe")
    assert said in answer.json()["error"]["message"]
    assert visitor.state(photo)["revision"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("requests", {"request": "", "revision": 0}, "request"),
        ("requests", {"request": "🌞", "revision": 0}, "request"),
        ("requests", {"request": "brighter"}, "invalid"),
        ("requests", {"request": "brighter", "revision": "x"}, "invalid"),
        ("requests", {"request": ["brighter"], "revision": 0}, "invalid"),
        ("requests", {"request": "brighter", "revision": 0, "mode": "wild"}, "invalid"),
        ("requests", {"request": "brighter", "revision": 0, "manner": "wild"}, "invalid"),
        ("variants", {"request": "brighter", "mode": "expert", "manner": "literal"}, "invalid"),
        ("requests", {"request": "brighter", "revision": 0, "more": 1}, "invalid"),
        ("variants", {"request": "brighter", "count": 100}, "invalid"),
        ("strength", {"strength": -1, "revision": 0}, "invalid"),
        ("exports", {"kind": "psd"}, "invalid"),
        ("exports", {"format": "gif"}, "invalid"),
        ("exports", {"kind": "cube", "size": 34}, "look"),
        ("exports", {"kind": "pp3", "size": 64}, "look"),
    ],
)
def test_bodies_that_are_refused(visitor: Visitor, photo: str, path: str, body: object, kind: str) -> None:
    assert read_refusal(visitor.client.post(f"{photo}/{path}", json=body)) == (422, kind)


def test_the_formats_of_files_are_declared(visitor: Visitor, photo: str) -> None:
    about = visitor.client.get(f"{API}/about").json()
    assert about["readable_suffixes"] == list(READABLE_SUFFIXES)
    assert about["output_formats"]["webp"] == "WebP"
    assert {f".{format}" for format in about["output_formats"]} <= set(WRITABLE_SUFFIXES)
    for format in ("jpg", "png", "tif", "webp"):
        assert visitor.post(f"{photo}/exports", format=format).json()["name"].endswith(f".{format}")


def test_operations_are_declared_for_sliders(visitor: Visitor) -> None:
    found = {one["name"]: one for one in visitor.client.get(f"{API}/operations").json()}
    (p,) = found["brightness"]["parameters"]
    assert (p["low"], p["high"], p["default"], p["count"]) == (-1, 2, 0, 1)
    assert [(one["count"], one["curve"]) for one in found["color"]["parameters"]] == [(8, True)] * 3
    (ev,) = found["exposure"]["parameters"]
    assert (ev["titles"], ev["suffix"], ev["curve"]) == (["exposure"], " EV", False)
    hue, *_ = found["mixer"]["parameters"]
    assert (hue["names"][:2], hue["titles"][:2]) == (["red", "orange"], ["red hue", "orange hue"])
    assert found["white_balance"]["label"] == "white balance"
    first = [name for name, one in found.items() if one["common"]]
    assert {"brightness", "tone", "color", "inpaint"}.isdisjoint(first)
    assert {"exposure", "white_balance", "contrast", "sharpness"} <= set(first)
    assert (found["inpaint"]["repair"], found["tone"]["repair"]) == (True, False)


@pytest.mark.slow
def test_looks_are_listed_and_put_on_a_photo(visitor: Visitor, photo: str) -> None:
    listed = visitor.client.get(f"{API}/looks").json()
    assert [one["name"] for one in listed] == list(looks())
    for one in listed[::10]:
        assert one["family"]
        assert one["description"]
        assert visitor.post(f"{photo}/renders", recipe=one["recipe"], size=64).status_code == 200


def test_a_photo_and_a_session_can_be_removed(visitor: Visitor, photo: str) -> None:
    room = visitor.client.app.state.darkroom  # type: ignore[attr-defined]
    visitor.client.get(f"{photo}/preview.jpg")
    assert room.previews.cache.size > 0
    assert visitor.client.delete(photo).status_code == 204
    assert read_refusal(visitor.client.get(photo)) == (404, "not_found")
    assert room.previews.cache.size == 0
    assert visitor.client.delete(visitor.session).status_code == 204
    assert read_refusal(visitor.client.get(visitor.session)) == (404, "not_found")


def test_sessions_do_not_see_each_other(visitor: Visitor, photo: str) -> None:
    other = Visitor(visitor.client)
    other.begin()
    elsewhere = f"{other.session}/photos/{photo.rsplit('/', 1)[-1]}"
    assert read_refusal(visitor.client.get(elsewhere)) == (404, "not_found")


@pytest.mark.slow
def test_match_a_look(visitor: Visitor, photo: str) -> None:
    visitor.put(photo, 0, ("brightness", 0.2), ("saturation", -0.3))
    result = visitor.post(f"{photo}/exports", format="png").json()
    after = visitor.bring(visitor.client.get(result["url"]).content, "after.png")
    ids = [address.rsplit("/", 1)[-1] for address in (photo, after)]
    found = visitor.post(f"{visitor.session}/plans", before=ids[0], after=ids[1])
    assert found.status_code == 200
    planned = found.json()
    assert planned["cost"] < 0.1 * planned["start_cost"]
    assert planned["explained"]
    taken = visitor.client.put(f"{after}/recipe", json={"recipe": planned["recipe"], "revision": 0})
    assert taken.status_code == 200
    missing = visitor.post(f"{visitor.session}/plans", before=ids[0], after="nothing")
    assert read_refusal(missing) == (404, "not_found")


def test_photos_of_different_things_are_no_pair(visitor: Visitor, photo: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (96, 96, 3), dtype=np.uint8)
    other = visitor.bring(encode(noise))
    ids = [address.rsplit("/", 1)[-1] for address in (photo, other)]
    assert read_refusal(visitor.post(f"{visitor.session}/plans", before=ids[0], after=ids[1])) == (
        422,
        "plan",
    )


def test_masks_come_inside_recipes(serve: Serve) -> None:
    visitor = serve(masks_mb=0, mask_megapixels=0.001)
    photo = visitor.bring(picture())
    step = recipe(("brightness", 0.2))["steps"][0]

    def put(mask: dict[str, object]) -> tuple[int, str]:
        body = {"recipe": {"steps": [{**step, "mask": mask}]}, "revision": 0}
        return read_refusal(visitor.client.put(f"{photo}/recipe", json=body))

    assert put({"file": "/etc/passwd"}) == (422, "recipe")
    assert put({"png": base64.b64encode(picture(96)).decode()}) == (413, "too_large")
    assert put({"png": base64.b64encode(picture(8)).decode()}) == (413, "too_large"), "no memory is left"
    assert put({"png": "AAAA"}) == (422, "recipe")
    assert visitor.put(photo, 0, *[("brightness", 0.01)] * 33).status_code == 413


def test_steps_say_where_they_apply(visitor: Visitor, photo: str) -> None:
    horizon = {"linear": {"from": [0.5, 0.0], "to": [0.5, 0.5]}}
    steps: list[dict[str, object]] = [
        {"operation": "exposure", "parameters": [0.5], "where": "shadows"},
        {"operation": "contrast", "parameters": [0.2], "where": horizon},
        {"operation": "saturation", "parameters": [0.1]},
    ]
    answer = visitor.client.put(f"{photo}/recipe", json={"recipe": {"steps": steps}, "revision": 0})
    assert answer.status_code == 200
    state = visitor.state(photo)
    assert state["recipe"]["steps"] == steps
    assert [(step["masked"], step["where"]) for step in state["steps"]] == [
        (True, "shadows"),
        (True, horizon),
        (False, None),
    ]
    bad = {"recipe": {"steps": [{**steps[0], "where": "sha dow"}]}, "revision": 1}
    assert read_refusal(visitor.client.put(f"{photo}/recipe", json=bad)) == (422, "recipe")


def test_places_count_as_work(serve: Serve) -> None:
    visitor = serve(masked_megapixels=0.05)
    photo = visitor.bring(picture())
    step = {"operation": "exposure", "parameters": [0.5], "where": {"of": "shadows", "soften": 9}}
    for count, status in ((1, 200), (30, 413)):
        body = {"recipe": {"steps": [step] * count}, "size": 1600}
        assert visitor.client.post(f"{photo}/renders", json=body).status_code == status

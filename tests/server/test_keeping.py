"""What outlives a server: sidecars, kept sessions and looks; and what cannot be used of them."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from t2onet import Recipe, ServerError
from t2onet.server import ServerSettings, create_app
from t2onet.server.archive import SessionArchive
from t2onet.server.folders import get_data_folder
from t2onet.server.keeping import BROKEN_RECORD_FILE, RECORD_FILE, is_result
from tests.server.helpers import API, Visitor, files, picture, read_refusal, recipe

LOOK = Recipe.from_steps([("exposure", 0.5), ("contrast", 0.2)], name="Evening")
posix = pytest.mark.skipif(sys.platform == "win32", reason="no such modes and locks there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two photos."""
    place = tmp_path / "trip"
    place.mkdir()
    for name in ("a.png", "b.png"):
        (place / name).write_bytes(picture(32))
    return place


@contextmanager
def running(tmp_path: Path, folder: Path | None = None, **limits: Any) -> Iterator[Visitor]:
    """One run of a server that keeps things, perhaps with the photos of a folder."""
    begun = ServerSettings(folder=tmp_path / "server", keep=tmp_path / "data")
    with TestClient(create_app(replace(begun, **limits)), base_url="http://127.0.0.1:8642") as client:
        visitor = Visitor(client)
        if folder is not None:
            room = client.app.state.darkroom  # type: ignore[attr-defined]
            session = room.preload(sorted(folder.glob("*.png")), [str(folder)])
            visitor.session = f"{API}/sessions/{session.id}"
        yield visitor


def photos_of(visitor: Visitor) -> list[str]:
    """Addresses of the photos of a session."""
    held = visitor.client.get(visitor.session).json()["photos"]
    return [f"{visitor.session}/photos/{one['photo']}" for one in held]


def sidecar(folder: Path, name: str = "a.png") -> Path:
    return folder / f"{name}.t2o.json"


def steps(state: dict[str, Any]) -> list[str]:
    return [step["operation"] for step in state["recipe"]["steps"]]


def test_an_edit_of_a_photo_of_this_machine_is_its_sidecar(tmp_path: Path, folder: Path) -> None:
    with running(tmp_path, folder) as visitor:
        photo, other = photos_of(visitor)
        assert visitor.state(photo)["saved"] == "sidecar"
        assert not sidecar(folder).exists(), "what is only opened gets no sidecar"
        state = visitor.say(photo, "half a stop brighter", 0)["state"]
        assert Recipe.load(sidecar(folder)) == Recipe.from_data(state["recipe"])
        visitor.put(photo, 1, ("contrast", [0.2]))
        assert Recipe.load(sidecar(folder)) == Recipe.from_steps([("contrast", 0.2)])
        visitor.post(f"{photo}/undo", revision=2)
        before = visitor.state(photo)
        assert Recipe.load(sidecar(folder)) == Recipe.from_data(before["recipe"])
    with running(tmp_path, folder) as visitor:
        assert photos_of(visitor) == [photo, other], "the link still leads there"
        after = visitor.state(photo)
        assert after["steps"][0]["because"] == before["steps"][0]["because"] != [], "reasons as well"
        kept = {"recipe", "steps", "revision", "request", "saved"}
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        visitor.post(f"{photo}/undo", revision=after["revision"])
        assert Recipe.load(sidecar(folder)) == Recipe()
    assert sorted(path.name for path in folder.iterdir()) == ["a.png", "a.png.t2o.json", "b.png"]


def test_what_is_switched_off_is_kept(tmp_path: Path, folder: Path) -> None:
    aside = [{"position": 0, "step": {"operation": "contrast", "parameters": [0.2]}}]
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        visitor.client.put(f"{photo}/recipe", json={"recipe": recipe(), "aside": aside, "revision": 0})
    with running(tmp_path, folder) as visitor:
        assert visitor.state(photo)["aside"] == aside


def test_a_sidecar_of_another_program_is_opened(tmp_path: Path, folder: Path) -> None:
    LOOK.save(sidecar(folder))
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        state = visitor.state(photo)
        assert Recipe.from_data(state["recipe"]) == LOOK
        assert (state["saved"], state["can_undo"]) == ("sidecar", True)
        assert [one.split(";")[1] for one in state["remarks"]] == [" Undo shows it without."]
        assert visitor.put(photo, 0, ("contrast", [0.1])).status_code == 200
    assert Recipe.load(sidecar(folder)) == Recipe.from_steps([("contrast", 0.1)])


@pytest.mark.parametrize(
    "name",
    [
        "trip/a-edited.png",
        "trip/a-edited-2.png",
        "trip/a-matched.png",
        "trip/raw-edited.png",
        "trip-edited/a.png",
        "trip-edited/day/a-2.png",
        "trip-matched/a.png",
    ],
)
def test_the_sidecar_of_a_result_says_how_it_was_made(tmp_path: Path, folder: Path, name: str) -> None:
    """So it is no edit to make on top."""
    (folder / "raw.NEF").touch()
    (folder / "day").mkdir()
    result = tmp_path / name
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_bytes(picture(48))
    LOOK.save(sidecar(result.parent, result.name))
    for run in range(2):
        with running(tmp_path, result.parent) as visitor:
            photo = next(one for one in photos_of(visitor) if visitor.state(one)["name"] == result.name)
            state = visitor.state(photo)
            assert (steps(state), state["saved"]) == (["contrast"] * run, "server")
            visitor.put(photo, run, ("contrast", [0.1 + run / 10]))
    assert Recipe.load(sidecar(result.parent, result.name)) == LOOK


@pytest.mark.parametrize(
    "name", ["trip/c-edited.png", "other-edited/a.png", "-edited/a.png", "trip/-edited.png", "/a.png"]
)
def test_a_name_alone_makes_no_result(tmp_path: Path, folder: Path, name: str) -> None:
    photo = tmp_path / name
    photo.parent.mkdir(exist_ok=True)
    assert not is_result(photo)


def test_undoing_the_edit_of_an_old_sidecar_is_kept(tmp_path: Path, folder: Path) -> None:
    old = folder / "a.json"
    LOOK.save(old)
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        assert steps(visitor.state(photo)) == ["exposure", "contrast"]
        assert visitor.post(f"{photo}/undo", revision=0).json()["saved"] == "sidecar"
    assert Recipe.load(sidecar(folder)) == Recipe()
    assert Recipe.load(old) == LOOK, "it may be another program's"
    with running(tmp_path, folder) as visitor:
        assert steps(visitor.state(photo)) == []


def test_a_record_that_cannot_be_read_is_set_aside(tmp_path: Path, folder: Path) -> None:
    with running(tmp_path, folder, sidecars=False) as visitor:
        photo = photos_of(visitor)[0]
        visitor.put(photo, 0, ("contrast", [0.1]))
    (record,) = (tmp_path / "data" / "sessions").rglob(RECORD_FILE)
    record.write_text("{")
    with running(tmp_path, folder, sidecars=False) as visitor:
        (remark,) = visitor.state(photo)["remarks"]
        assert remark.startswith("The edit that was kept of this photo cannot be read")
        visitor.put(photo, 0, ("saturation", [0.1]))
    assert record.with_name(BROKEN_RECORD_FILE).read_text() == "{"
    with running(tmp_path, folder, sidecars=False) as visitor:
        state = visitor.state(photo)
        assert (steps(state), state["remarks"]) == (["saturation"], [])


def test_a_sidecar_that_was_changed_between_runs_is_shown_and_undo_leads_back(
    tmp_path: Path, folder: Path
) -> None:
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        visitor.put(photo, 0, ("saturation", [0.3]))
    LOOK.save(sidecar(folder), overwrite=True)
    with running(tmp_path, folder) as visitor:
        state = visitor.state(photo)
        assert Recipe.from_data(state["recipe"]) == LOOK
        (remark,) = state["remarks"]
        assert remark.startswith("a.png.t2o.json was changed outside the darkroom.")
        back = visitor.post(f"{photo}/undo", revision=state["revision"]).json()
        assert steps(back) == ["saturation"]


def test_a_sidecar_that_is_changed_meanwhile_is_not_overwritten(tmp_path: Path, folder: Path) -> None:
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        visitor.put(photo, 0, ("saturation", [0.3]))
        LOOK.save(sidecar(folder), overwrite=True)
        refused = visitor.put(photo, 1, ("contrast", [0.1]))
        assert read_refusal(refused) == (409, "conflict")
        assert "by another program" in refused.json()["error"]["message"]
        assert Recipe.load(sidecar(folder)) == LOOK
        state = visitor.state(photo)
        assert (Recipe.from_data(state["recipe"]), state["revision"]) == (LOOK, 2)
        back = visitor.post(f"{photo}/undo", revision=2).json()
        assert steps(back) == ["saturation"], "nobody's version is lost"
        assert Recipe.load(sidecar(folder)) == Recipe.from_steps([("saturation", 0.3)])


def test_a_changed_sidecar_is_not_overwritten_while_its_edit_cannot_be_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        visitor.put(photo, 0, ("saturation", [0.3]))
        LOOK.save(sidecar(folder), overwrite=True)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fill_the_disk)
            assert read_refusal(visitor.put(photo, 1, ("contrast", [0.1]))) == (507, "storage")
        assert read_refusal(visitor.put(photo, 1, ("contrast", [0.1]))) == (409, "conflict")
        assert Recipe.load(sidecar(folder)) == LOOK


def fill_the_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"steps": [', "it is not JSON"),
        ('{"steps": [{"operation": "blur", "parameters": [1]}]}', "step 1: there is no operation 'blur'"),
        (json.dumps(recipe(*[("contrast", [0.1])] * 40)), "it has 40 steps, and this page takes 32"),
    ],
    ids=["half", "unknown", "long"],
)
def test_a_sidecar_that_cannot_be_used_is_said_and_stays(
    tmp_path: Path, folder: Path, text: str, reason: str
) -> None:
    sidecar(folder).write_text(text)
    for run in range(2):
        with running(tmp_path, folder) as visitor:
            photo = photos_of(visitor)[0]
            state = visitor.state(photo)
            (remark,) = state["remarks"]
            assert remark.startswith(f"a.png.t2o.json cannot be used: {reason}")
            assert str(tmp_path) not in remark
            assert steps(state) == ["contrast"] * run, "what was edited is kept elsewhere"
            state = visitor.put(photo, run, ("contrast", [0.1 + run / 10])).json()
            assert (state["saved"], len(state["remarks"])) == ("server", 1)
        assert sidecar(folder).read_text() == text
    sidecar(folder).unlink()
    with running(tmp_path, folder) as visitor:
        assert visitor.put(photo, 2, ("contrast", [0.3])).json()["saved"] == "sidecar"
    assert Recipe.load(sidecar(folder)) == Recipe.from_steps([("contrast", 0.3)])


@posix
def test_a_read_only_folder_is_said_once_and_edits_are_kept_by_the_server(
    tmp_path: Path, folder: Path
) -> None:
    LOOK.save(sidecar(folder))
    folder.chmod(0o555)
    try:
        with running(tmp_path, folder) as visitor:
            photo, other = photos_of(visitor)
            for one in (photo, other):
                assert visitor.state(one)["saved"] == "sidecar"
                state = visitor.put(one, 0, ("saturation", [0.3])).json()
                assert state["saved"] == "server"
                assert state["remarks"][-1] == (
                    "Edits cannot be saved beside these photos (the folder or a file in it is read-only); "
                    "they are kept by the server instead."
                ), "the same for both, so that the page says it once"
        with running(tmp_path, folder) as visitor:
            assert [steps(visitor.state(one)) for one in (photo, other)] == [["saturation"]] * 2
        with running(tmp_path, folder, keep=None) as visitor:
            state = visitor.put(photos_of(visitor)[0], 0, ("saturation", [0.3])).json()
            assert state["saved"] == "memory"
            assert "until the server stops" in state["remarks"][-1]
    finally:
        folder.chmod(0o755)
    assert Recipe.load(sidecar(folder)) == LOOK


def test_sidecars_can_be_turned_off(tmp_path: Path, folder: Path) -> None:
    LOOK.save(sidecar(folder))
    with running(tmp_path, folder, sidecars=False) as visitor:
        photo, other = photos_of(visitor)
        assert steps(visitor.state(photo)) == []
        for one in (photo, other):
            assert visitor.put(one, 0, ("saturation", [0.3])).json()["saved"] == "server"
    assert Recipe.load(sidecar(folder)) == LOOK
    assert not sidecar(folder, "b.png").exists()
    with running(tmp_path, folder, sidecars=False) as visitor:
        assert steps(visitor.state(photo)) == ["saturation"]


def test_an_upload_and_its_edit_are_there_after_a_restart(tmp_path: Path) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        photos = [visitor.bring(picture(side), f"{side}.png") for side in (32, 48)]
        odd = json.dumps({"request": "warmer \ud83d", "revision": 0})  # half a character
        kind = {"Content-Type": "application/json"}
        before = visitor.client.post(f"{photos[1]}/requests", content=odd, headers=kind).json()["state"]
        assert before["saved"] == "server"
    session = visitor.session
    assert list((tmp_path / "server").iterdir()) == []
    with running(tmp_path) as visitor:
        visitor.session = session
        assert photos_of(visitor) == photos
        after = visitor.state(photos[1])
        assert (after["recipe"], after["steps"]) == (before["recipe"], before["steps"])
        assert visitor.client.get(f"{photos[1]}/preview.jpg").status_code == 200
        assert visitor.put(photos[1], after["revision"], ("contrast", [0.1])).status_code == 200
        assert visitor.client.delete(session).status_code == 204
    assert files(tmp_path / "data") == [], "who ends a session leaves nothing"
    with running(tmp_path) as visitor:
        assert read_refusal(visitor.client.get(session)) == (404, "not_found")


def test_an_idle_session_is_opened_again(tmp_path: Path) -> None:
    with running(tmp_path, idle_minutes=10) as visitor:
        visitor.begin()
        photo = visitor.bring(picture(32))
        visitor.put(photo, 0, ("contrast", [0.1]))
        sessions = visitor.client.app.state.darkroom.sessions  # type: ignore[attr-defined]
        now = sessions.clock()
        sessions.clock = lambda: now + 11 * 60
        sessions.tidy()
        assert len(sessions) == 0
        assert steps(visitor.state(photo)) == ["contrast"]


def test_a_session_needs_its_whole_name(tmp_path: Path) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        visitor.bring(picture(32))
    own = visitor.session.rsplit("/", 1)[-1]
    (folder,) = (tmp_path / "data" / "sessions").iterdir()
    assert own not in folder.name
    with running(tmp_path) as visitor:
        for name in (own[:-1], own.swapcase(), folder.name, "..", ".", "%2e%2e", "..%2Fdata", ""):
            assert visitor.client.get(f"{API}/sessions/{name}").status_code in (404, 405), name


def test_a_damaged_key_is_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "key").write_bytes(b"")
    with pytest.raises(ServerError, match="is no key of t2o serve; remove it"), running(tmp_path, folder):
        pass


def test_a_served_session_needs_what_was_served(tmp_path: Path, folder: Path) -> None:
    with running(tmp_path, folder) as visitor:
        photo = photos_of(visitor)[0]
        visitor.put(photo, 0, ("contrast", [0.1]))
    session = visitor.session
    with running(tmp_path) as visitor:
        assert read_refusal(visitor.client.get(session)) == (404, "not_found"), "the folder is not served"
    with running(tmp_path, folder, keep=tmp_path / "another") as visitor:
        assert visitor.session != session, "names cannot be computed from what is served"


@posix
def test_what_is_kept_is_private(tmp_path: Path) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        visitor.put(visitor.bring(picture(32)), 0, ("contrast", [0.1]))
        visitor.post(f"{API}/looks", name="Mine", recipe=recipe(("contrast", [0.1])))
    found = [*(tmp_path / "data" / "sessions").rglob("*"), *(tmp_path / "data" / "looks").rglob("*")]
    assert len(found) == 5
    for path in [tmp_path / "data" / "sessions", tmp_path / "data" / "looks", *found]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


@posix
def test_a_second_server_leaves_an_open_session_alone(tmp_path: Path, folder: Path) -> None:
    with running(tmp_path, folder) as first:
        photo = photos_of(first)[0]
        first.put(photo, 0, ("contrast", [0.1]))
        with running(tmp_path, folder, keep_days=-1) as second:
            assert second.session != first.session
            assert read_refusal(second.client.get(first.session)) == (404, "not_found")
            theirs = photos_of(second)[0]
            assert steps(second.state(theirs)) == ["contrast"], "by its sidecar"
            second.put(theirs, 0, ("saturation", [0.1]))
        refused = first.put(photo, 1, ("contrast", [0.2]))
        assert read_refusal(refused) == (409, "conflict")
    with running(tmp_path, folder) as again:
        assert again.session == first.session


def test_kept_sessions_are_bounded_in_age_and_size(tmp_path: Path) -> None:
    names = []
    with running(tmp_path) as visitor:
        for _ in range(3):
            names.append(visitor.begin())
            visitor.bring(picture(96))
    folders = sorted((tmp_path / "data" / "sessions").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for days, path in zip((20, 3, 2), folders, strict=True):
        then = path.stat().st_mtime - days * 86400
        os.utime(path, (then, then))
    with running(tmp_path) as visitor:
        answers = [visitor.client.get(name).status_code for name in names]
        assert answers == [404, 200, 200], "more than 14 days old"
    archive = SessionArchive(tmp_path / "data" / "sessions", 14, folder_bytes(folders[2]))
    for days, path in zip((3, 2), folders[1:], strict=True):
        then = path.stat().st_mtime - days * 86400
        os.utime(path, (then, then))
    archive.sweep([])
    assert list((tmp_path / "data" / "sessions").iterdir()) == [folders[2]], "the oldest goes first"


def test_the_session_that_is_served_stays_however_old_it_is(tmp_path: Path, folder: Path) -> None:
    settings = ServerSettings(folder=tmp_path / "server", keep=tmp_path / "data", sidecars=False)
    with running(tmp_path, folder, sidecars=False) as visitor:
        photo = photos_of(visitor)[0]
        visitor.put(photo, 0, ("contrast", [0.1]))
    (session,) = (tmp_path / "data" / "sessions").iterdir()
    then = session.stat().st_mtime - 15 * 86400
    os.utime(session, (then, then))
    app = create_app(settings)
    app.state.darkroom.preload(
        sorted(folder.glob("*.png")), [str(folder)]
    )  # before it starts, as t2o serve does
    with TestClient(app, base_url="http://127.0.0.1:8642") as client:
        assert steps(client.get(photo).json()) == ["contrast"]


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in files(folder))


def test_an_upload_that_was_interrupted_is_removed_and_a_damaged_record_is_left(tmp_path: Path) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        photos = [visitor.bring(picture(32)) for _ in range(2)]
    (folder,) = (tmp_path / "data" / "sessions").iterdir()
    (folder / "half").mkdir()
    (folder / "half" / "photo.png").write_bytes(b"half")
    damaged = folder / photos[0].rsplit("/", 1)[-1]
    (damaged / RECORD_FILE).write_text("{}")
    session = visitor.session
    with running(tmp_path) as visitor:
        visitor.session = session
        assert photos_of(visitor) == photos[1:]
    assert not (folder / "half").exists()
    assert len(files(damaged)) == 2


@pytest.mark.parametrize("kept", [True, False])
def test_a_removed_photo_comes_back_where_it_was(tmp_path: Path, kept: bool) -> None:
    with running(tmp_path, **({} if kept else {"keep": None})) as visitor:
        visitor.begin()
        photos = [visitor.bring(picture(32)) for _ in range(3)]
        visitor.put(photos[1], 0, ("contrast", [0.1]))
        assert visitor.client.delete(photos[1]).status_code == 204
        assert photos_of(visitor) == [photos[0], photos[2]]
        assert read_refusal(visitor.client.get(photos[1])) == (404, "not_found")
        told = visitor.client.post(f"{photos[1]}/restore")
        assert [one["photo"] for one in told.json()["photos"]] == [one.rsplit("/", 1)[-1] for one in photos]
        assert steps(visitor.state(photos[1])) == ["contrast"]
        assert read_refusal(visitor.client.post(f"{photos[1]}/restore")) == (404, "not_found")


def test_a_removal_that_cannot_be_written_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        photos = [visitor.bring(picture(32)) for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fill_the_disk)
            assert read_refusal(visitor.client.delete(photos[0])) == (507, "storage")
        assert photos_of(visitor) == photos
        assert visitor.client.delete(photos[0]).status_code == 204
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fill_the_disk)
            assert read_refusal(visitor.client.post(f"{photos[0]}/restore")) == (507, "storage")
        assert photos_of(visitor) == photos[1:]
        assert visitor.client.post(f"{photos[0]}/restore").status_code == 200
        assert photos_of(visitor) == photos


def test_photos_are_removed_at_the_same_time(tmp_path: Path) -> None:
    """Each once, and the last ten can be brought back."""
    with running(tmp_path) as visitor:
        visitor.begin()
        photos = [visitor.bring(picture(32)) for _ in range(14)]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(visitor.client.delete, [one for one in photos for _ in range(2)]))
        assert sorted(one.status_code for one in answers) == [204] * 14 + [404] * 14
        assert photos_of(visitor) == []
        restored = [visitor.client.post(f"{one}/restore").status_code for one in photos]
        assert sorted(restored) == [200] * 10 + [404] * 4


def test_a_removed_photo_is_removed_after_a_restart_too(tmp_path: Path) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        photos = [visitor.bring(picture(32)) for _ in range(2)]
        visitor.client.delete(photos[0])
    session = visitor.session
    with running(tmp_path) as visitor:
        visitor.session = session
        assert photos_of(visitor) == photos[1:]
        assert visitor.client.post(f"{photos[0]}/restore").status_code == 200
        visitor.client.delete(photos[0])
    with running(tmp_path, restore_minutes=0) as visitor:
        visitor.session = session
        assert photos_of(visitor) == photos[1:]
        visitor.client.get(session)
        assert read_refusal(visitor.client.post(f"{photos[0]}/restore")) == (404, "not_found")
    assert len([path for path in files(tmp_path / "data") if path.name == RECORD_FILE]) == 1


def test_removed_photos_make_room(tmp_path: Path) -> None:
    with running(tmp_path, session_mb=1) as visitor:
        visitor.begin()
        data = picture(96) + bytes(600_000)
        photo = visitor.bring(data)
        assert read_refusal(visitor.upload(data)) == (413, "too_large")
        visitor.client.delete(photo)
        visitor.bring(data)
        assert read_refusal(visitor.client.post(f"{photo}/restore")) == (404, "not_found")


def test_an_edit_that_cannot_be_kept_is_refused_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path) as visitor:
        visitor.begin()
        photo = visitor.bring(picture(32))
        visitor.put(photo, 0, ("contrast", [0.1]))
        before = visitor.state(photo)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fill_the_disk)
            assert read_refusal(visitor.put(photo, 1, ("contrast", [0.2]))) == (507, "storage")
            assert read_refusal(visitor.post(f"{photo}/undo", revision=1)) == (507, "storage")
        assert visitor.state(photo) == before
        assert visitor.put(photo, 1, ("contrast", [0.2])).status_code == 200


@pytest.mark.parametrize("kept", [True, False])
def test_own_looks_are_listed_beside_those_of_the_package(tmp_path: Path, kept: bool) -> None:
    limits = {} if kept else {"keep": None}
    edit = recipe(("exposure", [0.5]), ("crop", [0.1, 0.1, 0.8, 0.8]))
    with running(tmp_path, **limits) as visitor:
        saved = visitor.post(f"{API}/looks", name="  Evening   light ", recipe=edit)
        assert saved.status_code == 201
        assert saved.json()["name"] == "Evening light"
        assert [step["operation"] for step in saved.json()["recipe"]["steps"]] == ["exposure"]
        assert "belongs to this photo" in saved.json()["notes"][0]
        again = visitor.post(f"{API}/looks", name="evening LIGHT", recipe=edit)
        assert read_refusal(again) == (409, "exists")
    with running(tmp_path, **limits) as visitor:
        own = [one["name"] for one in visitor.client.get(f"{API}/looks").json() if one["own"]]
        assert own == (["Evening light"] if kept else [])
        if kept:
            assert visitor.client.delete(f"{API}/looks/Evening%20light").status_code == 204
        assert read_refusal(visitor.client.delete(f"{API}/looks/Evening%20light")) == (404, "not_found")
        assert not any(one["own"] for one in visitor.client.get(f"{API}/looks").json())


def test_a_look_need_not_have_the_name_of_its_file(tmp_path: Path) -> None:
    place = tmp_path / "data" / "looks"
    place.mkdir(parents=True)
    LOOK.save(place / "mine.json")
    with running(tmp_path) as visitor:
        assert (
            visitor.post(f"{API}/looks", name="Mine", recipe=recipe(("contrast", [0.1]))).status_code == 201
        )
        own = [one["name"] for one in visitor.client.get(f"{API}/looks").json() if one["own"]]
        assert own == ["Evening", "Mine"], "the file of another look is not replaced"
        assert visitor.client.delete(f"{API}/looks/Evening").status_code == 204
    assert [Recipe.load(path).name for path in place.iterdir()] == ["Mine"]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("", [("exposure", [0.5])]),
        ("…", [("exposure", [0.5])]),
        ("x" * 61, [("exposure", [0.5])]),
        ("Teal-and-Orange", [("exposure", [0.5])]),
        ("../../own", [("exposure", [0.5])]),
        ("Empty", []),
        ("Crop", [("crop", [0.1, 0.1, 0.8, 0.8])]),
    ],
)
def test_looks_that_are_refused(tmp_path: Path, name: str, steps: list[Any]) -> None:
    with running(tmp_path) as visitor:
        answer = visitor.post(f"{API}/looks", name=name, recipe=recipe(*steps))
        assert read_refusal(answer) == (422, "look")
    assert not (tmp_path / "data" / "looks").exists()


def test_a_data_folder_that_is_no_good_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    with pytest.raises(ServerError, match=r"cannot keep sessions .*set T2O_DATA_DIR"), running(tmp_path):
        pass


def test_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("T2O_DATA_DIR", str(tmp_path))
    assert get_data_folder() == tmp_path
    monkeypatch.delenv("T2O_DATA_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    if sys.platform == "linux":
        assert get_data_folder() == tmp_path / "share" / "t2onet"
        monkeypatch.delenv("XDG_DATA_HOME")
        assert get_data_folder() == tmp_path / ".local" / "share" / "t2onet"

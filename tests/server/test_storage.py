"""A server that cannot store any more says so, and keeps what it has."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from t2onet.image import reading
from t2onet.server import photo_routes
from tests.conftest import PATIENCE
from tests.server.conftest import Serve
from tests.server.helpers import API, Visitor, files, picture, read_refusal, recipe

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
BUSY = (errno.EMFILE, errno.ENFILE)
Break = Callable[[int], None]


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number), "/a/path/of/the/server")

    return fail


def check_refusal(answer: Any, number: int) -> None:
    assert read_refusal(answer) == ((503, "busy") if number in BUSY else (507, "storage"))
    message = answer.json()["error"]["message"]
    assert "the server" in message
    assert "/a/path" not in message


@pytest.mark.parametrize("number", [*FULL, *BUSY])
def test_a_folder_that_cannot_be_made(serve: Serve, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    visitor = serve()
    photo = visitor.bring(picture(32))
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "mkdtemp", failing(number))
        check_refusal(visitor.client.post(f"{API}/sessions"), number)
        check_refusal(visitor.upload(picture(32)), number)
        check_refusal(visitor.post(f"{photo}/exports"), number)
        check_refusal(visitor.post(f"{visitor.session}/batches", recipe=recipe()), number)
        held = visitor.client.get(visitor.session).json()["photos"]
        assert [one["photo"] for one in held] == [photo.rsplit("/", 1)[-1]]
        assert visitor.client.get(f"{photo}/preview.jpg").status_code == 200
    visitor.bring(picture(32))
    assert visitor.client.post(f"{API}/sessions").status_code == 201, "none was counted that was not made"


@pytest.mark.slow
@pytest.mark.parametrize("number", [*FULL, *BUSY])
def test_a_file_that_cannot_be_written(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    visitor = serve()
    photo = visitor.bring(picture(32))
    before = sorted(tmp_path.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(number))
        for kind in ("photo", "recipe", "cube", "hald"):
            visitor.put(photo, visitor.state(photo)["revision"], ("brightness", 0.1))
            check_refusal(visitor.post(f"{photo}/exports", kind=kind), number)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", failing(number))
        check_refusal(visitor.upload(picture(32)), number)
    assert sorted(tmp_path.rglob("*")) == before, "nothing is left of what failed"
    assert visitor.post(f"{photo}/exports").status_code == 201


def test_an_item_of_a_batch_says_why_it_was_not_written(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor.bring(picture(32))
    monkeypatch.setattr(os, "fsync", failing(errno.ENOSPC))
    begun = visitor.post(f"{visitor.session}/batches", recipe=recipe(("brightness", 0.2))).json()
    room = visitor.client.app.state.darkroom  # type: ignore[attr-defined]
    session = room.sessions.get(visitor.session.rsplit("/", 1)[-1])
    session.batches[begun["batch"]]._thread.join(PATIENCE)
    state = visitor.client.get(f"{visitor.session}/batches/{begun['batch']}").json()
    (item,) = state["items"]
    assert item["outcome"] == "refused"
    assert item["error"] == (
        "the server cannot store sea-edited.png: its disk is full; nothing was changed; "
        "remove photos you no longer need, or ask the operator of the server"
    )


def test_a_photo_that_cannot_be_read_for_want_of_open_files_is_not_called_deleted(
    visitor: Visitor, photo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", failing(errno.EMFILE))
        patch.setattr(os, "open", failing(errno.EMFILE))
        check_refusal(visitor.client.get(f"{photo}/preview.jpg?size=1601"), errno.EMFILE)
    assert visitor.client.get(f"{photo}/preview.jpg?size=1601").status_code == 200


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.EIO])
def test_an_error_of_the_system_that_is_not_about_storing_is_not_called_that(
    visitor: Visitor, photo: str, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(photo_routes, "encode_preview", failing(number))
    assert read_refusal(visitor.client.get(f"{photo}/preview.jpg")) == (500, "internal")


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (
            errno.ENOMEM,
            "the server cannot store this: cannot allocate memory; nothing was changed; ask the operator",
        ),
        (
            errno.EROFS,
            "the server cannot store this: its disk is read-only; nothing was changed; ask the operator",
        ),
        (errno.ENOSPC, "the server cannot store this: its disk is full; nothing was changed; remove photos"),
        (errno.EMFILE, "the server has too many files open; try again in a moment"),
    ],
)
def test_the_reason_is_the_true_one(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, number: int, says: str
) -> None:
    monkeypatch.setattr(tempfile, "mkdtemp", failing(number))
    assert visitor.upload(picture(32)).json()["error"]["message"].startswith(says)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOENT, "; was it moved or deleted?"),
        (errno.EIO, ": input/output error"),
        (errno.ENOMEM, ": cannot allocate memory"),
    ],
)
def test_a_photo_that_cannot_be_read_says_why(
    visitor: Visitor, photo: str, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    monkeypatch.setattr(reading, "read_regular_file", failing(number))
    answer = visitor.client.get(f"{photo}/preview.jpg?size=1601")
    assert read_refusal(answer) == (422, "image")
    assert answer.json()["error"]["message"] == f"sea.png cannot be read any more{reason}"


@pytest.fixture
def few_inodes(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for thirteen files and folders, the marker of the server among them."""
    place = tmp_path / "disk"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", "size=4m,nr_inodes=14", "tmpfs", str(place)]
    try:
        subprocess.run(["mount", *options], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a disk, and not everywhere")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_disk_without_inodes(serve: Serve, few_inodes: Path) -> None:
    visitor = serve(folder=few_inodes)
    photos = [visitor.bring(picture(32))]
    while (answer := visitor.upload(picture(32))).status_code == 201:
        photos.append(f"{visitor.session}/photos/{answer.json()['photo']}")
        assert len(photos) < 12
    check_refusal(answer, errno.ENOSPC)
    check_refusal(visitor.post(f"{photos[0]}/exports"), errno.ENOSPC)
    check_refusal(visitor.client.post(f"{API}/sessions"), errno.ENOSPC)
    assert len(visitor.client.get(visitor.session).json()["photos"]) == len(photos) == len(files(few_inodes))
    assert all(visitor.client.get(f"{photo}/preview.jpg").status_code == 200 for photo in photos)
    visitor.client.delete(photos[0])
    visitor.bring(picture(32))

"""The folder of a server: refused at the start if it is no good, gone at the end, cleaned after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from t2onet import ServerError
from t2onet.server import ServerSettings, create_app
from t2onet.server.folders import MARKER_FILE, open_server_folder
from tests.cli.helpers import ROOT
from tests.cli.test_serve import port_of, send_request, serving
from tests.conftest import PATIENCE
from tests.server.helpers import API, files, picture
from tests.server.test_storage import failing, few_inodes

__all__ = ["few_inodes"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="no such signals and locks there")

HOLD = """
import sys
from pathlib import Path
from t2onet.server.folders import open_server_folder
folder = open_server_folder(Path(sys.argv[1]))
(folder.path / "photo").write_text("here")
print(folder.path, flush=True)
sys.stdin.read()
"""


@contextmanager
def another_server(place: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has a folder below `place`, and that folder."""
    command = [sys.executable, "-c", HOLD, str(place)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


@pytest.mark.slow
@posix
def test_a_start_removes_what_killed_servers_left_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with another_server(tmp_path) as (killed, left), another_server(tmp_path) as (_, used):
        assert (left / "photo").exists()
        killed.send_signal(signal.SIGKILL)
        killed.wait(PATIENCE)
        folder = open_server_folder(tmp_path)
        assert set(tmp_path.iterdir()) == {tmp_path / "own", used, folder.path}
        assert (used / "photo").read_text() == "here"
        other = open_server_folder(tmp_path)
        assert folder.path.exists(), "this process has it"
        folder.remove()
        other.remove()
    assert set(tmp_path.iterdir()) == {tmp_path / "own", used}
    folder = open_server_folder(tmp_path)
    assert set(tmp_path.iterdir()) == {tmp_path / "own", folder.path}
    folder.remove()


@posix
def test_links_and_files_that_look_like_leftovers_stay(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "photo").write_text("mine")
    (tmp_path / "t2o-serve-link").symlink_to(tmp_path / "own")
    (tmp_path / "t2o-serve-file").write_text("mine")
    open_server_folder(tmp_path).remove()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"own", "t2o-serve-link", "t2o-serve-file"}
    assert (tmp_path / "own" / "photo").read_text() == "mine"


@posix
@pytest.mark.parametrize(
    "name", ["t2o-serve-notes", "t2o-serve-thesis_1", "t2o-serve-ab12cd_9", "t2o-serve-"]
)
def test_a_users_folder_of_such_a_name_stays(tmp_path: Path, name: str) -> None:
    """So do folders of releases that wrote no marker: a server of one may be running."""
    own = tmp_path / name / "thesis.txt"
    own.parent.mkdir()
    own.write_text("mine")
    open_server_folder(tmp_path).remove()
    assert own.read_text() == "mine"


@posix
def test_a_marker_alone_does_not_make_a_folder_a_leftover(tmp_path: Path) -> None:
    own = tmp_path / "t2o-serve-of-mine" / MARKER_FILE
    own.parent.mkdir()
    own.write_text("mine")
    open_server_folder(tmp_path).remove()
    assert own.read_text() == "mine"


@posix
def test_a_removal_that_was_interrupted_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = open_server_folder(tmp_path)
    (folder.path / "session").mkdir()
    removed = []

    def interrupted(path: Path, **_: Any) -> None:
        removed.append(path)
        if path == folder.path:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            folder.remove()
    assert folder.path / "session" in removed[:-1], "before the marker"
    assert folder.handle is not None
    os.close(folder.handle)  # the end of the process
    open_server_folder(tmp_path).remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_good_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ServerError, match=r"file cannot hold uploads: it is not a folder; give another"):
        open_server_folder(file)
    with pytest.raises(ServerError, match=r"below cannot hold uploads \(not a directory\)"):
        open_server_folder(file / "below")
    monkeypatch.setattr(tempfile, "mkdtemp", failing(13))
    with pytest.raises(ServerError, match=r"cannot hold uploads \(permission denied\)"):
        open_server_folder(tmp_path)
    with pytest.raises(ServerError, match=r"^the temporary folder of this system cannot hold uploads"):
        open_server_folder(None)


def test_a_disk_that_is_full_is_refused(few_inodes: Path) -> None:
    with suppress(OSError), (few_inodes / "large").open("wb", buffering=0) as file:
        while file.write(bytes(2**16)):
            pass
    with pytest.raises(ServerError, match=r"cannot hold uploads \(no space left on device\)"):
        open_server_folder(few_inodes)
    assert [path.name for path in few_inodes.iterdir()] == ["large"], "nothing was left there"


def test_an_application_of_another_server_refuses_at_its_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    app = create_app(ServerSettings(folder=tmp_path / "file"))
    with pytest.raises(ServerError, match="not a folder"), TestClient(app):
        pass


@posix
@pytest.mark.slow
def test_a_killed_command_is_cleaned_up_after_and_a_running_one_is_not(tmp_path: Path) -> None:
    place = tmp_path / "uploads"

    def bring(address: str) -> str:
        """The address of a photo in a new session."""
        port = port_of(address)
        session = json.loads(send_request(port, "POST", f"{API}/sessions")[1])["session"]
        path = f"{API}/sessions/{session}/photos"
        return f"{path}/{json.loads(send_request(port, 'POST', path, picture(32))[1])['photo']}"

    with serving("--folder", place, "--no-keep") as (killed, address):
        bring(address)
        killed.send_signal(signal.SIGKILL)
        killed.wait(PATIENCE)
    assert len(files(place)) == 1
    with serving("--folder", place, "--no-keep") as (_, first):
        assert files(place) == []
        photo = bring(first)
        with serving("--folder", place, "--no-keep") as (stopped, _):
            assert len(list(place.iterdir())) == 2
            stopped.send_signal(signal.SIGINT)
            stopped.wait(PATIENCE)
        assert len(list(place.iterdir())) == 1
        assert send_request(port_of(first), "GET", f"{photo}/preview.jpg?size=1601")[0] == 200

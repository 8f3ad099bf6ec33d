"""Only regular files are read; files are written completely or not at all."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from t2onet.errors import OutputError
from t2onet.image import check_regular_file, open_regular_file, read_regular_file, write_atomically
from t2onet.image.files import remove_leftovers, write_folder_atomically
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


def test_a_regular_file_is_read_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    for name in ("a", "link"):
        check_regular_file(tmp_path / name)
        assert read_regular_file(tmp_path / name) == b"abc"
        assert read_regular_file(str(tmp_path / name), limit=3) == b"abc"
        with open_regular_file(tmp_path / name) as file:
            assert file.read() == b"abc"


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate((4 << 20) + 1)
    with pytest.raises(OSError, match=r"^it has 4194305 bytes, and at most 4194304 \(4 MiB\) are read$"):
        read_regular_file(tmp_path / "a", limit=4 << 20)


def test_other_kinds_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for path, kind in {"pipe": "a pipe", "socket": "a socket", "/dev/null": "a device"}.items():
            with pytest.raises(OSError, match=f"^it is {kind}, not a regular file$") as refusal:
                read_regular_file(path)
            assert refusal.value.filename == path
    with pytest.raises(IsADirectoryError):
        read_regular_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_regular_file("nowhere")


def test_a_pipe_put_in_the_place_of_a_file_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    os.mkfifo(tmp_path / "pipe")
    plain = os.open
    monkeypatch.setattr(os, "open", lambda path, flags: plain(tmp_path / "pipe", flags))
    with pytest.raises(OSError, match="not a regular file"):
        open_regular_file(tmp_path / "a")


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "a", b"abc", overwrite=False)
    assert (tmp_path / "a").read_bytes() == b"abc"
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(0o640)
    write_atomically(target, b"new", overwrite=True)
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_what_exists_is_replaced_only_on_request(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OutputError, match="already exists"):
        write_atomically(tmp_path / "a", b"new", overwrite=False)
    assert (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("name", "words"), [("none/a", "no folder"), ("folder", "is a folder"), ("x" * 300, "name is too long")]
)
def test_places_where_nothing_can_be_written(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match=words):
        write_atomically(tmp_path / name, b"abc", overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_name_that_no_system_takes(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="not valid"):
        write_atomically(tmp_path / "a\0b", b"abc", overwrite=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_is_not_a_place_for_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="not a regular file"):
        write_atomically(tmp_path / "pipe", b"abc", overwrite=True)


def test_read_only_is_honoured_even_for_root(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(0o444)
    with pytest.raises(OutputError, match="file is read-only"):
        write_atomically(target, b"new", overwrite=True)
    assert target.read_bytes() == b"old"
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(OutputError, match="is read-only"):
            write_atomically(tmp_path / "b", b"new", overwrite=True)
    finally:
        tmp_path.chmod(0o755)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (OSError(errno.EACCES, "Permission denied"), "not permitted"),
        (OSError(errno.EIO, "Input/output error"), "input/output error"),
    ],
)
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: OSError, words: str
) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=words) as refusal:
        write_atomically(tmp_path / "a", b"new", overwrite=True)
    assert "\n" not in str(refusal.value)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"a": b"old"}


def test_an_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", b"new", overwrite=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of a file")
def test_a_file_size_limit_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    script = (
        "import resource, sys, pathlib; from t2onet.image import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_atomically(pathlib.Path(sys.argv[1]), bytes(5000), overwrite=True)\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    run = [sys.executable, "-c", script, str(tmp_path / "a")]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert printed.startswith("OutputError")
    assert "larger than allowed" in printed
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"a": b"old"}


WRITES = """
import os, signal, sys
from pathlib import Path
from t2onet.image import write_atomically
from t2onet.image.files import remove_leftovers
from tests.conftest import ROOT

def stop(descriptor):
    print("written", flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "killed" else None

os.fsync = stop
write_atomically(Path(sys.argv[1]), b"whole", overwrite=False)
"""


def writer(target: Path, how: str) -> subprocess.Popen[str]:
    """A process that has written its file, and will be killed or go on to name it when it is told to."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(target), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals and locks there")
def test_the_next_process_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    strange = [tmp_path / name for name in (".t2o-mine.tmp", ".t2o-0123456789abcdef.tmp2", "t2o.tmp")]
    for path in strange:
        path.write_bytes(b"mine")
    with writer(tmp_path / "a", "killed") as killed, writer(tmp_path / "b", "lives") as living:
        killed.communicate("go on\n", timeout=60)
        assert len(list(tmp_path.iterdir())) == 5
        for path in tmp_path.iterdir():
            os.utime(path, (0, 0))
        forget_folders()
        write_atomically(tmp_path / "c", b"whole", overwrite=False)
        living.communicate("go on\n", timeout=60)
    assert {path.name for path in tmp_path.iterdir()} == {"b", "c", *(path.name for path in strange)}


@pytest.mark.parametrize("content", [b"", b"half of it"])
def test_a_new_temporary_file_may_be_one_that_somebody_writes_without_a_lock(
    tmp_path: Path, content: bytes
) -> None:
    """Earlier releases lock nothing, and a network drive may not tell of the locks of other machines."""
    temporary = tmp_path / ".t2o-0123456789abcdef.tmp"
    temporary.write_bytes(content)
    write_atomically(tmp_path / "a", b"whole", overwrite=False)
    assert temporary.read_bytes() == content
    os.utime(temporary, (0, 0))
    forget_folders()
    write_atomically(tmp_path / "b", b"whole", overwrite=False)
    assert not temporary.exists()


def forget_folders() -> None:
    """As a new process would, which has not looked into any yet."""
    remove_leftovers.cache_clear()


def test_a_folder_is_looked_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    plain = os.scandir

    def scandir(path: Any) -> Any:
        looked.append(path)
        return plain(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for number in range(5):
        write_atomically(tmp_path / str(number), b"whole", overwrite=False)
    assert len(looked) == 1


def rival_writes(monkeypatch: pytest.MonkeyPatch, target: Path) -> None:
    """Another process creates `target` after the check and before the name is taken."""
    plain = os.fsync

    def fsync(descriptor: int) -> None:
        plain(descriptor)
        target.write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", fsync)


def forbid_hard_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system such as FAT."""

    def link(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_file_created_meanwhile_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hard_links: bool
) -> None:
    target = tmp_path / "a"
    rival_writes(monkeypatch, target)
    if not hard_links:
        forbid_hard_links(monkeypatch)
    with pytest.raises(OutputError, match="already exists"):
        write_atomically(target, b"ours", overwrite=False)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"a": b"theirs"}


def test_overwriting_replaces_a_file_created_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rival_writes(monkeypatch, tmp_path / "a")
    write_atomically(tmp_path / "a", b"ours", overwrite=True)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"a": b"ours"}


def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_hard_links(monkeypatch)
    write_atomically(tmp_path / "a", b"abc", overwrite=False)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"a": b"abc"}


def test_a_failure_without_hard_links_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    forbid_hard_links(monkeypatch)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError, match="input/output error"):
        write_atomically(tmp_path / "a", b"abc", overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_of_many_writers_exactly_one_succeeds(tmp_path: Path) -> None:
    def write(number: int) -> bytes | None:
        data = str(number).encode()
        try:
            write_atomically(tmp_path / "a", data, overwrite=False)
        except OutputError:
            return None
        return data

    with ThreadPoolExecutor(8) as pool:
        written = [data for data in pool.map(write, range(32)) if data is not None]
    assert written == [(tmp_path / "a").read_bytes()]
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


KILLED = """
import os, signal, sys
from pathlib import Path
from t2onet.image.files import write_folder_atomically
with write_folder_atomically(Path(sys.argv[1])) as place:
    (place / "half").write_text("written")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_is_there_at_the_end_and_not_before(tmp_path: Path) -> None:
    with write_folder_atomically(tmp_path / "made") as place:
        (place / "file").write_text("whole")
        assert not (tmp_path / "made").exists()
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*")] == [Path("made"), Path("made/file")]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), write_folder_atomically(tmp_path / "made"):
        raise KeyError
    with (
        pytest.raises(OutputError, match=r"made cannot be written \(No space"),
        write_folder_atomically(tmp_path / "made"),
    ):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals and locks there")
def test_the_next_writer_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path) -> None:
    for name in ("made", "other"):
        command = [sys.executable, "-c", KILLED, str(tmp_path / name)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        assert subprocess.run(command, env=environment, check=False).returncode == -9
    left = set(tmp_path.iterdir())
    assert len(left) == 2
    with write_folder_atomically(tmp_path / "made"):
        now = set(tmp_path.iterdir())
        assert len(left & now) == 1
        with write_folder_atomically(tmp_path / "made"):
            assert now < set(tmp_path.iterdir())
        (tmp_path / "made").rmdir()
    assert set(tmp_path.iterdir()) == (left & now) | {tmp_path / "made"}

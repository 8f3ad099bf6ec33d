"""Only regular files are read; everything else is an OSError that says what it is."""

import os
import socket
import sys
from pathlib import Path

import pytest

from t2onet.image import check_regular_file, open_regular_file, read_regular_file

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

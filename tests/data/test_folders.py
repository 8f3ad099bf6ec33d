"""A folder is written whole or not at all, whoever is killed meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from t2onet.errors import OutputError
from t2onet.image.files import write_folder_atomically
from tests.conftest import ROOT

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

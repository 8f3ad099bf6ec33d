"""What only a process of its own shows: what it loads, and how it stops."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from tests.cli.helpers import apply_recipe, environment, noise, pixels, process
from tests.conftest import PATIENCE

HEAVY = {"numba", "onnxruntime", "torch", "scipy", "matplotlib", "ray", "fastapi", "uvicorn"}


RUN = """
import sys
from t2onet.cli import main
sys.argv = ["t2o", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert not end.code
"""


def list_loaded_modules(code: str) -> set[str]:
    """The top-level modules of a fresh process after `code`."""
    code += "\nimport sys\nprint('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), check=True, timeout=PATIENCE
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize("modules", ["t2onet", "t2onet.recipe", "t2onet.executor, t2onet.looks, t2onet.cli"])
def test_importing_the_runtime_loads_nothing_heavy(modules: str) -> None:
    found = list_loaded_modules(f"import {modules}")
    assert "t2onet" in found
    assert not HEAVY & found


def test_help_loads_next_to_nothing() -> None:
    found = list_loaded_modules(RUN.format(arguments=["--help"]))
    assert "typer" in found
    assert not (HEAVY | {"numpy", "pydantic", "PIL"}) & found


def test_help_of_a_command_loads_little() -> None:
    # Typer itself may load pydantic to describe the options of a command.
    found = list_loaded_modules(RUN.format(arguments=["apply", "--help"]))
    assert not (HEAVY | {"numpy", "PIL"}) & found


@pytest.mark.slow
def test_a_small_photo_does_not_load_the_compiler(folder: Path) -> None:
    PIL.Image.fromarray(noise()).save("sea.png")
    found = list_loaded_modules(RUN.format(arguments=["apply", "look.json", "sea.png"]))
    assert "PIL" in found
    assert not HEAVY & found
    np.testing.assert_array_equal(pixels("sea-look.png"), apply_recipe(Path("sea.png")))


HELD = """
import sys
from t2onet.cli import apply, main

attempt, begun = apply._run_task, []

def held(work, task, progress, stop):
    begun.append(task)
    if len(begun) > 2:
        stop.wait()
    return attempt(work, task, progress, stop)

apply._run_task = held
sys.argv[0] = "t2o"
main()
"""
"""The command; after two photos it waits to be stopped, so that it is never done before that."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
def test_ctrl_c_leaves_only_whole_files(folder: Path) -> None:
    sources = folder / "trip"
    sources.mkdir()
    count = 12
    for seed in range(count):
        PIL.Image.fromarray(noise(seed, 500, 600)).save(sources / f"{seed:02}.png", compress_level=0)
    arguments = ["apply", "look.json", "trip", "-o", "done", "--jobs", "2"]
    running = subprocess.Popen(
        [sys.executable, "-c", HELD, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        # A shell that starts the tests in the background has them ignore SIGINT, and a child inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    wait_for_a_file(folder / "done", running)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    finished = sorted((folder / "done").iterdir())
    assert 0 < len(finished) < count
    left = count - len(finished)
    # What is done is told, as in a run that went to its end.
    told = "".join(f"trip/{path.name} -> done/{path.name}\n" for path in finished)
    assert (running.returncode, out) == (130, told)
    assert err == f"t2o: stopped, {left} of {count} photos to go; --skip-existing continues there\n"
    # Whole: every file is what Python makes of the photo, and no temporary one is left.
    for path in finished:
        np.testing.assert_array_equal(pixels(path), apply_recipe(sources / path.name))
    # And the advice holds: the same command with --skip-existing does the rest.
    rest = process(*arguments, "--skip-existing")
    assert rest.returncode == 0
    assert rest.stdout.count("skipped") == len(finished)
    assert rest.stdout.count("->") == left


def wait_for_a_file(folder: Path, running: subprocess.Popen[str]) -> None:
    """Until a finished result lies in `folder`; hidden files are still being written."""
    end = time.monotonic() + PATIENCE
    while not any(folder.glob("[!.]*")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < end, "no result"
        time.sleep(0.001)

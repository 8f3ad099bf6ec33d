"""Pipes, devices, endless limits and deep or circular folders: one line and exit code 2, never a wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.helpers import LOOK, T2O, Answer, photo, process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")

WAIT = 60
"""Seconds after which a command that waits for a pipe is interrupted; an idle machine needs one."""


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """A command that waits for a pipe fails instead of stopping the test run."""

    def give_up(*_: object) -> None:
        pytest.fail("the command waits")  # no OSError, which a command would take for a bad file

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(WAIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


@pytest.fixture
def pipe(folder: Path) -> Path:
    """The working folder, with a pipe under every name that a command may be given, and photos."""
    photo("a.png")
    photo("b.png", 1)
    photo("masks/mask.png")
    for name in ("pipe", "pipe.jpg", "pipe.json", "pipe.csv", "pipe.db", "pipe.onnx", "pipe.safetensors"):
        os.mkfifo(name)
    for name in ("packed/index.json", "ma5k/annotations/train_sess_1.json", "network/about.json"):
        Path(name).parent.mkdir(parents=True)
        os.mkfifo(name)
    Path("ma5k/images").mkdir()
    return folder


COMMANDS = [
    "describe pipe.json",
    "describe look.json --diff pipe.json",
    "apply pipe.json a.png",
    "apply look.json pipe.jpg",
    "edit pipe.jpg brighter",
    "edit a.png brighter --network network",
    "plan pipe.jpg a.png",
    "plan a.png pipe.jpg",
    "plan a.png b.png --local --masks pipe.jpg",
    "plan a.png b.png --local --masks pipe.jpg --panoptic pipe.json",
    "plan a.png b.png --local --segmenter pipe.onnx",
    "export pipe.json out.cube",
    "evaluate ma5k",
    "evaluate ma5k --system pipe.safetensors",
    "data stats ma5k -o out.png",
    "data simulate pipe.jpg -o out",
    "edit a.png brighter --style pipe.onnx",
    "learn pipe.jpg -o out.style",
    "match pipe.jpg a.png",
    "match a.png pipe.jpg",
    "train paper --data packed -o out",
    "study rate pipe.csv --port 0",
    "serve pipe.jpg --no-browser --port 0",
]


def check_one_line_refusal(answer: Answer) -> None:
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("t2o: ")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_refused(t2o: T2O, pipe: Path, command: str) -> None:
    check_one_line_refusal(t2o(*command.split()))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["export pipe.safetensors out", "study results --database pipe.db"])
def test_a_pipe_is_not_given_to_libraries_either(pipe: Path, command: str) -> None:
    # In a process of its own: code that is not Python's would go on waiting.
    done = process(*command.split())
    check_one_line_refusal(Answer(done.returncode, done.stdout, done.stderr))


def test_the_kind_of_a_special_file_is_named(t2o: T2O, pipe: Path) -> None:
    said = "it is a pipe, not a regular file"
    assert said in t2o("describe", "pipe.json").err
    assert said in t2o("apply", "look.json", "pipe.jpg").err
    assert "it is a device, not a regular file" in t2o("describe", "/dev/null").err


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["describe /dev/zero", "apply /dev/zero a.png", "apply look.json /dev/zero"]
)
def test_an_endless_device_is_refused(folder: Path, command: str) -> None:
    import resource

    def little_memory() -> None:  # so that a mistake here does not fill the machine's
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    photo("a.png")
    done = process(*command.split(), preexec_fn=little_memory)
    check_one_line_refusal(Answer(done.returncode, done.stdout, done.stderr))
    assert "not a regular file" in done.stderr


def test_a_recipe_too_large_to_be_one_is_refused(t2o: T2O, folder: Path) -> None:
    with Path("huge.json").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    answer = t2o("describe", "huge.json")
    check_one_line_refusal(answer)
    assert "at most 268435456 (256 MiB) are read" in answer.err


# ---- limits that are none


@pytest.mark.parametrize("limit", ["inf", "nan", "0", "-1", "-inf", "1e-9", "1e308"])
@pytest.mark.parametrize("command", ["apply look.json a.png", "edit a.png brighter", "serve --no-browser"])
def test_a_number_of_megapixels_that_is_no_limit(t2o: T2O, folder: Path, command: str, limit: str) -> None:
    photo("a.png")
    answer = t2o(*command.split(), f"--max-megapixels={limit}")
    check_one_line_refusal(answer)
    assert answer.err.startswith(f"t2o: --max-megapixels {float(limit):g} is no limit; ")


# ---- folders without end


DEPTH = 1100
"""Folders in each other; more than Python lets calls be nested."""


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder `trip` with folders in each other and, in the innermost, a photo."""
    home, before = tmp_path_factory.mktemp("deep"), Path.cwd()
    (home / "trip").mkdir()
    os.chdir(home / "trip")
    for _ in range(DEPTH):
        os.mkdir("d")  # noqa: PTH102
        os.chdir("d")
    photo("a.png")
    os.chdir(before)
    yield home
    subprocess.run(["rm", "-rf", home], check=True)  # Python's own ways to remove it nest calls


INNERMOST = Path(*["d"] * DEPTH, "a.png")


@pytest.mark.slow
def test_a_photo_deep_down_is_edited(t2o: T2O, deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LOOK.save(deep / "look.json")
    monkeypatch.chdir(deep)
    answer = t2o("apply", "look.json", "trip", "-r", "-o", "out")
    assert answer == (0, f"{'trip' / INNERMOST} -> {'out' / INNERMOST}\n", "")
    assert ("out" / INNERMOST).is_file()


def test_a_pattern_that_leads_deep_down(t2o: T2O, deep: Path, folder: Path) -> None:
    answer = t2o("apply", "look.json", f"{deep}/trip/**/*.png", "-o", "out")
    assert answer == (0, f"{deep / 'trip' / INNERMOST} -> out/a.png\n", "")


def test_a_deep_folder_without_photos_is_refused(t2o: T2O, deep: Path, folder: Path) -> None:
    (deep / "trip" / INNERMOST).unlink()
    given = deep / "trip"
    assert t2o("apply", "look.json", given, "-r") == (2, "", f"t2o: {given} is a folder without photos\n")


@pytest.mark.parametrize("given", [["trip", "-r"], ["trip/**/*.png"]], ids=["folder", "pattern"])
def test_links_that_lead_back_are_not_followed(t2o: T2O, folder: Path, given: list[str]) -> None:
    photo("trip/day/a.png")
    for name in ("again", "once-more"):  # two of them double the ways with every turn
        Path(f"trip/{name}").symlink_to(".")
    Path("trip/self.png").symlink_to("self.png")
    answer = t2o("apply", "look.json", *given, "-o", "out")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("->") == 1


def test_a_path_longer_than_the_system_takes_is_said(t2o: T2O, folder: Path) -> None:
    photo("trip/a.png")
    Path("trip/" + "x" * 200).mkdir()
    os.chdir("trip/" + "x" * 200)
    for _ in range(25):  # the whole path is longer than the system takes
        os.mkdir("x" * 200)  # noqa: PTH102
        os.chdir("x" * 200)
    os.chdir(folder)
    check_one_line_refusal(t2o("apply", "look.json", "trip", "-r", "-o", "out"))
    subprocess.run(["rm", "-rf", "trip"], check=True)


# ---- results that are none


@pytest.mark.parametrize("command", ["apply look.json a.png", "edit a.png brighter"])
def test_an_empty_file_is_no_result_to_skip(t2o: T2O, folder: Path, command: str) -> None:
    photo("a.png")
    Path("out.png").touch()
    answer = t2o(*command.split(), "-o", "out.png", "--skip-existing")
    assert (answer.code, answer.out) == (2, "")
    assert "out.png is empty and no result to skip; remove it, or give --overwrite instead" in answer.err
    assert Path("out.png").read_bytes() == b""
    Path("out.png").unlink()
    assert t2o(*command.split(), "-o", "out.png", "--skip-existing").code == 0

"""Nothing is sent, and nothing is written but what was asked for."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import PIL.Image
import pytest

from t2onet.editor.learning import MIN_PAIRS
from t2onet.kernels.compiler import cache_folder
from tests.cli.helpers import COMMAND, LOOK, apply_recipe, contents, environment, photo
from tests.cli.test_serve import port_of, send_request, serving
from tests.conftest import PATIENCE, ROOT
from tests.offline import ENDED, offline, try_filter, why_not_offline

needs_a_filter = pytest.mark.usefixtures("kernel_filter")
OPEN = "import ctypes; ctypes.CDLL(None).socket({}, {}, 0)"
"""As a compiled library opens a socket, unseen by Python."""


@pytest.fixture
def kernel_filter() -> None:
    """Skips where the kernel takes no filter, such as in some sandboxes."""
    if reason := why_not_offline():
        pytest.skip(reason)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import sys; sys.exit('the kernel takes no filter (Invalid argument)')",
            "the kernel takes no filter",
        ),
        ("", "the kernel takes a filter and does not apply it"),
    ],
    ids=["refused", "ignored"],
)
def test_a_kernel_without_filters_is_noticed(code: str, reason: str) -> None:
    """The command after the prefix does not run, or runs unfiltered."""
    assert (try_filter([sys.executable, "-c", code]) or "").startswith(reason)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with pairs and a recipe; beside it an empty home and no temporary files."""
    monkeypatch.setenv("T2O_CACHE_DIR", str(cache_folder()))  # kernels are not compiled once more
    for name in (
        "ORT_DISABLE_TELEMETRY",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "T2O_DATA_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    for variable, name in (("HOME", "home"), ("TMPDIR", "temporary")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    folder = tmp_path / "work"
    before = photo(folder / "before.png")
    PIL.Image.fromarray(apply_recipe(before)).save(folder / "after.png")
    for number in range(MIN_PAIRS):
        one = photo(folder / f"pairs/{number}.png", number)
        PIL.Image.fromarray(apply_recipe(one)).save(folder / f"pairs/{number}-edited.png")
    LOOK.save(folder / "look.json")
    monkeypatch.chdir(folder)
    return folder


def list_leftovers(work: Path) -> list[str]:
    """Files and folders in the home and among the temporary files."""
    return [*contents(work.parent / "home"), *contents(work.parent / "temporary")]


def run(rule: str, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*offline(rule), *command],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )


@needs_a_filter
@pytest.mark.parametrize(
    ("rule", "code", "ends"),
    [
        ("sockets", OPEN.format("2", "1"), True),
        ("sockets", OPEN.format("10", "2"), True),
        ("sockets", OPEN.format("1", "1"), False),
        ("connections", OPEN.format("2", "1"), False),
        ("connections", "import ctypes; ctypes.CDLL(None).connect(0, None, 0)", True),
    ],
    ids=["IPv4", "IPv6 datagrams", "within the machine", "listening", "connecting"],
)
def test_a_broken_rule_is_seen(rule: str, code: str, ends: bool) -> None:
    assert run(rule, sys.executable, "-c", code).returncode == (ENDED if ends else 0)


@needs_a_filter
@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("edit", "before.png", "make it brighter", "-o", "out"),
        ("plan", "before.png", "after.png", "-o", "out.json"),
        ("apply", "look.json", "before.png", "-o", "out"),
        ("learn", "pairs", "-o", "mine.style"),
        ("match", "after.png", "before.png", "-o", "out"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_opens_no_socket_and_leaves_nothing_elsewhere(
    work: Path, arguments: tuple[str, ...]
) -> None:
    before = set(work.iterdir())
    done = run("sockets", *COMMAND, *arguments)
    assert done.returncode == 0, done.stderr
    assert set(work.iterdir()) - before == {work / arguments[-1]}
    assert list_leftovers(work) == []


@needs_a_filter
@pytest.mark.slow
@pytest.mark.parametrize("keep", ["--keep", "--no-keep"])
def test_a_server_connects_to_nothing_and_leaves_what_it_keeps_alone(work: Path, keep: str) -> None:
    before = set(work.iterdir())
    with serving("before.png", keep, guard=offline("connections")) as (running, address):
        port, session = port_of(address), f"/api/v1/sessions/{address.partition('#session=')[2]}"
        status, told = send_request(port, "POST", f"{session}/photos", Path("after.png").read_bytes())
        assert status == 201
        request = json.dumps({"request": "make it brighter", "revision": 0}).encode()
        kind = {"Content-Type": "application/json"}
        place = f"{session}/photos/{json.loads(told)['photo']}"
        status, told = send_request(port, "POST", f"{place}/requests", request, **kind)
        assert (status, json.loads(told)["answered"]) == (200, True)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err) == (0, "stopped\n", "")
    assert set(work.iterdir()) == before
    data = Path(".local", "share", "t2onet")
    kept = [Path(name) for name in list_leftovers(work) if (work.parent / "home" / name).is_file()]
    assert all(data in path.parents for path in kept)
    names = sorted(path.name for path in kept)
    assert names == ([] if keep == "--no-keep" else ["edit.json", "key", "photo"])
    assert contents(work.parent / "temporary") == {}


@pytest.mark.slow
def test_onnx_runtime_is_imported_with_its_telemetry_off() -> None:
    """Its Linux builds read the variable when they are imported."""
    code = (
        "import os, sys, types\n"
        "class Spy:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'onnxruntime':\n"
        "            print('telemetry off:', os.environ.get('ORT_DISABLE_TELEMETRY'))\n"
        "sys.meta_path.insert(0, Spy())\n"
        "from t2onet.language.reader import load_reader\n"
        "load_reader().read('brighter')\n"
    )
    env = {name: value for name, value in environment().items() if name != "ORT_DISABLE_TELEMETRY"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout == "telemetry off: 1\n"


def test_one_module_alone_imports_onnx_runtime() -> None:
    pattern = re.compile(
        r"^\s*(import|from) onnxruntime|(importorskip|import_module)\(.onnxruntime", re.MULTILINE
    )
    folders = ("t2onet", "tests", "bench", "docs")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    importing = [path.relative_to(ROOT) for path in found if pattern.search(path.read_text("utf-8"))]
    assert importing == [Path("t2onet/inference.py")]


def test_no_release_of_a_runtime_dependency_arrives_unseen() -> None:
    """A minor release of ONNX Runtime switched telemetry on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    needed = [*project["dependencies"], *optional["cluster"], *optional["mcp"]]
    assert [one for one in needed if not re.search(r",<\d+(\.\d+)?$", one)] == []
    (runtime,) = (one for one in needed if one.startswith("onnxruntime"))
    assert re.search(r",<1\.\d+$", runtime)

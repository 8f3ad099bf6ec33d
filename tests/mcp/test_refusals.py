"""`t2o mcp`: what agents are refused, and that nothing outside the folders is read or written."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from t2onet.errors import Cancelled, OutputError, ServerError
from t2onet.mcp.folders import AllowedFolders
from t2onet.mcp.photos import MAX_OPEN_PHOTOS, OpenPhotos
from t2onet.mcp.tools import Darkroom
from t2onet.recipe.recipe import sidecar_path
from t2onet.server import ServerSettings
from tests.cli.helpers import COMMAND, T2O, contents, environment, photo
from tests.cli.test_process import RUN, list_loaded_modules
from tests.conftest import PATIENCE
from tests.mcp.helpers import Agent, serving
from tests.offline import offline, why_not_offline

OUTSIDE_NAMES = (
    "../photos-of-others/private.jpg",
    "trip/../../photos-of-others/private.jpg",
    "{outside}/private.jpg",
    "{folder}/../photos-of-others/private.jpg",
    "{folder}-of-others/private.jpg",
    "link.jpg",
    "linked/private.jpg",
    "trip/../linked/private.jpg",
    "//{outside}//private.jpg",
    "/etc/passwd",
    "/dev/zero",
    "/proc/self/environ",
    "/",
    "..",
    "{FOLDER}/trail.jpg",
)
"""Names of files that are there, and not for agents."""
WRONG_NAMES = (
    "",
    "   ",
    "a\0b.jpg",
    "trail.jpg\n",
    "x" * 5000,
    "x" * 300 + ".jpg",
    "~/photos/trail.jpg",
    "missing.jpg",
    "TRAIL.JPG.",
    "trip",
    ".",
    "pipe.jpg",
    "loop.jpg",
    "dangling.jpg",
    "broken.jpg",
    "bomb.png",
    "empty.jpg",
    "notes.txt",
    "file:///etc/passwd",
    "$HOME/trail.jpg",
)
PHOTO_TOOLS: dict[str, dict[str, Any]] = {
    "describe_photo": {},
    "render": {},
    "places": {},
    "edit": {"request": "brighter"},
    "follow": {"request": "brighter"},
    "adjust": {"operation": "exposure", "values": 1},
    "apply_look": {"look": "teal and orange"},
    "export": {},
    "reset": {},
    "undo": {},
    "plan": {"after": "trail.jpg"},
}


def name_in(agent: Agent, name: str) -> str:
    folder = str(agent.folder)
    return (
        name.replace("{outside}", str(agent.outside))
        .replace("{folder}", folder)
        .replace("{FOLDER}", folder.upper())
    )


# ---- reading


@pytest.mark.parametrize("name", OUTSIDE_NAMES)
def test_nothing_outside_is_read(agent: Agent, name: str) -> None:
    name = name_in(agent, name)
    for tool in ("render", "export"):
        assert "outside the folders" in agent.try_tool(tool, photo=name).error
    assert "outside the folders" in agent.try_tool("plan", before="trail.jpg", after=name).error
    reply = agent.try_tool("list_photos", folder=name.removesuffix("/private.jpg"))
    assert reply.error


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_names_that_are_no_photos(agent: Agent, name: str) -> None:
    assert agent.refuse("render", photo=name)
    assert agent.refuse("edit", photo=name, request="brighter")


@pytest.mark.parametrize("tool", PHOTO_TOOLS)
def test_every_tool_refuses_a_photo_outside(agent: Agent, tool: str) -> None:
    for name in ("../photos-of-others/private.jpg", "linked/private.jpg"):
        given = {"before" if tool == "plan" else "photo": name, **PHOTO_TOOLS[tool]}
        assert "outside the folders" in agent.refuse(tool, **given)


@pytest.mark.parametrize(
    "look",
    [
        "../photos-of-others/look.json",
        "{outside}/look.json",
        "{outside}/secret.json",
        "link.json",
        "linked/look.json",
        "linked/private.jpg",
        "trap.jpg",
        "mask.json",
        "notes.json",
        "broken.jpg",
        "pipe.json",
        "no such look",
        "",
        {},
        [],
        7,
        {"steps": 3},
        {"steps": [{"operation": "exposure", "parameters": [1], "mask": {"file": "{outside}/private.jpg"}}]},
        {"steps": [{"operation": "exposure", "parameters": [1], "mask": {"png": "????"}}]},
        {"steps": [{"operation": "explode", "parameters": [1]}]},
        {"steps": [{"operation": "exposure", "parameters": [99]}]},
        {"steps": [{"operation": "exposure", "parameters": [1]}] * 33},
        {"steps": [{"operation": "inpaint", "parameters": []}]},
        {"schema_version": 99, "steps": []},
        '{"steps": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
    ids=lambda look: f"{look!s:.60}",
)
def test_looks_that_are_none(agent: Agent, look: Any) -> None:
    given = json.loads(name_in(agent, json.dumps(look)))
    assert agent.refuse("apply_look", photo="trail.jpg", look=given)
    assert agent.refuse("export_look", look=given, output="never.cube")
    assert agent("describe_photo", photo="trail.jpg")["edit"]["recipe"]["steps"] == []


# ---- writing


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("../photos-of-others/new.jpg", "outside"),
        ("{outside}/new.jpg", "outside"),
        ("{outside}/private.jpg", "outside"),
        ("linked/new.jpg", "outside"),
        ("dangling.jpg", "outside"),
        ("link.jpg", "outside"),
        ("trap.jpg", "outside"),
        ("{folder}.jpg", "outside"),
        ("../new.jpg", "outside"),
        ("{folder}-of-others/new.jpg", "outside"),
        ("trail.jpg", "opened as a photo"),
        ("./trip/../trail.jpg", "opened as a photo"),
        ("{folder}/trail.jpg", "opened as a photo"),
        ("inner.jpg", "opened as a photo"),
        ("same.jpg", "opened as a photo"),
        ("fig.jpg", "originals are never replaced"),
        ("trip/beach.png", "originals are never replaced"),
        ("pipe.jpg", "not a regular file"),
        ("loop.jpg", ""),
        ("trip", "suffix"),
        ("new", "suffix"),
        ("new.json", "suffix"),
        ("look.json", "suffix"),
        ("notes.txt", "suffix"),
        ("new.cr2", "suffix"),
        ("no/such/folder/new.jpg", "no folder"),
        ("notes.txt/new.jpg", ""),
        ("", "empty"),
        ("a\0b.jpg", "not the name"),
        ("x" * 300 + ".jpg", ""),
        ("x" * 300 + "/new.jpg", ""),
        ("new.jpg\n", "not the name"),
    ],
    ids=lambda value: value[:40] or "empty",
)
def test_files_that_are_not_written(agent: Agent, output: str, reason: str) -> None:
    agent("describe_photo", photo="dogs.jpg")
    if not (same := agent.folder / "same.jpg").exists():
        same.hardlink_to(agent.folder / "dogs.jpg")
    agent("adjust", photo="trail.jpg", operation="exposure", values=1)
    before = list_files(agent.folder)
    for overwrite in (False, True):
        assert reason in agent.refuse(
            "export", photo="trail.jpg", output=name_in(agent, output), overwrite=overwrite
        )
    assert list_files(agent.folder) == before


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("../photos-of-others/new.cube", "outside"),
        ("linked/new.cube", "outside"),
        ("{outside}/new.cube", "outside"),
        ("trail.png", ""),
        ("deep.png", "originals"),
        ("deep.xmp", "originals"),
        ("new.json", "a look is written as"),
        ("new.jpg", "a look is written as"),
        ("trail.jpg", "originals"),
        ("new.cube.lnk", "a look is written as"),
    ],
)
def test_tables_that_are_not_written(agent: Agent, output: str, reason: str) -> None:
    before = list_files(agent.folder)
    agent("describe_photo", photo="trail.jpg")
    size = 7 if output == "trail.png" else None
    given = {"look": "teal and orange", "output": name_in(agent, output), "size": size}
    assert reason in agent.refuse("export_look", **given, overwrite=True)
    assert list_files(agent.folder) == before


def test_the_settings_of_another_program_are_not_replaced(agent: Agent) -> None:
    mine = agent.folder / "mine.xmp"
    mine.write_text("hours of work")
    assert "originals" in agent.refuse(
        "export_look", look="teal and orange", output="mine.xmp", overwrite=True
    )
    assert mine.read_text() == "hours of work"
    assert not mine.with_suffix(".png").exists()


def list_files(folder: Path) -> dict[str, bytes]:
    """What regular files hold; pipes and links are left out."""
    regular = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in regular}


# ---- arguments


@pytest.mark.parametrize(
    ("tool", "given", "reason"),
    [
        ("fly", {}, "there is no tool 'fly'"),
        ("rendr", {}, "did you mean 'render'?"),
        ("edit", {}, "needs photo"),
        ("edit", {"photo": "trail.jpg"}, "needs request"),
        ("edit", {"photo": "trail.jpg", "requst": "brighter"}, "did you mean 'request'?"),
        ("edit", {"photo": 3, "request": "brighter"}, "valid string"),
        ("edit", {"photo": ["trail.jpg"], "request": "brighter"}, "valid string"),
        ("edit", {"photo": None, "request": "brighter"}, "valid string"),
        ("edit", {"photo": "trail.jpg", "request": ""}, "no words"),
        ("edit", {"photo": "trail.jpg", "request": " \n\t…"}, "no words"),
        ("edit", {"photo": "trail.jpg", "request": "brighter " * 1112}, "at most 2000 characters"),
        ("edit", {"photo": "trail.jpg", "request": {"text": "brighter"}}, "valid string"),
        ("edit", {"photo": "trail.jpg", "request": "brighter", "mode": "wild"}, "'literal' or 'expert'"),
        ("edit", {"photo": "trail.jpg", "request": "brighter", "reader": "gpt"}, "'default' or 'free'"),
        ("edit", {"photo": "trail.jpg", "request": "brighter", "where": "moon"}, "moon"),
        ("edit", {"photo": "trail.jpg", "request": "brighter", "where": {"a": 1}}, "where"),
        ("edit", {"photo": "trail.jpg", "request": "brighter", "where": 5}, "where"),
        ("follow", {"photo": "trail.jpg", "request": ""}, "no words"),
        ("adjust", {"photo": "trail.jpg", "operation": "explode", "values": 1}, "no operation 'explode'"),
        ("adjust", {"photo": "trail.jpg", "operation": "exposur", "values": 1}, "did you mean 'exposure'"),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": 99}, "-5"),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": "NaN"}, ""),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": "Infinity"}, ""),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": "much"}, "values 'much'"),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": {"evv": 1}}, "ev"),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": []}, ""),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": [1, 2, 3]}, ""),
        ("adjust", {"photo": "trail.jpg", "operation": "exposure", "values": 10**400}, ""),
        ("adjust", {"photo": "trail.jpg", "operation": "crop", "values": 0.1, "where": "sky"}, "crop"),
        ("adjust", {"photo": "trail.jpg", "operation": "inpaint", "values": 1}, "mask"),
        ("remove_step", {"photo": "trail.jpg", "step": 0}, "greater than or equal to 1"),
        ("remove_step", {"photo": "trail.jpg", "step": 1}, "has 0 steps"),
        ("remove_step", {"photo": "trail.jpg", "step": 1.5}, "step 1.5"),
        ("set_strength", {"photo": "trail.jpg", "strength": 0.5}, "no edit yet"),
        ("set_strength", {"photo": "trail.jpg", "strength": -1}, "greater than or equal to 0"),
        ("set_strength", {"photo": "trail.jpg", "strength": "nan"}, "strength 'nan'"),
        ("set_strength", {"photo": "trail.jpg", "strength": 1e9}, "less than or equal to 4"),
        ("undo", {"photo": "trail.jpg"}, "nothing to undo"),
        ("redo", {"photo": "trail.jpg"}, "nothing to redo"),
        ("render", {"photo": "trail.jpg", "size": 100_000_000}, "less than or equal to 2048"),
        ("render", {"photo": "trail.jpg", "size": 0}, "greater than or equal to 16"),
        ("render", {"photo": "trail.jpg", "size": -5}, "greater than or equal to 16"),
        ("render", {"photo": "trail.jpg", "format": "gif"}, "'jpeg' or 'png'"),
        ("places", {"photo": "trail.jpg", "mask": True}, "which with where"),
        ("places", {"photo": "trail.jpg", "where": "face"}, "face"),
        ("places", {"photo": "trail.jpg", "where": "moon"}, "moon"),
        ("places", {"photo": "trail.jpg", "where": "sky and " * 40 + "sky"}, "parts"),
        ("plan", {"before": "trail.jpg", "after": "trail.jpg", "operations": "all"}, "'darkroom' or 'paper'"),
        ("list_photos", {"folder": "trail.jpg"}, "not a folder"),
        ("list_photos", {"limit": 10_000_000}, "less than or equal to 1000"),
        ("list_operations", {"name": "exposre"}, "did you mean 'exposure'"),
        ("export", {"photo": "trail.jpg", "quality": 101}, "less than or equal to 100"),
        ("export", {"photo": "trail.jpg", "overwrite": "perhaps"}, "overwrite 'perhaps'"),
        ("export_look", {"output": "a.cube"}, "either look or photo"),
        ("export_look", {"output": "a.cube", "look": "teal and orange", "photo": "trail.jpg"}, "either"),
        ("export_look", {"output": "a.cube", "look": "teal and orange", "size": 34}, "33 or 65"),
    ],
    ids=lambda value: f"{value!s:.50}",
)
def test_wrong_arguments(agent: Agent, tool: str, given: dict[str, Any], reason: str) -> None:
    agent("reset", photo="trail.jpg")
    assert reason in agent.refuse(tool, **given)
    assert not (agent.folder / "new.png").exists()


# ---- afterwards


@pytest.mark.slow
def test_only_what_is_inside_was_touched(places: tuple[Path, Path]) -> None:
    """The whole server, from its start to its end, with calls that try to get out."""
    folder, outside = places
    before = contents(outside)
    with serving(folder, outside) as agent:
        for name in (*OUTSIDE_NAMES, *WRONG_NAMES[:5], "trail.jpg"):
            shown = name_in(agent, name)
            agent.try_tool("edit", photo=shown, request="brighter")
            if "private" in name:  # were the guard broken, nothing else should be harmed
                target = shown.replace("private", "new")
                agent.try_tool("export", photo="trail.jpg", output=target, overwrite=True)
            agent.try_tool("apply_look", photo="trail.jpg", look=shown)
            agent.try_tool("apply_look", photo="trail.jpg", look=shown.replace("private.jpg", "look.json"))
            agent.try_tool("list_photos", folder=shown.removesuffix("private.jpg"))
    assert contents(outside) == {"control.txt": b"", **before}
    assert set(agent.log.read_text().splitlines()) == {f"open {outside}/control.txt"}
    assert set(contents(outside)) <= {"control.txt", "private.jpg", "secret.json", "look.json"}


@pytest.mark.slow
def test_a_server_opens_no_socket(places: tuple[Path, Path]) -> None:
    if reason := why_not_offline():
        pytest.skip(reason)
    with serving(*places, guard=offline("sockets")) as agent:
        assert agent("edit", photo="trail.jpg", request="darken the sky")["answered"]
        assert agent.try_tool("render", photo="trail.jpg").picture


BEGIN = (
    '{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    '"capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}}',
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
)


def exchange(
    folder: Path, messages: Sequence[str], answers: int, *, drain: bool = False
) -> list[dict[str, Any]]:
    """So many answers to lines that no client of the SDK would send; the server ends when its stdin does."""
    with subprocess.Popen(
        [*COMMAND, "mcp", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.write("\n".join([*BEGIN, *messages]) + "\n")
        running.stdin.flush()
        lines = [running.stdout.readline() for _ in range(answers)]
        rest, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, errors) == (0, "")
    assert drain or not rest
    return [json.loads(line) for line in lines]


def make_call(number: int, tool: str, arguments: str) -> str:
    params = f'{{"name": "{tool}", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": {params}}}'


@pytest.mark.slow
def test_raw_messages(tmp_path: Path) -> None:
    """Stdout has nothing but answers, whatever comes in."""
    photo(tmp_path / "a.png")
    messages = [
        make_call(1, "adjust", '{"photo": "a.png", "operation": "exposure", "values": NaN}'),
        make_call(2, "set_strength", '{"photo": "a.png", "strength": NaN}'),
        make_call(3, "adjust", '{"photo": "a.png", "operation": "exposure", "values": -Infinity}'),
        make_call(4, "render", '{"photo": "\\ud800.png"}'),  # as good as no JSON
        "not JSON at all",
        "[" * 100_000,
        make_call(5, "adjust", '{"photo": "a.png", "operation": "exposure", "values": 1}'),
        make_call(6, "adjust", "[1, 2]"),
    ]
    by_number = {one["id"]: one for one in exchange(tmp_path, messages, answers=6)}
    assert sorted(by_number) == [0, 1, 2, 3, 5, 6]
    assert all(by_number[number]["result"]["isError"] for number in (1, 2, 3))
    assert by_number[5]["result"]["structuredContent"]["settings"] == "Exposure +1.00 EV"
    assert "error" in by_number[6]


@pytest.mark.slow
def test_a_client_that_leaves_is_not_waited_for(tmp_path: Path) -> None:
    """The server ends without a word, and what it has begun to write is there as a whole or not at all."""
    photo(tmp_path / "a.png")
    calls = [
        make_call(1, "adjust", '{"photo": "a.png", "operation": "exposure", "values": 1}'),
        *(make_call(number, "plan", '{"before": "a.png", "after": "a.png"}') for number in range(2, 40)),
        make_call(40, "export", '{"photo": "a.png", "sidecar": false}'),
    ]
    assert exchange(tmp_path, calls, answers=2, drain=True)[1]["id"] == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"a.png", "a-edited.png"}


# ---- the folders themselves


def test_folders_that_are_none(tmp_path: Path) -> None:
    photo(tmp_path / "a.png")
    for wrong in ([], [""], [tmp_path / "gone"], [tmp_path / "a.png"]):
        with pytest.raises(ServerError, match="folder"):
            AllowedFolders.open(wrong)


def test_two_folders(tmp_path: Path) -> None:
    for name in ("one/a.png", "two/a.png", "two/b.png"):
        photo(tmp_path / name)
    folders = AllowedFolders.open([tmp_path / "one", tmp_path / "two", tmp_path / "one"])
    names = [one.photo for one in folders.list_photos(None, recursive=True)]
    assert names == ["a.png", str(tmp_path / "two" / "a.png"), "b.png"]
    assert [folders.find_file(name) for name in names] == [
        tmp_path / "one" / "a.png",
        tmp_path / "two" / "a.png",
        tmp_path / "two" / "b.png",
    ]
    assert folders.find_output("new.png", tmp_path / "two" / "b.png") == tmp_path / "two" / "new.png"


def test_only_some_photos_are_kept_open(tmp_path: Path) -> None:
    folders = AllowedFolders.open([tmp_path])
    photos = OpenPhotos(folders, ServerSettings())
    names = [photo(tmp_path / f"{number}.png").name for number in range(MAX_OPEN_PHOTOS + 1)]
    first = photos.open(names[0])
    assert photos.open(names[0]) is first
    for name in names[1:]:
        photos.open(name)
    assert photos.open(names[0]) is not first
    with pytest.raises(Exception, match="opened as a photo"):
        folders.check_output(tmp_path / names[1], overwrite=True)


def test_the_edit_of_a_photo_that_was_closed_is_not_lost(tmp_path: Path) -> None:
    photos = OpenPhotos(AllowedFolders.open([tmp_path]), ServerSettings())
    names = [photo(tmp_path / f"{number}.png").name for number in range(MAX_OPEN_PHOTOS + 1)]
    recipe = photos.open(names[0]).open_editor().adjust("exposure", 1).recipe
    for name in names[1:]:
        photos.open(name)
    assert photos.open(names[0]).recipe == recipe
    photos.forget(names[0])
    assert not photos.open(names[0]).recipe.steps


def test_a_photo_with_a_sidecar_is_still_an_original(tmp_path: Path) -> None:
    """`t2o serve` writes sidecars beside the photos that it opens."""
    original = photo(tmp_path / "a.png")
    sidecar_path(original).write_text('{"schema_version": 1, "steps": []}')
    result = photo(tmp_path / "a-edited.png")
    sidecar_path(result).write_text('{"schema_version": 1, "steps": []}')
    folders = AllowedFolders.open([tmp_path])
    with pytest.raises(OutputError, match="originals"):
        folders.check_output(original, overwrite=True)
    assert folders.check_output(result, overwrite=True) == result


def test_a_cancelled_call_writes_nothing(tmp_path: Path) -> None:
    photo(tmp_path / "a.png")
    darkroom = Darkroom(AllowedFolders.open([tmp_path]), ServerSettings())
    darkroom.call("adjust", {"photo": "a.png", "operation": "exposure", "values": 1}, threading.Event())
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        darkroom.call("export", {"photo": "a.png"}, stop)
    darkroom._cancel = stop  # given up while it runs
    with pytest.raises(Cancelled):
        darkroom.export("a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


# ---- the command


def test_without_the_extra(t2o: T2O, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "t2onet.mcp.server", raising=False)
    text = "t2o: serving agents needs an extra: pip install 't2onet[mcp]'\n"
    assert t2o("mcp", tmp_path) == (2, "", text)


def test_a_folder_that_is_not_there(t2o: T2O, tmp_path: Path) -> None:
    answer = t2o("mcp", tmp_path / "gone")
    assert (answer.code, answer.out) == (2, "")
    assert "is not a folder" in answer.err


def test_help_does_not_load_the_sdk() -> None:
    assert not {"mcp", "anyio", "numpy"} & list_loaded_modules(RUN.format(arguments=["mcp", "--help"]))

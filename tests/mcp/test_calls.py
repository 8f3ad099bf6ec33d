"""`t2o mcp`: what the tools do, called by the SDK's client over stdio."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import MCPError, types

from t2onet import Recipe, open_image
from t2onet.cli.edit_json import PhotoEntry
from t2onet.looks import looks
from t2onet.mcp.declarations import list_tools
from t2onet.mcp.photos import measure_picture, read_exif
from t2onet.mcp.tools import Darkroom
from t2onet.operations import PAPER, declarations
from tests.cli.helpers import T2O, pixels
from tests.mcp.helpers import Agent, serving

PHOTOS = ("trail.jpg", "drum.jpg", "fig.jpg")


@pytest.fixture(autouse=True)
def _begin_anew(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test finds photos without an edit."""
    yield
    if "agent" in request.fixturenames:
        for name in PHOTOS:
            request.getfixturevalue("agent")("reset", photo=name)


# ---- what there is


def test_every_tool_and_argument_is_explained(agent: Agent) -> None:
    tools = agent.portal.call(agent.client.list_tools).tools
    assert [tool.name for tool in tools] == [one.name for one in list_tools(Darkroom)]
    for tool in tools:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in one for one in tool.input_schema.get("properties", {}).values()), (
            tool.name
        )
        assert tool.annotations
        assert tool.annotations.open_world_hint is False
    writing = {tool.name for tool in tools if tool.annotations and tool.annotations.destructive_hint}
    assert writing == {"export", "export_look"}


def test_operations_are_those_declared(agent: Agent) -> None:
    listed = agent("list_operations")["operations"]
    assert [one["name"] for one in listed] == list(declarations())
    assert agent("list_operations", name="exposure")["operations"] == [
        one for one in listed if one["name"] == "exposure"
    ]
    read = agent.portal.call(agent.client.read_resource, "t2onet://operations")
    (contents,) = read.contents
    assert isinstance(contents, types.TextResourceContents)
    assert json.loads(contents.text) == {"operations": listed}


def test_there_is_one_resource(agent: Agent) -> None:
    (found,) = agent.portal.call(agent.client.list_resources).resources
    assert str(found.uri) == "t2onet://operations"
    with pytest.raises(MCPError, match="no resource"):
        agent.portal.call(agent.client.read_resource, "file:///etc/passwd")


def test_looks_are_those_of_the_package(agent: Agent) -> None:
    assert [one["name"] for one in agent("list_looks")["looks"]] == list(looks())


# ---- photos


def test_photos_are_listed_without_hidden_ones_and_links_outside(agent: Agent) -> None:
    listed = agent("list_photos")
    shown = {one["photo"] for one in listed["photos"]}
    usual = {*PHOTOS, "dogs.jpg", "deep.png", "inner.jpg", "trip/beach.png", "trip/überall schön.png"}
    assert usual <= shown
    assert (
        not {".hidden.png", "link.jpg", "linked/private.jpg", "dangling.jpg", "pipe.jpg", "loop.jpg"} & shown
    )
    assert not listed["more"]
    assert [one["photo"] for one in agent("list_photos", folder="trip")["photos"]] == [
        "trip/beach.png",
        "trip/überall schön.png",
    ]
    assert "trip/beach.png" not in {one["photo"] for one in agent("list_photos", recursive=False)["photos"]}
    first = agent("list_photos", limit=2)
    assert (first["photos"], first["more"]) == (listed["photos"][:2], True)


def test_a_photo_is_described(agent: Agent) -> None:
    told = agent("describe_photo", photo="trail.jpg")
    image = open_image(agent.folder / "trail.jpg")
    assert (told["width"], told["height"], told["format"], told["bits"]) == (
        image.width,
        image.height,
        "JPEG",
        8,
    )
    assert told["camera"] == {"camera make": "Maker", "camera": "Camera 9000", "exposure time (s)": 0.005}
    assert told["statistics"] == measure_picture(image.pixels)
    assert {"sky", "vegetation"} <= {place["name"] for place in told["places"]}
    assert (told["measured"], told["edit"]["recipe"]["steps"]) == ("as opened", [])


def test_statistics_of_three_pixels() -> None:
    picture = np.array([[[0, 0, 0], [255, 255, 255], [119, 119, 119]]], np.uint8)
    told = measure_picture(picture)
    assert told["lightness"] == pytest.approx((0 + 100 + 50.03) / 3, abs=0.01)
    assert (told["warmth"], told["redness"], told["colourfulness"]) == (0, 0, 0)
    assert told["clipped_shadows"] == told["clipped_highlights"] == pytest.approx(1 / 3, abs=1e-4)
    assert told["lightness_histogram"] == [0.3333, 0, 0, 0, 0, 0.3333, 0, 0, 0, 0.3333]


@pytest.mark.parametrize("block", [None, b"", b"II*\0\x08\0\0\0\xff\xff", b"MM\0*garbage", b"\xff" * 50])
def test_damaged_exif_is_none(block: bytes | None) -> None:
    assert read_exif(block) == {}


def test_the_edit_can_be_measured(agent: Agent) -> None:
    before = agent("describe_photo", photo="drum.jpg")["statistics"]
    agent("adjust", photo="drum.jpg", operation="exposure", values=1)
    after = agent("describe_photo", photo="drum.jpg", edited=True)["statistics"]
    assert after["lightness"] > before["lightness"] + 5
    assert agent("describe_photo", photo="drum.jpg")["statistics"] == before


# ---- edits


def test_an_edit_is_the_one_of_the_command(agent: Agent, t2o: T2O, tmp_path: Path) -> None:
    request = "half a stop brighter, less yellow, but keep the contrast, and remove the dog"
    told = agent("edit", photo="drum.jpg", request=request)
    answer = t2o("edit", agent.folder / "drum.jpg", request, "-o", tmp_path / "drum.jpg", "--json")
    (printed,) = json.loads(answer.out)
    shared = told.keys() & PhotoEntry.model_fields.keys()
    assert {"wishes", "declined", "limits", "recipe", "steps", "description", "explanation", "mode"} <= shared
    assert {name: told[name] for name in shared} == {name: printed[name] for name in shared}
    assert told["answered"]
    assert told["reply"] == told["explanation"].splitlines()[0]
    assert [wish["outcome"] for wish in told["wishes"]] == ["done", "done", "kept", "declined"]


def test_a_conversation(agent: Agent) -> None:
    first = agent("edit", photo="trail.jpg", request="one stop brighter")
    assert first["recipe"]["steps"] == [{"operation": "exposure", "parameters": [1.0]}]
    less = agent("follow", photo="trail.jpg", request="a bit less")
    assert 0 < less["recipe"]["steps"][0]["parameters"][0] < 1
    assert agent("follow", photo="trail.jpg", request="undo that")["recipe"] == first["recipe"]
    assert agent("redo", photo="trail.jpg")["recipe"] == less["recipe"]
    sky = agent("follow", photo="trail.jpg", request="now darken the sky")
    assert [step["where"] for step in sky["steps"]] == [None, "sky"]
    assert agent("follow", photo="trail.jpg", request="why?")["recipe"] == sky["recipe"]
    assert agent("undo", photo="trail.jpg")["recipe"] == less["recipe"]
    assert agent("edit", photo="trail.jpg", request="one stop brighter")["recipe"] == first["recipe"]
    assert agent("reset", photo="trail.jpg")["recipe"]["steps"] == []
    assert agent("describe_photo", photo="trail.jpg")["edit"]["can_undo"] is False


def test_photos_have_conversations_of_their_own(agent: Agent) -> None:
    agent("edit", photo="trail.jpg", request="one stop brighter")
    agent("edit", photo="drum.jpg", request="one stop darker")
    followed = agent("follow", photo="trail.jpg", request="more")
    assert followed["recipe"]["steps"][0]["parameters"][0] > 1
    linked = str(agent.folder / "inner.jpg")
    agent("edit", photo=linked, request="one stop darker")
    assert agent("describe_photo", photo="dogs.jpg")["edit"]["settings"] == "Exposure -1.00 EV"
    agent("reset", photo="dogs.jpg")


def test_expert_and_free(agent: Agent) -> None:
    expert = agent("edit", photo="drum.jpg", request="fix this", mode="expert")
    assert (expert["mode"], expert["reader"], bool(expert["steps"])) == ("expert", "default", True)
    free = agent("edit", photo="drum.jpg", request="brighter", reader="free")
    assert (free["reader"], free["answered"]) == ("free", True)
    assert agent("follow", photo="drum.jpg", request="a bit more")["reader"] == "default"


def test_a_part_of_a_photo(agent: Agent) -> None:
    for where in (
        "shadows",
        '{"linear": {"from": [0, 0], "to": [0, 1]}}',
        {"of": "highlights", "invert": True},
    ):
        told = agent("edit", photo="trail.jpg", request="brighter", where=where)
        assert {step["masked"] for step in told["steps"]} == {True}, where


def test_values_by_hand(agent: Agent) -> None:
    told = agent("adjust", photo="fig.jpg", operation="white_balance", values={"temperature": 12})
    assert told["settings"] == "Temperature +12"
    told = agent("adjust", photo="fig.jpg", operation="white_balance", values='{"tint": 5}')
    assert told["settings"] == "Temperature +12, tint +5"
    told = agent("adjust", photo="fig.jpg", operation="exposure", values=-0.5, where="highlights")
    assert [step["where"] for step in told["steps"]] == [None, "highlights"]
    told = agent("adjust", photo="fig.jpg", operation="tone", values=[1, 1, 1.2, 1, 1, 1, 1, 1])
    assert len(told["steps"]) == 3
    place = [step["operation"] for step in told["steps"]].index("white_balance") + 1
    told = agent("remove_step", photo="fig.jpg", step=place)
    assert "white_balance" not in [step["operation"] for step in told["steps"]]
    assert agent("undo", photo="fig.jpg")["settings"].startswith("Temperature +12, tint +5")


def test_strength(agent: Agent) -> None:
    agent("adjust", photo="fig.jpg", operation="exposure", values=1)
    assert agent("set_strength", photo="fig.jpg", strength=0.5)["settings"] == "Exposure +0.50 EV"
    assert agent("set_strength", photo="fig.jpg", strength=2)["settings"] == "Exposure +2.00 EV"
    assert agent("set_strength", photo="fig.jpg", strength=1)["settings"] == "Exposure +1.00 EV"


@pytest.mark.parametrize("request_", ["mach es heller", "もっと明るく", "сделай ярче", "🙂🙂 a", "x" * 2000])
def test_what_cannot_be_done_is_said(agent: Agent, request_: str) -> None:
    told = agent("edit", photo="fig.jpg", request=request_)
    assert (told["answered"], told["steps"]) == (False, [])
    assert told["reply"].endswith("nothing was changed.")


# ---- pictures


def test_rendering(agent: Agent) -> None:
    reply = agent.try_tool("render", photo="trail.jpg", size=100)
    assert reply.decode().shape == (reply.data["height"], reply.data["width"], 3)
    assert max(reply.data["width"], reply.data["height"]) == 100
    agent("adjust", photo="trail.jpg", operation="exposure", values=2)
    agent("adjust", photo="trail.jpg", operation="rotate", values=90)
    edited = agent.try_tool("render", photo="trail.jpg", size=2048, format="png")
    original = agent.try_tool("render", photo="trail.jpg", size=2048, format="png", original=True)
    assert edited.decode().shape == original.decode().shape == (213, 160, 3)
    assert edited.decode().mean() > original.decode().mean() + 20
    turned = np.rot90(open_image(agent.folder / "trail.jpg").pixels, -1)
    assert np.array_equal(original.decode(), turned)


def test_places(agent: Agent) -> None:
    told = agent("places", photo="trail.jpg")
    shares = {place["name"]: place["share"] for place in told["places"]}
    assert "sky" in shares
    assert {"shadows", "reds", "top", "sky"} <= set(told["words"])
    sky = agent.try_tool("places", photo="trail.jpg", where="sky", mask=True, size=120)
    assert sky.decode().shape == (sky.data["height"], sky.data["width"])
    assert sky.data["share"] == pytest.approx(shares["sky"], abs=0.03)
    rest = agent("places", photo="trail.jpg", where={"of": "sky", "invert": True})["share"]
    assert rest == pytest.approx(1 - sky.data["share"], abs=0.01)


# ---- plans and looks


@pytest.mark.slow
def test_a_plan_is_applied(agent: Agent) -> None:
    made = Recipe.from_steps([("exposure", 0.5), ("saturation", -0.3)])
    (agent.folder / "plans").mkdir()
    from t2onet import apply

    apply(made, agent.folder / "fig.jpg").save(agent.folder / "plans" / "after.png")
    told = agent("plan", before="fig.jpg", after="plans/after.png")
    assert told["cost"] < told["start_cost"] / 3
    assert told["explained"]
    assert agent("apply_look", photo="fig.jpg", look=told["recipe"])["recipe"] == told["recipe"]
    paper = agent("plan", before="fig.jpg", after="plans/after.png", operations="paper")
    assert {step["operation"] for step in paper["steps"]} <= set(PAPER)


def test_looks_by_name_recipe_and_file(agent: Agent) -> None:
    look = looks()["teal and orange"].recipe
    told = agent("apply_look", photo="fig.jpg", look="Teal and Orange")
    assert Recipe.from_data(told["recipe"]) == look
    told = agent("apply_look", photo="fig.jpg", look="teal and orange", strength=0.5)
    assert Recipe.from_data(told["recipe"]) == look.blend(0.5)
    told = agent("apply_look", photo="fig.jpg", look="look.json")
    assert Recipe.from_data(told["recipe"]) == Recipe.load(agent.folder / "look.json")
    told = agent("apply_look", photo="drum.jpg", look=json.dumps(told["recipe"]))
    assert told["settings"] == "Brightness +0.20, saturation -0.50"


# ---- files


@pytest.mark.parametrize(
    ("name", "output"), [("drum.jpg", None), ("drum.jpg", "drum-2.webp"), ("deep.png", "trip/deep-2.png")]
)
def test_an_export_is_what_apply_writes(
    agent: Agent, t2o: T2O, tmp_path: Path, name: str, output: str | None
) -> None:
    agent("edit", photo=name, request="brighter and more contrast, darken the top, crop it square")
    told = agent("export", photo=name, output=output)
    written = agent.folder / told["target"]
    assert told["target"] == (output or "drum-edited.jpg")
    assert told["bytes"] == written.stat().st_size
    same = tmp_path / written.name
    answer = t2o("apply", agent.folder / told["sidecar"], agent.folder / name, "-o", same)
    assert answer.code == 0
    assert written.read_bytes() == same.read_bytes()
    assert Recipe.load(agent.folder / told["sidecar"]) == Recipe.from_data(told["recipe"])
    agent("reset", photo=name)


def test_an_export_without_a_recipe_beside_it(agent: Agent) -> None:
    agent("adjust", photo="fig.jpg", operation="exposure", values=1)
    told = agent("export", photo="fig.jpg", output="plain.jpg", sidecar=False, quality=40)
    assert told["sidecar"] is None
    assert not (agent.folder / "plain.jpg.t2o.json").exists()
    again = agent("export", photo="fig.jpg", output="plain.jpg", quality=90, overwrite=True)
    assert again["bytes"] > told["bytes"]
    stale = agent("export", photo="fig.jpg", output="plain.jpg", sidecar=False, overwrite=True)
    assert any("earlier edit" in note for note in stale["notes"])
    shown = agent("apply_look", photo="drum.jpg", look="plain.jpg")
    assert shown["settings"] == "Exposure +1.00 EV", "the recipe beside a picture is found by its name"


def test_a_photo_without_an_edit_is_copied(agent: Agent) -> None:
    told = agent("export", photo="fig.jpg", output="copy.jpg")
    assert (agent.folder / told["target"]).read_bytes() == (agent.folder / "fig.jpg").read_bytes()


@pytest.mark.slow
def test_tables_for_other_programs(agent: Agent, t2o: T2O, tmp_path: Path) -> None:
    told = agent("export_look", look="teal and orange", output="teal.cube")
    t2o("export", "teal and orange", tmp_path / "teal.cube")
    assert (agent.folder / "teal.cube").read_bytes() == (tmp_path / "teal.cube").read_bytes()
    assert told["size"] == 33
    agent("adjust", photo="fig.jpg", operation="clarity", values=30)
    agent("adjust", photo="fig.jpg", operation="exposure", values=0.5)
    told = agent("export_look", photo="fig.jpg", output="trip/fig.xmp")
    assert (told["target"], told["table"]) == ("trip/fig.xmp", "trip/fig.png")
    assert any("clarity" in note for note in told["notes"])
    assert pixels(agent.folder / "trip" / "fig.png").shape == (1728, 1728, 3)
    again = agent("export_look", look="teal and orange", output="trip/fig.xmp", overwrite=True)
    assert again["notes"] == [note for note in told["notes"] if "clarity" not in note]


def test_a_photo_that_changes_is_opened_anew(agent: Agent) -> None:
    path = agent.folder / "changing.png"
    PIL.Image.new("RGB", (40, 30), "grey").save(path)
    agent("adjust", photo="changing.png", operation="exposure", values=1)
    PIL.Image.new("RGB", (50, 30), "white").save(path)
    assert "changed on disk" in agent.refuse("render", photo="changing.png")
    assert agent("reset", photo="changing.png")["recipe"]["steps"] == []
    assert agent("describe_photo", photo="changing.png")["width"] == 50


@pytest.mark.slow
def test_clients_of_the_first_protocol_are_served(places: tuple[Path, Path]) -> None:
    """And what a server that only reads cannot do."""
    with serving(*places, "--read-only", "--reader", "free", mode="legacy") as agent:
        assert agent("edit", photo="trail.jpg", request="brighter")["reader"] == "free"
        assert "there is no tool 'export'" in agent.refuse("export", photo="trail.jpg")
        names = {tool.name for tool in agent.portal.call(agent.client.list_tools).tools}
        assert "render" in names
        assert not {"export", "export_look"} & names


def test_a_call_can_be_cancelled(agent: Agent) -> None:
    given = {"before": "trail.jpg", "after": "drum.jpg"}
    for _ in range(3):
        agent.portal.start_task_soon(agent.client.call_tool, "plan", given).cancel()
    assert agent("render", photo="trail.jpg", size=64)["width"] == 64


def test_parallel_calls_are_answered(agent: Agent) -> None:
    calls: list[Any] = [
        agent.portal.start_task_soon(agent.client.call_tool, "render", {"photo": name, "size": 64})
        for name in PHOTOS * 4
    ]
    assert [call.result().is_error for call in calls] == [False] * len(calls)

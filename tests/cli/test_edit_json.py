"""`t2o edit --json`: what became of each photo, as data that programs can rely on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from pydantic import TypeAdapter

import t2onet
from t2onet import Recipe
from t2onet.cli.edit_json import PhotoEntry, make_edit_json_schema
from tests.cli.helpers import T2O
from tests.conftest import EXAMPLES, open_example

ADAPTER = TypeAdapter(list[PhotoEntry])

PROMISED: dict[str, set[str]] = {
    "PhotoEntry": {
        *("schema_version", "source", "target", "outcome", "notes", "error", "errors", "request", "mode"),
        *("strength", "explanation", "told", "sidecar", "description", "recipe", "steps", "variants"),
        *("declined", "limits", "wishes", "reader"),
    },
    "VariantEntry": {"number", "outcome", "picture", "sidecar", "description", "recipe", "steps"},
    "StepEntry": {"operation", "parameters", "masked", "sentence", "reasons"},
    "DeclinedEntry": {"words", "verdict", "reason"},
    "LimitEntry": {"attribute", "direction", "kept", "phrase"},
    "WishEntry": {
        *(
            "words",
            "what",
            "role",
            "direction",
            "amount",
            "number",
            "unit",
            "where",
            "hue",
            "outcome",
            "reason",
        )
    },
    "ErrorEntry": {"kind", "message"},
}
"""Fields that programs may rely on; more may be added, none may go."""


@pytest.fixture
def dogs(folder: Path) -> Path:
    """The folder with `dogs.png`, small."""
    PIL.Image.fromarray(np.asarray(open_example("dogs", 120))).save("dogs.png")
    return folder


def edit(t2o: T2O, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """The entries, after they were held against the schema."""
    answer = t2o("edit", *arguments, "--json")
    assert (answer.code, answer.err) == (code, "")
    ADAPTER.validate_json(answer.out, strict=True)
    entries: list[dict[str, Any]] = json.loads(answer.out)
    return entries


def test_nothing_that_was_promised_is_gone() -> None:
    definitions = make_edit_json_schema()["$defs"]
    for name, fields in PROMISED.items():
        assert fields <= set(definitions[name]["properties"])
        assert fields <= set(definitions[name]["required"])
        assert definitions[name].get("additionalProperties", True), "old schemas must fit new answers"


def test_an_answer_is_valid_by_the_published_schema(t2o: T2O, dogs: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    published = json.loads((EXAMPLES.parent / "docs" / "edit.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(edit(t2o, "dogs.png", "brighter"), published)


def test_recipe_steps_and_reasons(t2o: T2O, dogs: Path) -> None:
    (entry,) = edit(t2o, "dogs.png", "make it brighter and more saturated")
    assert (entry["schema_version"], entry["mode"], entry["outcome"]) == (1, "literal", "done")
    assert entry["request"] == "make it brighter and more saturated"
    assert (entry["source"], entry["target"]) == ("dogs.png", "dogs-edited.png")
    assert entry["sidecar"] == "dogs-edited.png.t2o.json"
    assert entry["recipe"] == json.loads(Path(entry["sidecar"]).read_text(encoding="utf-8"))
    recipe = Recipe.from_data(entry["recipe"])
    assert entry["description"] == recipe.describe()
    found = t2onet.edit("dogs.png", entry["request"])
    assert [tuple(step["reasons"]) for step in entry["steps"]] == list(found.reasons)
    assert {"brighter", "saturated"} <= {word for step in entry["steps"] for word in step["reasons"]}
    for told, step in zip(entry["steps"], recipe.steps, strict=True):
        assert (told["operation"], told["parameters"]) == (step.operation, list(step.parameters))
        assert (told["sentence"], told["masked"]) == (step.describe(), False)
    assert entry["told"] == found.explain()
    assert (entry["error"], entry["errors"], entry["declined"], entry["limits"]) == (None, [], [], [])
    (variant,) = entry["variants"]
    for field in ("sidecar", "description", "recipe", "steps"):
        assert variant[field] == entry[field]
    assert (variant["number"], variant["picture"], variant["outcome"]) == (1, "dogs-edited.png", "done")


def test_every_path_was_written(t2o: T2O, dogs: Path) -> None:
    (entry,) = edit(t2o, "dogs.png", "more contrast and warmer", "--variants", "3", "-o", "out")
    assert [one["number"] for one in entry["variants"]] == [1, 2, 3]
    paths = [one[kind] for one in entry["variants"] for kind in ("picture", "sidecar")]
    assert entry["target"] == paths[0]
    assert sorted(paths) == sorted(map(str, Path("out").iterdir()))
    for one in entry["variants"]:
        assert Recipe.from_data(one["recipe"]) == Recipe.load(one["sidecar"])
    assert len({json.dumps(one["recipe"]) for one in entry["variants"]}) == 3


def test_without_sidecars_there_is_still_a_recipe(t2o: T2O, dogs: Path) -> None:
    (entry,) = edit(t2o, "dogs.png", "brighter", "--no-sidecar")
    assert entry["sidecar"] is None
    assert Recipe.from_data(entry["recipe"]).steps


@pytest.mark.parametrize("option", ["--mode", "--manner"])
def test_the_mode(t2o: T2O, dogs: Path, option: str) -> None:
    (entry,) = edit(t2o, "dogs.png", "brighter", option, "expert", "--strength", "0.5")
    assert (entry["mode"], entry["strength"]) == ("expert", 0.5)


def test_what_was_declined(t2o: T2O, dogs: Path) -> None:
    (part,) = edit(t2o, "dogs.png", "make it brighter and remove the dog")[0]["declined"]
    assert (part["words"], part["verdict"]) == ("remove dog", "remove")
    assert "cannot be removed" in part["reason"]
    (whole,) = edit(t2o, "dogs.png", "remove the dog", code=2)
    assert (whole["outcome"], whole["recipe"], whole["variants"]) == ("refused", None, [])
    assert whole["declined"] == [part]
    assert whole["errors"] == [{"kind": "Declined", "message": whole["error"]}]


def test_what_had_to_stay(t2o: T2O, dogs: Path) -> None:
    (entry,) = edit(t2o, "dogs.png", "warmer, but not darker and not too much")
    limits = {(one["attribute"], one["direction"]): one for one in entry["limits"]}
    assert limits.keys() == {("lightness", "less"), ("amount", "more")}
    assert limits["lightness", "less"]["kept"]
    assert "not darker" in limits["lightness", "less"]["phrase"]


def test_what_was_read_in_a_request_and_what_became_of_it(t2o: T2O, dogs: Path) -> None:
    request = (
        "brighten it by half a stop, a bit warmer, keep the contrast, lift the shadows and remove the dog"
    )
    (entry,) = edit(t2o, "dogs.png", request)
    fields = ("what", "role", "direction", "amount", "where", "outcome")
    assert [tuple(wish[field] for field in fields) for wish in entry["wishes"]] == [
        ("lightness", "ask", "up", "plain", "whole", "done"),
        ("warmth", "ask", "up", "little", "whole", "done"),
        ("contrast", "limit", "fix", "plain", "whole", "kept"),
        ("lightness", "ask", "up", "plain", "shadows", "done"),
        ("remove", "ask", "none", "plain", "thing", "declined"),
    ]
    assert [(wish["number"], wish["unit"]) for wish in entry["wishes"]] == [
        (0.5, "stops"),
        *[(None, None)] * 4,
    ]
    assert [wish["words"] for wish in entry["wishes"]][1] == "a bit warmer"
    assert [bool(wish["reason"]) for wish in entry["wishes"]] == [False] * 4 + [True]
    assert entry["wishes"][-1]["reason"] == entry["declined"][0]["reason"]
    (question,) = edit(t2o, "dogs.png", "what did you do?", code=2)
    assert [wish["what"] for wish in question["wishes"]] == ["question"]


def test_each_photo_has_its_own_errors(t2o: T2O, dogs: Path) -> None:
    Path("bad.png").write_bytes(b"no photo")
    Path("out").mkdir()
    Path("out/taken.png").write_bytes(b"mine")
    Path("taken.png").write_bytes(Path("dogs.png").read_bytes())
    bad, good, taken = edit(t2o, "bad.png", "dogs.png", "taken.png", "brighter", "-o", "out", code=2)
    assert [one["outcome"] for one in (bad, good, taken)] == ["refused", "done", "refused"]
    assert [one["errors"][0]["kind"] for one in (bad, taken)] == ["ImageError", "OutputError"]
    assert bad["errors"][0]["message"] == bad["error"]
    assert bad["target"] == "out/bad.png"
    assert good["errors"] == []


def test_a_skipped_photo_has_the_recipe_of_its_sidecar(t2o: T2O, dogs: Path) -> None:
    (first,) = edit(t2o, "dogs.png", "brighter")
    (again,) = edit(t2o, "dogs.png", "brighter", "--skip-existing")
    assert (again["outcome"], again["told"]) == ("skipped", "")
    assert (again["recipe"], again["sidecar"]) == (first["recipe"], first["sidecar"])
    assert [one["outcome"] for one in again["variants"]] == ["skipped"]
    assert [step["reasons"] for step in again["steps"]] == [[]] * len(first["steps"])


def test_variants_that_existed_have_the_recipes_of_their_files(t2o: T2O, dogs: Path) -> None:
    request = ["dogs.png", "more contrast and warmer", "--variants", "2"]
    (first,) = edit(t2o, *request)
    for name in ("dogs-edited-2.png", "dogs-edited-2.png.t2o.json"):
        Path(name).unlink()
    (again,) = edit(t2o, *request, "--skip-existing")
    assert again["outcome"] == "done"
    kept, new = again["variants"]
    assert (kept["outcome"], kept["recipe"]) == ("skipped", first["recipe"])
    assert [step["reasons"] for step in kept["steps"]] == [[]] * len(first["steps"])
    assert new == first["variants"][1]


def test_no_recipe_is_claimed_of_a_picture_without_one(t2o: T2O, dogs: Path) -> None:
    options = ["--variants", "2", "--no-sidecar"]
    edit(t2o, "dogs.png", "brighter", *options)
    Path("dogs-edited-2.png").unlink()
    (again,) = edit(t2o, "dogs.png", "darker", *options, "--skip-existing")
    kept, new = again["variants"]
    assert (kept["outcome"], kept["recipe"], kept["steps"]) == ("skipped", None, [])
    assert (new["outcome"], bool(new["recipe"])) == ("done", True)


@pytest.mark.skipif(sys.platform != "linux", reason="only there are names plain bytes")
def test_a_name_that_is_no_text(t2o: T2O, dogs: Path) -> None:
    name = os.fsdecode(b"K\xf6ln.png")
    Path("dogs.png").rename(name)
    answer = t2o("edit", name, "brighter", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)[0]["variants"][0]["picture"] == os.fsdecode(b"K\xf6ln-edited.png")

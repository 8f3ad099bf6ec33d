"""The other commands: describe, export, looks, ops, and what belongs to `t2o` itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import t2onet
from t2onet import Mask, Recipe
from t2onet.looks import export_recipe, find_look, looks
from t2onet.operations import declarations
from tests.cli.helpers import LOOK, T2O, contents, process

# ---- describe


def test_describe(t2o: T2O, folder: Path) -> None:
    assert t2o("describe", "look.json") == (
        0,
        "look: 20 % brighter and 50 % less colourful.\n"
        "  1. brightness +0.20  20 % brighter\n"
        "  2. saturation -0.50  50 % less colourful\n",
        "",
    )


def test_describe_nothing(t2o: T2O, folder: Path) -> None:
    Recipe().save("empty.json")
    assert t2o("describe", "empty.json") == (0, "empty: Changes nothing.\n", "")


@pytest.mark.parametrize(
    ("file", "name", "shown"),
    [
        ("silver.json", "Old silver", "Old silver"),
        ("silver.json", "", "silver"),
        ("a.jpg.t2o.json", "", "a"),
        ("silver.json", "bell\x07\nring", "bell\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}ring"),
    ],
)
def test_describe_names_the_look(t2o: T2O, folder: Path, file: str, name: str, shown: str) -> None:
    Recipe(name=name).save(file)
    assert t2o("describe", file) == (0, f"{shown}: Changes nothing.\n", "")
    told = json.loads(t2o("describe", file, "--json").out)["name"]
    assert told == (name or shown)


def test_describe_as_json(t2o: T2O, folder: Path) -> None:
    mask = Mask.from_array(np.ones((2, 2), bool))
    Recipe.from_steps([("contrast", 0.5, mask), ("brightness", 0)], name="Märzlicht").save("local.json")
    answer = t2o("describe", "local.json", "--json")
    assert answer.code == 0
    assert json.loads(answer.out) == {
        "name": "Märzlicht",
        "description": "Märzlicht: 50 % more contrast locally.",
        "settings": "Contrast +0.50 (local)",
        "steps": [
            {
                "operation": "contrast",
                "parameters": [0.5],
                "masked": True,
                "does": "50 % more contrast locally",
                "settings": "contrast +0.50 (local)",
            },
            {
                "operation": "brightness",
                "parameters": [0.0],
                "masked": False,
                "does": "brightness unchanged",
                "settings": "brightness unchanged",
            },
        ],
    }


def test_describe_the_difference(t2o: T2O, folder: Path) -> None:
    Recipe.from_steps([("contrast", 0.1), ("brightness", -0.2)]).save("other.json")
    changes = [
        "added as step 1: 10 % more contrast",
        "changed, step 2: brightness +0.20 -> brightness -0.20",
        "removed, was step 2: 50 % less colourful",
    ]
    assert t2o("describe", "look.json", "--diff", "other.json") == (0, "\n".join(changes) + "\n", "")
    answer = t2o("describe", "look.json", "--diff", "other.json", "--json")
    assert json.loads(answer.out) == {"changes": changes}


def test_describe_no_difference(t2o: T2O, folder: Path) -> None:
    LOOK.save("twin.json")
    assert t2o("describe", "look.json", "--diff", "twin.json") == (0, "The steps are the same.\n", "")
    assert json.loads(t2o("describe", "look.json", "--diff", "twin.json", "--json").out) == {"changes": []}


def test_describe_names_the_file_it_cannot_read(t2o: T2O, folder: Path) -> None:
    text = "t2o: gone.json does not exist; give the JSON file of a recipe\n"
    assert t2o("describe", "gone.json") == (2, "", text)
    assert t2o("describe", "look.json", "--diff", "gone.json") == (2, "", text)


# ---- export


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more", "size"), [("a.cube", (), 33), ("a.png", ("--size", 64), 64)])
def test_export_prints_the_measured_error(
    t2o: T2O, folder: Path, name: str, more: tuple[object, ...], size: int
) -> None:
    answer = t2o("export", "look.json", name, *more)
    done = export_recipe(LOOK, folder / f"same-{name}", size=size)
    assert done.fidelity.worst > 0.05, "so small an error would print as none"
    assert answer == (
        0,
        f"{name}: {size} entries a side; against the recipe itself, on random colours, "
        f"off by {done.fidelity.mean:.2f}/255 on average and {done.fidelity.worst:.1f}/255 at worst\n",
        "",
    )
    ours, same = (Path(path).read_bytes() for path in (name, f"same-{name}"))
    assert ours.replace(b'"a"', b"") == same.replace(b'"same-a"', b"")


@pytest.mark.slow
def test_export_says_what_it_left_out(t2o: T2O, folder: Path) -> None:
    Recipe.from_steps([("sharpness", -0.1), ("contrast", 0.2)]).save("sharp.json")
    note = "left out: sharpness (softer) looks at neighbouring pixels, which a colour table cannot do"
    assert t2o("export", "sharp.json", "a.cube").err == f"note: {note}\n"
    answer = t2o("export", "sharp.json", "b.cube", "--json")
    assert (answer.code, answer.err) == (0, "")
    data = json.loads(answer.out)
    assert data["notes"] == [note]
    assert (data["path"], data["size"]) == ("b.cube", 33)
    assert 0 < data["mean_error"] < data["worst_error"]


@pytest.mark.slow
def test_export_refuses(t2o: T2O, folder: Path) -> None:
    Recipe.from_steps([("contrast", 0.2, Mask.from_array(np.ones((2, 2), bool)))]).save("local.json")
    Path("mine.cube").write_text("mine")
    before = contents(folder)
    for arguments, text in [
        (
            ["look.json", "a.lut"],
            "a.lut: a look is written as .cube, .png, .pp3 or .xmp; give one of those endings",
        ),
        (
            ["look.json", "a.cube", "--size", "64"],
            "a .cube has 33 or 65 entries a side, not 64",
        ),
        (["look.json", "a.cube", "--size", "0"], "a .cube has 33 or 65 entries a side, not 0"),
        (
            ["look.json", "mine.cube"],
            "mine.cube exists already; give another name, or ask to replace it (--overwrite, overwrite=True)",
        ),
        (["look.json", "no/a.cube"], "no/a.cube cannot be written: there is no folder no; create it first."),
        (["gone.json", "a.cube"], "gone.json does not exist; give the JSON file of a recipe"),
        (
            ["local.json", "a.cube"],
            "a colour table can hold none of its steps (contrast works through a mask); "
            "keep the recipe as JSON",
        ),
    ]:
        assert t2o("export", *arguments) == (2, "", f"t2o: {text}\n")
    assert contents(folder) == before
    assert t2o("export", "look.json", "mine.cube", "--overwrite").code == 0
    assert Path("mine.cube").read_text().startswith("TITLE")


@pytest.mark.slow
def test_export_for_a_program_says_what_to_move(t2o: T2O, folder: Path) -> None:
    answer = t2o("export", "look.json", "a.xmp")
    assert answer.code == 0
    assert answer.out.startswith("a.xmp and a.png: 144 entries a side; ")
    assert answer.err.startswith("note: a.xmp applies a.png: move that to darktable's folder of 3D LUTs ")
    assert json.loads(t2o("export", "look.json", "b.pp3", "--json").out)["table"] == "b.png"


# ---- looks


def test_looks_are_listed_by_family(t2o: T2O) -> None:
    answer = t2o("looks")
    assert (answer.code, answer.err) == (0, "")
    families = [line for line in answer.out.splitlines() if not line.startswith(" ")]
    assert families == list(dict.fromkeys(look.family for look in looks().values()))
    for look in looks().values():
        assert f"  {look.name} " in answer.out
        assert f" {look.description}\n" in answer.out
    data = json.loads(t2o("looks", "--json").out)
    assert [Recipe.from_data(entry["recipe"]) for entry in data] == [one.recipe for one in looks().values()]


@pytest.mark.slow
def test_a_look_is_described_applied_and_exported_by_name(t2o: T2O, folder: Path) -> None:
    answer = t2o("describe", "High-Key")
    look = find_look("high key")
    sentence = look.recipe.describe()
    assert sentence.startswith("High key: ")
    assert answer.out.startswith(f"{look.description}\n{sentence}\n  1. exposure +0.90 EV")
    assert json.loads(t2o("describe", "high key", "--json").out)["about"] == look.description
    PIL.Image.new("RGB", (8, 6), (90, 100, 110)).save("photo.png")
    settings = look.recipe.format_settings()
    told = f"photo.png -> photo-high-key.png\n  {sentence}\n  {settings}\n"
    assert t2o("apply", "high key", "photo.png").out == told
    assert t2o("apply", "hihg key", "photo.png") == (
        2,
        "",
        "t2o: hihg key is neither a file nor the name of a look; did you mean 'high key' or 'low key'?\n",
    )
    assert t2o("export", "high key", "a.cube").code == 0
    assert Path("a.cube").read_text().startswith('TITLE "high key"')


# ---- ops


def test_ops_lists_every_operation(t2o: T2O) -> None:
    answer = t2o("ops")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.split()[:6] == ["operation", "parameter", "range", "default", "unit", "meaning"]
    first_words = [line.split()[0] for line in answer.out.splitlines() if not line.startswith(" ")]
    assert first_words == ["operation", *declarations()]
    for operation in declarations().values():
        for parameter in operation.parameters:
            assert f" {parameter.low:g} .. {parameter.high:g} " in answer.out
            row = parameter.name if parameter.count == 1 else f"{parameter.name} (x{parameter.count})"
            assert f" {row} " in answer.out


@pytest.mark.parametrize(("columns", "width"), [(None, 120), ("70", 70), ("200", 200)])
def test_ops_is_as_wide_as_it_is_told(
    t2o: T2O, monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    lines = t2o("ops").out.splitlines()
    assert max(map(len, lines)) <= width
    # And no narrower: only where there is room for all of it does the longest help stay on one line.
    longest = max((operation.help for operation in declarations().values()), key=len)
    assert any(longest in line for line in lines) == (width == 200)


def test_ops_as_json_is_the_declaration(t2o: T2O) -> None:
    data = json.loads(t2o("ops", "--json").out)
    assert [operation["name"] for operation in data] == list(declarations())
    for entry in data:
        operation = declarations()[entry["name"]]
        assert entry["help"] == operation.help
        for told, declared in zip(entry["parameters"], operation.parameters, strict=True):
            for field in ("name", "low", "high", "default", "unit", "help", "count"):
                assert told[field] == getattr(declared, field)


# ---- t2o itself


def test_version(t2o: T2O) -> None:
    assert t2o("--version") == (0, f"t2o {t2onet.__version__}\n", "")


def test_help_names_every_command(t2o: T2O) -> None:
    answer = t2o("--help")
    assert answer.code == 0
    for command in ("apply", "describe", "export", "ops"):
        assert f" {command} " in answer.out
        page = t2o(command, "--help")
        assert page.code == 0
        assert f"t2o {command}" in page.out


def test_help_has_a_short_name(t2o: T2O) -> None:
    assert t2o("-h") == t2o("--help")
    for command in ("apply", "describe", "export", "ops"):
        assert t2o(command, "-h") == t2o(command, "--help")


def test_without_arguments_there_is_help(t2o: T2O) -> None:
    answer = t2o()
    assert "Usage: t2o" in answer.out + answer.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["retouch"], "No such command 'retouch'"),
        (["apply"], "Missing argument"),
        (["apply", "look.json"], "Missing argument"),
        (["apply", "look.json", "sea.png", "--strong"], "No such option"),
        (["apply", "look.json", "sea.png", "--quality", "101"], "--quality"),
        (["apply", "look.json", "sea.png", "--jobs", "0"], "--jobs"),
        (["apply", "look.json", "sea.png", "--strength", "much"], "--strength"),
        (["apply", "look.json", "sea.png", "--radius", "wide"], "--radius"),
        (["apply", "look.json", "sea.png", "--max-megapixels", "0"], "--max-megapixels"),
        (["describe"], "Missing argument"),
        (["export", "look.json"], "Missing argument"),
    ],
)
def test_wrong_usage(t2o: T2O, folder: Path, arguments: list[str], text: str) -> None:
    before = contents(folder)
    answer = t2o(*arguments)
    assert answer.code == 2
    assert text in answer.err
    assert answer.out == ""
    assert contents(folder) == before


@pytest.mark.slow
def test_shell_completion(folder: Path) -> None:
    # What the shell asks for while someone types `t2o de<TAB>`.
    typed = {"_T2O_COMPLETE": "complete_bash", "COMP_WORDS": "t2o de", "COMP_CWORD": "1"}
    done = process(env=typed)
    assert (done.returncode, done.stdout.split()) == (0, ["describe"])


def test_the_completion_script(folder: Path) -> None:
    # What `t2o --show-completion` prints, without guessing the shell the tests run in.
    done = process(env={"_T2O_COMPLETE": "source_bash"})
    assert done.returncode == 0
    assert "_T2O_COMPLETE=complete_bash" in done.stdout
    assert done.stdout.split()[-1] == "t2o"

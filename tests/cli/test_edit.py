"""`t2o edit`: photos and a sentence -> edited photos with their recipes, or one line that says why not."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import torch

import t2onet
from t2onet import Recipe
from t2onet.editor import make_thumbnail
from t2onet.editor.networks import open_policy
from t2onet.language.vocabulary import SPECIAL, Vocabulary
from t2onet.models.files import NETWORK_KINDS, describe_network, write_tensors
from t2onet.models.t2onet import T2ONet, T2ONetConfig
from t2onet.options import READERS, ReaderName
from tests.cli.helpers import COMMAND, T2O, contents, environment, pixels, png_header
from tests.conftest import open_example
from tests.models.baselines.helpers import SMALL as BASELINES
from tests.models.helpers import SMALL as T2ONET


@pytest.fixture
def photo(folder: Path) -> Path:
    """The folder with `dogs.png`, small."""
    PIL.Image.fromarray(np.asarray(open_example("dogs", 120))).save("dogs.png")
    return folder


@pytest.mark.slow
def test_a_sentence_edits_a_photo(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "make it a bit brighter")
    assert (answer.code, answer.err) == (0, "")
    first, *told = answer.out.splitlines()
    assert first == "dogs.png -> dogs-edited.png"
    assert any("brighter" in line for line in told)
    assert pixels("dogs-edited.png").mean() > pixels("dogs.png").mean() + 3
    again = np.asarray(t2onet.apply(Recipe.load("dogs-edited.png.t2o.json"), "dogs.png"))
    assert np.array_equal(again, pixels("dogs-edited.png"))


def test_a_request_is_met_at_a_place_alone(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "a stop darker", "--where", "top")
    assert (answer.code, answer.err) == (0, "")
    (step,) = Recipe.load("dogs-edited.png.t2o.json").steps
    assert (step.operation, step.parameters, step.where) == ("exposure", (-1.0,), "top")
    change = pixels("dogs-edited.png").astype(float) - pixels("dogs.png")
    third = len(change) // 3
    assert change[:third].mean() < -10
    assert not change[-third:].any()


def test_a_request_is_met_through_a_mask(t2o: T2O, photo: Path) -> None:
    mask = np.zeros((8, 8), np.uint8)
    mask[:, :4] = 255
    PIL.Image.fromarray(mask).save("left.png")
    answer = t2o("edit", "dogs.png", "a stop darker", "--mask", "left.png")
    assert (answer.code, answer.err) == (0, "")
    change = pixels("dogs-edited.png").astype(float) - pixels("dogs.png")
    quarter = change.shape[1] // 4
    assert change[:, :quarter].mean() < -10
    assert not change[:, -quarter:].any()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--where", "top", "--mask", "dogs.png"), "a place and a mask were given"),
        (("--where", "tpo"), "'tpo'"),
        (("--mask", "none.png"), "none.png"),
    ],
)
def test_a_part_that_cannot_be_is_refused(
    t2o: T2O, photo: Path, options: tuple[str, ...], reason: str
) -> None:
    before = contents(photo)
    answer = t2o("edit", "dogs.png", "darker", *options)
    assert (answer.code, contents(photo)) == (2, before)
    assert reason in answer.err
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("name", READERS)
def test_a_reader_is_chosen_by_name(t2o: T2O, photo: Path, name: str, used_readers: list[ReaderName]) -> None:
    answer = t2o("edit", "dogs.png", "half a stop brighter", "--reader", name, "--json")
    assert (answer.code, set(used_readers)) == (0, {name})
    (entry,) = json.loads(answer.out)
    assert (entry["reader"], entry["settings"]) == (name, "Exposure +0.50 EV")
    declined = t2o("edit", "dogs.png", "remove the man", "--reader", name, "-o", "none.png")
    assert (declined.code, "Things cannot be removed from a photo" in declined.err) == (2, True)


@pytest.mark.parametrize("command", [("edit", "dogs.png", "brighter"), ("serve", "--no-browser")])
def test_a_name_that_no_reader_has_is_refused(t2o: T2O, photo: Path, command: tuple[str, ...]) -> None:
    before = contents(photo)
    answer = t2o(*command, "--reader", "other")
    assert (answer.code, answer.out) == (2, "")
    said = re.sub(r"[\s│]+", " ", answer.err)
    assert "Invalid value for '--reader'" in said
    assert "'other' is not one of 'default', 'free'" in said
    assert contents(photo) == before


def test_several_photos_and_a_folder(t2o: T2O, photo: Path) -> None:
    PIL.Image.open("dogs.png").rotate(180).save("turned.png")
    answer = t2o("edit", "dogs.png", "turned.png", "warmer", "-o", "out", "--no-sidecar")
    assert answer.code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["dogs.png", "turned.png"]


def test_variants_are_numbered_and_differ(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "more contrast and warmer", "--variants", "3", "--seed", "1")
    assert answer.code == 0
    named = [line for line in answer.out.splitlines() if not line.startswith(" ")]
    assert named == [f"dogs.png -> dogs-edited-{number}.png" for number in (1, 2, 3)]
    one, two, three = (pixels(f"dogs-edited-{number}.png").astype(int) for number in (1, 2, 3))
    assert min(np.abs(one - two).mean(), np.abs(one - three).mean(), np.abs(two - three).mean()) > 0.5


@pytest.mark.parametrize("variants", ["1", "2"])
def test_what_of_a_request_cannot_be_done_is_said(t2o: T2O, photo: Path, variants: str) -> None:
    answer = t2o("edit", "dogs.png", "make it brighter and remove the dog", "--variants", variants)
    assert answer.code == 0
    assert re.search("Not done, “[^”]*dog[^”]*”: things cannot be removed", answer.out)
    assert pixels(answer.out.split()[2]).mean() > pixels("dogs.png").mean()


def test_strength_zero_changes_nothing(t2o: T2O, photo: Path) -> None:
    t2o("edit", "dogs.png", "brighter", "--strength", "0")
    assert np.array_equal(pixels("dogs-edited.png"), pixels("dogs.png"))


def test_as_json(t2o: T2O, photo: Path) -> None:
    (told,) = json.loads(t2o("edit", "dogs.png", "brighter", "--json").out)
    assert told["target"] == "dogs-edited.png"
    assert told["explanation"] == told["told"] != ""


@pytest.mark.parametrize(
    ("request_", "reasons"),
    [
        ("remove the dog", ["hings cannot be removed"]),
        ("remove the dog and blur the background", ["hings cannot be removed", "cannot be blurred"]),
    ],
)
def test_what_cannot_be_done_is_one_line(t2o: T2O, photo: Path, request_: str, reasons: list[str]) -> None:
    before = contents(photo)
    answer = t2o("edit", "dogs.png", request_)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith("t2o: dogs.png: ")
    assert [reason for reason in reasons if answer.err.count(reason) != 1] == []
    assert answer.err.endswith("nothing was changed.\n")
    assert contents(photo) == before


@pytest.mark.parametrize("request_", ["undo that", "save it", "a bit more", "what did you do?"])
def test_what_is_said_about_an_earlier_edit_writes_nothing(t2o: T2O, photo: Path, request_: str) -> None:
    before = contents(photo)
    answer = t2o("edit", "dogs.png", request_)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert contents(photo) == before


@pytest.mark.parametrize("request_", ["make it brighter and save it", "undo that and make it brighter"])
def test_what_is_asked_beside_that_is_done(t2o: T2O, photo: Path, request_: str) -> None:
    answer = t2o("edit", "dogs.png", request_)
    assert (answer.code, answer.err) == (0, "")
    assert pixels("dogs-edited.png").mean() > pixels("dogs.png").mean()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dogs.png"], "a photo and a request are needed"),
        (["dogs.png", "dogs.png"], "dogs.png is a file, and the request comes last"),
        (["dogs.png", ""], "the request has no words"),
        (["dogs.png", "   "], "the request has no words"),
        (["nowhere.png", "brighter"], "nowhere.png"),
        (["dogs.png", "brighter", "--mode", "wild"], "wild"),
        (["dogs.png", "brighter", "--manner", "wild"], "wild"),
        (["dogs.png", "brighter", "--mode", "expert", "--manner", "literal"], "contradict each other"),
        (
            ["dogs.png", "brighter", "and", "warmer"],
            'put the request in quotes: t2o edit dogs.png "brighter and warmer"',
        ),
    ],
)
def test_refusals(t2o: T2O, photo: Path, arguments: list[str], said: str) -> None:
    before = contents(photo)
    answer = t2o("edit", *arguments)
    assert answer.code == 2
    assert said in answer.err
    assert contents(photo) == before


def test_the_old_name_of_the_mode_is_not_offered(t2o: T2O) -> None:
    told = t2o("edit", "--help").out
    assert "--mode" in told
    assert "manner" not in told


ENGLISH_ONLY = "Requests are read in English; nothing was changed."
NO_WORDS = "the request has no words; say what you want, such as 'a bit brighter'"
NOT_SEEN = "I found no wish about the photo in that; nothing was changed."


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("mach es heller", f"dogs.png: {ENGLISH_ONLY}"),
        ("plus lumineux s'il te plaît", f"dogs.png: {ENGLISH_ONLY}"),
        ("明るくして", f"dogs.png: {ENGLISH_ONLY}"),
        ("اجعلها أكثر سطوعا", f"dogs.png: {ENGLISH_ONLY}"),
        ("明" * 10_000, f"dogs.png: {ENGLISH_ONLY}"),
        ("🌞🔥😀", NO_WORDS),
        ("\x00\x07\x1b", NO_WORDS),
        ("\u200b\u202e", NO_WORDS),
        ("\x1b[31m", "dogs.png: There is nothing yet that this could be about; nothing was changed."),
        ("asdf qwer zxcv", f"dogs.png: {NOT_SEEN}"),
        ("<script>alert(1)</script>", f"dogs.png: {NOT_SEEN}"),
    ],
)
def test_no_request_of_use_is_one_line(t2o: T2O, photo: Path, request_: str, said: str) -> None:
    before = contents(photo)
    assert t2o("edit", "dogs.png", request_) == (2, "", f"t2o: {said}\n")
    assert contents(photo) == before


@pytest.mark.parametrize(
    "request_",
    [
        ("please make the photo brighter " * 400)[:10_000],
        "brighter\nand\tbrighter\r\n",
        "bright\u00ader, \x1b[31mplease\x07",
        "🌞 brighter 🔥",
        "ＢＲＩＧＨＴＥＲ",
        "make it brihgter plz",
    ],
)
def test_an_odd_request_is_read_nonetheless(t2o: T2O, photo: Path, request_: str) -> None:
    answer = t2o("edit", "dogs.png", request_)
    assert (answer.code, answer.err) == (0, "")
    assert pixels("dogs-edited.png").mean() > pixels("dogs.png").mean() + 1
    assert answer.out.replace("\n", "").isprintable()


@pytest.mark.parametrize("request_", ["'; DROP TABLE photos; --", "x" * 10_000, "{0} %s %n", "../../etc"])
def test_whatever_else_is_said_is_edited_or_declined(t2o: T2O, photo: Path, request_: str) -> None:
    answer = t2o("edit", "dogs.png", request_)
    done = answer.code == 0
    assert done or answer.err.endswith("nothing was changed.\n")
    assert Path("dogs-edited.png").exists() == Path("dogs-edited.png.t2o.json").exists() == done
    assert bool(answer.out) == done


def test_a_request_may_begin_with_a_minus(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "--", "-20% brightness")
    assert (answer.code, answer.err) == (0, "")
    assert pixels("dogs-edited.png").mean() < pixels("dogs.png").mean()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "bad.png is empty (0 bytes); copy it again."),
        (png_header(400, 300), "bad.png ends early: the file is damaged or was not fully copied"),
        (b"Dear diary, today I took no photo.", "bad.png does not look like a photo"),
        (png_header(100_000, 100_000), "bad.png claims to be 100000 x 100000 pixels"),
    ],
    ids=["empty", "cut off", "text", "huge"],
)
def test_a_bad_photo_is_one_line_and_the_others_are_edited(
    t2o: T2O, photo: Path, data: bytes, said: str
) -> None:
    Path("bad.png").write_bytes(data)
    answer = t2o("edit", "bad.png", "dogs.png", "brighter", "-o", "out")
    assert answer.code == 2
    assert answer.err.startswith(f"t2o: {said}")
    assert answer.err.endswith("\nt2o: 1 of 2 photos refused; the others are done\n")
    assert sorted(path.name for path in Path("out").iterdir()) == ["dogs.png", "dogs.png.t2o.json"]


def test_a_large_photo_can_be_allowed(t2o: T2O, photo: Path) -> None:
    answer = t2o("edit", "dogs.png", "brighter", "--max-megapixels", "0.01")
    assert answer.code == 2
    (enough,) = re.findall(r"allow it with --max-megapixels ([\d.]+)\.", answer.err)
    assert t2o("edit", "dogs.png", "brighter", "--max-megapixels", enough).code == 0


def test_existing_results_stay(t2o: T2O, photo: Path) -> None:
    t2o("edit", "dogs.png", "brighter")
    before = contents(photo)
    answer = t2o("edit", "dogs.png", "darker")
    assert answer.code == 2
    assert "dogs-edited.png exists already" in answer.err
    assert contents(photo) == before


@pytest.mark.slow
def test_the_papers_network_is_exported_and_asked(t2o: T2O, photo: Path) -> None:
    """Its decisions, seen on a small picture, become the recipe of the photo."""
    pytest.importorskip("onnx")
    words = Vocabulary((*SPECIAL, "brighter"))
    paper = T2ONet(T2ONetConfig(**T2ONET), len(words))
    with torch.no_grad():
        paper.chooser.bias[paper.actions.end] = -100
        for head in paper.heads:
            head[-1].bias.fill_(0.5)
    facts = describe_network("t2onet", paper.config, words)
    write_tensors(photo / "best.safetensors", paper.state_dict(), facts)
    (photo / "kept").mkdir()
    (photo / "kept" / "begin.onnx").write_bytes(b"mine")
    kept = t2o("export", "best.safetensors", "kept")
    assert (kept.code, kept.out, kept.err.count("\n")) == (2, "", 1)
    assert kept.err.startswith("t2o: kept holds a network already (begin.onnx); ")
    assert contents(photo / "kept") == {"begin.onnx": b"mine"}
    assert t2o("export", "best.safetensors", "kept", "--overwrite").code == 0
    assert sorted(contents(photo / "kept")) == ["about.json", "begin.onnx", "step.onnx"]
    done = t2o("export", "best.safetensors", "mine")
    assert (done.code, done.err) == (0, "")
    assert "--network mine" in done.out
    answer = t2o("edit", "dogs.png", "brighter", "--network", "mine", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)[0]["reader"] is None
    before = contents(photo)
    expert = t2o("edit", "dogs.png", "brighter", "--network", "mine", "--mode", "expert", "-o", "expert.png")
    assert (expert.code, expert.out, expert.err.count("\n")) == (2, "", 1)
    assert expert.err.startswith("t2o: this network has no mode expert, ")
    free = t2o("edit", "dogs.png", "brighter", "--network", "mine", "--reader", "free", "-o", "free.png")
    reads_itself = "t2o: mine holds a network that reads requests itself; leave out the reader free\n"
    assert (free.code, free.out, free.err) == (2, "", reads_itself)
    assert contents(photo) == before
    (sidecar,) = photo.glob("dogs-edited*.json")
    steps = json.loads(sidecar.read_text())["steps"]
    seen = make_thumbnail(t2onet.open_image("dogs.png"), 128)
    answered = open_policy(photo / "mine").answer(seen, "brighter", "literal").steps
    assert len(answered) == 6
    kept = {step.operation: step.stored_parameters for step in answered}
    assert steps
    for step in steps:
        assert np.ravel(step["parameters"]) == pytest.approx(kept[step["operation"]], abs=1e-3)
    blocked = "import sys; sys.modules.update(dict.fromkeys(['torch', 'onnx', 'safetensors'])); "
    arguments = ["edit", "dogs.png", "brighter", "--network", "mine", "-o", "again.png"]
    bare = subprocess.run(
        [*COMMAND[:2], blocked + COMMAND[2], *arguments], env=environment(), capture_output=True, check=False
    )
    assert (bare.returncode, bare.stderr) == (0, b"")
    assert np.array_equal(pixels("again.png"), pixels("dogs-edited.png"))


def test_a_network_that_paints_is_not_exported(t2o: T2O, photo: Path) -> None:
    pytest.importorskip("onnx")
    kind = NETWORK_KINDS["pix2pixaug"]
    config = kind.config(**BASELINES["pix2pixaug"])
    facts = describe_network("pix2pixaug", config, Vocabulary(SPECIAL))
    write_tensors(photo / "gan.safetensors", kind.build(config, len(SPECIAL)).state_dict(), facts)
    answer = t2o("export", "gan.safetensors", "mine")
    assert (answer.code, "makes no recipes (pix2pixaug)" in answer.err) == (2, True)
    assert not Path("mine").exists()


def test_a_folder_without_a_network_is_refused(t2o: T2O, photo: Path) -> None:
    done = t2o("edit", "dogs.png", "brighter", "--network", ".")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is no exported network, begin.onnx is missing" in done.err


def test_what_is_there_already_can_be_skipped(t2o: T2O, photo: Path) -> None:
    t2o("edit", "dogs.png", "brighter")
    first = Path("dogs-edited.png").read_bytes()
    again = t2o("edit", "dogs.png", "darker", "--skip-existing")
    assert (again.code, again.err) == (0, "")
    assert "skipped, dogs-edited.png exists" in again.out
    assert Path("dogs-edited.png").read_bytes() == first
    both = t2o("edit", "dogs.png", "darker", "--skip-existing", "--overwrite")
    assert (both.code, both.err.count("\n")) == (2, 1)

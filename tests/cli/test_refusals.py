"""Bad input: exit code 2, one line on stderr that says what to do, and every file as it was."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import PIL.Image
import pytest

from tests.cli.helpers import T2O, Answer, contents, noise, photo, png_header, process


def write(name: str, data: bytes) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(data)


def recipe(text: str) -> None:
    photo("sea.png")
    write("bad.json", text.encode())


def write_truncated_jpeg() -> None:
    photo("bad.jpg")
    whole = Path("bad.jpg").read_bytes()
    write("bad.jpg", whole[: len(whole) // 2])


def picture(width: int, height: int) -> None:
    PIL.Image.fromarray(noise(height=height, width=width)).save("bad.png")


def read_only_file() -> None:
    photo("sea.png")
    write("kept.png", b"mine")
    Path("kept.png").chmod(0o444)


def read_only_folder() -> None:
    photo("sea.png")
    write("kept/mine.txt", b"mine")
    Path("kept").chmod(0o555)


def file_as_folder() -> None:
    photo("sea.png")
    write("kept", b"mine")


STEP = '{"steps": [{"operation": %s, "parameters": %s}]}'
LONG = "x" * 300 + ".png"

# (what lies in the folder, the arguments, how the line begins, what it tells the user to do)
Case = tuple[Callable[[], object], list[str], str, str]
CORPUS: dict[str, Case] = {
    "empty file": (
        lambda: write("bad.jpg", b""),
        ["apply", "look.json", "bad.jpg"],
        "bad.jpg is empty (0 bytes)",
        "copy it again",
    ),
    "truncated JPEG": (
        write_truncated_jpeg,
        ["apply", "look.json", "bad.jpg"],
        "bad.jpg ends early",
        "copy it again",
    ),
    "text named .jpg": (
        lambda: write("bad.jpg", b"Dear diary, today I took no photo.\n"),
        ["apply", "look.json", "bad.jpg"],
        "bad.jpg does not look like a photo",
        "check that it is the right file",
    ),
    "1 x 1": (
        lambda: picture(1, 1),
        ["apply", "look.json", "bad.png"],
        "bad.png is 1 x 1 pixels",
        "at least 2 x 2",
    ),
    "30000 x 1": (
        lambda: picture(30000, 1),
        ["apply", "look.json", "bad.png"],
        "bad.png is 30000 x 1 pixels",
        "at least 2 x 2",
    ),
    "decompression bomb": (
        lambda: write("bad.png", png_header(100_000, 100_000)),
        ["apply", "look.json", "bad.png"],
        "bad.png claims to be 100000 x 100000 pixels",
        "--max-megapixels 10000",
    ),
    "missing photo": (
        lambda: photo("sea.png"),
        ["apply", "look.json", "see.png"],
        "see.png does not exist",
        "perhaps sea.png was meant",
    ),
    "empty name": (
        lambda: photo("sea.png"),
        ["apply", "look.json", ""],
        "the name of a photo is empty",
        "give a photo, a folder or a pattern",
    ),
    "name too long to exist": (
        lambda: None,
        ["apply", "look.json", LONG],
        f"{LONG} cannot be used (",
        "check the name",
    ),
    "recipe with NaN": (
        lambda: recipe(STEP % ('"tone"', "[1, 1, 1, NaN, 1, 1, 1, 1]")),
        ["apply", "bad.json", "sea.png"],
        "bad.json: step 1: tone: rises 4 is nan",
        "allowed is 0.02 to 8",
    ),
    "unknown operation": (
        lambda: recipe(STEP % ('"contrats"', "0.1")),
        ["apply", "bad.json", "sea.png"],
        "bad.json: step 1: there is no operation 'contrats'",
        "did you mean 'contrast'?",
    ),
    "recipe that is no JSON": (
        lambda: recipe("brighter, please"),
        ["apply", "bad.json", "sea.png"],
        "bad.json: it is not JSON",
        "line 1 column 1",
    ),
    "recipe that is a folder": (
        lambda: photo("trip/sea.png"),
        ["apply", "trip", "trip/sea.png"],
        "trip is a folder",
        "give the JSON file of a recipe",
    ),
    "recipe that is a photo": (
        lambda: photo("sea.png"),
        ["apply", "sea.png", "sea.png"],
        "sea.png is not a recipe, which is a JSON file",
        "one is looked for beside it, as sea.png.t2o.json",
    ),
    "missing recipe": (
        lambda: photo("sea.png"),
        ["apply", "gone.json", "sea.png"],
        "gone.json does not exist",
        "give the JSON file of a recipe",
    ),
    "folder without photos": (
        lambda: photo("trip/below/sea.png"),
        ["apply", "look.json", "trip", "-o", "done"],
        "trip is a folder without photos",
        "--recursive looks into the folders below it too",
    ),
    "read-only file": (
        read_only_file,
        ["apply", "look.json", "sea.png", "-o", "kept.png", "--overwrite"],
        "kept.png cannot be written: the file is read-only",
        "give another name",
    ),
    "read-only folder": (
        read_only_folder,
        ["apply", "look.json", "sea.png", "-o", "kept"],
        "kept/sea.png cannot be written: the folder kept is read-only",
        "choose another",
    ),
    "read-only folder of a look": (
        read_only_folder,
        ["export", "look.json", "kept/look.cube"],
        "kept/look.cube cannot be written: the folder kept is read-only",
        "choose another",
    ),
    "output below a file": (
        file_as_folder,
        ["apply", "look.json", "sea.png", "-o", "kept/out.png"],
        "the folder kept cannot be made (File exists)",
        "give another -o",
    ),
    "output far below a file": (
        file_as_folder,
        ["apply", "look.json", "sea.png", "-o", "kept/new/out.png"],
        "the folder kept/new cannot be made (Not a directory)",
        "give another -o",
    ),
    "output in an unknown format": (
        lambda: photo("sea.png"),
        ["apply", "look.json", "sea.png", "-o", "new/deep/sea.pnq"],
        "new/deep/sea.pnq has the suffix .pnq",
        "did you mean sea.png?",
    ),
    "output without a name": (
        lambda: photo("sea.png"),
        ["apply", "look.json", "sea.png", "-o", ""],
        "-o '' is no place to write",
        "give a file or a folder",
    ),
    "output to the terminal": (
        lambda: photo("sea.png"),
        ["apply", "look.json", "sea.png", "-o", "-"],
        "-o '-' is no place to write",
        "give a file or a folder",
    ),
    "several photos into one": (
        lambda: [photo("sea.png"), photo("sky.png")],
        ["apply", "look.json", "sea.png", "sky.png", "-o", "one.jpg"],
        "-o one.jpg is the name of one picture, and there may be more",
        "give a folder",
    ),
    "a folder into one picture": (
        lambda: photo("trip/sea.png"),
        ["apply", "look.json", "trip", "-o", "new/one.TIFF"],
        "-o new/one.TIFF is the name of one picture, and there may be more",
        "give a folder",
    ),
    "overwriting and skipping": (
        lambda: [photo("sea.png"), photo("sea-look.png")],
        ["apply", "look.json", "sea.png", "--overwrite", "--skip-existing"],
        "--overwrite and --skip-existing contradict each other",
        "give one of them",
    ),
    "output with too long a name": (
        lambda: photo("sea.png"),
        ["apply", "look.json", "sea.png", "-o", LONG],
        f"{LONG} cannot be used (",
        "check the name",
    ),
    "result with too long a name": (
        lambda: photo("x" * 250 + ".png"),
        ["apply", "look.json", "x" * 250 + ".png"],
        "x" * 250 + "-look.png cannot be used (",
        "check the name",
    ),
}


def check_refusal(answer: Answer, begins: str, advises: str) -> None:
    """Whether a person can work with it: one line, no traceback, and what to do next."""
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith(f"t2o: {begins}")
    assert answer.err.count("\n") == 1
    assert answer.err.endswith("\n")
    assert advises in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("case", CORPUS)
def test_bad_input_is_refused_and_nothing_is_touched(t2o: T2O, folder: Path, case: str) -> None:
    make, arguments, begins, advises = CORPUS[case]
    make()
    before = contents(folder)
    check_refusal(t2o(*arguments), begins, advises)
    assert contents(folder) == before


def test_the_real_process_says_the_same(folder: Path) -> None:
    make, arguments, begins, advises = CORPUS["truncated JPEG"]
    make()
    before = contents(folder)
    done = process(*arguments)
    check_refusal(Answer(done.returncode, done.stdout, done.stderr), begins, advises)
    assert contents(folder) == before


@pytest.mark.slow
def test_a_full_disk_leaves_everything_as_it_was(folder: Path) -> None:
    resource = pytest.importorskip(
        "resource", reason="a disk cannot be made full without the module resource"
    )
    source = photo("sea.png")
    assert source.stat().st_size > 1000
    write("kept.png", b"mine")
    before = contents(folder)

    def small_files_only() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    for output, more in (("kept.png", ["--overwrite"]), ("new/deep/out.png", [])):
        done = process("apply", "look.json", "sea.png", "-o", output, *more, preexec_fn=small_files_only)
        answer = Answer(done.returncode, done.stdout, done.stderr)
        check_refusal(answer, f"{output} cannot be written: the file would be larger than allowed", "")
        assert contents(folder) == before


def test_a_batch_of_bad_photos_makes_no_folder(t2o: T2O, folder: Path) -> None:
    for name in ("a.png", "b.png"):
        write(f"trip/{name}", b"no photo")
    before = contents(folder)
    answer = t2o("apply", "look.json", "trip", "-o", "done")
    assert answer.code == 2
    assert answer.err.splitlines()[-1] == "t2o: 2 of 2 photos refused"
    assert contents(folder) == before


# ---- names


ODD = ["bell\x07.png", "two\nlines.png", "c1\x9b31m.png", "turn\u202earound.png", "esc\x1bc.png"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows takes no control characters in names")
@pytest.mark.parametrize("name", ODD)
def test_control_characters_of_names_stay_off_the_terminal(t2o: T2O, folder: Path, name: str) -> None:
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    answer = t2o("apply", "look.json", name)
    check_refusal(answer, f"{shown} does not exist", "check the spelling")
    photo(name)
    answer = t2o("apply", "look.json", name, "-o", "out")
    assert answer == (0, f"{shown} -> out/{shown}\n", "")
    answer = t2o("apply", "look.json", name, "-o", "out", "--skip-existing")
    assert answer == (0, f"{shown}: skipped, out/{shown} exists\n", "")
    answer = t2o("apply", "look.json", name, "-o", "out", "--json", "--overwrite")
    assert answer.out.replace("\n", "").isprintable()
    assert json.loads(answer.out)[0]["source"] == name
    look = name.replace(".png", ".cube")
    answer = t2o("export", "look.json", look)
    assert answer.out.removesuffix("\n").isprintable()
    assert Path(look).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only there are names plain bytes")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_name_that_is_no_text_is_a_name(t2o: T2O, folder: Path, more: list[str]) -> None:
    # Photos from old cameras and archives: Latin-1 bytes where UTF-8 is expected.
    name = os.fsdecode(b"K\xf6ln.png")
    photo("tmp.png").rename(name)
    answer = t2o("apply", "look.json", name, *more)
    assert (answer.code, answer.err) == (0, "")
    assert Path(os.fsdecode(b"K\xf6ln-look.png")).exists()
    if more:
        assert json.loads(answer.out)[0]["source"] == name


def test_a_name_that_the_terminal_cannot_show_is_a_name(folder: Path) -> None:
    # A pipe on Windows, or a shell in an old locale.
    photo("海.png")
    done = process("apply", "look.json", "海.png", env={"PYTHONIOENCODING": "latin-1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "\\u6d77.png -> \\u6d77-look.png\n", "")

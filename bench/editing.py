"""A request in words: how long the answer takes, the 24-MP JPEG with it, and the whole cold command."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import PIL.Image

from bench.scene import EXAMPLES, photo
from bench.timing import in_turns, seconds
from t2onet import Editor, edit, open_image

REQUEST = "make it brighter and warmer"
SHARPER = "make it brighter, warmer and sharper"
QUALITY = 92
_T2O = "from t2onet.cli import main; main()"
_BARE = "import numpy"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "photo.jpg"
        photo().save(source, quality=QUALITY)
        _answer(source)
        _file(source, folder)
        _process(source, folder)


def _answer(source: Path) -> None:
    """The small picture is made anew each time: an editor that is asked again already has it."""
    opened = open_image(source)
    asked = Editor(opened)

    def thumbnail() -> None:
        with PIL.Image.open(source) as file:
            file.resize((256, 256))

    taken = in_turns(
        {
            "request -> recipe": lambda: Editor(opened).ask(REQUEST),
            "asked again": lambda: asked.ask(REQUEST),
            "Pillow: decode, resize to 256": thumbnail,
        }
    )
    _print(taken)
    ratio = taken["request -> recipe"] / taken["Pillow: decode, resize to 256"]
    print(f"  ratio = {ratio:.2f} for a photo that is open (bar: at most 1)")


def _file(source: Path, folder: Path) -> None:
    def edited(request: str) -> None:
        edit(source, request).image.save(folder / "edited.jpg", overwrite=True)

    def copied() -> None:
        with PIL.Image.open(source) as file:
            file.save(folder / "copied.jpg", quality=QUALITY)

    taken = in_turns(
        {
            "open, edit, save": lambda: edited(REQUEST),
            "the same, sharpened as well": lambda: edited(SHARPER),
            "Pillow: decode, encode": copied,
        }
    )
    _print(taken)
    plain, sharper, bare = taken.values()
    print(f"  ratio = {plain / bare:.2f} for the file (bar: at most 4), {sharper / bare:.2f} with sharpness")


def _process(source: Path, folder: Path) -> None:
    """The first run of all compiles the kernels it needs; those after it find them in the cache."""
    environment = {**os.environ, "T2O_CACHE_DIR": str(folder / "cache")}

    def process(code: str, *arguments: object) -> Callable[[], object]:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return lambda: subprocess.run(command, check=True, capture_output=True, env=environment)

    def command(picture: Path) -> Callable[[], object]:
        return process(_T2O, "edit", picture, REQUEST, "-o", folder / "out.jpg", "--overwrite")

    first = seconds(command(source))
    taken = in_turns(
        {
            "t2o edit, 24 MP": command(source),
            "t2o edit, 4.5 MP": command(EXAMPLES / "fig.jpg"),
            "python -c 'import numpy'": process(_BARE),
        }
    )
    _print(taken)
    bare = taken["python -c 'import numpy'"]
    large, small = taken["t2o edit, 24 MP"], taken["t2o edit, 4.5 MP"]
    print(f"  ratio = {large / bare:.1f} at 24 MP and {small / bare:.1f} at 4.5 MP for the cold command")
    print(
        f"  {large:.2f} s at 24 MP (bar: under 4 on two cores); {first:.2f} s the first time after an install"
    )


def _print(taken: dict[str, float]) -> None:
    for label, each in taken.items():
        print(f"  {label:<30} {each:7.3f} s")

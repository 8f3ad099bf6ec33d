"""A folder of photos with traps in it, a folder outside, and one agent for all calls of a module."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import PIL.Image
import pytest

from tests.cli.conftest import t2o  # noqa: F401  a fixture
from tests.cli.helpers import LOOK, photo, png_header
from tests.conftest import open_example

if TYPE_CHECKING:
    from tests.mcp.helpers import Agent

SECRET = "never to be read"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder that the agent may use, and one beside it."""
    base = tmp_path_factory.mktemp("machine")
    folder, outside = base / "photos", base / "photos-of-others"  # one name begins as the other
    for place in (folder / "trip", outside):
        place.mkdir(parents=True)
    for name in ("trail", "drum", "fig", "dogs"):
        exif = PIL.Image.Exif()
        exif[271], exif[272] = "Maker", "Camera\x07 9000"
        exif.get_ifd(0x8769)[0x829A] = 0.005
        exif.get_ifd(0x8825)[1] = "N"
        picture = PIL.Image.fromarray(open_example(name, 160).pixels)
        picture.save(folder / f"{name}.jpg", exif=exif, quality=92)
    deep = np.random.default_rng(0).integers(0, 2**16, (40, 60), dtype=np.uint16)
    PIL.Image.fromarray(deep).save(folder / "deep.png")
    photo(folder / "trip" / "beach.png")
    photo(folder / "trip" / "überall schön.png")
    photo(folder / ".hidden.png")
    photo(outside / "private.jpg")
    (outside / "secret.json").write_text(SECRET)
    LOOK.save(outside / "look.json")
    LOOK.save(folder / "look.json")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff" + b"x" * 100)
    (folder / "empty.jpg").touch()
    (folder / "bomb.png").write_bytes(png_header(60_000, 60_000))
    (folder / "notes.txt").write_text("no photo")
    step = {"operation": "exposure", "parameters": [1], "mask": {"file": str(outside / "private.jpg")}}
    (folder / "mask.json").write_text(json.dumps({"steps": [step]}))
    (folder / "link.jpg").symlink_to(outside / "private.jpg")
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    (folder / "link.json").symlink_to(outside / "look.json")
    (folder / "dangling.jpg").symlink_to(outside / "new.jpg")
    (folder / "loop.jpg").symlink_to(folder / "loop.jpg")
    (folder / "trap.jpg.t2o.json").symlink_to(outside / "trap.json")
    (folder / "inner.jpg").symlink_to(folder / "dogs.jpg")
    os.mkfifo(folder / "pipe.jpg")
    return folder, outside


@pytest.fixture(scope="module")
def agent(places: tuple[Path, Path]) -> Iterator[Agent]:
    from tests.mcp.helpers import serving

    with serving(*places) as one:
        yield one

"""Photos, folders and processes made for the tests of the command line."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import PIL.Image

import t2onet
from t2onet import Recipe
from tests.conftest import PATIENCE

LOOK = Recipe.from_steps([("brightness", 0.2), ("saturation", -0.5)])
ROOT = Path(t2onet.__file__).parent.parent
COMMAND = [sys.executable, "-c", "import sys; sys.argv[0] = 't2o'; from t2onet.cli import main; main()"]


class Answer(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


T2O = Callable[..., Answer]


def noise(seed: int = 0, height: int = 20, width: int = 30) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def photo(path: str | Path, seed: int = 0, **options: Any) -> Path:
    """A small photo of noise in the format of its name; folders are made as needed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.fromarray(noise(seed)).save(path, **options)
    return path


def apply_recipe(source: Path, recipe: Recipe = LOOK) -> np.ndarray:
    """What the command must come to, by way of Python."""
    return np.asarray(t2onet.apply(recipe, source))


def pixels(path: str | Path) -> np.ndarray:
    """As someone else reads the file."""
    with PIL.Image.open(path) as file:
        return np.asarray(file.convert("RGB"))


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and has next to no pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))

    header = struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, data) for name, data in parts)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, hidden or not: the bytes of files, None for folders."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def files(folder: Path) -> list[str]:
    return [name for name, data in contents(folder).items() if data is not None]


def environment(**more: str) -> dict[str, str]:
    """For a fresh process: this package, whatever folder it runs in."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own, to its end."""
    env = environment(**options.pop("env", {}))
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=env, timeout=PATIENCE, check=False, **options
    )

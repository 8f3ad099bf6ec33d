"""A 24-MP JPEG in and out: with the edit, and without; and the memory the command takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.scene import SHARP, photo
from bench.timing import in_turns
from t2onet import Recipe, apply, open_image

_PEAK = """
import pathlib, sys
from t2onet.cli import main
try:
    main()
finally:
    # Not getrusage: on Linux that counts the parent's memory before exec as well.
    status = pathlib.Path("/proc/self/status").read_text()
    print(status.split("VmHWM:")[1].split()[0], file=sys.stderr)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "photo.jpg"
        photo().save(source, quality=92)
        _ratio(source, folder)
        print_peak_memory(SHARP, source)


def _ratio(source: Path, folder: Path) -> None:
    def edit() -> None:
        apply(SHARP, source).save(folder / "edited.jpg", overwrite=True)

    def copy() -> None:
        image = open_image(source)
        image.with_pixels(image.pixels.view()).save(
            folder / "copied.jpg", overwrite=True
        )  # a new array: encoded anew

    taken = in_turns({"decode + apply + encode": edit, "decode + encode": copy})
    for label, seconds in taken.items():
        print(f"  {label:<24} {seconds:7.3f} s")
    ratio = taken["decode + apply + encode"] / taken["decode + encode"]
    print(f"  ratio = {ratio:.2f} for the chain with sharpness (bar: at most 4)")


def print_peak_memory(recipe: Recipe, source: Path) -> None:
    """Apply `recipe` to `source` by the command; files are written beside it, over those of earlier calls."""
    folder = source.parent
    recipe.save(folder / "look.json", overwrite=True)
    arguments = ["apply", folder / "look.json", source, "-o", folder / "memory.jpg", "--overwrite", "--quiet"]
    if not Path("/proc/self/status").exists():
        print("  peak memory: only measured on Linux")
        return
    command = [sys.executable, "-c", _PEAK, *map(str, arguments)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    names = ", ".join(step.operation for step in recipe.steps)
    peak = int(told.split()[-1]) * 1024 / 1e9
    print(f"  peak memory of t2o apply = {peak:.2f} GB (bar: at most 1.5) for {names}")

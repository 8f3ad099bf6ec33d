"""Sixteen 24-MP JPEGs: `t2o edit` and `t2o apply` on their folder against Pillow's decoding and encoding."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import PIL.Image
import PIL.ImageOps

from bench.editing import QUALITY, REQUEST, SHARPER
from bench.scene import CHAIN, EXAMPLES, SHARP, SIZE
from t2onet.image.codecs import count_cores

COUNT = 16
ROUNDS = 5
MAX_RATIO, MAX_GIGABYTES = 2.5, 1.0
_PEAK = """
finally:
    # Not getrusage: on Linux that counts the parent's memory before exec as well.
    status = pathlib.Path("/proc/self/status").read_text()
    print(status.split("VmHWM:")[1].split()[0], file=sys.stderr)
"""
_T2O = f"""
import pathlib, sys
try:
    from t2onet.cli import main
    main()
{_PEAK}
"""
_PILLOW = f"""
import pathlib, sys
try:
    from concurrent.futures import ThreadPoolExecutor
    import PIL.Image

    source, target, quality, threads = sys.argv[1:]
    pathlib.Path(target).mkdir()

    def copy(photo):
        with PIL.Image.open(photo) as file:
            file.save(pathlib.Path(target, photo.name), quality=int(quality))

    with ThreadPoolExecutor(int(threads)) as pool:
        list(pool.map(copy, sorted(pathlib.Path(source).iterdir())))
{_PEAK}
"""


class Spent(NamedTuple):
    """What one process took."""

    seconds: float
    cpu: float
    gigabytes: float


def main() -> None:
    if not Path("/proc/self/status").exists():
        print("  only measured on Linux")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photos, target = folder / "photos", folder / "edited"
        make_photos(photos)
        looks = {"chain": CHAIN, "sharp": SHARP}
        for label, look in looks.items():
            look.save(folder / f"{label}.json")
        pillow = [_PILLOW, photos, target, QUALITY, count_cores()]
        commands = {
            "t2o edit": [_T2O, "edit", photos, REQUEST, "-o", target],
            "t2o edit, sharpened too": [_T2O, "edit", photos, SHARPER, "-o", target],
            "t2o apply": [_T2O, "apply", folder / "chain.json", photos, "-o", target],
            "t2o apply, sharpened too": [_T2O, "apply", folder / "sharp.json", photos, "-o", target],
        }
        for command in commands.values():  # compiles the kernels it needs
            _run(command, target)
        print("  processes with their start; ratios to Pillow's in the same round, medians of all rounds")
        for label, command in commands.items():
            _compare(label, command, pillow, target)


def make_photos(folder: Path) -> None:
    """Write the examples, cut to 3:2 and enlarged; those used again are mirrored."""
    folder.mkdir()
    examples = sorted(EXAMPLES.glob("*.jpg"))
    for number in range(COUNT):
        picture = PIL.Image.open(examples[number % len(examples)]).convert("RGB")
        size = SIZE if picture.width > picture.height else SIZE[::-1]
        picture = PIL.ImageOps.fit(picture, size, PIL.Image.Resampling.LANCZOS)
        if number >= len(examples):
            picture = PIL.ImageOps.mirror(picture)
        picture.save(folder / f"{number:02}.jpg", quality=QUALITY)


def _compare(label: str, command: list[object], pillow: list[object], target: Path) -> None:
    rounds = [(_run(command, target), _run(pillow, target)) for _ in range(ROUNDS)]
    ours, bare = (
        Spent(*map(statistics.median, zip(*column, strict=True))) for column in zip(*rounds, strict=True)
    )
    ratio = statistics.median(one.seconds / other.seconds for one, other in rounds)
    work = statistics.median(one.cpu / other.cpu for one, other in rounds)
    peak = max(one.gigabytes for one, _ in rounds)
    print(
        f"  {label:<26} {ours.seconds:6.2f} s, Pillow {bare.seconds:5.2f} s: ratio {ratio:.2f} (bar: at most "
        f"{MAX_RATIO}), {work:.2f} of CPU time; peak {peak:.2f} GB (bar: at most {MAX_GIGABYTES:g})"
    )


def _run(command: list[object], target: Path) -> Spent:
    shutil.rmtree(target, ignore_errors=True)
    # An installed package has its bytecode.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-c", *map(str, command)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(time.perf_counter() - start, cpu, int(done.stderr.split()[-1]) * 1024 / 1e9)


if __name__ == "__main__":
    main()

"""Steps at places on 24 megapixels: time and memory against the same steps without places, and the preview.

Figures are of processes of their own, the fastest of five runs, for an export (a JPEG is opened, edited and
saved) and for the steps alone. The bar, for each: at most twice the time without places plus one run of the
place network. It also asks for a peak of at most 1.5 GB, and for a preview that equals the averaged export.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.pairs import ROOT
from bench.timing import seconds
from t2onet import Recipe, apply, open_image
from t2onet.image import Image
from t2onet.places import OpenedPhoto
from t2onet.places.network import load_network

SIZE = (6000, 4000)
PREVIEW_SIDE = 1000
RUNS = 5
LOCAL = [("exposure", -0.7, "sky"), ("saturation", 0.3, "vegetation")]
PEAK_BAR, TIME_BAR, PREVIEW_BAR = 1.5, 2.0, 1.0


def open_large() -> Image:
    """An example photo of 24 megapixels, enlarged."""
    import PIL.Image

    with PIL.Image.open(ROOT / "examples" / "meadow.jpg") as photo:
        return open_image(np.asarray(photo.convert("RGB").resize(SIZE, PIL.Image.Resampling.BICUBIC)))


def measure_alone(where: bool) -> dict[str, float]:
    """Seconds of the fastest export, of the steps alone and of the network, and peak GB, in this process."""
    recipe = Recipe.from_steps(LOCAL if where else [step[:2] for step in LOCAL])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "photo.jpg"), Path(folder, "edited.jpg")
        open_large().save(source)
        times = [_export(recipe, source, target) for _ in range(RUNS)]
        picture = OpenedPhoto(open_image(source)).small_picture
    network = min(seconds(lambda: load_network().find(picture)) for _ in range(RUNS))
    export, steps = (min(taken) for taken in zip(*times, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"export": export, "steps": steps, "network": network, "peak": peak}


def _export(recipe: Recipe, source: Path, target: Path) -> tuple[float, float]:
    """Seconds from file to file, and of the steps among them."""
    start = time.perf_counter()
    photo = open_image(source)
    photo.pixels.max()  # decoded at last
    opened = time.perf_counter()
    edited = apply(recipe, photo, kernels=True)
    applied = time.perf_counter()
    edited.save(target, overwrite=True)
    return time.perf_counter() - start, applied - opened


def measure_preview() -> float:
    """Mean difference of a preview and the averaged export, in levels of 255."""
    photo, recipe = open_large(), Recipe.from_steps(LOCAL)
    preview = apply(recipe, photo.resize(PREVIEW_SIDE)).pixels.astype(float)
    export = apply(recipe, photo, kernels=True).resize(PREVIEW_SIDE).pixels.astype(float)
    return float(np.abs(preview - export).mean())


def _run_apart(where: bool) -> dict[str, float]:
    code = f"import json; from bench.masked import measure_alone; print(json.dumps(measure_alone({where})))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the figures."""
    local, whole = _run_apart(True), _run_apart(False)
    for name in ("export", "steps"):
        allowed = TIME_BAR * whole[name] + local["network"]
        print(f"  {name}: two steps at places {local[name]:.2f} s, without {whole[name]:.2f} s, ", end="")
        print(f"network {local['network']:.3f} s; {local[name] / allowed:.2f} of what the bar allows")
    print(f"  peak {local['peak']:.2f} GB, without places {whole['peak']:.2f} GB (bar: {PEAK_BAR} GB)")
    print(f"  preview and export differ by {measure_preview():.2f} of 255 levels (bar: {PREVIEW_BAR})")

"""Steps at places on 24 megapixels: time and memory against the same steps without places, and the preview.

Figures are of processes of their own, the fastest of five runs. The bar: at most twice the time without
places plus one run of the place network, a peak of 1.5 GB, and a preview that equals the averaged export.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

from bench.pairs import ROOT
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
    """Seconds of the fastest run and of the network, and peak GB, in this process."""
    photo = open_large()
    recipe = Recipe.from_steps(LOCAL if where else [step[:2] for step in LOCAL])
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        apply(recipe, photo, kernels=True)
        seconds.append(time.perf_counter() - start)
    picture = OpenedPhoto(photo).small_picture
    start = time.perf_counter()
    load_network().find(picture)
    network = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": min(seconds), "network": network, "peak": peak}


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
    allowed = TIME_BAR * whole["seconds"] + local["network"]
    print(f"  two steps at places {local['seconds']:.2f} s, without {whole['seconds']:.2f} s, ", end="")
    print(f"network {local['network']:.3f} s; {local['seconds'] / allowed:.2f} of what the bar allows")
    print(f"  peak {local['peak']:.2f} GB, without places {whole['peak']:.2f} GB (bar: {PEAK_BAR} GB)")
    print(f"  preview and export differ by {measure_preview():.2f} of 255 levels (bar: {PREVIEW_BAR})")

"""Six darkroom steps at 24 MP against a 3D table and eager torch, a slider's preview, and detail alone."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageFilter

from bench.chain import run_eager
from bench.files import print_peak_memory
from bench.scene import DARKROOM, photo
from bench.timing import in_turns
from t2onet import Recipe, apply
from t2onet.executor import render_stages
from t2onet.image.pixels import to_uint16
from t2onet.looks import tabulate_recipe

SCREEN = (1440, 900)
QUALITY = 92
DETAIL = {
    "clarity": Recipe.from_steps([("clarity", 40)]),
    "dehaze": Recipe.from_steps([("dehaze", 40)]),
    "denoise": Recipe.from_steps([("denoise", [40, 40])]),
}


def main() -> None:
    picture = photo()
    _chain(picture)
    _detail(picture)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "photo.jpg"
        picture.save(source, quality=QUALITY)
        for recipe in (DARKROOM, *DETAIL.values()):
            print_peak_memory(recipe, source)


def _chain(picture: PIL.Image.Image) -> None:
    pixels = np.array(picture)
    table = PIL.ImageFilter.Color3DLUT(33, tabulate_recipe(DARKROOM, 33).colours.ravel().tolist())
    screen = to_uint16(np.array(picture.resize(SCREEN)))
    taken = in_turns(
        {
            "ours": lambda: apply(DARKROOM, pixels),
            "ours, one thread": lambda: apply(DARKROOM, pixels, threads=1),
            "Pillow Color3DLUT(33)": lambda: picture.filter(table),
            "preview": lambda: render_stages(DARKROOM, screen, last=np.uint8, kernels=True),
        }
    )
    taken |= in_turns({"eager torch formulas": lambda: run_eager(DARKROOM, pixels)}, rounds=1)
    for name, seconds in taken.items():
        print(f"  {name:<24} {seconds:7.3f} s   {seconds / taken['ours']:6.2f} times ours")
    print(f"  ours / Pillow = {taken['ours'] / taken['Pillow Color3DLUT(33)']:.2f} (bar: at most 1.2)")
    print(f"  torch / ours = {taken['eager torch formulas'] / taken['ours']:.1f} (bar: at least 30)")
    preview = 1000 * taken["preview"]
    print(f"  all six steps anew on {SCREEN[0]} x {SCREEN[1]}: {preview:.0f} ms (bar: at most 50)")


def _detail(picture: PIL.Image.Image) -> None:
    """Operations that read around a pixel, each alone, against the encoding of the photo."""
    pixels = np.array(picture)
    works = {name: lambda recipe=recipe: apply(recipe, pixels) for name, recipe in DETAIL.items()}
    taken = in_turns({**works, "encode": lambda: picture.save(io.BytesIO(), "JPEG", quality=QUALITY)})
    encode = taken.pop("encode")
    print(f"  {'encode the JPEG':<24} {encode:7.3f} s")
    for name, seconds in taken.items():
        print(f"  {name:<24} {seconds:7.3f} s   {seconds / encode:6.2f} encodes (bar: at most 6)")

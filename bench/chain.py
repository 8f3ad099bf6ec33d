"""The exact chain brightness, saturation, contrast, color at 24 MP against a 3D table and eager torch."""

from __future__ import annotations

import numpy as np
import PIL.ImageFilter
import torch

from bench.scene import CHAIN, SHARP, photo
from bench.timing import in_turns
from t2onet import Recipe, apply, operations
from t2onet.looks import tabulate_recipe


def main() -> None:
    picture = photo()
    pixels = np.array(picture)
    table = PIL.ImageFilter.Color3DLUT(33, tabulate_recipe(CHAIN, 33).colours.ravel().tolist())
    taken = in_turns(
        {
            "ours": lambda: apply(CHAIN, pixels),
            "ours, one thread": lambda: apply(CHAIN, pixels, threads=1),
            "ours, with sharpness": lambda: apply(SHARP, pixels),
            "Pillow Color3DLUT(33)": lambda: picture.filter(table),
            "eager torch formulas": lambda: run_eager(CHAIN, pixels),
        }
    )
    for name, seconds in taken.items():
        print(f"  {name:<24} {seconds:7.3f} s   {seconds / taken['ours']:5.2f} times ours")
    print(f"  ours / Pillow = {taken['ours'] / taken['Pillow Color3DLUT(33)']:.2f} (bar: at most 1.0)")
    print(f"  torch / ours = {taken['eager torch formulas'] / taken['ours']:.1f} (bar: at least 4)")


def run_eager(recipe: Recipe, pixels: np.ndarray) -> torch.Tensor:
    with torch.no_grad():
        image = torch.from_numpy(pixels).permute(2, 0, 1).to(torch.float32) / 255
        for step in recipe.steps:
            image = operations.get_operation(step.operation)(image, torch.tensor(step.parameters))
        return (image * 255 + 0.5).to(torch.uint8).permute(1, 2, 0).contiguous()

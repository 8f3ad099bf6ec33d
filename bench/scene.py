"""What is measured on: a 24-megapixel photo made from an example, and the recipes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import PIL.Image

from t2onet import Recipe

EXAMPLES = Path(__file__).parent.parent / "examples"
SIZE = (6000, 4000)


@cache
def photo() -> PIL.Image.Image:
    """The dandelion, cut to 3:2 and enlarged."""
    picture = PIL.Image.open(EXAMPLES / "dandelion.jpg").convert("RGB")
    return picture.resize(SIZE, PIL.Image.Resampling.LANCZOS, box=(400, 0, 400 + 4482, 2988))


CURVES = [
    [0.9, 1.2, 1.2, 1.1, 1.0, 0.9, 0.9, 0.8],
    [1.0, 1.0, 1.1, 1.0, 1.0, 1.0, 1.0, 0.9],
    [1.2, 1.0, 0.9, 0.9, 0.9, 1.0, 1.0, 1.1],
]
CHAIN = Recipe.from_steps([("brightness", 0.1), ("saturation", 0.2), ("contrast", 0.2), ("color", CURVES)])
SHARP = CHAIN + Recipe.from_steps([("sharpness", 0.3)])
DARKROOM = Recipe.from_steps(
    [
        ("exposure", 0.4),
        ("white_balance", [15, 5]),
        ("highlights", -40),
        ("shadows", 30),
        ("contrast", 0.2),
        ("vibrance", 25),
    ]
)

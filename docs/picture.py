"""The before/after picture of the README, made by the tool itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from t2onet import Recipe, apply, open_image

ROOT = Path(__file__).parent.parent
HEIGHT, GAP = 540, 12


def main() -> None:
    photo = open_image(ROOT / "examples" / "meadow.jpg")
    look = Recipe.load(ROOT / "examples" / "looks" / "golden-evening.json")
    before, after = (np.asarray(image.resized(HEIGHT)) for image in (photo, apply(look, photo)))
    gap = np.full((before.shape[0], GAP, 3), 255, np.uint8)
    side_by_side = open_image(np.concatenate([before, gap, after], axis=1))
    side_by_side.save(ROOT / "docs" / "images" / "before-after.jpg", quality=88, overwrite=True)

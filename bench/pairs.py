"""Before/after pairs to plan on: real ones where the data lies beside the project, made ones everywhere."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import PIL.Image

from t2onet.image import Image
from t2onet.image.pixels import to_depth

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data" / "ma5k-req"
SIZE = 128

Pair = tuple[np.ndarray, np.ndarray]
"""Two pictures (3, H, W) float32."""


def real(split: str, count: int | None, seed: int = 0) -> list[Pair]:
    """Pairs of MA5k-Req in a seeded order; none where the data is absent."""
    if not DATA.is_dir():
        return []
    entries = json.loads((DATA / "annotations" / f"{split}_sess_1.json").read_text())
    names = sorted({Path(entry["input"]).stem.split("_")[0] for entry in entries})
    chosen = np.random.default_rng(seed).permutation(names)[:count]
    return [
        (_picture(DATA / "images" / f"{n}_O.webp"), _picture(DATA / "images" / f"{n}_C.webp")) for n in chosen
    ]


@cache
def made(count: int, seed: int = 0) -> list[Pair]:
    """Edits of the example photos outside the operation space: exposure, filmic contrast, tint, chroma."""
    photos = [_picture(path) for path in sorted((ROOT / "examples").glob("*.jpg"))]
    rng = np.random.default_rng(seed)
    return [(photo, _edited(photo, rng)) for photo in (photos[i % len(photos)] for i in range(count))]


def _edited(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    light = picture.astype(np.float64) ** 2.2 * 2 ** rng.uniform(-1, 1)
    light *= np.exp(rng.normal(0, 0.12, 3))[:, None, None]
    power = rng.uniform(0.8, 1.4)
    light = light**power / (light**power + rng.uniform(0.3, 0.9) ** power)
    shown = np.clip(light * (1 + rng.uniform(0.3, 0.9) ** power), 0, 1) ** (1 / 2.2)
    grey = shown.mean(axis=0, keepdims=True)
    return np.ascontiguousarray(np.clip(grey + rng.uniform(0.6, 1.4) * (shown - grey), 0, 1), np.float32)


def edited(photo: Image, seed: int) -> Image:
    """A whole photo after such an edit."""
    channels = to_depth(photo.pixels, np.float32).transpose(2, 0, 1)
    after = _edited(channels, np.random.default_rng(seed)).transpose(1, 2, 0)
    return Image(to_depth(np.ascontiguousarray(after), np.uint8), origin=photo.origin)


def _picture(path: Path) -> np.ndarray:
    with PIL.Image.open(path) as file:
        small = file.convert("RGB").resize((SIZE, SIZE), PIL.Image.Resampling.BOX)
    return np.ascontiguousarray(to_depth(np.asarray(small), np.float32).transpose(2, 0, 1))

"""Series: how alike photos of one scene come out, and whether scenes are told apart.

`python -m bench series` makes series of photos of the train split of MA5k-Req (of the examples without the
datasets): each photo six times, up to 1.2 stops lighter or darker, up to 35 mired warmer or cooler and 15 of
tint, once as it is and once in crops that leave nine tenths of each side. Spread is the standard deviation of
the mean L*, a* and b* of a series, after the edit as a share of before. Scenes are told apart without times.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from t2onet import Recipe, apply, open_image
from t2onet.editor import apply_to_thumbnail
from t2onet.editor.editor import Editor
from t2onet.editor.series import SeriesPhoto, group_scenes, plan_series
from t2onet.image import Image
from t2onet.image.colour import srgb_to_lab
from t2onet.options import EXPERT, LITERAL, Mode

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
EXAMPLES = Path(__file__).parent.parent / "examples"
COUNT, LENGTH = 20, 6
STOPS, MIRED, TINT, KEPT = 1.2, 35.0, 15.0, 0.9
MAX_SHARE = 0.4
REQUESTS: tuple[tuple[str, Mode], ...] = (
    ("a bit brighter and warmer, with more contrast", LITERAL),
    ("a faded film look", LITERAL),
    ("darken the shadows and make the colours richer", LITERAL),
    ("fix this", EXPERT),
)


def list_photos(count: int) -> list[Path]:
    """Photos that are far from each other in the train split, or the examples."""
    file = DATA / "ma5k-req/annotations/train_sess_1.json"
    if not file.exists():
        return sorted(EXAMPLES.glob("*.jpg"))[:count]
    names = sorted({Path(entry["input"]).stem for entry in json.loads(file.read_text(encoding="utf-8"))})
    found = [DATA / f"ma5k-req/images/{name}.webp" for name in names[:: len(names) // count]]
    return [path for path in found if path.exists()][:count]


def make_series(photo: Path, rng: np.random.Generator, *, cropped: bool) -> list[Image]:
    """The photo as a camera would take it several times by its own judgement."""
    image = open_image(photo)
    series = []
    for _ in range(LENGTH):
        ev, temperature, tint = rng.uniform(-1, 1, 3) * (STOPS, MIRED, TINT)
        recipe = Recipe.from_steps(
            [("exposure", float(ev)), ("white_balance", [round(temperature), round(tint)])]
        )
        taken = np.asarray(apply(recipe, image))
        if cropped:
            height, width = (round(side * KEPT) for side in taken.shape[:2])
            top, left = (
                int(rng.integers(0, rest + 1)) for rest in (taken.shape[0] - height, taken.shape[1] - width)
            )
            taken = taken[top : top + height, left : left + width]
        series.append(open_image(np.ascontiguousarray(taken)))
    return series


def measure_spread(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """(3,): the standard deviation of mean L*, a* and b*."""
    means = [srgb_to_lab(picture.astype(float)).reshape(3, -1).mean(1) for picture in pictures]
    spread: np.ndarray = np.std(means, axis=0)
    return spread


def main() -> None:
    photos = list_photos(COUNT)
    for cropped in (False, True):
        rng = np.random.default_rng(0)
        series = [make_series(photo, rng, cropped=cropped) for photo in photos]
        compared = [[SeriesPhoto.of(image) for image in one] for one in series]
        print(f"  {len(series)} series of {LENGTH}{', cropped' if cropped else ''}")
        for request, mode in REQUESTS:
            shares = np.array(
                [
                    _measure_share(images, one, request, mode)
                    for images, one in zip(series, compared, strict=True)
                ]
            )
            print(
                f"    {request!r}, {mode}: spread of L*, a*, b* "
                + ", ".join(f"{value:.2f}" for value in shares.mean(0))
                + f" of before, the worst series {shares.max():.2f} (bar: at most {MAX_SHARE} on average)"
            )
        everything = [photo for one in compared for photo in one]
        scenes = group_scenes(everything)
        whole = sum(
            scene == list(range(scene[0], scene[0] + LENGTH)) and scene[0] % LENGTH == 0 for scene in scenes
        )
        print(f"    scenes told apart: {len(scenes)} found, {whole} of them exactly one of the series")
    strangers = [SeriesPhoto.of(open_image(photo)) for photo in list_photos(400)]
    print(f"  {len(strangers)} photos of different scenes: {len(group_scenes(strangers))} scenes found")


def _measure_share(
    images: Sequence[Image], photos: Sequence[SeriesPhoto], request: str, mode: Mode
) -> np.ndarray:
    """The spread of a series after the edit as a share of before; as one scene."""
    planned = plan_series(photos, lambda at: Editor(images[at]).ask(request, mode=mode), like=0)
    before = [photo.picture for photo in photos]
    after = [
        apply_to_thumbnail(one.edit.recipe, picture) for one, picture in zip(planned, before, strict=True)
    ]
    share: np.ndarray = measure_spread(after) / measure_spread(before)
    return share

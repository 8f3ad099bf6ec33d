"""A table of small networks that train in a second, and a dataset to measure them on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image

from t2onet.evaluation.paper_tables import (
    FID,
    L1,
    SIGMA,
    SSIM,
    USERS,
    PaperRow,
    PaperRun,
    PaperTable,
)
from tests.conftest import EXAMPLES
from tests.models.baselines.helpers import SMALL as BASELINES
from tests.training.helpers import SMALL

SHORT = ("iterations=4", "validate_every=4")
T2ONET = PaperRun("paper", "paper", (*SMALL, *SHORT))
GAN = PaperRun(
    "pix2pixaug",
    "pix2pixaug",
    (*(f"{key}={value}" for key, value in BASELINES["pix2pixaug"].items()), "batch=4", *SHORT),
)
AFTER = PaperRun("rl-pretrained", "rl-pretrained", (*SMALL, *SHORT), starts_from=T2ONET)
TINY = PaperTable(
    "tiny",
    "A tiny table",
    (L1, SSIM, FID, SIGMA, USERS),
    (
        PaperRow("Target", paper={USERS: 3.5}),
        PaperRow("Input", system="identity", paper={L1: 0.119, SSIM: 0.8}),
        PaperRow("Pix2pixAug", GAN, paper={L1: 0.0928, SSIM: 0.7938, SIGMA: 0.54}, gier={L1: 0.1255}),
        PaperRow("RL after plans", AFTER, paper={L1: 0.0955}),
        PaperRow("T2ONet", T2ONET, paper={L1: 0.0784, SSIM: 0.8459, SIGMA: 0.719}, gier={L1: 0.0997}),
    ),
    reference="T2ONet",
    notes=("It is tiny.",),
)
NAMES = ("dogs", "drum", "stream", "trail")


def small_pairs(folder: Path) -> Path:
    """Four small pairs of the split val, brightened, with what was asked for."""
    for side in ("before", "after"):
        (folder / "pairs" / side).mkdir(parents=True)
    for name in NAMES:
        with PIL.Image.open(EXAMPLES / f"{name}.jpg") as photo:
            photo.draft("RGB", (96, 80))
            small = np.asarray(photo.resize((48, 40)), np.float64)
        PIL.Image.fromarray(np.uint8(small)).save(folder / "pairs" / "before" / f"{name}.png")
        brighter = np.uint8((1.25 * small).clip(0, 255))
        PIL.Image.fromarray(brighter).save(folder / "pairs" / "after" / f"{name}.png")
    lines = ["name,request,split", *(f"{name},make it brighter,val" for name in NAMES)]
    (folder / "pairs" / "requests.csv").write_text("\n".join(lines))
    return folder / "pairs"

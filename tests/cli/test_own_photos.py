"""Training on one's own photos, from a folder of them to an edit, by the commands of docs/training.md."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pytest
import torch

from t2onet import Recipe
from tests.cli.helpers import T2O, pixels
from tests.conftest import EXAMPLES, ROOT
from tests.extras import DISTRIBUTIONS, PACKAGE, list_distributions, list_imported_distributions
from tests.training.helpers import SMALL

pytestmark = pytest.mark.slow

SIDE = "32"
"""Pixels of the photos that are learned from; a network sees 128 x 128 when it is asked."""
SHORT = ("iterations=2", "validate_every=2", "batch=4")
SMALLER = {
    "data simulate": ["--size", SIDE, "--val", "0.4"],
    "data plan": ["--size", SIDE, "--workers", "1", "--steps", "2"],
    "data pack": ["--plan-size", SIDE, "--plan-steps", "2", "--size", SIDE],
    "train paper": ["--cpu", *(f"--set={one}" for one in (*SHORT, *SMALL))],
    "evaluate simulated": ["--count", "2", "--each", "1", "--json"],
    "reproduce main": ["--count", "2", "--each", "1", "--json"],
}
"""What is added to the documented commands."""


def read_documented_commands() -> list[list[str]]:
    """The commands of the section, without `t2o`."""
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"## From your photos to your network\n\n```sh\n(.*?)```", page, re.DOTALL)
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return [words[1:] for words in lines if words]


@pytest.fixture
def _only_the_extra_train(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other extras bring cannot be imported."""
    modules = {distribution: name for name, distribution in DISTRIBUTIONS.items()}
    used = {one for path in PACKAGE.rglob("*.py") for one in list_imported_distributions(path)}
    for distribution in used - list_distributions("train"):
        monkeypatch.setitem(sys.modules, modules.get(distribution, distribution.replace("-", "_")), None)


@pytest.fixture
def photos(folder: Path) -> Path:
    """The folder with `photos` and `photo.jpg`, small."""
    Path("photos").mkdir()
    for name in ("dogs", "drum", "fig", "meadow", "stream"):
        with PIL.Image.open(EXAMPLES / f"{name}.jpg") as photo:
            photo.thumbnail((96, 96))
            photo.save(f"photos/{name}.jpg")
    Path("photos/stream.jpg").rename("photo.jpg")
    return folder


def answers(t2o: T2O) -> Iterator[tuple[str, str]]:
    """What each command is and prints, run one after the other."""
    torch.set_num_threads(1)
    for words in read_documented_commands():
        name = " ".join(words)
        more = next((more for start, more in SMALLER.items() if name.startswith(start)), [])
        answer = t2o(*words, *more)
        assert answer.code == 0, f"t2o {name}: {answer.err}"
        yield name, answer.out


@pytest.mark.usefixtures("_only_the_extra_train")
def test_the_documented_commands_lead_from_photos_to_edits(t2o: T2O, photos: Path) -> None:
    printed = dict(answers(t2o))
    trained = printed["train paper --data packed -o runs/paper"]
    assert "ended by iterations after iteration 2 -> runs/paper" in trained
    assert [name.split()[0] for name in printed] == [
        *("data", "data", "data", "train", "export", "edit", "evaluate", "reproduce"),
    ]
    assert pixels("photo-edited.jpg").shape == pixels("photo.jpg").shape
    (sidecar,) = photos.glob("photo-edited*.json")
    assert isinstance(Recipe.load(sidecar), Recipe)
    measured = json.loads(next(out for name, out in printed.items() if name.startswith("evaluate")))
    assert set(measured["figures"]) == {"t2onet", "identity"}
    assert measured["labels"] == "simulated"
    systems = json.loads(Path("results/main/systems.json").read_text())["simulated"]
    assert (systems["T2ONet"]["iterations"], systems["T2ONet"]["finished"]) == ("2 of 2", True)
    assert "Iterations trained" in Path("results/main/table.md").read_text()

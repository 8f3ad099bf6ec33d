"""`t2o remember` and `t2o export`: pairs -> a style -> photos edited in it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.inference import MEMORY_FILE
from t2onet.models import style_memory
from t2onet.models.style_memory import MIN_PAIRS
from tests.cli.helpers import T2O
from tests.planning.scenes import scene

pytest.importorskip("efficientnet_lite_pytorch")
pytestmark = pytest.mark.slow


@pytest.fixture
def pairs(folder: Path) -> Path:
    """Pairs of the split train, each made brighter, under `mine`."""
    for side in ("before", "after"):
        Path("mine", side).mkdir(parents=True)
    for number in range(MIN_PAIRS):
        before = scene(140, number).transpose(1, 2, 0)[:, :130]
        for side, picture in (("before", before), ("after", before**0.7)):
            PIL.Image.fromarray(np.uint8(255 * picture + 0.5)).save(f"mine/{side}/{number}.png")
    lines = ["name,request,split", *(f"{number},brighter,train" for number in range(MIN_PAIRS))]
    Path("mine/requests.csv").write_text("\n".join(lines))
    return folder


def test_a_style_is_learned_exported_and_used(t2o: T2O, pairs: Path) -> None:
    answer = t2o("remember", "mine", "-o", "style.safetensors")
    assert (answer.code, answer.out) == (0, f"{MIN_PAIRS} edits remembered -> style.safetensors\n")
    done = t2o("export", "style.safetensors", "out")
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in Path("out").iterdir()] == [MEMORY_FILE]
    assert t2o("edit", "mine/before/3.png", "brighter", "--network", "out", "-o", "edited.png").code == 0
    before, edited = (np.asarray(PIL.Image.open(name)).mean() for name in ("mine/before/3.png", "edited.png"))
    assert edited > before + 5
    free = t2o(
        *("edit", "mine/before/3.png", "brighter", "--network", "out", "-o", "free.png"),
        *("--reader", "free", "--json"),
    )
    assert [one["reader"] for one in json.loads(free.out)] == ["free"]
    assert np.asarray(PIL.Image.open("free.png")).mean() > before + 5
    again = t2o("export", "style.safetensors", "out")
    assert (again.code, "holds a network already (memory.onnx)" in again.err) == (2, True)


def test_a_file_is_kept_unless_it_may_be_replaced(t2o: T2O, pairs: Path) -> None:
    Path("memory.safetensors").write_text("mine")
    answer = t2o("remember", "mine", "-o", "memory.safetensors")
    assert answer.code == 2
    assert "exists; give another name or --overwrite" in answer.err
    assert Path("memory.safetensors").read_text() == "mine"


def test_what_is_no_memory_is_refused(t2o: T2O, pairs: Path) -> None:
    answer = t2o("remember", "mine", "-o", "memory.safetensors", "--split", "val")
    assert answer.code == 2
    assert not Path("memory.safetensors").exists()


def test_it_is_refused_before_the_work_where_nothing_can_come_of_it(
    t2o: T2O, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style_memory, "build_style_memory", pytest.fail)
    nowhere = t2o("remember", "mine", "-o", "absent/memory.safetensors")
    assert (nowhere.code, "there is no folder absent" in nowhere.err) == (2, True)
    monkeypatch.setattr(style_memory, "MAX_PAIRS", MIN_PAIRS - 1)
    many = t2o("remember", "mine", "-o", "memory.safetensors")
    assert (many.code, f"has {MIN_PAIRS} pairs of train" in many.err) == (2, True)

"""`t2o remember` and `t2o export --memory`: pairs -> a memory -> a network that has it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from t2onet.editor.policy import MEMORY_FILE, open_policy
from t2onet.language import Vocabulary
from t2onet.language.vocabulary import SPECIAL
from t2onet.models import style_memory
from t2onet.models.files import describe_network, write_tensors
from t2onet.models.style_memory import MIN_PAIRS
from tests.cli.helpers import T2O
from tests.models.made_retoucher import SMALL, VERDICTS, network
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


def test_a_memory_is_made_and_put_beside_a_network(t2o: T2O, pairs: Path) -> None:
    answer = t2o("remember", "mine", "-o", "memory.safetensors")
    assert (answer.code, answer.out) == (0, f"{MIN_PAIRS} edits remembered -> memory.safetensors\n")
    told = describe_network("retoucher", SMALL, Vocabulary(SPECIAL)) | {"verdicts": json.dumps(VERDICTS)}
    write_tensors(Path("network.safetensors"), network().state_dict(), told)
    assert t2o("export", "network.safetensors", "out", "--memory", "memory.safetensors").code == 0
    assert Path("out", MEMORY_FILE).is_file()
    expert = open_policy(Path("out")).answer(scene(128, 99), "brighter", "expert")
    assert expert.attention[-1] == ()


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

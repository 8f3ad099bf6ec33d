"""`python -m t2onet.training`, and answering, on a machine that has torch, Accelerate and little else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from t2onet.data.records import QuestionSet, read_answers_source
from t2onet.language import Vocabulary
from t2onet.language.vocabulary import SPECIAL
from t2onet.models import describe_network
from t2onet.models.answering import NO_BFLOAT16_MESSAGE
from t2onet.models.files import write_tensors
from tests.conftest import ROOT
from tests.models.baselines.made import SMALL as BASELINES
from tests.models.made import WORDS, small
from tests.training.made import OPPONENT, REQUESTS, SMALL, packed_folder, picture

ABSENT = [
    *("pydantic", "typer", "rich", "numba", "scipy", "h5py"),
    *("tensorboard", "torchmetrics", "cv2", "skimage"),
]

BARE = f"""
import sys
class Absent:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        return None if name.split(".")[0] in {ABSENT} else self.finder.find_spec(name, *rest)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = [Absent(finder) for finder in sys.meta_path]
from importlib import import_module
code = import_module(sys.argv[1]).main(sys.argv[2:])
print("loaded:", *sorted(set(sys.modules) & set({ABSENT})))
sys.exit(code)
"""


def bare(*arguments: object, module: str = "t2onet.training.__main__") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BARE, module, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


@pytest.mark.slow
def test_it_trains_and_resumes_without_anything_else(tmp_path: Path) -> None:
    packed, out = packed_folder(tmp_path), tmp_path / "out"
    settings = [f"--set={setting}" for setting in (*SMALL, "iterations=12", "validate_every=6")]
    told = bare("paper", "--data", packed, "--out", out, "--cpu", *settings)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines()[-1] == "loaded:"
    assert "10/12  operation" in told.stdout
    assert "ssim" not in told.stdout
    assert {path.name for path in out.iterdir()} == {
        "best.safetensors",
        "checkpoint.safetensors",
        "figures.jsonl",
        "run.json",
    }
    again = bare("paper", "--data", packed, "--out", out, "--cpu", *settings)
    assert (again.returncode, "holds a run already" in again.stderr) == (2, True)
    resumed = bare("paper", "--data", packed, "--out", out, "--cpu", "--resume", "--minutes", "1", *settings)
    assert "resuming after iteration 12" in resumed.stdout


@pytest.mark.slow
def test_it_answers_questions_without_anything_else(tmp_path: Path) -> None:
    weights = tmp_path / "runs" / "paper" / "best.safetensors"
    weights.parent.mkdir(parents=True)
    network = small()
    words = Vocabulary((*SPECIAL, *(f"w{number}" for number in range(len(SPECIAL), WORDS))))
    facts = {"iteration": "4", "figures": json.dumps({"l1": 0.25})}
    write_tensors(
        weights, network.state_dict(), {**describe_network("t2onet", network.config, words), **facts}
    )
    questions = QuestionSet.of((picture(number), REQUESTS[number]) for number in range(3))
    (tmp_path / "questions.zip").write_bytes(questions.zipped())
    told = ("--runs", tmp_path / "runs", "-o", tmp_path / "answers", "--narrow")
    answer = bare(tmp_path / "questions.zip", *told, module="t2onet.training.answering")
    assert answer.returncode == 0, answer.stderr
    *narrow, first, last = answer.stdout.splitlines()
    assert (first.split(",")[0], last) == ("paper: 3 answers", "loaded:")
    about = read_answers_source(tmp_path / "answers" / "paper.zip")
    assert about["narrow"] is (narrow != [NO_BFLOAT16_MESSAGE])
    assert (about["run"], about["network"], about["iteration"]) == ("paper", "t2onet", 4)
    assert (about["figures"], about["questions"]) == ({"l1": 0.25}, questions.fingerprint)
    assert (about["config"]["hidden"], about["settings"], len(about["weights"])) == (16, None, 12)
    (tmp_path / "answers" / "paper.zip").unlink()
    (weights.parent / "run.json").write_text("{")
    broken = bare(tmp_path / "questions.zip", *told[:-1], module="t2onet.training.answering")
    assert (broken.returncode, broken.stderr.count("\n")) == (2, 1)
    assert "run.json cannot be read as the record of a run" in broken.stderr
    again = bare(weights, *told, module="t2onet.training.answering")
    assert (again.returncode, "best.safetensors cannot be read as questions" in again.stderr) == (2, True)


GAME = tuple(f"{name}={value}" for name, value in BASELINES["geneva"].items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "changes"),
    [
        pytest.param("paper", (*SMALL, *OPPONENT, "image_loss=both"), id="against an opponent that rests"),
        pytest.param("geneva", (*GAME, "batch=4"), id="two players"),
    ],
)
def test_two_processes_train_one_network(config: str, changes: tuple[str, ...], tmp_path: Path) -> None:
    packed, out = packed_folder(tmp_path), tmp_path / "out"
    settings = [f"--set={setting}" for setting in (*changes, "iterations=3", "validate_every=2")]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launch, "-m", "t2onet.training", config, "--data", packed, "--out", out, "--cpu", *settings]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    told = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("ended by iterations after iteration 3") == 1

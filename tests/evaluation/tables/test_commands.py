"""Tables as commands for a machine that has little."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from t2onet.errors import TrainingError
from t2onet.evaluation.__main__ import main
from t2onet.evaluation.paper_tables import PaperPlans, PaperRun
from t2onet.evaluation.runs import (
    PaperRunCommands,
    build_packing_commands,
    build_training_script,
    repeat_runs,
)
from tests.conftest import ROOT
from tests.training.test_bare import ABSENT

FIRST = PaperRun("paper", "paper")
PLANNED = PaperRun("paper-tone", "paper", ("operations=tone",), PaperPlans("tone", ("tone",), way="beam"))
LATER = PaperRun("rl-pretrained", "rl-pretrained", after=FIRST)


def test_a_run_is_one_command_that_may_be_given_again() -> None:
    training = PaperRunCommands(Path("sets/packed"), Path("runs"), ("batch=8",), minutes=2.5, half=True)
    assert list(build_training_script(training, [LATER, PLANNED, FIRST])) == [
        "python -m t2onet.training train paper --data sets/packed-tone --out runs/paper-tone --resume "
        "--words sets/packed/words.npz --set operations=tone --set batch=8 --minutes 2.5 --half",
        "python -m t2onet.training train paper --data sets/packed --out runs/paper --resume "
        "--set batch=8 --minutes 2.5 --half",
        "python -m t2onet.training train rl-pretrained --data sets/packed --out runs/rl-pretrained --resume "
        "--from runs/paper/best.safetensors --set batch=8 --minutes 2.5 --half",
    ]


def test_several_at_once_wait_for_what_they_begin_with() -> None:
    lines = list(
        build_training_script(
            PaperRunCommands(Path("packed"), Path("runs")), [LATER, PLANNED, FIRST], at_once=2
        )
    )
    assert lines[0] == "mkdir -p runs"
    assert [line.split()[0] for line in lines[1:]] == ["python", "python", "wait", "python", "wait"]
    assert lines[2].endswith("> runs/paper.log 2>&1 &")
    alone = list(
        build_training_script(PaperRunCommands(Path("packed"), Path("runs")), [PLANNED, FIRST], at_once=3)
    )
    assert [line.split()[0] for line in alone] == ["mkdir", "python", "python", "wait"]


def test_runs_are_repeated_from_other_seeds() -> None:
    """Each in a folder of its own, and after what it begins with."""
    lines = list(
        build_training_script(PaperRunCommands(Path("packed"), Path("runs")), repeat_runs([FIRST, LATER], 2))
    )
    assert [line.split(" --out ")[1] for line in lines] == [
        "runs/paper --resume",
        "runs/paper-seed-1 --resume --set seed=1",
        "runs/rl-pretrained --resume --from runs/paper/best.safetensors",
        "runs/rl-pretrained-seed-1 --resume --from runs/paper-seed-1/best.safetensors --set seed=1",
    ]


@pytest.mark.parametrize("setting", ["seed=7", " seed = 7"])
def test_one_seed_for_all_repetitions_is_refused(setting: str) -> None:
    """They would be equal runs, and their spread no measure of noise."""
    with pytest.raises(TrainingError, match=r"^--seeds 2 trains .* --set .*seed.* give one of the two$"):
        repeat_runs([FIRST], 2, ["iterations=4", setting])
    assert repeat_runs([FIRST], 1, [setting]) == [FIRST]
    assert len(repeat_runs([FIRST], 2, ["seeds=7"])) == 2


def test_packing_says_what_plans_need() -> None:
    plans = PaperPlans("few", ("tone", "color"), 2, "fixed")
    assert list(build_packing_commands(plans, Path("ma5k-req"), Path("plans"), Path("packed"))) == [
        "t2o data plan ma5k-req -o plans --split train --way fixed --operations tone,color --steps 2",
        "t2o data pack ma5k-req --split train --plans plans --plan-way fixed "
        "--plan-operations tone,color --plan-steps 2 --photos-of packed -o packed-few",
    ]


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sampling-width", "--only", "paper-h-0.1", "--python", "py"]) == 0
    assert capsys.readouterr().out == (
        "py -m t2onet.training train paper --data packed --out runs/paper-h-0.1 --resume --set h=0.1\n"
    )
    assert main(["single-operations", "--plan", "ma5k-req"]) == 0
    assert capsys.readouterr().out.count("t2o data pack ") == 6
    assert main(["mean"]) == 2
    assert capsys.readouterr().err.startswith("there is no table 'mean'")


def test_it_runs_where_there_is_little() -> None:
    block = f"import sys; sys.modules.update(dict.fromkeys({[*ABSENT, 'torch', 'onnxruntime']}))"
    code = f"{block}; from t2onet.evaluation.__main__ import main; sys.exit(main(['all']))"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=os.environ, check=False
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("python -m t2onet.training") > 30

"""`python -m t2onet.training` with torch, Accelerate, safetensors, NumPy, Pillow and nothing else."""

from __future__ import annotations

import json
import os
import string
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from packaging.utils import canonicalize_name
from safetensors.torch import load_file, save_file

from t2onet.data.records import QuestionSet, read_answers_source
from t2onet.language import Vocabulary
from t2onet.language.vocabulary import SPECIAL
from t2onet.models.answering import NO_BFLOAT16_MESSAGE
from t2onet.models.files import describe_network, write_tensors
from tests.conftest import ROOT
from tests.extras import find_requirements
from tests.models.baselines.helpers import SMALL as BASELINES
from tests.models.helpers import WORDS, small
from tests.training.helpers import OPPONENT, REQUESTS, SMALL, make_packed_folder, picture

REQUIRED = ("torch", "accelerate", "safetensors", "numpy", "pillow")

HIDE = """
import sys
importable = {*sys.argv[1:], *sys.stdlib_module_names}
class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        # The data of `sysconfig` is a module of the standard library whose name depends on the machine.
        shown = name.partition(".")[0] in importable or name.startswith("_sysconfigdata")
        return self.finder.find_spec(name, *rest) if shown else None
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""

SERVE = """
import contextlib, io, json, traceback
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            from t2onet.training.__main__ import main
            code = main(json.loads(line))
        except Exception:
            traceback.print_exc()
            code = 1
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


def hide_others(script: str) -> list[str]:
    """The command line of a script that can import the required distributions and this package alone.

    Other modules are not found, as on a bare machine: Accelerate probes for optional ones by `find_spec`.
    """
    installed = find_requirements(REQUIRED)
    modules = {
        module
        for module, owners in packages_distributions().items()
        if installed.intersection(map(canonicalize_name, owners))
    }
    return [sys.executable, "-c", HIDE + script, "t2onet", *modules]


class Result(NamedTuple):
    code: int
    out: str
    err: str


Bare = Callable[..., Result]


@pytest.fixture(scope="module")
def bare() -> Iterator[Bare]:
    """Runs command lines in one process that cannot import anything else."""
    with subprocess.Popen(
        hide_others(SERVE),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def run(*arguments: object) -> Result:
            process.stdin.write(json.dumps(list(map(str, arguments))) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return Result(*json.loads(process.stdout.readline()))  # type: ignore[union-attr]

        yield run
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pytest", "pydantic", "numba"])
def test_what_is_not_required_cannot_be_imported(module: str) -> None:
    done = subprocess.run(
        hide_others(f"import {module}"),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stderr.endswith(f"No module named '{module}'\n")


@pytest.mark.slow
def test_it_trains_and_resumes(bare: Bare, tmp_path: Path) -> None:
    packed, out = make_packed_folder(tmp_path), tmp_path / "out"
    settings = [f"--set={setting}" for setting in (*SMALL, "iterations=12", "validate_every=6")]
    first = bare("train", "paper", "--data", packed, "--out", out, "--cpu", *settings)
    assert first.code == 0, first.err
    assert "10/12  operation" in first.out
    assert "ssim" not in first.out
    assert {path.name for path in out.iterdir()} == {
        "best.safetensors",
        "checkpoint.safetensors",
        "figures.jsonl",
        "run.json",
    }
    again = bare("train", "paper", "--data", packed, "--out", out, "--cpu", *settings)
    assert (again.code, "holds a run already" in again.err) == (2, True)
    resume = ("--resume", "--minutes", "1")
    resumed = bare("train", "paper", "--data", packed, "--out", out, "--cpu", *resume, *settings)
    assert "resuming after iteration 12" in resumed.out


@pytest.mark.slow
def test_it_answers_questions(bare: Bare, tmp_path: Path) -> None:
    weights = tmp_path / "runs" / "paper" / "best.safetensors"
    weights.parent.mkdir(parents=True)
    network = small()
    words = Vocabulary((*SPECIAL, *(f"w{number}" for number in range(len(SPECIAL), WORDS))))
    facts = {"iteration": "4", "figures": json.dumps({"l1": 0.25})}
    write_tensors(
        weights, network.state_dict(), {**describe_network("t2onet", network.config, words), **facts}
    )
    questions = QuestionSet.from_pairs((picture(number), REQUESTS[number]) for number in range(3))
    (tmp_path / "questions.zip").write_bytes(questions.to_zip())
    options = ("--runs", tmp_path / "runs", "-o", tmp_path / "answers", "--narrow")
    answer = bare("answer", tmp_path / "questions.zip", *options)
    assert answer.code == 0, answer.err
    *notes, last = answer.out.splitlines()
    assert last.startswith("paper: 3 answers, ")
    about = read_answers_source(tmp_path / "answers" / "paper.zip")
    assert about["narrow"] is (notes != [NO_BFLOAT16_MESSAGE])
    assert (about["run"], about["network"], about["iteration"]) == ("paper", "t2onet", 4)
    assert (about["figures"], about["questions"]) == ({"l1": 0.25}, questions.fingerprint)
    assert (about["config"]["hidden"], about["settings"], len(about["weights"])) == (16, None, 12)
    assert bare("answer", tmp_path / "questions.zip", *options).out.endswith("paper: already answered\n")
    (tmp_path / "answers" / "paper.zip").unlink()
    (weights.parent / "run.json").write_text("{")
    broken = bare("answer", tmp_path / "questions.zip", *options[:-1])
    assert (broken.code, broken.err.count("\n")) == (2, 1)
    assert "run.json cannot be read as the record of a run" in broken.err
    again = bare("answer", weights, *options)
    assert (again.code, "best.safetensors cannot be read as questions" in again.err) == (2, True)


@pytest.mark.slow
def test_it_packs_for_the_reader(bare: Bare, tmp_path: Path) -> None:
    """With a word list of letters in place of MiniLM's; training itself is measured with the real one."""
    letters = [*string.ascii_lowercase, *(f"##{one}" for one in "aeiou")]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters]
    minilm, packed = tmp_path / "minilm", tmp_path / "packed"
    minilm.mkdir()
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    (minilm / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}))
    weights = torch.arange(2.0 * len(pieces)).reshape(len(pieces), 2)
    save_file({"embeddings.word_embeddings.weight": weights}, minilm / "model.safetensors")
    done = bare("reader", "pack", tmp_path, minilm, packed)
    assert (done.code, done.out) == (0, f"0 requests, {len(pieces)} pieces -> {packed}\n"), done.err
    assert (packed / "pieces.txt").read_text().split() == pieces
    kept = load_file(packed / "encoder.safetensors")["embeddings.word_embeddings.weight"]
    torch.testing.assert_close(kept.float(), weights)


GENEVA = tuple(f"{name}={value}" for name, value in BASELINES["geneva"].items())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "changes"),
    [
        pytest.param("paper", (*SMALL, *OPPONENT, "image_loss=both"), id="discriminator that skips"),
        pytest.param("geneva", (*GENEVA, "batch=4"), id="two learners"),
    ],
)
def test_two_processes_train_one_network(config: str, changes: tuple[str, ...], tmp_path: Path) -> None:
    packed, out = make_packed_folder(tmp_path), tmp_path / "out"
    settings = [f"--set={setting}" for setting in (*changes, "iterations=3", "validate_every=2")]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    train = ["-m", "t2onet.training", "train", config, "--data", packed, "--out", out, "--cpu", *settings]
    done = subprocess.run(
        list(map(str, [*launch, *train])),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ended by iterations after iteration 3") == 1

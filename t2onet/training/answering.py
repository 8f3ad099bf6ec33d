"""`python -m t2onet.training.answering`: what trained networks answer, for a machine that measures them."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..data.recorded import Answers, Asked, Painted, Questions, Recipes, read_questions
from ..data.recorded.answers import about_answers
from ..data.recorded.archive import Levels, floats, levels
from ..data.run_records import BEST, read_record
from ..errors import DataError, T2OError, TrainingError
from ..image import read_regular, write_atomically
from ..models import load_network
from ..models.answering import Answering, Decisions, answering
from ..models.precision import NO_BFLOAT16, answering_device, computes_bfloat16

_BATCH = 64
_SILENT = ("retoucher", "discriminator")
"""Kinds that are not asked: one has manners, so that its weights are brought; the other makes no pictures."""


def answer_runs(
    questions: Path,
    runs: Path,
    out: Path,
    *,
    only: Sequence[str] = (),
    narrow: bool = False,
    say: Callable[[str], None],
) -> None:
    """Ask the best weights of every run in a folder, or of those named, and write `out`/NAME.zip for each.

    A run whose weights have answered these questions already is left alone.
    """
    asked = read_questions(questions)
    if narrow and not computes_bfloat16(answering_device()):
        narrow = False
        say(NO_BFLOAT16)
    out.mkdir(parents=True, exist_ok=True)
    for name in _names(runs, only):
        weights, path = runs / name / BEST, out / f"{name}.zip"
        facts = {"questions": asked.fingerprint, "weights": digest(weights), "narrow": narrow}
        if _answered(path, facts):
            say(f"{name}: has answered already")
        elif (answers := answered(asked, weights, {"run": name, **facts}, narrow=narrow)) is None:
            say(f"{name}: left out, it is no network without manners that makes pictures")
        else:
            data = answers.zipped()
            write_atomically(path, data, overwrite=True)
            say(f"{name}: {len(answers.keys)} answers, {len(data) / 1e6:.1f} MB -> {path}")


def answered(
    questions: Questions, weights: Path, facts: Mapping[str, Any], *, narrow: bool = False
) -> Answers | None:
    """All answers of a file of weights; None if its kind is not asked."""
    loaded = load_network(weights)
    told = loaded.metadata
    if told["network"] in _SILENT:
        return None
    about = {
        **facts,
        "network": told["network"],
        "config": json.loads(told["config"]),
        **(read_record(weights.parent) or {"progress": None, "settings": None}),
        "iteration": int(told["iteration"]) if "iteration" in told else None,
        "figures": json.loads(told.get("figures", "{}")),
    }
    given = _given(answering(loaded, narrow=narrow), list(questions.asked.values()))
    return Answers(list(questions.asked), given, about)


def _given(network: Answering, asked: Sequence[Asked]) -> Recipes | Painted:
    steps: list[Decisions] = []
    pictures: list[Levels] = []
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        photos = np.stack([floats(one.picture) for one in batch])
        for reply in network.answer(photos, [one.request for one in batch]):
            if reply.steps is None:
                pictures.append(levels(reply.picture))
            else:
                steps.append(reply.steps)
    return Painted(pictures) if pictures else Recipes(steps)


def digest(path: Path) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of a file."""
    return hashlib.sha256(read_regular(path)).hexdigest()[:12]


def _names(runs: Path, only: Sequence[str]) -> list[str]:
    found = sorted(path.parent.name for path in runs.glob(f"*/{BEST}"))
    if not found:
        raise TrainingError(f"no folder in {runs} has {BEST}; give the folder of trained runs with --runs")
    if absent := [name for name in only if name not in found]:
        raise TrainingError(f"{runs} has no weights of {absent[0]}; there are {', '.join(found)}")
    return [name for name in found if not only or name in only]


def _answered(path: Path, facts: Mapping[str, object]) -> bool:
    """Whether a file answers these questions by these weights; one that cannot be read is made anew."""
    try:
        return path.is_file() and facts.items() <= about_answers(path).items()
    except (DataError, TypeError):
        return False


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Answer questions by trained runs; `t2o evaluate --ask` and `t2o reproduce --ask` write questions."""
    parser = argparse.ArgumentParser(prog="python -m t2onet.training.answering", description=main.__doc__)
    parser.add_argument("questions", type=Path, metavar="QUESTIONS", help="file of questions")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of the runs")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder for answers, a file for each")
    parser.add_argument("--only", default="", metavar="RUNS", help="these runs, by names between commas")
    parser.add_argument("--narrow", action="store_true", help="let the generators compute in bfloat16")
    given = parser.parse_args(arguments)
    only = [name for name in given.only.split(",") if name]
    try:
        answer_runs(given.questions, given.runs, given.out, only=only, narrow=given.narrow, say=_say)
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

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

from ..data.records import (
    BEST_WEIGHTS_FILE,
    AnswerSet,
    BytePicture,
    QuestionSet,
    RecordedPictures,
    RecordedQuestion,
    RecordedRecipes,
    read_answers_source,
    read_questions,
    read_run_record,
    to_byte_picture,
    to_float_picture,
)
from ..errors import DataError, T2OError, TrainingError
from ..image import read_regular_file, write_atomically
from ..models import load_network
from ..models.answering import (
    NO_BFLOAT16_MESSAGE,
    AppliedSteps,
    Predictor,
    make_predictor,
    select_device,
    supports_bfloat16,
)

_BATCH_SIZE = 64
_SKIPPED_KINDS = ("retoucher", "discriminator")
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
    if narrow and not supports_bfloat16(select_device()):
        narrow = False
        say(NO_BFLOAT16_MESSAGE)
    out.mkdir(parents=True, exist_ok=True)
    for name in _list_runs(runs, only):
        weights, path = runs / name / BEST_WEIGHTS_FILE, out / f"{name}.zip"
        facts = {"questions": asked.fingerprint, "weights": hash_file(weights), "narrow": narrow}
        if _is_answered(path, facts):
            say(f"{name}: has answered already")
        elif (answers := answer_questions(asked, weights, {"run": name, **facts}, narrow=narrow)) is None:
            say(f"{name}: left out, it is no network without manners that makes pictures")
        else:
            data = answers.zipped()
            write_atomically(path, data, overwrite=True)
            say(f"{name}: {len(answers.keys)} answers, {len(data) / 1e6:.1f} MB -> {path}")


def answer_questions(
    questions: QuestionSet, weights: Path, facts: Mapping[str, Any], *, narrow: bool = False
) -> AnswerSet | None:
    """All answers of a file of weights; None if its kind is not asked."""
    loaded = load_network(weights)
    told = loaded.metadata
    if told["network"] in _SKIPPED_KINDS:
        return None
    about = {
        **facts,
        "network": told["network"],
        "config": json.loads(told["config"]),
        **(read_run_record(weights.parent) or {"progress": None, "settings": None}),
        "iteration": int(told["iteration"]) if "iteration" in told else None,
        "figures": json.loads(told.get("figures", "{}")),
    }
    given = _collect_answers(make_predictor(loaded, narrow=narrow), list(questions.asked.values()))
    return AnswerSet(list(questions.asked), given, about)


def _collect_answers(
    network: Predictor, asked: Sequence[RecordedQuestion]
) -> RecordedRecipes | RecordedPictures:
    steps: list[AppliedSteps] = []
    pictures: list[BytePicture] = []
    for start in range(0, len(asked), _BATCH_SIZE):
        batch = asked[start : start + _BATCH_SIZE]
        photos = np.stack([to_float_picture(one.picture) for one in batch])
        for reply in network.answer(photos, [one.request for one in batch]):
            if reply.steps is None:
                pictures.append(to_byte_picture(reply.picture))
            else:
                steps.append(reply.steps)
    return RecordedPictures(pictures) if pictures else RecordedRecipes(steps)


def hash_file(path: Path) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of a file."""
    return hashlib.sha256(read_regular_file(path)).hexdigest()[:12]


def _list_runs(runs: Path, only: Sequence[str]) -> list[str]:
    found = sorted(path.parent.name for path in runs.glob(f"*/{BEST_WEIGHTS_FILE}"))
    if not found:
        raise TrainingError(
            f"no folder in {runs} has {BEST_WEIGHTS_FILE}; give the folder of trained runs with --runs"
        )
    if absent := [name for name in only if name not in found]:
        raise TrainingError(f"{runs} has no weights of {absent[0]}; there are {', '.join(found)}")
    return [name for name in found if not only or name in only]


def _is_answered(path: Path, facts: Mapping[str, object]) -> bool:
    """Whether a file answers these questions by these weights; one that cannot be read is made anew."""
    try:
        return path.is_file() and facts.items() <= read_answers_source(path).items()
    except (DataError, TypeError):
        return False


def _print_line(text: str) -> None:
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
        answer_runs(given.questions, given.runs, given.out, only=only, narrow=given.narrow, say=_print_line)
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m t2onet.training`: train, and answer with trained networks, on a machine with little installed.

Needs only torch, Accelerate, safetensors, NumPy and Pillow; exporting the reader needs onnx too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import T2OError
from ..models.answering import answer_runs
from .places import add_place_commands
from .reader_run import add_reader_commands, print_line
from .run import configs, train
from .style import add_style_command


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands; returns the exit code, 2 for refused input."""
    options = vars(_build_parser().parse_args(arguments))
    command = options.pop("command")
    try:
        command(**options)
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m t2onet.training")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_train(commands.add_parser("train", help="train a config on a packed set"))
    _add_answer(commands.add_parser("answer", help="answer recorded questions with trained runs"))
    add_reader_commands(commands.add_parser("reader", help="pack for, train and export the reader"))
    add_place_commands(commands.add_parser("places", help="pack for, train and export the place network"))
    add_style_command(commands.add_parser("style", help="fit and export the style of mode expert"))
    return parser


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=train)
    parser.add_argument("config", metavar="CONFIG", help=f"what to train: {', '.join(configs())}")
    parser.add_argument("--data", type=Path, required=True, help="folder of the packed set")
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and figures")
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--words", type=Path, help="words with vectors; by default words.npz beside the data")
    parser.add_argument("--from", dest="start", type=Path, metavar="FILE", help="weights to start from")
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint in --out")
    parser.add_argument("--minutes", type=float, help="stop after this time, with a checkpoint")
    parser.add_argument("--half", action="store_true", help="store the best weights in 16 bits")
    parser.add_argument("--cpu", action="store_true", help="do not use accelerators")


def _add_answer(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_answer)
    parser.add_argument(
        "questions",
        type=Path,
        metavar="QUESTIONS",
        help="file written by `t2o evaluate --ask` or `t2o reproduce --ask`",
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of the runs")
    parser.add_argument(
        "-o", "--out", type=Path, required=True, help="folder for the answers, a file per run"
    )
    parser.add_argument("--only", default="", metavar="RUNS", help="names of runs, separated by commas")
    parser.add_argument("--narrow", action="store_true", help="run the generators in bfloat16")


def _answer(questions: Path, runs: Path, out: Path, only: str, narrow: bool) -> None:
    names = [name for name in only.split(",") if name]
    answer_runs(questions, runs, out, only=names, bfloat16=narrow, report=print_line)


if __name__ == "__main__":
    sys.exit(main())

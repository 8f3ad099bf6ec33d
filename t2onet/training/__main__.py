"""`python -m t2onet.training`: train where there is nothing but torch, Accelerate, safetensors and Pillow."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import T2OError
from .run import configs, train


def main(arguments: list[str] | None = None) -> int:
    """Train a config on a packed set."""
    parser = argparse.ArgumentParser(prog="python -m t2onet.training", description=main.__doc__)
    parser.add_argument("config", help=f"what to train: {', '.join(configs())}")
    parser.add_argument("--data", type=Path, required=True, help="folder of the packed set")
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and figures")
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--words", type=Path, help="words with vectors; by default words.npz beside the data")
    parser.add_argument("--from", dest="start", type=Path, metavar="FILE", help="weights to begin with")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--minutes", type=float, help="end after so long, with a checkpoint")
    parser.add_argument("--half", action="store_true", help="store the best weights with 16 bits each")
    parser.add_argument("--cpu", action="store_true", help="leave accelerators alone")
    given = vars(parser.parse_args(arguments))
    try:
        train(given.pop("config"), given.pop("data"), given.pop("out"), **given)
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

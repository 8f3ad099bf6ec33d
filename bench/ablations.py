"""The paper's planning ablations on pairs at 128 x 128, beside the paper's figures."""

from __future__ import annotations

import os

from bench.pairs import made, real
from t2onet.evaluation.reproduce import ABLATIONS

COUNT = int(os.environ.get("T2O_BENCH_COMPARED", "100"))


def main() -> None:
    for label, pairs in (("MA5k-Req val", real("val", COUNT)), ("made from examples", made(20))):
        for make in ABLATIONS.values() if pairs else ():
            print(f"{label}\n{make(pairs, 'fast').to_markdown()}")

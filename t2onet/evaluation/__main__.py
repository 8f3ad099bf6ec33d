"""`python -m t2onet.evaluation`: print the commands that train the systems of a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import T2OError
from .paper_tables import PAPER_TABLES, get_paper_table
from .runs import (
    PaperRunCommands,
    build_packing_commands,
    build_training_script,
    collect_plans,
    collect_runs,
    repeat_runs,
)


def main(arguments: list[str] | None = None) -> int:
    """Print the commands that train the systems of tables; with --plan those that pack their plans."""
    parser = argparse.ArgumentParser(
        prog="python -m t2onet.evaluation.paper_tables", description=main.__doc__
    )
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=f"{', '.join(PAPER_TABLES)}, or all")
    parser.add_argument("--data", type=Path, default=Path("packed"), help="the packed set; others lie beside")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder for the runs")
    parser.add_argument("--only", default="", metavar="RUNS", help="these runs, by names between commas")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="train each run from N seeds")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--minutes", type=float, help="for each run")
    parser.add_argument("--half", action="store_true", help="store the best weights with 16 bits each")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="train so many side by side")
    parser.add_argument("--python", default="python", help="the interpreter that trains")
    parser.add_argument("--plan", type=Path, metavar="DATASET", help="print how plans are made and packed")
    parser.add_argument("--cache", type=Path, default=Path("plans"), help="folder of all plans")
    given = parser.parse_args(arguments)
    try:
        names = list(PAPER_TABLES) if given.tables == ["all"] else given.tables
        runs = repeat_runs(collect_runs(map(get_paper_table, names)), max(1, given.seeds), given.settings)
    except T2OError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if given.only:
        runs = [run for run in runs if run.name in given.only.split(",")]
    if given.plan is not None:
        sets = collect_plans(runs)
        lines = [
            line
            for plans in sets
            for line in build_packing_commands(plans, given.plan, given.cache, given.data)
        ]
    else:
        training = PaperRunCommands(
            given.data, given.runs, tuple(given.settings), given.minutes, given.half, given.python
        )
        lines = list(build_training_script(training, runs, max(1, given.at_once)))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

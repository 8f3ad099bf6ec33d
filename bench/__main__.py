"""Run the benchmarks named on the command line, or all of them.

Options after the names go to those that take some: `python -m bench words --reader free`.
"""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from itertools import takewhile

import numba
import numpy as np
import PIL

from t2onet.image.codecs import count_cores

ALL = (
    *("chain", "darkroom", "files", "batch", "preview", "first_run", "editing"),
    *("serving", "crowd", "hostile", "page"),
    "install_size",
    *(
        "planning",
        "planted",
        "planted_places",
        "ablations",
        "local",
        "local_words",
        "local_requests",
        "masked",
        "places",
        "dataset",
        "languages",
    ),
    *("words", "reasons", "following", "styles", "series"),
)
WITH_OPTIONS = ("words", "reasons", "following", "places", "planted_places", "local_words", "local_requests")
"""Those that parse options and return an exit code."""


def main() -> int:
    """Run what is named; returns the highest exit code."""
    given = sys.argv[1:]
    names = list(takewhile(lambda text: not text.startswith("-"), given))
    options = given[len(names) :]
    if options and not names:
        sys.exit(f"usage: python -m bench [NAME...] [OPTION...]; there are {', '.join(ALL)}")
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
        f"Pillow {PIL.__version__}, {count_cores()} cores ({platform.machine()}, {platform.system()})"
    )
    codes = [0]
    for name in names or ALL:
        benchmark = import_module(f"bench.{name}")
        print(f"\n{benchmark.__doc__}")
        if name in WITH_OPTIONS:
            codes.append(benchmark.main(options))
        else:
            benchmark.main()
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())

"""Run the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import platform
import sys
from importlib import import_module

import numba
import numpy as np
import PIL

from t2onet.image.codecs import count_cores

ALL = (
    *("chain", "darkroom", "files", "batch", "preview", "first_run", "editing"),
    *("serving", "crowd", "hostile", "page"),
    "install_size",
    *("planning", "planted", "ablations", "local", "dataset", "languages"),
)


def main() -> None:
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
        f"Pillow {PIL.__version__}, {count_cores()} cores ({platform.machine()}, {platform.system()})"
    )
    for name in sys.argv[1:] or ALL:
        benchmark = import_module(f"bench.{name}")
        print(f"\n{benchmark.__doc__}")
        benchmark.main()


if __name__ == "__main__":
    main()

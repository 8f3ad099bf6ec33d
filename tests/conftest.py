"""Shared by all tests: example photos, limits of time and threads, and how property tests draw examples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from t2onet.image import Image
    from t2onet.language.reader import Reader
    from t2onet.options import ReaderName

pytest_plugins = ["tests.databases"]

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PATIENCE = 300
"""Seconds until something is taken to hang; nothing else is concluded from time, as machines may be busy."""

# Tests run side by side, and threads of one library that share a busy core wait for each other.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Tests start many processes, each of which would compile all modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The first example of a kernel test waits for the compiler, so a deadline would measure that.
settings.register_profile("t2onet", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "t2onet"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than cores, since some tests wait for processes and browsers."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each worker a share of the slow tests, a module at a time, and then of the others.

    At first a worker is sent a contiguous share of the list. None should still be busy with a slow test when
    the others are done, and costly fixtures of a module should be made once.
    """
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = iter([item for item in items if not item.get_closest_marker("slow")])
    modules = [list(tests) for _, tests in groupby(slow, lambda item: item.path)]
    shares = [[item for module in modules[worker::count] for item in module] for worker in range(count)]
    size = len(items) // count
    items[:] = [item for share in shares for item in (*share, *islice(quick, max(0, size - len(share))))]
    items += quick


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What servers keep between runs; not in the home of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("T2O_DATA_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def example_photos() -> list[Path]:
    return sorted(EXAMPLES.glob("*.jpg"))


@cache
def open_example(name: str, side: int) -> Image:
    """An example photo with a short side of so many pixels, decoded and shrunk only once."""
    from t2onet import open_image

    return open_image(EXAMPLES / f"{name}.jpg").resize(side)


@pytest.fixture
def used_readers(monkeypatch: pytest.MonkeyPatch) -> list[ReaderName]:
    """Names of the readers that the package is asked for during a test, in order."""
    from t2onet.language import reader

    open_reader = reader._open_reader
    names: list[ReaderName] = []

    def open_recorded(name: ReaderName) -> Reader:
        names.append(name)
        return open_reader(name)

    monkeypatch.setattr(reader, "_open_reader", open_recorded)
    return names

"""Shared by all tests: example photos, limits of time and threads, and how property tests draw examples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.databases"]

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PATIENCE = 300
"""Seconds until something is taken to hang; nothing else is concluded from time, as machines may be busy."""

# Tests run side by side, and threads of one library that share a busy core wait for each other.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# The first example of a kernel test waits for the compiler, so a deadline would measure that.
settings.register_profile("t2onet", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "t2onet"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than cores, since some tests wait for processes and browsers."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with slow tests, so that none of them is still running when the others are done."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def example_photos() -> list[Path]:
    return sorted(EXAMPLES.glob("*.jpg"))

"""The committed tables say what the code says about the figures stored beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts.rewrite_tables import rewrite
from t2onet.evaluation.paper_tables import PAPER_TABLES
from t2onet.evaluation.reproduce import TABLE_CSV, TABLE_PAGE
from tests.conftest import ROOT

RESULTS = ROOT / "results"


@pytest.mark.parametrize("name", [name for name in PAPER_TABLES if (RESULTS / name).is_dir()])
def test_committed_tables_are_what_their_figures_give(name: str, tmp_path: Path) -> None:
    """If this fails after a change to what tables say: `python scripts/rewrite_tables.py results/NAME`."""
    folder = shutil.copytree(RESULTS / name, tmp_path / name)
    rewrite(folder)
    for file in (TABLE_PAGE, TABLE_CSV):
        assert (folder / file).read_text(encoding="utf-8") == (RESULTS / name / file).read_text(
            encoding="utf-8"
        )

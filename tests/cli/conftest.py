"""The real command in a folder of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import PIL.Image
import pytest
import typer.testing
from typer.main import get_command

from t2onet.cli import app
from tests.cli.helpers import LOOK, T2O, Answer

_build_command = cache(get_command)
"""Typer builds all commands anew for each call, which takes longer than most of them run."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the command, with the recipe `look.json` in it."""
    monkeypatch.chdir(tmp_path)
    # --max-megapixels sets this for the process, which here outlives the command.
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", PIL.Image.MAX_IMAGE_PIXELS)
    LOOK.save("look.json")
    return tmp_path


@pytest.fixture
def t2o(monkeypatch: pytest.MonkeyPatch) -> T2O:
    """`t2o("apply", ...)`: how it ended and what it printed; a traceback fails the test at once."""
    monkeypatch.delenv("COLUMNS", raising=False)  # the terminal may have set it
    monkeypatch.setattr(typer.testing, "_get_command", _build_command)

    def command(*arguments: object) -> Answer:
        result = typer.testing.CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return command

"""The real command in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import PIL.Image
import pytest
from typer.testing import CliRunner

from t2onet.cli import app
from tests.cli.made import LOOK, T2O, Answer


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
    monkeypatch.delenv("COLUMNS", raising=False)  # whoever runs the tests may have set it

    def command(*arguments: object) -> Answer:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return command

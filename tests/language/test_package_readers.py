"""The readers in the package, chosen by name: what each reads, and when it is opened."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import t2onet
from t2onet import Editor, RequestError
from t2onet.inference import MEMORY_FILE, WEIGHTS_FOLDER
from t2onet.language.reader import get_reader_file, load_reader, read
from t2onet.language.wishes import Direction, Role
from t2onet.options import DEFAULT_READER, READERS, ReaderName
from t2onet.places.network import PLACES_FILE
from tests.cli.test_process import list_loaded_modules
from tests.conftest import open_example

MAX_WEIGHTS_MB = 45

UP, DOWN, NONE = Direction.UP, Direction.DOWN, Direction.NONE
CORE: dict[str, list[tuple[str, Direction, float | None]]] = {
    "brighter": [("lightness", UP, None)],
    "half a stop brighter": [("lightness", UP, 0.5)],
    "warmer": [("warmth", UP, None)],
    "exposure +0.3, contrast +10": [("lightness", UP, 0.3), ("contrast", UP, 10)],
    "black and white": [("black_and_white", NONE, None)],
    "less saturated": [("colour", DOWN, None)],
    "remove the man": [("remove", NONE, None)],
}
"""What is read in sentences that every reader must know."""


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("request_", CORE)
def test_every_reader_reads_core_phrases(name: ReaderName, request_: str) -> None:
    wishes = read(request_, name).wishes
    assert [(wish.what, wish.direction, wish.quantity and wish.quantity.value) for wish in wishes] == CORE[
        request_
    ]
    assert {wish.role for wish in wishes} == {Role.ASK}


STEPS: dict[str, dict[str, tuple[float, ...]]] = {
    "half a stop brighter": {"exposure": (0.5,)},
    "exposure +0.3, contrast +10": {"exposure": (0.3,), "contrast": (0.1,)},
}


@pytest.mark.parametrize("request_", STEPS)
def test_numbers_are_exact_by_the_free_reader(request_: str) -> None:
    edit = t2onet.edit(open_example("dogs", 128), request_, reader="free")
    found = {step.operation: step.parameters for step in edit.recipe.steps}
    assert found.keys() == STEPS[request_].keys()
    for operation, values in STEPS[request_].items():
        assert found[operation][: len(values)] == pytest.approx(values)


@pytest.mark.parametrize(
    ("request_", "operation"),
    [
        ("brighter", "exposure"),
        ("warmer", "white_balance"),
        ("black and white", "black_and_white"),
        ("less saturated", "vibrance"),
    ],
)
def test_the_free_reader_leads_to_the_steps_of_the_default_one(request_: str, operation: str) -> None:
    photo = open_example("dogs", 128)
    free, default = (Editor(photo, reader=name).ask(request_) for name in ("free", DEFAULT_READER))
    assert operation in [step.operation for step in free.recipe.steps]
    assert free.recipe == default.recipe


def test_the_free_reader_declines_and_follows() -> None:
    editor = Editor(open_example("dogs", 128), reader="free")
    edit = editor.ask("remove the man")
    assert (edit.answered, edit.verdict, edit.recipe.steps) == (False, "remove", ())
    first = editor.ask("half a stop brighter")
    assert editor.follow("undo that").recipe.steps == ()
    assert first.recipe.steps


def test_a_name_that_no_reader_has_is_refused_before_the_photo_is_opened(tmp_path: Path) -> None:
    other: Any = "other"
    refusal = r"^there is no reader 'other'; there are default, free$"
    with pytest.raises(RequestError, match=refusal):
        load_reader(other)
    with pytest.raises(RequestError, match=refusal):
        Editor(tmp_path / "absent.jpg", reader=other)
    with pytest.raises(RequestError, match=refusal):
        t2onet.edit(np.zeros((8, 8, 3), np.uint8), "brighter", reader=other)


def test_a_reader_is_opened_once_by_whatever_way_it_is_named() -> None:
    assert load_reader() is load_reader("default") is load_reader(DEFAULT_READER)
    assert load_reader("free") is load_reader("free") is not load_reader()


def test_a_reader_is_opened_at_its_first_request_and_no_other_is() -> None:
    loaded = list_loaded_modules(
        "import numpy, t2onet\n"
        "from t2onet.language import reader\n"
        "open_session, opened = reader.open_session, []\n"
        "def spy(path, **options):\n"
        "    opened.append(path.name)\n"
        "    return open_session(path, **options)\n"
        "reader.open_session = spy\n"
        "editor = t2onet.Editor(numpy.full((8, 8, 3), 99, 'uint8'), reader='free')\n"
        "assert opened == []\n"
        "assert editor.ask('brighter').answered and editor.ask('warmer').answered\n"
        "assert opened == ['reader-free.onnx'], opened"
    )
    assert "onnxruntime" in loaded
    assert not {"torch", "scipy", "matplotlib", "onnx"} & loaded


def test_the_package_has_the_weights_of_every_reader_and_they_stay_small() -> None:
    with resources.as_file(resources.files("t2onet") / WEIGHTS_FOLDER) as folder:
        sizes = {path.name: path.stat().st_size for path in folder.glob("*.onnx")}
    assert sizes.keys() == {MEMORY_FILE, PLACES_FILE, *map(get_reader_file, READERS)}
    assert sum(sizes.values()) < MAX_WEIGHTS_MB * 1e6

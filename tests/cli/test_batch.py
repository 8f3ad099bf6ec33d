"""Many photos at once: order, failures, and an interruption in the middle of one."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import PIL.Image
import pytest
import typer

from t2onet import executor
from t2onet.cli import apply
from t2onet.cli.apply import (
    PhotoOutcome,
    PhotoReport,
    ShareCallback,
    ThreadShare,
    print_reports,
    run_tasks,
    start_loading_kernels,
)
from t2onet.cli.photos import PhotoTask
from t2onet.errors import Cancelled, ImageError
from t2onet.image import codecs
from tests.conftest import PATIENCE

TASKS = [PhotoTask(Path(name), Path(f"{name}-look")) for name in "abcd"]


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Setting it interrupts the thread that waits for the photos: there a terminal's Ctrl-C arrives."""
    pressed = threading.Event()

    def wait(*_: object, **__: object) -> None:
        assert pressed.wait(PATIENCE)
        raise KeyboardInterrupt

    monkeypatch.setattr(apply, "wait", wait)
    return pressed


def test_reports_come_in_the_order_of_the_tasks() -> None:
    later = threading.Event()

    def work(task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        if task is TASKS[0]:
            assert later.wait(PATIENCE)  # so that the first is the last to be done
        if task is TASKS[1]:
            raise ImageError("no photo")
        if task is TASKS[-1]:
            later.set()
        return PhotoReport(task, PhotoOutcome.DONE)

    reports = run_tasks(TASKS, work, jobs=2, quiet=True)
    assert [report.task for report in reports] == TASKS
    assert [report.error for report in reports] == [None, "no photo", None, None]


def test_photos_that_begin_last_have_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "count_cores", lambda: 4)
    share = ThreadShare(6, jobs=4)
    assert [share.take() for _ in range(6)] == [1, 1, 1, 1, 2, 4]
    share = ThreadShare(2, jobs=1)
    assert [share.take() for _ in range(2)] == [4, 4]


@pytest.mark.parametrize(("side", "existing", "loaded"), [(60, 0, True), (50, 0, False), (60, 1, False)])
def test_kernels_are_loaded_early_for_many_pixels(
    side: int, existing: int, loaded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading = threading.Event()
    monkeypatch.setattr(executor, "MIN_CURVE_KERNEL_PIXELS", 3 * 60 * 60)
    monkeypatch.setattr(executor, "load_kernels", loading.set)
    tasks = [PhotoTask(tmp_path / f"{name}.png", tmp_path / f"{name}-look.png") for name in "abc"]
    for task in tasks:
        PIL.Image.new("RGB", (side, side)).save(task.source)
    for task in tasks[:existing]:
        task.target.touch()
    start_loading_kernels(tasks, skip_existing=True)
    assert loading.wait(PATIENCE if loaded else 0) == loaded


def test_a_first_photo_that_cannot_be_read_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "load_kernels", pytest.fail)
    start_loading_kernels(TASKS, skip_existing=False)
    start_loading_kernels([], skip_existing=False)


def test_a_mistake_of_ours_is_not_taken_for_a_bad_photo() -> None:
    def work(task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_tasks(TASKS, work, jobs=2, quiet=True)


def test_an_interruption_stops_the_photo_at_hand_and_begins_no_other(ctrl_c: threading.Event) -> None:
    begun, told_to_stop = [], []

    def work(task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        begun.append(task)
        if task is TASKS[0]:
            return PhotoReport(task, PhotoOutcome.DONE)
        ctrl_c.set()
        told_to_stop.append(stop.wait(PATIENCE))
        raise Cancelled("stopped on request")

    assert run_tasks(TASKS, work, jobs=1, quiet=True) == [PhotoReport(TASKS[0], PhotoOutcome.DONE)]
    assert begun == TASKS[:2]
    assert told_to_stop == [True]


def test_what_can_no_longer_stop_is_finished_and_reported(ctrl_c: threading.Event) -> None:
    def work(task: PhotoTask, progress: ShareCallback, stop: threading.Event) -> PhotoReport:
        if task is TASKS[-1]:
            ctrl_c.set()
            assert stop.wait(PATIENCE)
        return PhotoReport(task, PhotoOutcome.DONE)

    assert run_tasks(TASKS, work, jobs=1, quiet=True) == [
        PhotoReport(task, PhotoOutcome.DONE) for task in TASKS
    ]


# ---- what is said of it


DONE = PhotoReport(TASKS[0], PhotoOutcome.DONE, notes=("a note",))
SKIPPED = PhotoReport(TASKS[1], PhotoOutcome.SKIPPED)
BAD = PhotoReport(TASKS[2], PhotoOutcome.REFUSED, error="c is no photo")
SAID = "a -> a-look\nb: skipped, b-look exists\n"
NOTE = "note: a: a note\n"
STOPPED = "t2o: stopped, {} of 4 photos to go; --skip-existing continues there\n"


def present(
    capsys: pytest.CaptureFixture[str], reports: list[PhotoReport], count: int, **options: bool
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    code = 0
    try:
        print_reports(reports, count, **{"as_json": False, "quiet": False, **options})
    except typer.Exit as end:
        code = end.exit_code
    return (code, *capsys.readouterr())


def test_a_whole_batch_is_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert present(capsys, [DONE, SKIPPED], 2) == (0, SAID, NOTE)
    assert present(capsys, [DONE, SKIPPED], 2, quiet=True) == (0, "", NOTE)


def test_a_refusal_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    refused = "t2o: c is no photo\n"
    assert present(capsys, [BAD], 1) == (2, "", refused)
    some = f"{NOTE}{refused}t2o: 1 of 3 photos refused; the others are done\n"
    assert present(capsys, [DONE, SKIPPED, BAD], 3) == (2, SAID, some)


def test_an_interrupted_batch_tells_what_is_done_and_what_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert present(capsys, [], 4) == (130, "", STOPPED.format(4))
    assert present(capsys, [DONE, SKIPPED], 4) == (130, SAID, NOTE + STOPPED.format(2))
    assert present(capsys, [DONE, SKIPPED], 4, quiet=True) == (130, "", NOTE + STOPPED.format(2))
    refused = f"{NOTE}t2o: c is no photo\n"
    assert present(capsys, [DONE, SKIPPED, BAD], 4) == (130, SAID, refused + STOPPED.format(1))


def test_an_interrupted_batch_as_json_is_whole_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = present(capsys, [DONE, BAD], 4, as_json=True)
    assert (code, err) == (130, STOPPED.format(2))
    assert json.loads(out) == [
        {"source": "a", "target": "a-look", "outcome": "done", "notes": ["a note"], "error": None},
        {"source": "c", "target": "c-look", "outcome": "refused", "notes": [], "error": "c is no photo"},
    ]

"""Ctrl-C while a plan is being kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from t2onet.data.plans.run import defer_interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself SIGINT there")


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """A shell that starts the tests in the background has them ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done = []

    def keep() -> None:
        with defer_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("written")
            done.append("counted")

    with pytest.raises(KeyboardInterrupt):
        keep()
    assert done == ["written", "counted"]


def test_afterwards_interrupts_are_what_they_were() -> None:
    before = signal.getsignal(signal.SIGINT)
    with defer_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_inside_is_not_swallowed() -> None:
    with pytest.raises(OSError, match="full"), defer_interrupts():
        raise OSError("full")


def test_a_thread_changes_nothing() -> None:
    seen = []

    def work() -> None:
        with defer_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]

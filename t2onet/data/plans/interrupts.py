"""Ctrl-C at a moment of our choosing: what is written is also counted before a run stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held() -> Iterator[None]:
    """An interrupt that comes inside is raised at the end. Other threads than the main one get none."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    missed: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *event: missed.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if missed:
            before(*missed[0])

"""A log that does not repeat itself, however often a client provokes the same line."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOGGERS = (
    *("asyncio", "uvicorn.error"),
    *("t2onet.server.batches", "t2onet.server.errors", "t2onet.server.safety"),
)
_SECONDS = 60.0


class RepeatFilter(logging.Filter):
    """Lets a message of each kind pass once a minute, with the number of those that were left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (record.name, record.levelno, record.pathname, record.lineno, _error(record))
        now = self._clock()
        passed, left_out = self._last.get(kind, (-_SECONDS, 0))
        if now - passed < _SECONDS:
            self._last[kind] = passed, left_out + 1
            return False
        self._last[kind] = now, 0
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more of these before)", None
        return True


def _error(record: logging.LogRecord) -> object:
    """The kind of an exception and where it was raised; what its message says may differ each time."""
    _, error, trace = record.exc_info or (None, None, None)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (type(error), trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno))


@contextmanager
def without_repetition() -> Iterator[None]:
    """The logs of a server, while it runs."""
    once = RepeatFilter()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(once)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(once)

"""Rate limit for log messages, so that no client fills the log by provoking the same message."""

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
    """Passes a message of each kind once a minute, with the number of those that were dropped since.

    Messages are of one kind if they come from the same line of code and tell of the same kind of error: the
    type of exception, where it was raised, and its errno. Their texts may differ each time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (
            record.name,
            record.levelno,
            record.pathname,
            record.lineno,
            *map(_kind_of_error, _errors(record)),
        )
        now = self._clock()
        passed_at, dropped = self._last.get(kind, (-_SECONDS, 0))
        if now - passed_at < _SECONDS:
            self._last[kind] = passed_at, dropped + 1
            return False
        self._last[kind] = now, 0
        if dropped:
            record.msg, record.args = f"{record.getMessage()} ({dropped} more of these before)", None
        return True


def _errors(record: logging.LogRecord) -> list[BaseException]:
    """The exceptions that a message is about."""
    logged = [record.exc_info[1]] if record.exc_info else []
    arguments = record.args if isinstance(record.args, tuple) else ()
    return [one for one in (*logged, *arguments) if isinstance(one, BaseException)]


def _kind_of_error(error: BaseException) -> tuple[object, ...]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = trace and (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return type(error), place, _errno(error)


def _errno(error: BaseException) -> int | None:
    """Of an error of the system, or of the one that caused this error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__
    return None if cause is None else cause.errno


@contextmanager
def limit_repetition() -> Iterator[None]:
    """Filter the logs of a server while it runs."""
    once = RepeatFilter()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(once)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(once)

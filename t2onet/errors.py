"""Every error a user can meet.

T2OError
 ├── ImageError      a file or array that cannot be read as a photo
 ├── RecipeError     a recipe, step, mask or parameter
 ├── PlaceError      a part of a photo that cannot be found
 ├── PlanError       a before/after pair, or an option of planning
 ├── RequestError    a text that cannot be read as a request
 ├── DataError       a dataset, or an operation on it
 ├── TrainingError   a training run, its settings or its files
 ├── LookError       a recipe that the format of another tool cannot represent
 ├── StudyError      a study, or an operation on it
 ├── OutputError     a result that cannot be written to the given path
 ├── ServerError     a server that cannot start, or a request to it
 └── Cancelled       work that was cancelled

A message is one sentence or two: what was given, why it was refused, what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class T2OError(Exception):
    """Base of all errors of this package; the text can be shown to users."""


class ImageError(T2OError):
    """A file or array cannot be read as a photo."""


class RecipeError(T2OError):
    """A recipe, step, mask or parameter is refused."""


class PlaceWarning(UserWarning):
    """Steps of a recipe were left out, since the photo does not show the place they are for."""


class PlaceError(T2OError):
    """A part of a photo cannot be found."""


class PlanError(T2OError):
    """A before/after pair, or an option of planning, is refused."""


class RequestError(T2OError):
    """A text cannot be read as a request."""


class DataError(T2OError):
    """A dataset, or an operation on it, is refused."""


class TrainingError(T2OError):
    """A training run, its settings or its files are refused."""


class LookError(T2OError):
    """A recipe cannot be represented in the format of another tool."""


class StudyError(T2OError):
    """A study, or an operation on it, is refused."""


class OutputError(T2OError):
    """A result cannot be written to the given path."""


class ServerError(T2OError):
    """A server cannot start, or a request to it is refused."""


class Cancelled(T2OError):
    """Work was cancelled; nothing was written."""


def suggest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """The end of a message about an unknown name: the nearest of `names`, or `otherwise`, or all of them."""
    names = list(names)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise or f"there are {', '.join(names)}."


@contextmanager
def needs_extra(refuse: type[T2OError], what: str, extra: str, *, with_cause: bool = False) -> Iterator[None]:
    """Imports inside that fail raise the error `refuse`: "WHAT: pip install 't2onet[EXTRA]'"."""
    try:
        yield
    except ImportError as error:
        cause = f" ({error})" if with_cause else ""
        raise refuse(f"{what}: pip install 't2onet[{extra}]'{cause}") from None

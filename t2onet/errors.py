"""Every error a user can meet.

T2OError
 ├── ImageError      a file or array that cannot be read as a photo
 ├── RecipeError     a recipe, step, mask or parameter
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


class T2OError(Exception):
    """Base of all errors of this package; the text can be shown to users."""


class ImageError(T2OError):
    """A file or array cannot be read as a photo."""


class RecipeError(T2OError):
    """A recipe, step, mask or parameter is refused."""


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

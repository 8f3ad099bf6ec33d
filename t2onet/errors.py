"""Every error a user can meet.

T2OError
 ├── ImageError      a file or array that cannot be read as a photo
 ├── RecipeError     a recipe, step, mask or parameter that is refused
 ├── PlanError       a before/after pair or a way of planning that is refused
 ├── RequestError    a request that cannot be read as one
 ├── DataError       a dataset, or what was asked of it, that is refused
 ├── TrainingError   a training run, a setting of it or its files, that is refused
 ├── LookError       a recipe that another tool's format cannot carry
 ├── StudyError      a study, or what was asked of it, that is refused
 ├── OutputError     a result that cannot be written where it was asked for
 ├── ServerError     a server that cannot start, or what was asked of it, that is refused
 └── Cancelled       work that was stopped on request

A message is one sentence or two: what was given, why it was refused, what to do instead.
"""


class T2OError(Exception):
    """Anything this package refuses; its text is fit to be shown to a user as it is."""


class ImageError(T2OError):
    """A file or array cannot be read as a photo."""


class RecipeError(T2OError):
    """A recipe, step, mask or parameter is refused."""


class PlanError(T2OError):
    """A before/after pair, or a way of planning it, is refused."""


class RequestError(T2OError):
    """A request cannot be read as one."""


class DataError(T2OError):
    """A dataset, or what was asked of it, is refused."""


class TrainingError(T2OError):
    """A training run, a setting of it or its files, is refused."""


class LookError(T2OError):
    """A recipe cannot be carried by the format of another tool."""


class StudyError(T2OError):
    """A study, or what was asked of it, is refused."""


class OutputError(T2OError):
    """A result cannot be written where it was asked for."""


class ServerError(T2OError):
    """A server cannot start, or what was asked of it is refused."""


class Cancelled(T2OError):
    """Work was stopped on request; nothing was written."""

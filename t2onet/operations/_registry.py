"""What an operation is, what a repair is, and the registry of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Protocol, TypeGuard

import numpy as np

from ..errors import RecipeError
from ..image.pixels import Array, array_namespace, to_array_like

# What an operation is, what a repair is, and the one list of each.
#
# An operation declares its name, parameters, ranges, defaults, units and help once; the command line,
# recipes,
# sliders, planner and decoder read them here. This module knows nothing of files, recipes or tiles.

ParameterValues = tuple[float, ...]
Formula = Callable[[Array, Array, float], Array]
RadiusMode = Literal["scaled", "pixel"]

REFERENCE_SHORT_SIDE = 1000
"""Up to this short side (pixels) a neighbourhood is the paper's; above it, it widens in proportion."""


@dataclass(frozen=True)
class Parameter:
    """One slider or, with `count` > 1, one row of equal sliders."""

    name: str
    low: float
    high: float
    default: float
    unit: str
    help: str
    count: int = 1
    sampling: float | None = None
    """The paper's half-range R for random tries around a value; half the range where None."""

    @property
    def half_range(self) -> float:
        return (self.high - self.low) / 2 if self.sampling is None else self.sampling

    def allows(self, value: float) -> bool:
        return math.isfinite(value) and self.low <= value <= self.high


def _no_reach(scale: float) -> int:
    return 0


def _keep_values(values: ParameterValues) -> ParameterValues:
    return values


@dataclass(frozen=True)
class Operation:
    """A pure function of an image and parameters, differentiable in both, identity at the defaults.

    `formula(image, parameters, scale)` takes images (..., 3, H, W) in [0, 1] and parameters (..., size), and
    need not clamp. `reach(scale)` is how many pixels aside it looks. `canonical` picks one of several
    parameter vectors that mean the same picture.
    """

    name: str
    help: str
    parameters: tuple[Parameter, ...]
    formula: Formula = field(repr=False)
    reach: Callable[[float], int] = field(default=_no_reach, repr=False)
    canonical: Callable[[ParameterValues], ParameterValues] = field(default=_keep_values, repr=False)

    @property
    def size(self) -> int:
        """How many numbers its parameters are."""
        return sum(parameter.count for parameter in self.parameters)

    @property
    def slots(self) -> tuple[Parameter, ...]:
        """The declaration of each of those numbers, in order."""
        return tuple(parameter for parameter in self.parameters for _ in range(parameter.count))

    @property
    def defaults(self) -> ParameterValues:
        return tuple(slot.default for slot in self.slots)

    def is_identity(self, values: ParameterValues) -> bool:
        """Whether these parameters leave every photo as it is."""
        pairs = zip(self.canonical(values), self.defaults, strict=True)
        return all(math.isclose(value, default, rel_tol=1e-12) for value, default in pairs)

    def clipped(self, values: Sequence[float]) -> ParameterValues:
        """The nearest allowed parameters."""
        return tuple(min(max(v, slot.low), slot.high) for v, slot in zip(values, self.slots, strict=True))

    def check(self, parameters: object) -> ParameterValues:
        """Parameters as given (a number or lists of them) as a flat tuple; refuses what is not allowed."""
        values = tuple(_flatten_numbers(parameters, self.name))
        if not self._rows_fit(parameters):
            raise RecipeError(f"{self.name} takes its rows as {self._shape()}, and others were given")
        if len(values) != self.size:
            raise RecipeError(
                f"{self.name} takes {_format_number_count(self.size)} ({self._shape()}), and {len(values)} "
                f"{'was' if len(values) == 1 else 'were'} given"
            )
        for label, slot, value in zip(self._labels(), self.slots, values, strict=True):
            if not slot.allows(value):
                allowed = f"allowed is {slot.low:g} to {slot.high:g}"
                raise RecipeError(f"{self.name}: {label} is {value:g}; {allowed}")
        return values

    def _rows_fit(self, parameters: object) -> bool:
        """Whether numbers in rows come in the declared ones: 24 as 8 rows of 3 would be other curves."""
        rows = [len(row) for row in parameters if hasattr(row, "__len__")] if _is_list(parameters) else []
        return not rows or rows == [parameter.count for parameter in self.parameters]

    def _labels(self) -> Iterator[str]:
        for parameter in self.parameters:
            numbers = range(1, parameter.count + 1)
            yield from (parameter.name if parameter.count == 1 else f"{parameter.name} {i}" for i in numbers)

    def _shape(self) -> str:
        return ", ".join(p.name if p.count == 1 else f"{p.count} for {p.name}" for p in self.parameters)

    def __call__(self, image: Array, parameters: Any, *, radius: RadiusMode = "scaled") -> Array:
        """The edited image(s); `parameters` is a number, a sequence or an array (..., size)."""
        values = to_array_like(parameters, image)
        if values.ndim == 0:
            values = values[None]
        elif values.shape[-1] != self.size:  # a row for each of several parameters
            values = values.reshape((*values.shape[:-2], self.size))
        return self.run(image, values, pixel_scale(image.shape[-2], image.shape[-1], radius))

    def run(self, image: Array, values: Array, scale: float) -> Array:
        """The formula, clamped: `image` may be a tile of a photo whose pixel scale is `scale`."""
        return array_namespace(image).clip(self.formula(image, values, scale), 0.0, 1.0)


class RepairFunction(Protocol):
    """A picture (3, H, W) in [0, 1] and a mask (H, W) in [0, 1], float32 -> the picture, new under the mask.

    Whatever the mask touches at all is to be replaced; the executor blends the result in by the mask. `scale`
    is the `pixel_scale` of the photo, of which the picture may be a part.
    """

    def __call__(self, image: np.ndarray, mask: np.ndarray, scale: float, /) -> np.ndarray: ...


@dataclass(frozen=True)
class Repair:
    """The second kind: it needs a mask and what is around it, and has no parameters and no gradient."""

    name: str
    help: str
    function: RepairFunction = field(repr=False)
    margin: int | None = None
    """Pixels around the mask, at the reference size, that `function` is given; None for the whole picture."""

    def check(self, parameters: object) -> ParameterValues:
        """No parameters, as a tuple; refuses any."""
        if values := tuple(_flatten_numbers(parameters, self.name)):
            raise RecipeError(
                f"{self.name} takes no numbers, and {len(values)} were given; give an empty list"
            )
        return ()


def _format_number_count(count: int) -> str:
    return "one number" if count == 1 else f"{count} numbers"


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def _flatten_numbers(value: object, name: str) -> Iterator[float]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool) or not isinstance(value, int | float | list | tuple):
        raise RecipeError(f"{name} takes numbers, and {value!r} was given")
    if isinstance(value, int | float):
        yield float(value)
    else:
        for part in value:
            yield from _flatten_numbers(part, name)


def pixel_scale(height: int, width: int, radius: RadiusMode = "scaled") -> float:
    """How many pixels of a photo stand for one pixel at the reference size; never below one."""
    if radius == "pixel":
        return 1.0
    if radius != "scaled":
        raise ValueError(f"radius is 'scaled' or 'pixel', not {radius!r}")
    return max(1.0, min(height, width) / REFERENCE_SHORT_SIDE)


_OPERATIONS: dict[str, Operation] = {}


def register(operation: Operation) -> Operation:
    """Enrol an operation; everything that lists operations lists it from now on."""
    if operation.name in _OPERATIONS:
        raise ValueError(f"an operation called {operation.name!r} is registered already")
    _OPERATIONS[operation.name] = operation
    return operation


def operations() -> Mapping[str, Operation]:
    """All operations by name, in the order of their registration."""
    return dict(_OPERATIONS)


def get_operation(name: str) -> Operation:
    """The operation called `name`, or an error that offers the valid spellings."""
    if name in _OPERATIONS:
        return _OPERATIONS[name]
    near = get_close_matches(str(name).lower(), {*_OPERATIONS, *_REPAIRS} - {name}, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_OPERATIONS)}."
    raise RecipeError(f"there is no operation {name!r}; {hint}")


_REPAIRS: dict[str, Repair] = {}


def register_repair(repair: Repair) -> Repair:
    """Enrol a repair; recipes and local planning may name it from now on."""
    if repair.name in _REPAIRS or repair.name in _OPERATIONS:
        raise ValueError(f"an operation or repair called {repair.name!r} is registered already")
    _REPAIRS[repair.name] = repair
    return repair


def repairs() -> Mapping[str, Repair]:
    """All repairs by name; none of them is among `operations()`."""
    return dict(_REPAIRS)

"""The declarations of operations, of geometry and of repairs, and the registry of all three.

A declaration is the only place that states a name, a range, a default or a unit: the command line, recipes,
sliders, planner, networks and docs read it from here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from itertools import accumulate
from typing import Any, Literal, Protocol, Self, TypeGuard

import numpy as np

from ..errors import RecipeError
from ..image.colour import decode_srgb, encode_srgb
from ..image.pixels import Array, array_namespace, to_array_like

ParameterValues = tuple[float, ...]
RadiusMode = Literal["scaled", "pixel"]
Group = Literal["light", "colour", "detail", "effects", "geometry"]

REFERENCE_SHORT_SIDE = 1000
"""Short side (pixels) up to which a neighbourhood has the paper's size; above it, it grows in proportion."""


@dataclass(frozen=True)
class Frame:
    """The photo that a tile belongs to, and where in it the tile lies, in pixels."""

    height: int
    width: int
    scale: float
    """Pixels of the photo for each pixel at the reference size; never below one."""
    top: int = 0
    left: int = 0

    @classmethod
    def around(cls, image: Array, radius: RadiusMode = "scaled") -> Self:
        """The frame of images (..., H, W) that are whole photos."""
        height, width = image.shape[-2:]
        return cls(height, width, pixel_scale(height, width, radius))

    @property
    def short_side(self) -> int:
        return min(self.height, self.width)

    def at(self, top: int, left: int = 0) -> Self:
        """The frame of a tile that begins at this row and column of the photo."""
        return replace(self, top=top, left=left)


Formula = Callable[[Array, Array, Frame], Array]
Space = Literal["display", "linear"]
"""What numbers a formula takes: as displayed, or in proportion to light (sRGB's curve undone)."""


class Attribute(StrEnum):
    """A measurable property of a photo that operations move and requests name (see `metrics.attributes`)."""

    LIGHTNESS = "lightness"
    CONTRAST = "contrast"
    COLOURFULNESS = "colourfulness"
    WARMTH = "warmth"
    REDNESS = "redness"
    SHARPNESS = "sharpness"


@dataclass(frozen=True)
class Parameter:
    """One number, or `count` numbers of the same kind, such as the rises of a curve."""

    name: str
    low: float
    high: float
    default: float
    unit: str
    help: str
    step: float = 0.01
    """The smallest change worth making: of a slider, and of a finite difference in planning."""
    count: int = 1
    sampling: float | None = None
    """The paper's half-range R for random sampling around a value; half the range where None."""
    names: tuple[str, ...] = ()
    """Names of the `count` numbers, such as the hues of a mixer; numbered where empty."""
    published: bool = True
    """False for an addition to an operation of the paper; the paper's networks and plans keep its default."""
    whole_steps: bool = False
    """Whether only multiples of `step` are allowed."""
    title: str = ""
    """What settings and sliders call it, where `Operation.titles` would not be clear."""

    @property
    def half_range(self) -> float:
        return (self.high - self.low) / 2 if self.sampling is None else self.sampling

    def allows(self, value: float) -> bool:
        if not (math.isfinite(value) and self.low <= value <= self.high):
            return False
        return not self.whole_steps or value % self.step == 0

    @property
    def allowed(self) -> str:
        """What it allows, as errors say it: "-1 to 2"; "0 to 270 in steps of 90"."""
        steps = f" in steps of {self.step:g}" if self.whole_steps else ""
        return f"{self.low:g} to {self.high:g}{steps}"

    def is_default(self, value: float) -> bool:
        return math.isclose(value, self.default, rel_tol=1e-12)

    @property
    def label(self) -> str:
        """Name and count, as tables show it."""
        return self.name if self.count == 1 else f"{self.name} (x{self.count})"

    @property
    def slot_labels(self) -> tuple[str, ...]:
        """A label for each of its numbers: "ev"; "rises 1", "rises 2"; "red hue", "orange hue"."""
        return self.title_slots(self.name)

    def title_slots(self, title: str) -> tuple[str, ...]:
        """The labels where the parameter is called `title`."""
        if self.count == 1:
            return (title,)
        if self.names:
            return tuple(f"{name} {title}" for name in self.names)
        return tuple(f"{title} {number}" for number in range(1, self.count + 1))

    @property
    def is_curve(self) -> bool:
        """Whether its numbers are the rises of a curve, which say nothing one by one."""
        return self.count > 1 and not self.names

    @property
    def written_unit(self) -> str:
        """The unit as it follows a number, where photographers write one."""
        return WRITTEN_UNITS.get(self.unit, "")

    def format(self, value: float) -> str:
        """A number as photographers write it: "+0.50 EV", "-30", "200°"."""
        places = max(0, -math.floor(math.log10(self.step) + 1e-9))
        sign = "+" if self.low < 0 else ""
        number = f"{value:{sign}.{places}f}"
        if value != self.default and float(number) == self.default:  # too small for these decimals
            number = f"{value:{sign}.1g}"
        return f"{number}{self.written_unit}"


WRITTEN_UNITS = {"EV": " EV", "degrees": "°", "%": " %"}
"""Units that photographers write, as they follow a number; others are understood."""
MAX_PHRASE_WORDS = 9
"""Words for one step; a longer phrase gives way to `Operation.brief`."""


@dataclass(frozen=True)
class Phrase:
    """Words for a step, from the direction and size of its first number: "20 % brighter"."""

    more: str
    less: str
    """The amount stands before these words, or where they have {}: "shadows {} lifted"."""
    amount: str | Callable[[float], str] = ""
    """A format of the parameters by name ("{ev:.2f} EV"), or a function of the first."""
    lowest: str = ""
    """Replaces words and amount where the first number is as low as it can be."""


def join_phrases(phrases: Sequence[str]) -> str:
    """Phrases in a row, the last after "and" unless one has an "and" of its own."""
    *first, last = phrases
    joint = ", " if any(" and " in phrase for phrase in phrases) else " and "
    return f"{', '.join(first)}{joint}{last}" if first else last


def percent(value: float) -> str:
    """ "20 %" for 0.2 and -0.2."""
    size = 100 * abs(value)
    return f"{size:.0f} %" if size >= 1 else f"{size:.1f} %" if size >= 0.05 else "barely"


def adverb(size: float, small: float, large: float) -> str:
    """How far something was moved: "slightly" below `small`, "strongly" above `large`, or nothing."""
    return "slightly" if size < small else "strongly" if size > large else ""


def degree(size: float, small: float, large: float) -> str:
    """How much before a comparative: "a little" below `small`, "much" above `large`, or nothing."""
    return "a little" if size < small else "much" if size > large else ""


def _no_reach(frame: Frame) -> int:
    return 0


def _keep_values(values: ParameterValues) -> ParameterValues:
    return values


def _accept_values(values: ParameterValues) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What an operation and a geometry have in common: a name, parameters and words for them."""

    name: str
    group: Group
    position: int
    """Its usual place in a recipe, relative to the positions of the others."""
    help: str
    parameters: tuple[Parameter, ...]
    phrase: Phrase | Callable[[ParameterValues], str] | None = field(default=None, repr=False)
    """How a step is worded; parts are separated by ", ". `brief` where None."""
    brief: str = ""
    """How a step is worded where there is no room for `phrase`; by its name where empty."""
    canonical: Callable[[ParameterValues], ParameterValues] = field(default=_keep_values, repr=False)
    """Picks one of several parameter vectors that give the same picture."""
    validate: Callable[[ParameterValues], None] = field(default=_accept_values, repr=False)
    """Raises a RecipeError for values that are in range and contradict each other."""

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

    def complete(self, values: ParameterValues) -> ParameterValues:
        """All numbers: `values` may lack the last parameters, which then have their defaults."""
        return (*values, *self.defaults[len(values) :])

    def trim(self, values: ParameterValues) -> ParameterValues:
        """Without additions to the paper's parameters that have their defaults, as files store them."""
        added = sum(not slot.published for slot in self.slots)
        return values[:-added] if added and values[-added:] == self.defaults[-added:] else values

    def is_identity(self, values: ParameterValues) -> bool:
        """Whether these parameters leave every photo unchanged."""
        pairs = zip(self.canonical(self.complete(values)), self.slots, strict=True)
        return all(slot.is_default(value) for value, slot in pairs)

    def clip(self, values: Sequence[float]) -> ParameterValues:
        """The nearest allowed parameters."""
        return tuple(min(max(v, slot.low), slot.high) for v, slot in zip(values, self.slots, strict=True))

    @property
    def label(self) -> str:
        """The name as people read it."""
        return self.name.replace("_", " ")

    @property
    def titles(self) -> tuple[str, ...]:
        """What settings call each parameter: the first by the operation, unless its name says more."""
        titles = [parameter.title or parameter.name for parameter in self.parameters]
        if not self.parameters[0].title and (len(titles) == 1 or titles[0] in ("amount", "p")):
            titles[0] = self.label
        return tuple(titles)

    @property
    def slot_titles(self) -> tuple[str, ...]:
        """What settings call each number: "exposure"; "temperature", "tint"; "red hue", "orange hue"."""
        rows = zip(self.parameters, self.titles, strict=True)
        return tuple(title for parameter, name in rows for title in parameter.title_slots(name))

    def format_settings(self, values: ParameterValues) -> str:
        """The numbers that differ from their defaults: "exposure +0.50 EV"; curves by name only."""
        numbers, parts = iter(self.canonical(self.complete(values))), []
        for parameter, title in zip(self.parameters, self.titles, strict=True):
            row = [next(numbers) for _ in range(parameter.count)]
            if parameter.is_curve:
                parts += [f"{title} curve"] * (not all(map(parameter.is_default, row)))
                continue
            for name, value in zip(parameter.title_slots(title), row, strict=True):
                parts += [f"{name} {parameter.format(value)}"] * (not parameter.is_default(value))
        return ", ".join(parts)

    def describe(self, values: ParameterValues) -> str:
        """What a step with these parameters does, in 1 to 9 words: "30 % more contrast"."""
        if self.is_identity(values):
            return f"{self.label} unchanged"
        phrase = self._word(values)
        return phrase if len(phrase.split()) <= MAX_PHRASE_WORDS else self.describe_briefly()

    def describe_briefly(self) -> str:
        """What a step does, whatever its parameters, in a few words."""
        return self.brief or f"{self.label} adjusted"

    def _word(self, values: ParameterValues) -> str:
        if self.phrase is None:
            return self.describe_briefly()
        if not isinstance(self.phrase, Phrase):
            return self.phrase(values)
        first, slot = values[0], self.slots[0]
        if self.phrase.lowest and first == slot.low:
            return self.phrase.lowest
        words = self.phrase.less if first < slot.default else self.phrase.more
        amount = self._format_amount(self.phrase, values)
        return " ".join((words if "{}" in words else f"{{}} {words}").format(amount).split())

    def _format_amount(self, phrase: Phrase, values: ParameterValues) -> str:
        if callable(phrase.amount):
            return phrase.amount(values[0])
        numbers = iter(values)
        rows = {p.name: [next(numbers) for _ in range(p.count)] for p in self.parameters}
        return phrase.amount.format_map(
            {name: row[0] if len(row) == 1 else row for name, row in rows.items()}
        )

    def check(self, parameters: object, others: ParameterValues | None = None) -> ParameterValues:
        """Parameters as a flat tuple: a number, lists of numbers or values by name; refuses others.

        Parameters that are not given have their defaults, if the first of them is a single number; `others`
        replaces the defaults.
        """
        others = self.defaults if others is None else others
        if isinstance(parameters, Mapping):
            values = self._place_named_values(parameters, others)
        else:
            values = tuple(_flatten_numbers(parameters, self.name))
            if not self._has_declared_rows(parameters):
                raise RecipeError(
                    f"{self.name} takes its rows as {self._describe_shape()}, and others were given"
                )
        if len(values) in self._accepted_lengths():
            values = (*values, *others[len(values) :])
        if len(values) != self.size:
            raise RecipeError(
                f"{self.name} takes {_format_number_count(self.size)} ({self._describe_shape()}), "
                f"and {len(values)} {'was' if len(values) == 1 else 'were'} given"
            )
        for label, slot, value in zip(self.slot_labels, self.slots, values, strict=True):
            if not slot.allows(value):
                raise RecipeError(f"{self.name}: {label} is {value:g}; allowed is {slot.allowed}")
        self.validate(values)
        return values

    def _accepted_lengths(self) -> Iterable[int]:
        counts = [parameter.count for parameter in self.parameters]
        return list(accumulate(counts)) if counts[0] == 1 else [self.size]

    def _place_named_values(self, given: Mapping[Any, object], others: ParameterValues) -> ParameterValues:
        """Values by name in their places; a name has the words of one label, in any order: "hue_red"."""
        values = list(others)
        labels = [frozenset(label.split()) for label in self.slot_labels]
        for name, value in _flatten_names(given):
            words = frozenset(re.split(r"[\s_-]+", name))
            places = [at for at, label in enumerate(labels) if label == words]
            places = places or [at for at, label in enumerate(labels) if label > words]
            if len(places) != 1:
                raise RecipeError(
                    f"{self.name} has {'several values' if places else 'no value'} {name!r:.60}; "
                    f"there are {', '.join(self.slot_labels)}"
                )
            (values[places[0]],) = _flatten_numbers([value], f"{self.name}: {name}")
        return tuple(values)

    @property
    def slot_labels(self) -> tuple[str, ...]:
        """A label for each number."""
        return tuple(label for parameter in self.parameters for label in parameter.slot_labels)

    def _has_declared_rows(self, parameters: object) -> bool:
        """Whether nested lists have the declared lengths: 24 numbers as 8 rows of 3 would be other curves."""
        rows = [len(row) for row in parameters if hasattr(row, "__len__")] if _is_list(parameters) else []
        return not rows or rows == [parameter.count for parameter in self.parameters]

    def _describe_shape(self) -> str:
        return ", ".join(p.name if p.count == 1 else f"{p.count} for {p.name}" for p in self.parameters)


@dataclass(frozen=True, kw_only=True)
class Operation(Declaration):
    """A pure function of an image and parameters, differentiable in both, identity at its defaults."""

    formula: Formula = field(repr=False)
    """(image (..., 3, H, W) in [0, 1], parameters (..., size), frame) -> image; need not clamp."""
    space: Space = "display"
    """The numbers that `formula` takes and gives; `run` converts where they are linear."""
    attribute: Attribute | None = None
    """What it mainly moves."""
    per_channel: bool = False
    """Whether each channel of a pixel depends on that channel alone."""
    reach: Callable[[Frame], int] = field(default=_no_reach, repr=False)
    """Frame -> how many pixels away it reads."""
    uses_position: bool = False
    """Whether a pixel's result depends on where in the photo it is."""

    @property
    def reads_neighbours(self) -> bool:
        return self.reach is not _no_reach

    @property
    def is_pointwise(self) -> bool:
        """Whether a pixel's result depends on that pixel alone, so that a table of colours can carry it."""
        return not (self.reads_neighbours or self.uses_position)

    def as_published(self) -> Operation:
        """This operation with the paper's parameters only, which its formula accepts too."""
        published = tuple(parameter for parameter in self.parameters if parameter.published)
        return self if published == self.parameters else replace(self, parameters=published)

    def __call__(self, image: Array, parameters: Any, *, radius: RadiusMode = "scaled") -> Array:
        """The edited image(s); `parameters` is a number, a sequence or an array (..., size)."""
        xp, values = array_namespace(image), to_array_like(parameters, image)
        if values.ndim == 0:
            values = values[None]
        given = values.shape[-1]
        if given != self.size and given in self._accepted_lengths():
            missing = to_array_like(self.defaults[given:], image)
            rest = xp.broadcast_to(missing, (*values.shape[:-1], self.size - given))
            values = xp.concat([values, rest], axis=-1)
        elif given != self.size:  # a row for each of several parameters
            values = values.reshape((*values.shape[:-2], self.size))
        return self.run(image, values, Frame.around(image, radius))

    def run(self, image: Array, values: Array, frame: Frame | None = None) -> Array:
        """The formula, clamped; `image` is a whole photo, or a tile at the place that `frame` states."""
        xp = array_namespace(image)
        frame = frame or Frame.around(image)
        if self.space == "display":
            return xp.clip(self.formula(image, values, frame), 0.0, 1.0)
        return encode_srgb(xp.clip(self.formula(decode_srgb(image), values, frame), 0.0, 1.0))


GeometryFunction = Callable[[np.ndarray, ParameterValues, slice], np.ndarray]
"""(photo (H, W, ...) of any sample type, parameters, rows of the result) -> those rows, perhaps a view."""


@dataclass(frozen=True, kw_only=True)
class Geometry(Declaration):
    """Changes which pixels a photo has and where: its result may have another size. It has no mask."""

    function: GeometryFunction = field(repr=False)
    size_after: Callable[[int, int, ParameterValues], tuple[int, int]] = field(repr=False)
    """(height, width, parameters) -> height and width of the result, which has no more pixels."""
    reads_neighbours: bool = False
    """Whether it computes pixels between those of the photo, rather than only moving them."""

    def transform(self, pixels: np.ndarray, parameters: object) -> np.ndarray:
        """A photo (H, W, ...) in its new frame, of the same sample type."""
        values = self.check(parameters)
        height, width = pixels.shape[:2]
        height, _ = self.size_after(height, width, values)
        return np.ascontiguousarray(self.function(pixels, values, slice(0, height)))


class RepairFunction(Protocol):
    """(picture (3, H, W), mask (H, W), pixel scale of the photo) -> picture; float32 in [0, 1].

    Replaces every pixel where the mask is above zero; the executor blends the result by the mask. The picture
    may be a part of the photo.
    """

    def __call__(self, image: np.ndarray, mask: np.ndarray, scale: float, /) -> np.ndarray: ...


@dataclass(frozen=True, kw_only=True)
class Repair:
    """Fills a masked region from its surroundings; it has no parameters and no gradient."""

    name: str
    help: str
    function: RepairFunction = field(repr=False)
    phrase: str = ""
    """What a step does, in a few words; by its name where empty."""
    margin: int | None = None
    """Pixels around the mask, at the reference size, that `function` receives; None for the whole picture."""

    def describe(self) -> str:
        return self.phrase or f"repaired by {self.name}"

    def check(self, parameters: object) -> ParameterValues:
        """No parameters, as a tuple; refuses any."""
        if values := tuple(_flatten_numbers(parameters, self.name)):
            raise RecipeError(
                f"{self.name} takes no numbers, and {len(values)} were given; give an empty list"
            )
        return ()


def _format_number_count(count: int) -> str:
    return "one number" if count == 1 else f"{count} numbers"


def _flatten_names(given: Mapping[Any, object], *outer: str) -> Iterator[tuple[str, object]]:
    """Names and values of nested mappings; nested names are joined."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _flatten_names(value, *outer, str(name))
        else:
            yield "_".join((*outer, str(name))), value


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
    """Pixels of a photo for each pixel at the reference size; never below one."""
    if radius == "pixel":
        return 1.0
    if radius != "scaled":
        raise ValueError(f"radius is 'scaled' or 'pixel', not {radius!r}")
    return max(1.0, min(height, width) / REFERENCE_SHORT_SIDE)


_OPERATIONS: dict[str, Operation] = {}
_GEOMETRIES: dict[str, Geometry] = {}
_REPAIRS: dict[str, Repair] = {}


def register(operation: Operation) -> Operation:
    """Add an operation to the registry; everything that lists operations lists it from now on."""
    _check_unregistered(operation.name)
    _OPERATIONS[operation.name] = operation
    return operation


def register_geometry(geometry: Geometry) -> Geometry:
    """Add a geometry to the registry; recipes accept it from now on."""
    _check_unregistered(geometry.name)
    _GEOMETRIES[geometry.name] = geometry
    return geometry


def register_repair(repair: Repair) -> Repair:
    """Add a repair to the registry; recipes and local planning accept it from now on."""
    _check_unregistered(repair.name)
    _REPAIRS[repair.name] = repair
    return repair


def _check_unregistered(name: str) -> None:
    if name in {*_OPERATIONS, *_GEOMETRIES, *_REPAIRS}:
        raise ValueError(f"an operation, geometry or repair called {name!r} is registered already")


def operations() -> Mapping[str, Operation]:
    """All operations by name: the paper's first, then those of the other modules."""
    return dict(_OPERATIONS)


def geometries() -> Mapping[str, Geometry]:
    """All geometry by name: crop, straighten, rotate, flip; none of them is among `operations()`."""
    return dict(_GEOMETRIES)


def repairs() -> Mapping[str, Repair]:
    """All repairs by name; none of them is among `operations()`."""
    return dict(_REPAIRS)


def declarations() -> Mapping[str, Operation | Geometry]:
    """Everything that has parameters by name: operations, then geometry."""
    return {**_OPERATIONS, **_GEOMETRIES}


def get_operation(name: str) -> Operation:
    """The operation called `name`, or an error that suggests the valid spellings."""
    if name in _OPERATIONS:
        return _OPERATIONS[name]
    raise _make_unknown_name_error(name)


def get_declaration(name: str) -> Operation | Geometry | Repair:
    """Whatever a step can name: an operation, a geometry or a repair."""
    for kinds in (_OPERATIONS, _GEOMETRIES, _REPAIRS):
        if name in kinds:
            found: Operation | Geometry | Repair = kinds[name]
            return found
    raise _make_unknown_name_error(name)


def _make_unknown_name_error(name: str) -> RecipeError:
    known = {*_OPERATIONS, *_GEOMETRIES, *_REPAIRS}
    near = get_close_matches(str(name).lower(), known - {name}, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(declarations())}."
    return RecipeError(f"there is no operation {name!r}; {hint}")


def get_published_operation(name: str) -> Operation:
    """The operation called `name` with the paper's parameters only."""
    return get_operation(name).as_published()


def sort_by_position(names: Iterable[str]) -> tuple[str, ...]:
    """Operations in the order in which they usually stand in a recipe."""
    return tuple(sorted(names, key=lambda name: get_operation(name).position))

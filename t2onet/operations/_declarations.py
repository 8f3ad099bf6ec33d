"""The declarations of operations, of geometry and of repairs.

A declaration is the only place that states a name, a range, a default or a unit: the command line, recipes,
sliders, planner, networks and docs read it from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, Protocol, Self

import numpy as np

from ..errors import RecipeError
from ..image.colour import decode_srgb, encode_srgb
from ..image.pixels import Array, array_namespace, to_array_like
from ._parameters import (
    MAX_PHRASE_WORDS,
    Parameter,
    ParameterValues,
    Phrase,
    flatten_names,
    flatten_numbers,
    is_list,
)

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


def pixel_scale(height: int, width: int, radius: RadiusMode = "scaled") -> float:
    """Pixels of a photo for each pixel at the reference size; never below one."""
    if radius == "pixel":
        return 1.0
    if radius != "scaled":
        raise ValueError(f"radius is 'scaled' or 'pixel', not {radius!r}")
    return max(1.0, min(height, width) / REFERENCE_SHORT_SIDE)


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

    @cached_property
    def size(self) -> int:
        """How many numbers its parameters are."""
        return sum(parameter.count for parameter in self.parameters)

    @cached_property
    def slots(self) -> tuple[Parameter, ...]:
        """The declaration of each of those numbers, in order."""
        return tuple(parameter for parameter in self.parameters for _ in range(parameter.count))

    @cached_property
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
            values = tuple(flatten_numbers(parameters, self.name))
            if not self._has_declared_rows(parameters):
                raise RecipeError(
                    f"{self.name} takes its rows as {self._describe_shape()}, and others were given"
                )
        if len(values) in self._accepted_lengths():
            values = (*values, *others[len(values) :])
        if len(values) != self.size:
            count = "one number" if self.size == 1 else f"{self.size} numbers"
            raise RecipeError(
                f"{self.name} takes {count} ({self._describe_shape()}), "
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
        for name, value in flatten_names(given):
            words = frozenset(re.split(r"[\s_-]+", name))
            places = [at for at, label in enumerate(labels) if label == words]
            places = places or [at for at, label in enumerate(labels) if label > words]
            if len(places) != 1:
                raise RecipeError(
                    f"{self.name} has {'several values' if places else 'no value'} {name!r:.60}; "
                    f"there are {', '.join(self.slot_labels)}"
                )
            (values[places[0]],) = flatten_numbers([value], f"{self.name}: {name}")
        return tuple(values)

    @cached_property
    def slot_labels(self) -> tuple[str, ...]:
        """A label for each number."""
        return tuple(label for parameter in self.parameters for label in parameter.slot_labels)

    def _has_declared_rows(self, parameters: object) -> bool:
        """Whether nested lists have the declared lengths: 24 numbers as 8 rows of 3 would be other curves."""
        rows = [len(row) for row in parameters if hasattr(row, "__len__")] if is_list(parameters) else []
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
        if values := tuple(flatten_numbers(parameters, self.name)):
            raise RecipeError(
                f"{self.name} takes no numbers, and {len(values)} were given; give an empty list"
            )
        return ()

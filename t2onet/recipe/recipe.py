"""Recipes: ordered steps as plain data, their JSON form and schema, differences and sidecar files.

A recipe is validated against the declarations of its operations; nothing here reads a photo.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    SkipValidation,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from .. import operations
from ..errors import ImageError, RecipeError
from ..image import read_regular_file, write_atomically
from ..operations import Declaration, Geometry, Parameter, Repair, join_phrases
from .mask import Mask
from .where import Where, combine, make_where_schema, parse_where, to_data
from .wording import describe_look, describe_steps, find_comparative, label_where, place_phrase

SCHEMA_VERSION: Literal[1] = 1
MAX_RECIPE_BYTES = 256 << 20
"""Largest recipe file that is read; masks are inside it."""
MAX_RECIPE_STEPS = 256
"""Steps of one recipe."""
MAX_MASK_MEGAPIXELS = 1000.0
"""Sum over the different masks of one recipe, at their own resolution."""


_PARTS = ("mask", "where")
"""Keys of a step that say in which part of the photo it applies."""
_NULL = {"type": "null"}


def _describe_step_schemas(schema: dict[str, Any]) -> None:
    """Add what each operation takes to the JSON schema of a step."""
    schema["properties"]["parameters"] = {"title": "Parameters"}
    schema["properties"]["where"] = make_where_schema()
    schema["not"] = {"properties": {key: {"not": {"type": "null"}} for key in _PARTS}, "required": [*_PARTS]}
    schema["oneOf"] = [
        *(
            _make_step_schema(one.name, one.help, {"parameters": _make_parameter_schema(one.parameters)})
            for one in operations.operations().values()
        ),
        *(
            _make_step_schema(
                one.name,
                one.help,
                {"parameters": _make_parameter_schema(one.parameters), **dict.fromkeys(_PARTS, _NULL)},
            )
            for one in operations.geometries().values()
        ),
        *(
            _make_step_schema(
                one.name, one.help, {"parameters": {"type": "array", "maxItems": 0}, "where": _NULL}, "mask"
            )
            for one in operations.repairs().values()
        ),
    ]


def _make_step_schema(name: str, about: str, fields: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"description": about, "properties": {"operation": {"const": name}, **fields}}
    return {**schema, "required": list(required)} if required else schema


def _make_parameter_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """As `Operation.check` accepts them: a flat list, a list for each parameter, a number, or names."""
    numbers = [_make_number_schema(parameter) for parameter in parameters]
    counts = [p.count for p in parameters]
    rows = [[number] * count for number, count in zip(numbers, counts, strict=True)]
    flat = [number for row in rows for number in row]
    ends = list(accumulate(counts)) if counts[0] == 1 else [len(flat)]
    forms = [_make_list_schema(flat[:end]) for end in ends]
    if counts[0] == 1:
        forms.append(numbers[0])
    if max(counts) > 1:
        forms.append(_make_list_schema([_make_list_schema(row) for row in rows]))
    forms.append({"type": "object", "description": "values by name; the others have their defaults"})
    return {"description": "; ".join(f"{p.name}: {p.help}" for p in parameters), "anyOf": forms}


def _make_number_schema(parameter: Parameter) -> dict[str, Any]:
    bounds = {"minimum": parameter.low, "maximum": parameter.high, "default": parameter.default}
    return {"type": "number", **bounds, **({"multipleOf": parameter.step} if parameter.whole_steps else {})}


def _make_list_schema(items: list[dict[str, Any]]) -> dict[str, Any]:
    same = all(item == items[0] for item in items)
    contents = {"items": items[0]} if same else {"prefixItems": items}
    return {"type": "array", **contents, "minItems": len(items), "maxItems": len(items)}


class Step(BaseModel):
    """An operation, its parameters (flat, in declared order) and optionally where it applies.

    That is a `mask`, or a `where` that is found on each photo.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_describe_step_schemas)

    operation: str
    parameters: tuple[float, ...]
    mask: Mask | None = None
    where: Annotated[Where | None, SkipValidation] = None

    @model_validator(mode="before")
    @classmethod
    def _check(cls, raw: Any) -> Any:
        if isinstance(raw, cls):
            return raw
        if not isinstance(raw, dict) or not {"operation", "parameters"} <= raw.keys():
            raise RecipeError(f"a step is an operation with its parameters, and {raw!r:.80} was given")
        if not isinstance(raw["operation"], str):
            raise RecipeError(f"an operation is a name in quotes, and {raw['operation']!r:.80} was given")
        kind = operations.get_declaration(raw["operation"])
        _check_parts(kind, raw)
        checked = {**raw, "parameters": kind.check(raw["parameters"])}
        if raw.get("where") is not None:
            checked["where"] = parse_where(raw["where"])
        return checked

    @field_serializer("where")
    def _store_where(self, where: Where | None) -> str | dict[str, Any] | None:
        return None if where is None else to_data(where)

    @field_serializer("parameters")
    def _store_parameters(self, _: tuple[float, ...]) -> tuple[float, ...]:
        return self.stored_parameters

    @property
    def stored_parameters(self) -> tuple[float, ...]:
        """The parameters as files have them; see `Declaration.trim`."""
        kind = self.declaration
        return self.parameters if isinstance(kind, Repair) else kind.trim(self.parameters)

    @classmethod
    def from_trusted(cls, operation: str, parameters: tuple[float, ...], where: Where | None = None) -> Self:
        """A step without validation, for loops over parameters known to be in range."""
        return cls.model_construct(operation=operation, parameters=parameters, mask=None, where=where)

    @property
    def declaration(self) -> Declaration | Repair:
        """The operation, geometry or repair that it names."""
        return operations.get_declaration(self.operation)

    @property
    def is_repair(self) -> bool:
        """Whether it fills its mask from the surroundings."""
        return self.operation in operations.repairs()

    @property
    def is_geometry(self) -> bool:
        """Whether it changes the frame of the photo."""
        return self.operation in operations.geometries()

    @property
    def is_local(self) -> bool:
        """Whether it applies to a part of the photo."""
        return self.mask is not None or self.where is not None

    @property
    def has_strength(self) -> bool:
        """Whether there is a half of it: repairs and geometry are done or not."""
        return not (self.is_repair or self.is_geometry)

    @property
    def is_identity(self) -> bool:
        """Whether it leaves every photo unchanged."""
        kind = self.declaration
        return not isinstance(kind, Repair) and kind.is_identity(self.parameters)

    def size_after(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of a photo of this size after the step."""
        geometry = operations.geometries().get(self.operation)
        return geometry.size_after(height, width, self.parameters) if geometry else (height, width)

    def describe(self, *, brief: bool = False) -> str:
        """What it does, in about ten words: "20 % brighter"; `brief` says less, in at most six."""
        kind = self.declaration
        if isinstance(kind, Repair):
            return kind.describe()
        phrase = kind.describe(self.parameters)
        if brief:
            phrase = find_comparative(phrase) or kind.describe_briefly()
        if not self.is_local:
            return phrase
        return place_phrase(join_phrases(phrase.split(", ")), self.where, brief=brief)

    def format_settings(self) -> str:
        """The numbers as photographers write them: "exposure +0.50 EV"; defaults are left out."""
        kind = self.declaration
        if isinstance(kind, Repair):
            return self.operation
        settings = kind.format_settings(self.parameters) or f"{kind.label} unchanged"
        if self.where is not None:
            return f"{label_where(self.where)}: {settings}"
        return f"{settings} (local)" if self.mask else settings

    def blend(self, strength: float) -> Self:
        """The step at a strength: 0 does nothing, 1 is the step itself, above 1 it is clipped to its range.

        Repairs and geometry have no strength and are returned unchanged.
        """
        if strength == 1 or not self.has_strength:
            return self
        operation = operations.get_operation(self.operation)
        if strength == 0:
            return self.model_copy(update={"parameters": operation.defaults})
        found = zip(operation.slots, operation.canonical(self.parameters), strict=True)
        values = [
            value if slot.is_kind else round(slot.default + strength * (value - slot.default), 12)
            for slot, value in found
        ]
        return self.model_copy(update={"parameters": operation.clip(values)})

    def add(self, other: Step) -> Self:
        """The step with the changes of another step of its operation added to its own."""
        operation = operations.get_operation(self.operation)
        rows = (operation.canonical(self.parameters), operation.canonical(other.parameters))
        added = [round(one + more - d, 12) for one, more, d in zip(*rows, operation.defaults, strict=True)]
        return self.model_copy(update={"parameters": operation.clip(added)})


def _check_parts(kind: Declaration | Repair, raw: dict[str, Any]) -> None:
    """Check which of mask and where a step has, before they are read."""
    has_mask, has_where = (raw.get(key) is not None for key in _PARTS)
    if has_mask and has_where:
        raise RecipeError(f"{kind.name} has both a mask and a where; give one of them")
    if isinstance(kind, Repair) and not has_mask:
        raise RecipeError(f"{kind.name} needs a mask that says where; give the step one")
    if isinstance(kind, Geometry) and (has_mask or has_where):
        given = "mask" if has_mask else "where"
        raise RecipeError(f"{kind.name} moves the whole picture and takes no {given}; leave it out")


StepLike = Step | tuple[Any, ...] | dict[str, Any]


@dataclass(frozen=True)
class StepChange:
    """One difference between two recipes; `before` is None for an added step, `after` for a removed one."""

    position: int
    before: Step | None
    after: Step | None

    def __str__(self) -> str:
        if self.before is None and self.after is not None:
            return f"added as step {self.position}: {self.after.describe()}"
        if self.after is None and self.before is not None:
            return f"removed, was step {self.position}: {self.before.describe()}"
        assert self.before is not None
        assert self.after is not None
        where = ", elsewhere in the picture" if self.before.mask != self.after.mask else ""
        before, after = self.before.format_settings(), self.after.format_settings()
        if before == after:  # curves, say, whose numbers are not written
            before, after = self.before.describe(), self.after.describe()
        return f"changed, step {self.position}{where}: {before} -> {after}"


class Recipe(BaseModel):
    """Ordered steps with an optional name; a recipe meant for other photos is a look."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = SCHEMA_VERSION
    name: str = ""
    steps: tuple[Step, ...] = ()

    @field_validator("schema_version", mode="before")
    @classmethod
    def _check_version(cls, version: Any) -> Any:
        if version != SCHEMA_VERSION or isinstance(version, bool):
            raise RecipeError(
                f"it has schema version {version!r:.20}, and this release reads {SCHEMA_VERSION}; "
                "a newer release of t2onet may read it"
            )
        return version

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise RecipeError(f"its name {name!r:.80} has half characters, which no file can hold; retype it")
        return name

    @field_validator("steps", mode="before")
    @classmethod
    def _check_steps(cls, raw: Any, info: ValidationInfo) -> tuple[Step, ...]:
        if not isinstance(raw, list | tuple):
            raise RecipeError(f"steps is a list of steps, and {raw!r:.80} was given")
        _check_step_count(len(raw))
        steps: list[Step] = []
        masks: dict[Mask, int] = {}
        for number, one in enumerate(raw, start=1):
            steps.append(step := _parse_step(number, one, info.context))
            if step.mask is not None:
                masks[step.mask] = step.mask.pixels
            if sum(masks.values()) > 1e6 * MAX_MASK_MEGAPIXELS:
                raise RecipeError(
                    f"its masks have more than {MAX_MASK_MEGAPIXELS:g} megapixels in all; make them smaller, "
                    "which changes little, or split the recipe"
                )
        return tuple(steps)

    @classmethod
    def from_steps(cls, steps: Iterable[StepLike], name: str = "") -> Self:
        """From steps, dicts, or tuples (operation, parameters[, mask or where])."""
        return cls.from_data({"name": name, "steps": [_to_step_fields(step) for step in steps]})

    @classmethod
    def from_data(cls, data: Any, folder: Path = Path()) -> Self:
        """From parsed JSON; paths of mask files are relative to `folder`."""
        if not isinstance(data, dict) or "steps" not in data:
            raise RecipeError('a recipe is {"schema_version": 1, "steps": [...]}, and this has no steps')
        try:
            return cls.model_validate(data, context={"folder": folder})
        except ValidationError as error:
            raise RecipeError(_explain_validation_error(error, cls)) from None
        except RecursionError:
            raise RecipeError("it is nested too deeply to be a recipe") from None

    @classmethod
    def from_json(cls, text: str, folder: Path = Path()) -> Self:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecipeError(f"it is not JSON ({error})") from None
        return cls.from_data(data, folder)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a JSON file; error messages name the file."""
        path = Path(path)
        try:
            return cls.from_json(
                read_regular_file(path, MAX_RECIPE_BYTES).decode("utf-8-sig"), folder=path.parent
            )
        except IsADirectoryError:
            raise RecipeError(f"{path} is a folder; give the JSON file of a recipe") from None
        except FileNotFoundError:
            raise RecipeError(f"{path} does not exist; give the JSON file of a recipe") from None
        except UnicodeDecodeError:
            raise RecipeError(
                f"{path} is not a recipe, which is a JSON file; for a picture, one is looked for beside it, "
                f"as {path.name}.t2o.json"
            ) from None
        except (OSError, ValueError) as error:
            raise RecipeError(f"{path} cannot be read as a recipe ({error})") from None
        except (RecipeError, ImageError) as error:
            raise RecipeError(f"{path}: {error}") from None

    def to_json(self) -> str:
        """Readable JSON, one line for each step, masks included."""
        data = self.model_dump(mode="json", exclude_none=True)
        lines = [f'  "schema_version": {data["schema_version"]}']
        if self.name:
            lines.append(f'  "name": {json.dumps(self.name, ensure_ascii=False)}')
        steps = ",\n".join(f"    {json.dumps(step)}" for step in data["steps"])
        lines.append(f'  "steps": [\n{steps}\n  ]' if steps else '  "steps": []')
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the JSON file atomically; an existing file is replaced only with `overwrite`."""
        write_atomically(Path(path), self.to_json().encode(), overwrite=overwrite)
        return Path(path)

    def describe(self) -> str:
        """What the recipe does, in one sentence: at most 12 words for one or two steps.

        A look, which has a name, is described by that name and its main steps in as many words.
        """
        steps = [step for step in self.steps if not step.is_identity]
        return describe_look(self.name, steps) if self.is_look else describe_steps(steps)

    @property
    def is_look(self) -> bool:
        """Whether it has a name, and does something."""
        return bool(self.name.strip()) and not self.is_identity

    def format_settings(self) -> str:
        """The numbers as photographers write them: "Exposure +0.50 EV, highlights -30".

        With places: "Contrast +0.10; shadows: exposure +0.50 EV, temperature +12".
        """
        steps = [step for step in self.steps if not step.is_identity]
        text = "; ".join(
            ("" if where is None else f"{label_where(where)}: ")
            + ", ".join(step.model_copy(update={"where": None}).format_settings() for step in there)
            for where, there in groupby(steps, lambda step: step.where)
        )
        return f"{text[:1].upper()}{text[1:]}"

    def adjust(self, operation: str, values: object, where: object = None) -> Self:
        """The recipe with other values of an operation, on the whole photo or at a place.

        Its last step there without a mask is changed; if there is none, one is added at the operation's usual
        position. Values by name leave the others of that step as they are.
        """
        declared = operations.get_declaration(operation)
        if isinstance(declared, Repair):
            raise RecipeError(f"{operation} has no values to adjust; add it as a step with a mask")
        place = None if where is None else parse_where(where)
        at = self.find_step(operation, place)
        current = declared.defaults if at is None else self.steps[at].parameters
        step = Step(operation=operation, parameters=declared.check(values, current), where=place)
        if at is None:
            return self.insert(step)
        return self.model_copy(update={"steps": (*self.steps[:at], step, *self.steps[at + 1 :])})

    def insert(self, step: Step) -> Self:
        """The recipe with one more step, at the usual position of its operation; a repair comes first."""
        declared = operations.get_declaration(step.operation)
        at = 0 if isinstance(declared, Repair) else self._find_place(declared.position)
        steps = (*self.steps[:at], step, *self.steps[at:])
        _check_step_count(len(steps))
        return self.model_copy(update={"steps": steps})

    def find_step(self, operation: str, where: Where | None = None) -> int | None:
        """The index of the last step of an operation on the whole photo, or at a place."""
        wanted = (operation, None, where)
        steps = enumerate(self.steps)
        return max((at for at, s in steps if (s.operation, s.mask, s.where) == wanted), default=None)

    def restrict(self, where: object) -> Self:
        """The recipe at a place alone: steps that have a `where` keep it, and both must hold.

        Steps with a mask, and geometry, cannot be restricted and are refused.
        """
        place = parse_where(where)
        steps = tuple(_restrict_step(number, step, place) for number, step in enumerate(self.steps, start=1))
        return self.model_copy(update={"steps": steps})

    def _find_place(self, position: int) -> int:
        """Where a step of an operation with this position belongs: before the first that comes after it."""
        later = (
            at
            for at, step in enumerate(self.steps)
            if not step.is_repair and operations.declarations()[step.operation].position > position
        )
        return next(later, len(self.steps))

    def blend(self, strength: float) -> Self:
        """The recipe at a strength: 0 does nothing, 0.5 is half of each step, 1 the recipe itself.

        Repairs and geometry stay as they are at every strength.
        """
        if not (math.isfinite(strength) and strength >= 0):
            raise RecipeError(
                f"a strength is 0 or more (1 is the recipe as it is), and {strength:g} was given"
            )
        return self.model_copy(update={"steps": tuple(step.blend(strength) for step in self.steps)})

    def compose(self, *others: Recipe) -> Self:
        """This recipe, then the others."""
        steps = (*self.steps, *(step for other in others for step in other.steps))
        _check_step_count(len(steps))
        return self.model_copy(update={"steps": steps})

    def __add__(self, other: Recipe) -> Self:
        return self.compose(other)

    def diff(self, other: Recipe) -> list[StepChange]:
        """What changes from this recipe to `other`, step by step, in the order of `other`."""
        changes: list[StepChange] = []
        old = new = 0
        for before, after in match_steps(self.steps, other.steps):
            old, new = old + (before is not None), new + (after is not None)
            if before != after:
                changes.append(StepChange(old if after is None else new, before, after))
        return changes

    @property
    def geometry(self) -> Self:
        """Its crops, turns and flips alone: the frame of the result."""
        return self.model_copy(update={"steps": tuple(step for step in self.steps if step.is_geometry)})

    def size_after(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of a photo of this size after the recipe."""
        for step in self.steps:
            height, width = step.size_after(height, width)
        return height, width

    @property
    def is_identity(self) -> bool:
        """Whether it leaves every photo unchanged."""
        return all(step.is_identity for step in self.steps)

    def __len__(self) -> int:
        return len(self.steps)


def match_steps(old: Sequence[Step], new: Sequence[Step]) -> Iterator[tuple[Step | None, Step | None]]:
    """Pair steps by operation, place and order; None beside steps that are new or gone."""
    before, after = ([(step.operation, step.where) for step in steps] for steps in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(old[i:i_end], new[j:j_end], strict=True)
        else:
            yield from ((step, None) for step in old[i:i_end])
            yield from ((None, step) for step in new[j:j_end])


def _restrict_step(number: int, step: Step, where: Where) -> Step:
    if step.mask is not None or step.is_geometry:
        reason = "has a mask of its own" if step.mask is not None else "moves the whole picture"
        raise RecipeError(f"step {number}: {step.operation} {reason}; it cannot be applied in one place")
    both = where if step.where is None else combine("and", step.where, where)
    return step.model_copy(update={"where": both})


def _check_step_count(steps: int) -> None:
    if steps > MAX_RECIPE_STEPS:
        raise RecipeError(
            f"a recipe has at most {MAX_RECIPE_STEPS} steps, and this one has {steps}; split it"
        )


def _parse_step(number: int, raw: Any, context: Any) -> Step:
    try:
        return Step.model_validate(raw, context=context)
    except (RecipeError, ImageError) as error:
        raise RecipeError(f"step {number}: {error}") from None
    except OverflowError:
        raise RecipeError(f"step {number}: it has a number with far too many digits") from None
    except ValidationError as error:
        raise RecipeError(f"step {number}: {_explain_validation_error(error, Step)}") from None


def _explain_validation_error(error: ValidationError, model: type[BaseModel]) -> str:
    """The first error, in the words of this package."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = Mask.KEYS if first["loc"][0] == "mask" else tuple(model.model_fields)
        return f"{key!r:.40} is not known there; there are {', '.join(known)}"
    return f"{key}: {first['msg'].lower()}"


def _to_step_fields(step: StepLike) -> Step | dict[str, Any]:
    if not isinstance(step, tuple):
        return step
    if len(step) not in (2, 3):
        raise RecipeError(
            f"{len(step)} things were given for a step; it has an operation, values, and perhaps a place"
        )
    is_mask = len(step) > 2 and _is_mask(step[2])
    return dict(zip(("operation", "parameters", "mask" if is_mask else "where"), step, strict=False))


def _is_mask(part: object) -> bool:
    """Whether the third of a tuple is a mask rather than a `where`."""
    return isinstance(part, Mask) or (isinstance(part, dict) and not part.keys().isdisjoint(Mask.KEYS))


SIDECAR_SUFFIX = ".t2o.json"
"""Appended to the file name of a picture: the recipe of `a.jpg` is `a.jpg.t2o.json`."""
_VARIANT_NUMBER = re.compile(r"(?<=.)-\d+$")
"""The number of a variant, at the end of a name."""


def sidecar_path(picture: Path) -> Path:
    """Where the recipe of a picture is written."""
    return picture.with_name(f"{picture.name}{SIDECAR_SUFFIX}")


def legacy_sidecar_path(picture: Path) -> Path:
    """Where earlier releases wrote the recipe of a picture: `a.json` for `a.jpg`."""
    return picture.with_suffix(".json")


def find_sidecar(picture: Path) -> Path | None:
    """The sidecar of a picture; one with the old name only if it contains a recipe."""
    if is_file(path := sidecar_path(picture)):
        return path
    if is_file(path := legacy_sidecar_path(picture)) and _is_recipe_file(path):
        return path
    return None


def guess_originals(result: Path, ending: str) -> Iterator[Path]:
    """Possible paths of the photo of a result, without suffixes; it or a folder of it lacks the `ending`."""
    for path in {result, result.parent / _VARIANT_NUMBER.sub("", result.name)}:
        for at, part in enumerate(path.parts):
            if part.endswith(ending) and part != ending:
                yield Path(*path.parts[:at], part.removesuffix(ending), *path.parts[at + 1 :])


def derive_look_name(path: Path) -> str:
    """The name of a look from its file: `silver` for silver.json, `a` for a.jpg.t2o.json."""
    if path.name.endswith(SIDECAR_SUFFIX):
        return Path(path.name.removesuffix(SIDECAR_SUFFIX)).stem
    return path.stem


def is_file(path: Path) -> bool:
    """Whether there is a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, say
        return False


def _is_recipe_file(path: Path) -> bool:
    try:
        Recipe.load(path)
    except RecipeError:
        return False
    return True

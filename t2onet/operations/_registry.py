"""The registry of operations, geometry and repairs: everything that lists or looks up one asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import RecipeError, suggest
from ._declarations import Geometry, Operation, Repair

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
    hint = suggest(str(name).lower(), known - {name}, f"there are {', '.join(declarations())}.")
    return RecipeError(f"there is no operation {name!r}; {hint}")


def get_published_operation(name: str) -> Operation:
    """The operation called `name` with the paper's parameters only."""
    return get_operation(name).as_published()


def sort_by_position(names: Iterable[str]) -> tuple[str, ...]:
    """Operations in the order in which they usually stand in a recipe."""
    return tuple(sorted(names, key=lambda name: get_operation(name).position))

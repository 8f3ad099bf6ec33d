"""Operations: declarations and formulas, a file for each family.

Every module of this folder is imported, which registers its operations, geometry and repairs: adding one is
one file.
"""

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules

from ._declarations import (
    REFERENCE_SHORT_SIDE,
    Attribute,
    Declaration,
    Frame,
    Geometry,
    GeometryFunction,
    Operation,
    RadiusMode,
    Repair,
    RepairFunction,
    pixel_scale,
)
from ._parameters import Parameter, ParameterValues, Phrase, join_phrases
from ._registry import (
    declarations,
    geometries,
    get_declaration,
    get_operation,
    get_published_operation,
    operations,
    register,
    register_geometry,
    register_repair,
    repairs,
    sort_by_position,
)
from .paper import PAPER

DARKROOM = (
    *("exposure", "contrast", "highlights", "shadows", "whites", "blacks", "tone"),
    *("white_balance", "vibrance", "saturation", "mixer", "grading", "black_and_white", "color"),
    *("sharpness", "clarity", "dehaze", "denoise"),
    *("vignette", "grain"),
    *("crop", "straighten", "rotate", "flip"),
)
"""What photographers know, in their units: light, colour, detail, effects and geometry."""

__all__ = [
    "DARKROOM",
    "PAPER",
    "REFERENCE_SHORT_SIDE",
    "Attribute",
    "Declaration",
    "Frame",
    "Geometry",
    "GeometryFunction",
    "Operation",
    "Parameter",
    "ParameterValues",
    "Phrase",
    "RadiusMode",
    "Repair",
    "RepairFunction",
    "declarations",
    "geometries",
    "get_declaration",
    "get_operation",
    "get_published_operation",
    "join_phrases",
    "operations",
    "pixel_scale",
    "register",
    "register_geometry",
    "register_repair",
    "repairs",
    "sort_by_position",
]

for _module in sorted(_iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        _import_module(f"{__name__}.{_module.name}")

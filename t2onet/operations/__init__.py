"""The operations: declarations and formulas, one file for each family.

Every module of this folder is loaded, and loading it registers its operations and
repairs: adding one needs one file.
"""

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules

from ._registry import (
    REFERENCE_SHORT_SIDE,
    Operation,
    Parameter,
    ParameterValues,
    RadiusMode,
    Repair,
    RepairFunction,
    get_operation,
    operations,
    pixel_scale,
    register,
    register_repair,
    repairs,
)

__all__ = [
    "REFERENCE_SHORT_SIDE",
    "Operation",
    "Parameter",
    "ParameterValues",
    "RadiusMode",
    "Repair",
    "RepairFunction",
    "get_operation",
    "operations",
    "pixel_scale",
    "register",
    "register_repair",
    "repairs",
]

for _module in sorted(_iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        _import_module(f"{__name__}.{_module.name}")

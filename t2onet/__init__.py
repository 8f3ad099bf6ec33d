"""A darkroom you talk to: short, adjustable recipes of named operations for photos."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .editor import Edit, Editor, edit
    from .errors import (
        Cancelled,
        DataError,
        ImageError,
        LookError,
        OutputError,
        PlanError,
        RecipeError,
        RequestError,
        ServerError,
        StudyError,
        T2OError,
        TrainingError,
    )
    from .executor import apply, intermediates
    from .image import Image, open_image
    from .planning import Plan, plan
    from .recipe import Mask, Recipe, Step

# Where each public name lives. Loading waits for the first use, so that `t2o --help` stays instant.
_HOMES = {
    "Cancelled": "errors",
    "DataError": "errors",
    "Edit": "editor",
    "Editor": "editor",
    "Image": "image",
    "ImageError": "errors",
    "LookError": "errors",
    "Mask": "recipe",
    "OutputError": "errors",
    "Plan": "planning",
    "PlanError": "errors",
    "Recipe": "recipe",
    "RecipeError": "errors",
    "RequestError": "errors",
    "ServerError": "errors",
    "Step": "recipe",
    "StudyError": "errors",
    "T2OError": "errors",
    "TrainingError": "errors",
    "apply": "executor",
    "edit": "editor",
    "intermediates": "executor",
    "open_image": "image",
    "plan": "planning",
}

__all__ = [
    "Cancelled",
    "DataError",
    "Edit",
    "Editor",
    "Image",
    "ImageError",
    "LookError",
    "Mask",
    "OutputError",
    "Plan",
    "PlanError",
    "Recipe",
    "RecipeError",
    "RequestError",
    "ServerError",
    "Step",
    "StudyError",
    "T2OError",
    "TrainingError",
    "apply",
    "edit",
    "intermediates",
    "open_image",
    "plan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

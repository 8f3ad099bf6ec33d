"""Recipes: ordered steps as plain data, and what can be done with them without a picture."""

from .mask import Mask
from .recipe import SCHEMA_VERSION, Recipe, Step, StepChange

__all__ = ["SCHEMA_VERSION", "Mask", "Recipe", "Step", "StepChange"]

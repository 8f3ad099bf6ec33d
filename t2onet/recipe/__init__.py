"""Recipes: ordered steps as plain data, and what can be done with them without a picture."""

from .mask import Mask
from .model import SCHEMA_VERSION, Change, Recipe, Step

__all__ = ["SCHEMA_VERSION", "Change", "Mask", "Recipe", "Step"]

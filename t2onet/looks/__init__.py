"""Named looks, and recipes as files that other photo and video tools load."""

from ..recipe.looks import Look, find_look, looks
from .export import TABLE_FORMATS, ExportedLook, export_recipe

__all__ = ["TABLE_FORMATS", "ExportedLook", "Look", "export_recipe", "find_look", "looks"]

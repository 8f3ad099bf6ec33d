"""Recipes out to other tools: colour tables that any editor, camera or video tool can load."""

from .export import TABLE_FORMATS, ExportedLook, export_recipe

__all__ = ["TABLE_FORMATS", "ExportedLook", "export_recipe"]

"""Export recipes as colour tables that other photo and video tools load."""

from .export import TABLE_FORMATS, ExportedLook, export_recipe

__all__ = ["TABLE_FORMATS", "ExportedLook", "export_recipe"]

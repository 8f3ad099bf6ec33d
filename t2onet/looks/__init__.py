"""Recipes out to other tools: colour tables that any editor, camera or video tool can load."""

from .export import FORMATS, Exported, export

__all__ = ["FORMATS", "Exported", "export"]

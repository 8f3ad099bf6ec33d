"""Places: from the `where` of a step to a soft mask of a photo."""

from .named import FINDERS, PlaceFinder, find_place
from .resolve import OpenedPhoto, is_there, resolve_where

__all__ = ["FINDERS", "OpenedPhoto", "PlaceFinder", "find_place", "is_there", "resolve_where"]

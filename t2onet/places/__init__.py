"""Places: from the `where` of a step to a soft mask of a photo."""

from .named import FINDERS, PlaceFinder, find_place, list_present
from .network import NETWORK_SIDE, share_answer
from .resolve import OpenedPhoto, PlaceCoverage, PlaceMasks, list_refined, resolve_where

__all__ = [
    "FINDERS",
    "NETWORK_SIDE",
    "OpenedPhoto",
    "PlaceCoverage",
    "PlaceFinder",
    "PlaceMasks",
    "find_place",
    "list_present",
    "list_refined",
    "resolve_where",
    "share_answer",
]

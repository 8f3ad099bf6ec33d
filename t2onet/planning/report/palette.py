"""Colours of a report: a dark, neutral surround, in which a photo looks as it does in a darkroom."""

from __future__ import annotations

SURROUND, PANEL, WELL = "#1f1f1f", "#292929", "#1a1a1a"
GRID, TRACK, DIAGONAL = "#3d3d3d", "#5a5a5a", "#8a8a8a"
TEXT, FAINT = "#dcdcdc", "#a8a8a8"

_INKS = {"red": "#ff7b72", "green": "#63d489", "blue": "#79b4ff"}


def ink(curve: str) -> str:
    """The colour of a curve of that name."""
    return _INKS.get(curve, TEXT)

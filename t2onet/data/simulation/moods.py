"""Vague wishes: what a photographer would do about them. Each mood is declared once."""

from __future__ import annotations

from .wish import Change, Kind

MOODS: dict[str, tuple[Change, ...]] = {
    "pop": (Change(Kind.CONTRAST, 1, 0.9), Change(Kind.CHROMA, 1, 0.8)),
    "punchy": (Change(Kind.CONTRAST, 1, 1.3), Change(Kind.CHROMA, 1, 0.6), Change(Kind.SHARPNESS, 1, 0.5)),
    "moody": (
        Change(Kind.EXPOSURE, -1, 0.9),
        Change(Kind.CHROMA, -1, 0.7),
        Change(Kind.TEMPERATURE, -1, 0.4),
    ),
    "gloomy": (
        Change(Kind.EXPOSURE, -1, 0.9),
        Change(Kind.CHROMA, -1, 1.2),
        Change(Kind.TEMPERATURE, -1, 0.7),
    ),
    "dramatic": (
        Change(Kind.CONTRAST, 1, 1.6),
        Change(Kind.HIGHLIGHTS, -1, 0.3),
        Change(Kind.SHARPNESS, 1, 0.6),
    ),
    "cinematic": (
        Change(Kind.CONTRAST, 1, 0.8),
        Change(Kind.CHROMA, -1, 0.5),
        Change(Kind.COLOUR, 1, 0.5, colour="teal"),
    ),
    "dreamy": (
        Change(Kind.SHARPNESS, -1, 1.5),
        Change(Kind.CONTRAST, -1, 0.7),
        Change(Kind.EXPOSURE, 1, 0.5),
    ),
    "airy": (Change(Kind.EXPOSURE, 1, 0.9), Change(Kind.CONTRAST, -1, 0.7), Change(Kind.CHROMA, -1, 0.4)),
    "vintage": (
        Change(Kind.CONTRAST, -1, 0.8),
        Change(Kind.CHROMA, -1, 0.8),
        Change(Kind.COLOUR, 1, 0.9, colour="orange"),
    ),
    "faded": (Change(Kind.CONTRAST, -1, 1.2), Change(Kind.CHROMA, -1, 0.9)),
    "golden": (
        Change(Kind.TEMPERATURE, 1, 1.4),
        Change(Kind.CHROMA, 1, 0.4),
        Change(Kind.EXPOSURE, 1, 0.3),
    ),
    "cosy": (Change(Kind.TEMPERATURE, 1, 1.2), Change(Kind.CONTRAST, -1, 0.4)),
    "summery": (Change(Kind.EXPOSURE, 1, 0.5), Change(Kind.TEMPERATURE, 1, 0.6), Change(Kind.CHROMA, 1, 0.7)),
    "wintry": (
        Change(Kind.TEMPERATURE, -1, 1.2),
        Change(Kind.CHROMA, -1, 0.5),
        Change(Kind.EXPOSURE, 1, 0.3),
    ),
    "calm": (Change(Kind.CONTRAST, -1, 0.6), Change(Kind.CHROMA, -1, 0.5), Change(Kind.SHARPNESS, -1, 0.6)),
    "noir": (Change(Kind.MONOCHROME, -1), Change(Kind.CONTRAST, 1, 1.4), Change(Kind.EXPOSURE, -1, 0.4)),
}
"""Moods that are put on a good photo, as the changes of their plain form."""

_DULL = (
    Change(Kind.EXPOSURE, -1, 0.9),
    Change(Kind.EXPOSURE, 1, 0.7),
    Change(Kind.CONTRAST, -1, 0.9),
    Change(Kind.CHROMA, -1, 0.9),
    Change(Kind.TEMPERATURE, 1, 0.8),
    Change(Kind.TEMPERATURE, -1, 0.8),
    Change(Kind.TINT, -1, 0.8),
    Change(Kind.TINT, 1, 0.6),
    Change(Kind.SHARPNESS, -1, 1.0),
)
_OVERDONE = (
    Change(Kind.CONTRAST, 1, 1.4),
    Change(Kind.CHROMA, 1, 1.4),
    Change(Kind.TEMPERATURE, 1, 1.2),
    Change(Kind.TEMPERATURE, -1, 1.2),
    Change(Kind.TINT, 1, 1.0),
    Change(Kind.TINT, -1, 1.0),
    Change(Kind.SHARPNESS, 1, 1.5),
)
FAULTS: dict[str, tuple[Change, ...]] = {"better": _DULL, "natural": _OVERDONE}
"""Moods that want a photo mended, as what may be wrong with it; two or three of these come together."""

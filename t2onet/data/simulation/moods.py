"""Vague wishes: what a photographer would do about them. Each mood is declared once."""

from __future__ import annotations

from .wish import ChangeKind, PhotoChange

MOODS: dict[str, tuple[PhotoChange, ...]] = {
    "pop": (PhotoChange(ChangeKind.CONTRAST, 1, 0.9), PhotoChange(ChangeKind.CHROMA, 1, 0.8)),
    "punchy": (
        PhotoChange(ChangeKind.CONTRAST, 1, 1.3),
        PhotoChange(ChangeKind.CHROMA, 1, 0.6),
        PhotoChange(ChangeKind.SHARPNESS, 1, 0.5),
    ),
    "moody": (
        PhotoChange(ChangeKind.EXPOSURE, -1, 0.9),
        PhotoChange(ChangeKind.CHROMA, -1, 0.7),
        PhotoChange(ChangeKind.TEMPERATURE, -1, 0.4),
    ),
    "gloomy": (
        PhotoChange(ChangeKind.EXPOSURE, -1, 0.9),
        PhotoChange(ChangeKind.CHROMA, -1, 1.2),
        PhotoChange(ChangeKind.TEMPERATURE, -1, 0.7),
    ),
    "dramatic": (
        PhotoChange(ChangeKind.CONTRAST, 1, 1.6),
        PhotoChange(ChangeKind.HIGHLIGHTS, -1, 0.3),
        PhotoChange(ChangeKind.SHARPNESS, 1, 0.6),
    ),
    "cinematic": (
        PhotoChange(ChangeKind.CONTRAST, 1, 0.8),
        PhotoChange(ChangeKind.CHROMA, -1, 0.5),
        PhotoChange(ChangeKind.COLOUR, 1, 0.5, colour="teal"),
    ),
    "dreamy": (
        PhotoChange(ChangeKind.SHARPNESS, -1, 1.5),
        PhotoChange(ChangeKind.CONTRAST, -1, 0.7),
        PhotoChange(ChangeKind.EXPOSURE, 1, 0.5),
    ),
    "airy": (
        PhotoChange(ChangeKind.EXPOSURE, 1, 0.9),
        PhotoChange(ChangeKind.CONTRAST, -1, 0.7),
        PhotoChange(ChangeKind.CHROMA, -1, 0.4),
    ),
    "vintage": (
        PhotoChange(ChangeKind.CONTRAST, -1, 0.8),
        PhotoChange(ChangeKind.CHROMA, -1, 0.8),
        PhotoChange(ChangeKind.COLOUR, 1, 0.9, colour="orange"),
    ),
    "faded": (PhotoChange(ChangeKind.CONTRAST, -1, 1.2), PhotoChange(ChangeKind.CHROMA, -1, 0.9)),
    "golden": (
        PhotoChange(ChangeKind.TEMPERATURE, 1, 1.4),
        PhotoChange(ChangeKind.CHROMA, 1, 0.4),
        PhotoChange(ChangeKind.EXPOSURE, 1, 0.3),
    ),
    "cosy": (PhotoChange(ChangeKind.TEMPERATURE, 1, 1.2), PhotoChange(ChangeKind.CONTRAST, -1, 0.4)),
    "summery": (
        PhotoChange(ChangeKind.EXPOSURE, 1, 0.5),
        PhotoChange(ChangeKind.TEMPERATURE, 1, 0.6),
        PhotoChange(ChangeKind.CHROMA, 1, 0.7),
    ),
    "wintry": (
        PhotoChange(ChangeKind.TEMPERATURE, -1, 1.2),
        PhotoChange(ChangeKind.CHROMA, -1, 0.5),
        PhotoChange(ChangeKind.EXPOSURE, 1, 0.3),
    ),
    "calm": (
        PhotoChange(ChangeKind.CONTRAST, -1, 0.6),
        PhotoChange(ChangeKind.CHROMA, -1, 0.5),
        PhotoChange(ChangeKind.SHARPNESS, -1, 0.6),
    ),
    "noir": (
        PhotoChange(ChangeKind.MONOCHROME, -1),
        PhotoChange(ChangeKind.CONTRAST, 1, 1.4),
        PhotoChange(ChangeKind.EXPOSURE, -1, 0.4),
    ),
}
"""Moods that are put on a good photo, as the changes of their plain form."""

_DULL = (
    PhotoChange(ChangeKind.EXPOSURE, -1, 0.9),
    PhotoChange(ChangeKind.EXPOSURE, 1, 0.7),
    PhotoChange(ChangeKind.CONTRAST, -1, 0.9),
    PhotoChange(ChangeKind.CHROMA, -1, 0.9),
    PhotoChange(ChangeKind.TEMPERATURE, 1, 0.8),
    PhotoChange(ChangeKind.TEMPERATURE, -1, 0.8),
    PhotoChange(ChangeKind.TINT, -1, 0.8),
    PhotoChange(ChangeKind.TINT, 1, 0.6),
    PhotoChange(ChangeKind.SHARPNESS, -1, 1.0),
)
_OVERDONE = (
    PhotoChange(ChangeKind.CONTRAST, 1, 1.4),
    PhotoChange(ChangeKind.CHROMA, 1, 1.4),
    PhotoChange(ChangeKind.TEMPERATURE, 1, 1.2),
    PhotoChange(ChangeKind.TEMPERATURE, -1, 1.2),
    PhotoChange(ChangeKind.TINT, 1, 1.0),
    PhotoChange(ChangeKind.TINT, -1, 1.0),
    PhotoChange(ChangeKind.SHARPNESS, 1, 1.5),
)
FAULTS: dict[str, tuple[PhotoChange, ...]] = {"better": _DULL, "natural": _OVERDONE}
"""Moods that want a photo mended, as what may be wrong with it; two or three of these come together."""

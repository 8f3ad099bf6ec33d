"""The XMP packet of a photo, as text: made true again after the picture was turned or re-encoded.

Works on the few well-known attributes by pattern, so that everything else stays as it was written.
"""

from __future__ import annotations

import re

_ORIENTATION = re.compile(rb"(tiff:Orientation(?:\s*=\s*[\"']|\s*>\s*))[2-8]")
_GAIN_MAP = (b"hdrgm:", b"HDRGainMap")
_MOTION = (b"MotionPhoto", b"MicroVideo")

_LOST_NAMES = (
    rb"(?:hdrgm|HDRGainMap|GCamera:MotionPhoto|GCamera:MicroVideo|Camera:MotionPhoto|Camera:MicroVideo)"
)
# Whatever points a viewer at pictures or films that are no longer there. A declaration of a namespace stays.
_LOST = (
    re.compile(rb"<Container:Directory\b.*?</Container:Directory>", re.DOTALL),
    re.compile(rb"<GContainer:Directory\b.*?</GContainer:Directory>", re.DOTALL),
    re.compile(rb"<(" + _LOST_NAMES + rb"[\w:]*)\b[^>]*(?<!/)>.*?</\1>", re.DOTALL),
    re.compile(rb"<" + _LOST_NAMES + rb"[\w:]*\b[^>]*/>"),
    re.compile(rb"\s(?<!xmlns:)" + _LOST_NAMES + rb"[\w:]*\s*=\s*(?:\"[^\"]*\"|'[^']*')"),
)


def upright(packet: bytes) -> bytes:
    """The packet of the same photo once it stands upright."""
    return _ORIENTATION.sub(rb"\g<1>1", packet)


def mentions_gain_map(text: bytes) -> bool:
    """Whether the text speaks of an HDR gain map."""
    return any(word in text for word in _GAIN_MAP)


def mentions_motion(text: bytes) -> bool:
    """Whether the text speaks of a film that is part of the photo."""
    return any(word in text for word in _MOTION)


def alone(packet: bytes) -> bytes:
    """The packet without what points at gain maps and films, which a re-encoded photo does not have."""
    if not (mentions_gain_map(packet) or mentions_motion(packet)):
        return packet
    for pattern in _LOST:
        packet = pattern.sub(b"", packet)
    return packet

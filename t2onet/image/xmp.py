"""The XMP packet of a photo, as text: made true again after the picture was turned or re-encoded.

Works on the few well-known names by pattern, so that everything else stays as it was written. Every pattern
takes time in proportion to the packet, whatever is in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict

_ORIENTATION = re.compile(rb"(tiff:Orientation(?:\s*+=\s*+[\"']|\s*+>\s*+))[2-8]")
_GAIN_MAP = (b"hdrgm:", b"HDRGainMap")
_MOTION = (b"MotionPhoto", b"MicroVideo")

# Whatever points a viewer at pictures or films that are no longer there. A declaration of a namespace stays.
_ATTRIBUTE = rb"(?:hdrgm|HDRGainMap|G?Camera:MotionPhoto|G?Camera:MicroVideo)[\w:]*+"
_ELEMENT = rb"(?:" + _ATTRIBUTE + rb"|G?Container:Directory(?![\w:]))"
_OPENED = re.compile(rb"<(" + _ELEMENT + rb")[^<>]*+>")
_CLOSED = re.compile(rb"</(" + _ELEMENT + rb")>")
_GAIN_MAP_ATTRIBUTE = re.compile(rb"\s" + _ATTRIBUTE + rb"\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+')")


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
    return _GAIN_MAP_ATTRIBUTE.sub(b"", _without_elements(packet))


def _without_elements(packet: bytes) -> bytes:
    """The packet without the elements that are lost, from their tag to the next that closes them.

    One that is never closed stays.
    """
    ends: defaultdict[bytes, list[int]] = defaultdict(list)
    for tag in _CLOSED.finditer(packet):
        ends[tag[1]].append(tag.end())
    kept, at = [], 0
    for tag in _OPENED.finditer(packet):
        if tag.start() < at:
            continue
        end = tag.end()
        if not tag[0].endswith(b"/>"):
            closings = ends[tag[1]]
            found = bisect_left(closings, end)
            if found == len(closings):
                continue
            end = closings[found]
        kept.append(packet[at : tag.start()])
        at = end
    return b"".join([*kept, packet[at:]])

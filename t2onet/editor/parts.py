"""The parts of a photo that wishes are about, as steps say where they apply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..errors import PlaceError
from ..image import image_from_array
from ..language.wishes import CHANGES, PLACES, STYLES, WHOLE, Direction, Role, Wish
from ..places import OpenedPhoto, share_answer
from ..recipe import where as places
from .measures import BY_COLOUR

_SAID_AS = {"foreground": "bottom except sky"}
"""Parts that other places make up."""


def open_thumbnail(picture: np.ndarray) -> OpenedPhoto:
    """A thumbnail (3, H, W) as a photo that places are looked for on."""
    return OpenedPhoto(image_from_array(np.ascontiguousarray(picture.transpose(1, 2, 0))))


class PhotoParts:
    """The parts of one photo that wishes can be about."""

    def __init__(self, photo: OpenedPhoto, thumbnail: np.ndarray, whole: str | None = None) -> None:
        self._photo = photo
        self._thumbnail = thumbnail
        self.whole = whole
        """What the whole photo stands for: None, or the place that requests are for."""

    def find_obstacle(self, wish: Wish) -> str:
        """Why a wish cannot be met where it is meant; empty where nothing stands in its way."""
        if wish.where == "rest" or wish.where in BY_COLOUR:
            return ""
        text = self.whole if wish.where == WHOLE else get_text(wish.where)
        if text is None and wish.where != WHOLE:
            name = f"“{wish.head}”" if wish.where == "thing" else f"the {wish.where}"
            has_subject = not isinstance(self._photo.find("subject"), PlaceError)
            advice = "say “subject”, or mark it with a mask" if has_subject else "mark it with a mask"
            return f"{name} cannot be found by its name; {advice}"
        seen = list_seen(text or "")
        reasons = [str(found) for name in seen if isinstance(found := self._photo.find(name), PlaceError)]
        if seen and not reasons:
            share_answer(self._photo.small_picture, open_thumbnail(self._thumbnail).small_picture)
        return reasons[0] if reasons else ""

    def list_fixed(self, wishes: Iterable[Wish]) -> list[str | None]:
        """Where an expert's retouch is asked for: the whole photo (None) or places that are in it."""
        asked = [wish for wish in wishes if wish.what == "auto" and wish.role is Role.ASK]
        found = [self.locate(wish, ()) for wish in asked if not self.find_obstacle(wish)]
        return [self.whole] if self.whole in found else [*dict.fromkeys(found)]

    def locate(self, wish: Wish, others: Iterable[Wish]) -> str | None:
        """Where the steps of a wish apply; None for the whole photo, and for tones and hues.

        The rest is what no other wish is about.
        """
        if wish.where == "rest":
            return exclude(list_parts(others))
        if wish.where == WHOLE:
            return self.whole
        return get_text(wish.where) if wish.where in PLACES and wish.where not in BY_COLOUR else None


def take_for_auto(wish: Wish) -> Wish:
    """A wish to put a place right, without a word of what is wrong there, is one for a retouch of it."""
    is_vague = wish.what == "other" and wish.direction is Direction.FIX and wish.role is Role.ASK
    return replace(wish, what="auto") if is_vague and get_text(wish.where) is not None else wish


def list_parts(wishes: Iterable[Wish]) -> list[str]:
    """The parts that wishes name, as steps say where they apply."""
    texts = (get_text(wish.where) for wish in wishes if wish.where not in (WHOLE, "rest"))
    return [text for text in texts if text is not None]


def get_text(name: str) -> str | None:
    """A part of the reader's vocabulary as the `where` of a step; None for what has no name there."""
    known = places.list_words()
    if name in known:
        return name
    text = _SAID_AS.get(name)
    return text if text is not None and {*text.split()} <= {*known, "not", "except"} else None


def list_seen(text: str) -> Sequence[str]:
    """The places that must be in a photo for a part to be there; what is left out need not be."""
    named = text.split(" except ", maxsplit=1)[0].replace("(", " ").replace(")", " ").split()
    return [word for word in named if word in places.PLACES]


def exclude(texts: Iterable[str], among: str | None = None) -> str | None:
    """The photo, or a part of it, without other parts; None where nothing is left out of the whole."""
    left_out = among.split(" except ")[1:] if among is not None else []
    others = [text for text in dict.fromkeys(texts) if text not in left_out]
    names = [f"({text})" if " " in text else text for text in others]
    if not names:
        return among
    if among is not None:
        begin = f"({among})" if " " in among else among
        return f"{begin} except {' except '.join(names)}"
    return f"not ({' or '.join(names)})" if len(names) > 1 else f"not {names[0]}"


def is_placeable(wish: Wish) -> bool:
    """Whether a wish asks for a change at a place that a mask can stand for: "brighten the car"."""
    is_change = wish.role is Role.ASK and wish.what in (*CHANGES, *STYLES)
    return is_change and wish.where in PLACES and wish.where != "rest" and wish.where not in BY_COLOUR

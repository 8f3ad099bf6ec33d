"""A reader that knows some sentences, for talking about edits."""

from __future__ import annotations

import numpy as np

from t2onet.language.quantities import Quantity, Unit
from t2onet.language.reader import Reader, Reading
from t2onet.language.wishes import Amount, Direction, Role, Wish
from tests.planning.scenes import scene

PHOTO = (255 * scene(96).transpose(1, 2, 0)).astype(np.uint8)
UP, DOWN = Direction.UP, Direction.DOWN
STOP = Quantity(1.0, Unit.STOPS)
BRIGHTER = Wish("lightness", UP, quantity=STOP, words=("brighter",))
WARMER = Wish("warmth", UP, quantity=Quantity(20.0), words=("warmer",))
SHARPER = Wish("sharpness", UP, quantity=Quantity(0.3), words=("sharper",))
REMOVE = Wish("remove", where="thing", words=("remove", "dog"))
MOODY = Wish("look", words=("moody",), looks=(("moody", 0.9), ("cinematic", 0.4)))


def _command(what: str, words: str, amount: Amount = Amount.PLAIN, factor: float | None = None) -> Wish:
    quantity = None if factor is None else Quantity(factor, Unit.FACTOR)
    return Wish(what, amount=amount, quantity=quantity, words=tuple(words.split()))


SENTENCES: dict[str, tuple[Wish, ...]] = {
    "brighter": (BRIGHTER,),
    "one stop brighter and warmer": (BRIGHTER, WARMER),
    "brighter by eye": (Wish("lightness", UP, words=("brighter",)),),
    "warmer": (WARMER,),
    "warmer by eye": (Wish("warmth", UP, words=("warmer",)),),
    "less warm": (Wish("warmth", DOWN, words=("less", "warm")),),
    "sharper": (SHARPER,),
    "moody": (MOODY,),
    "noir": (Wish("look", words=("noir",), looks=(("noir", 0.9), ("street", 0.4))),),
    "black and white": (Wish("black_and_white", words=("black", "white")),),
    "more colour": (Wish("colour", UP, words=("more", "colour")),),
    "moody and sharper": (MOODY, SHARPER),
    "gloomish": (Wish("look", words=("gloomish",), looks=(("moody", 0.3), ("noir", 0.2))),),
    "remove the dog": (REMOVE,),
    "brighter, remove the dog": (BRIGHTER, REMOVE),
    "brighter, keep the colours": (BRIGHTER, Wish("colour", role=Role.LIMIT, words=("keep", "colours"))),
    "more": (_command("more", "more"),),
    "a bit more": (_command("more", "a bit more", Amount.LITTLE),),
    "a lot more": (_command("more", "a lot more", Amount.MUCH),),
    "a bit less": (_command("less", "a bit less", Amount.LITTLE),),
    "too much": (_command("less", "too much"),),
    "half that": (_command("less", "half that", factor=0.5),),
    "twice as much": (_command("more", "twice as much", factor=2.0),),
    "20 % more": (Wish("more", quantity=Quantity(20.0, Unit.PERCENT), words=("20", "%", "more")),),
    "no, the other way": (_command("reverse", "no other way"),),
    "no, the other way, sharper": (_command("reverse", "no other way"), SHARPER),
    "undo": (_command("undo", "undo"),),
    "undo that and make it sharper": (_command("undo", "undo"), SHARPER),
    "undo both": (_command("undo", "undo both"),),
    "forget the first change": (_command("undo", "forget first change"),),
    "but not sharper": (Wish("sharpness", UP, role=Role.LIMIT, words=("not", "sharper")),),
    "redo": (_command("redo", "redo"),),
    "start over": (_command("reset", "start over"),),
    "start over, sharper": (_command("reset", "start over"), SHARPER),
    "like the last one": (_command("copy", "last"),),
    "show me the original": (_command("original", "original"),),
    "save it": (_command("save", "save"),),
    "brighter, and save it": (BRIGHTER, _command("save", "save")),
    "what did you do?": (_command("question", "what did"),),
    "why is it brighter?": (Wish("lightness", UP, role=Role.QUESTION, words=("why", "brighter")),),
    "why is it darker?": (Wish("lightness", DOWN, role=Role.QUESTION, words=("why", "darker")),),
    "thanks": (),
}
"""What the sentences of the fake reader ask for. Numbers make the steps exact."""


class KnownSentences(Reader):
    """Reads the sentences above and no others; needs no network."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, request: str) -> Reading:
        self.asked.append(request)
        return Reading(request, SENTENCES[request])

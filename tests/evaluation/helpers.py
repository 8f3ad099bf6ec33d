"""Cases, labels and systems for the tests of reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import PIL.Image

from t2onet.evaluation.cases import Case, LabelledRequest, RequestKind, digest_sentence
from t2onet.evaluation.systems import Question, SystemAnswer
from t2onet.language import Attribute, Intent
from t2onet.operations import get_operation

SIZE = 32


def picture(seed: int) -> np.ndarray:
    """(3, SIZE, SIZE), smooth and in the middle of the range."""
    rough = np.random.default_rng(seed).random((4, 4, 3))
    image = PIL.Image.fromarray(np.uint8(70 + 90 * rough)).resize((SIZE, SIZE), PIL.Image.Resampling.BICUBIC)
    return np.asarray(image, np.float32).transpose(2, 0, 1) / 255


def brighten(image: np.ndarray, amount: float) -> np.ndarray:
    return np.asarray(get_operation("brightness")(image, [amount]))


EDITS = {
    "bright": ("brightness", [0.25]),
    "darke": ("brightness", [-0.25]),
    "color": ("saturation", [0.3]),
    "saturation": ("saturation", [0.3]),
    "contrast": ("contrast", [0.3]),
    "warmer": ("white_balance", [20.0, 0.0]),
}
AMOUNTS = {"little": 0.4, "slightly": 0.4, "bit": 0.4, "lot": 2.0, "much": 2.0}


def follow_words(question: Question) -> SystemAnswer:
    """An edit for each word that it knows, without a look at the photo; it declines to crop."""
    request, image = question.request.lower(), question.picture
    if "crop" in request:
        return SystemAnswer(image, declined=True)
    factor = next((amount for word, amount in AMOUNTS.items() if word in request), 1.0)
    factor *= -1 if "reduce" in request or "decrease" in request else 1
    for word, (name, values) in EDITS.items():
        if word in request:
            image = np.asarray(get_operation(name)(image, [factor * value for value in values]))
    return SystemAnswer(image)


def some_cases(count: int) -> list[Case]:
    """Photos that the expert brightens, each a little more than the one before."""
    pictures = [picture(number) for number in range(count)]
    return [
        Case(f"photo {number}", image, brighten(image, 0.2 + 0.02 * number), "make it brighter")
        for number, image in enumerate(pictures)
    ]


def label(
    text: str, *intents: Intent, kind: RequestKind = RequestKind.EDIT, typo: bool = False
) -> LabelledRequest:
    return LabelledRequest(
        "ma5k-req", "val", 0, text, digest_sentence(text), kind, intents, typo, mixed=False
    )


BRIGHTER, WARMER = Intent(Attribute.LIGHTNESS, 1), Intent(Attribute.WARMTH, 1)
SENTENCES = {
    label(text, *intents, kind=kind, typo=typo): text
    for text, intents, kind, typo in (
        ("brighter", (BRIGHTER,), RequestKind.EDIT, False),
        ("brighter and warmer", (BRIGHTER, WARMER), RequestKind.EDIT, False),
        ("drker", (Intent(Attribute.LIGHTNESS, -1),), RequestKind.EDIT, True),
        ("make it pop", (), RequestKind.VAGUE, False),
        ("crop it", (), RequestKind.UNANSWERABLE, False),
    )
}


@dataclass
class Scripted:
    """Does what it was given to do, and keeps how it was asked."""

    do: Callable[[Question], SystemAnswer]
    name: str = "scripted"
    has_modes: bool = False
    side: int = SIZE
    batches: list[list[Question]] = field(default_factory=list)

    def answer(self, questions: Sequence[Question]) -> list[SystemAnswer]:
        self.batches.append(list(questions))
        return [self.do(question) for question in questions]

    @property
    def asked(self) -> list[Question]:
        return [question for batch in self.batches for question in batch]

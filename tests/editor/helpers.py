"""A policy that answers known sentences with known steps, for talking about edits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from t2onet.editor.policy import PolicyAnswer
from t2onet.recipe import Step
from tests.planning.scenes import scene

PHOTO = np.uint8(255 * scene(96).transpose(1, 2, 0))
WARM = (*[1.1] * 4, *[0.9] * 4, *[1.0] * 8, *[0.9] * 4, *[1.1] * 4)
COOL = (*[0.9] * 4, *[1.1] * 4, *[1.0] * 8, *[1.1] * 4, *[0.9] * 4)
STEPS: dict[str, tuple[str, tuple[float, ...]]] = {
    "brighter": ("brightness", (0.2,)),
    "darker": ("brightness", (-0.2,)),
    "warmer": ("color", WARM),
    "cooler": ("color", COOL),
    "warm": ("color", COOL),
    "contrast": ("contrast", (0.3,)),
    "sharper": ("sharpness", (0.3,)),
    "sharpen": ("sharpness", (0.3,)),
    "richer": ("saturation", (0.4,)),
}
"""What each word leads to; `less warm` is asked for by `warm`."""


@dataclass
class Scripted:
    """Looks up word by word; `crop` it cannot do, nor `trim the edges` beside other things."""

    side: int = 48
    pictures: list[np.ndarray] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    asked_modes: list[str] = field(default_factory=list)

    def answer(self, picture: np.ndarray, request: str, mode: str) -> PolicyAnswer:
        self.pictures.append(picture)
        self.asked.append(request)
        self.asked_modes.append(mode)
        words = tuple(word.strip(",.").lower() for word in request.split())
        if "crop" in words:
            return PolicyAnswer("crop", words)
        known = [(at, word) for at, word in enumerate(words) if word in STEPS]
        if not known:
            return PolicyAnswer("chat", words)
        steps = [Step(operation=STEPS[word][0], parameters=STEPS[word][1]) for _, word in known]
        attention = [tuple(float(here == at) for here in range(len(words))) for at, _ in known]
        declined = (("trim the edges", "crop"),) if "trim" in words else ()
        return PolicyAnswer("edit", words, tuple(steps), tuple(attention), declined)

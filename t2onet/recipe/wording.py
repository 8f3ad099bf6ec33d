"""Recipes in words: all steps as one sentence, or a look by its name and its main steps."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..operations import Operation, join_phrases
from .where import HUES, JOINTS, TONES, Joined, Linear, Named, Radial, Refined, Where, to_area

if TYPE_CHECKING:
    from .recipe import Step

MAX_SENTENCE_WORDS = 12
"""Words that describe one or two steps, or a look."""
WORDS_PER_FURTHER_STEP = 4
MAX_NAME_WORDS = 6
"""Words of a look's name that are said."""


def describe_steps(steps: Sequence[Step]) -> str:
    """What steps do, as one sentence; a place that all of them share is said once."""
    if not steps:
        return "Changes nothing."
    places = {step.where for step in steps}
    shared = next(iter(places)) if len(steps) > 1 and len(places) == 1 else None
    if shared is None:
        return join_as_sentence(_word_steps(steps))
    said = join_as_sentence(_word_steps([step.model_copy(update={"where": None}) for step in steps]))
    return f"{said.removesuffix('.')} {_describe_place(label_where(shared))}."


def describe_look(name: str, steps: Sequence[Step]) -> str:
    """A look by its name and the steps that change most, in at most 12 words."""
    title = " ".join(name.split()[:MAX_NAME_WORDS])
    free = MAX_SENTENCE_WORDS - len(title.split())
    said: dict[int, str] = {}
    for at in sorted(range(len(steps)), key=lambda at: -measure_effect(steps[at])):
        more = {**said, at: steps[at].describe()}
        if len(_join_in_order(more).split()) <= free:
            said = more
        elif not said:
            said = {at: steps[at].describe(brief=True)}
    return f"{title[:1].upper()}{title[1:]}: {_join_in_order(said)}."


def _join_in_order(phrases: dict[int, str]) -> str:
    parts = _mark_repeated_parts([phrases[at] for at in sorted(phrases)])
    return join_phrases(parts)


def join_as_sentence(phrases: Sequence[str]) -> str:
    """Phrases, whose parts are separated by commas, as one sentence."""
    text = join_phrases([part for phrase in phrases for part in phrase.split(", ")])
    return f"{text[0].upper()}{text[1:]}."


def _word_steps(steps: Sequence[Step]) -> list[str]:
    """What steps do, the longest phrases in brief where there are too many words for one sentence."""
    phrases = [step.describe() for step in steps]
    limit = MAX_SENTENCE_WORDS + WORDS_PER_FURTHER_STEP * max(0, len(steps) - 2)
    for at in sorted(range(len(steps)), key=lambda at: -len(phrases[at].split())):
        parts = _mark_repeated_parts(phrases)
        if len(join_as_sentence(parts).split()) <= limit:
            break
        phrases[at] = min(phrases[at], steps[at].describe(brief=True), key=lambda text: len(text.split()))
    return _mark_repeated_parts(phrases)


_POSITIONS = {
    "top": "at the top",
    "bottom": "at the bottom",
    "left": "on the left",
    "right": "on the right",
    "centre": "in the centre",
    "edges": "at the edges",
    "corners": "in the corners",
    "bottom except sky": "in the foreground",
}
_MAX_PLACE_WORDS = 4
"""Words of a place that are said in a sentence; what takes more is "locally"."""


def label_where(where: Where) -> str:
    """A place as settings name it: "highlights except reds", "linear gradient"."""
    if isinstance(where, str):
        return where
    match to_area(where):
        case Linear():
            return "linear gradient"
        case Radial():
            return "radial gradient"
        case Joined(joint, parts):
            return f" {joint} ".join(
                f"({label_where(part)})" if isinstance(part, Joined) else label_where(part) for part in parts
            )
        case Refined(part, invert=invert):
            label = f"({label_where(part)})" if isinstance(part, Joined) and invert else label_where(part)
            return f"not {label}" if invert else label
        case Named(name):
            return name


def place_phrase(phrase: str, where: Where | None, *, brief: bool = False) -> str:
    """What is done and where: "half a stop brighter shadows", "sharper at the top", "sharper locally".

    A step with a mask has no `where`.
    """
    if where is None:
        return f"{phrase} locally"
    label = label_where(where)
    is_range = label in (*TONES, *HUES)
    if brief and is_range:
        return f"{phrase} in {label}"
    if brief and " " in label and label not in _POSITIONS:
        return f"{phrase} locally"
    if is_range and _is_comparative(phrase):
        return f"{phrase} {label}"
    return f"{phrase} {_describe_place(label)}"


def _describe_place(label: str) -> str:
    if label in _POSITIONS:
        return _POSITIONS[label]
    if " " not in label:
        return f"in the {label}"
    first, *rest = label.split()
    if label.endswith("gradient") and "(" not in label and not {*JOINTS} & {*rest}:
        return "in a gradient"
    if first == "not" and {*rest[1::2]} <= {"or"}:
        return f"outside the {join_phrases([name.strip('()') for name in rest[::2]])}"
    if {*rest[::2]} == {"except"} and "(" not in label:
        return f"{_describe_place(first)} except the {join_phrases(rest[1::2])}"
    return f"in {label}" if len(label.split()) <= _MAX_PLACE_WORDS else "locally"


def find_comparative(phrase: str) -> str:
    """The comparative that the first part of a phrase ends with: "brighter" of "half a stop brighter"."""
    last = phrase.split(", ", maxsplit=1)[0].rsplit(maxsplit=1)[-1]
    return last if last.endswith("er") else ""


def _is_comparative(phrase: str) -> bool:
    """Whether one comparative ends a phrase: "much brighter", but not "warmer and greener"."""
    return phrase.endswith("er") and not {"and", "in", "at", "on"} & set(phrase.split())


def _mark_repeated_parts(phrases: Sequence[str]) -> list[str]:
    """Parts of phrases; where a comparative comes again, "still" follows: "brighter, much brighter still"."""
    parts = [part for phrase in phrases for part in phrase.split(", ")]
    ends = [part.split()[-1] for part in parts]
    return [
        f"{part} still" if _is_comparative(part) and end in ends[:at] else part
        for at, (part, end) in enumerate(zip(parts, ends, strict=True))
    ]


def measure_effect(step: Step) -> float:
    """How far a step moves lightness and colour of a small chart; geometry and repairs count most."""
    kind = step.declaration
    if not isinstance(kind, Operation):
        return 1.0
    chart = _draw_chart()
    red, green, blue = kind.run(chart, np.array(step.parameters)) - chart
    return float(np.abs([(red + green + blue) / 3, red - green, blue - (red + green) / 2]).mean())


@cache
def _draw_chart() -> np.ndarray:
    """Twelve hues, pale and strong, from dark to light, with a fine texture; (3, 40, 48)."""
    rows = [
        [colorsys.hsv_to_rgb(hue / 12, saturation, value) for hue in range(12) for saturation in (0.15, 0.35)]
        for value in np.linspace(0.1, 0.95, 10)
    ]
    chart = np.array(rows, np.float32).repeat(4, axis=0).repeat(2, axis=1).transpose(2, 0, 1)
    texture = np.random.default_rng(0).normal(0, 0.02, chart.shape[1:])
    return np.clip(chart + texture, 0, 1).astype(np.float32)

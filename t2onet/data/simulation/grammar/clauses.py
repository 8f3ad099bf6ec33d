"""One change as a clause: an order, a comparative, a noun, a complaint or a tag.

Each form may be impossible for a change (there is no comparative of an idiom); it then gives None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..wish import ChangeKind, PhotoChange
from . import degrees, manner
from .colours import colour_side
from .degrees import Band
from .engine import PhraseChoice, Speaker, phrases, slots
from .kinds import MONOCHROME, SIDES
from .sides import DEGREES, Side

_GRADED = re.compile(r"(more|less|\w+er)\b")
_ADD = phrases("add^9|put in|bring in|throw in|include|inject|use")
_NUMBERED = phrases("""by <figure>^4|<figure>|by about <figure>|by around <figure>|about <figure>|
roughly <figure>""")
_LACKS = phrases("""<it> lacks ^3|there's not enough ^2|<it> doesn't have enough ^2|not enough |
<it> is lacking ^2|<it> is missing |there isn't enough |there is little """)
_STOPS_OFF = {1: phrases("underexposed|under|too dark|dark"), -1: phrases("overexposed|over|too bright|hot")}


@dataclass(frozen=True)
class ChangeWords:
    """A change with its words: `near` is the side it goes to, `far` the one it comes from."""

    change: PhotoChange
    near: Side
    far: Side
    band: Band

    @property
    def plain(self) -> bool:
        """Said without a word for how much."""
        return self.band is Band.PLAIN and self.change.spoken is None

    @property
    def touch(self) -> bool:
        """Wanted by a small amount that is no figure."""
        return self.band is Band.TOUCH and self.change.spoken is None


def words_for(change: PhotoChange) -> ChangeWords:
    if change.kind is ChangeKind.MONOCHROME:
        return ChangeWords(PhotoChange(ChangeKind.MONOCHROME, -1), MONOCHROME, Side(), Band.PLAIN)
    near, far = (_side(change.kind, sign, change.colour) for sign in (change.sign, -change.sign))
    return ChangeWords(change, near, far, Band.of(change.amount))


def _side(kind: ChangeKind, sign: int, colour: str) -> Side:
    return colour_side(colour, sign) if kind is ChangeKind.COLOUR else SIDES[kind, sign]


def prepare(words: ChangeWords, speaker: Speaker) -> None:
    """Fill the slots that say how much for this change."""
    band = words.band
    speaker.own["too"] = degrees.TOO[band]
    speaker.own["toomuch"] = degrees.TOO_MUCH[band]
    speaker.own["kind"] = degrees.CAST[band]
    speaker.own["much"] = degrees.COMPARED[band]
    if words.change.spoken:
        speaker.own["figure"] = degrees.figure(*words.change.spoken)


def order(words: ChangeWords, speaker: Speaker, *, early: bool = False) -> str:
    """`brighten it a bit`; with `early`, how much is said before the verb, where it cannot reach back."""
    prepare(words, speaker)
    for _ in range(12):
        text = _try_order(words, speaker, early)
        if text is not None:
            return text
    return f"make {speaker.say(_IT)} {compared(words, speaker)}"


_IT = phrases("<it>")


def _try_order(words: ChangeWords, speaker: Speaker, early: bool) -> str | None:
    roll = speaker.rng.random()
    near, far = words.near, words.far
    if (
        roll < 0.2
        and near.mass
        and words.change.kind is not ChangeKind.MONOCHROME
        and words.change.spoken is None
    ):
        return f"{speaker.say(_ADD)} {speaker.say(degrees.MORE[words.band])} {speaker.say(near.mass)}"
    if roll < 0.5 and near.quantity:
        return _measured(
            f"{speaker.say(manner.RAISE)} the {speaker.say(near.quantity)}", words, speaker, early
        )
    if roll < 0.62 and far.quantity:
        return _measured(
            f"{speaker.say(manner.LOWER)} the {speaker.say(far.quantity)}", words, speaker, early
        )
    node = speaker.pick((near.does if words.plain else near.graded).options)
    text = speaker.say(node)
    if words.plain:
        return text
    if slots(node) & DEGREES:
        return text if words.change.spoken is None else None
    return _measured(text.replace("some of the ", "the ").replace("some ", ""), words, speaker, early)


def _measured(text: str, words: ChangeWords, speaker: Speaker, early: bool) -> str:
    """With how much, before or after."""
    if words.change.spoken:
        return f"{text} {speaker.say(_NUMBERED)}"
    if early or speaker.chance(0.3):
        return f"{speaker.say(degrees.BEFORE_VERB[words.band])} {text}"
    return f"{text} {speaker.say(degrees.after_verb(words.band, words.change.sign))}"


def compared(words: ChangeWords, speaker: Speaker, *, bare: bool = False) -> str:
    """`a bit brighter`; `bare` leaves out how much."""
    for _ in range(12):
        text = _try_compared(words, speaker)
        if words.plain or bare:
            return text
        if not is_graded(text):
            continue
        if words.change.spoken:
            figure = speaker.say(degrees.figure(*words.change.spoken))
            return f"{figure} {text}" if speaker.chance(0.6) else f"{text} by {figure}"
        return f"{speaker.say(degrees.COMPARED[words.band])} {text}"
    return text


def _try_compared(words: ChangeWords, speaker: Speaker) -> str:
    if words.far.state and speaker.chance(0.15 if words.near.compared else 1.0):
        return f"less {speaker.say(words.far.state)}"
    return speaker.say(words.near.compared)


def passive(words: ChangeWords, speaker: Speaker) -> str | None:
    """`it should be brightened a bit`, `the contrast needs to be higher`."""
    early = speaker.chance(0.3)
    if words.near.done and speaker.chance(0.5):
        return speaker.say(manner.TO_BE) + _measured_by(speaker.say(words.near.done), words, speaker, early)
    up = bool(words.near.quantity) and (speaker.chance(0.8) or not words.far.quantity)
    quantity = words.near.quantity if up else words.far.quantity
    if not quantity:
        return None
    done = speaker.say(manner.RAISED if up else manner.LOWERED)
    subject = f"the {speaker.say(quantity)} {speaker.say(manner.QUANTITY_TO_BE)}"
    return subject + _measured_by(done, words, speaker, early)


def _measured_by(done: str, words: ChangeWords, speaker: Speaker, early: bool) -> str:
    """A participle with how much; a comparative among them takes it in front."""
    if words.change.spoken:
        return f"{done} by {speaker.say(degrees.figure(*words.change.spoken))}"
    if words.change.kind is ChangeKind.MONOCHROME:
        return done
    if is_graded(done):
        return f"{speaker.say(degrees.COMPARED[words.band])} {done}"
    return _measured(done, words, speaker, early)


def is_graded(text: str) -> bool:
    """Whether `much` can stand before it."""
    return _GRADED.match(text) is not None


def noun(words: ChangeWords, speaker: Speaker, *, bare: bool = False) -> str | None:
    """`a bit more contrast`."""
    more = words.near.mass and (speaker.chance(0.75) or not words.far.mass)
    mass = words.near.mass if more else words.far.mass
    if not mass or words.change.kind is ChangeKind.MONOCHROME:
        return None
    thing = speaker.say(mass)
    if words.change.spoken:
        return f"{speaker.say(degrees.figure(*words.change.spoken))} {'more' if more else 'less'} {thing}"
    table = degrees.MORE if more else degrees.LESS
    return f"{speaker.say(table[Band.PLAIN if bare else words.band])} {thing}"


def complaint(words: ChangeWords, speaker: Speaker) -> str | None:
    """`it's way too dark`: a whole sentence about a photo that wants this change."""
    prepare(words, speaker)
    if words.change.spoken:
        return _counted(words, speaker)
    if words.band in {Band.LOT, Band.EXTREME} and words.far.wail and speaker.chance(0.2):
        return speaker.say(words.far.wail)
    ways = [way for way, words_there in _WAYS if words_there(words)]
    return speaker.pick(ways)(words, speaker) if ways else None


def _stated(words: ChangeWords, speaker: Speaker) -> str:
    return (
        f"{speaker.say(manner.LOOKING)}{speaker.say(degrees.TOO[words.band])} {speaker.say(words.far.state)}"
    )


def _flawed(words: ChangeWords, speaker: Speaker) -> str:
    return _looks(f"{speaker.say(degrees.FLAWED[words.band])} {speaker.say(words.far.flaw)}", speaker)


def _surpassed(words: ChangeWords, speaker: Speaker) -> str:
    """`it is a bit darker than I'd like`."""
    graded = [text for text in (speaker.say(words.far.compared) for _ in range(4)) if is_graded(text)]
    much = speaker.say(degrees.COMPARED[words.band])
    return (
        _looks(f"{much} {graded[0]} than {speaker.say(manner.THAN)}", speaker)
        if graded
        else _stated(words, speaker)
    )


def _looks(how: str, speaker: Speaker) -> str:
    return speaker.say(manner.LOOKING) + how


def _remarks(words: ChangeWords) -> PhraseChoice:
    return words.far.remark if words.band in {Band.PLAIN, Band.FAIR, Band.LOT} else words.far.measured


def _remarked(words: ChangeWords, speaker: Speaker) -> str:
    return speaker.say(_remarks(words))


def _lacking(words: ChangeWords, speaker: Speaker) -> str:
    return f"{speaker.say(_LACKS)}{speaker.say(words.near.mass)}"


_WAYS: tuple[tuple[Callable[[ChangeWords, Speaker], str], Callable[[ChangeWords], object]], ...] = (
    (_stated, lambda words: words.far.state),
    (_flawed, lambda words: words.far.flaw and words.band is not Band.HINT),
    (_remarked, _remarks),
    (_surpassed, lambda words: words.far.compared and words.far.state),
    (
        _lacking,
        lambda words: (
            words.near.mass
            and words.band is Band.PLAIN
            and words.change.sign > 0
            and words.change.kind is not ChangeKind.TINT
        ),
    ),
)
"""Ways to complain, and what each needs."""


def _counted(words: ChangeWords, speaker: Speaker) -> str | None:
    value, unit = words.change.spoken or (0.0, "")
    if words.change.kind is not ChangeKind.EXPOSURE or unit not in {"stop", "stops", "ev", "EV"}:
        return None
    off = speaker.say(_STOPS_OFF[words.change.sign])
    return _looks(f"{speaker.say(degrees.figure(value, unit))} {off}", speaker)


def tag(words: ChangeWords, speaker: Speaker) -> str | None:
    """`+contrast`, `saturation -20%`, `contrast up`: as on a slip of paper."""
    up = bool(words.near.quantity) and (speaker.chance(0.8) or not words.far.quantity)
    quantity = words.near.quantity if up else words.far.quantity
    if not quantity or (words.band is not Band.PLAIN and words.change.spoken is None):
        return None
    name = speaker.say(quantity)
    sign = "+" if up else "-"
    if words.change.spoken:
        figure = speaker.say(degrees.figure(*words.change.spoken))
        return speaker.pick([f"{name} {sign}{figure}", f"{sign}{figure} {name}", f"{name}: {sign}{figure}"])
    direction = "up" if up else "down"
    return speaker.pick(
        [f"{sign}{name}", f"{sign} {name}", f"{name} {direction}", f"{name} {sign}", f"{direction} {name}"]
    )

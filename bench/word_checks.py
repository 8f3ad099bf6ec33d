"""The checks of the list of photographers' words: small measurements of what an edit did to a picture.

Pictures are sRGB and measured in CIELAB (D65). A check compares the picture before with the one after:

| check | met where |
|---|---|
| `L+` `C-` `S+` `W-` `A+` `X+` | an attribute of `metrics.attributes` moves noticeably that way |
| `shadows.L+` | mean L\\* of that zone rises: blacks, shadows, midtones, highlights, whites, lights, darks |
| `blues.S+` `skin.L-` `shadows.W-` | mean chroma, L\\*, b\\* or a\\* of these pixels moves |
| `reds.hue>orange` | their mean hue turns towards orange by 1.5 degrees or more |
| `towards teal`, `shadows.towards teal`, `away from green` | the mean a\\*, b\\* moves that way, mostly |
| `only blues`, `only shadows` | these pixels change more than twice as much as those far from them |
| `ev +0.33` | the light of tones below the shoulder changes by that many stops, within 0.1 |
| `set highlights -30`, `set mixer.blue saturation 20` | the recipe's steps of that operation add up to it |
| `more C than SENTENCE`, `less shadows.L than SENTENCE` | it ends higher, or lower, than SENTENCE makes it |
| `kept S`, `kept highlights`, `kept skin` | it moves less than one noticeable amount |
| `not L-` | the change is not noticeable in that direction |
| `unblown`, `uncrushed` | the share of pixels at white, or at black, does not grow by 1 % |
| `grey` | mean chroma is below 1 |
| `look moody|noir` | the answer names one of these looks, or the picture is near what one of them makes |
| `vignette+`, `grain+` | a grey card under the recipe darkens at its corners, or becomes rougher |
| `noise-` | flat parts of the photo become smoother, while edges stay |
| `clarity+`, `haze-` | contrast with the surroundings grows; dark parts are less veiled |
| `declined` | nothing changed, and the answer says so |
| `partly declined` | something changed, and the answer says what was not done |
| `unchanged` | the recipe is as before |
| `original` | the recipe is empty |
| `same as 1` | the picture is that after turn 1 of the conversation; 0 is the photo as opened |
| `weaker`, `stronger` | the picture is nearer the photo as opened than before this turn, or farther |
| `says warm|temperature` | the answer has one of these words |

"A or B" is met where one of them is. A zone or hue with less than 1 % of the pixels of the picture before
cannot be measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from t2onet.errors import DataError
from t2onet.executor import apply
from t2onet.image.colour import luminance
from t2onet.metrics.attributes import JUST_NOTICEABLE
from t2onet.metrics.regions import ATTRIBUTES, HUES, ZONES, View
from t2onet.operations import get_operation
from t2onet.operations.detail import Box
from t2onet.operations.paper import laplacian
from t2onet.recipe import Recipe
from t2onet.recipe.looks import find_look

COLOURS = {
    "red": (1.0, 0.0, 0.0),
    "orange": (1.0, 0.5, 0.0),
    "gold": (1.0, 0.75, 0.0),
    "yellow": (1.0, 1.0, 0.0),
    "green": (0.0, 0.8, 0.0),
    "teal": (0.0, 0.5, 0.5),
    "blue": (0.0, 0.4, 1.0),
    "purple": (0.5, 0.0, 1.0),
    "magenta": (1.0, 0.0, 1.0),
    "pink": (1.0, 0.4, 0.7),
}
"""sRGB of the colours that others can move towards."""

MIN_SHARE = 0.01
"""Share of the pixels below which a zone or a hue is not measured."""
NOTICEABLE_SHIFT, NOTICEABLE_TURN = 0.5, 1.5
"""Of a mean colour, in units of CIELAB, and of a mean hue, in degrees."""
KEPT_SHIFT = 1.0
"""Within which the mean colour of skin, or of a hue, counts as kept."""
EV_TOLERANCE = 0.1
MAX_EXPOSED, MIN_EXPOSED = 0.4, 0.01
"""Linear light after the change that the shoulder leaves alone, and least luminance to measure it on."""
NOTICEABLE_VIGNETTE, NOTICEABLE_HAZE, NOTICEABLE_CLARITY = 0.2, 0.01, 0.03
_LEAST_LIGHT = 0.002
"""Below it, differences of light are not seen."""
NOTICEABLE_GRAIN, NOTICEABLE_NOISE, MAX_EDGE_LOSS = 0.45, 0.05, 0.35
SELECTIVE = 2.0
NEAR_LOOK = 0.5
"""Distance from a look's own picture, as a share of the unedited photo's distance from it."""
_APART = {"zone": 20.0, "hue": 30.0}
"""How far in L*, or in degrees, what lies outside a zone or a hue is from it."""

Score = float | None
"""1 or more where a check is met, -1 or less where the opposite happened, None if it cannot be measured."""


@dataclass(frozen=True)
class WordTurn:
    """A turn: the pictures and recipes before and after it, and the answer in words.

    `answer_to` makes the picture that another sentence leads to; `views` are those after every turn, the
    photo as opened first.
    """

    before: View
    after: View
    recipe_before: Recipe = field(default_factory=Recipe)
    recipe: Recipe = field(default_factory=Recipe)
    text: str = ""
    declined: bool = False
    answer_to: Callable[[str], View] | None = None
    views: Sequence[View] = ()


Measure = Callable[..., Score]
_CHECKS: list[tuple[re.Pattern[str], Measure]] = []
_PART = "|".join([*ZONES, *HUES])
_COLOUR = "|".join(COLOURS)
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_QUANTITY = rf"[{ATTRIBUTES}]|(?:{_PART})\.[LSWA]|clarity"


@dataclass(frozen=True)
class Check:
    """A check as it is written, ready to measure."""

    text: str
    measure: Callable[[WordTurn], Score]


def check(pattern: str) -> Callable[[Measure], Measure]:
    """Register a function of a change and the groups of the pattern."""

    def register(measure: Measure) -> Measure:
        _CHECKS.append((re.compile(pattern), measure))
        return measure

    return register


def parse_check(text: str) -> Check:
    """Read a check, or several that are joined by "or"; raises DataError if it is none."""
    for pattern, measure in _CHECKS:
        if match := pattern.fullmatch(text):
            return Check(text, partial(_measure_groups, measure, match.groups()))
    if " or " in text:
        parts = [parse_check(part) for part in text.split(" or ")]
        return Check(text, lambda change: _best(part.measure(change) for part in parts))
    raise DataError(f"there is no check {text!r}; the module {__name__} lists them")


def _measure_groups(measure: Measure, groups: Sequence[str | None], change: WordTurn) -> Score:
    return measure(change, *groups)


def _best(scores: Iterable[Score]) -> Score:
    """The highest score of those that can be measured."""
    return max((score for score in scores if score is not None), default=None)


def _sign(mark: str) -> float:
    return 1.0 if mark == "+" else -1.0


def _met(condition: bool | np.bool_) -> float:
    return 1.0 if condition else 0.0


def _select(view: View, part: str) -> np.ndarray | None:
    """The pixels of a zone or hue; None if they are too few."""
    chosen = view.select(part)
    return chosen if chosen.mean() >= MIN_SHARE else None


# ---- attributes, zones and hues


def measure_quantity(name: str, view: View, before: View) -> Score:
    """An attribute (`C`), or mean L* or chroma of a part of the photo before, in noticeable units."""
    if name in ATTRIBUTES:
        return view.attributes[name] / JUST_NOTICEABLE[ATTRIBUTES.index(name)]
    if name == "clarity":
        return _local_contrast(view)
    part, attribute = name.split(".")
    if (chosen := _select(before, part)) is None:
        return None
    plane = view.chroma if attribute == "S" else view.lab["LAW".index(attribute)]
    return float(plane[chosen].mean()) / JUST_NOTICEABLE[ATTRIBUTES.index(attribute)]


@check(rf"({_QUANTITY})([+-])")
def moved(change: WordTurn, name: str, mark: str) -> Score:
    values = [measure_quantity(name, view, change.before) for view in (change.after, change.before)]
    return None if values[0] is None or values[1] is None else _sign(mark) * (values[0] - values[1])


@check(rf"not ({_QUANTITY})([+-])")
def not_moved(change: WordTurn, name: str, mark: str) -> Score:
    score = moved(change, name, mark)
    return None if score is None else _met(score < 1.0)


@check(rf"kept ({_QUANTITY})")
def kept_quantity(change: WordTurn, name: str) -> Score:
    score = moved(change, name, "+")
    return None if score is None else _met(abs(score) < 1.0)


@check(rf"kept ({_PART})")
def kept_part(change: WordTurn, part: str) -> Score:
    """Of a zone the lightness, of skin the colour, of a hue both."""
    if (chosen := _select(change.before, part)) is None:
        return None
    light, *colour = change.after.average(chosen) - change.before.average(chosen)
    light_stays = part == "skin" or abs(light) < JUST_NOTICEABLE[0]
    return _met(light_stays and (part in ZONES or np.hypot(*colour) < KEPT_SHIFT))


@check(rf"only ({_PART})")
def only_part(change: WordTurn, part: str) -> Score:
    chosen = _select(change.before, part)
    far = ~change.before.select(part, _APART["zone" if part in ZONES else "hue"])
    if chosen is None or far.mean() < MIN_SHARE:
        return None
    moves = np.sqrt(((change.after.lab - change.before.lab) ** 2).sum(axis=0))
    inside, outside = float(moves[chosen].mean()), float(moves[far].mean())
    return _met(inside >= NOTICEABLE_SHIFT and inside > SELECTIVE * outside)


@check(rf"({_PART})\.hue>({_COLOUR})")
def hue_turned(change: WordTurn, part: str, colour: str) -> Score:
    if (chosen := _select(change.before, part)) is None:
        return None
    goal = _hue_angle(_colour_direction(colour))
    gaps = [
        abs((_hue_angle(view.average(chosen)[1:]) - goal + 180.0) % 360.0 - 180.0)
        for view in (change.before, change.after)
    ]
    return (gaps[0] - gaps[1]) / NOTICEABLE_TURN


def _hue_angle(direction: np.ndarray) -> float:
    return float(np.degrees(np.arctan2(direction[1], direction[0])))


def _colour_direction(name: str) -> np.ndarray:
    """(2,): the direction of a colour in a*, b*."""
    colour = View(np.array(COLOURS[name]).reshape(3, 1, 1)).lab[1:, 0, 0]
    return np.asarray(colour / np.hypot(*colour))


@check(rf"(?:({_PART})\.)?(towards|away from) ({_COLOUR})")
def cast_moved(change: WordTurn, part: str | None, way: str, colour: str) -> Score:
    """At least half of the move must be in that direction."""
    whole = np.ones(change.before.chroma.shape, bool)
    chosen = _select(change.before, part) if part else whole
    if chosen is None:
        return None
    shift = (change.after.average(chosen) - change.before.average(chosen))[1:]
    along = float(shift @ _colour_direction(colour)) * (1.0 if way == "towards" else -1.0)
    is_mostly_along = abs(along) >= 0.5 * np.hypot(*shift)
    return along / NOTICEABLE_SHIFT if is_mostly_along else min(along, 0.0) / NOTICEABLE_SHIFT


# ---- numbers


@check(rf"ev ({_NUMBER})")
def exposed(change: WordTurn, stated: str) -> Score:
    stops, before = float(stated), np.asarray(luminance(change.before.light))[0]
    brightest = change.before.light.max(axis=0) * 2.0 ** max(stops, 0.0)
    chosen = (brightest < MAX_EXPOSED) & (before * 2.0 ** min(stops, 0.0) > MIN_EXPOSED)
    if chosen.mean() < MIN_SHARE:
        return None
    after = np.maximum(np.asarray(luminance(change.after.light))[0][chosen], 1e-6)
    found = float(np.median(np.log2(after / before[chosen])))
    if abs(found - stops) <= EV_TOLERANCE:
        return 1.0
    return -1.0 if found * stops < 0 and abs(found) > EV_TOLERANCE else 0.0


@check(rf"set (\w+)(?:\.(\w+(?: \w+)?))? ({_NUMBER})")
def has_setting(change: WordTurn, operation: str, parameter: str | None, stated: str) -> Score:
    """Steps of one operation add up to the number, within 1 % of it or 0.005; no step is a slider at zero."""
    labels = get_operation(operation).slot_labels
    at = labels.index(parameter) if parameter else 0
    steps = [step for step in change.recipe.steps if step.operation == operation]
    total, wanted = sum(step.parameters[at] for step in steps), float(stated)
    return _met(bool(steps or not wanted) and abs(total - wanted) <= max(0.01 * abs(wanted), 0.005))


@check(rf"(more|less) ({_QUANTITY}) than (.+)")
def compared(change: WordTurn, order: str, name: str, sentence: str) -> Score:
    if change.answer_to is None:
        return None
    other = measure_quantity(name, change.answer_to(sentence), change.before)
    this = measure_quantity(name, change.after, change.before)
    if this is None or other is None:
        return None
    return _met((this - other) * (1.0 if order == "more" else -1.0) > 0.1)


# ---- limits


@check("unblown")
def unblown(change: WordTurn) -> Score:
    shares = [(view.lab[0] > 99.0).mean() for view in (change.before, change.after)]
    return _met(shares[1] - shares[0] < MIN_SHARE)


@check("uncrushed")
def uncrushed(change: WordTurn) -> Score:
    shares = [(view.lab[0] < 1.0).mean() for view in (change.before, change.after)]
    return _met(shares[1] - shares[0] < MIN_SHARE)


# ---- looks, effects and detail


@check("grey")
def is_grey(change: WordTurn) -> Score:
    return _met(change.after.attributes["S"] < 1.0)


@check(r"look ((?:(?! or ).)+)")
def has_look(change: WordTurn, names: str) -> Score:
    """Quoted words of the request in the answer name no look."""
    if change.recipe == change.recipe_before:
        return 0.0
    said = re.sub(r"[“\"'‘][^“”\"'’]*[”\"'’]", "", f"{change.text}\n{change.recipe.name}").lower()
    for name in names.split("|"):
        if re.search(rf"\b{re.escape(name.lower())}\b", said) or _resembles(change, name):
            return 1.0
    return 0.0


def _resembles(change: WordTurn, name: str) -> bool:
    photo = np.ascontiguousarray(change.before.picture.transpose(1, 2, 0))
    look = View(np.asarray(apply(find_look(name).recipe, photo)).transpose(2, 0, 1))
    distances = [np.abs(view.lab - look.lab).mean() for view in (change.before, change.after)]
    return bool(distances[1] <= NEAR_LOOK * distances[0])


def _vignette(view: View) -> float:
    """How many stops darker than the centre the corners are."""
    height, width = view.chroma.shape
    rows, columns = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    distance = np.sqrt((rows**2 + columns**2) / 2)
    stops = np.log2(np.asarray(luminance(view.light))[0] + _LEAST_LIGHT)
    return float(stops[distance < 0.4].mean() - stops[distance > 0.85].mean()) / NOTICEABLE_VIGNETTE


def _local_contrast(view: View) -> float:
    light = view.lab[0]
    surroundings = Box.with_deviation(0.03 * min(light.shape)).smooth(light)
    local = np.abs(light - surroundings).mean()
    return float(np.log(max(local, 1e-4) / max(light.std(), 1.0))) / NOTICEABLE_CLARITY


def _detail(view: View) -> np.ndarray:
    return np.asarray(laplacian(view.lab[0], 1.0))


def _find_flat(view: View) -> np.ndarray:
    """The quarter of the pixels with least detail around them, neither black nor white."""
    rough = Box.with_deviation(3.0).smooth(np.abs(_detail(view)))
    inside = (view.lab[0] > 10.0) & (view.lab[0] < 95.0)
    flat: np.ndarray = inside & (rough <= np.quantile(rough[inside], 0.25)) if inside.any() else inside
    return flat


_ON_CARD: dict[str, Callable[[View], float]] = {
    "grain": lambda card: float(np.abs(_detail(card)).mean()) / NOTICEABLE_GRAIN,
    "vignette": _vignette,
}


@check(r"(not )?(grain|vignette)([+-])")
def effect_moved(change: WordTurn, negation: str | None, effect: str, mark: str) -> Score:
    """Measured on a grey card under the recipe, which is even and smooth but for these effects."""
    card = np.full((*change.before.chroma.shape, 3), 0.5, np.float32)

    def measure(recipe: Recipe) -> float:
        after = np.asarray(apply(recipe, card)) if recipe.steps else card
        return _ON_CARD[effect](View(np.ascontiguousarray(after.transpose(2, 0, 1))))

    score = _sign(mark) * (measure(change.recipe) - measure(change.recipe_before))
    return score if negation is None else _met(score < 1.0)


@check("noise-")
def noise_removed(change: WordTurn) -> Score:
    flat = _find_flat(change.before)
    before, after = np.abs(_detail(change.before)), np.abs(_detail(change.after))
    edges = before >= np.quantile(before, 0.97)
    loss, edge_loss = (1.0 - after[part].mean() / max(before[part].mean(), 1e-9) for part in (flat, edges))
    score = float(loss) / NOTICEABLE_NOISE
    return score if score < 1.0 or edge_loss < MAX_EDGE_LOSS else 0.0


@check(r"haze([+-])")
def haze_moved(change: WordTurn, mark: str) -> Score:
    """Haze is light in the darkest channel of the darkest pixel around, against that of the whole."""

    def measure(view: View) -> float:
        darkest = view.light.min(axis=0)
        for axis in (0, 1):
            darkest = np.min([np.roll(darkest, shift, axis) for shift in range(-3, 4)], axis=0)
        return float(darkest.mean() / max(float(view.light.mean()), 1e-3))

    return _sign(mark) * (measure(change.after) - measure(change.before)) / NOTICEABLE_HAZE


# ---- what is said, and conversations


@check("declined")
def declined(change: WordTurn) -> Score:
    return _met(change.recipe == change.recipe_before and change.declined)


@check("partly declined")
def partly_declined(change: WordTurn) -> Score:
    return _met(change.recipe != change.recipe_before and change.declined)


@check("unchanged")
def unchanged(change: WordTurn) -> Score:
    return _met(change.recipe == change.recipe_before)


@check("original")
def original(change: WordTurn) -> Score:
    return _met(not change.recipe.steps)


@check(r"same as (\d+)")
def same_as_turn(change: WordTurn, turn: str) -> Score:
    return _met(np.abs(change.after.lab - change.views[int(turn)].lab).mean() < NOTICEABLE_SHIFT)


@check("(weaker|stronger)")
def strength_changed(change: WordTurn, way: str) -> Score:
    opened = change.views[0].lab
    far = [float(np.abs(view.lab - opened).mean()) for view in (change.before, change.after)]
    return (far[1] - far[0]) * (1.0 if way == "stronger" else -1.0) / NOTICEABLE_SHIFT


@check(r"says ((?:(?! or ).)+)")
def says(change: WordTurn, words: str) -> Score:
    text = change.text.lower()
    return _met(any(word.lower() in text for word in words.split("|")))

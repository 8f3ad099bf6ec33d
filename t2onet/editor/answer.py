"""Answer a request: realize its wishes, check them on a small picture, and say what became of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..language.quantities import Unit
from ..language.reader import Reading
from ..language.wishes import (
    CHANGES,
    FOREIGN,
    GEOMETRY,
    IMPOSSIBLE,
    PLACES,
    RANGES,
    STYLES,
    WHOLE,
    Amount,
    Direction,
    Outcome,
    Role,
    Wish,
    get_attributes,
)
from ..looks import looks
from ..metrics.attributes import JUST_NOTICEABLE
from ..recipe import Recipe
from .check import NOTICEABLE, Checked, Checker
from .geometry import GEOMETRY_EXAMPLES, make_geometry
from .measures import MIN_PART_SHARE, Measure
from .realize import AMOUNT_FACTORS, LIGHTNESS_TARGETS, Change, fix_balance, get_sign, realize, tone_grey

_GREY_AMOUNT = 95.0
"""From here on `black_and_white` leaves no colour."""
MIN_LOOK_SCORE = 0.6
"""How near a look must be to a wish to be taken."""
_UNDOING = frozenset({"undo", "reset", "forget", "cancel", "revert", "scrap"})
_REMOVING = frozenset({"remove", "without", "lose", "drop", "skip"})
_REMOVED_BY_NAME = ("sharpness", "clarity", "contrast", "vignette", "grain")
"""Words that take a step back, all of them or those of changes that nothing else is meant by."""
_SETTING_WORDS = frozenset({"set", "to", "at", "back"})
"""Words beside a number that a slider should stand at."""
LOOK_STRENGTHS = {Amount.LITTLE: 0.5, Amount.PLAIN: 1.0, Amount.MUCH: 1.3}
_STRONGEST_LOOK = 2.0
_CANNOT = {
    "remove": "things cannot be removed from a photo",
    "add": "things cannot be added to a photo",
    "recolour": "one thing cannot be given another colour",
    "replace_background": "backgrounds cannot be replaced",
    "blur": "one part cannot be blurred",
    "text": "text cannot be written into a photo",
    "redraw": "a photo cannot be redrawn",
    "retouch": "faces and bodies are not reshaped",
    "move": "things cannot be moved",
    "resize": "the size stays as it is",
    "other": "no adjustment of the photo does that",
}
"""Why a wish is declined that no operation can meet."""
_GENTLE = 0.5
"""How far wishes go that should be met gently."""
_TAKEN_BACK = 0.5
"""How far a wish goes that is the opposite of the last one: "less warm" after "warmer"."""
_RETOUCHED_SHARE = 0.25
"""How far wishes go at least that an expert's retouch should meet."""
_SIDE_EFFECTS = {"haze": ("lightness",), "lightness": ("contrast", "colour")}
"""What wishes move that nobody asked for, and that can be held."""
_ALSO_ASKS = {
    **dict.fromkeys(("haze", "fade", "clarity"), ("contrast",)),
    "black_and_white": ("colour",),
    "punch": ("contrast", "colour"),
}
"""What wishes ask to move besides what they are called; it is not held then."""
_EXCUSED = {"colour": frozenset({"warmth", "tint", "cast"})}
"""Wishes that may move what is held: it is held as if they were not there."""
_REMOVABLE = ("grain", "vignette", "clarity")
"""Effects that less of takes back, where the recipe has them."""
_LEFT = {Amount.LITTLE: 0.6, Amount.PLAIN: 0.0, Amount.MUCH: 0.0}
USUAL_LIGHTNESS, USUAL_CONTRAST = 50.0, 20.0
"""Mean and standard deviation of L* of an ordinary photo."""
_FIXED_SHARE = 0.7
"""Share of the way to an ordinary photo that a fix goes."""
_COLOURS = ("colour", "warmth", "tint")
"""What must stay where the colours of a photo are to stay."""
_KNOWN_PLACES = ("skin",)
"""Places that are known by their hues."""
_UNMEASURED: dict[str, tuple[str, ...]] = {
    "noise": ("sharpness", "clarity"),
    "grain": ("grain",),
    "clarity": ("clarity",),
    "haze": ("dehaze",),
    "vignette": ("vignette",),
    "black_and_white": ("black_and_white",),
    **dict.fromkeys(STYLES, ()),
}
"""What is not measured where it is limited, and the operations that may add to it."""
_MEASURED_AS = {"punch": (("contrast", 1), ("colour", 1)), "fade": (("contrast", -1),)}
"""Limits that are about several quantities, or about the opposite of one."""
_PART_LIMITS = ("lightness", "colour")
"""What must stay in a range of hues that is to be left alone; of a tonal zone the light alone."""


@dataclass(frozen=True)
class Answer:
    """A recipe, the wishes with what became of each, and the words that led to each operation."""

    recipe: Recipe
    wishes: tuple[Wish, ...]
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()
    """Operations that only make up for side effects of the others."""


def answer_reading(
    reading: Reading,
    picture: np.ndarray,
    recipe: Recipe,
    *,
    size: tuple[int, int] = (1, 1),
    retouched: bool = False,
    earlier: Sequence[Wish] = (),
) -> Answer:
    """Meet the wishes of a request on top of a recipe; `picture` (3, H, W) is the photo before it.

    `size` is the height and width of the photo itself. With `retouched` the recipe is an expert's retouch:
    wishes are measured from the photo before it, and a retouch that meets them is left as it is. `earlier`
    wishes led to the recipe: the opposite of one takes a part of it back.
    """
    return _Answering(picture, recipe, size, retouched, earlier).answer(reading)


@dataclass
class WishDraft:
    """A wish while it is being met: what it holds if it is a limit, and the changes that it needs."""

    wish: Wish
    limits: list[Measure] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


class _Answering:
    """One request on one photo."""

    def __init__(
        self,
        picture: np.ndarray,
        recipe: Recipe,
        size: tuple[int, int],
        retouched: bool,
        earlier: Sequence[Wish],
    ) -> None:
        self.start = recipe
        self.earlier = earlier
        self.size = size
        self.retouched = retouched
        self.checker = Checker(picture, recipe, picture if retouched else None)
        self.share = 1.0
        """How far wishes go, as a share of the usual."""
        self.reasons: dict[str, tuple[str, ...]] = {}

    def answer(self, reading: Reading) -> Answer:
        wishes = [self._screen(wish) for wish in reading.wishes]
        wishes = _decline_contradictions(_drop_general_fixes(wishes))
        self.share = _GENTLE if any(_is_gentle(wish, wishes) for wish in wishes) else 1.0
        drafts = [WishDraft(self._apply_whole(wish)) for wish in wishes]
        self._draft_limits(drafts)
        self._draft_changes(drafts)
        limits = [limit for draft in drafts for limit in draft.limits]
        soft = {} if limits or self.retouched else _get_soft_limits([draft.wish for draft in drafts])
        checked = self.checker.solve([change for draft in drafts for change in draft.changes], limits, soft)
        self._conclude(drafts, checked)
        helpers = tuple(name for name in checked.helpers if name not in self.reasons)
        return Answer(checked.recipe, tuple(draft.wish for draft in drafts), self.reasons, helpers)

    def _draft_limits(self, drafts: Sequence[WishDraft]) -> None:
        """What the limits of the request hold; a limit on how far wishes go is kept by going less far."""
        wishes = [draft.wish for draft in drafts]
        asked = {wish.what for wish in wishes if _is_open(wish)}
        for draft in drafts:
            if _is_gentle(draft.wish, wishes):
                draft.wish = replace(draft.wish, outcome=Outcome.KEPT)
            elif draft.wish.role is Role.LIMIT and draft.wish.outcome is None:
                draft.limits = [*_get_limits(draft.wish, asked)]

    def _draft_changes(self, drafts: Sequence[WishDraft]) -> None:
        """The changes that each wish needs; one that no change can meet is declined."""
        wishes = [draft.wish for draft in drafts]
        held = [limit for draft in drafts if not _spares(draft.wish) for limit in draft.limits]
        spared = _exclude_parts(draft.wish.where for draft in drafts if draft.limits and _spares(draft.wish))
        grey = any(_is_open(wish) and wish.what == "black_and_white" for wish in wishes) or self._is_grey()
        share = self.share * (_RETOUCHED_SHARE if self.retouched else 1.0)
        self.checker.lighter = share * sum(map(_expect_lightness, wishes))
        for draft in drafts:
            if not _is_open(draft.wish):
                continue
            own = share * (_TAKEN_BACK if _takes_back(draft.wish, self.earlier) else 1.0)
            draft.changes = [
                replace(
                    change,
                    target=own * change.target,
                    usual=own * change.usual,
                    capped=not self.retouched,
                    absolute=_sets_slider(draft.wish),
                )
                for change in self._realize(draft.wish, held, grey)
            ]
            if spared and draft.wish.where == WHOLE:
                draft.changes = [replace(change, where=spared) for change in draft.changes]
            if not draft.changes:
                draft.wish = _decline(draft.wish, _explain_missing(draft.wish))

    def _conclude(self, drafts: Sequence[WishDraft], checked: Checked) -> None:
        """What became of each wish, from the effects of its changes and the excesses of its limits."""
        effects, excesses = iter(checked.effects), iter(checked.excesses)
        changed = {step.operation for step in checked.recipe.steps if step not in self.start.steps}
        for draft in drafts:
            for change in draft.changes:
                draft.wish = self._conclude_change(draft.wish, change, next(effects))
            for _ in draft.limits:
                draft.wish = _conclude_limit(draft.wish, next(excesses))
            if draft.wish.role is Role.LIMIT and draft.wish.outcome is None:
                draft.wish = _conclude_unmeasured(draft.wish, changed)

    def _realize(self, wish: Wish, held: Sequence[Measure], grey: bool) -> Iterable[Change]:
        if wish.direction is Direction.FIX and wish.quantity is None:
            return self._fix(wish)
        if grey and wish.what in ("warmth", "cast") and wish.where == WHOLE and wish.quantity is None:
            return [tone_grey(wish)]
        return realize(wish, held, self.checker.pivot)

    def _fix(self, wish: Wish) -> Iterable[Change]:
        """Changes to where a photo should be: neutral greys, a middle lightness, an ordinary contrast."""
        before = self.checker.before
        if wish.what in ("warmth", "colour", "tint"):
            return fix_balance(wish, before.find_cast())
        usual = {"lightness": (USUAL_LIGHTNESS, 0), "contrast": (USUAL_CONTRAST, 1)}.get(wish.what)
        if usual is None:
            return realize(wish, (), self.checker.pivot)
        target, index = usual
        missing = (target - float(before.attributes[index])) / JUST_NOTICEABLE[index] * _FIXED_SHARE
        if abs(missing) < NOTICEABLE:
            return []
        direction = Direction.UP if missing > 0 else Direction.DOWN
        found = realize(replace(wish, direction=direction), (), self.checker.pivot)
        return [replace(change, target=abs(missing)) for change in found]

    def _is_grey(self) -> bool:
        """Whether the recipe so far makes the photo black and white."""
        at = self.checker.recipe.find_step("black_and_white")
        return at is not None and self.checker.recipe.steps[at].parameters[0] >= _GREY_AMOUNT

    def _screen(self, wish: Wish) -> Wish:
        """Decline what cannot be done, before anything is tried."""
        reason = self._find_obstacle(wish)
        return _decline(wish, reason) if reason else wish

    def _find_obstacle(self, wish: Wish) -> str:
        """Why a wish cannot be met; empty where nothing stands in its way."""
        place = wish.where in PLACES and wish.where not in _KNOWN_PLACES
        if wish.what == FOREIGN:
            return "requests are read in English"
        if wish.role is Role.LIMIT:
            return f"the {wish.where} cannot be told apart yet" if place else ""
        if wish.what in IMPOSSIBLE:
            return _CANNOT[wish.what]
        if wish.what in CHANGES and place:
            return f"the {wish.where} alone cannot be changed yet"
        missing = (
            wish.where in (*RANGES, "skin")
            and wish.quantity is None
            and self.checker.before.count_share(wish.where) < MIN_PART_SHARE
        )
        return f"there are hardly any {wish.where} in this photo" if missing else ""

    def _apply_whole(self, wish: Wish) -> Wish:
        """Looks and geometry, which need no search, go into the recipe that the changes are made on."""
        if wish.outcome is not None or wish.role is not Role.ASK:
            return wish
        if wish.what == "auto":  # the retouch that the recipe begins with
            return replace(wish, outcome=Outcome.DONE)
        if wish.what == "look":
            return self._apply_look(wish)
        if wish.what in GEOMETRY:
            return self._apply_geometry(wish)
        if taken := self._find_taken_back(wish):
            return self._take_back(wish, taken)
        effect = self._find_removed_effect(wish)
        return self._remove_effect(wish, effect) if effect else wish

    def _find_taken_back(self, wish: Wish) -> set[str]:
        """The operations of steps that a wish says to undo: "undo the contrast", "reset the shadows"."""
        words = {*map(str.lower, wish.words)}
        undone = _UNDOING & words or (_REMOVING & words and wish.what in _REMOVED_BY_NAME)
        if not undone or wish.quantity is not None or wish.what not in CHANGES:
            return set()
        moved = {change.operation for change in realize(wish)} - {"mixer", "grading"}
        return {name for name in moved if self.checker.recipe.find_step(name) is not None}

    def _take_back(self, wish: Wish, names: Collection[str]) -> Wish:
        recipe = self.checker.recipe
        steps = tuple(step for step in recipe.steps if step.operation not in names or step.is_local)
        self.checker = Checker(self.checker.picture, recipe.model_copy(update={"steps": steps}))
        return replace(wish, outcome=Outcome.DONE)

    def _find_removed_effect(self, wish: Wish) -> str:
        """The operation that a wish takes back: "no grain", "more colour" of a photo in black and white."""
        sign = get_sign(wish)
        if wish.what in _REMOVABLE and sign < 0 and wish.quantity is None:
            return wish.what
        if wish.what == "noise" and self.checker.recipe.find_step("grain") is not None:
            return "grain"
        is_colour = wish.what == "colour" and sign > 0 and wish.where == WHOLE
        return "black_and_white" if is_colour and self._is_grey() else ""

    def _remove_effect(self, wish: Wish, operation: str) -> Wish:
        """Take an effect back that the recipe has."""
        recipe = self.checker.recipe
        if (at := recipe.find_step(operation)) is None:
            return wish
        share = _LEFT[wish.amount]
        steps = [
            *recipe.steps[:at],
            *([recipe.steps[at].blend(share)] if share else []),
            *recipe.steps[at + 1 :],
        ]
        self.checker = Checker(self.checker.picture, recipe.model_copy(update={"steps": tuple(steps)}))
        return replace(wish, outcome=Outcome.DONE)

    def _apply_look(self, wish: Wish) -> Wish:
        name, score = wish.looks[0]
        if score < MIN_LOOK_SCORE:
            nearest = " or ".join(name for name, _ in wish.looks[:2])
            return _decline(wish, f"no look is called “{' '.join(wish.words)}”; the nearest are {nearest}")
        recipe = self._drop_looks(self.checker.recipe)
        for step in looks()[name].recipe.blend(self._get_strength(wish)).steps:
            recipe = recipe.adjust(step.operation, list(step.parameters))
            self.reasons[step.operation] = wish.words
        held_from = self.checker.held_from
        self.checker = Checker(self.checker.picture, recipe)
        self.checker.held_from = held_from
        return replace(wish, outcome=Outcome.DONE, reason=f"the look {name}")

    def _get_strength(self, wish: Wish) -> float:
        """How strong a look is, by words or a number: "a hint of sepia", "sepia at 50 %"."""
        quantity = wish.quantity
        if quantity is not None and quantity.unit in (Unit.PERCENT, Unit.FACTOR):
            share = quantity.value / (100 if quantity.unit is Unit.PERCENT else 1)
            return min(max(share, 0.0), _STRONGEST_LOOK)
        return self.share * LOOK_STRENGTHS[wish.amount]

    def _drop_looks(self, recipe: Recipe) -> Recipe:
        """The recipe without the steps of looks that were taken before: another look takes their place."""
        names = [wish.looks[0][0] for wish in self.earlier if wish.looks and wish.outcome is Outcome.DONE]
        own = [step for name in names for step in looks()[name].recipe.steps]
        return recipe.model_copy(update={"steps": tuple(step for step in recipe.steps if step not in own)})

    def _apply_geometry(self, wish: Wish) -> Wish:
        step = make_geometry(wish, self._measure_aspect())
        if step is None:
            return _decline(wish, f"say how to {wish.what}, such as {GEOMETRY_EXAMPLES[wish.what]}")
        name, values = step
        self.checker = Checker(self.checker.picture, self.checker.recipe.adjust(name, values))
        self.reasons[name] = wish.words
        return replace(wish, outcome=Outcome.DONE)

    def _measure_aspect(self) -> float:
        """Width by height of the photo after the recipe so far, without its crop."""
        uncropped = [step for step in self.checker.recipe.steps if step.operation != "crop"]
        height, width = Recipe(steps=tuple(uncropped)).size_after(*self.size)
        return width / height

    def _conclude_change(self, wish: Wish, change: Change, effect: float | None) -> Wish:
        """What became of a wish with one of its changes."""
        if effect is not None and effect < NOTICEABLE and change.stated is None:
            return (
                wish if wish.outcome is Outcome.DONE else _decline(wish, "the photo cannot show more of that")
            )
        earlier = self.reasons.get(change.operation, ())
        self.reasons[change.operation] = tuple(dict.fromkeys((*earlier, *wish.words)))
        return replace(wish, outcome=Outcome.DONE, reason="; ".join(change.notes))


def _explain_missing(wish: Wish) -> str:
    if wish.direction is Direction.FIX:
        return f"{_name(wish)} looks right already"
    return f"{_name(wish)} cannot be changed there"


def _is_gentle(wish: Wish, wishes: Sequence[Wish]) -> bool:
    """Whether a wish is that others go less far: "don't overdo it", "brighter but not too bright"."""
    if wish.role is not Role.LIMIT or wish.what == "less":
        return wish.role is Role.LIMIT
    moved = _list_moves(wish)
    asked = {move for other in wishes if other.role is Role.ASK for move in _list_moves(other)}
    return bool(moved) and moved <= asked


def _list_moves(wish: Wish) -> set[tuple[str, str, int]]:
    """What a wish moves which way, and where: attributes, or what it is about."""
    moves: Sequence[tuple[str, int]] = get_attributes(wish.what, wish.direction, wish.where, wish.hue)
    if not moves and wish.direction in (Direction.UP, Direction.DOWN):
        moves = [(wish.what, 1 if wish.direction is Direction.UP else -1)]
    return {(wish.where, what, sign) for what, sign in moves}


def _sets_slider(wish: Wish) -> bool:
    """Whether a number says where a slider should stand: "highlights -10", "set the contrast to 20"."""
    quantity = wish.quantity
    return quantity is not None and (
        bool(quantity.sign) or bool(_SETTING_WORDS & {*map(str.lower, wish.words)})
    )


def _spares(wish: Wish) -> bool:
    """Whether a limit leaves hues of the photo alone; tonal zones border on each other too softly."""
    return wish.role is Role.LIMIT and wish.what in IMPOSSIBLE and wish.where in (*RANGES, *_KNOWN_PLACES)


def _exclude_parts(parts: Iterable[str]) -> str | None:
    """The photo without some parts, as a step says where it applies; None without any."""
    names = [*dict.fromkeys(parts)]
    return f"not ({' or '.join(names)})" if len(names) > 1 else f"not {names[0]}" if names else None


def _takes_back(wish: Wish, earlier: Sequence[Wish]) -> bool:
    """Whether a wish is the opposite of one that was met before."""
    opposite = {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}.get(wish.direction)
    return opposite is not None and any(
        _is_same(replace(wish, direction=opposite), other) and other.outcome is Outcome.DONE
        for other in earlier
    )


def _is_same(one: Wish, other: Wish) -> bool:
    """Whether two wishes are for the same, in other words."""
    return all(
        getattr(one, name) == getattr(other, name) for name in ("what", "direction", "where", "hue", "role")
    )


def _drop_general_fixes(wishes: Sequence[Wish]) -> list[Wish]:
    """Of "the white balance is off, too warm" the wish that says which way is left."""
    told = {(wish.what, wish.where) for wish in wishes if wish.direction in (Direction.UP, Direction.DOWN)}
    told |= {("warmth", where) for what, where in told if what in ("cast", "tint")}
    return [
        wish
        for wish in wishes
        if wish.direction is not Direction.FIX
        or wish.role is not Role.ASK
        or (wish.what, wish.where) not in told
    ]


def _is_open(wish: Wish) -> bool:
    """Whether changes have to be found for a wish."""
    return wish.outcome is None and wish.role is Role.ASK and wish.what in CHANGES


def _decline(wish: Wish, reason: str) -> Wish:
    return replace(wish, outcome=Outcome.DECLINED, reason=reason)


def _name(wish: Wish) -> str:
    return {"cast": "the colour", "lightness": "the light"}.get(
        wish.what, f"the {wish.what.replace('_', ' ')}"
    )


def _decline_contradictions(wishes: Sequence[Wish]) -> list[Wish]:
    """Wishes that ask for the opposite of each other are both declined."""
    signs: dict[tuple[str, str, str], set[int]] = {}
    for wish in wishes:
        if _is_open(wish) and wish.quantity is None and wish.direction in (Direction.UP, Direction.DOWN):
            signs.setdefault((wish.what, wish.where, wish.hue), set()).add(get_sign(wish))
    both = {key for key, found in signs.items() if len(found) > 1}
    return [
        _decline(wish, "the request asks for the opposite as well")
        if _is_open(wish) and wish.quantity is None and (wish.what, wish.where, wish.hue) in both
        else wish
        for wish in wishes
    ]


def _get_limits(wish: Wish, asked: Collection[str]) -> Iterable[Measure]:
    """What a limit holds: one quantity, or the light and colour of a part; not what is asked for."""
    sign = {Direction.UP: 1, Direction.DOWN: -1}.get(wish.direction, 0)
    if wish.what in IMPOSSIBLE:
        held = _PART_LIMITS if wish.where in (*RANGES, "skin") else _PART_LIMITS[:1]
        return [Measure(what, 0, wish.where) for what in held] if wish.where != WHOLE else []
    if wish.what == "colour" and wish.where == WHOLE and not sign:
        return [Measure(what, 0) for what in _COLOURS if what not in asked]
    if wish.what in _MEASURED_AS:
        return [Measure(what, turn * sign, wish.where) for what, turn in _MEASURED_AS[wish.what]]
    return [] if wish.what in _UNMEASURED else [Measure(wish.what, sign, wish.where, wish.hue)]


def _get_soft_limits(wishes: Sequence[Wish]) -> dict[Measure, frozenset[str]]:
    """What a photo should not lose without being asked, and the wishes that may move it all the same.

    Its contrast and colour when it is made lighter or darker, its light when haze goes.
    """
    open_wishes = [wish for wish in wishes if _is_open(wish)]
    if any(wish.quantity for wish in open_wishes):
        return {}
    whole = {wish.what for wish in open_wishes if wish.where == WHOLE}
    asked = {what for wish in open_wishes for what in (wish.what, *_ALSO_ASKS.get(wish.what, ()))}
    sides = dict.fromkeys(side for what in _SIDE_EFFECTS if what in whole for side in _SIDE_EFFECTS[what])
    return {Measure(side, 0): _EXCUSED.get(side, frozenset()) for side in sides if side not in asked}


def _expect_lightness(wish: Wish) -> float:
    """By how much L* a wish makes the whole photo lighter."""
    if not _is_open(wish) or wish.what != "lightness" or wish.where != WHOLE or wish.quantity is not None:
        return 0.0
    sign = get_sign(wish)
    return sign * LIGHTNESS_TARGETS[sign] * AMOUNT_FACTORS[wish.amount] * JUST_NOTICEABLE[0]


def _conclude_unmeasured(wish: Wish, changed: Collection[str]) -> Wish:
    """A limit that nothing measures is kept where no step that was changed may break it."""
    risky = [name for name in _UNMEASURED.get(wish.what, ()) if name in changed]
    return (
        _decline(wish, f"{risky[0]} may have added to it") if risky else replace(wish, outcome=Outcome.KEPT)
    )


def _conclude_limit(wish: Wish, excess: float) -> Wish:
    """Kept, or not quite; a limit of several quantities is kept if all of them are."""
    if excess > NOTICEABLE or wish.outcome is Outcome.DECLINED:
        return _decline(wish, "it could not be held fully")
    return replace(wish, outcome=Outcome.KEPT)

"""Answer a request: realize its wishes, check them on a small picture, and say what became of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from ..language.quantities import Unit
from ..language.reader import Reading
from ..language.wishes import (
    CHANGES,
    FOREIGN,
    GEOMETRY,
    HUES,
    IMPOSSIBLE,
    PLACES,
    RANGES,
    STYLES,
    WHOLE,
    Amount,
    Direction,
    Outcome,
    Role,
    Verb,
    Wish,
    get_attributes,
)
from ..looks import looks
from ..metrics.attributes import JUST_NOTICEABLE
from ..recipe import Recipe, Step
from ..recipe.where import parse_where
from ..recipe.wording import label_where
from .check import NOTICEABLE, Checked, Checker
from .geometry import GEOMETRY_EXAMPLES, make_geometry
from .limits import (
    conclude_limit,
    conclude_unmeasured,
    decline,
    get_limits,
    get_soft_limits,
    is_gentle,
    is_open,
    spares_part,
    spares_place,
)
from .measures import BY_COLOUR, MEASURED_ATTRIBUTES, MIN_PART_SHARE, Measure, SmallPicture
from .parts import PhotoParts, exclude, get_text, list_parts, open_thumbnail
from .policy import apply_to_thumbnail
from .realize import AMOUNT_FACTORS, LIGHTNESS_TARGETS, Change, fix_balance, get_sign, realize, tone_grey

_GREY_AMOUNT = 95.0
"""From here on `black_and_white` leaves no colour."""
MIN_LOOK_SCORE = 0.55
"""How near a look must be to a wish to be taken."""
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
_MUTED_SHARE = 0.3
"""The share of its chroma that a plain wish for less colour takes from a part of the photo."""
_TAKEN_BACK = 0.5
"""How far a wish goes that is the opposite of the last one: "less warm" after "warmer"."""
_RETOUCHED_SHARE = 0.25
"""How far wishes go at least that an expert's retouch should meet."""
_WHOLE_EFFECTS = ("grain", "vignette")
_OUTLINES = ("sharpness", "clarity")
_ONLY_CHANGED = ("lightness", "contrast", "colour", "warmth", "tint", "punch", *GEOMETRY)
"""What can only be taken back where a step changed it; a photo itself may have grain or a vignette."""
REMOVABLE = ("grain", "vignette", "clarity")
"""Effects that less of takes back, where the recipe has them."""
_LEFT = {Amount.LITTLE: 0.7, Amount.PLAIN: 0.5, Amount.MUCH: 0.25}
"""Share of an effect that is kept by "a bit less", "less" and "much less" of it."""
USUAL_LIGHTNESS, USUAL_CONTRAST = 50.0, 20.0
"""Mean and standard deviation of L* of an ordinary photo."""
_FIXED_SHARE = 0.7
"""Share of the way to an ordinary photo that a fix goes."""


@dataclass(frozen=True)
class Answer:
    """A recipe, the wishes with what became of each, and the words that led to each operation."""

    recipe: Recipe
    wishes: tuple[Wish, ...]
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()
    """Operations that only make up for side effects of the others."""
    kept: tuple[str, ...] = ()
    """What they kept as it was."""


def answer_reading(
    reading: Reading,
    picture: np.ndarray,
    recipe: Recipe,
    *,
    size: tuple[int, int] = (1, 1),
    retouched: bool = False,
    earlier: Sequence[Wish] = (),
    taken: Sequence[Wish] = (),
    because: Mapping[str, Sequence[str]] = MappingProxyType({}),
    parts: PhotoParts | None = None,
) -> Answer:
    """Meet the wishes of a request on top of a recipe; `picture` (3, H, W) is the photo before it.

    `size` is the height and width of the photo itself. With `retouched` the recipe is an expert's retouch:
    wishes are measured from the photo before it, and a retouch that meets them is left as it is. `earlier`
    wishes led to the recipe: the opposite of one takes a part of it back. `taken` are the wishes for looks
    of all turns, and `because` has the words that led to each operation. `parts` are those of the photo
    itself; by default they are found on the picture.
    """
    if parts is None:
        parts = PhotoParts(open_thumbnail(picture), picture)
    answering = _Answering(
        picture,
        recipe,
        size,
        retouched=retouched,
        earlier=earlier,
        taken=taken or earlier,
        because=because,
        parts=parts,
    )
    return answering.answer(reading)


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
        *,
        retouched: bool,
        earlier: Sequence[Wish],
        taken: Sequence[Wish],
        because: Mapping[str, Sequence[str]],
        parts: PhotoParts,
    ) -> None:
        self.start = recipe
        self.parts = parts
        self.earlier = earlier
        self.taken, self.because = taken, because
        self.size = size
        self.retouched = retouched
        self.checker = Checker(picture, recipe, self._reference(picture))
        self.share = 1.0
        """How far wishes go, as a share of the usual."""
        self.reasons: dict[str, tuple[str, ...]] = {}
        self.spared: list[str] = []
        """Parts that are to be left alone."""

    def _reference(self, picture: np.ndarray) -> np.ndarray | None:
        """What wishes are measured from, where that is not the recipe so far."""
        return picture if self.retouched else None

    def _set_recipe(self, recipe: Recipe) -> None:
        """Go on from another recipe; limits are still about the photo as it was before."""
        old = self.checker
        self.checker = Checker(old.picture, recipe, self._reference(old.picture))
        if recipe.geometry != old.recipe.geometry:
            steps = [step for step in self.start.steps if not (step.is_geometry or self.retouched)]
            framed = Recipe(steps=(*steps, *recipe.geometry.steps))
            held_from = apply_to_thumbnail(framed, old.picture) if framed.steps else old.picture
            self.checker.held_from = SmallPicture(held_from, old.picture, recipe.geometry)
        else:
            self.checker.held_from = old.held_from

    def answer(self, reading: Reading) -> Answer:
        wishes = [self._screen(wish) for wish in settle_wishes(reading.wishes)]
        wishes = _decline_contradictions(_drop_general_fixes(wishes))
        self.share = _GENTLE if any(is_gentle(wish, wishes) for wish in wishes) else 1.0
        self.spared = [
            self.parts.locate(wish, wishes) or wish.where
            for wish in wishes
            if spares_part(wish) and wish.outcome is None and not self._is_elsewhere(wish)
        ]
        drafts = [WishDraft(self._apply_whole(wish)) for wish in wishes]
        for draft in drafts:
            draft.wish = self._forbid_effect(draft.wish)
        self._draft_limits(drafts)
        self._draft_changes(drafts)
        limits = [limit for draft in drafts for limit in draft.limits]
        local = self.parts.whole is not None
        soft = {} if limits or self.retouched or local else get_soft_limits([draft.wish for draft in drafts])
        soft |= self._hold_look(drafts)
        checked = self._solve(drafts, limits, soft)
        self._conclude(drafts, checked)
        helpers = tuple(name for name in checked.helpers if name not in self.reasons)
        return Answer(
            checked.recipe, tuple(draft.wish for draft in drafts), self.reasons, helpers, checked.kept
        )

    def _draft_limits(self, drafts: Sequence[WishDraft]) -> None:
        """What the limits of the request hold; a limit on how far wishes go is kept by going less far."""
        wishes = [draft.wish for draft in drafts]
        asked = {wish.what for wish in wishes if is_open(wish)}
        for draft in drafts:
            if is_gentle(draft.wish, wishes) or _keeps_rest(draft.wish) or self._is_elsewhere(draft.wish):
                draft.wish = replace(draft.wish, outcome=Outcome.KEPT)
            elif spares_part(draft.wish) and _is_asked_at(draft.wish.where, wishes):
                draft.wish = decline(draft.wish, f"the request asks to change the {draft.wish.where} as well")
            elif draft.wish.role is Role.LIMIT and draft.wish.outcome is None:
                place = self.parts.locate(draft.wish, wishes) if draft.wish.where in PLACES else None
                draft.limits = [*get_limits(draft.wish, asked, place)]

    def _is_elsewhere(self, wish: Wish) -> bool:
        """Whether a limit is about a place that is not in the photo."""
        is_limit = wish.role is Role.LIMIT and wish.outcome is None
        return is_limit and wish.where in PLACES and bool(self.parts.find_obstacle(wish))

    def _draft_changes(self, drafts: Sequence[WishDraft]) -> None:
        """The changes that each wish needs; one that no change can meet is declined."""
        wishes = [draft.wish for draft in drafts]
        sparing = [draft for draft in drafts if spares_part(draft.wish)]
        held = [limit for draft in drafts if draft not in sparing for limit in draft.limits]
        spared = [limit.where for draft in sparing for limit in draft.limits[:1]]
        grey = any(is_open(wish) and wish.what == "black_and_white" for wish in wishes) or self._is_grey()
        share = self.share * (_RETOUCHED_SHARE if self.retouched else 1.0)
        self.checker.lighter = share * sum(map(_expect_lightness, wishes))
        for draft in drafts:
            if not is_open(draft.wish):
                continue
            own = share * (_TAKEN_BACK if _takes_back(draft.wish, self.earlier) else 1.0)
            draft.changes = [
                replace(
                    change,
                    target=own * self._find_target(change),
                    usual=own * change.usual,
                    capped=not self.retouched,
                    absolute=_sets_slider(draft.wish),
                )
                for change in self._realize(draft.wish, held, grey)
            ]
            where = exclude(spared, self.parts.locate(draft.wish, wishes))
            if where is not None and (draft.wish.where == WHOLE or draft.wish.where in PLACES):
                draft.changes = [_restrict(change, where) for change in draft.changes]
            if not draft.changes:
                draft.wish = decline(draft.wish, _explain_missing(draft.wish))
        _drop_opposed_changes(drafts)

    def _find_target(self, change: Change) -> float:
        """How far a change goes: rich colours of a part are muted by a share, or nobody would see it."""
        measure = change.measure
        if (
            measure is None
            or (measure.what, measure.sign) != ("colour", -1)
            or measure.where not in BY_COLOUR
        ):
            return change.target
        muted = _MUTED_SHARE * AMOUNT_FACTORS[change.wish.amount]
        return max(change.target, muted * self.checker.before.measure_chroma(measure.where))

    def _solve(
        self, drafts: Sequence[WishDraft], limits: Sequence[Measure], soft: Mapping[Measure, Collection[str]]
    ) -> Checked:
        """Find the amounts of all changes.

        Wishes that would not be seen are declined and change nothing, unless the others would then move what
        they are about the other way.
        """
        changes = [change for draft in drafts for change in draft.changes]
        checked = self.checker.solve(changes, limits, soft)
        effects = iter(checked.effects)
        unseen = [draft for draft in drafts if _is_unseen(draft, [next(effects) for _ in draft.changes])]
        without = [change for draft in drafts if draft not in unseen for change in draft.changes]
        if len(without) == len(changes):
            return checked
        simpler = self.checker.solve(without, limits, soft)
        measures = {change.measure for draft in unseen for change in draft.changes if change.measure}
        if self.checker.moves_back(simpler.recipe, measures):
            return checked
        for draft in unseen:
            draft.wish, draft.changes = decline(draft.wish, "the photo cannot show more of that"), []
        return simpler

    def _conclude(self, drafts: Sequence[WishDraft], checked: Checked) -> None:
        """What became of each wish, from the effects of its changes and the excesses of its limits."""
        effects, excesses = iter(checked.effects), iter(checked.excesses)
        changed = {step.operation for step in checked.recipe.steps if step not in self.start.steps}
        for draft in drafts:
            for change in draft.changes:
                draft.wish = self._conclude_change(draft.wish, change, next(effects))
            for _ in draft.limits:
                draft.wish = conclude_limit(draft.wish, next(excesses))
            if draft.wish.role is Role.LIMIT and draft.wish.outcome is None:
                draft.wish = conclude_unmeasured(draft.wish, changed)

    def _realize(self, wish: Wish, held: Sequence[Measure], grey: bool) -> Iterable[Change]:
        if wish.where in PLACES and wish.where != "skin":  # as for the whole photo, then restricted
            pivot = self.checker.find_pivot(self.parts.locate(wish, ()) if wish.where != "rest" else None)
            found = realize(replace(wish, where=WHOLE), held, pivot)
            return [replace(change, wish=wish) for change in found]
        if wish.direction is Direction.FIX and wish.quantity is None:
            return self._fix(wish)
        if not grey and self._lacks_hue(wish) and self._can_tint(wish):
            return self._tint(wish, held)
        if grey and wish.what in ("warmth", "cast") and wish.where == WHOLE and wish.quantity is None:
            return [tone_grey(wish)]
        return realize(wish, held, self.checker.pivot)

    def _tint(self, wish: Wish, held: Sequence[Measure]) -> Iterable[Change]:
        """Changes that tint the whole photo towards a hue that it hardly has."""
        hue = HUES[RANGES.index(wish.where)]
        tint = replace(wish, what="cast", where=WHOLE, hue=hue)
        note = f"there are hardly any {wish.where} in this photo, so all of it is tinted"
        return [replace(change, wish=wish, notes=(note,)) for change in realize(tint, held)]

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
        return _is_grey(self.checker.recipe)

    def _screen(self, wish: Wish) -> Wish:
        """Decline what cannot be done, before anything is tried."""
        reason = self._find_obstacle(wish)
        return decline(wish, reason) if reason else wish

    def _find_obstacle(self, wish: Wish) -> str:
        """Why a wish cannot be met; empty where nothing stands in its way."""
        if wish.what == FOREIGN:
            return "requests are read in English"
        if wish.role is Role.LIMIT:
            must_be_found = get_text(wish.where) is None or wish.where == "background"
            return self.parts.find_obstacle(wish) if must_be_found else ""
        if wish.what in IMPOSSIBLE:
            return _CANNOT[wish.what]
        if wish.what in (*CHANGES, *STYLES) and (reason := self.parts.find_obstacle(wish)):
            return reason
        if not self._lacks_hue(wish) or self._can_tint(wish):
            return ""
        return f"there are hardly any {wish.where} in this photo"

    def _lacks_hue(self, wish: Wish) -> bool:
        """Whether a wish without a number is about a range of hues that the photo hardly has."""
        is_range = wish.where in (*RANGES, "skin") and wish.quantity is None
        return is_range and self.checker.before.count_share(wish.where) < MIN_PART_SHARE

    def _can_tint(self, wish: Wish) -> bool:
        """Whether a wish for more of a hue can be met by a tint of the whole photo: "bring in some green"."""
        is_more = wish.what == "colour" and get_sign(wish) > 0 and wish.where in RANGES
        return is_more and not self._is_grey()

    def _apply_whole(self, wish: Wish) -> Wish:
        """Looks and geometry, which need no search, go into the recipe that the changes are made on."""
        if wish.outcome is not None or wish.role is not Role.ASK:
            return wish
        if wish.what == "auto":  # the retouch that the recipe begins with
            return replace(wish, outcome=Outcome.DONE)
        if wish.verb is Verb.CANCEL and (taken_back := self._cancel(wish)) is not None:
            return taken_back
        if wish.what == "look":
            return self._apply_look(wish)
        if wish.what in GEOMETRY:
            return self._apply_geometry(wish)
        effect = self._find_removed_effect(wish)
        return self._remove_effect(wish, effect) if effect else wish

    def _cancel(self, wish: Wish) -> Wish | None:
        """Take back what a wish says to undo; None where it may be about the photo itself."""
        if wish.what == "look":
            return self._drop_look(wish)
        if taken := self._find_taken_back(wish):
            return self._take_back(wish, taken)
        if wish.what not in _ONLY_CHANGED or wish.quantity is not None or self._has_moved(wish):
            return None
        return decline(wish, f"there is no change of {_name(wish)} to take back")

    def _has_moved(self, wish: Wish) -> bool:
        """Whether the recipe so far moved what a wish is about, which the wish would move back."""
        opened = SmallPicture(self.checker.picture)
        measures = [change.measure for change in realize(wish) if change.measure]
        return any(opened.measure_change(self.checker.before, measure) < -NOTICEABLE for measure in measures)

    def _find_taken_back(self, wish: Wish) -> list[Step]:
        """The steps that a wish says to undo: "undo the contrast", "reset the shadows"."""
        if wish.quantity is not None or wish.what not in (*CHANGES, *GEOMETRY):
            return []
        moved = {wish.what} if wish.what in GEOMETRY else {change.operation for change in realize(wish)}
        moved -= {"mixer", "grading"}  # which other wishes may have moved as well
        steps = [step for step in self.checker.recipe.steps if step.operation in moved and not step.is_local]
        return steps or [step for step in self.checker.recipe.steps if self._is_undone_at_place(step, wish)]

    def _is_undone_at_place(self, step: Step, wish: Wish) -> bool:
        """Whether a step at a place is what a wish says to undo, which nothing did to the whole photo."""
        if step.where is None or wish.what not in CHANGES:
            return False
        if wish.where == WHOLE:
            return step.operation in {change.operation for change in realize(wish)}
        place = self.parts.locate(wish, ()) or wish.where
        asked = {change.operation for change in realize(replace(wish, where=WHOLE))}
        return step.where == parse_where(place) and step.operation in asked

    def _take_back(self, wish: Wish, taken: Collection[Step]) -> Wish:
        recipe = self.checker.recipe
        steps = tuple(step for step in recipe.steps if step not in taken)
        self._set_recipe(recipe.model_copy(update={"steps": steps}))
        return replace(wish, outcome=Outcome.DONE)

    def _find_removed_effect(self, wish: Wish) -> str:
        """The operation that a wish takes back: "no grain", "more colour" of a photo in black and white."""
        sign = get_sign(wish)
        if wish.what in REMOVABLE and sign < 0 and wish.quantity is None:
            return wish.what
        if wish.what == "noise" and self.checker.recipe.find_step("grain") is not None:
            return "grain"
        is_colour = wish.what == "colour" and sign > 0 and wish.where == WHOLE
        return "black_and_white" if is_colour and _is_grey(self.start) else ""

    def _forbid_effect(self, wish: Wish) -> Wish:
        """Keep a limit on an effect by taking it out of the recipe: "vintage, but without grain"."""
        is_limit = wish.role is Role.LIMIT and wish.outcome is None and wish.direction is Direction.UP
        if not is_limit or wish.what not in REMOVABLE:
            return wish
        after = self._remove_effect(wish, wish.what)
        return wish if after is wish else replace(after, outcome=Outcome.KEPT)

    def _remove_effect(self, wish: Wish, operation: str) -> Wish:
        """Take an effect back that the recipe has."""
        recipe = self.checker.recipe
        if (at := recipe.find_step(operation)) is None:
            return wish
        is_less = wish.what == operation and wish.role is Role.ASK and wish.verb is not Verb.CANCEL
        share = _LEFT[wish.amount] if is_less else 0.0
        steps = [
            *recipe.steps[:at],
            *([recipe.steps[at].blend(share)] if share else []),
            *recipe.steps[at + 1 :],
        ]
        self._set_recipe(recipe.model_copy(update={"steps": tuple(steps)}))
        return replace(wish, outcome=Outcome.DONE)

    def _apply_look(self, wish: Wish) -> Wish:
        name, score = wish.looks[0]
        if score < MIN_LOOK_SCORE:
            nearest = " or ".join(name for name, _ in wish.looks[:2])
            return decline(wish, f"no look is called “{' '.join(wish.words)}”; the nearest are {nearest}")
        recipe = self._drop_looks(self.checker.recipe)
        for step in looks()[name].recipe.blend(self._get_strength(wish)).steps:
            where = exclude(self.spared, self.parts.locate(wish, ()))
            recipe = recipe.adjust(step.operation, list(step.parameters), where)
            self.reasons[step.operation] = wish.words
        self._set_recipe(recipe)
        return replace(wish, outcome=Outcome.DONE, reason=f"the look {name}")

    def _drop_look(self, wish: Wish) -> Wish:
        """Take the looks back that were taken before."""
        recipe = self._drop_looks(self.checker.recipe)
        if recipe == self.checker.recipe:
            return decline(wish, "there is no look to take back")
        self._set_recipe(recipe)
        return replace(wish, outcome=Outcome.DONE)

    def _hold_look(self, drafts: Sequence[WishDraft]) -> dict[Measure, frozenset[str]]:
        """Soft limits so that looks do not do the opposite of what they are known for: a warm one cools none.

        What other wishes ask to move is left to them.
        """
        if self._is_grey() or self.parts.whole is not None:
            return {}
        wishes = [draft.wish for draft in drafts]
        moves = {
            attribute: sign
            for wish in wishes
            if wish.what == "look" and wish.outcome is Outcome.DONE and wish.where == WHOLE
            if wish.verb is not Verb.CANCEL
            for attribute, sign in looks()[wish.looks[0][0]].moves.items()
        }
        for wish in filter(is_open, wishes):
            for attribute, _ in get_attributes(wish.what, wish.direction, wish.where, wish.hue):
                moves.pop(attribute, None)
        names = {attribute: what for what, attribute in MEASURED_ATTRIBUTES.items()}
        return {Measure(names[attribute], -sign): frozenset() for attribute, sign in moves.items()}

    def _get_strength(self, wish: Wish) -> float:
        """How strong a look is, by words or a number: "a hint of sepia", "sepia at 50 %"."""
        quantity = wish.quantity
        if quantity is not None and quantity.unit in (Unit.PERCENT, Unit.FACTOR):
            share = quantity.value / (100 if quantity.unit is Unit.PERCENT else 1)
            return min(max(share, 0.0), _STRONGEST_LOOK)
        return self.share * LOOK_STRENGTHS[wish.amount]

    def _drop_looks(self, recipe: Recipe) -> Recipe:
        """The recipe without the steps of looks that were taken before: another look takes their place.

        A step that was changed since is still the look's, if the look's words were the first to lead to it.
        """
        steps = recipe.steps
        for wish in self.taken:
            if wish.looks and wish.outcome is Outcome.DONE:
                own = looks()[wish.looks[0][0]].recipe.steps
                place = self.parts.locate(wish, ())
                moved = {step.operation for step in own if self._began_with(step.operation, wish)}
                steps = tuple(
                    step
                    for step in steps
                    if step not in own and not (step.operation in moved and _is_step_at(step, place))
                )
        return recipe.model_copy(update={"steps": steps})

    def _began_with(self, operation: str, wish: Wish) -> bool:
        """Whether the words of a wish were the first that led to an operation."""
        return tuple(self.because.get(operation, ()))[: len(wish.words)] == wish.words != ()

    def _apply_geometry(self, wish: Wish) -> Wish:
        step = make_geometry(wish, self._measure_aspect())
        if step is None:
            return decline(wish, f"say how to {wish.what}, such as {GEOMETRY_EXAMPLES[wish.what]}")
        name, values = step
        self._set_recipe(self.checker.recipe.adjust(name, values))
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
                wish if wish.outcome is Outcome.DONE else decline(wish, "the photo cannot show more of that")
            )
        earlier = self.reasons.get(change.operation, ())
        self.reasons[change.operation] = tuple(dict.fromkeys((*earlier, *wish.words)))
        is_unseen = change.stated is not None and effect is not None and effect < NOTICEABLE / 2
        notes = (*change.notes, *(["it can hardly be seen"] if is_unseen else []))
        return replace(wish, outcome=Outcome.DONE, reason="; ".join(notes))


def _is_step_at(step: Step, place: str | None) -> bool:
    """Whether a step is for a place, or for the whole photo but what was to be left alone."""
    if place is not None or step.where is None:
        return step.mask is None and step.where == (None if place is None else parse_where(place))
    return label_where(step.where).startswith("not ")


def _is_grey(recipe: Recipe) -> bool:
    """Whether a recipe makes a photo black and white."""
    at = recipe.find_step("black_and_white")
    return at is not None and recipe.steps[at].parameters[0] >= _GREY_AMOUNT


def _is_asked_at(where: str, wishes: Sequence[Wish]) -> bool:
    return any(is_open(wish) and wish.where == where for wish in wishes)


def _keeps_rest(wish: Wish) -> bool:
    """Whether a limit is that all else stays: "and nothing else", which every answer heeds."""
    return (
        wish.role is Role.LIMIT and wish.where == "rest" and wish.what in IMPOSSIBLE and wish.outcome is None
    )


def settle_wishes(wishes: Sequence[Wish]) -> Iterator[Wish]:
    """Wishes for what is done about them, where another part or change than the one named meets them."""
    for wish in wishes:
        if wish.what == "recolour" and wish.where in RANGES and wish.hue:
            yield replace(wish, what="cast", direction=Direction.UP)
        elif spares_place(wish, wishes):
            yield replace(wish, what="other", direction=Direction.FIX)
        else:
            yield _widen_wish(wish, wishes)


def _widen_wish(wish: Wish, wishes: Sequence[Wish]) -> Wish:
    """A wish for all of a photo: for an effect that a part cannot have, or for the rest beside no part.

    Edges that should be sharp are those of all things in the photo, not its borders.
    """
    has_effect = wish.what in _WHOLE_EFFECTS and wish.where in PLACES
    has_effect |= wish.what in _OUTLINES and wish.where == "edges"
    has_no_rest = wish.where == "rest" and not list_parts(wishes) and not _keeps_rest(wish)
    return replace(wish, where=WHOLE) if has_effect or has_no_rest else wish


def _explain_missing(wish: Wish) -> str:
    if wish.direction is Direction.FIX:
        return f"{_name(wish)} looks right already"
    return f"{_name(wish)} cannot be changed there"


def _sets_slider(wish: Wish) -> bool:
    """Whether a number says where a slider should stand: "highlights -10", "set the contrast to 20"."""
    quantity = wish.quantity
    if quantity is None or wish.verb is Verb.ADD:
        return False
    return bool(quantity.sign) or wish.verb is Verb.SET


def _restrict(change: Change, where: str) -> Change:
    """A change at a place alone, measured there."""
    measure = None if change.measure is None else replace(change.measure, where=where)
    return replace(change, where=where, measure=measure)


def _is_unseen(draft: WishDraft, effects: Sequence[float | None]) -> bool:
    """Whether changes are measured, nobody stated one, and none can be seen."""
    return bool(draft.changes) and all(
        change.stated is None and effect is not None and effect < NOTICEABLE
        for change, effect in zip(draft.changes, effects, strict=True)
    )


def _drop_opposed_changes(drafts: Sequence[WishDraft]) -> None:
    """Of the changes of each wish keep the first, and those that do not oppose another wish's first.

    "Less purple and colder": without purple a photo is warmer, but that it is colder was asked for.
    """
    leading = {draft.changes[0].measure for draft in drafts if draft.changes}
    for draft in drafts:
        draft.changes = [
            change
            for change in draft.changes
            if change is draft.changes[0]
            or change.measure is None
            or replace(change.measure, sign=-change.measure.sign) not in leading
        ]


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
    told |= {
        (general, where)
        for what, where in told
        if what in ("cast", "tint")
        for general in ("warmth", "colour", "tint")
    }
    return [
        wish
        for wish in wishes
        if wish.direction is not Direction.FIX
        or wish.role is not Role.ASK
        or told.isdisjoint(_list_fixed(wish))
    ]


def _list_fixed(wish: Wish) -> set[tuple[str, str]]:
    """What a fix changes, and where: that of skin takes the whole photo along."""
    return {(wish.what, wish.where), (wish.what, WHOLE if wish.where == "skin" else wish.where)}


def _name(wish: Wish) -> str:
    return {"cast": "the colour", "lightness": "the light"}.get(
        wish.what, f"the {wish.what.replace('_', ' ')}"
    )


def _decline_contradictions(wishes: Sequence[Wish]) -> list[Wish]:
    """Wishes that ask for the opposite of each other are both declined."""
    signs: dict[tuple[str, str, str], set[int]] = {}
    for wish in wishes:
        if is_open(wish) and wish.quantity is None and wish.direction in (Direction.UP, Direction.DOWN):
            signs.setdefault((wish.what, wish.where, wish.hue), set()).add(get_sign(wish))
    both = {key for key, found in signs.items() if len(found) > 1}
    return [
        decline(wish, "the request asks for the opposite as well")
        if is_open(wish) and wish.quantity is None and (wish.what, wish.where, wish.hue) in both
        else wish
        for wish in wishes
    ]


def _expect_lightness(wish: Wish) -> float:
    """By how much L* a wish makes the whole photo lighter."""
    if not is_open(wish) or wish.what != "lightness" or wish.where != WHOLE or wish.quantity is not None:
        return 0.0
    sign = get_sign(wish)
    return sign * LIGHTNESS_TARGETS[sign] * AMOUNT_FACTORS[wish.amount] * JUST_NOTICEABLE[0]

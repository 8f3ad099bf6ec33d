"""What is said about an edit: more or less of the last change, the other way, questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .. import operations
from ..language.quantities import Quantity, Unit
from ..language.wishes import (
    CHANGES,
    DIRECTED_CHANGES,
    GEOMETRY,
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
from ..metrics.attributes import ATTRIBUTE_INDEX, JUST_NOTICEABLE, measure_attributes
from ..recipe import Recipe, Step
from ..recipe.recipe import match_steps
from ..recipe.where import parse_where
from .answer import REMOVABLE
from .edits import Edit, EditTurn
from .explain import describe_changes, quote_words
from .policy import apply_to_thumbnail
from .realize import MOST_STOPS, get_sign, realize

_FACTORS = {
    "more": {Amount.LITTLE: 1.25, Amount.PLAIN: 1.5, Amount.MUCH: 2.2},
    "less": {Amount.LITTLE: 0.75, Amount.PLAIN: 0.55, Amount.MUCH: 0.3},
}
"""What more or less of the last change multiplies it by."""
_RESTATING = ("more", "less", "reverse", "undo")
"""What may be said beside a number that replaces the last one."""
_ASKING_WHY = frozenset({"why", "how", "who"})
"""Words of questions that are complaints: "why is it so dark?", but not "is it too dark?"."""
_ASKING_HOW = re.compile(r"\bhow\s+(?:do|can|could|would|should|might|to)\b", re.IGNORECASE)
"""Questions that ask for what they name: "how do I make it colder?"."""
_OVERSHOOT_SHARE = 0.5
"""Share of a scaling that remains when the next turn says that it went too far."""
_LARGEST_FACTOR = 4.0
_ORDINALS = {
    name: number
    for number, name in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    )
}
"""Words for the number of a turn."""
REPLIES = {
    "original": "The original is unchanged; undo or start over to return to it.",
    "next": "Open another photo to go on; this one stays as it is.",
    "save": "Save it with the button or the command.",
}
"""Answers to what is said to the program and needs no change of the recipe."""
_UNEDITED = "Nothing was changed so far."


def scale_recipe(current: Edit, command: Wish) -> tuple[Recipe | None, EditTurn]:
    """More or less of the last change; None where there is none."""
    turn, recipe = current.turn, current.recipe
    is_shape = command.quantity is not None and command.quantity.unit is Unit.RATIO
    if recipe == turn.since or is_shape:
        return None, turn
    sign = 1 if command.what == "more" else -1
    if _states_factor(command):
        factor = _read_factor(command, sign)
    elif _repeats(command):
        times = turn.repeated + 1
        found = interpolate_recipes(turn.since, recipe, (times + 1) / times)
        return found, EditTurn(turn.since, recipe, sign, repeated=times, wishes=turn.wishes)
    elif turn.scaled == -sign:
        found = interpolate_recipes(turn.last, recipe, _OVERSHOOT_SHARE)
        return found, EditTurn(turn.since, recipe, sign, wishes=turn.wishes)
    else:
        factor = _FACTORS[command.what][command.amount]
    found = interpolate_recipes(turn.since, recipe, factor)
    return found, EditTurn(turn.since, recipe, sign, wishes=turn.wishes)


def _repeats(command: Wish) -> bool:
    """Whether the last change is to be made once more, just as it was: "same again"."""
    is_plain = command.amount is Amount.PLAIN and command.quantity is None
    return command.what == "more" and command.verb is Verb.ADD and is_plain


def insists_on(wishes: Sequence[Wish], last: Sequence[Wish]) -> bool:
    """Whether what is said in place of the last wish is the same again: "I said lighter!"."""
    asked = [wish for wish in last if wish.role is Role.ASK]
    if len(wishes) != 1 or len(asked) != 1 or wishes[0].quantity is not None:
        return False
    names = ("what", "direction", "where", "hue", "role")
    (new,), (old,) = wishes, asked
    is_same = all(getattr(new, name) == getattr(old, name) for name in names)
    return is_same and new.what in DIRECTED_CHANGES and old.outcome is Outcome.DONE


def scale_part(recipe: Recipe, command: Wish, text: str | None) -> Recipe | None:
    """More or less of what was done at a place; None where nothing was done there, or where more is said."""
    quantity = command.quantity
    if command.verb is not Verb.CHANGE or (quantity and quantity.unit not in (Unit.FACTOR, Unit.PERCENT)):
        return None
    place = None if text is None else parse_where(text)
    if place is None or all(step.where != place for step in recipe.steps):
        return None
    sign = 1 if command.what == "more" else -1
    states = _states_factor(command)
    factor = _read_factor(command, sign) if states else _FACTORS[command.what][command.amount]
    steps = [step.blend(factor) if step.where == place else step for step in recipe.steps]
    return recipe.model_copy(update={"steps": tuple(steps)})


def keep_parts(old: Recipe, new: Recipe, kept: Sequence[Wish]) -> Recipe:
    """The old recipe with what the new one has of the operations that some wishes are about."""
    ways = (Direction.UP, Direction.DOWN)
    asked = [replace(wish, role=Role.ASK, direction=way) for wish in kept for way in ways]
    names = {change.operation for wish in asked for change in realize(wish)}
    names |= {wish.what for wish in kept if wish.what in GEOMETRY}
    named = [wish.looks[0][0] for wish in kept if wish.looks]
    names |= {step.operation for name in named for step in looks()[name].recipe.steps}
    pairs = match_steps(old.steps, new.steps)
    chosen = [after if (after or before).operation in names else before for before, after in pairs]  # type: ignore[union-attr]
    return new.model_copy(update={"steps": tuple(step for step in chosen if step is not None)})


def _states_factor(command: Wish) -> bool:
    quantity = command.quantity
    return quantity is not None and quantity.unit in (Unit.FACTOR, Unit.PERCENT, Unit.NONE)


def _read_factor(command: Wish, sign: int) -> float:
    """What a stated number multiplies the last change by: "half that", "20 % more"."""
    quantity = command.quantity
    assert quantity is not None
    if quantity.unit is Unit.FACTOR:
        return min(quantity.value, _LARGEST_FACTOR)
    return min(max(1 + sign * quantity.value / 100, 0.0), _LARGEST_FACTOR)


def repeat_wishes(wishes: Sequence[Wish], command: Wish) -> tuple[Wish, ...]:
    """The last wishes about another part ("and the blues too") or with another number ("no, 20").

    None where more or less of the last change was meant.
    """
    is_shape = command.quantity is not None and command.quantity.unit is Unit.RATIO  # "4:5 instead"
    kinds = ("crop",) if is_shape else CHANGES
    changes = [
        wish
        for wish in wishes
        if wish.what in kinds and wish.role is Role.ASK and wish.outcome is not Outcome.DECLINED
    ]
    if command.where != WHOLE and command.what == "less":
        changed = [
            replace(wish, where=command.where, amount=Amount.LITTLE) for wish in flip_wishes(changes, ())
        ]
    elif command.where != WHOLE:
        changed = [replace(wish, where=command.where) for wish in changes]
    elif command.quantity is not None and len(changes) == 1 and _states_amount(changes[0], command.quantity):
        stated = _subtract(changes[0], command) or command.quantity
        changed = [restate(changes[0], stated)]
    else:
        changed = []
    return tuple(
        replace(wish, words=command.words, verb=command.verb, outcome=None, reason="") for wish in changed
    )


def replaces_last(command: Wish) -> bool:
    """Whether a last change that is repeated takes the place of the first: "no, 20", "only the shadows"."""
    if command.verb in (Verb.REPLACE, Verb.SET):
        return True
    is_added = command.what == "more" and command.verb is Verb.ADD
    return command.where == WHOLE and not is_added and not _adds_stops(command)


def _adds_stops(command: Wish) -> bool:
    """Whether stops are said to be added: "more, by half a stop"."""
    is_stops = command.quantity is not None and command.quantity.unit is Unit.STOPS
    return command.what == "more" and command.verb is Verb.CHANGE and is_stops


def cure_complaints(wishes: Sequence[Wish], request: str) -> tuple[Wish, ...]:
    """Questions about a photo that nothing was done to yet: "why is it so dark?" asks for more light."""
    if _ASKING_HOW.search(request):
        return tuple(replace(wish, role=Role.ASK) if wish.role is Role.QUESTION else wish for wish in wishes)
    opposite = {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}
    asks_why = not _ASKING_WHY.isdisjoint(re.findall(r"\w+", request.lower()))
    return tuple(
        replace(wish, role=Role.ASK, direction=opposite.get(wish.direction, wish.direction))
        if wish.role is Role.QUESTION and asks_why
        else wish
        for wish in wishes
    )


def calm_photo(command: Wish) -> tuple[Wish, ...]:
    """Less of a photo that nothing was done to yet: "looks overcooked" asks for less contrast and colour."""
    if command.what != "less" or command.quantity is not None:
        return ()
    return (replace(command, what="punch", direction=Direction.DOWN),)


def join_limits(wishes: Sequence[Wish], last: Sequence[Wish]) -> tuple[Wish, ...]:
    """The last wishes, to be met anew under limits that were said afterwards: "but not the reds".

    None where more than limits was said, or where a limit is met by taking an effect back.
    """
    if not wishes or any(wish.role is not Role.LIMIT or wish.what in REMOVABLE for wish in wishes):
        return ()
    met = tuple(
        replace(wish, outcome=None, reason="")
        for wish in last
        if wish.what in (*CHANGES, "look") and wish.role is Role.ASK and wish.outcome is Outcome.DONE
    )
    return (*met, *wishes) if met else ()


def count_turns(command: Wish) -> int:
    """How many turns to undo or redo: "undo the last two", "undo both"."""
    quantity = command.quantity
    if quantity is not None and quantity.unit is Unit.NONE:
        return max(int(quantity.value), 1)
    return 2 if "both" in map(str.lower, command.words) else 1


def find_turn(command: Wish) -> int | None:
    """The number of the turn that is to be undone, where it is not the last: "forget the first change"."""
    named = [_ORDINALS[word] for word in map(str.lower, command.words) if word in _ORDINALS]
    is_one = command.quantity is None or command.quantity.value == 1  # "the first one"
    return named[0] if named and is_one else None


def take_out_turn(recipe: Recipe, before: Recipe, after: Recipe) -> Recipe:
    """A recipe without what an earlier turn changed; what later turns changed again stays."""
    steps = [*recipe.steps]
    for old, new in match_steps(before.steps, after.steps):
        if old != new and new in steps:
            at = steps.index(new)
            steps[at : at + 1] = [] if old is None else [old]
    return recipe.model_copy(update={"steps": tuple(steps)})


def restate_amount(wishes: Sequence[Wish], last: Sequence[Wish]) -> tuple[Wish, ...]:
    """The last wishes with another number: "make it a full stop", "too much, half a stop".

    None where the number does not stand alone, or is about something else.
    """
    numbers = [wish for wish in wishes if wish.quantity is not None]
    if len(numbers) != 1 or any(wish.what not in _RESTATING for wish in wishes if wish is not numbers[0]):
        return ()
    (new,) = numbers
    quantity = new.quantity
    assert quantity is not None
    alone = quantity.start <= new.start < quantity.end and new.verb is not Verb.ADD
    vague = _is_no_exposure(new)
    bare = alone or vague or new.verb in (Verb.SET, Verb.REPLACE)
    asked = [wish for wish in last if wish.role is Role.ASK]
    same = [wish for wish in asked if vague or (wish.what, wish.where) == (new.what, new.where)]
    if alone and not same and new.where == WHOLE:  # "half a stop", after "the sky a stop darker"
        same = [wish for wish in asked if wish.what == new.what]
    if not bare or len(same) != 1 or same[0].outcome is Outcome.DECLINED:
        return ()
    if same[0].quantity is None and (vague or not alone):
        return ()
    restated = restate(same[0], quantity)
    if any(_contradicts(wish, same[0], quantity) for wish in wishes):
        return ()
    return tuple(
        replace(restated if wish is same[0] else wish, words=new.words, outcome=None, reason="")
        for wish in last
    )


def _subtract(wish: Wish, command: Wish) -> Quantity | None:
    """What is left of a wish's number after "lower it by .25"; None where nothing is to be taken off it.

    Where more is taken off than there is, the number changes its sign.
    """
    last, less, kinds = wish.quantity, command.quantity, (Unit.NONE, Unit.STOPS)
    takes_off = command.what == "less" and command.verb in (Verb.CHANGE, Verb.ADD)
    if not takes_off or last is None or less is None or {last.unit, less.unit} - {*kinds}:
        return None
    left = round(last.value - less.value, 6)
    return replace(last, value=abs(left), sign=-get_sign(wish) if left < 0 else last.sign)


def _contradicts(command: Wish, last: Wish, quantity: Quantity) -> bool:
    """Whether a number would do less of the last change beside "more", or more beside "less"."""
    if command.what not in ("more", "less") or last.quantity is None or last.quantity.unit != quantity.unit:
        return False
    return (quantity.value > last.quantity.value) is not (command.what == "more")


def _is_no_exposure(wish: Wish) -> bool:
    """Whether the number of a wish for light is no exposure: in "make that -50" it is of something else."""
    number = wish.quantity
    is_light = (wish.what, wish.where) == ("lightness", WHOLE)
    return is_light and number is not None and number.unit is Unit.NONE and number.value > MOST_STOPS


def restate(wish: Wish, quantity: Quantity) -> Wish:
    """A wish with another number, which goes the same way unless it has a sign of its own."""
    last = 0 if wish.quantity is None else wish.quantity.sign
    return replace(wish, quantity=replace(quantity, sign=quantity.sign or last))


def _states_amount(wish: Wish, quantity: Quantity) -> bool:
    """Whether a number is an amount of its own, not one of what was done."""
    return quantity.unit not in (Unit.FACTOR, Unit.PERCENT)


def flip_wishes(wishes: Sequence[Wish], words: tuple[str, ...]) -> tuple[Wish, ...]:
    """The opposite of each change that was made, because of other words."""
    opposite = {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}
    return tuple(
        replace(
            wish,
            direction=opposite[wish.direction],
            quantity=_flip_quantity(wish.quantity),
            words=words,
            outcome=None,
            reason="",
        )
        for wish in wishes
        if wish.what in CHANGES and wish.role is Role.ASK and wish.direction in opposite
        if wish.outcome is not Outcome.DECLINED
    )


def _flip_quantity(quantity: Quantity | None) -> Quantity | None:
    """A number of the opposite: "+0.5" for "-0.5", half for twice."""
    if quantity is None:
        return None
    value = 1 / quantity.value if quantity.unit is Unit.FACTOR and quantity.value else quantity.value
    return replace(quantity, value=value, sign=-quantity.sign)


def interpolate_recipes(old: Recipe, new: Recipe, share: float) -> Recipe:
    """Between `old` (share 0) and `new` (share 1), or beyond; steps without effect are left out."""
    steps: list[Step] = []
    for before, after in match_steps(old.steps, new.steps):
        if before is None and after is not None:
            if after.has_strength or share > 0:
                steps.append(after.blend(share))
        elif after is None and before is not None:
            if before.has_strength or share < 1:
                steps.append(before.blend(max(1 - share, 0.0)))
        elif before is not None and after is not None:
            steps.append(_interpolate_step(before, after, share))
    kept = tuple(step for step in steps if not step.is_identity)
    return new.model_copy(update={"steps": kept})


def _interpolate_step(before: Step, after: Step, share: float) -> Step:
    if before == after or not after.has_strength:
        return after
    operation = operations.get_operation(after.operation)
    pairs = zip(operation.canonical(before.parameters), operation.canonical(after.parameters), strict=True)
    values = operation.clip([round(a + share * (b - a), 12) for a, b in pairs])
    return after.model_copy(update={"parameters": values})


def answer_question(wishes: Sequence[Wish], current: Edit, picture: np.ndarray) -> Edit:
    """Answer what was asked about the edit; nothing changes."""
    done = tuple(replace(wish, outcome=Outcome.DONE) for wish in wishes)
    asked = done[0]
    if asked.what in REPLIES:
        reply = REPLIES[asked.what]
    elif not current.recipe.steps:
        reply = _UNEDITED
    elif asked.role is Role.QUESTION:
        reply = _explain_change(asked, current, picture)
    else:
        reply = describe_changes(Recipe(), current.recipe, helpers=current.helpers)
    return replace(current, wishes=done, reply=reply, turn=replace(current.turn, last=current.recipe))


def _explain_change(asked: Wish, current: Edit, picture: np.ndarray) -> str:
    """Which step made the photo so, and the words that led to it."""
    attributes = get_attributes(asked.what, asked.direction, asked.where, asked.hue)
    if not attributes:
        settings = current.recipe.format_settings()
        return f"{settings[:1].upper()}{settings[1:]}."
    attribute, sign = attributes[0]
    index = ATTRIBUTE_INDEX[attribute]
    effects = []
    for number, step in enumerate(current.recipe.steps):
        without = Recipe(steps=(*current.recipe.steps[:number], *current.recipe.steps[number + 1 :]))
        change = _measure(current.recipe, picture)[index] - _measure(without, picture)[index]
        effects.append((sign * change / JUST_NOTICEABLE[index], number, step))
    effect, _, step = max(effects, key=lambda one: one[:2])
    total = _measure(current.recipe, picture)[index] - _measure(Recipe(), picture)[index]
    if effect < 1 or sign * total < 0:
        return f"No step made it {quote_words([asked.head or asked.words[-1]])}."
    words = current.because.get(step.operation, ())
    settings = step.format_settings()
    because = f", because of {quote_words(words)}" if words else ""
    return f"{settings[:1].upper()}{settings[1:]} did that{because}."


def _measure(recipe: Recipe, picture: np.ndarray) -> np.ndarray:
    return np.asarray(measure_attributes(apply_to_thumbnail(recipe, picture)))

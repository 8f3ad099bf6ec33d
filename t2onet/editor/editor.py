"""One photo, opened once, and any number of requests and follow-ups about it.

A request goes through `language.read`, `realize` and `check` (see answer.py); what is said about the edit
itself ("undo", "a bit less") is in conversation.py. Full-size pictures are rendered on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ..errors import PlaceError, RequestError
from ..executor import PhotoLike
from ..image import open_image
from ..language.reader import Reader, Reading, read
from ..language.wishes import CHANGES, COMMANDS, GEOMETRY, WHOLE, Direction, Outcome, Role, Verb, Wish
from ..looks import looks
from ..options import DEFAULT_MODE, DEFAULT_READER, EXPERT, LITERAL, MODES, Mode, ReaderName, check_reader
from ..places import OpenedPhoto
from ..recipe import Mask, Recipe, Step
from ..recipe.where import Where, parse_where
from .answer import answer_reading
from .conversation import (
    REPLIES,
    answer_question,
    calm_photo,
    count_turns,
    cure_complaints,
    find_turn,
    flip_wishes,
    insists_on,
    join_limits,
    keep_parts,
    repeat_wishes,
    replaces_last,
    restate_amount,
    scale_part,
    scale_recipe,
    take_out_turn,
)
from .edits import Edit, EditTurn, resolve_mode
from .expert import make_retouch
from .explain import (
    AS_OPENED,
    NO_OPPOSITE,
    NOTHING_YET,
    describe_changes,
    describe_decline,
    find_look,
    reply_to,
)
from .parts import PhotoParts, get_text, is_placeable, take_for_auto
from .policy import (
    THUMBNAIL_SIDE,
    Policy,
    apply_to_thumbnail,
    check_mode,
    find_visible_steps,
    make_thumbnail,
)
from .styles import Style, load_style_file

VARIANT_SPREAD = 0.35
"""Standard deviation of the random factor on the strength of each step of a variant."""
MAX_HISTORY = 100
"""The most edits that can be undone."""
_CANDIDATES_PER_VARIANT = 8
"""Candidates drawn for each variant."""


def edit(
    photo: PhotoLike,
    request: str,
    *,
    mode: Mode = DEFAULT_MODE,
    strength: float = 1.0,
    policy: Policy | None = None,
    reader: Reader | ReaderName = DEFAULT_READER,
    where: Where | None = None,
    mask: Mask | None = None,
    style: Style | str | Path | None = None,
    manner: Mode | None = None,
) -> Edit:
    """Edit a photo (an Image, an array or a file) as a request in words says.

    `mode` is "literal" (what the sentence says and nothing else) or "expert" (also retouch the photo);
    `manner` is its deprecated old name. `strength` 1 is the answer as it is. `policy` is another network that
    answers instead. `reader` reads the request: "default", "free" (which learned from no research data), or
    another. `where` ("sky", "top except reds") or `mask` is the part that requests about the whole are for.
    `style` (a file of `t2o learn`) retouches the photo in that style, in mode expert whatever `mode` says.
    """
    mode = resolve_mode(mode, manner)
    editor = Editor(photo, policy, reader=reader, where=where, mask=mask, style=style)
    return editor.ask(request, mode=mode).at(strength)


class Editor:
    """A photo that is opened once, and requests about it, with undo and redo.

    `reader` is a name or an object, as in `edit`, and may be set between requests. `previous` is the recipe
    of the photo before, for requests such as "like the last one". Requests about the whole photo are met at
    the place `where`: in words, its effect is measured; otherwise, and through a `mask`, amounts are those
    for the whole. A mask also stands for what a request names and nothing finds. A request can have a part of
    its own. With a `style`, every request is in mode expert, whatever `mode` says, and the retouch is in that
    style.
    """

    def __init__(
        self,
        photo: PhotoLike,
        policy: Policy | None = None,
        *,
        reader: Reader | ReaderName = DEFAULT_READER,
        previous: Recipe | None = None,
        where: Where | None = None,
        mask: Mask | None = None,
        style: Style | str | Path | None = None,
    ) -> None:
        if not isinstance(reader, Reader):
            check_reader(reader)
        if policy is not None and style is not None:
            raise RequestError("a style and another network were given, and both retouch; give one of them")
        if policy is not None and (where or mask):
            raise RequestError("another network edits whole photos; leave out where and mask, or the network")
        self._where, self._part = _check_part(where, mask)
        self.photo = open_image(photo)
        self.policy = policy
        self.previous = previous
        self.style = style if style is None or isinstance(style, Style) else load_style_file(style)
        self.reader = reader
        self._past: list[Edit] = []
        self._future: list[Edit] = []

    @cached_property
    def picture(self) -> np.ndarray:
        """(3, side, side) float32: the photo in sRGB, squeezed to a square."""
        return make_thumbnail(self.photo, THUMBNAIL_SIDE if self.policy is None else self.policy.side)

    @property
    def current(self) -> Edit | None:
        """The current edit; None is the photo as it was opened."""
        return self._past[-1] if self._past else None

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    @property
    def history(self) -> list[Edit]:
        """All edits that undo and redo lead to, and the current one."""
        return [*self._past, *reversed(self._future)]

    def ask(
        self,
        request: str,
        *,
        mode: Mode = DEFAULT_MODE,
        where: Where | None = None,
        mask: Mask | None = None,
        manner: Mode | None = None,
    ) -> Edit:
        """Answer a request about the photo as it was opened; the history changes only if it is answered."""
        mode = resolve_mode(mode, manner)
        edit = self._at_part(where, mask)._answer(request, mode, self._make_untouched_edit(mode))
        return self._record(edit) if edit.answered and (edit.recipe.steps or not edit.command) else edit

    def follow(
        self,
        request: str,
        *,
        mode: Mode = DEFAULT_MODE,
        where: Where | None = None,
        mask: Mask | None = None,
        manner: Mode | None = None,
    ) -> Edit:
        """Answer a follow-up about the current edit: only what it mentions changes.

        "More", "too much" and the like scale the last change, "undo that" and "start over" go back, and
        questions are answered. Wishes are met on the photo as it looks by now; steps of the same operation
        become one. A follow-up that is declined or changes nothing leaves the history unchanged.
        """
        mode = resolve_mode(mode, manner)
        current = self.current or self._make_untouched_edit(mode)
        asked = self._at_part(where, mask)
        edit = asked._answer(request, mode, replace(current, mode=mode), conversation=True)
        now = self.current or self._make_untouched_edit(mode)
        return self._record(edit) if (edit.recipe, edit.aside) != (now.recipe, now.aside) else edit

    def put(self, recipe: Recipe, *, aside: Sequence[tuple[int, Step]] = (), new: bool = False) -> Edit:
        """Set the recipe, as adjusted by hand; `aside` are steps that were switched off.

        With `new` it comes from elsewhere, such as a look, and no words led to its steps.
        """
        edit = self.current or self._make_untouched_edit(DEFAULT_MODE)
        turn = EditTurn(edit.recipe, edit.recipe)
        if new:
            edit = replace(edit, request="", recipe=Recipe(), because={})
        return self._record(replace(edit.with_recipe(recipe, turn), aside=tuple(aside)))

    def resume(
        self,
        recipe: Recipe,
        *,
        request: str = "",
        mode: Mode = DEFAULT_MODE,
        because: Mapping[str, tuple[str, ...]] | None = None,
        helpers: tuple[str, ...] = (),
        aside: Sequence[tuple[int, Step]] = (),
    ) -> Edit:
        """Continue from an edit that was made earlier, such as one that a file has; it can be undone."""
        edit = replace(self._make_untouched_edit(mode), request=request, recipe=recipe, helpers=helpers)
        return self._record(replace(edit, because=dict(because or {}), aside=tuple(aside)))

    @contextmanager
    def restore_on_error(self) -> Iterator[None]:
        """Around changes that may fail: then the history is as it was before."""
        past, future = list(self._past), list(self._future)
        try:
            yield
        except BaseException:
            self._past[:], self._future[:] = past, future
            raise

    def adjust(self, operation: str, values: object) -> Edit:
        """Set an operation by hand: its step is changed, or added at its usual position."""
        recipe = self.current.recipe if self.current else Recipe()
        return self.put(recipe.adjust(operation, values))

    def at(self, strength: float) -> Edit:
        """Set the strength of the current edit; a second call starts from the same edit as the first."""
        edit = self.current or self._make_untouched_edit(DEFAULT_MODE)
        again = edit.turn.strength != 1
        full = edit.turn.last if again else edit.recipe
        turn = EditTurn(edit.turn.since, full, strength=strength, wishes=edit.turn.wishes)
        after = edit.with_recipe(full.blend(strength), turn)
        if again:
            self._past.pop()
        if strength == 1:
            return self.current or self._make_untouched_edit(DEFAULT_MODE)
        return self._record(after)

    def undo(self) -> Edit | None:
        """Go back to the previous edit; None is the photo as it was opened."""
        if self._past:
            self._future.append(self._past.pop())
        return self.current

    def redo(self) -> Edit | None:
        """Go forward to the edit that was undone last."""
        if self._future:
            self._past.append(self._future.pop())
        return self.current

    def variants(
        self,
        request: str,
        count: int,
        *,
        mode: Mode = DEFAULT_MODE,
        seed: int = 0,
        where: Where | None = None,
        mask: Mask | None = None,
        manner: Mode | None = None,
    ) -> list[Edit]:
        """The answer and others like it: of many random candidates those that look most different."""
        mode = resolve_mode(mode, manner)
        if count < 1:
            raise RequestError(f"{count} variants were asked for; ask for at least one")
        edit = self._at_part(where, mask)._answer(request, mode, self._make_untouched_edit(mode))
        if not edit.recipe.steps:
            return [edit]
        rng = np.random.default_rng(seed)
        drawn = (_vary_recipe(edit.recipe, rng) for _ in range(_CANDIDATES_PER_VARIANT * (count - 1)))
        candidates = [edit.recipe, *drawn]
        pictures = [apply_to_thumbnail(recipe, self.picture) for recipe in candidates]
        return [replace(edit, recipe=candidates[number]) for number in _pick_farthest(pictures, count)]

    def _at_part(self, where: Where | None, mask: Mask | None) -> Editor:
        """This editor for a request about a part of the photo; both have the same history."""
        if where is None and mask is None:
            return self
        other = copy(self)
        other._where, other._part = _check_part(where, mask)
        return other

    def _record(self, edit: Edit) -> Edit:
        """Add an edit to the history."""
        self._past = [*self._past, edit][-MAX_HISTORY:]
        self._future.clear()
        return edit

    def _make_untouched_edit(self, mode: Mode) -> Edit:
        """The photo as it was opened, as an edit."""
        return Edit(self.photo, "", mode, Recipe())

    def _answer(self, request: str, mode: Mode, current: Edit, *, conversation: bool = False) -> Edit:
        """The edit after a request; in a conversation, it may be about `current` and move in the history."""
        if mode not in MODES:
            raise RequestError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")
        if self.style is not None:
            mode, current = EXPERT, replace(current, mode=EXPERT)
        _check_request(request)
        if self.policy is not None:
            return self._answer_by_policy(self.policy, request, mode, current)
        reading = read(request, self.reader)
        current = replace(current, request=request, wishes=(), reply="")
        if conversation and (restated := restate_amount(reading.wishes, current.turn.wishes)):
            return self._meet_instead(restated, current.turn.since, reading.wishes[0], current)
        commands = [wish for wish in reading.wishes if wish.what in COMMANDS and wish.role is Role.ASK]
        if commands:
            others = tuple(wish for wish in reading.wishes if wish not in commands)
            return self._obey_and_meet(commands[0], others, current, conversation)
        asks = any(wish.role is Role.ASK for wish in reading.wishes)
        if not asks and any(wish.role is Role.QUESTION for wish in reading.wishes):
            cured = cure_complaints(reading.wishes, request)
            if current.recipe.steps or cured == reading.wishes:
                return answer_question(reading.wishes, current, self.picture)
            reading = replace(reading, wishes=cured)
        return self._follow(reading, current) if conversation else self._meet(reading, current)

    def _follow(self, reading: Reading, current: Edit) -> Edit:
        """Meet wishes that may take the place of the last ones, or limit them."""
        said = current.turn.wishes
        joined = join_limits(reading.wishes, said)
        replaces = any(wish.verb is Verb.REPLACE for wish in reading.wishes)
        if replaces and insists_on(reading.wishes, said):
            more = replace(
                reading.wishes[0], what="more", direction=Direction.NONE, where=WHOLE, verb=Verb.CHANGE
            )
            return self._obey(more, current, conversation=True)
        cancelled = bool(said) and all(wish.verb is Verb.CANCEL for wish in said)
        if not joined and (cancelled or not replaces):
            return self._meet(reading, current)
        back = current.with_recipe(current.turn.since, replace(current.turn, wishes=()))
        after = self._meet(replace(reading, wishes=joined or reading.wishes), back)
        return replace(after, turn=replace(after.turn, last=current.recipe))

    def _meet(self, reading: Reading, current: Edit) -> Edit:
        """Meet wishes about the photo, on top of the recipe so far; none where a place is not found."""
        try:
            return self._meet_in_part(reading, current) if self._part else self._meet_wishes(reading, current)
        except PlaceError as error:
            return _decline(reading.wishes[0], current, str(error))

    def _meet_in_part(self, reading: Reading, current: Edit) -> Edit:
        """Meet wishes through a mask or in a gradient, by steps of their own.

        Where some name a place that nothing finds, the part is that place, and the others are met as usual.
        """
        assert self._part is not None
        parts = self._find_parts()
        pointed = [wish for wish in reading.wishes if is_placeable(wish) and parts.find_obstacle(wish)]
        asks = [wish for wish in reading.wishes if wish.role is Role.ASK]
        usual = [wish for wish in asks if (wish not in pointed if pointed else wish.verb is Verb.CANCEL)]
        inside = [wish for wish in reading.wishes if wish not in usual]
        begin = self._meet_wishes(Reading(reading.request, tuple(usual)), current) if usual else current
        if not inside:
            return begin
        as_whole = tuple(replace(wish, where=WHOLE) if wish in pointed else wish for wish in inside)
        seen = apply_to_thumbnail(begin.recipe, self.picture) if begin.recipe.steps else self.picture
        untouched = replace(begin, recipe=Recipe(), turn=EditTurn(), helpers=())
        found = self._meet_wishes(Reading(reading.request, as_whole), untouched, seen)
        recipe = begin.recipe
        for step in found.recipe.steps:
            recipe = recipe.insert(_restrict_step(step, self._part))
        met = [replace(wish, where=old.where) for wish, old in zip(found.wishes, inside, strict=True)]
        wishes = (*(begin.wishes if usual else ()), *met)
        reply = reply_to(wishes, current.recipe, recipe, found.helpers)
        turn = EditTurn(current.recipe, current.recipe)
        helpers = tuple(dict.fromkeys((*begin.helpers, *found.helpers)))
        return replace(found, recipe=recipe, wishes=wishes, turn=turn, reply=reply, helpers=helpers)

    def _find_parts(self, picture: np.ndarray | None = None) -> PhotoParts:
        return PhotoParts(OpenedPhoto(self.photo), self.picture if picture is None else picture, self._where)

    def _meet_wishes(self, reading: Reading, current: Edit, picture: np.ndarray | None = None) -> Edit:
        """Meet wishes on the photo, or on a `picture` of it that was edited before."""
        picture = self.picture if picture is None else picture
        start = current.recipe
        because = dict(current.because)
        parts = self._find_parts(picture)
        reading = replace(reading, wishes=tuple(map(take_for_auto, reading.wishes)))
        fixed = parts.list_fixed(reading.wishes)
        if current.mode != LITERAL and not start.steps:
            fixed = [self._where]
        for where in fixed:
            start = make_retouch(picture, start, reading.wishes, where, self.style)
        # What the expert does may be what was asked for. A style comes first, whatever is asked, and wishes
        # on top of it; limits are about the photo.
        limited = any(wish.role is Role.LIMIT for wish in reading.wishes)
        size = (self.photo.height, self.photo.width)
        answer = answer_reading(
            reading,
            picture,
            start,
            size=size,
            retouched=bool(fixed) and (self.style is None or limited),
            earlier=current.turn.wishes,
            taken=[wish for edit in (*self._past, current) for wish in edit.turn.wishes if wish.looks],
            because=current.because,
            parts=parts,
        )
        for name, words in answer.reasons.items():
            because[name] = tuple(dict.fromkeys((*because.get(name, ()), *words)))
        turn = EditTurn(current.recipe, current.recipe, wishes=answer.wishes)
        found = _drop_undone_steps(answer.recipe, current.recipe)
        recipe = _name_look(found, start, answer.wishes)
        reply = reply_to(answer.wishes, current.recipe, recipe, answer.helpers, answer.kept)
        helpers = tuple(dict.fromkeys((*current.helpers, *answer.helpers)))
        return replace(
            current,
            recipe=recipe,
            wishes=answer.wishes,
            because=because,
            helpers=tuple(name for name in helpers if name not in because),
            turn=turn,
            reply=reply,
        )

    def _obey_and_meet(
        self, command: Wish, others: tuple[Wish, ...], current: Edit, conversation: bool
    ) -> Edit:
        """Do what was said about the edit, then meet the other wishes on top of that."""
        if not others:
            return self._obey(command, current, conversation)
        is_kept = all(wish.role is Role.LIMIT and _names_effect(wish) for wish in others)
        if is_kept and conversation and current.recipe.steps and command.what in ("undo", "reset"):
            return self._undo_but(command, others, current)
        if command.what == "reverse":  # the others say which way
            done = replace(command, outcome=Outcome.DONE)
            obeyed = replace(current.with_recipe(current.turn.since, current.turn), wishes=(done,))
        else:
            obeyed = self._obey(command, current, conversation)
        said = tuple(_add_reply(wish) for wish in obeyed.wishes)
        after = self._meet(Reading(current.request, others), replace(obeyed, request=current.request))
        before = Recipe() if command.what == "reset" else current.recipe
        reply = reply_to(after.wishes, before, after.recipe)
        turn = replace(after.turn, last=current.recipe)
        return replace(after, wishes=(*after.wishes, *said), turn=turn, reply=reply)

    def _obey(self, command: Wish, current: Edit, conversation: bool) -> Edit:
        """Do what was said about the edit rather than the photo."""
        done = replace(command, outcome=Outcome.DONE)
        if command.what in ("question", *REPLIES):
            return answer_question((done,), current, self.picture)
        if not conversation and command.what != "copy":
            calmer = calm_photo(command)
            return (
                self._meet(Reading(current.request, calmer), current)
                if calmer
                else _decline(command, current, NOTHING_YET)
            )
        if command.what in ("undo", "redo"):
            return self._move(current, done)
        if command.what == "reverse":
            return self._reverse(command, current)
        return self._change_last(command, current)

    def _change_last(self, command: Wish, current: Edit) -> Edit:
        """More, less or something else of what was done."""
        if command.what in ("more", "less") and command.where != WHOLE:
            scaled = scale_part(current.recipe, command, get_text(command.where))
            if scaled is not None:
                return self._put_scaled(scaled, replace(command, outcome=Outcome.DONE), current)
        if again := repeat_wishes(current.turn.wishes, command):
            begin = current.turn.since if replaces_last(command) else current.recipe
            return self._meet_instead(again, begin, command, current)
        return self._replace_recipe(command, current)

    def _put_scaled(self, recipe: Recipe, done: Wish, current: Edit) -> Edit:
        """More or less of what was done at a place."""
        turn = EditTurn(current.recipe, current.recipe)
        reply = describe_changes(current.recipe, recipe, helpers=current.helpers)
        return replace(current.with_recipe(recipe, turn), wishes=(done,), reply=reply)

    def _undo_but(self, command: Wish, kept: tuple[Wish, ...], current: Edit) -> Edit:
        """Undo the last turn, or all, but for what some limits are about."""
        past = self._past[-2:-1] if command.what == "undo" else []
        recipe = keep_parts(past[0].recipe if past else Recipe(), current.recipe, kept)
        if recipe == current.recipe:
            return _decline(command, current, "nothing else was changed")
        reply = describe_changes(recipe, current.recipe, "undone: ", helpers=current.helpers)
        said = (replace(command, outcome=Outcome.DONE), *(replace(one, outcome=Outcome.KEPT) for one in kept))
        turn = EditTurn(recipe, current.recipe)
        return replace(current.with_recipe(recipe, turn), wishes=said, reply=reply)

    def _replace_recipe(self, command: Wish, current: Edit) -> Edit:
        """Copy a recipe, start over, or scale the last change."""
        recipe: Recipe | None
        if command.what == "copy":
            recipe, turn = self.previous, EditTurn(current.recipe, current.recipe)
        elif command.what == "reset":
            recipe, turn = Recipe(), EditTurn(Recipe(), current.recipe)
        else:
            recipe, turn = scale_recipe(current, command)
        if recipe is None or (recipe == current.recipe and command.what != "reset"):
            return _decline(command, current, NOTHING_YET)
        look = find_look(turn.wishes)
        said = describe_changes(current.recipe, recipe, look=look, helpers=current.helpers)
        reply = said if recipe.steps else AS_OPENED
        aside = () if command.what == "reset" else current.aside
        done = replace(command, outcome=Outcome.DONE)
        return replace(current.with_recipe(recipe, turn), wishes=(done,), reply=reply, aside=aside)

    def _reverse(self, command: Wish, current: Edit) -> Edit:
        """Take the last change back and do the opposite."""
        wishes = flip_wishes(current.turn.wishes, command.words)
        if not wishes:
            return _decline(command, current, NO_OPPOSITE if current.recipe.steps else NOTHING_YET)
        return self._meet_instead(wishes, current.turn.since, command, current)

    def _meet_instead(self, wishes: tuple[Wish, ...], begin: Recipe, command: Wish, current: Edit) -> Edit:
        """Meet wishes that a command stands for, on top of a recipe."""
        undone = begin != current.recipe
        back = current.with_recipe(begin, replace(current.turn, wishes=()) if undone else current.turn)
        after = self._meet(Reading(current.request, wishes), back)
        if after.recipe == back.recipe:
            return _decline(command, current, after.wishes[0].reason)
        done = replace(command, outcome=Outcome.DONE)
        return replace(after, wishes=(*after.wishes, done), turn=replace(after.turn, last=current.recipe))

    def _move(self, current: Edit, wish: Wish) -> Edit:
        """Undo or redo, as a follow-up to an edit."""
        if not (self._past if wish.what == "undo" else self._future):
            return _decline(wish, current, NOTHING_YET)
        number = find_turn(wish) if wish.what == "undo" else None
        if number is not None and number >= len(self._past):
            count = len(self._past)
            only = "is only 1 change" if count == 1 else f"are only {count} changes"
            return _decline(wish, current, f"there {only} to undo")
        if number is not None and number < len(self._past) - 1:
            return self._take_out(number, wish, current)
        found = current
        for _ in range(min(count_turns(wish), len(self.history) + 1)):
            one = self.undo() if wish.what == "undo" else self.redo()
            found = one or self._make_untouched_edit(current.mode)
        target, helpers = found, (*current.helpers, *found.helpers)
        if wish.what == "redo":
            reply = describe_changes(current.recipe, target.recipe, "done again: ", helpers=helpers)
        elif current.recipe.steps:
            reply = describe_changes(target.recipe, current.recipe, "undone: ", helpers=helpers)
        else:
            reply = describe_changes(current.recipe, target.recipe, "as before: ", helpers=helpers)
        if not target.recipe.steps:
            reply = f"{reply} {AS_OPENED}"
        turn = replace(target.turn, last=current.recipe)
        return replace(target, turn=turn, wishes=(wish,), reply=reply, request=current.request)

    def _take_out(self, number: int, command: Wish, current: Edit) -> Edit:
        """Undo one turn of several, and keep what the others did."""
        before = self._past[number - 1].recipe if number else Recipe()
        recipe = take_out_turn(current.recipe, before, self._past[number].recipe)
        reply = describe_changes(recipe, current.recipe, "undone: ", helpers=current.helpers)
        turn = EditTurn(current.recipe, current.recipe)
        return replace(current.with_recipe(recipe, turn), wishes=(command,), reply=reply)

    def _answer_by_policy(self, policy: Policy, request: str, mode: Mode, current: Edit) -> Edit:
        """Ask another network; it has neither wishes nor a conversation, and adds its steps."""
        check_mode(policy, mode)
        picture = apply_to_thumbnail(current.recipe, self.picture) if current.recipe.steps else self.picture
        answer = policy.answer(picture, request, mode)
        turn = EditTurn(current.recipe, current.recipe)
        visible = find_visible_steps(answer.steps, picture)
        recipe = current.recipe.compose(
            Recipe.from_steps(_round_step(answer.steps[number]) for number in visible)
        )
        wishes = (Wish("auto", words=answer.words, outcome=Outcome.DONE),)
        reply = reply_to(wishes, current.recipe, recipe)
        return replace(current, request=request, recipe=recipe, wishes=wishes, turn=turn, reply=reply)


def _names_effect(wish: Wish) -> bool:
    """Whether a limit names what steps did: "but keep the contrast", and not "but not too dark"."""
    is_named = wish.what in CHANGES and wish.direction in (Direction.FIX, Direction.NONE)
    return is_named or wish.what in GEOMETRY or bool(wish.looks)


def _decline(command: Wish, current: Edit, reason: str) -> Edit:
    """An edit that stays as it is, and why."""
    wish = replace(command, outcome=Outcome.DECLINED, reason=reason)
    turn = replace(current.turn, last=current.recipe)
    return replace(current, wishes=(wish,), reply=describe_decline(reason), turn=turn)


def _add_reply(wish: Wish) -> Wish:
    """A command that was obeyed beside other wishes, with what there is to say about it."""
    reply = REPLIES.get(wish.what, "")
    return replace(wish, reason=f"{reply[:1].lower()}{reply[1:-1]}") if reply else wish


def _check_part(where: Where | None, mask: Mask | None) -> tuple[str | None, Mask | Where | None]:
    """The part that requests are for: a place in words, or a mask, gradient or the like.

    An empty mask is refused, and one beside a place.
    """
    if mask is not None and not mask.extent():
        raise RequestError("the mask is black everywhere, so nothing would be edited; paint the part white")
    if where is None:
        return None, mask
    if mask is not None:
        raise RequestError("a place and a mask were given; give one of them")
    place = parse_where(where)
    return (place, None) if isinstance(place, str) else (None, place)


def _restrict_step(step: Step, part: Mask | Where) -> Step:
    """A step in a part of the photo, unless it has a place or moves the frame."""
    if step.is_local or step.is_geometry:
        return step
    return step.model_copy(update={"mask" if isinstance(part, Mask) else "where": part})


def _drop_undone_steps(recipe: Recipe, before: Recipe) -> Recipe:
    """The recipe without steps that do nothing any more; those that did nothing before stay."""
    steps = tuple(step for step in recipe.steps if not step.is_identity or step in before.steps)
    return recipe.model_copy(update={"steps": steps})


def _name_look(recipe: Recipe, start: Recipe, wishes: Sequence[Wish]) -> Recipe:
    """The recipe with the name of the look that alone led to it; a look that is changed loses its name."""
    if not start.steps:
        name = find_look(wishes)
    elif start.name in looks() and recipe.steps != start.steps:
        name = ""
    else:
        return recipe
    return recipe.model_copy(update={"name": name}) if name != recipe.name else recipe


def _check_request(request: str) -> str:
    if not isinstance(request, str):
        raise RequestError(f"a request is a sentence, and {type(request).__name__!r} was given")
    if not any(character.isalnum() for character in request):
        raise RequestError("the request has no words; say what you want, such as 'a bit brighter'")
    return request


def _round_step(step: Step) -> tuple[str, tuple[float, ...]]:
    """A policy's step with four decimals, clipped to the declared ranges."""
    return step.operation, step.declaration.clip([round(value, 4) for value in step.parameters])  # type: ignore[union-attr]


def _vary_recipe(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """Each step weaker or stronger by its own random factor."""
    steps = [step.blend(float(np.clip(rng.normal(1.0, VARIANT_SPREAD), 0.3, 1.9))) for step in recipe.steps]
    return recipe.model_copy(update={"steps": tuple(steps)})


def _pick_farthest(pictures: Sequence[np.ndarray], count: int) -> list[int]:
    """The first picture, then always the one farthest from all chosen before."""
    chosen = [0]
    nearest = np.full(len(pictures), np.inf)
    while len(chosen) < min(count, len(pictures)):
        nearest = np.minimum(nearest, [np.abs(picture - pictures[chosen[-1]]).mean() for picture in pictures])
        chosen.append(int(np.argmax(nearest)))
    return chosen

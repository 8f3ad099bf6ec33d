"""Requests in words: asked and followed up, or answered in several ways to choose from."""

from __future__ import annotations

from fastapi import APIRouter

from ...editor import Edit
from ..darkroom import Chosen, Darkroom, Room
from ..errors import too_large
from ..recipes import data, told
from ..schemas import Say, Told, Variant, Variants, WantVariants
from .photos import state

router = APIRouter(prefix="/sessions/{session}/photos/{photo}", tags=["requests"])


@router.post("/requests")
def say(asked: Say, chosen: Chosen, room: Room) -> Told:
    """Say what you want, or what you think of the edit there is.

    What cannot be done is answered with `answered` false and an explanation, and changes nothing.
    """
    sentence = checked_request(asked.request, room)
    with room.working(), chosen.changing(asked.revision) as editor:
        ask = editor.ask if asked.fresh else editor.follow
        edit = ask(sentence, mode=asked.mode)

    return Told(answered=edit.answered, verdict=edit.verdict, answer=edit.explain(), state=state(chosen))


@router.post("/variants")
def variants(asked: WantVariants, chosen: Chosen, room: Room) -> Variants:
    """Several answers to a request about the photo as it was opened; the first is the plain one.

    Nothing changes: put the recipe that you choose.
    """
    sentence = checked_request(asked.request, room)
    with room.working():
        found = chosen.editor.variants(sentence, asked.count, mode=asked.mode, seed=asked.seed)
    first = found[0]
    shown = [_variant(one) for one in found] if first.answered else []
    return Variants(answered=first.answered, verdict=first.verdict, answer=first.explain(), variants=shown)


def _variant(edit: Edit) -> Variant:
    return Variant(
        recipe=data(edit.recipe),
        description=edit.recipe.describe(),
        steps=told(edit.recipe.steps, edit.reasons),
    )


def checked_request(sentence: str, room: Darkroom) -> str:
    most = room.settings.request_characters
    if len(sentence) > most:
        raise too_large(f"a request has at most {most} characters here; say it shorter")
    return sentence

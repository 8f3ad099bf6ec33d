"""Routes: the named looks of the package, and those that users saved."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from ..looks import looks
from .schemas import LookResponse, SaveLookRequest, parse_recipe, to_recipe_json
from .sessions import DarkroomDep

look_router = APIRouter(prefix="/looks", tags=["looks"])
OWN_FAMILY = "yours"


@look_router.get("")
def list_looks(darkroom: DarkroomDep) -> list[LookResponse]:
    """The named looks, whose recipes can be put on a photo; those that users saved come first."""
    named = [
        LookResponse(
            name=look.name,
            family=look.family,
            description=look.description,
            recipe=to_recipe_json(look.recipe),
        )
        for look in looks().values()
    ]
    own = [
        LookResponse(
            name=look.name,
            family=OWN_FAMILY,
            description=look.format_settings(),
            recipe=to_recipe_json(look),
            own=True,
        )
        for look in darkroom.own_looks.list_all()
    ]
    return [*own, *named]


@look_router.post("", status_code=201)
def save_look(body: SaveLookRequest, darkroom: DarkroomDep) -> LookResponse:
    """Save a recipe under a name. Masks, crops and turns belong to one photo and are left out."""
    with darkroom.hold_decoding_slot(body.recipe):
        recipe = parse_recipe(body.recipe, darkroom.settings)
    look, notes = darkroom.own_looks.save(body.name, recipe)
    return LookResponse(
        name=look.name,
        family=OWN_FAMILY,
        description=look.format_settings(),
        recipe=to_recipe_json(look),
        own=True,
        notes=notes,
    )


@look_router.delete("/{name}", status_code=204)
def remove_look(name: Annotated[str, Path(max_length=200)], darkroom: DarkroomDep) -> None:
    """Remove a look that was saved; those of the package stay."""
    darkroom.own_looks.remove(name)

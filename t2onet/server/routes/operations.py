"""What the page needs to know before there is a photo: operations for sliders and curves, and limits."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from ... import __version__, operations
from ..darkroom import Room
from ..schemas import About, Operation, Parameter

router = APIRouter(tags=["operations"])
_PARAMETER = tuple(Parameter.model_fields)


@router.get("/about")
async def about(room: Room) -> About:
    """The version, and what is allowed; answered even while all threads are busy."""
    numbers = {name: value for name, value in asdict(room.settings).items() if isinstance(value, int | float)}
    return About(name="t2onet", version=__version__, limits=numbers)


@router.get("/operations")
def list_operations() -> list[Operation]:
    """The declarations that sliders and curve editors are made from, repairs last."""
    found = [
        Operation(
            name=one.name,
            help=one.help,
            parameters=[Parameter(**{key: getattr(p, key) for key in _PARAMETER}) for p in one.parameters],
            repair=False,
        )
        for one in operations.operations().values()
    ]
    mending = operations.repairs().values()
    return found + [Operation(name=one.name, help=one.help, parameters=[], repair=True) for one in mending]

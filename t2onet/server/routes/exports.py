"""Results to keep: the photo at full resolution, the recipe, or a colour table for another tool."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import FileResponse

from ..darkroom import Chosen, Room, Visit
from ..errors import not_found
from ..recipes import checked
from ..results import Result, made
from ..schemas import Export, Exported, Name

router = APIRouter(prefix="/sessions/{session}", tags=["exports"])


@router.post("/photos/{photo}/exports", status_code=201)
def export(asked: Export, chosen: Chosen, visit: Visit, room: Room) -> Exported:
    """Make a file of the edit that stands, or of the recipe that is given; fetch it from `url`.

    A photo that no step changes comes out byte for byte, unless another format or quality is asked for.
    """
    with room.reading(asked.recipe):
        recipe = chosen.recipe if asked.recipe is None else checked(asked.recipe, room.settings)
    with room.working():
        result = made(visit, chosen, recipe, asked)
    return Exported(
        result=result.id,
        name=result.name,
        bytes=result.bytes,
        notes=list(result.notes),
        url=f"/api/v1/sessions/{visit.id}/results/{result.id}",
    )


@router.get("/results/{result}", response_class=FileResponse)
def fetch(result: Name, visit: Visit) -> FileResponse:
    """The file."""
    with visit.lock:
        found = visit.results.get(result)
    return sent(found)


def sent(result: Result | None) -> FileResponse:
    """As a download under its own name, whatever is in it."""
    if result is None or not result.path.is_file():
        raise not_found("result")
    return FileResponse(result.path, media_type="application/octet-stream", filename=result.name)

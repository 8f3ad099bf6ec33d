"""Sessions: begin one, see what is in it, end it."""

from __future__ import annotations

from fastapi import APIRouter

from ..darkroom import Room, Visit
from ..schemas import PhotoListed, SessionState
from ..sessions import Session

router = APIRouter(tags=["sessions"])


@router.post("/sessions", status_code=201)
def begin(room: Room) -> SessionState:
    """A new session. Its name is the key to it: whoever has it sees the photos."""
    return _state(room.sessions.create())


@router.get("/sessions/{session}")
def look(visit: Visit) -> SessionState:
    """The photos and batches of a session."""
    return _state(visit)


@router.delete("/sessions/{session}", status_code=204)
def end(visit: Visit, room: Room) -> None:
    """Forget a session, and remove its files."""
    room.sessions.close(visit.id)


def _state(session: Session) -> SessionState:
    with session.lock:
        photos = [
            PhotoListed(photo=one.id, name=one.name, opened=one.facts is not None, revision=one.revision)
            for one in session.photos.values()
        ]
        return SessionState(
            session=session.id,
            idle_minutes=session.settings.idle_minutes,
            photos=photos,
            batches=list(session.batches),
        )

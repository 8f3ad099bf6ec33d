"""The annotation study from an annotator's side: two pictures, and the request that leads to the second.

Everybody begins with the same few pairs and waits until the owner has read what they wrote there.
"""

from __future__ import annotations

import time
import unicodedata
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .models import (
    CollectedRequest,
    Conflict,
    NotFound,
    Page,
    PageKind,
    Person,
    PersonState,
    Study,
    StudyKind,
    StudySample,
)
from .people import get_active_person
from .rating import find_open_page, list_open_samples, seed_random
from .storage import StudyDatabase

REQUEST_LENGTH = (3, 500)
"""Characters of a request."""


@dataclass(frozen=True)
class AnnotationPage:
    """What an annotator sees; the pictures are the page's input and target."""

    page: str
    qualifying: bool
    done: int
    left: int


def next_annotation_page(store: StudyDatabase, token: str) -> AnnotationPage | None:
    """The page someone left open, or a new one; None where they have to wait, or nothing is left for them."""
    with store.writing() as session:
        person = get_active_person(session, token)
        study = session.get_one(Study, person.study_id, with_for_update=True)
        if study.kind != StudyKind.ANNOTATION:
            raise NotFound("this link belongs to a study that collects no requests")
        left = _list_available_samples(session, study, person)
        page = find_open_page(session, person)
        if page is None:
            if not left:
                return None
            page = _assign_page(session, study, person, left)
        else:
            left = [page.sample_id, *left]
        return AnnotationPage(
            page.token, page.kind == PageKind.QUALIFICATION, _count_answered(session, person), len(left)
        )


def save_request(store: StudyDatabase, token: str, page_token: str, text: str) -> None:
    """The request for a page; once for all, though the same may be said again."""
    request = clean_request(text)
    with store.writing() as session:
        person = get_active_person(session, token)
        wanted = select(Page).where(Page.token == page_token, Page.person_id == person.id)
        page = session.scalars(wanted.with_for_update()).first()
        if page is None or page.ratings:
            raise NotFound("this page is not one of yours; open your link again")
        if page.answered is not None:
            if (
                session.scalars(
                    select(CollectedRequest.text).where(CollectedRequest.page_id == page.id)
                ).first()
                != request
            ):
                raise Conflict("this page was answered already, and its request stays as it was")
            return
        session.add(CollectedRequest(page_id=page.id, text=request))
        page.answered = time.time()
        session.flush()
        if person.state == PersonState.QUALIFYING and not _list_available_samples(
            session, session.get_one(Study, person.study_id), person
        ):
            person.state = PersonState.WAITING


def clean_request(text: str) -> str:
    """In one line; refused where it can be no request."""
    kept = to_single_line(text)
    low, high = REQUEST_LENGTH
    if not low <= len(kept) <= high or not any(c.isalpha() for c in kept):
        raise StudyError(f"a request is a sentence of {low} to {high} characters; this one has {len(kept)}")
    return kept


def to_single_line(text: str) -> str:
    """Without control characters, and with single blanks."""
    shown = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    return " ".join(shown.split())


def _count_answered(session: Session, person: Person) -> int:
    wanted = select(func.count()).where(Page.person_id == person.id, Page.answered.is_not(None))
    return session.scalar(wanted) or 0


def _list_available_samples(session: Session, study: Study, person: Person) -> list[int]:
    """Samples that can be given to someone now, by number."""
    if person.state == PersonState.ACCEPTED:
        return list_open_samples(session, study, person, study.settings["requests"])
    if person.state == PersonState.WAITING:
        return []
    had = select(Page.sample_id).where(Page.person_id == person.id)
    wanted = select(StudySample.id).where(StudySample.study_id == study.id, StudySample.qualifying.is_(True))
    return list(session.scalars(wanted.where(StudySample.id.not_in(had)).order_by(StudySample.id)))


def _assign_page(session: Session, study: Study, person: Person, left: list[int]) -> Page:
    number = session.scalar(select(func.count()).where(Page.person_id == person.id)) or 0
    kind = PageKind.SAMPLE if person.state == PersonState.ACCEPTED else PageKind.QUALIFICATION
    sample = seed_random(study, person, number).choice(left)
    page = Page(person_id=person.id, sample_id=sample, number=number, kind=kind)
    session.add(page)
    session.flush()
    return page

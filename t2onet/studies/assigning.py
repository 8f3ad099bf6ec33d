"""Which sample comes next for whom, so that each ends with as many answers as are wanted."""

from __future__ import annotations

import random
import time

from sqlalchemy import ColumnElement, Subquery, and_, exists, false, func, or_, select
from sqlalchemy.orm import Session

from .models import Page, PageKind, Person, Request, Review, Sample, State, Study

CLAIM = 3600.0
"""Seconds for which a page that was given out keeps its sample from others."""


def dice(study: Study, person: Person, *what: object) -> random.Random:
    """Chance that comes out the same whenever it is asked for the same."""
    return random.Random("/".join(map(str, (study.seed, person.id, *what))))


def unanswered(session: Session, person: Person) -> Page | None:
    """The page that someone left open."""
    wanted = select(Page).where(Page.person_id == person.id, Page.answered.is_(None))
    return session.scalars(wanted.order_by(Page.number)).first()


def covering(study: Study, *, answered: bool = False) -> Subquery:
    """Sample and number of its pages that count: not rejected, by nobody blocked, and answered.

    Pages that someone is just about to answer count as well, unless `answered` is wanted.
    """
    rejected = exists().where(Request.page_id == Page.id, Request.review == Review.REJECTED)
    being = false() if answered else Page.given > time.time() - CLAIM
    alive = or_(Page.answered.is_not(None), being)
    return (
        select(Page.sample_id, func.count().label("pages"))
        .join(Person, Page.person_id == Person.id)
        .where(Person.study_id == study.id, Person.state != State.BLOCKED)
        .where(Page.kind == PageKind.SAMPLE, alive, ~rejected)
        .group_by(Page.sample_id)
        .subquery()
    )


def open_samples(session: Session, study: Study, person: Person, wanted: int) -> list[int]:
    """Samples that lack answers and that this person has not had, by number."""
    covered = covering(study)
    had = select(Page.sample_id).where(Page.person_id == person.id, Page.kind == PageKind.SAMPLE)
    lacking: ColumnElement[bool] = func.coalesce(covered.c.pages, 0) < wanted
    found = (
        select(Sample.id)
        .outerjoin(covered, covered.c.sample_id == Sample.id)
        .where(and_(Sample.study_id == study.id, Sample.qualifying.is_(False), lacking))
        .where(Sample.id.not_in(had))
        .order_by(Sample.id)
    )
    return list(session.scalars(found))

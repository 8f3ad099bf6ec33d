"""Pages of a study from a participant's side: which page comes next, and saving its answers."""

from __future__ import annotations

import random
import time
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Subquery, and_, exists, false, func, or_, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .models import (
    STAR_RANGE,
    TARGET,
    CollectedRequest,
    Conflict,
    NotFound,
    Output,
    Page,
    PageKind,
    Person,
    PersonState,
    Rating,
    RatingSettings,
    Review,
    Study,
    StudyKind,
    StudySample,
)
from .people import get_active_person
from .storage import StudyDatabase

# Rating and annotation from a participant's side: which page comes next, and what is answered.

# Attention checks: pictures whose stars anybody who looks would know.


class CheckPicture(StrEnum):
    """A picture on a check page that no system made for it."""

    WRECKED = "wrecked"
    INPUT = "input"
    TARGET = TARGET


EXPECTED_STARS = {CheckPicture.WRECKED: (1, 2), CheckPicture.INPUT: (1, 3), CheckPicture.TARGET: (3, 5)}
"""Stars that show attention: ruined is bad, untouched is not what was asked for, an expert's is not bad."""

MIN_CHECKS = 3
"""Known pictures that someone has rated before they are judged by them."""


def passes_check(known: str, stars: int) -> bool:
    low, high = EXPECTED_STARS[CheckPicture(known)]
    return low <= stars <= high


# Which sample comes next for whom, so that each ends with as many answers as are wanted.

CLAIM_SECONDS = 3600.0
"""Seconds for which a page that was given out keeps its sample from others."""


def seed_random(study: Study, person: Person, *what: object) -> random.Random:
    """Chance that comes out the same whenever it is asked for the same."""
    return random.Random("/".join(map(str, (study.seed, person.id, *what))))


def find_open_page(session: Session, person: Person) -> Page | None:
    """The page that someone left open."""
    wanted = select(Page).where(Page.person_id == person.id, Page.answered.is_(None))
    return session.scalars(wanted.order_by(Page.number)).first()


def count_pages_by_sample(study: Study, *, answered: bool = False) -> Subquery:
    """Sample and number of its pages that count: not rejected, by nobody blocked, and answered.

    Pages that someone is just about to answer count as well, unless `answered` is wanted.
    """
    rejected = exists().where(CollectedRequest.page_id == Page.id, CollectedRequest.review == Review.REJECTED)
    being = false() if answered else Page.given > time.time() - CLAIM_SECONDS
    alive = or_(Page.answered.is_not(None), being)
    return (
        select(Page.sample_id, func.count().label("pages"))
        .join(Person, Page.person_id == Person.id)
        .where(Person.study_id == study.id, Person.state != PersonState.BLOCKED)
        .where(Page.kind == PageKind.SAMPLE, alive, ~rejected)
        .group_by(Page.sample_id)
        .subquery()
    )


def list_open_samples(session: Session, study: Study, person: Person, wanted: int) -> list[int]:
    """Samples that lack answers and that this person has not had, by number."""
    covered = count_pages_by_sample(study)
    had = select(Page.sample_id).where(Page.person_id == person.id, Page.kind == PageKind.SAMPLE)
    lacking: ColumnElement[bool] = func.coalesce(covered.c.pages, 0) < wanted
    found = (
        select(StudySample.id)
        .outerjoin(covered, covered.c.sample_id == StudySample.id)
        .where(and_(StudySample.study_id == study.id, StudySample.qualifying.is_(False), lacking))
        .where(StudySample.id.not_in(had))
        .order_by(StudySample.id)
    )
    return list(session.scalars(found))


# The rating study from a rater's side: pages of pictures in random order, and stars for each.
#
# A page never says which system made a picture, nor whether it is a check or shown for the second time.

REPEAT_GAP = 5
"""Pages between a sample and its repetition, where there are so many."""


@dataclass(frozen=True)
class RatingPage:
    """What a rater sees; `pictures` are the tokens of the ratings to give, in the order to show them."""

    page: str
    request: str
    pictures: tuple[str, ...]
    done: int
    left: int


def next_rating_page(store: StudyDatabase, token: str) -> RatingPage | None:
    """The page someone left open, or a new one; None where nothing is left for them."""
    with store.writing() as session:
        person = get_active_person(session, token)
        study = session.get_one(Study, person.study_id, with_for_update=True)
        if study.kind != StudyKind.RATING:
            raise NotFound("this link belongs to a study that collects no ratings")
        page = find_open_page(session, person) or _draw_page(session, study, person)
        return None if page is None else _to_rating_page(session, study, person, page)


def save_ratings(store: StudyDatabase, token: str, page_token: str, stars: Mapping[str, int]) -> None:
    """Stars for every picture of a page, by token; once for all, though the same may be said again."""
    with store.writing() as session:
        person = get_active_person(session, token)
        wanted = select(Page).where(Page.token == page_token, Page.person_id == person.id)
        page = session.scalars(wanted.with_for_update()).first()
        if page is None or not page.ratings:
            raise NotFound("this page is not one of yours; open your link again")
        _check_stars(page, stars)
        if page.answered is not None:
            if any(rating.stars != stars[rating.token] for rating in page.ratings):
                raise Conflict("this page was rated already, and its stars stay as they were")
            return
        for rating in page.ratings:
            rating.stars = stars[rating.token]
        page.answered = time.time()


def _check_stars(page: Page, stars: Mapping[str, int]) -> None:
    low, high = STAR_RANGE
    if set(stars) != {rating.token for rating in page.ratings}:
        raise StudyError("give stars to every picture of the page, and to no other")
    if not all(type(given) is int and low <= given <= high for given in stars.values()):
        raise StudyError(f"stars are whole numbers from {low} to {high}")


def _to_rating_page(session: Session, study: Study, person: Person, page: Page) -> RatingPage:
    done = session.scalar(select(func.count()).where(Page.person_id == person.id, Page.answered.is_not(None)))
    settings = RatingSettings(**study.settings)
    left = 1 + len(list_open_samples(session, study, person, settings.ratings))
    if settings.pages is not None:
        left = min(left, settings.pages - (done or 0))
    tokens = tuple(rating.token for rating in page.ratings)
    return RatingPage(page.token, page.sample.request, tokens, done or 0, left)


def _draw_page(session: Session, study: Study, person: Person) -> Page | None:
    """A new page; the study is locked, so nobody else draws at the same time."""
    settings = RatingSettings(**study.settings)
    had = session.scalars(select(Page).where(Page.person_id == person.id).order_by(Page.number)).all()
    fresh = list_open_samples(session, study, person, settings.ratings)
    if not (had or fresh) or (settings.pages is not None and len(had) >= settings.pages):
        return None
    chance = seed_random(study, person, len(had))
    kind = _choose_page_kind(study, person, settings, had, bool(fresh))
    if kind is None:
        return None
    if kind == PageKind.SAMPLE:
        sample_id = chance.choice(fresh)
    elif kind == PageKind.REPEAT:
        sample_id = chance.choice(_list_repeatable(had, REPEAT_GAP) or _list_repeatable(had, 2))
    else:
        sample_id = _choose_check_sample(session, study, had, chance)
    sample = session.get_one(StudySample, sample_id)
    pictures = (
        _make_check_ratings(sample, chance) if kind == PageKind.CHECK else _make_ratings(sample.outputs)
    )
    chance.shuffle(pictures)
    for place, rating in enumerate(pictures):
        rating.place = place
    page = Page(person=person, sample=sample, number=len(had), kind=kind, ratings=pictures)
    session.add(page)
    session.flush()
    return page


def _choose_page_kind(
    study: Study, person: Person, settings: RatingSettings, had: Sequence[Page], fresh: bool
) -> PageKind | None:
    """What the next page is; one check and one repetition are made up for at the end."""
    given = Counter(page.kind for page in had)
    shares = {PageKind.CHECK: settings.checks, PageKind.REPEAT: settings.repeats}
    for kind, share in shares.items():
        if kind == PageKind.REPEAT and not _list_repeatable(had, REPEAT_GAP if fresh else 2):
            continue
        asked = _count_due_pages(study, person, kind, share, len(had)) if fresh else min(1.0, share)
        if given[kind] < asked:
            return kind
    return PageKind.SAMPLE if fresh else None


def _count_due_pages(study: Study, person: Person, kind: PageKind, share: float, number: int) -> int:
    """Pages of a kind that are due by this one: one at a random place in each run of 1 / share pages."""
    if share == 0:
        return 0
    run = round(1 / share)
    places = (
        run * at + seed_random(study, person, kind, at).randrange(run) for at in range(number // run + 1)
    )
    return sum(place <= number for place in places)


def _list_repeatable(had: Sequence[Page], gap: int) -> list[int]:
    """Samples that were rated at least so many pages ago and only once."""
    again = {page.sample_id for page in had if page.kind == PageKind.REPEAT}
    old = [page for page in had if page.kind == PageKind.SAMPLE and page.number <= len(had) - gap]
    return [page.sample_id for page in old if page.sample_id not in again]


def _choose_check_sample(session: Session, study: Study, had: Sequence[Page], chance: random.Random) -> int:
    """Any but the one just seen."""
    every = list(
        session.scalars(
            select(StudySample.id).where(StudySample.study_id == study.id).order_by(StudySample.id)
        )
    )
    others = [number for number in every if not had or number != had[-1].sample_id]
    return chance.choice(others or every)


def _make_ratings(outputs: Sequence[Output]) -> list[Rating]:
    return [Rating(output_id=output.id) for output in outputs]


def _make_check_ratings(sample: StudySample, chance: random.Random) -> list[Rating]:
    """As many pictures as outputs: a wrecked one always, others that are known, then outputs."""
    targets = [output for output in sample.outputs if output.system == TARGET]
    others = [output for output in sample.outputs if output.system != TARGET]
    known = [Rating(known=CheckPicture.INPUT)]
    known += [Rating(known=CheckPicture.TARGET, output_id=output.id) for output in targets]
    chance.shuffle(known)
    filling = _make_ratings(chance.sample(others, len(others)))
    return [Rating(known=CheckPicture.WRECKED), *known, *filling][: len(sample.outputs)]


# The annotation study from an annotator's side: two pictures, and the request that leads to the second.
#
# Everybody begins with the same few pairs and waits until the owner has read what they wrote there.

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

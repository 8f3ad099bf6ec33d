"""Pages of a study from a participant's side: which page comes next, and saving its answers.

A rating page shows pictures in random order; it shows neither which system made a picture nor whether the
page is an attention check or a repetition. An annotation page shows a pair, for which the annotator writes a
request; everybody begins with the same few pairs and waits until the owner has reviewed these requests.

Pictures are shown at screen size in sRGB and without names or metadata, which could reveal the system.
"""

from __future__ import annotations

import io
import random
import time
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Subquery, and_, exists, false, func, or_, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from ..image import open_image
from .database import (
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
    StudyDatabase,
    StudyKind,
    StudySample,
)
from .people import get_active_person


class CheckPicture(StrEnum):
    """A picture of known quality on a check page."""

    WRECKED = "wrecked"
    INPUT = "input"
    TARGET = TARGET


EXPECTED_STARS = {CheckPicture.WRECKED: (1, 2), CheckPicture.INPUT: (1, 3), CheckPicture.TARGET: (3, 5)}
"""Stars that an attentive rater gives to each kind of check picture."""

MIN_CHECKS = 3
"""Check pictures a rater must have rated before their attention is judged."""


def passes_check(known: str, stars: int) -> bool:
    low, high = EXPECTED_STARS[CheckPicture(known)]
    return low <= stars <= high


CLAIM_SECONDS = 3600.0
"""Seconds for which an open page reserves its sample."""


def seed_random(study: Study, person: Person, *purpose: object) -> random.Random:
    """A random generator that is the same for the same study, person and purpose."""
    return random.Random("/".join(map(str, (study.seed, person.id, *purpose))))


def find_open_page(session: Session, person: Person) -> Page | None:
    """The page that the person has not answered yet."""
    query = select(Page).where(Page.person_id == person.id, Page.answered.is_(None))
    return session.scalars(query.order_by(Page.number)).first()


def count_pages_by_sample(study: Study, *, answered: bool = False) -> Subquery:
    """Number of valid pages of each sample: not rejected, and not of a blocked person.

    Pages count if they are answered or, unless `answered`, reserved at the moment.
    """
    rejected = exists().where(CollectedRequest.page_id == Page.id, CollectedRequest.review == Review.REJECTED)
    reserved = false() if answered else Page.given > time.time() - CLAIM_SECONDS
    valid = or_(Page.answered.is_not(None), reserved)
    return (
        select(Page.sample_id, func.count().label("pages"))
        .join(Person, Page.person_id == Person.id)
        .where(Person.study_id == study.id, Person.state != PersonState.BLOCKED)
        .where(Page.kind == PageKind.SAMPLE, valid, ~rejected)
        .group_by(Page.sample_id)
        .subquery()
    )


def list_open_samples(session: Session, study: Study, person: Person, wanted: int) -> list[int]:
    """Ids of samples with fewer than `wanted` answers that this person has not seen."""
    covered = count_pages_by_sample(study)
    seen = select(Page.sample_id).where(Page.person_id == person.id, Page.kind == PageKind.SAMPLE)
    incomplete: ColumnElement[bool] = func.coalesce(covered.c.pages, 0) < wanted
    query = (
        select(StudySample.id)
        .outerjoin(covered, covered.c.sample_id == StudySample.id)
        .where(and_(StudySample.study_id == study.id, StudySample.qualifying.is_(False), incomplete))
        .where(StudySample.id.not_in(seen))
        .order_by(StudySample.id)
    )
    return list(session.scalars(query))


REPEAT_GAP = 5
"""Minimum number of pages between a sample and its repetition, if there are enough."""


@dataclass(frozen=True)
class RatingPage:
    """A page for a rater; `pictures` are the tokens of the ratings to give, in display order."""

    page: str
    request: str
    pictures: tuple[str, ...]
    done: int
    left: int


def next_rating_page(store: StudyDatabase, token: str) -> RatingPage | None:
    """The page the rater has open, or a new one; None if nothing is left for them."""
    with store.writing() as session:
        person = get_active_person(session, token)
        study = session.get_one(Study, person.study_id, with_for_update=True)
        if study.kind != StudyKind.RATING:
            raise NotFound("this link belongs to a study that collects no ratings")
        page = find_open_page(session, person) or _draw_page(session, study, person)
        return None if page is None else _to_rating_page(session, study, person, page)


def save_ratings(store: StudyDatabase, token: str, page_token: str, stars: Mapping[str, int]) -> None:
    """Save the stars of all pictures of a page, by token. They may be sent again, but not changed."""
    with store.writing() as session:
        person = get_active_person(session, token)
        query = select(Page).where(Page.token == page_token, Page.person_id == person.id)
        page = session.scalars(query.with_for_update()).first()
        if page is None or not page.ratings:
            raise NotFound("this page is not yours; open your link again")
        _check_stars(page, stars)
        if page.answered is not None:
            if any(rating.stars != stars[rating.token] for rating in page.ratings):
                raise Conflict("this page was rated already; ratings cannot be changed")
            return
        for rating in page.ratings:
            rating.stars = stars[rating.token]
        page.answered = time.time()


def _check_stars(page: Page, stars: Mapping[str, int]) -> None:
    low, high = STAR_RANGE
    if set(stars) != {rating.token for rating in page.ratings}:
        raise StudyError("rate every picture of the page, and no other")
    if not all(type(value) is int and low <= value <= high for value in stars.values()):
        raise StudyError(f"stars must be whole numbers from {low} to {high}")


def _to_rating_page(session: Session, study: Study, person: Person, page: Page) -> RatingPage:
    done = session.scalar(select(func.count()).where(Page.person_id == person.id, Page.answered.is_not(None)))
    settings = RatingSettings(**study.settings)
    left = 1 + len(list_open_samples(session, study, person, settings.ratings))
    if settings.pages is not None:
        left = min(left, settings.pages - (done or 0))
    tokens = tuple(rating.token for rating in page.ratings)
    return RatingPage(page.token, page.sample.request, tokens, done or 0, left)


def _draw_page(session: Session, study: Study, person: Person) -> Page | None:
    """Create the next page, or None if nothing is left. The caller has locked the study."""
    settings = RatingSettings(**study.settings)
    seen = session.scalars(select(Page).where(Page.person_id == person.id).order_by(Page.number)).all()
    unseen = list_open_samples(session, study, person, settings.ratings)
    if not (seen or unseen) or (settings.pages is not None and len(seen) >= settings.pages):
        return None
    rng = seed_random(study, person, len(seen))
    kind = _choose_page_kind(study, person, settings, seen, bool(unseen))
    if kind is None:
        return None
    if kind == PageKind.SAMPLE:
        sample_id = rng.choice(unseen)
    elif kind == PageKind.REPEAT:
        sample_id = rng.choice(_list_repeatable(seen, REPEAT_GAP) or _list_repeatable(seen, 2))
    else:
        sample_id = _choose_check_sample(session, study, seen, rng)
    sample = session.get_one(StudySample, sample_id)
    pictures = _make_check_ratings(sample, rng) if kind == PageKind.CHECK else _make_ratings(sample.outputs)
    rng.shuffle(pictures)
    for place, rating in enumerate(pictures):
        rating.place = place
    page = Page(person=person, sample=sample, number=len(seen), kind=kind, ratings=pictures)
    session.add(page)
    session.flush()
    return page


def _choose_page_kind(
    study: Study, person: Person, settings: RatingSettings, seen: Sequence[Page], unseen: bool
) -> PageKind | None:
    """Kind of the next page; a missing check or repetition is added at the end."""
    counts = Counter(page.kind for page in seen)
    shares = {PageKind.CHECK: settings.checks, PageKind.REPEAT: settings.repeats}
    for kind, share in shares.items():
        if kind == PageKind.REPEAT and not _list_repeatable(seen, REPEAT_GAP if unseen else 2):
            continue
        due = _count_due_pages(study, person, kind, share, len(seen)) if unseen else min(1.0, share)
        if counts[kind] < due:
            return kind
    return PageKind.SAMPLE if unseen else None


def _count_due_pages(study: Study, person: Person, kind: PageKind, share: float, number: int) -> int:
    """Pages of a kind due by page `number`: one at a random position in each run of 1 / share pages."""
    if share == 0:
        return 0
    run = round(1 / share)
    places = (
        run * at + seed_random(study, person, kind, at).randrange(run) for at in range(number // run + 1)
    )
    return sum(place <= number for place in places)


def _list_repeatable(seen: Sequence[Page], gap: int) -> list[int]:
    """Ids of samples that were rated once, at least `gap` pages ago."""
    repeated = {page.sample_id for page in seen if page.kind == PageKind.REPEAT}
    old = [page for page in seen if page.kind == PageKind.SAMPLE and page.number <= len(seen) - gap]
    return [page.sample_id for page in old if page.sample_id not in repeated]


def _choose_check_sample(session: Session, study: Study, seen: Sequence[Page], rng: random.Random) -> int:
    """A random sample other than the one of the last page."""
    query = select(StudySample.id).where(StudySample.study_id == study.id).order_by(StudySample.id)
    samples = list(session.scalars(query))
    others = [sample for sample in samples if not seen or sample != seen[-1].sample_id]
    return rng.choice(others or samples)


def _make_ratings(outputs: Sequence[Output]) -> list[Rating]:
    return [Rating(output_id=output.id) for output in outputs]


def _make_check_ratings(sample: StudySample, rng: random.Random) -> list[Rating]:
    """As many pictures as there are outputs: a wrecked one, other check pictures, then outputs."""
    targets = [output for output in sample.outputs if output.system == TARGET]
    others = [output for output in sample.outputs if output.system != TARGET]
    known = [Rating(known=CheckPicture.INPUT)]
    known += [Rating(known=CheckPicture.TARGET, output_id=output.id) for output in targets]
    rng.shuffle(known)
    filling = _make_ratings(rng.sample(others, len(others)))
    return [Rating(known=CheckPicture.WRECKED), *known, *filling][: len(sample.outputs)]


REQUEST_LENGTH = (3, 500)
"""Minimum and maximum number of characters of a request."""


@dataclass(frozen=True)
class AnnotationPage:
    """A page for an annotator; its pictures are the page's input and target."""

    page: str
    qualifying: bool
    done: int
    left: int


def next_annotation_page(store: StudyDatabase, token: str) -> AnnotationPage | None:
    """The page the annotator has open, or a new one; None if they have to wait or nothing is left."""
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
    """Save the request of a page. It may be sent again, but not changed."""
    request = clean_request(text)
    with store.writing() as session:
        person = get_active_person(session, token)
        query = select(Page).where(Page.token == page_token, Page.person_id == person.id)
        page = session.scalars(query.with_for_update()).first()
        if page is None or page.ratings:
            raise NotFound("this page is not yours; open your link again")
        if page.answered is not None:
            saved = select(CollectedRequest.text).where(CollectedRequest.page_id == page.id)
            if session.scalars(saved).first() != request:
                raise Conflict("this page was answered already; requests cannot be changed")
            return
        session.add(CollectedRequest(page_id=page.id, text=request))
        page.answered = time.time()
        session.flush()
        if person.state == PersonState.QUALIFYING and not _list_available_samples(
            session, session.get_one(Study, person.study_id), person
        ):
            person.state = PersonState.WAITING


def clean_request(text: str) -> str:
    """The request in one line. Raises StudyError if it is too short, too long, or has no letters."""
    request = to_single_line(text)
    low, high = REQUEST_LENGTH
    if not low <= len(request) <= high or not any(c.isalpha() for c in request):
        raise StudyError(
            f"a request is a sentence of {low} to {high} characters; this one has {len(request)}"
        )
    return request


def to_single_line(text: str) -> str:
    """The text without control characters, and with single blanks."""
    printable = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    return " ".join(printable.split())


def _count_answered(session: Session, person: Person) -> int:
    query = select(func.count()).where(Page.person_id == person.id, Page.answered.is_not(None))
    return session.scalar(query) or 0


def _list_available_samples(session: Session, study: Study, person: Person) -> list[int]:
    """Ids of samples that the person may be given now."""
    if person.state == PersonState.ACCEPTED:
        return list_open_samples(session, study, person, study.settings["requests"])
    if person.state == PersonState.WAITING:
        return []
    seen = select(Page.sample_id).where(Page.person_id == person.id)
    query = select(StudySample.id).where(StudySample.study_id == study.id, StudySample.qualifying.is_(True))
    return list(session.scalars(query.where(StudySample.id.not_in(seen)).order_by(StudySample.id)))


def _assign_page(session: Session, study: Study, person: Person, left: list[int]) -> Page:
    number = session.scalar(select(func.count()).where(Page.person_id == person.id)) or 0
    kind = PageKind.SAMPLE if person.state == PersonState.ACCEPTED else PageKind.QUALIFICATION
    sample = seed_random(study, person, number).choice(left)
    page = Page(person_id=person.id, sample_id=sample, number=number, kind=kind)
    session.add(page)
    session.flush()
    return page


LONG_SIDE = 1600
"""Maximum size in pixels."""
_QUALITY = 95
_CACHED_PICTURES = 128
"""Encoded pictures kept in memory; about half a megabyte each."""
_BLOCKS = 24
"""Squares along the short side of a wrecked picture."""


@dataclass(frozen=True)
class StudyPicture:
    """A picture to show, unchanged or wrecked for an attention check."""

    path: Path
    wrecked: bool = False

    def to_jpeg(self) -> bytes:
        """The picture at screen size as JPEG."""
        return _encode_jpeg(self, self.path.stat().st_mtime_ns)


def find_rated_picture(store: StudyDatabase, token: str) -> StudyPicture:
    """The picture of a rating."""
    with store.reading() as session:
        rating = session.scalars(select(Rating).where(Rating.token == token)).first()
        if rating is None:
            raise NotFound("there is no such picture")
        sample = rating.page.sample
        file = sample.input if rating.output is None else rating.output.path
        return StudyPicture(Path(sample.study.root, file), rating.known == CheckPicture.WRECKED)


def find_page_picture(store: StudyDatabase, token: str, side: Literal["input", "target"]) -> StudyPicture:
    """The input of a page; its target in annotation studies only, since it would help raters."""
    with store.reading() as session:
        page = session.scalars(select(Page).where(Page.token == token)).first()
        if page is None or (side == TARGET and page.sample.study.kind != StudyKind.ANNOTATION):
            raise NotFound("there is no such picture")
        sample = page.sample
        file = sample.input if side == "input" else sample.outputs[0].path
        return StudyPicture(Path(sample.study.root, file))


@lru_cache(_CACHED_PICTURES)
def _encode_jpeg(picture: StudyPicture, _changed: int) -> bytes:
    image = open_image(picture.path)
    short, long = sorted((image.height, image.width))
    small = image.resize(max(short * LONG_SIDE // long, 1)) if long > LONG_SIDE else image
    pixels = small.to_srgb().pixels
    shown = PIL.Image.fromarray(wreck(pixels) if picture.wrecked else pixels)
    stream = io.BytesIO()
    shown.save(stream, "JPEG", quality=_QUALITY, subsampling=0)
    return stream.getvalue()


def wreck(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture in coarse squares of inverted, swapped colours."""
    height, width = pixels.shape[:2]
    side = max(min(height, width) // _BLOCKS, 1)
    coarse = 255 - pixels[side // 2 :: side, side // 2 :: side, [1, 2, 0]]
    blocks = coarse.repeat(side, axis=0).repeat(side, axis=1)
    missing = (max(height - blocks.shape[0], 0), max(width - blocks.shape[1], 0))
    return np.pad(blocks, ((0, missing[0]), (0, missing[1]), (0, 0)), mode="edge")[:height, :width]

"""The rating study from a rater's side: pages of pictures in random order, and stars for each.

A page never says which system made a picture, nor whether it is a check or shown for the second time.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ..errors import StudyError
from .assigning import dice, open_samples, unanswered
from .checks import Known
from .models import STARS, TARGET, Kind, Output, Page, PageKind, Person, Rating, Sample, Study
from .people import taking_part
from .refusals import Conflict, NotFound
from .settings import RatingSettings
from .storage import Store

GAP = 5
"""Pages between a sample and its repetition, where there are so many."""


@dataclass(frozen=True)
class RatingPage:
    """What a rater sees; `pictures` are the tokens of the ratings to give, in the order to show them."""

    page: str
    request: str
    pictures: tuple[str, ...]
    done: int
    left: int


def next_rating_page(store: Store, token: str) -> RatingPage | None:
    """The page someone left open, or a new one; None where nothing is left for them."""
    with store.writing() as session:
        person = taking_part(session, token)
        study = session.get_one(Study, person.study_id, with_for_update=True)
        if study.kind != Kind.RATING:
            raise NotFound("this link belongs to a study that collects no ratings")
        page = unanswered(session, person) or _drawn(session, study, person)
        return None if page is None else _seen(session, study, person, page)


def rate(store: Store, token: str, page_token: str, stars: Mapping[str, int]) -> None:
    """Stars for every picture of a page, by token; once for all, though the same may be said again."""
    with store.writing() as session:
        person = taking_part(session, token)
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
    low, high = STARS
    if set(stars) != {rating.token for rating in page.ratings}:
        raise StudyError("give stars to every picture of the page, and to no other")
    if not all(type(given) is int and low <= given <= high for given in stars.values()):
        raise StudyError(f"stars are whole numbers from {low} to {high}")


def _seen(session: Session, study: Study, person: Person, page: Page) -> RatingPage:
    done = session.scalar(select(func.count()).where(Page.person_id == person.id, Page.answered.is_not(None)))
    settings = RatingSettings(**study.settings)
    left = 1 + len(open_samples(session, study, person, settings.ratings))
    if settings.pages is not None:
        left = min(left, settings.pages - (done or 0))
    tokens = tuple(rating.token for rating in page.ratings)
    return RatingPage(page.token, page.sample.request, tokens, done or 0, left)


def _drawn(session: Session, study: Study, person: Person) -> Page | None:
    """A new page; the study is locked, so nobody else draws at the same time."""
    settings = RatingSettings(**study.settings)
    had = session.scalars(select(Page).where(Page.person_id == person.id).order_by(Page.number)).all()
    fresh = open_samples(session, study, person, settings.ratings)
    if not (had or fresh) or (settings.pages is not None and len(had) >= settings.pages):
        return None
    chance = dice(study, person, len(had))
    kind = _kind(study, person, settings, had, bool(fresh))
    if kind is None:
        return None
    if kind == PageKind.SAMPLE:
        sample_id = chance.choice(fresh)
    elif kind == PageKind.REPEAT:
        sample_id = chance.choice(_repeatable(had, GAP) or _repeatable(had, 2))
    else:
        sample_id = _sample_to_check(session, study, had, chance)
    sample = session.get_one(Sample, sample_id)
    pictures = _known(sample, chance) if kind == PageKind.CHECK else _outputs(sample.outputs)
    chance.shuffle(pictures)
    for place, rating in enumerate(pictures):
        rating.place = place
    page = Page(person=person, sample=sample, number=len(had), kind=kind, ratings=pictures)
    session.add(page)
    session.flush()
    return page


def _kind(
    study: Study, person: Person, settings: RatingSettings, had: Sequence[Page], fresh: bool
) -> PageKind | None:
    """What the next page is; one check and one repetition are made up for at the end."""
    given = Counter(page.kind for page in had)
    shares = {PageKind.CHECK: settings.checks, PageKind.REPEAT: settings.repeats}
    for kind, share in shares.items():
        if kind == PageKind.REPEAT and not _repeatable(had, GAP if fresh else 2):
            continue
        asked = _asked(study, person, kind, share, len(had)) if fresh else min(1.0, share)
        if given[kind] < asked:
            return kind
    return PageKind.SAMPLE if fresh else None


def _asked(study: Study, person: Person, kind: PageKind, share: float, number: int) -> int:
    """Pages of a kind that are due by this one: one at a random place in each run of 1 / share pages."""
    if share == 0:
        return 0
    run = round(1 / share)
    places = (run * at + dice(study, person, kind, at).randrange(run) for at in range(number // run + 1))
    return sum(place <= number for place in places)


def _repeatable(had: Sequence[Page], gap: int) -> list[int]:
    """Samples that were rated at least so many pages ago and only once."""
    again = {page.sample_id for page in had if page.kind == PageKind.REPEAT}
    old = [page for page in had if page.kind == PageKind.SAMPLE and page.number <= len(had) - gap]
    return [page.sample_id for page in old if page.sample_id not in again]


def _sample_to_check(session: Session, study: Study, had: Sequence[Page], chance: random.Random) -> int:
    """Any but the one just seen."""
    every = list(session.scalars(select(Sample.id).where(Sample.study_id == study.id).order_by(Sample.id)))
    others = [number for number in every if not had or number != had[-1].sample_id]
    return chance.choice(others or every)


def _outputs(outputs: Sequence[Output]) -> list[Rating]:
    return [Rating(output_id=output.id) for output in outputs]


def _known(sample: Sample, chance: random.Random) -> list[Rating]:
    """As many pictures as outputs: a wrecked one always, others that are known, then outputs."""
    targets = [output for output in sample.outputs if output.system == TARGET]
    others = [output for output in sample.outputs if output.system != TARGET]
    known = [Rating(known=Known.INPUT)]
    known += [Rating(known=Known.TARGET, output_id=output.id) for output in targets]
    chance.shuffle(known)
    filling = _outputs(chance.sample(others, len(others)))
    return [Rating(known=Known.WRECKED), *known, *filling][: len(sample.outputs)]

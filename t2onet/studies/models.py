"""Tables of a study's database, settings of a study, and refusals."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from ..errors import StudyError

# Refusals of a study that a door may have to tell apart.


class NotFound(StudyError):
    """A link, page or name leads nowhere."""


class Forbidden(StudyError):
    """Someone may not do this (any more)."""


class TooMany(StudyError):
    """A rate limit was reached; there is room again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Conflict(StudyError):
    """It was answered otherwise before."""


# How a study is run: plain dataclasses, kept as JSON with the study.


def _check_at_least_one(settings: object, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise StudyError(f"{name} is {value}; it is at least 1")


@dataclass(frozen=True)
class RatingSettings:
    """Of a rating study."""

    samples: int | None = None
    """For each data set of the table, drawn by chance; None for all."""
    ratings: int = 2
    """Raters for each sample."""
    checks: float = 0.1
    """Share of a rater's pages that show pictures whose stars are known beforehand."""
    repeats: float = 0.05
    """Share of a rater's pages that the same rater has rated before."""
    pages: int | None = None
    """The most pages for one rater; None for no limit."""
    people: int = 1000
    """The most raters."""

    def __post_init__(self) -> None:
        _check_at_least_one(self, "samples", "ratings", "pages", "people")
        for name in ("checks", "repeats"):
            if not 0 <= getattr(self, name) <= 0.5:
                raise StudyError(f"{name} is {getattr(self, name)}; it is a share of all pages, 0 to 0.5")


@dataclass(frozen=True)
class AnnotationSettings:
    """Of an annotation study."""

    requests: int = 3
    """Annotators for each pair, one request from each."""
    qualification: int = 5
    """Pairs that every annotator begins with, before the owner lets them go on; 0 for none."""
    people: int = 1000
    """The most annotators."""

    def __post_init__(self) -> None:
        _check_at_least_one(self, "requests", "people")
        if self.qualification < 0:
            raise StudyError(f"qualification is {self.qualification}; give 0 pairs or more")


PRESETS = {"paper": RatingSettings(samples=250, ratings=2, checks=0, repeats=0)}
"""The paper's user study: 250 samples of each data set, rated twice, with nothing mixed in."""


# What is stored of studies, as tables. Knows neither the web nor how pages are drawn up.
#
# Times are seconds since 1970, UTC. Tokens cannot be guessed: whoever has one may see what it stands for.

STAR_RANGE = (1, 5)
TARGET = "target"
"""The system that is the expert's own picture; in an annotation study, the only one."""


class StudyKind(StrEnum):
    """What a study asks people for."""

    RATING = "rating"
    ANNOTATION = "annotation"


class PersonState(StrEnum):
    """How far someone is: answering the first pairs, waiting for the owner, at work, or shut out."""

    QUALIFYING = "qualifying"
    WAITING = "waiting"
    ACCEPTED = "accepted"
    BLOCKED = "blocked"


class PageKind(StrEnum):
    """Why a page is shown; the page does not show it."""

    SAMPLE = "sample"
    REPEAT = "repeat"
    CHECK = "check"
    QUALIFICATION = "qualification"


class Review(StrEnum):
    """What the owner says of a request."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


TOKEN_PATTERN = r"^[A-Za-z0-9_-]{1,40}$"
"""What a token looks like."""
MAX_INTEGER = 2**31 - 1
"""The largest number that a column holds."""


def new_token() -> str:
    """128 random bits in letters fit for an address."""
    return secrets.token_urlsafe(16)


class Base(DeclarativeBase):
    """All tables; constraints have names, so that a migration can speak of them."""

    type_annotation_map: ClassVar = {float: Double}
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Study(Base):
    """One study. File names of its samples are relative to `root`; `digest` says which samples they are."""

    __tablename__ = "t2o_studies"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    seed: Mapped[int]
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    root: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    created: Mapped[float] = mapped_column(default=time.time)


class Person(Base):
    """A rater or annotator of one study; the token is their personal link."""

    __tablename__ = "t2o_people"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("t2o_studies.id"))
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    name: Mapped[str] = mapped_column(String(100))
    state: Mapped[str] = mapped_column(String(20))
    created: Mapped[float] = mapped_column(default=time.time)

    study: Mapped[Study] = relationship()


class StudySample(Base):
    """An input and what is asked of it; `said` are requests known beforehand, for qualification alone."""

    __tablename__ = "t2o_samples"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("t2o_studies.id"))
    name: Mapped[str] = mapped_column(String(500))
    dataset: Mapped[str] = mapped_column(String(200), default="")
    split: Mapped[str] = mapped_column(String(10), default="")
    request: Mapped[str] = mapped_column(Text, default="")
    input: Mapped[str] = mapped_column(Text)
    qualifying: Mapped[bool] = mapped_column(default=False)
    said: Mapped[list[str]] = mapped_column(JSON, default=list)

    study: Mapped[Study] = relationship()
    outputs: Mapped[list[Output]] = relationship(order_by="Output.id")


class Output(Base):
    """What a system made of a sample."""

    __tablename__ = "t2o_outputs"
    __table_args__ = (UniqueConstraint("sample_id", "system"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    sample_id: Mapped[int] = mapped_column(ForeignKey("t2o_samples.id"))
    system: Mapped[str] = mapped_column(String(200))
    path: Mapped[str] = mapped_column(Text)


class Page(Base):
    """A sample as it was put before one person; `number` counts that person's pages from 0."""

    __tablename__ = "t2o_pages"
    __table_args__ = (UniqueConstraint("person_id", "number"), Index(None, "sample_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    person_id: Mapped[int] = mapped_column(ForeignKey("t2o_people.id"))
    sample_id: Mapped[int] = mapped_column(ForeignKey("t2o_samples.id"))
    number: Mapped[int]
    kind: Mapped[str] = mapped_column(String(20))
    given: Mapped[float] = mapped_column(default=time.time)
    answered: Mapped[float | None] = mapped_column(default=None)

    person: Mapped[Person] = relationship()
    sample: Mapped[StudySample] = relationship()
    ratings: Mapped[list[Rating]] = relationship(order_by="Rating.place")


class Rating(Base):
    """A picture at its place on a page, and its stars once they are given.

    It is a system's output, or else one made for a check, and `known` says which.
    """

    __tablename__ = "t2o_ratings"
    __table_args__ = (
        UniqueConstraint("page_id", "place"),
        CheckConstraint(f"stars BETWEEN {STAR_RANGE[0]} AND {STAR_RANGE[1]}", name="stars"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(40), unique=True, default=new_token)
    page_id: Mapped[int] = mapped_column(ForeignKey("t2o_pages.id"))
    place: Mapped[int]
    output_id: Mapped[int | None] = mapped_column(ForeignKey("t2o_outputs.id"))
    known: Mapped[str | None] = mapped_column(String(20))
    stars: Mapped[int | None]

    page: Mapped[Page] = relationship(back_populates="ratings")
    output: Mapped[Output | None] = relationship()


class CollectedRequest(Base):
    """What someone wrote on a page, and what the owner says of it."""

    __tablename__ = "t2o_requests"

    id: Mapped[int] = mapped_column(primary_key=True)
    page_id: Mapped[int] = mapped_column(ForeignKey("t2o_pages.id"), unique=True)
    text: Mapped[str] = mapped_column(Text)
    review: Mapped[str] = mapped_column(String(20), default=Review.PENDING)
    note: Mapped[str] = mapped_column(Text, default="")
    reviewed: Mapped[float | None] = mapped_column(default=None)

    page: Mapped[Page] = relationship()

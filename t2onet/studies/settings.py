"""How a study is run: plain dataclasses, kept as JSON with the study."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import StudyError


def _at_least_one(settings: object, *names: str) -> None:
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
        _at_least_one(self, "samples", "ratings", "pages", "people")
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
        _at_least_one(self, "requests", "people")
        if self.qualification < 0:
            raise StudyError(f"qualification is {self.qualification}; give 0 pairs or more")


PRESETS = {"paper": RatingSettings(samples=250, ratings=2, checks=0, repeats=0)}
"""The paper's user study: 250 samples of each data set, rated twice, with nothing mixed in."""

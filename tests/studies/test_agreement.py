"""Krippendorff's alpha: his own published example, the definition by hand, and laws."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2onet.studies.results import krippendorff_alpha

# "Computing Krippendorff's alpha-reliability" (2011), example C: four observers, twelve units, gaps.
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
EXAMPLE = [
    (unit, int(value))
    for observer in OBSERVERS
    for unit, value in enumerate(observer.split())
    if value != "."
]


def test_the_published_example() -> None:
    assert krippendorff_alpha(EXAMPLE) == pytest.approx(0.815, abs=5e-4)


def by_definition(values: list[tuple[int, float]]) -> float:
    """One minus observed over expected disagreement, pair by pair; differences of ranks, squared."""
    units = {unit: [v for u, v in values if u == unit] for unit, _ in values}
    units = {unit: found for unit, found in units.items() if len(found) > 1}
    every = [value for found in units.values() for value in found]

    def rank(value: float) -> float:
        return sum(other < value for other in every) + every.count(value) / 2

    def disagreement(values: list[float]) -> float:
        return sum((rank(a) - rank(b)) ** 2 for a, b in permutations(values, 2)) / (len(values) - 1)

    return 1 - sum(map(disagreement, units.values())) / disagreement(every)


judgements = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), max_size=30)


@given(judgements)
def test_it_is_what_the_definition_says(values: list[tuple[int, float]]) -> None:
    found = krippendorff_alpha(values)
    if found is not None:
        assert found == pytest.approx(by_definition(values))


@given(judgements)
def test_units_that_were_judged_once_do_not_matter(values: list[tuple[int, float]]) -> None:
    assert krippendorff_alpha([*values, (99, 3)]) == pytest.approx(krippendorff_alpha(values))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=2, unique_by=lambda v: v[0]))
def test_who_agrees_wholly_agrees_to_one(values: list[tuple[int, float]]) -> None:
    found = krippendorff_alpha([*values, *values])
    assert found is None if len({value for _, value in values}) == 1 else found == pytest.approx(1)


@pytest.mark.parametrize("values", [[], [(1, 3)], [(1, 3), (2, 4)], [(1, 3), (1, 3)]])
def test_without_two_judgements_that_could_differ_there_is_none(values: list[tuple[int, float]]) -> None:
    assert krippendorff_alpha(values) is None

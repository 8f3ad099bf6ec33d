"""How fast people may join: so many within an hour, in all and from one address."""

from __future__ import annotations

import pytest

from t2onet.errors import StudyError
from t2onet.studies.database import TooMany
from t2onet.studies.people import HOUR, JoinLimiter, JoinLimits, to_network


class Clock:
    """Seconds that pass when told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def join(limiter: JoinLimiter, address: str) -> None:
    with limiter.count_join(address):
        pass


def test_a_script_at_one_address_leaves_room_for_others(clock: Clock) -> None:
    limiter = JoinLimiter(JoinLimits(), clock)
    refused = 0
    for _ in range(993):
        try:
            join(limiter, "203.0.113.7")
        except TooMany:
            refused += 1
    assert 993 - refused == JoinLimits().joins_per_address
    join(limiter, "198.51.100.1")


def test_scripts_at_many_addresses_are_limited_together(clock: Clock) -> None:
    limiter = JoinLimiter(JoinLimits(joins=50, joins_per_address=2), clock)
    for number in range(50):
        join(limiter, f"203.0.113.{number}")
    with pytest.raises(TooMany, match="joined this study within the last hour; try again in 60 min"):
        join(limiter, "198.51.100.1")


def test_it_says_when_there_is_room_again_and_there_is(clock: Clock) -> None:
    limiter = JoinLimiter(JoinLimits(joins_per_address=2), clock)
    for moment in (0, 600):
        clock.now = 1000.0 + moment
        join(limiter, "203.0.113.7")
    clock.now += 2400
    with pytest.raises(
        TooMany, match="from your network within the last hour; try again in 10 min"
    ) as refusal:
        join(limiter, "203.0.113.7")
    assert refusal.value.retry_after == 600
    clock.now += refusal.value.retry_after
    join(limiter, "203.0.113.7")
    with pytest.raises(TooMany):
        join(limiter, "203.0.113.7")


def test_a_join_that_fails_does_not_count(clock: Clock) -> None:
    limiter = JoinLimiter(JoinLimits(joins=1, joins_per_address=1), clock)
    for _ in range(3):
        with pytest.raises(StudyError, match="no name"), limiter.count_join("203.0.113.7"):
            raise StudyError("no name")
    join(limiter, "203.0.113.7")


def test_only_the_last_hour_is_remembered(clock: Clock) -> None:
    limiter = JoinLimiter(JoinLimits(joins_per_address=1), clock)
    for number in range(1000):
        join(limiter, f"203.0.113.{number % 100}")
        clock.now += HOUR / 100
    assert len(limiter._joins) <= 100


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("", ""),
        ("x" * 10_000, "x" * 100),
    ],
)
def test_what_counts_as_one_address(address: str, network: str) -> None:
    assert to_network(address) == network


@pytest.mark.parametrize("limits", [{"joins": 0}, {"joins_per_address": 0}])
def test_nobody_could_join(limits: dict[str, int]) -> None:
    with pytest.raises(StudyError, match="is 0; it must be at least 1"):
        JoinLimits(**limits)

"""Rate limit on joining a study, so that no script fills it before its owner notices.

Joins by the study's link are limited per hour, in total and from one address. Addresses are held in memory
for that hour and never stored.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

from ..errors import StudyError
from .refusals import TooMany

HOUR = 3600.0
_NETWORK_BITS = 64
"""Leading bits of an IPv6 address that identify a network, such as a household."""


@dataclass(frozen=True)
class JoinLimits:
    """The most people who may join within an hour."""

    joins: int = 200
    """By the study's link, in total."""
    joins_per_address: int = 40
    """From one address; a class or an office behind one router shares one."""
    behind_proxy: bool = False
    """Whether to take addresses from X-Forwarded-For, which a proxy in front of the server sets."""

    def __post_init__(self) -> None:
        for name in ("joins", "joins_per_address"):
            if getattr(self, name) < 1:
                raise StudyError(f"{name} is {getattr(self, name)}; it is at least 1")


class JoinLimiter:
    """Counts the joins of the last hour and refuses further ones beyond the limits."""

    def __init__(self, limits: JoinLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._joins: deque[tuple[float, str]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def count_join(self, address: str) -> Iterator[None]:
        """Count a join from an address, unless the block fails. Raises `TooMany` beyond a limit."""
        join = self._count(network_of(address))
        try:
            yield
        except BaseException:
            with self._lock:
                self._joins.remove(join)
            raise

    def _count(self, network: str) -> tuple[float, str]:
        with self._lock:
            now = self._clock()
            while self._joins and self._joins[0][0] <= now - HOUR:
                self._joins.popleft()
            own = [moment for moment, other in self._joins if other == network]
            if len(own) >= self.limits.joins_per_address:
                raise _refusal(" from your network", own[-self.limits.joins_per_address] + HOUR - now)
            if len(self._joins) >= self.limits.joins:
                raise _refusal("", self._joins[-self.limits.joins][0] + HOUR - now)
            join = (now, network)
            self._joins.append(join)
            return join


def _refusal(where: str, seconds: float) -> TooMany:
    minutes = max(1, math.ceil(seconds / 60))
    wait = "a minute" if minutes == 1 else f"{minutes} minutes"
    many = f"many people have joined this study{where} within the last hour"
    return TooMany(f"{many}; try again in {wait}", max(1, math.ceil(seconds)))


def network_of(address: str) -> str:
    """What counts as one address: an IPv4 address or an IPv6 network; anything else unchanged."""
    try:
        ip = ip_address(address.strip("[] ").partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or IPv6Network((ip, _NETWORK_BITS), strict=False))
    return str(ip)

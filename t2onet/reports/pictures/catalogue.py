"""The paper's pictures by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...errors import DataError
from .answers import requests_by_width, several_answers, side_by_side
from .planning import trajectories
from .resolution import resolution
from .trade_off import trade_off
from .wish import Files, Wish


class Picture(NamedTuple):
    """What it shows, and what draws it."""

    title: str
    draw: Callable[[Wish], Files]


PICTURES: dict[str, Picture] = {
    "planning-trajectories": Picture("Planning step by step", trajectories),
    "trade-off": Picture("L1 against sigma over h", trade_off),
    "requests-by-width": Picture("The same photo under different requests for each h", requests_by_width),
    "several-answers": Picture("Several samples of one request", several_answers),
    "side-by-side": Picture("All systems side by side", side_by_side),
    "resolution": Picture("The same request at 256 pixels and 24 megapixels", resolution),
}


def picture_of(name: str) -> Picture:
    if name not in PICTURES:
        raise DataError(f"there is no picture {name!r}; there are {', '.join(PICTURES)}")
    return PICTURES[name]

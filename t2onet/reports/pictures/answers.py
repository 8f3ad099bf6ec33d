"""Answers of T2ONet: to ten requests by models of each width h, and several to one request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from ...errors import DataError
from ...language.ten_requests import TEN_REQUESTS
from ...metrics.pictures import variety
from ..sheets import Asked, Shot, drawn, systems_sheet
from ..systems import Question
from ..tables.measuring import opened
from ..tables.paper import MAIN, SAMPLING_WIDTH
from .wish import Files, Wish

if TYPE_CHECKING:
    from ...models import Answer

SEVERAL = 6
WIDTHS = (0.1, 0.3)
"""How wide parameters are sampled: as far as the paper goes in training, and further."""


def requests_by_width(wish: Wish) -> Files:
    """The same photos under the paper's ten requests, a row for each h that has weights."""
    rows = [row for row in SAMPLING_WIDTH.rows if row.run is not None]
    systems, absent = opened(rows, wish.runs)
    if not systems:
        raise DataError(f"no model of any width has weights: {'; '.join(absent.values())}")
    shown = []
    for one in wish.asked:
        for system in systems:
            asked = [Question(one.photo, request, "literal") for request in TEN_REQUESTS]
            made = [answer.picture for answer in system.answer(asked)]
            told = f"{system.name}: sigma x 100 over these answers {100 * variety(made):.3f}"
            captioned = zip(made, TEN_REQUESTS, strict=True)
            shown.append((told, [Shot(one.photo, "input"), *(Shot(*pair) for pair in captioned)]))
    note = "; ".join(absent.values())
    return {wish.sheet: drawn("The same photo under different requests", note, shown)}


def several_answers(wish: Wish) -> Files:
    """Several samples of one request: parameters are sampled around the network's own."""
    path = wish.weights("paper")
    rows = []
    for one in wish.asked:
        for width in WIDTHS:
            shots = [Shot(one.photo, "input")]
            for number, answer in enumerate(_several(path, one, width, wish.seed)):
                done = ", ".join(name for name, _ in answer.steps) or "nothing"
                shots.append(Shot(answer.image.numpy(), f"sample {number}" if number else "its own", done))
            rows.append((f'"{one.request}", parameters sampled with h = {width:g}', shots))
    return {wish.sheet: drawn("Several answers to one request", "", rows)}


def _several(path: Path, one: Asked, width: float, seed: int) -> list[Answer]:
    import torch

    from ...models import Asked as Batch
    from ...models import Network, load_network, several

    loaded = load_network(path)
    network = cast(Network, loaded.network)
    tokens = torch.tensor([loaded.vocabulary.encode(one.request)])
    photo = torch.from_numpy(np.ascontiguousarray(one.photo))[None]
    draws = torch.Generator().manual_seed(seed)
    return several(network, Batch(tokens, tokens != 0, photo), SEVERAL, h=width, generator=draws)


def side_by_side(wish: Wish) -> Files:
    """All systems of the main table that have weights."""
    systems, absent = opened(MAIN.rows, wish.runs, narrow=wish.narrow)
    sheet = systems_sheet("All systems side by side", systems, wish.asked, "; ".join(absent.values()))
    return {wish.sheet: sheet}

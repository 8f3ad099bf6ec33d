"""Amounts and figures as strengths."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from t2onet.data.simulation.strengths import COLUMNS, UNITS, amount_of, edited, strengths
from t2onet.data.simulation.wish import ChangeKind, PhotoChange
from tests.data.simulation.helpers import photos


def name_strengths(*changes: PhotoChange) -> dict[str, float]:
    return {name: value for name, value in zip(COLUMNS, strengths(changes), strict=True) if value}


def test_two_stops_are_two_stops() -> None:
    amount = amount_of(ChangeKind.EXPOSURE, 1, 2, "stops")
    assert name_strengths(PhotoChange(ChangeKind.EXPOSURE, 1, amount)) == {"exposure": pytest.approx(2)}


def test_percent_of_brightness_are_of_the_displayed_value() -> None:
    amount = amount_of(ChangeKind.EXPOSURE, -1, 20, "percent")
    assert name_strengths(PhotoChange(ChangeKind.EXPOSURE, -1, amount)) == {
        "exposure": pytest.approx(2.2 * log2(0.8))
    }


@pytest.mark.parametrize("kind", [ChangeKind.CONTRAST, ChangeKind.CHROMA])
@pytest.mark.parametrize("sign", [1, -1])
def test_percent_of_contrast_and_chroma_are_of_the_slope_and_the_factor(kind: ChangeKind, sign: int) -> None:
    amount = amount_of(kind, sign, 30, "percent")
    assert name_strengths(PhotoChange(kind, sign, amount)) == {
        kind.value: pytest.approx(log2(1 + 0.3 * sign))
    }


def test_fifty_percent_of_a_cast_is_the_plain_request() -> None:
    assert amount_of(ChangeKind.TEMPERATURE, 1, 50, "percent") == 1


def test_less_of_a_colour_is_its_opposite_and_changes_add_up() -> None:
    parts = name_strengths(
        PhotoChange(ChangeKind.COLOUR, -1, 1.0, colour="blue"), PhotoChange(ChangeKind.TINT, 1, 1.0)
    )
    assert parts["yellow"] == pytest.approx(UNITS[ChangeKind.COLOUR][0])
    assert parts["red"] == pytest.approx(UNITS[ChangeKind.TINT][1], abs=1e-9)


def test_only_photos_with_a_strength_change() -> None:
    wanted = np.zeros((len(photos()), len(COLUMNS)))
    wanted[2] = strengths([PhotoChange(ChangeKind.EXPOSURE, 1)])
    after = edited(photos(), wanted)
    changed = np.abs(after - photos()).max(axis=(1, 2, 3)) > 0
    assert changed.tolist() == [row == 2 for row in range(len(photos()))]


def test_a_photo_in_a_batch_is_edited_as_alone() -> None:
    change = strengths(
        [
            PhotoChange(ChangeKind.CONTRAST, 1),
            PhotoChange(ChangeKind.SHARPNESS, -1),
            PhotoChange(ChangeKind.CHROMA, 1),
        ]
    )
    wanted = np.stack([change * scale for scale in np.linspace(-1, 1, len(photos()))])
    together = edited(photos(), wanted)
    np.testing.assert_allclose(together[[1]], edited(photos()[[1]], wanted[[1]]), atol=1e-6)

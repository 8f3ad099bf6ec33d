"""Orders inside questions."""

from __future__ import annotations

import pytest

from t2onet.data.simulation.grammar.asking import gerund


@pytest.mark.parametrize(
    ("order", "asked"),
    [
        ("brighten it", "brightening it"),
        ("make it warmer", "making it warmer"),
        ("cut the glare", "cutting the glare"),
        ("slightly lower the contrast", "slightly lowering the contrast"),
        ("just really lift it", "just really lifting it"),
        ("apply more warmth", "applying more warmth"),
        (" boost the softness", "boosting the softness"),
    ],
)
def test_gerunds(order: str, asked: str) -> None:
    assert gerund(order) == asked

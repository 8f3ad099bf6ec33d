"""The parts of a request, and which of them have to be judged."""

from __future__ import annotations

import pytest

from t2onet.language.parts import doubtful, parts


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("make it brighter and remove the dog", ("make it brighter", "remove the dog")),
        ("Crop it. Then warm it up, please!", ("Crop it", "warm it up", "please")),
        ("brighter & sharper - less red", ("brighter", "sharper", "less red")),
        ("make it black and white", ("make it black and white",)),
        ("black & white and sharper", ("black & white", "sharper")),
        ("brighten it so the sky and the wall are white", ("brighten it",)),
        ("lighten until the face is seen, and crop it", ("lighten",)),
        ("lighten until the face is seen. Crop it", ("lighten", "Crop it")),
        ("1.5 stops brighter", ("1.5 stops brighter",)),
    ],
)
def test_a_request_is_parted_where_it_asks_for_the_next_thing(
    request_: str, expected: tuple[str, ...]
) -> None:
    assert parts(request_) == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("make it brighter and remove the dog", ("remove the dog",)),
        ("more contrast, less red and a bit sharper", ()),
        ("remove the dog", ()),
        ("brighter, please", ()),
    ],
)
def test_only_what_is_not_plain_has_to_be_judged_and_only_beside_another_part(
    request_: str, expected: tuple[str, ...]
) -> None:
    assert doubtful(request_) == expected


def test_of_a_story_only_the_beginning_is_judged() -> None:
    assert len(doubtful("remove the dog. " * 1000)) < 10

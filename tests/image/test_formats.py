"""Suffixes: what is read, what is written, what a result is called."""

from pathlib import Path

import pytest

from t2onet.errors import OutputError
from t2onet.image import RAW_SUFFIXES, READABLE_SUFFIXES, WRITABLE_SUFFIXES, choose_output_suffix
from t2onet.image.formats import get_output_format


def test_what_is_written_is_also_read() -> None:
    assert set(WRITABLE_SUFFIXES) < set(READABLE_SUFFIXES)
    assert set(RAW_SUFFIXES) < set(READABLE_SUFFIXES)
    assert not set(RAW_SUFFIXES) & set(WRITABLE_SUFFIXES)


@pytest.mark.parametrize(
    ("source", "result"),
    [
        (".jpg", ".jpg"),
        (".JPG", ".JPG"),
        (".heic", ".heic"),
        (".NEF", ".tif"),
        (".gif", ".png"),
        (".bmp", ".png"),
    ],
)
def test_a_result_gets_the_suffix_of_its_source_where_it_can(source: str, result: str) -> None:
    assert choose_output_suffix(source) == result


@pytest.mark.parametrize("source", READABLE_SUFFIXES)
def test_every_readable_photo_has_a_result(source: str) -> None:
    assert choose_output_suffix(source) in WRITABLE_SUFFIXES


@pytest.mark.parametrize(
    ("name", "hint"), [("a.jpgg", "a.jpg"), ("a", "no suffix"), ("a.cr2", ".tif"), ("a.xyz", ".png")]
)
def test_an_unknown_suffix_is_refused_with_the_known_ones(name: str, hint: str) -> None:
    with pytest.raises(OutputError, match=hint):
        get_output_format(Path(name))

"""Other languages are told from English, and English is never taken for one of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.languages import english_requests
from bench.sentences import DATA, even_wish
from t2onet.data.simulation.sentences import request
from t2onet.language import is_foreign
from t2onet.language.foreign_words import ENGLISH, ENGLISH_UNACCENTED, OTHERS, SHARED
from t2onet.language.keywords import _KNOWN
from tests.language.other_languages import REQUESTS

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is absent")


@pytest.mark.parametrize(
    "request_",
    [
        *("mach es heller", "plus lumineux", "más brillante", "mas brillante", "più chiara", "mais brilho"),
        *("meer contrast", "jaśniej", "gör den ljusare", "daha parlak", "Saettigung erhoehen", "plus sombre"),
        *("ярче", "明るくして", "更亮", "더 밝게", "اجعلها أكثر سطوعا", "πιο φωτεινό", "इसे और चमकीला करो"),
    ],
)
def test_well_known_requests_are_recognised(request_: str) -> None:
    assert is_foreign(request_)
    assert is_foreign(f"  {request_.upper()}!!  ")


def test_nearly_all_requests_of_many_languages_are_recognised() -> None:
    told = [request_ for requests in REQUESTS.values() for request_ in requests]
    assert np.mean([is_foreign(request_) for request_ in told]) >= 0.95


@pytest.mark.parametrize(
    "request_",
    [
        *("make it brighter", "brihgter", "incrase the contrats", "mor light plz", "moar warm", "un-blur it"),
        *("Málaga café warmer", "my fiancé is too dark", "à la Wes Anderson", "film noir look", "tres chic"),
        *("Día de los Muertos colors", "São Paulo skyline sharper", "HDR Las Vegas", "brighten Mont Blanc"),
        *("write 'Ich liebe dich' on it", "brighter bitte", "more kontrast", "remove the word Achtung"),
        *("make it look like 東京 at night", "brighter 🌞", "de-haze", "b&w", "contrast", "+20 sat"),
        *("asdf qwer zxcv", "'; DROP TABLE photos; --", "ﬁx the ｃｏｌｏｕｒｓ", "ünïcode", "photo", ""),
    ],
)
def test_english_stays_english(request_: str) -> None:
    assert not is_foreign(request_)


@pytest.mark.slow
def test_simulated_requests_are_english() -> None:
    rng = np.random.default_rng(0)
    told = [request(even_wish(rng), rng) for _ in range(2000)]
    assert [text for text in told if is_foreign(text)] == []


def test_no_listed_word_is_a_word_of_english_requests() -> None:
    others = {word for language in OTHERS.values() for word in language.split()}
    english = {*ENGLISH.split(), *ENGLISH_UNACCENTED.split(), *_KNOWN}
    assert others & english == set()
    assert others & set(SHARED.split()) == set()
    assert set(SHARED.split()) & set(ENGLISH.split()) == set()


@given(st.text())
def test_any_text_is_judged_and_blanks_do_not_matter(text: str) -> None:
    assert is_foreign(text) == is_foreign(f"{text} ")


@pytest.mark.slow
@pytest.mark.needs_data
@needs_data
def test_real_english_requests_are_english() -> None:
    told = list(english_requests())
    assert len(told) > 40_000
    assert np.mean([is_foreign(text) for text in told]) < 0.0005

"""Requests in other languages: how many are recognised, and how much English is taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from t2onet.language.reader import load_reader
from t2onet.language.wishes import FOREIGN
from tests.language.other_languages import REQUESTS

DATA = Path(__file__).parent.parent.parent / "shared" / "data"


def is_foreign(text: str) -> bool:
    """Whether the reader in the package takes a request for one in another language."""
    return any(wish.what == FOREIGN for wish in load_reader().read(text).wishes)


def main() -> None:
    count = sum(map(len, REQUESTS.values()))
    missed = {
        language: [text for text in told if not is_foreign(text)] for language, told in REQUESTS.items()
    }
    share = 1 - sum(map(len, missed.values())) / count
    print(f"  {share:.1%} of {count} requests in {len(REQUESTS)} languages recognised (bar: at least 90 %)")
    for language, texts in missed.items():
        if texts:
            print(f"    missed of {len(REQUESTS[language])} in {language}: {'; '.join(texts)}")
    if (DATA / "gier").exists():
        _print_english(list(english_requests()))


def _print_english(told: list[str]) -> None:
    taken = [text for text in told if is_foreign(text)]
    print(f"  {len(taken) / len(told):.3%} of {len(told)} English ones taken for another (bar: below .05 %)")
    for text in taken:
        print(f"    {text}")


def english_requests() -> Iterable[str]:
    """The train requests of MA5k-Req and GIER."""
    for entry in json.loads((DATA / "ma5k-req/annotations/train_sess_1.json").read_text()):
        yield entry["request"]
    for entry in json.loads((DATA / "gier/splits/train_sess_3.json").read_text()):
        for text in (entry["request"], *entry["expert_summary"], *entry["amateur_summary"]):
            if isinstance(text, str):
                yield text
